#include "kubectl-fleet/run_steer.h"

#include "common/json/doc.h"
#include "kubectl-fleet/fetch.h"

static int read_run(const struct steering *s, struct run_view *ret, struct error *err)
{
        const struct object_list none = { 0 };
        struct object *o;

        TRY(kube_get(s->hub, s->kind, s->ns, s->name, s->arena, &o, err));
        return run_look(s->arena, (const struct update_run *)o, &none, ret) < 0 ? error_no_memory(err) : 0;
}

/* ---- stop and resume ---- */

/* What the kind's rules refuse, in words that say what to do. */
int steer_check_turn(const struct run_view *v, enum run_turn turn, bool commands, struct error *err)
{
        const char *kind = v->run->object.kind->kind, *name = v->run->object.meta.name;

        if (run_is_over(v->state))
                return error_set(err, ERR_INVALID, "%s \"%s\" is over (%s): it cannot be %s%s", kind, name,
                                 v->word, turn == TURN_STOP ? "stopped" : "resumed",
                                 v->state != RUN_FAILED ? ""
                                 : commands             ? "; `kubectl fleet runs retry` begins a new one"
                                                        : "; a retry begins a new one");
        if (turn == TURN_STOP && v->run->spec && text_equal(v->run->spec->state, RUN_STATE_INITIALIZE))
                return error_set(
                        err, ERR_INVALID,
                        "%s \"%s\" has not been started (spec.state is Initialize): there is nothing to stop",
                        kind, name);
        return 0;
}

static const char *wanted_state(enum run_turn turn)
{
        return turn == TURN_STOP ? RUN_STATE_STOP : RUN_STATE_RUN;
}

bool steer_is_turned(const struct update_run *run, enum run_turn turn)
{
        return text_equal(run->spec && run->spec->state ? run->spec->state : RUN_STATE_RUN,
                          wanted_state(turn));
}

int steer_turn(const struct steering *s, enum run_turn turn, bool *ret_changed, struct error *err)
{
        struct update_run *wanted;
        struct run_view v;

        TRY(read_run(s, &v, err));
        TRY(steer_check_turn(&v, turn, s->commands, err));
        wanted = (struct update_run *)object_copy(&v.run->object, s->arena);
        if (!wanted || !wanted->spec)
                return error_no_memory(err);
        *ret_changed = !steer_is_turned(wanted, turn);
        if (!*ret_changed)
                return 0;
        wanted->spec->state = wanted_state(turn);
        return kube_patch_diff(s->hub, &v.run->object, &wanted->object, OBJECT_META_SPEC, s->arena, NULL,
                               err);
}

/* ---- retry ---- */

#define NAME_MAX_LENGTH 63
#define RETRY_ATTEMPTS 20
#define RETRY_SUFFIX "-retry-"

/* "run" or "run-retry-2" gives "run-retry-N", cut to what a run's name may be. */
static const char *retry_name(struct arena *arena, const char *of, int number)
{
        const char *suffix = strstr(of, RETRY_SUFFIX);
        size_t base = suffix ? (size_t)(suffix - of) : strlen(of);
        char tail[32];
        size_t n = (size_t)snprintf(tail, sizeof(tail), RETRY_SUFFIX "%d", number);

        base = MIN(base, NAME_MAX_LENGTH - n);
        return arena_printf(arena, "%.*s%s", (int)base, of, tail);
}

static int make_retry(struct arena *arena, const struct update_run *of, const char *name,
                      struct update_run **ret, struct error *err)
{
        struct update_run *run =
                (struct update_run *)object_new(of->object.kind, of->object.meta.ns, name, arena);

        if (!run || !(run->spec = ARENA_NEW(arena, struct update_run_spec)))
                return error_no_memory(err);
        run->spec->placement_name = of->spec->placement_name;
        run->spec->staged_rollout_strategy_name = of->spec->staged_rollout_strategy_name;
        run->spec->resource_snapshot_index = of->status->resource_snapshot_index_used;
        run->spec->state = RUN_STATE_RUN;
        run->spec->retry_of = of->object.meta.name;
        *ret = run;
        return 0;
}

