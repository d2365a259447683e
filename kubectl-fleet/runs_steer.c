/* kubectl fleet runs stop, resume, retry. */
#include "hub-agent/common.h"
#include "kubectl-fleet/command.h"
#include "kubectl-fleet/fetch.h"
#include "kubectl-fleet/output.h"
#include "kubectl-fleet/run_view.h"

static int tell(struct session *s, const struct kind *kind, const char *name, const char *what)
{
        output_kind(&s->out, kind);
        return buf_printf(&s->out, "/%s %s\n", name, what);
}

static int read_run(struct session *s, const struct named *n, struct run_view *ret, struct error *err)
{
        const struct object_list none = { 0 };
        struct object *o;
        int code = session_time_left(s, err);

        if (code == 0)
                code = kube_get(&s->hub, n->kind, n->ns, n->name, s->arena, &o, err);
        if (code == ERR_NOT_FOUND && !fetch_lacks_kind(err))
                return explain_missing(s, n, err);
        TRY(code);
        return run_look(s->arena, (const struct update_run *)o, &none, ret) < 0 ? error_no_memory(err) : 0;
}

/* ---- stop and resume ---- */

struct turn {
        struct named named;
        const char *state;
        bool changed;
};

/* What the kind's rules refuse, in words that say what to do. */
static int check_turn(const struct turn *t, const struct run_view *v, struct error *err)
{
        const char *kind = t->named.kind->kind, *name = t->named.name;
        bool stop = text_equal(t->state, RUN_STATE_STOP);

        if (run_is_over(v->state))
                return error_set(err, ERR_INVALID, "%s \"%s\" is over (%s): it cannot be %s%s", kind, name,
                                 v->word, stop ? "stopped" : "resumed",
                                 v->state == RUN_FAILED ? "; `kubectl fleet runs retry` begins a new one"
                                                        : "");
        if (stop && v->run->spec && text_equal(v->run->spec->state, RUN_STATE_INITIALIZE))
                return error_set(
                        err, ERR_INVALID,
                        "%s \"%s\" has not been started (spec.state is Initialize): there is nothing to stop",
                        kind, name);
        return 0;
}

static int turn_once(struct session *s, void *ctx, struct error *err)
{
        struct turn *t = ctx;
        struct update_run *wanted;
        struct run_view v;

        TRY(read_run(s, &t->named, &v, err));
        TRY(check_turn(t, &v, err));
        wanted = (struct update_run *)object_copy(&v.run->object, s->arena);
        if (!wanted || !wanted->spec)
                return error_no_memory(err);
        t->changed = !text_equal(wanted->spec->state ? wanted->spec->state : RUN_STATE_RUN, t->state);
        if (!t->changed)
                return 0;
        wanted->spec->state = t->state;
        return kube_patch_diff(&s->hub, &v.run->object, &wanted->object, OBJECT_META_SPEC, s->arena, NULL,
                               err);
}

static int turn(struct session *s, const char *state, const char *done, const char *already,
                struct error *err)
{
        struct turn t = { .state = state };

        TRY(named_of(s, session_argument(s, 0), &run_names, &t.named, err));
        TRY(session_retry_conflicts(s, turn_once, &t, err));
        return tell(s, t.named.kind, t.named.name, t.changed ? done : already);
}

static int run_stop(struct session *s, struct error *err)
{
        return turn(s, RUN_STATE_STOP, "stopping", "is stopped already", err);
}

