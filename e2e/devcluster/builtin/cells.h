/* How kubectl shows built-in kinds: table columns and the cells of one object. Pure. */
#pragma once

#include "common/json/doc.h"

#define BUILTIN_COLUMNS_MAX 16

struct cell_column {
        const char *name, *type, *format; /* "string", "integer"...; "name" or "" */
        int priority;                     /* 1 = only with -o wide */
};

/* Columns of a kind and their number; kinds without a table of their own get NAME and AGE. */
size_t builtin_columns(const char *group, const char *kind, struct cell_column ret[BUILTIN_COLUMNS_MAX]);
/* Appends one JSON value per column. 0 or ERR_NO_MEMORY. */
int builtin_cells(const char *group, const char *kind, const json_t *doc, int64_t now_ms, json_t *cells);
