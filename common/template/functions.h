/* The functions of templates: a description each, in one table per subject. Private to common/template. */
#pragma once

#include "common/template/run.h"

/* What a parameter takes, and a result is. */
enum parameter {
        TAKES_NONE,
        TAKES_ANY,   /* interface {} */
        TAKES_VALUE, /* reflect.Value: anything, and whether it is boxed is seen */
        TAKES_STRING,
        TAKES_INT,
        TAKES_FLOAT,
        TAKES_BOOL,
        TAKES_MAP,  /* map[string]interface {} */
        TAKES_LIST, /* []interface {} */
};

#define FUNCTION_MOST_FIXED 4

struct function {
        const char *name;
        /* Fills *ret, which is VALUE_NONE before. ERR_INVALID after call_fail(), ERR_LIMIT, ERR_NO_MEMORY. */
        int (*call)(struct run *run, const struct value *args, size_t n, struct value *ret);
        uint8_t fixed[FUNCTION_MOST_FIXED]; /* enum parameter */
        uint8_t rest;                       /* of further arguments; TAKES_NONE: there are none */
        bool gives_any;                     /* the result is an interface {} */
        bool stops_early;                   /* and, or: arguments are looked at one by one */
        int variant;                        /* what distinguishes functions of one `call`: run->variant */
};

struct function_table {
        const struct function *at;
        size_t n;
};

extern const struct function_table builtin_functions, string_functions, number_functions, list_functions,
        map_functions, type_functions, regex_functions, document_functions, path_functions;

const struct function *function_named(struct slice name); /* NULL: there is none */
bool function_is_unrepeatable(struct slice name); /* refused, since its result differs from run to run */
size_t function_fixed(const struct function *f);  /* how many parameters besides the rest */
