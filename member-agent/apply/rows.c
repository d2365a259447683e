#include "member-agent/apply/rows.h"

#include "common/base/timefmt.h"

const char *row_key(const struct row *row, struct arena *arena)
{
        return object_identity(row->group, row->kind, row->ns, row->name, arena);
}

int rows_index(const struct rows *rows, struct arena *arena, struct map **ret, struct error *err)
{
        struct map *index = map_of_arena(arena);

        if (!index)
                return error_no_memory(err);
        for (size_t i = 0; i < rows->n; i++) {
                const char *key = row_key(&rows->at[i], arena);

                if (!key || map_put(index, key, &rows->at[i]) < 0)
                        return error_no_memory(err);
        }
        *ret = index;
        return 0;
}

struct row row_of_identifier(const char *work, const struct work_resource_identifier *id)
{
        return (struct row){ .work = work,
                             .group = or_empty(id->group),
                             .version = or_empty(id->version),
                             .kind = or_empty(id->kind),
                             .plural = or_empty(id->resource),
                             .ns = or_empty(id->ns),
                             .name = or_empty(id->name),
                             .namespaced = !text_empty(id->ns),
                             .uid = "",
                             .hash = "",
                             .handled = "",
                             .seen = "",
                             .first_drift_ms = TIME_NONE,
                             .first_diff_ms = TIME_NONE };
}

int rows_extend(struct rows *rows, size_t more, struct arena *arena, struct map **ret_known,
                struct error *err)
{
        struct row *all = ARENA_NEW_ARRAY(arena, struct row, rows->n + more + 1);

        if (!all)
                return error_no_memory(err);
        if (rows->n)
                memcpy(all, rows->at, rows->n * sizeof(*all));
        rows->at = all;
        return rows_index(rows, arena, ret_known, err);
}

int rows_lack(const struct map *known, const struct work_resource_identifier *id, struct arena *arena,
              bool *ret, struct error *err)
{
        struct row row = row_of_identifier("", id);
        const char *key = row_key(&row, arena);

        if (!key)
                return error_no_memory(err);
        *ret = !map_has(known, key) && !text_empty(row.name) && !text_empty(row.plural);
        return 0;
}
