#include "hub-agent/manifest-generation/update/commit.h"

#include "common/base/map.h"
#include "hub-agent/manifest-generation/update/words.h"

/* ---- message ---- */

const char *commit_skip_text(bool ci_skip, const char *ci_skip_message)
{
        if (!text_empty(ci_skip_message))
                return ci_skip_message;
        return ci_skip ? "\n\n[ci skip]" : "";
}

/* Images that are released, each once, in the order of the results. */
static int targets_of(struct arena *arena, const struct job_plan *p, const char *const **ret, size_t *ret_n)
{
        const char **at = ARENA_NEW_ARRAY(arena, const char *, p->n_changes + 1);
        struct map *seen = map_of_arena(arena);
        size_t n = 0;

        if (!at || !seen)
                return ERR_NO_MEMORY;
        for (size_t i = 0; i < p->n_results; i++)
                for (size_t k = 0; k < p->results[i].n_containers; k++) {
                        const char *target = p->results[i].containers[k].target;

                        if (map_has(seen, target))
                                continue;
                        if (map_put(seen, target, (void *)target) < 0)
                                return ERR_NO_MEMORY;
                        at[n++] = target;
                }
        *ret = at;
        *ret_n = n;
        return 0;
}

static void put_list(struct buf *b, const char *const *at, size_t n, const char *between)
{
        for (size_t i = 0; i < n; i++)
                buf_printf(b, "%s%s", i ? between : "", at[i]);
}

static int put_automatic(struct arena *arena, const struct job_plan *p, struct buf *b)
{
        const char *const *targets;
        size_t n;

        TRY(targets_of(arena, p, &targets, &n));
        if (n == 1)
                return buf_printf(b, "Auto-release %s", targets[0]);
        buf_printf(b, "Auto-release multiple (%zu) images\n\n - ", n);
        put_list(b, targets, n, "\n - ");
        return buf_append_char(b, '\n');
}

static int put_release(struct arena *arena, const struct job_request *r, const struct job_plan *p,
                       struct buf *b)
{
        const char *const *targets;
        bool first = true;
        size_t n;

        TRY(targets_of(arena, p, &targets, &n));
        buf_append_str(b, "Release ");
        put_list(b, targets, n, ", ");
        buf_append_str(b, " to ");
        if (r->all)
                return buf_append_str(b, "all workloads");
        for (size_t i = 0; i < p->n_results; i++)
                if (p->results[i].status == UPDATE_SUCCESS) {
                        buf_printf(b, "%s%s", first ? "" : ", ", p->results[i].id);
                        first = false;
                }
        return b->failed;
}

enum line { AUTOMATED, DEAUTOMATED, LOCKED, UNLOCKED, UPDATED, N_LINES };

/* What a change is called; N_LINES: it goes without saying, since it comes with a lock. */
static enum line line_of(const struct job_change *c, bool locks)
{
        bool set = text_equal(c->value, "true");

        if (strcmp(c->policy, POLICY_AUTOMATED) == 0)
                return set ? AUTOMATED : DEAUTOMATED;
        if (strcmp(c->policy, POLICY_LOCKED) == 0)
                return set ? LOCKED : UNLOCKED;
        return locks && (strcmp(c->policy, POLICY_LOCKED_USER) == 0 ||
                         strcmp(c->policy, POLICY_LOCKED_MESSAGE) == 0)
                       ? N_LINES
                       : UPDATED;
}

/* Among the changes of one workload, which stand together from there on. */
static bool locks(const struct job_plan *p, size_t first)
{
        for (size_t i = first; i < p->n_changes && p->changes[i].object == p->changes[first].object; i++)
                if (strcmp(p->changes[i].policy, POLICY_LOCKED) == 0)
                        return true;
        return false;
}

/* The workloads of one line, each once: changes of a workload stand together. False: there are none. `b`
 * NULL: nothing is written. */
static bool put_line(struct buf *b, const struct job_plan *p, enum line line)
{
        static const char *const names[N_LINES] = { "Automated", "Deautomated", "Locked", "Unlocked",
                                                    "Updated policies" };
        const struct update_object *last = NULL, *now = NULL;
        bool locked = false;

        for (size_t i = 0; i < p->n_changes; i++) {
                const struct job_change *c = &p->changes[i];

                if (c->object != now) {
                        now = c->object;
                        locked = locks(p, i);
                }
                if (now == last || line_of(c, locked) != line)
                        continue;
                if (b)
                        buf_printf(b, last ? ", %s" : "%s: %s", last ? now->id : names[line], now->id);
                last = now;
        }
        return last != NULL;
}

static size_t count_lines(const struct job_plan *p)
{
        size_t n = 0;

        for (enum line l = 0; l < N_LINES; l++)
                n += put_line(NULL, p, l);
        return n;
}

static int put_policies(const struct job_plan *p, bool listed, struct buf *b)
{
        bool several = count_lines(p) > 1;

        if (several && !listed)
                buf_append_str(b, "Updated workload policies\n\n");
        for (enum line l = 0, n = 0; l < N_LINES; l++) {
                if (!put_line(NULL, p, l))
                        continue;
                if (several || listed)
                        buf_append_str(b, n++ ? "\n- " : "- ");
                put_line(b, p, l);
        }
        return b->failed;
}

static int put_message(struct arena *arena, const struct job_request *r, const struct job_plan *p,
                       struct buf *b)
{
        if (!text_empty(r->message)) {
                buf_append_str(b, r->message);
                if (r->type != JOB_POLICY)
                        return b->failed;
                buf_append_str(b, "\n\n");
                return put_policies(p, true, b);
        }
        if (r->type == JOB_POLICY)
                return put_policies(p, false, b);
        return r->type == JOB_AUTO ? put_automatic(arena, p, b) : put_release(arena, r, p, b);
}

int commit_message(const struct job_request *r, const struct job_plan *p, const char *skip, struct buf *ret,
                   struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;

        if (put_message(&arena, r, p, ret) == ERR_NO_MEMORY)
                return error_no_memory(err);
        buf_append_str(ret, skip);
        return buf_status(ret, err, "the message of a commit");
}

/* ---- sync events ---- */

static void put_short(struct buf *b, const char *commit)
{
        buf_append(b, commit, strnlen(commit, 7));
}

int sync_event_text(const char *const *commits, size_t n_commits, const char *old,
                    const char *const *workloads, size_t n_workloads, struct buf *ret, struct error *err)
{
        ASSERT(n_commits > 0);
        buf_append_str(ret, "Sync: ");
        if (n_commits > 2) {
                put_short(ret, text_empty(old) ? commits[n_commits - 1] : old);
                buf_append_str(ret, "..");
        }
        put_short(ret, commits[0]);
        buf_append_str(ret, ", ");
        put_list(ret, workloads, n_workloads, ", ");
        if (n_workloads == 0)
                buf_append_str(ret, "no workloads changed");
        return buf_status(ret, err, "the text of an event");
}
