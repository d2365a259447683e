/* What a member's agent keeps in its file, read from the disk as the file's schema says it: at rest all of it
 * is about Works there are and objects they name. docs/member-agent.md. */
#include <sqlite3.h>

#include "e2e/simulation/rules.h"

struct state {
        struct watch *w;
        unsigned member;
        char ns[96]; /* of its Works on the hub */
};

static const char *text(sqlite3_stmt *row, int column)
{
        const char *s = (const char *)sqlite3_column_text(row, column);

        return s ? s : "";
}

static const json_t *work_of(const struct state *s, sqlite3_stmt *row)
{
        return watch_get(s->w, "hub", RES_WORKS, s->ns, text(row, 0));
}

static void say(const struct state *s, const char *table, sqlite3_stmt *row, const char *why)
{
        watch_broken(s->w, &rule_state, "the state file of member-%u has a row of %s in %s that %s",
                     s->member, text(row, 0), table, why);
}

/* ---- rows of ClusterObjectSets stand beside those of Works ---- */

#define SET_PREFIX "clusterobjectset/"

static bool is_of_a_set(sqlite3_stmt *row)
{
        return text_starts_with(text(row, 0), SET_PREFIX);
}

static const json_t *set_of(const struct state *s, sqlite3_stmt *row)
{
        char cluster[32];

        snprintf(cluster, sizeof(cluster), "member-%u", s->member);
        return watch_get(s->w, cluster, RES_SETS, "", text(row, 0) + strlen(SET_PREFIX));
}

/* What is archived has nothing left, nor has what is gone. */
static void check_set(const struct state *s, const char *table, sqlite3_stmt *row)
{
        const json_t *set = set_of(s, row);

        if (!set)
                say(s, table, row, "is no longer on the member");
        else if (text_equal(doc_get_string(set, "spec.lifecycleState"), "Archived"))
                say(s, table, row, "is archived");
}

static void check_set_object(const struct state *s, const char *table, sqlite3_stmt *row)
{
        const char *set = text(row, 0) + strlen(SET_PREFIX);
        unsigned ship, revision, of, cargo;
        char why[400];

        check_set(s, table, row);
        if (!wish_set_of(set, &ship, &revision))
                return;
        if (wish_cargo_of(text(row, 4), &of, &cargo) && of == ship &&
            watch_wish(s->w)->members[s->member].ships[ship].sets[revision].items[cargo].wanted)
                return;
        snprintf(why, sizeof(why), "does not name %s %s/%s", text(row, 2), text(row, 3), text(row, 4));
        say(s, table, row, why);
}

/* ---- rows of Works: name, uid, generation ---- */

static void check_work(const struct state *s, const char *table, sqlite3_stmt *row)
{
        const json_t *work = work_of(s, row);

        if (is_of_a_set(row))
                check_set(s, table, row);
        else if (!work)
                say(s, table, row, "is no longer on the hub");
        else if (!text_equal(doc_get_string(work, "metadata.uid"), text(row, 1)))
                say(s, table, row, "is another of that name");
        else if (doc_get_int(work, "metadata.generation", 0) != sqlite3_column_int64(row, 2))
                say(s, table, row, "is of an old generation");
}

/* ---- rows of objects: work, grp, kind, ns, name, and of the inventory plural ---- */

static bool is_in_group(const char *api_version, const char *group)
{
        const char *slash = api_version ? strchr(api_version, '/') : NULL;
        size_t n = slash ? (size_t)(slash - api_version) : 0;

        return strlen(group) == n && (n == 0 || strncmp(api_version, group, n) == 0);
}

static bool names(const json_t *work, sqlite3_stmt *row)
{
        json_t *m;
        size_t i;

        json_array_foreach(doc_get_array(work, "spec.workload.manifests"), i, m) {
                const char *ns = doc_get_string(m, "metadata.namespace");

                if (is_in_group(doc_get_string(m, "apiVersion"), text(row, 1)) &&
                    text_equal(doc_get_string(m, "kind"), text(row, 2)) &&
                    text_equal(ns ? ns : "", text(row, 3)) &&
                    text_equal(doc_get_string(m, "metadata.name"), text(row, 4)))
                        return true;
        }
        return false;
}

/* What was applied before a Work turned to ReportDiff stays, and so does the knowledge of it. */
static bool reports(const json_t *work)
{
        return text_equal(doc_get_string(work, "spec.applyStrategy.type"), "ReportDiff");
}

/* While another Work of its placement has yet to be made again, a Work takes care of what that one had. */
static bool is_owned(const struct state *s, sqlite3_stmt *row)
{
        char cluster[32], resource[192];
        const json_t *live;
        json_t *owner;
        size_t i;

        if (sqlite3_column_count(row) < 6)
                return false;
        snprintf(cluster, sizeof(cluster), "member-%u", s->member);
        snprintf(resource, sizeof(resource), "%s/%s", text(row, 1), text(row, 5));
        live = watch_get(s->w, cluster, resource, text(row, 3), text(row, 4));
        json_array_foreach(doc_get_array(live, "metadata.ownerReferences"), i, owner)
                if (text_equal(doc_get_string(owner, "name"), text(row, 0)))
                        return true;
        return false;
}

static void check_object(const struct state *s, const char *table, sqlite3_stmt *row)
{
        const json_t *work = work_of(s, row);
        char why[400];

        if (is_of_a_set(row)) {
                check_set_object(s, table, row);
                return;
        }
        if (!work) {
                say(s, table, row, "is no longer on the hub");
                return;
        }
        if (names(work, row) || reports(work) || is_owned(s, row))
                return;
        snprintf(why, sizeof(why), "it does not want: %s %s/%s", text(row, 2), text(row, 3), text(row, 4));
        say(s, table, row, why);
}

/* ---- all tables ---- */

static void check_table(const struct state *s, sqlite3 *db, const char *table, const char *columns,
                        void (*check)(const struct state *s, const char *table, sqlite3_stmt *row))
{
        sqlite3_stmt *rows = NULL;
        char sql[128];
        int code;

        snprintf(sql, sizeof(sql), "SELECT %s FROM %s", columns, table);
        code = sqlite3_prepare_v2(db, sql, -1, &rows, NULL);
        while (code == SQLITE_OK && (code = sqlite3_step(rows)) == SQLITE_ROW) {
                check(s, table, rows);
                code = SQLITE_OK;
        }
        if (code != SQLITE_DONE)
                watch_broken(s->w, &rule_state, "the state file of member-%u cannot be read: %s", s->member,
                             sqlite3_errmsg(db));
        sqlite3_finalize(rows);
}

static void check_member(struct watch *w, unsigned member)
{
        struct state s = { .w = w, .member = member };
        char name[32];
        sqlite3 *db;

        if (watch_wish(w)->members[member].membership != MEMBER_IN || !(db = watch_state(w, member)))
                return;
        snprintf(name, sizeof(name), "member-%u", member);
        snprintf(s.ns, sizeof(s.ns), NAME_MEMBER_NAMESPACE, name);
        watch_judged(w, &rule_state);
        check_table(&s, db, "works", "name, uid, generation", check_work);
        check_table(&s, db, "inventory", "work, grp, kind, ns, name, plural", check_object);
        check_table(&s, db, "wants", "work, grp, kind, ns, name", check_object);
        sqlite3_close(db);
}

static void state_at_rest(struct watch *w, void *state)
{
        for (unsigned i = 1; i <= watch_wish(w)->n_members; i++)
                check_member(w, i);
}

const struct rule rule_state = { .name = "state", .at_rest = state_at_rest };
