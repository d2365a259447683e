/* The table wants: which objects each Work lists, so that nothing is removed that another one wants. */
#include <stdlib.h>

#include "member-agent/store/internal.h"

static int compare_names(const void *a, const void *b)
{
        const struct object_name *x = a, *y = b;
        int r = strcmp(x->group, y->group);

        if (r == 0)
                r = strcmp(x->kind, y->kind);
        if (r == 0)
                r = strcmp(x->ns, y->ns);
        return r ? r : strcmp(x->name, y->name);
}

static bool is_at(sqlite3_stmt *st, const struct object_name *o)
{
        const char *const texts[] = { o->group, o->kind, o->ns, o->name };

        for (int i = 0; i < (int)ARRAY_LEN(texts); i++)
                if (!text_equal((const char *)sqlite3_column_text(st, i), texts[i]))
                        return false;
        return true;
}

/* Content changes more often than the list of objects: mostly nothing is to be written. */
static int is_same_list(struct store *s, const char *work, const struct object_name *wants, size_t n,
                        bool *ret, struct error *err)
{
        sqlite3_stmt *st AUTO_RESET = NULL;
        size_t i = 0;
        int r;

        TRY(store_prepared(s, WANTS_OF_WORK, &st, err));
        store_bind_text(st, 1, work);
        while ((r = sqlite3_step(st)) == SQLITE_ROW && i < n && is_at(st, &wants[i]))
                i++;
        if (r != SQLITE_ROW && r != SQLITE_DONE)
                return store_failure(s, r, err);
        *ret = r == SQLITE_DONE && i == n;
        return 0;
}

static void bind_object(sqlite3_stmt *st, int first, const struct object_name *o)
{
        const char *const texts[] = { o->group, o->kind, o->ns, o->name };

        for (int i = 0; i < (int)ARRAY_LEN(texts); i++)
                store_bind_text(st, first + i, texts[i]);
}

static int put_want(struct store *s, const char *work, const struct object_name *o, struct error *err)
{
        sqlite3_stmt *st AUTO_RESET = NULL;

        TRY(store_prepared(s, WANT_PUT, &st, err));
        store_bind_text(st, 1, work);
        bind_object(st, 2, o);
        return store_finish(s, st, err);
}

int store_wants_put(struct store *s, const char *work, struct object_name *wants, size_t n, struct error *err)
{
        size_t kept = 0;
        bool same = false;

        if (n > 1)
                qsort(wants, n, sizeof(*wants), compare_names);
        for (size_t i = 0; i < n; i++)
                if (kept == 0 || compare_names(&wants[kept - 1], &wants[i]) != 0)
                        wants[kept++] = wants[i];
        TRY(is_same_list(s, work, wants, kept, &same, err));
        if (same)
                return 0;
        TRY(store_remove_by_work(s, WORK_WANTS_REMOVE, work, err));
        for (size_t i = 0; i < kept; i++)
                TRY(put_want(s, work, &wants[i], err));
        return 0;
}

int store_wanted_by(struct store *s, const struct object_name *o, struct arena *arena, const char ***ret,
                    size_t *ret_n, struct error *err)
{
        sqlite3_stmt *st AUTO_RESET = NULL;

        TRY(store_prepared(s, WANTED_BY, &st, err));
        bind_object(st, 1, o);
        return store_read_names(s, st, arena, ret, ret_n, err);
}
