#include "common/kube/connection.h"

#include "common/base/memory.h"
#include "common/base/vec.h"
#include "common/kube/review.h"
#include "common/kube/version.h"

#define FIRST_PAUSE_MS 250
#define LAST_PAUSE_MS 30000
#define PROBE_DEADLINE_MS 10000
#define GRACE_MS 1000
#define GRACE_MAX_MS 64000
#define CALM_MS (5 * 60 * 1000)
#define RIGHTS_MAX 512                 /* an agent that may do nothing asks for every kind there is */
#define RIGHT_GRACE_MS 3000            /* an agent may start a moment before its rights are there */
#define RIGHT_KEEP_MS (30 * 60 * 1000) /* nobody asked for it again: it is wanted no more */
#define RIGHT_ASK_MS 5000              /* whether it is there by now; the more there are, the slower */
#define RIGHT_ASK_MORE_MS 50
#define RIGHT_DISPUTES 2 /* so often refused what was called allowed: the answer is not believed again */

struct right {      /* that is missing */
        char *what; /* "cannot list resource ..." */
        char *method, *path, *error;
        int64_t since_ms, seen_ms, asked_ms;
        bool told;
        bool granted; /* the server says that it is there, but nobody has used it yet */
        unsigned disputes;
};

struct kube_connection {
        struct kube_connection_options o;
        struct kube_client kube; /* the probe's */
        struct fiber_group *group;
        struct waitq better;                   /* it became good */
        struct waitq look;                     /* of the probe: an answer came */
        struct waitq missed;                   /* a right, since the fiber of rights looked */
        bool good, was_good, probing, waiting; /* waiting: for missing rights */
        const struct kube_trouble *told;
        const struct kube_trouble *seen; /* since seen_ms every call met it; NULL = the last one was fine */
        int64_t seen_ms, answered_ms;
        const struct kube_trouble *verdict; /* of the probe, since verdict_ms */
        int64_t verdict_ms;
        /* How long something has to last until it is told. What comes back soon after it was over has to last
         * longer each time: a proxy that lets every other request through is not worth two lines a minute. */
        int64_t grace_ms, over_ms;
        bool away; /* for a second nothing got through, told or not: who pauses is woken when that is over */
        uint32_t outages; /* that are over */
        VEC(struct right) rights;
        char *detail; /* of what was told */
};

static int64_t now_ms(const struct kube_connection *c)
{
        return loop_now_ms(c->kube.world->loop);
}

/* ---- telling ---- */

static size_t rights_told(const struct kube_connection *c)
{
        size_t n = 0;

        vec_for_each(&c->rights, r)
                n += r->told;
        return n;
}

void kube_connection_print(const struct kube_connection *c, struct buf *b)
{
        if (c->told)
                buf_printf(b, "%s: %s\n", c->o.name, c->told->words);
        if (rights_told(c) > 0)
                buf_printf(b, "%s: a right is missing\n", c->o.name);
}

static bool is_right(const struct kube_trouble *t)
{
        return text_equal(t->reason, KUBE_REASON_RIGHT_MISSING);
}

static void log_change(const struct kube_connection *c, const struct kube_connection_change *change)
{
        const struct kube_trouble *t = change->trouble;
        char message[256];

        snprintf(message, sizeof(message), "%s%s%s", c->o.title,
                 is_right(t)    ? ": "
                 : change->over ? " can be used"
                                : " cannot be used: ",
                 !change->over ? t->words
                 : is_right(t) ? "the right is there"
                               : "");
        if (change->over && is_right(t))
                log_info(c->kube.log, message, "server", c->kube.endpoint->base_url, "was", change->detail);
        else if (change->over)
                log_info(c->kube.log, message, "server", c->kube.endpoint->base_url);
        else
                log_warn(c->kube.log, message, "server", c->kube.endpoint->base_url, "error", change->detail,
                         "do", t->mend);
}

