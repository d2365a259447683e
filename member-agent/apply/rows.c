#include "member-agent/apply/rows.h"

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
