/* What functions of several subjects share. Private to common/template. */
#pragma once

#include "common/template/functions.h"

/* A value as text, %v: a string is itself. */
int value_text(struct run *run, const struct value *v, struct value *ret);
/* []string: the elements that are not nil as text; what is no list as the only element, nil as none. */
int texts_of(struct run *run, const struct value *v, struct value *ret);
struct slice trim_space(struct slice s);                 /* Unicode's */
struct slice trim_set(struct slice s, struct slice set); /* the set's characters, at both ends */
void replace_all(struct buf *out, struct slice s, struct slice what, struct slice with);
bool value_is_empty(const struct value *v); /* as `default` has it */
/* As sprig's int64 and float64 convert; what cannot be converted is 0. */
int64_t value_to_int64(const struct value *v);
double value_to_float64(const struct value *v);
/* Digits with a sign; *ret_fits: within 64 bits, else *ret is the nearest. */
bool parse_digits(struct slice s, unsigned base, int64_t *ret, bool *ret_fits);