static void announce(struct kube_connection *c, const struct kube_trouble *t, bool over, const char *detail)
{
        const struct kube_connection_change change = { .name = c->o.name,
                                                       .trouble = t,
                                                       .over = over,
                                                       .left = t && is_right(t) ? rights_told(c) : !over,
                                                       .detail = detail };

        if (t)
                log_change(c, &change);
        if (c->o.changed)
                c->o.changed(c->o.ctx, &change);
}

static void tell(struct kube_connection *c, const struct kube_trouble *t, const struct error *err)
{
        if (!c->told)
                c->grace_ms = c->over_ms != TIME_NONE && now_ms(c) - c->over_ms < CALM_MS
                                      ? MIN(c->grace_ms * 2, (int64_t)GRACE_MAX_MS)
                                      : GRACE_MS;
        c->told = t;
        c->good = false;
        mem_free(c->detail);
        c->detail = mem_strdup(err->text);
        announce(c, t, false, err->text);
}

static void end_outage(struct kube_connection *c)
{
        c->away = false;
        c->outages++;
        waitq_wake_all(&c->better);
}

static void become_good(struct kube_connection *c)
{
        const struct kube_trouble *told = c->told;
        bool first = !told && !c->was_good, better = !c->good || c->away;

        c->good = c->was_good = true;
        c->seen = c->told = c->verdict = NULL;
        if (told)
                c->over_ms = now_ms(c);
        if (told || first)
                announce(c, told, true, "");
        if (better)
                end_outage(c);
}

/* ---- what calls say ---- */

static void start_probing(struct kube_connection *c);

static bool is_vague(const struct kube_trouble *t)
{
        return t && text_equal(t->reason, HTTP_REASON_FAILED);
}

/* Silence lasts since the question, unless somebody else was answered meanwhile; all else is seen now. */
static int64_t begin_of(const struct kube_connection *c, const struct kube_trouble *t, int64_t begun_ms)
{
        return text_equal(t->reason, HTTP_REASON_NO_ANSWER) ? MAX(begun_ms, c->answered_ms) : now_ms(c);
}

/* A trouble that lasts since then: it is told, or it is too young for that. How little is told lately is no
 * reason to let anybody wait. */
static void lasts(struct kube_connection *c, const struct kube_trouble *t, int64_t since_ms,
                  int64_t patience_ms, const struct error *err)
{
        int64_t ms = now_ms(c) - since_ms - patience_ms;

        if (ms >= GRACE_MS)
                c->away = true;
        if (t != c->told && ms >= c->grace_ms)
                tell(c, t, err);
}

/* One cause shows in several ways: a refused client certificate as an alert, or as a connection that breaks.
 * The one that tells more counts. */
static void failed(struct kube_connection *c, const struct kube_trouble *t, int64_t begun_ms,
                   const struct error *err)
{
        bool same = c->seen == t || (c->seen && is_vague(t));

        if (!same && !is_vague(c->seen))
                c->seen_ms = begin_of(c, t, begun_ms);
        if (!same)
                c->seen = t;
        c->verdict = NULL;
        if (c->seen == t)
                lasts(c, t, c->seen_ms, t->patience_ms, err);
        start_probing(c);
}

/* What was told is over only when the probe says so: it knows whether that is a server we can work with. */
static void answered(struct kube_connection *c)
{
        c->answered_ms = now_ms(c);
        c->seen = NULL;
        if (c->told && c->told != c->verdict)
                waitq_wake_all(&c->look);
        else if (c->away && !c->told && !c->verdict)
                end_outage(c);
}

/* ---- rights ---- */

static void right_clear(struct right *r)
{
        mem_free(r->what);
        mem_free(r->method);
        mem_free(r->path);
        mem_free(r->error);
}

static void tell_right(struct kube_connection *c, struct right *r)
{
        r->told = true;
        announce(c, kube_trouble_named(KUBE_REASON_RIGHT_MISSING), false, r->error);
}

