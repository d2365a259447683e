/* kubectl fleet runs stop, resume, retry. */
#include "kubectl-fleet/command.h"
#include "kubectl-fleet/fetch.h"
#include "kubectl-fleet/output.h"
#include "kubectl-fleet/run_steer.h"

static int tell(struct session *s, const struct steering *of, const char *name, const char *what)
{
        output_kind(&s->out, of->kind);
        return buf_printf(&s->out, "/%s %s\n", name, what);
}

static int steering_of(struct session *s, struct named *n, struct steering *ret, struct error *err)
{
        TRY(named_of(s, session_argument(s, 0), &run_names, n, err));
        *ret = (struct steering){ .hub = &s->hub,
                                  .arena = s->arena,
                                  .kind = n->kind,
                                  .ns = n->ns,
                                  .name = n->name,
                                  .commands = true };
        return 0;
}

/* Where the run is not there: which one was looked for. */
static int explain(struct session *s, const struct named *n, int code, struct error *err)
{
        return code == ERR_NOT_FOUND && !fetch_lacks_kind(err) ? explain_missing(s, n, err) : code;
}

/* ---- stop and resume ---- */

struct turn {
        struct steering steering;
        enum run_turn turn;
        bool changed;
};

static int turn_once(struct session *s, void *ctx, struct error *err)
{
        struct turn *t = ctx;

        return steer_turn(&t->steering, t->turn, &t->changed, err);
}

static int turn(struct session *s, enum run_turn turn, const char *done, const char *already,
                struct error *err)
{
        struct turn t = { .turn = turn };
        struct named n;

        TRY(steering_of(s, &n, &t.steering, err));
        TRY(explain(s, &n, session_retry_conflicts(s, turn_once, &t, err), err));
        return tell(s, &t.steering, n.name, t.changed ? done : already);
}

static int run_stop(struct session *s, struct error *err)
{
        return turn(s, TURN_STOP, "stopping", "is stopped already", err);
}

static int run_resume(struct session *s, struct error *err)
{
        return turn(s, TURN_RESUME, "resumed", "runs already", err);
}

/* ---- retry ---- */

static int run_retry(struct session *s, struct error *err)
{
        struct retry r = { .name = s->options.name };
        const char *name = NULL;
        struct steering of;
        struct named n;

        TRY(steering_of(s, &n, &of, err));
        TRY(explain(s, &n, steer_retry(&of, &r, &name, err), err));
        return tell(s, &of, name, "created");
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
