/* For tests that kill the agent: kill -9 at every point of a pass: before every change that SQLite makes to
 * the state file, and before every request. Each story is played once to the end, which counts the points and
 * shows what is right; then once more, and at each point a process is split off in which the agent is killed
 * there and started again a second later: what comes before a point is the same for all that die behind it.
 * The end must be the same, down to the rows of the state file, and nothing may have been made twice or
 * deleted on the way. */
#pragma once

#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/timefmt.h"
#include "common/base/vec.h"
#include "e2e/devcluster/rig_store.h"
#include "member-agent/disk_test.h"
#include "member-agent/moves_test.h"

#define SETTLE_MS 12000  /* a story takes no longer */
#define RECOVER_MS 90000 /* a Work that the hub has lost is missed for a minute before it is cleaned up */

struct play;

/* What happens while the agent is dead. */
enum meanwhile { NOTHING, EMPTIED /* the Work lists another object alone */ };

struct story {
        const char *name;
        void (*before)(struct rig *r); /* the agent settles on it */
        void (*change)(struct rig *r); /* what the pass is about */
        bool can_be_emptied;
        bool refuses_deletion; /* the member's API server does, for three seconds */
};

struct play {
        const struct story *story;
        enum meanwhile meanwhile;
        const struct play
                *whole;       /* to be split: how it ends where nobody is killed; NULL = it is not split */
        size_t killed_before; /* this point, counted from 1; 0 = never */
        size_t splits;

        struct rig *rig;
        struct agent agent;
        struct sim_disk *disk;
        struct loopback_faults faults;
        size_t points, n; /* n: until it had settled */
        bool counting, dead;
        struct waitq died;
        int64_t refused_until_ms;
        const char *before_what; /* what it did not come to do */
        char last[8];            /* what the point before was, cut */
        VEC(bool) is_new;        /* by point: who dies there leaves something else than who died before */

        struct buf end;         /* of both clusters and the state file, made comparable */
        VEC(char *) made;       /* objects that came or went on the member since the change, sorted */
        char drifted_since[40]; /* as the hub was told first; "" = it was not */
        bool drifted_since_changed;
        char known_since[40]; /* as the state file had it when the agent was killed; "" = it had not */
};

/* ---- points ---- */

/* A part of a transaction: all of it is taken back by who opens the file next, until its journal goes. */
static bool is_uncommitted(const char *what)
{
        return text_equal(what, "write") || text_equal(what, "sync");
}

/* What was only read leaves nothing. */
static bool leaves_something(const struct play *p, const char *what)
{
        return !text_starts_with(p->last, "GET ") && !(is_uncommitted(p->last) && is_uncommitted(what));
}

static void note_point(struct play *p, const char *what)
{
        assert_int_equal(vec_push(&p->is_new, leaves_something(p, what)), 0);
        snprintf(p->last, sizeof(p->last), "%s", what);
}

/* Sanitizers ask it: in a process that was split off kill_everywhere() counts, since to look for leaks in
 * each takes longer than all else. All test programs of the folder are one: this is there once. */
extern bool split_off;
__attribute__((weak)) bool split_off;

__attribute__((weak, visibility("default"))) int __lsan_is_turned_off(void);
__attribute__((weak, visibility("default"))) int __lsan_is_turned_off(void)
{
        return split_off;
}

/* True in a process of its own, which is to end with this play: exit code 0, or what a failure makes of it.
 */