/* It may still be missing, but that troubles nobody. */
static void tell_unused(struct kube_connection *c, const struct right *r)
{
        const struct kube_connection_change change = { .name = c->o.name,
                                                       .trouble =
                                                               kube_trouble_named(KUBE_REASON_RIGHT_MISSING),
                                                       .over = true,
                                                       .unused = true,
                                                       .left = rights_told(c),
                                                       .detail = r->what };
        char message[256];

        snprintf(message, sizeof(message), "%s: the right is not used any more", c->o.title);
        log_info(c->kube.log, message, "server", c->kube.endpoint->base_url, "was", r->what);
        if (c->o.changed)
                c->o.changed(c->o.ctx, &change);
}

static void forget_old_rights(struct kube_connection *c)
{
        for (size_t i = c->rights.n; i-- > 0;) {
                struct right r = c->rights.at[i];

                if (now_ms(c) - r.seen_ms <= (r.granted ? CALM_MS : RIGHT_KEEP_MS))
                        continue;
                vec_remove(&c->rights, i);
                if (r.told)
                        tell_unused(c, &r);
                right_clear(&r);
        }
}

static struct right *find_right(struct kube_connection *c, const char *what)
{
        vec_for_each(&c->rights, r)
                if (text_equal(r->what, what))
                        return r;
        return NULL;
}

/* When there is something to do about a right; TIME_NONE: never. */
static int64_t due_ms(const struct kube_connection *c, const struct right *r)
{
        if (!r->told)
                return r->granted ? TIME_NONE : r->since_ms + RIGHT_GRACE_MS;
        if (r->disputes >= RIGHT_DISPUTES)
                return TIME_NONE;
        return r->asked_ms + RIGHT_ASK_MS + RIGHT_ASK_MORE_MS * (int64_t)c->rights.n;
}

/* The one that is due first, NULL if there is none. */
static struct right *next_right(const struct kube_connection *c)
{
        struct right *first = NULL;

        vec_for_each(&c->rights, r)
                if (due_ms(c, r) != TIME_NONE && (!first || due_ms(c, r) < due_ms(c, first)))
                        first = r;
        return first;
}

/* Who waits to try again need not wait any longer, and who does not ask again has a right all the same. */
static void right_granted(struct kube_connection *c, struct right *r)
{
        bool told = r->told;

        r->told = false;
        r->granted = true;
        r->seen_ms = now_ms(c);
        if (told)
                announce(c, kube_trouble_named(KUBE_REASON_RIGHT_MISSING), true, r->what);
        waitq_wake_all(&c->better);
}

/* Whether the server would allow it by now; if not, it is told, once. Parks. */
static int ask_for_right(struct kube_connection *c, struct right *r)
{
        AUTO_FREE char *what = mem_strdup(r->what), *refusal = mem_strdup(r->error);
        struct kube_client k = c->kube;
        struct error err = { 0 };
        bool allowed = false;
        int code;

        r->asked_ms = now_ms(c);
        if (!what || !refusal) {
                if (!r->told) /* what is told is asked for again later; what is not is due at once */
                        tell_right(c, r);
                return ERR_NO_MEMORY;
        }
        k.connection = NULL;
        code = review_ask(&k, refusal, &allowed, &err);
        r = find_right(c, what);
        if (code == ERR_CANCELLED || !r || r->granted)
                return code;
        if (code == 0 && allowed)
                right_granted(c, r);
        else if (!r->told)
                tell_right(c, r);
        return code;
}

static void rights_fiber(void *ctx)
{
        struct kube_connection *c = ctx;
        struct loop *l = c->kube.world->loop;
        struct right *r;
        int code = 0;

        while (code != ERR_CANCELLED && (r = next_right(c))) {
                if (due_ms(c, r) > now_ms(c))
                        code = waitq_wait(l, &c->missed, due_ms(c, r));
                else if (r->told || r->disputes < RIGHT_DISPUTES)
                        code = ask_for_right(c, r);
                else
                        tell_right(c, r);
        }
        c->waiting = false;
}

static void watch_rights(struct kube_connection *c)
{
        if (c->waiting)
                waitq_wake_all(&c->missed);
        else
                c->waiting = fiber_spawn(c->group, "missing rights", rights_fiber, c) != NULL;
}

