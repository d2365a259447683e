/* A parsed template. Private to common/template. */
#pragma once

#include "common/base/unicode.h"
#include "common/template/lex.h"
#include "common/template/template.h"
#include "common/template/value.h"

enum node_type {
        NODE_LIST, /* items */
        NODE_TEXT,
        NODE_ACTION, /* pipe */
        NODE_IF,     /* pipe, body, otherwise */
        NODE_WITH,
        NODE_RANGE,
        NODE_TEMPLATE, /* name, pipe or none */
        NODE_BREAK,
        NODE_CONTINUE,
        NODE_END, /* while parsing only */
        NODE_ELSE,
        /* What gives a value. */
        NODE_PIPE,       /* decls, assign, items: commands */
        NODE_COMMAND,    /* items: what is called or taken, and its arguments */
        NODE_FIELD,      /* fields */
        NODE_CHAIN,      /* base, fields */
        NODE_VARIABLE,   /* text: $name; fields */
        NODE_IDENTIFIER, /* text; function or root */
        NODE_DOT,
        NODE_NIL,
        NODE_BOOL,
        NODE_NUMBER,
        NODE_STRING, /* text: as written; string */
};

struct node {
        enum node_type type;
        uint32_t at; /* byte offset */
        struct slice text;
        struct node **items;
        size_t n;
        union {
                struct {
                        struct slice *fields;
                        size_t n_fields;
                        struct node *base;
                };
                struct {
                        struct node *pipe, *body, *otherwise;
                        struct slice name;
                };
                struct {
                        struct node **decls; /* variables, at most two */
                        size_t n_decls;
                        bool assign;
                };
                struct {
                        const struct function *function;
                        size_t root; /* an index into the rendering's roots, where function is NULL */
                };
                struct {
                        bool is_int, is_float, is_uint;
                        int64_t integer;
                        double real;
                };
                struct slice string;
                bool truth;
        };
};

/* A definition: the whole text without definitions, a define or a block. */
struct tree {
        struct tree *next;
        struct slice name;
        struct node *root;
};

struct template
{
        const struct template_options *options;
        struct slice text;
        struct tree *trees;
        const struct tree *top;
};

const struct tree *template_lookup(const struct template *t, struct slice name); /* NULL: not defined */
/* The node in the language's words, as errors have it: {{if .x}}..., with Go's delimiters. */
int node_write(const struct node *node, struct buf *b);
bool node_is_empty(const struct node *list); /* blanks only */

/* ---- literals ---- */
/* The contents of a string or raw string with its quotes. ERR_INVALID, ERR_NO_MEMORY. */
int literal_string(struct arena *arena, struct slice quoted, struct slice *ret);
/* Fills a NODE_NUMBER from a number or a character. ERR_INVALID with Go's words. */
int literal_number(struct slice text, bool is_character, struct node *ret, struct error *err);
/* A real without sign, as Go's ParseFloat reads it; false also where it is too large. */
bool literal_real(struct slice s, double *ret);
