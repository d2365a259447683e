/* A kind's table is a list of columns; each column says how its cell is made: a path into the object, or a
 * small function where kube-apiserver computes something. */
#include "common/base/timefmt.h"
#include "e2e/devcluster/builtin/cells_internal.h"

#define CELL_MAX 4096

/* ---- pieces ---- */

void cell_print_value(struct buf *b, const json_t *v)
{
        if (json_is_string(v))
                buf_append_str(b, json_string_value(v));
        else if (json_is_integer(v))
                buf_printf(b, "%lld", (long long)json_integer_value(v));
        else if (json_is_boolean(v))
                buf_append_str(b, json_is_true(v) ? "true" : "false");
}

void cell_print_path(struct cell *c, const char *path)
{
        cell_print_value(c->out, doc_get(c->doc, path));
}

void cell_print_since(struct cell *c, const char *path)
{
        const char *text = doc_get_string(c->doc, path);
        int64_t then;
        char age[32];

        if (!text || time_parse_rfc3339(slice_of(text), &then) < 0) {
                buf_append_str(c->out, "<unknown>");
                return;
        }
        duration_format_human(c->now_ms > then ? c->now_ms - then : 0, age, sizeof(age));
        buf_append_str(c->out, age);
}

void cell_print_age(struct cell *c)
{
        cell_print_since(c, "metadata.creationTimestamp");
}

void cell_print_created(struct cell *c)
{
        cell_print_path(c, "metadata.creationTimestamp");
}

void cell_print_joined(struct buf *b, const json_t *list, const char *separator, const char *key)
{
        const char *before = "";
        json_t *item;
        size_t i;

        json_array_foreach((json_t *)list, i, item) {
                const json_t *v = key ? doc_get(item, key) : item;

                if (!v)
                        continue;
                buf_append_str(b, before);
                cell_print_value(b, v);
                before = separator;
        }
}

void cell_print_map(struct buf *b, const json_t *map)
{
        const char *key, *before = "";
        json_t *v;

        json_object_foreach((json_t *)map, key, v) {
                buf_printf(b, "%s%s=", before, key);
                cell_print_value(b, v);
                before = ",";
        }
}

void cell_print_selector(struct cell *c, const char *path)
{
        cell_print_map(c->out, doc_get_object(doc_get(c->doc, path), "matchLabels"));
}

int64_t cell_number(const struct cell *c, const char *path, int64_t fallback)
{
        return doc_get_int(c->doc, path, fallback);
}

bool cell_has_condition(const json_t *doc, const char *type)
{
        json_t *condition;
        size_t i;

        json_array_foreach(doc_get_array(doc, "status.conditions"), i, condition)
                if (text_equal(doc_get_string(condition, "type"), type) &&
                    text_equal(doc_get_string(condition, "status"), "True"))
                        return true;
        return false;
}

/* ---- tables ---- */

static const struct column plain_columns[] = { NAME_COLUMN, AGE_COLUMN };
static const struct column created_columns[] = { NAME_COLUMN, CREATED_COLUMN };

static const struct cell_table plain = CELL_TABLE("", "", plain_columns);
static const struct cell_table created[] = {
        CELL_TABLE("", "LimitRange", created_columns),
        CELL_TABLE("storage.k8s.io", "CSIStorageCapacity", created_columns),
        CELL_TABLE("rbac.authorization.k8s.io", "Role", created_columns),
        CELL_TABLE("rbac.authorization.k8s.io", "ClusterRole", created_columns),
        CELL_TABLE("apiextensions.k8s.io", "CustomResourceDefinition", created_columns),
};

static const struct cell_table *find_in(const struct cell_table *tables, size_t n, const char *group,
                                        const char *kind)
{
        for (size_t i = 0; i < n; i++)
                if (text_equal(tables[i].group, group) && text_equal(tables[i].kind, kind))
                        return &tables[i];
        return NULL;
}

static const struct cell_table *find_table(const char *group, const char *kind)
{
        const struct {
                const struct cell_table *tables;
                size_t n;
        } all[] = {
                { cells_workloads, n_cells_workloads }, { cells_network, n_cells_network },
                { cells_storage, n_cells_storage },     { cells_cluster, n_cells_cluster },
                { created, ARRAY_LEN(created) },
        };

        for (size_t i = 0; i < ARRAY_LEN(all); i++) {
                const struct cell_table *t = find_in(all[i].tables, all[i].n, group, kind);

                if (t)
                        return t;
        }
        return &plain;
}

size_t builtin_columns(const char *group, const char *kind, struct cell_column ret[BUILTIN_COLUMNS_MAX])
{
        const struct cell_table *t = find_table(group, kind);

        ASSERT(t->n <= BUILTIN_COLUMNS_MAX);
        for (size_t i = 0; i < t->n; i++)
                ret[i] = (struct cell_column){ .name = t->columns[i].name,
                                               .type = t->columns[i].type     ? t->columns[i].type
                                                       : t->columns[i].number ? "integer"
                                                                              : "string",
                                               .format = t->columns[i].format ? t->columns[i].format
                                                         : i == 0             ? "name"
                                                                              : "",
                                               .priority = t->columns[i].priority };
        return t->n;
}

static json_t *make_cell(const struct column *column, struct cell *c)
{
        int64_t value;

        if (column->number)
                return json_integer(doc_get_int(c->doc, column->path, 0));
        buf_clear(c->out);
        if (column->path)
                cell_print_path(c, column->path);
        else
                column->print(c);
        if (c->out->len == 0 && column->fallback)
                buf_append_str(c->out, column->fallback);
        if (column->as_boolean || (text_equal(column->type, "boolean") && !column->as_text))
                return json_boolean(text_equal(c->out->data, "true"));
        if ((column->as_integer || text_equal(column->type, "integer")) &&
            text_parse_i64(c->out->data, &value))
                return json_integer(value);
        return json_stringn(c->out->data, c->out->len);
}

int builtin_cells(const char *group, const char *kind, const json_t *doc, int64_t now_ms, json_t *cells)
{
        const struct cell_table *t = find_table(group, kind);
        AUTO_BUF struct buf text;
        struct cell c = { doc, now_ms, &text };

        buf_init(&text, CELL_MAX);
        for (size_t i = 0; i < t->n; i++)
                if (json_array_append_new(cells, make_cell(&t->columns[i], &c)) < 0)
                        return ERR_NO_MEMORY;
        return 0;
}
