/* What a user does to a run: approve, stop, resume, retry. All is written with the user's rights; a second
 * click finds it done. */
#include "hub-agent/common.h"
#include "kubectl-fleet/approval.h"
#include "kubectl-fleet/conflicts.h"
#include "kubectl-fleet/fetch.h"
#include "kubectl-fleet/page/board.h"
#include "kubectl-fleet/page/row_parts.h"
#include "kubectl-fleet/run_steer.h"

/* ---- arguments ---- */

struct target {
        const struct kind *kind;
        const char *ns, *name;
};

static int read_target(const struct page_look *l, const char *const names[2],
                       const struct kind *const kinds[2], struct target *ret, struct error *err)
{
        const char *kind, *ns = page_arg_or(l, "ns", "");

        *ret = (struct target){ 0 };
        TRY(page_arg(l, "kind", &kind, err));
        TRY(page_arg(l, "name", &ret->name, err));
        for (size_t i = 0; i < 2; i++)
                if (text_equal(kind, names[i]))
                        ret->kind = kinds[i];
        if (!ret->kind)
                return error_set(err, ERR_INVALID, "kind: must be %s or %s", names[0], names[1]);
        if (!text_is_dns1123_subdomain(ret->name))
                return error_set(err, ERR_INVALID, "name: must be the name of a %s", ret->kind->kind);
        if (!ret->kind->namespaced && *ns)
                return error_set(err, ERR_INVALID, "ns: a %s has no namespace", ret->kind->kind);
        if (ret->kind->namespaced && !text_is_dns1123_label(ns))
                return error_set(err, ERR_INVALID, "ns: must be the namespace of the %s", ret->kind->kind);
        ret->ns = ret->kind->namespaced ? ns : NULL;
        return 0;
}

/* A sentence, and whether anything was changed. */
static int tell(struct arena *arena, const char *text, bool changed, const char *name, json_t **ret,
                struct error *err)
{
        struct page_writer w;

        page_begin(&w, arena);
        page_set(&w, "text", text ? json_string(text) : NULL);
        page_set(&w, "changed", json_boolean(changed));
        page_set_string(&w, "name", name);
        *ret = page_end(&w);
        return *ret ? 0 : error_no_memory(err);
}

/* ---- approve ---- */

struct approving {
        struct approval approval;
        bool changed;
};

static int approve_once(void *ctx, struct error *err)
{
        struct approving *a = ctx;

        return approval_write(&a->approval, &a->changed, err);
}

static int read_approval(const struct page_look *l, struct approval *ret, struct error *err)
{
        static const char *const names[] = { "careq", "areq" };
        static const struct kind *const kinds[] = { &cluster_approval_request_kind, &approval_request_kind };
        struct target t;

        TRY(read_target(l, names, kinds, &t, err));
        if (!json_is_string(json_object_get(l->args, "planHash")))
                return error_set(err, ERR_INVALID,
                                 "planHash: must be a string: the hash that was shown, empty if none was");
        ret->kind = t.kind;
        ret->ns = t.ns;
        ret->name = t.name;
        ret->plan_hash = page_arg_or(l, "planHash", "");
        return 0;
}

static int run_approve(const struct page_user *u, const json_t *args, struct arena *arena, json_t **ret,
                       struct error *err)
{
        const struct page_look l = { .arena = arena, .args = args };
        struct approving a = { .approval = { .hub = u->hub, .arena = arena } };
        const char *words;

        TRY(read_approval(&l, &a.approval, err));
        words = approval_words(&a.approval);
        if (!words)
                return error_no_memory(err);
        if (retry_conflicts(u->world->loop, approve_once, &a, err) < 0)
                return error_wrap(err, "failed to approve %s", words);
        return tell(arena,
                    arena_printf(arena, a.changed ? "%s is approved." : "%s was approved already.", words),
                    a.changed, a.approval.name, ret, err);
}

/* ---- stop, resume, retry ---- */

static int read_steering(const struct page_user *u, const json_t *args, struct arena *arena,
                         struct steering *ret, struct error *err)
{
        static const char *const names[] = { "csur", "sur" };
        static const struct kind *const kinds[] = { &cluster_staged_update_run_kind,
                                                    &staged_update_run_kind };
        const struct page_look l = { .arena = arena, .args = args };
        struct target t;

        TRY(read_target(&l, names, kinds, &t, err));
        *ret = (struct steering){ .hub = u->hub, .arena = arena, .kind = t.kind, .ns = t.ns, .name = t.name };
        return 0;
}

static int explain(const struct steering *s, int code, struct error *err)
{
        if (code == ERR_NOT_FOUND && !fetch_lacks_kind(err))
                return error_set(err, ERR_NOT_FOUND, "%s \"%s\" is not there any more", s->kind->kind,
                                 s->name);
        return code;
}

struct turning {
        struct steering steering;
        enum run_turn turn;
        bool changed;
};

static int turn_once(void *ctx, struct error *err)
{
        struct turning *t = ctx;

        return steer_turn(&t->steering, t->turn, &t->changed, err);
}

static int turn(const struct page_user *u, const json_t *args, struct arena *arena, enum run_turn turn,
                json_t **ret, struct error *err)
{
        struct turning t = { .turn = turn };
        const char *done = turn == TURN_STOP ? "stops" : "goes on";
        const char *already = turn == TURN_STOP ? "is stopped already" : "runs already";

        TRY(read_steering(u, args, arena, &t.steering, err));
        TRY(explain(&t.steering, retry_conflicts(u->world->loop, turn_once, &t, err), err));
        return tell(arena,
                    arena_printf(arena, "%s \"%s\" %s.", t.steering.kind->kind, t.steering.name,
                                 t.changed ? done : already),
                    t.changed, t.steering.name, ret, err);
}

static int run_stop(const struct page_user *u, const json_t *args, struct arena *arena, json_t **ret,
                    struct error *err)
{
        return turn(u, args, arena, TURN_STOP, ret, err);
}

static int run_resume(const struct page_user *u, const json_t *args, struct arena *arena, json_t **ret,
                      struct error *err)
{
        return turn(u, args, arena, TURN_RESUME, ret, err);
}

static int run_retry(const struct page_user *u, const json_t *args, struct arena *arena, json_t **ret,
                     struct error *err)
{
        struct retry r = { .once = true };
        const char *name = NULL;
        struct steering s;

        TRY(read_steering(u, args, arena, &s, err));
        TRY(explain(&s, steer_retry(&s, &r, &name, err), err));
        return tell(arena,
                    arena_printf(arena, r.made ? "%s \"%s\" retries it." : "%s \"%s\" retries it already.",
                                 s.kind->kind, name),
                    r.made, name, ret, err);
}

const struct page_action approve_page_action = { .name = "approve", .run = run_approve };
const struct page_action stop_page_action = { .name = "stop", .run = run_stop };
const struct page_action resume_page_action = { .name = "resume", .run = run_resume };
const struct page_action retry_page_action = { .name = "retry", .run = run_retry };
