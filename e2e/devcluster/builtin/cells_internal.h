/* The parts kubectl's tables are made of: shared by the files of tables, cells.c puts them together. */
#pragma once

#include "e2e/devcluster/builtin/cells.h"

struct cell {
        const json_t *doc;
        int64_t now_ms;
        struct buf *out; /* text of the cell */
};

struct column {
        const char *name;
        int priority;
        const char *path;              /* text or number found there */
        void (*print)(struct cell *c); /* or a function */
        const char *fallback;          /* when nothing was printed; NULL = "" */
        bool number;                   /* the cell is a JSON number (0 if absent) */
        const char *type; /* as declared, which kube-apiserver does not always keep to; NULL = by cell */
        bool as_text, as_boolean, as_integer; /* the cell's own type where it is not the declared one */
        const char *format;                   /* NULL = "name" for the first column */
};

struct cell_table {
        const char *group, *kind;
        const struct column *columns;
        size_t n;
};

#define NAME_COLUMN                                                                                          \
        {                                                                                                    \
                .name = "Name", .path = "metadata.name"                                                      \
        }
#define AGE_COLUMN                                                                                           \
        {                                                                                                    \
                .name = "Age", .print = cell_print_age                                                       \
        }
#define CREATED_COLUMN                                                                                       \
        {                                                                                                    \
                .name = "Created At", .print = cell_print_created, .type = "date"                            \
        }
#define WIDE .priority = 1
#define NONE .fallback = "<none>"
#define CELL_TABLE(g, k, c)                                                                                  \
        {                                                                                                    \
                g, k, c, ARRAY_LEN(c)                                                                        \
        }

/* ---- printing into c->out ---- */
void cell_print_value(struct buf *b, const json_t *v);
void cell_print_path(struct cell *c, const char *path);
void cell_print_since(struct cell *c, const char *path); /* a time: how long ago */
void cell_print_age(struct cell *c);
void cell_print_created(struct cell *c);
/* The items of a list, or the member `key` of each. */
void cell_print_joined(struct buf *b, const json_t *list, const char *separator, const char *key);
void cell_print_map(struct buf *b, const json_t *map);
void cell_print_selector(struct cell *c, const char *path);

int64_t cell_number(const struct cell *c, const char *path, int64_t fallback);
bool cell_has_condition(const json_t *doc, const char *type); /* with status "True" */

/* ---- the tables, each file's ---- */
extern const struct cell_table cells_workloads[];
extern const size_t n_cells_workloads;
extern const struct cell_table cells_network[];
extern const size_t n_cells_network;
extern const struct cell_table cells_storage[];
extern const size_t n_cells_storage;
extern const struct cell_table cells_cluster[];
extern const size_t n_cells_cluster;