/* Full: the one that is there by now goes first, for it may never be asked for again. */
static bool make_room(struct kube_connection *c)
{
        struct right *oldest = NULL;

        vec_for_each(&c->rights, r)
                if (r->granted && (!oldest || r->seen_ms < oldest->seen_ms))
                        oldest = r;
        if (c->rights.n < RIGHTS_MAX)
                return true;
        if (!oldest)
                return false;
        right_clear(oldest);
        vec_remove(&c->rights, (size_t)(oldest - c->rights.at));
        return true;
}

static void add_right(struct kube_connection *c, const struct kube_attempt *a, const char *what,
                      const struct error *err)
{
        struct right r = { .what = mem_strdup(what),
                           .method = mem_strdup(a->method),
                           .path = mem_strndup(a->path, strcspn(a->path, "?")),
                           .error = mem_strdup(err->text),
                           .since_ms = now_ms(c),
                           .seen_ms = now_ms(c) };

        if (!make_room(c))
                log_warn(c->kube.log, "more rights are missing than are kept in mind", "server",
                         c->kube.endpoint->base_url, "error", err->text);
        else if (r.what && r.method && r.path && r.error && vec_push(&c->rights, r) == 0)
                return watch_rights(c);
        right_clear(&r);
}

static void right_missing(struct kube_connection *c, const struct kube_attempt *a, const struct error *err)
{
        const char *cannot = strstr(err->text, "\" cannot ");
        const char *what = cannot ? cannot + 2 : err->text;
        struct right *r;

        forget_old_rights(c);
        r = find_right(c, what);
        if (!r) {
                add_right(c, a, what, err);
                return;
        }
        r->seen_ms = now_ms(c);
        if (!r->granted)
                return;
        r->granted = false;
        r->disputes++;
        r->since_ms = now_ms(c);
        watch_rights(c);
}

static void right_there(struct kube_connection *c, const struct kube_attempt *a)
{
        size_t path = strcspn(a->path, "?");

        for (size_t i = c->rights.n; i-- > 0;) {
                struct right r = c->rights.at[i];

                if (!text_equal(r.method, a->method) || strlen(r.path) != path ||
                    strncmp(r.path, a->path, path) != 0)
                        continue;
                vec_remove(&c->rights, i);
                if (r.told)
                        announce(c, kube_trouble_named(KUBE_REASON_RIGHT_MISSING), true, r.what);
                right_clear(&r);
        }
}

/* Whatever the answer is: it comes from behind the authorizer. */
static bool is_allowed(int code, const struct error *err)
{
        return code == 0 || (error_is_refusal(err) && err->http_status != 403 && err->http_status != 429);
}

/* What says nothing about the server. */
static bool is_ours(int code)
{
        return code == ERR_CANCELLED || code == ERR_NO_MEMORY || code == ERR_LIMIT || code == ERR_CLOSED;
}

void kube_connection_report(struct kube_client *k, const struct kube_attempt *a, int code, struct error *err)
{
        struct kube_connection *c = k->connection;
        const struct kube_trouble *t = NULL;

        if (!c || is_ours(code))
                return;
        if (code < 0) {
                kube_trouble_explain(k, err);
                t = kube_trouble_of(err);
        }
        if (t && !is_right(t)) {
                failed(c, t, a->begun_ms, err);
                return;
        }
        answered(c);
        if (t)
                right_missing(c, a, err);
        else if (c->rights.n > 0 && is_allowed(code, err))
                right_there(c, a);
}

/* ---- the probe ---- */

static bool is_verdict(const struct kube_trouble *t)
{
        static const char *const reasons[] = { KUBE_REASON_VERSION, KUBE_REASON_NOT_KUBERNETES,
                                               KUBE_REASON_SERVER_ERROR };

        return text_in(t->reason, reasons, ARRAY_LEN(reasons));
}

/* The server answers, and with that shows that it is none for us: a verdict of the probe alone. */
static void judge(struct kube_connection *c, const struct kube_trouble *t, int64_t begun_ms,
                  const struct error *err)
{
        if (c->verdict != t)
                c->verdict_ms = begun_ms;
        c->verdict = t;
        lasts(c, t, c->verdict_ms, 0, err);
}

