/* The table inventory: what we applied, or were about to. */
#include "common/base/vec.h"
#include "member-agent/store/internal.h"

static int write_row(struct store *s, enum statement which, const struct row *row, struct error *err)
{
        sqlite3_stmt *st AUTO_RESET = NULL;
        const char *const texts[] = { row->work, row->group,   row->kind,  row->ns,
                                      row->name, row->version, row->plural };

        TRY(store_prepared(s, which, &st, err));
        for (int i = 0; i < (int)ARRAY_LEN(texts); i++)
                store_bind_text(st, i + 1, texts[i]);
        sqlite3_bind_int(st, 8, row->namespaced);
        store_bind_text(st, 9, row->uid);
        sqlite3_bind_int(st, 10, row->ordinal);
        sqlite3_bind_int(st, 11, (int)row->state);
        sqlite3_bind_int64(st, 12, row->work_generation);
        store_bind_text(st, 13, row->hash);
        sqlite3_bind_int64(st, 14, row->strategy);
        store_bind_text(st, 15, row->handled);
        store_bind_text(st, 16, row->seen);
        sqlite3_bind_int64(st, 17, row->live_generation);
        sqlite3_bind_int(st, 18, (int)row->result);
        sqlite3_bind_int(st, 19, (int)row->availability);
        sqlite3_bind_int64(st, 20, row->first_drift_ms);
        sqlite3_bind_int64(st, 21, row->first_diff_ms);
        sqlite3_bind_int64(st, 22, row->checked_ms);
        sqlite3_bind_int(st, 23, (int)row->ended);
        return store_finish(s, st, err);
}

int store_row_put(struct store *s, const struct row *row, struct error *err)
{
        return write_row(s, ROW_PUT, row, err);
}

int store_row_add(struct store *s, const struct row *row, struct error *err)
{
        return write_row(s, ROW_ADD, row, err);
}

int store_row_remove(struct store *s, const struct row *row, struct error *err)
{
        sqlite3_stmt *st AUTO_RESET = NULL;

        TRY(store_prepared(s, ROW_REMOVE, &st, err));
        store_bind_text(st, 1, row->work);
        store_bind_text(st, 2, row->group);
        store_bind_text(st, 3, row->kind);
        store_bind_text(st, 4, row->ns);
        store_bind_text(st, 5, row->name);
        return store_finish(s, st, err);
}

static int read_row(sqlite3_stmt *st, struct arena *arena, struct row *row)
{
        const char **const texts[] = { &row->work, &row->group,   &row->kind,  &row->ns,
                                       &row->name, &row->version, &row->plural };

        for (int i = 0; i < (int)ARRAY_LEN(texts); i++)
                if (!(*texts[i] = store_column_text(st, i, arena)))
                        return ERR_NO_MEMORY;
        row->namespaced = sqlite3_column_int(st, 7);
        row->uid = store_column_text(st, 8, arena);
        row->ordinal = sqlite3_column_int(st, 9);
        row->state = (enum row_state)sqlite3_column_int(st, 10);
        row->work_generation = sqlite3_column_int64(st, 11);
        row->hash = store_column_text(st, 12, arena);
        row->strategy = (unsigned)sqlite3_column_int64(st, 13);
        row->handled = store_column_text(st, 14, arena);
        row->seen = store_column_text(st, 15, arena);
        row->live_generation = sqlite3_column_int64(st, 16);
        row->result = (enum result)sqlite3_column_int(st, 17);
        row->availability = (enum availability)sqlite3_column_int(st, 18);
        row->first_drift_ms = sqlite3_column_int64(st, 19);
        row->first_diff_ms = sqlite3_column_int64(st, 20);
        row->checked_ms = sqlite3_column_int64(st, 21);
        row->ended = (enum row_ended)sqlite3_column_int(st, 22);
        return row->uid && row->hash && row->handled && row->seen ? 0 : ERR_NO_MEMORY;
}

static int read_rows(struct store *s, sqlite3_stmt *st, struct arena *arena, struct rows *ret,
                     struct error *err)
{
        VEC(struct row) rows = VEC_INIT;
        bool failed = false;
        int r;

        while ((r = sqlite3_step(st)) == SQLITE_ROW && !failed) {
                struct row row = { 0 };

                failed = read_row(st, arena, &row) < 0 || vec_push(&rows, row) < 0;
        }
        ret->n = rows.n;
        ret->at = rows.n ? arena_memdup(arena, rows.at, rows.n * sizeof(*rows.at)) : NULL;
        failed |= rows.n && !ret->at;
        vec_free(&rows);
        if (failed)
                return error_no_memory(err);
        return r == SQLITE_DONE ? 0 : store_failure(s, r, err);
}

int store_rows_of_work(struct store *s, const char *work, struct arena *arena, struct rows *ret,
                       struct error *err)
{
        sqlite3_stmt *st AUTO_RESET = NULL;

        TRY(store_prepared(s, ROWS_OF_WORK, &st, err));
        store_bind_text(st, 1, work);
        return read_rows(s, st, arena, ret, err);
}

static int bind_object(struct store *s, enum statement which, const char *group, const char *plural,
                       const char *ns, const char *name, sqlite3_stmt **ret, struct error *err)
{
        TRY(store_prepared(s, which, ret, err));
        store_bind_text(*ret, 1, group);
        store_bind_text(*ret, 2, plural);
        store_bind_text(*ret, 3, ns);
        store_bind_text(*ret, 4, name);
        return 0;
}

int store_rows_of_object(struct store *s, const char *group, const char *plural, const char *ns,
                         const char *name, struct arena *arena, struct rows *ret, struct error *err)
{
        sqlite3_stmt *st AUTO_RESET = NULL;

        TRY(bind_object(s, ROWS_OF_OBJECT, group, plural, ns, name, &st, err));
        return read_rows(s, st, arena, ret, err);
}

int store_object_seen(struct store *s, const char *group, const char *plural, const char *ns,
                      const char *name, const char *resource_version, struct error *err)
{
        sqlite3_stmt *st AUTO_RESET = NULL;

        TRY(bind_object(s, OBJECT_SEEN, group, plural, ns, name, &st, err));
        store_bind_text(st, 5, resource_version);
        return store_finish(s, st, err);
}

int store_rows_of_resource(struct store *s, const char *group, const char *plural, struct arena *arena,
                           struct rows *ret, struct error *err)
{
        sqlite3_stmt *st AUTO_RESET = NULL;

        TRY(store_prepared(s, ROWS_OF_RESOURCE, &st, err));
        store_bind_text(st, 1, group);
        store_bind_text(st, 2, plural);
        return read_rows(s, st, arena, ret, err);
}

int store_resources(struct store *s, struct arena *arena, struct rows *ret, struct error *err)
{
        sqlite3_stmt *st AUTO_RESET = NULL;

        TRY(store_prepared(s, RESOURCES, &st, err));
        return read_rows(s, st, arena, ret, err);
}
