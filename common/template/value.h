/* Values while a template is rendered, and the functions over them. Private to common/template. */
#pragma once

#include "common/json/doc.h"

/* A value's Go type. */
enum value_type {
        VALUE_NONE, /* no value at all, or nil */
        VALUE_BOOL,
        VALUE_INT,   /* int: what templates write */
        VALUE_INT64, /* int64: what data bring */
        VALUE_UINT8, /* uint8: a byte of a string */
        VALUE_FLOAT64,
        VALUE_STRING,
        VALUE_LIST,       /* []interface {} */
        VALUE_STRINGS,    /* []string */
        VALUE_LISTS,      /* [][]interface {} */
        VALUE_INTS,       /* []int */
        VALUE_MAP,        /* map[string]interface {} */
        VALUE_STRING_MAP, /* map[string]string */
};

/* A value is boxed where Go knows it as an interface {} only: an element of a list or a map, the result of a
 * function that may give anything. Then nil is a nil interface, and errors call its type "interface {}". */
struct value {
        uint8_t type;
        bool boxed;
        union {
                bool truth;
                int64_t integer; /* all integer types */
                double real;
                struct slice string;
                struct sequence *list;
                struct dict *map;
        };
};

/* Never changed once made. A document's array is taken over at the first look. */
struct sequence {
        const json_t *source; /* not NULL: not taken over yet */
        struct value *at;
        size_t n;
        bool absent; /* a list that is nil: null in JSON and YAML, otherwise as an empty one */
};

struct dict_member {
        struct slice key;
        struct value value;
};

/* Sorted by the keys' bytes. One object may be known by several names and be changed by any: `set`. */
struct dict {
        const json_t *source;
        struct dict_member *at;
        size_t n, cap;
        bool absent; /* a map that is nil: nothing can be set in it */
};

struct run;