static int run_resume(struct session *s, struct error *err)
{
        return turn(s, RUN_STATE_RUN, "resumed", "runs already", err);
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

static int make_retry(struct session *s, const struct update_run *of, const char *name,
                      struct update_run **ret, struct error *err)
{
        struct update_run *run =
                (struct update_run *)object_new(of->object.kind, of->object.meta.ns, name, s->arena);

        if (!run || !(run->spec = ARENA_NEW(s->arena, struct update_run_spec)))
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
static int check_hub_knows(struct session *s, const struct update_run *run, struct error *err)
{
        AUTO_JSON json_t *doc = NULL, *answer = NULL;
        struct kube_resource resource = kube_resource_of(run->object.kind);
        const struct kube_write dry = { .dry_run = true };

        TRY(object_to_doc(&run->object, &doc, err));
        TRY(session_time_left(s, err));
        TRY(kube_doc_create(&s->hub, &resource, run->object.meta.ns, doc, &dry, &answer, err));
        if (text_equal(doc_get_string(answer, "spec.retryOf"), run->spec->retry_of))
                return 0;
        return error_set(
                err, ERR_UNSUPPORTED,
                "the hub's %s has no field spec.retryOf: a new run would update all clusters, not only those "
                "that are left",
                run->object.kind->kind);
}

static int check_retry(const struct named *n, const struct run_view *v, struct error *err)
{
        const struct update_run_status *status = v->run->status;

        if (!run_is_over(v->state))
                return error_set(
                        err, ERR_INVALID,
                        "%s \"%s\" is not over (%s): `kubectl fleet runs resume` or wait for its end",
                        n->kind->kind, n->name, v->word);
        if (!v->run->spec || !status || text_empty(status->resource_snapshot_index_used) ||
            status->stages_status.n == 0)
                return error_set(err, ERR_INVALID,
                                 "%s \"%s\" was never initialized: there is nothing to retry; make a new run",
                                 n->kind->kind, n->name);
        if (v->state == RUN_DONE && v->progress.good == v->progress.total && status->left_out_clusters.n == 0)
                return error_set(err, ERR_INVALID,
                                 "%s \"%s\" succeeded on all its clusters (%zu): there is nothing to retry",
                                 n->kind->kind, n->name, v->progress.total);
        return 0;
}

static int create_retry(struct session *s, const struct update_run *of, const char *name, struct error *err)
{
        struct update_run *run = NULL;

        TRY(make_retry(s, of, name, &run, err));
        TRY(check_hub_knows(s, run, err));
        TRY(session_time_left(s, err));
        return kube_create(&s->hub, &run->object, s->arena, NULL, err);
}

static int run_retry(struct session *s, struct error *err)
{
        const char *name = s->options.name;
        bool named = !text_empty(name);
        int code = ERR_EXISTS;
        struct named of;
        struct run_view v;

        TRY(named_of(s, session_argument(s, 0), &run_names, &of, err));
        TRY(read_run(s, &of, &v, err));
        TRY(check_retry(&of, &v, err));
        for (int i = 1; code == ERR_EXISTS && i <= (named ? 1 : RETRY_ATTEMPTS); i++) {
                if (!named && !(name = retry_name(s->arena, of.name, i)))
                        return error_no_memory(err);
                error_clear(err);
                code = create_retry(s, v.run, name, err);
        }
        TRY(code);
        return tell(s, of.kind, name, "created");
}

/* ---- the commands ---- */

#define STEER_FLAGS (SHARED_HUB | SHARED_NAMESPACE)
static const struct command_argument arguments[] = { { "run", COMPLETES_RUN } };
static const struct flag retry_flags[] = {
        { "name", FLAG_STRING, "", OPTION(name),
          "Name of the new run; else that of the old one and a number." },
};

const struct command runs_stop_command = {
        .name = "stop",
        .usage = "<run>",
        .summary = "Let a run finish the clusters it is at, and begin no other",
        .about = "Stop a staged update run: clusters that are being updated are finished, and no other is "
                 "begun until\n"
                 "the run is resumed. Its gates stay closed meanwhile.",
        .examples = "kubectl fleet runs stop example-run",
        .arguments = arguments,
        .n_arguments = ARRAY_LEN(arguments),
        .least = 1,
        .most = 1,
        .shared = STEER_FLAGS,
        .run = run_stop,
};

const struct command runs_resume_command = {
        .name = "resume",
        .usage = "<run>",
        .summary = "Let a stopped run go on, or begin one that is only initialized",
        .examples = "kubectl fleet runs resume example-run",
        .arguments = arguments,
        .n_arguments = ARRAY_LEN(arguments),
        .least = 1,
        .most = 1,
        .shared = STEER_FLAGS,
        .run = run_resume,
};

const struct command runs_retry_command = {
        .name = "retry",
        .usage = "<run>",
        .summary = "Make a new run for the clusters that one left behind",
        .about = "Make a new run of the same placement, revision and strategy for the clusters that failed, "
                 "were skipped\n"
                 "or were not reached by a run that is over. Clusters that it updated are left alone.",
        .examples = "kubectl fleet runs retry example-run",
        .arguments = arguments,
        .n_arguments = ARRAY_LEN(arguments),
        .least = 1,
        .most = 1,
        .flags = { retry_flags, ARRAY_LEN(retry_flags) },
        .shared = STEER_FLAGS,
        .run = run_retry,
};
