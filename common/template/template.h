/* Templates in the language of Go's text/template, with delimiters of one's own and the functions of
 * slim-sprig that give equal output for equal input (docs/templates.md). Parse once, render as often as
 * wanted.
 *
 * Pure: no files, environment, clock, random numbers or network; a render reads the template and its data and
 * writes to its own memory, so it may run offloaded. Bounded: text, nesting, steps, output, depth, lists and
 * memory have their limits (LIMIT_TEMPLATE_... in common/base/limits.h), each with an error of its own.
 *
 * What Go types the data stand for: null is nil, an integer int64, a real float64, a string string, an array
 * []interface {}, an object map[string]interface {}. Integers written in a template are int.
 *
 * Errors have Go's words and places, "template: NAME:LINE: ..." from parsing and "template: NAME:LINE:COLUMN:
 * executing "NAME" at <node>: ..." from rendering. ERR_INVALID: the template is wrong, for these data at
 * least; ERR_LIMIT: a bound; ERR_NO_MEMORY. Rules: spec/resource-set.md 4. */
#pragma once

#include "common/json/doc.h"

struct template;

struct template_options {
        const char *name;         /* the template's name, as errors have it */
        const char *left, *right; /* delimiters; NULL: {{ and }} */
        /* Functions without arguments that give what a rendering brings along ("inputs"). */
        const char *const *roots;
        size_t n_roots;
        bool missing_key_fails; /* .k of a map without k: an error, else <no value> */
};

/* Lives in `arena`, which must outlive it as `options` and `text` must. Errors: ERR_INVALID, ERR_LIMIT,
 * ERR_NO_MEMORY. */
int template_parse(struct arena *arena, const struct template_options *options, struct slice text,
                   const struct template **ret, struct error *err);

struct template_data {
        const json_t *dot;          /* `.` at the top; NULL: none */
        const json_t *const *roots; /* one per name in the options; each a document, read only */
};

/* Appends to `out`, whose own maximum holds besides the limit of a rendering. After an error `out` has what
 * was written until then. What a template changes in its data (`set`) lasts for this rendering. */
int template_render(const struct template *t, const struct template_data *data, struct buf *out,
                    struct error *err);

/* A string as a label value or part of a name: spec/resource-set.md 4.9. Appends to `out`. */
int template_slugify(struct slice text, struct buf *out);