static bool split(const struct play *p, const char *what)
{
        pid_t child;
        int status;

        fflush(NULL);
        child = fork();
        assert_true(child >= 0);
        if (child == 0) {
                split_off = true;
                setenv("CMOCKA_TEST_ABORT", "1", 1); /* who fails does not go on with other tests */
                return true;
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        if (status != 0)
                fail_msg("%s, killed before point %zu (%s)%s: it ended with status %d, as it said above",
                         p->story->name, p->points, what,
                         p->meanwhile == EMPTIED ? " and emptied meanwhile" : "", status);
        return false;
}

static bool dies_here(struct play *p, const char *what)
{
        if (!p->whole || p->killed_before || p->points > p->whole->n)
                return false;
        if (p->is_new.at[p->points - 1] != p->whole->is_new.at[p->points - 1])
                fail_msg("%s: point %zu (%s) was not there before", p->story->name, p->points, what);
        if (!p->is_new.at[p->points - 1] && !getenv("KILL_EVERYWHERE"))
                return false;
        p->splits++;
        if (!split(p, what))
                return false;
        p->killed_before = p->points;
        return true;
}

static void reach_point(struct play *p, const char *what)
{
        if (!p->counting || p->dead)
                return;
        if (!p->killed_before)
                note_point(p, what);
        p->points++;
        if (!dies_here(p, what))
                return;
        p->before_what = arena_strdup(&p->rig->arena, what);
        p->dead = true;
        sim_disk_set_halted(p->disk, true);
        waitq_wake_all(&p->died);
}

static void before_disk(void *ctx, const char *what)
{
        reach_point(ctx, what);
}

/* Nothing of a dead agent arrives any more. */
static int before_request(void *ctx, const struct http_request *rq)
{
        struct play *p = ctx;

        reach_point(p, arena_printf(&p->rig->arena, "%s %s%s", rq->method,
                                    strrchr(rq->endpoint->base_url, '/'), rq->path));
        if (p->dead)
                return ERR_TIMEOUT;
        return text_equal(rq->method, "DELETE") && loop_now_ms(p->rig->loop) < p->refused_until_ms ? 503 : 0;
}

/* ---- what happens ---- */

/* Of no concern: what is written whenever an agent lives, and what nobody writes. */
static bool is_noise(const char *resource)
{
        static const char *const noise[] = { "/events",
                                             "/leases",
                                             "/customresourcedefinitions",
                                             "/internalmemberclusters",
                                             "/clusterroles",
                                             "/clusterrolebindings" };

        for (size_t i = 0; i < ARRAY_LEN(noise); i++)
                if (text_ends_with(resource, noise[i]))
                        return true;
        return false;
}

static void note_drift(struct play *p, const char *text)
{
        const char *at = strstr(text, "\"firstDriftedObservedTime\":\"");
        char since[sizeof(p->drifted_since)] = "";

        if (!at)
                return;
        sscanf(at + strlen("\"firstDriftedObservedTime\":\""), "%39[^\"]", since);
        p->drifted_since_changed |= p->drifted_since[0] && !text_equal(p->drifted_since, since);
        snprintf(p->drifted_since, sizeof(p->drifted_since), "%s", since);
}

static void store_changed(void *ctx, const struct rig_change *c)
{
        struct play *p = ctx;

        if (!p->counting || is_noise(c->resource))
                return;
        if (text_equal(c->cluster, "hub"))
                note_drift(p, c->text);
        else if (c->type != RIG_MODIFIED)
                assert_int_equal(
                        vec_push(&p->made, mem_printf("%s %s %s/%s", c->type == RIG_ADDED ? "+" : "-",
                                                      c->resource, c->ns, c->name)),
                        0);
}

/* ---- how it ends ---- */

static sqlite3 *open_state(struct play *p)
{
        sqlite3 *db = NULL;

        assert_int_equal(
                sqlite3_open_v2(sim_disk_uri(p->disk), &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_URI, NULL),
                SQLITE_OK);
        return db;
}

static void print_rows(struct play *p, const char *sql)
{
        sqlite3_stmt *st = NULL;
        sqlite3 *db = open_state(p);

        assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &st, NULL), SQLITE_OK);
        while (sqlite3_step(st) == SQLITE_ROW)
                assert_int_equal(buf_printf(&p->end, "state file: %s\n", sqlite3_column_text(st, 0)), 0);
        sqlite3_finalize(st);
        sqlite3_close(db);
}

/* Only once the agent is stopped. */
static void print_end(struct play *p)
{
        rig_print_store(p->rig, "hub", is_noise, &p->end);
        rig_print_store(p->rig, "m1", is_noise, &p->end);
        print_rows(p, "SELECT 'Work ' || name || ' ' || generation || ' delivered ' || "
                      "ifnull(status_delivered, '') "
                      "FROM works ORDER BY 1");
        print_rows(p, "SELECT 'wants ' || work || ' ' || kind || ' ' || name FROM wants ORDER BY 1");
        print_rows(
                p,
                "SELECT 'row ' || work || ' ' || kind || ' ' || name || ' state ' || state || ' result ' || "
                "result || ' drifted ' || (first_drift > 0) FROM inventory ORDER BY 1");
}

/* ---- a play ---- */

static void prepare(struct play *p, struct rig *r)
{
        p->rig = r;
        p->disk = sim_disk_new(r->loop);
        assert_non_null(p->disk);
        buf_init(&p->end, 1 << 24);
        p->faults = (struct loopback_faults){ .ctx = p, .fate = before_request };
        sim_disk_tell(p->disk, before_disk, p);
        prepare_clusters(r);
        invite(r);
        start_on(&p->agent, r, p->disk);
        meet(&p->agent, &p->faults);
        assert_int_equal(fiber_sleep(r->loop, 1000), 0);
        if (p->story->before)
                p->story->before(r);
        assert_int_equal(fiber_sleep(r->loop, 5000), 0);
}

static void note_known_drift(struct play *p)
{
        sqlite3_stmt *st = NULL;
        sqlite3 *db = open_state(p);

        assert_int_equal(sqlite3_prepare_v2(db, "SELECT first_drift FROM inventory WHERE first_drift > 0", -1,
                                            &st, NULL),
                         SQLITE_OK);
        if (sqlite3_step(st) == SQLITE_ROW)
                time_format_rfc3339(sqlite3_column_int64(st, 0), p->known_since);
        sqlite3_finalize(st);
        sqlite3_close(db);
}