/* A server that answers, but not to this question, is good enough; one that only has errors is not. */
static bool probe(struct kube_connection *c)
{
        int64_t begun_ms = now_ms(c);
        struct error err = { 0 };
        int code = kube_version_check(&c->kube, &err);

        if (code < 0 && !kube_trouble_of(&err) && err.http_status >= 500)
                error_set_reason(&err, KUBE_REASON_SERVER_ERROR);
        else if (code < 0 && !kube_trouble_of(&err) && err.http_status == 404) /* every API server has it */
                error_set_reason(&err, KUBE_REASON_NOT_KUBERNETES);
        const struct kube_trouble *t = code < 0 ? kube_trouble_of(&err) : NULL;

        if (is_ours(code))
                return false;
        if (!t || is_right(t)) {
                become_good(c);
                return true;
        }
        if (t != c->seen && is_verdict(t))
                judge(c, t, begun_ms, &err);
        return false;
}

static void probe_fiber(void *ctx)
{
        struct kube_connection *c = ctx;
        struct loop *l = c->kube.world->loop;
        int64_t pause_ms = FIRST_PAUSE_MS;

        while (!probe(c)) {
                int64_t spread = (int64_t)(loop_random_u64(l) % (uint64_t)(pause_ms / 2));

                if (waitq_wait(l, &c->look, now_ms(c) + pause_ms / 2 + spread) == ERR_CANCELLED)
                        break;
                pause_ms = MIN(pause_ms * 2, (int64_t)LAST_PAUSE_MS);
        }
        c->probing = false;
}

static void start_probing(struct kube_connection *c)
{
        if (!c->probing)
                c->probing = fiber_spawn(c->group, "connection", probe_fiber, c) != NULL;
}

/* ---- life ---- */

struct kube_connection *kube_connection_new(struct fiber_group *group,
                                            const struct kube_connection_options *o)
{
        struct kube_connection *c = NEW(struct kube_connection);

        if (!c)
                return NULL;
        c->o = *o;
        c->kube = *o->kube;
        c->kube.connection = c;
        c->kube.call_deadline_ms = PROBE_DEADLINE_MS;
        c->grace_ms = GRACE_MS;
        c->over_ms = TIME_NONE;
        c->group = fiber_group_new(o->kube->world->loop, group, "connection");
        if (c->group)
                start_probing(c);
        if (!c->probing)
                return kube_connection_free(c);
        o->kube->connection = c;
        return c;
}

struct kube_connection *kube_connection_free(struct kube_connection *c)
{
        if (!c)
                return NULL;
        if (c->group)
                fiber_group_end(c->group);
        if (c->o.kube->connection == c)
                c->o.kube->connection = NULL;
        vec_for_each(&c->rights, r)
                right_clear(r);
        vec_free(&c->rights);
        mem_free(c->detail);
        mem_free(c);
        return NULL;
}

bool kube_connection_good(const struct kube_connection *c)
{
        return c->good;
}

uint32_t kube_connection_outages(const struct kube_client *k)
{
        return k->connection ? k->connection->outages : 0;
}

bool kube_past_is_over(const struct kube_client *k, struct kube_past *past, int code)
{
        const struct kube_past now = { kube_connection_outages(k), code == ERR_FORBIDDEN };
        bool over = now.outages != past->outages || now.refused != past->refused;

        *past = now;
        return over;
}

int kube_connection_wait(struct kube_connection *c, int64_t deadline_ms)
{
        while (!c->good)
                TRY(waitq_wait(c->kube.world->loop, &c->better, deadline_ms));
        return 0;
}

int kube_connection_pause(struct kube_client *k, int64_t ms)
{
        struct loop *l = k->world->loop;

        if (!k->connection)
                return fiber_sleep(l, ms);
        return waitq_wait(l, &k->connection->better, loop_now_ms(l) + ms) == ERR_CANCELLED ? ERR_CANCELLED
                                                                                           : 0;
}

bool kube_connection_tells(const struct kube_client *k, const struct error *err)
{
        return k->connection && kube_trouble_of(err);
}