/* A hub whose runs know no retries would drop the field, and update every cluster. */
static int check_hub_knows(const struct steering *s, const struct update_run *run, struct error *err)
{
        AUTO_JSON json_t *doc = NULL, *answer = NULL;
        struct kube_resource resource = kube_resource_of(run->object.kind);
        const struct kube_write dry = { .dry_run = true };

        TRY(object_to_doc(&run->object, &doc, err));
        TRY(kube_doc_create(s->hub, &resource, run->object.meta.ns, doc, &dry, &answer, err));
        if (text_equal(doc_get_string(answer, "spec.retryOf"), run->spec->retry_of))
                return 0;
        return error_set(
                err, ERR_UNSUPPORTED,
                "the hub's %s has no field spec.retryOf: a new run would update all clusters, not only those "
                "that are left",
                run->object.kind->kind);
}

int steer_check_retry(const struct run_view *v, bool commands, struct error *err)
{
        const char *kind = v->run->object.kind->kind, *name = v->run->object.meta.name;
        const struct update_run_status *status = v->run->status;

        if (!run_is_over(v->state))
                return error_set(err, ERR_INVALID, "%s \"%s\" is not over (%s): %s", kind, name, v->word,
                                 commands ? "`kubectl fleet runs resume` or wait for its end"
                                          : "resume it, or wait for its end");
        if (!v->run->spec || !status || text_empty(status->resource_snapshot_index_used) ||
            status->stages_status.n == 0)
                return error_set(err, ERR_INVALID,
                                 "%s \"%s\" was never initialized: there is nothing to retry; make a new run",
                                 kind, name);
        if (v->state == RUN_DONE && v->progress.good == v->progress.total && status->left_out_clusters.n == 0)
                return error_set(err, ERR_INVALID,
                                 "%s \"%s\" succeeded on all its clusters (%zu): there is nothing to retry",
                                 kind, name, v->progress.total);
        return 0;
}

static int create_retry(const struct steering *s, const struct update_run *of, const char *name,
                        struct error *err)
{
        struct update_run *run = NULL;

        TRY(make_retry(s->arena, of, name, &run, err));
        TRY(check_hub_knows(s, run, err));
        return kube_create(s->hub, &run->object, s->arena, NULL, err);
}

/* Whether the run that has the name already is a retry of `of` that goes on. */
static int is_under_way(const struct steering *s, const struct update_run *of, const char *name, bool *ret,
                        struct error *err)
{
        struct steering other = *s;
        struct run_view v;
        int code;

        other.name = name;
        code = read_run(&other, &v, err);
        *ret = code == 0 && v.run->spec && text_equal(v.run->spec->retry_of, of->object.meta.name) &&
               !run_is_over(v.state);
        return code == ERR_NOT_FOUND ? 0 : code;
}

static int retry_by_number(const struct steering *s, const struct update_run *of, struct retry *r,
                           const char **ret_name, struct error *err)
{
        int code = ERR_EXISTS;
        const char *name = NULL;
        bool same = false;

        for (int i = 1; code == ERR_EXISTS && !same && i <= RETRY_ATTEMPTS; i++) {
                if (!(name = retry_name(s->arena, of->object.meta.name, i)))
                        return error_no_memory(err);
                error_clear(err);
                code = create_retry(s, of, name, err);
                r->made = code == 0;
                if (code == ERR_EXISTS && r->once)
                        TRY(is_under_way(s, of, name, &same, err));
        }
        if (!same)
                TRY(code);
        *ret_name = name;
        return 0;
}

int steer_retry(const struct steering *s, struct retry *r, const char **ret_name, struct error *err)
{
        struct run_view v;

        TRY(read_run(s, &v, err));
        TRY(steer_check_retry(&v, s->commands, err));
        if (text_empty(r->name))
                return retry_by_number(s, v.run, r, ret_name, err);
        TRY(create_retry(s, v.run, r->name, err));
        r->made = true;
        *ret_name = r->name;
        return 0;
}