static void empty_work(struct rig *r)
{
        replace_manifests(r, "w", CONFIG_MAP("z", "1"));
}

static void rise_again(struct play *p)
{
        stop(&p->agent);
        sim_disk_set_halted(p->disk, false);
        note_known_drift(p);
        if (p->meanwhile == EMPTIED)
                empty_work(p->rig);
        assert_int_equal(fiber_sleep(p->rig->loop, 1000), 0);
        start_on(&p->agent, p->rig, p->disk);
        p->dead = false;
        meet(&p->agent, &p->faults);
}

static void play_body(struct rig *r)
{
        struct play *p = r->ctx;

        prepare(p, r);
        if (p->story->refuses_deletion)
                p->refused_until_ms = loop_now_ms(r->loop) + 3000;
        p->counting = true;
        p->story->change(r);
        (void)waitq_wait(r->loop, &p->died, loop_now_ms(r->loop) + SETTLE_MS);
        p->n = p->points;
        if (p->dead)
                rise_again(p);
        else if (p->meanwhile == EMPTIED)
                empty_work(r);
        assert_int_equal(fiber_sleep(r->loop, RECOVER_MS), 0);
        p->counting = false;
        stop(&p->agent);
        print_end(p);
        sim_disk_free(p->disk);
}

static int by_text(const void *a, const void *b)
{
        return strcmp(*(char *const *)a, *(char *const *)b);
}

static void play(struct play *p)
{
        rig_run_watched(play_body, store_changed, p);
        if (p->made.n)
                qsort(p->made.at, p->made.n, sizeof(*p->made.at), by_text);
}

static void play_free(struct play *p)
{
        vec_for_each(&p->made, line)
                mem_free(*line);
        vec_free(&p->made);
        vec_free(&p->is_new);
        buf_free(&p->end);
}

/* ---- the property ---- */

static void fail_at_difference(const struct play *p, const char *is, const char *wanted)
{
        size_t at = 0, line = 0;

        while (is[at] && is[at] == wanted[at]) {
                at++;
                if (is[at - 1] == '\n')
                        line = at;
        }
        fail_msg("%s, killed before point %zu (%s)%s:\n   is %.*s\n  not %.*s", p->story->name,
                 p->killed_before, p->before_what, p->meanwhile == EMPTIED ? " and emptied meanwhile" : "",
                 (int)strcspn(is + line, "\n"), is + line, (int)strcspn(wanted + line, "\n"), wanted + line);
}

static const char *join(const struct play *p, struct buf *out)
{
        buf_init(out, 1 << 20);
        vec_for_each(&p->made, line)
                assert_int_equal(buf_printf(out, "%s\n", *line), 0);
        return out->len ? out->data : "";
}

static void nothing_made_twice(const struct play *p)
{
        for (size_t i = 1; i < p->made.n; i++)
                if (p->made.at[i][0] == '+' && text_equal(p->made.at[i - 1], p->made.at[i]))
                        fail_msg("%s, killed before point %zu (%s) and emptied meanwhile: twice %s",
                                 p->story->name, p->killed_before, p->before_what, p->made.at[i]);
}

static void compare(const struct play *p, const struct play *whole)
{
        AUTO_BUF struct buf is = { 0 }, wanted = { 0 };

        if (p->drifted_since_changed || (p->known_since[0] && !text_equal(p->known_since, p->drifted_since)))
                fail_msg("%s, killed before point %zu (%s): the first time of the drift was forgotten",
                         p->story->name, p->killed_before, p->before_what);
        if (!text_equal(p->end.data, whole->end.data))
                fail_at_difference(p, p->end.data, whole->end.data);
        if (p->meanwhile == EMPTIED) {
                nothing_made_twice(p);
                return;
        }
        if (!text_equal(join(p, &is), join(whole, &wanted)))
                fail_at_difference(p, is.data, wanted.data);
}

/* Before libraries are used: what they leave is counted, and SQLite takes no locks, which a process that is
 * split off within its calls would wait for. */
static void prepare_to_split(void)
{
        mem_hook_libraries();
        assert_int_equal(sqlite3_config(SQLITE_CONFIG_SINGLETHREAD), SQLITE_OK);
}

static void kill_everywhere(const struct story *story, enum meanwhile meanwhile)
{
        struct play whole = { .story = story, .meanwhile = meanwhile }, again = whole;
        size_t live = mem_live_count();

        play(&whole);
        again.whole = &whole;
        play(&again);
        compare(&again, &whole);
        play_free(&again);
        if (split_off) {
                play_free(&whole);
                assert_int_equal(mem_live_count(), live);
                exit(0);
        }
        if (getenv("KILL_EVERYWHERE"))
                printf("%s%s: killed %zu times at %zu points\n", story->name,
                       meanwhile == EMPTIED ? ", emptied" : "", again.splits, whole.n);
        assert_int_equal(again.n, whole.n);
        assert_true(again.splits >= 10);
        play_free(&whole);
        assert_int_equal(mem_live_count(), live);
}
