/* What the files of yaml_edit share. Private to it. */
#pragma once

#include "common/json/yaml_parts.h"
#include "hub-agent/manifest-generation/update/yaml_edit.h"

/* ---- finding ---- */

#define EDIT_LEVELS_MAX 24

/* One collection on the way to the value. */
struct edit_level {
        const struct yaml_part *at;
        const struct yaml_part *key, *value; /* the member that leads on; key NULL in sequences */
        const struct yaml_part *before;      /* the key (in sequences the item) before it; NULL = none */
};

struct edit_found {
        const struct yaml_part *document;
        struct edit_level levels[EDIT_LEVELS_MAX]; /* from the document's root */
        size_t n;
        /* How many steps of the place are there: all of them, or the rest has to be added to the mapping that
         * the last level's value is (to the root if there is no level). */
        size_t n_steps;
        struct doc_place place; /* of the value, from the array of all documents on */
};
/* ERR_NOT_FOUND, or ERR_INVALID: the way leads through something shared, or through no mapping. */
int edit_find(struct arena *arena, const struct yaml_part *documents, const struct yaml_edit *e,
              struct edit_found *ret, struct error *err);
const struct yaml_part *edit_collection(const struct edit_found *f); /* what a rest has to be added to */
/* Whether an alias of the document refers to the anchor of this part. */
bool edit_is_shared(const struct yaml_part *document, const struct yaml_part *part);

/* ---- writing ---- */

/* Appends a string as a scalar: in quotes if it is not plainly that string. `flow`: within brackets. */
int edit_write_scalar(struct buf *b, const char *value, enum yaml_part_style style, bool flow);

/* ---- splicing ---- */

/* A stretch of the text, and what takes its place. */
struct edit_splice {
        size_t begin, end;
        const char *text;
};
struct edit_splices {
        struct edit_splice at[2];
        size_t n;
};
struct editing {
        struct arena *arena;
        struct slice text;
        const struct yaml_edit *edit;
        const struct edit_found *found;
        struct edit_splices *splices;
        struct error *err;
};
int edit_replace(struct editing *e); /* the value is there */
int edit_add(struct editing *e);     /* it is not */
int edit_remove(struct editing *e);

/* Places in the text. */
size_t edit_line_start(struct slice text, size_t at);
size_t edit_line_end(struct slice text, size_t at);     /* before the line's break */
size_t edit_behind_break(struct slice text, size_t at); /* at a break, or at the end */
const char *edit_line_break(struct slice text);         /* the one that it has */
/* Behind what belongs to the part: of block scalars without the line ends that do not count. */
size_t edit_content_end(struct slice text, const struct yaml_part *part);
/* The beginning of the line behind the part, or the end of the text. */
size_t edit_behind_lines(struct slice text, const struct yaml_part *part);
int edit_splice(struct editing *e, size_t begin, size_t end, const struct buf *b); /* b NULL = nothing */
