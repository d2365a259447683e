/* One rendering: what functions may use of it. Private to common/template. */
#pragma once

#include "common/template/tree.h"

struct variable {
        struct slice name;
        struct value value;
};

struct run {
        const struct template *template;
        const struct template_data *data;
        const struct tree *tree; /* being rendered */
        const struct node *at;   /* where errors happen */
        struct buf *out;
        size_t out_begin;
        struct arena arena; /* values */
        struct buf scratch; /* of one function call */
        struct variable *vars;
        size_t n_vars, cap_vars;
        struct value *roots; /* taken over from the data when first asked for */
        bool *root_taken;
        size_t steps;
        unsigned depth, nesting;   /* of templates in templates; of C calls */
        int variant;               /* of the function being called */
        const struct node *callee; /* its first argument; NULL: there is none, or it was piped in */
        struct error error;
};

/* ---- failing ---- */
/* ERR_INVALID, for functions: the text alone, to which the place is added. */
int call_fail(struct run *run, const char *fmt, ...) PRINTF_LIKE(2, 3);
int run_no_memory(struct run *run);
int run_limit(struct run *run, const char *fmt, ...) PRINTF_LIKE(2, 3); /* ERR_LIMIT with the place */
/* Counts work: 1 for a node, more for functions that go through much. */
int run_spend(struct run *run, size_t steps);
int run_spend_bytes(struct run *run, size_t bytes);
int run_check_buf(struct run *run, const struct buf *b); /* the failure of a buffer in memory, if any */

/* ---- making values ---- */
int run_alloc(struct run *run, size_t n, size_t size, void *ret);    /* zeroed; *(void **)ret */
int run_copy(struct run *run, struct slice text, struct value *ret); /* a string of its own */
int run_take_scratch(struct run *run, struct value *ret); /* what was written to scratch, as a string */
struct buf *run_scratch(struct run *run);                 /* emptied */
int run_list(struct run *run, enum value_type type, size_t n, struct value *ret); /* n elements to be set */
int run_dict(struct run *run, enum value_type type, struct value *ret);

static inline struct value value_none(void)
{
        return (struct value){ VALUE_NONE };
}

static inline struct value value_bool(bool truth)
{
        return (struct value){ VALUE_BOOL, .truth = truth };
}

static inline struct value value_integer(enum value_type type, int64_t integer)
{
        return (struct value){ type, .integer = integer };
}

static inline struct value value_real(double real)
{
        return (struct value){ VALUE_FLOAT64, .real = real };
}

static inline struct value value_string(struct slice s)
{
        return (struct value){ VALUE_STRING, .string = s };
}

static inline struct value value_boxed(struct value v)
{
        v.boxed = true;
        return v;
}

/* As Go takes it out of the interface {}. */
static inline struct value value_unboxed(struct value v)
{
        v.boxed = false;
        return v;
}

/* ---- looking at values ---- */
static inline bool value_is_integer(const struct value *v)
{
        return v->type >= VALUE_INT && v->type <= VALUE_UINT8;
}

static inline bool value_is_list(const struct value *v)
{
        return v->type >= VALUE_LIST && v->type <= VALUE_INTS;
}

static inline bool value_is_map(const struct value *v)
{
        return v->type == VALUE_MAP || v->type == VALUE_STRING_MAP;
}

/* nil, or a list or map that is. */
static inline bool value_is_nil(const struct value *v)
{
        return v->type == VALUE_NONE || (value_is_list(v) && v->list->absent) ||
               (value_is_map(v) && v->map->absent);
}

const char *value_type_name(const struct value *v);   /* of what is in the box */
const char *value_static_name(const struct value *v); /* "interface {}" for what is boxed */
const char *value_kind_name(const struct value *v);
int value_of_doc(struct run *run, const json_t *doc, struct value *ret); /* boxed */
int value_to_doc(struct run *run, const struct value *v, json_t **ret);  /* new */
/* Takes over what is still a document; then its elements may be read directly. */
int list_load(struct run *run, struct sequence *list);
int dict_load(struct run *run, struct dict *dict);
int dict_find(struct run *run, struct dict *dict, struct slice key, struct value **ret); /* NULL: absent */
int dict_set(struct run *run, struct dict *dict, struct slice key, struct value value);
int dict_remove(struct run *run, struct dict *dict, struct slice key);
size_t list_length(const struct sequence *list);
size_t dict_length(const struct dict *dict);
bool value_truth(const struct value *v);
/* 1 or 0: of the same type and contents; whole numbers of different types are equal. ERR_LIMIT,
 * ERR_NO_MEMORY. */
int value_equal(struct run *run, const struct value *a, const struct value *b);

/* ---- writing values, as Go's fmt does ---- */
/* %v; nil: <nil>. */
int value_print(struct run *run, const struct value *v, struct buf *b);
int value_sprint(struct run *run, const struct value *args, size_t n, bool line, struct buf *b);
int value_printf(struct run *run, struct slice format, const struct value *args, size_t n, struct buf *b);
/* Shortest digits that read back, or `precision` of them; verb e, E, f, g, G, x, X, b. */
int real_write(double real, char verb, int precision, struct buf *b);
