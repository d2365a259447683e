/* Interned strings: one copy of each distinct string (cluster names, reasons, kinds). They live as long as
 * the table; equal strings have equal pointers. Only for values whose number is bounded by design. */
#pragma once

#include "common/base/map.h"

struct intern_table;

struct intern_table *intern_table_new(void);
struct intern_table *intern_table_free(struct intern_table *t);      /* returns NULL */
const char *intern(struct intern_table *t, const char *s, size_t n); /* NULL on no memory */
/* The same for bytes of any content, such as a struct without padding that differs; aligned to 16. */
const void *intern_bytes(struct intern_table *t, const void *p, size_t n);    /* NULL on no memory */
bool intern_has_bytes(const struct intern_table *t, const void *p, size_t n); /* is p the table's own copy? */
/* Each copy has a number, counted from 0 over strings and bytes together: what stands for it in less than a
 * pointer. intern_number() is for copies of this table alone; any other pointer is our bug. */
uint32_t intern_number(const struct intern_table *t, const void *copy);
const void *intern_at(const struct intern_table *t, uint32_t number); /* one that was given */
size_t intern_table_bytes(const struct intern_table *t);
