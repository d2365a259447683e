#include "member-agent/hub-token/renewal.h"

#include "common/base/limits.h"
#include "common/base/memory.h"
#include "common/base/timefmt.h"
#include "common/kube/connection.h"
#include "member-agent/hub-token/claims.h"

#define LOOK_MS 15000       /* at the file, without a request */
#define RETRY_FIRST_MS 5000 /* after a failed renewal; doubles */
#define RETRY_LAST_MS 300000
#define RETRY_EXPIRED_MS 60000 /* then only somebody else can help, and that is to be seen soon */
#define REQUEST_MS 20000
#define KEY "token"

static const struct kube_resource secrets = { "", "v1", "secrets", "Secret", true };

struct token_renewal {
        struct token_renewal_options o;
        char *path, *secret_ns, *secret_name;
        struct fiber_group *group;
        struct log log;
        char *token;         /* what the file held at the last look; wiped when it is replaced */
        uint64_t stamp;      /* of the file at that look */
        int64_t renew_at_ms; /* wall; TIME_NONE = there is none, or it is not ours to renew */
        int64_t expires_ms;  /* wall; TIME_NONE = never */
        int64_t retry_at_ms; /* loop; no renewal before */
        int64_t pause_ms;
        bool told_end; /* of this token */
        bool renewed;  /* its successor is stored, and has yet to reach the file */
        char problem[ERROR_TEXT_MAX];
};

static struct world *world_of(struct token_renewal *r)
{
        return r->o.member->world;
}

static void forget_token(char **token)
{
        mem_free_secret(*token);
        *token = NULL;
}

const char *token_renewal_problem(const struct token_renewal *r)
{
        return r->problem;
}

/* One line when something begins to be wrong, or is wrong in another way; none for the same again, and none
 * for what the connection to the hub tells. */
static void say(struct token_renewal *r, const char *what, const char *why, bool told)
{
        char text[ERROR_TEXT_MAX];

        snprintf(text, sizeof(text), "%.200s: %.700s", what, why);
        if (text_equal(text, r->problem))
                return;
        memcpy(r->problem, text, sizeof(text));
        if (!told)
                log_warn(&r->log, what, "error", why);
}

/* ---- file and Secret ---- */

/* mem_free *ret after wiping. ERR_NOT_FOUND if there is no file, ERR_INVALID if nothing is in it. */
static int read_file(struct world *w, const char *path, char **ret, struct error *err)
{
        char *data = NULL;
        size_t n = 0;

        TRY(w->files->read(w->ctx, path, LIMIT_TOKEN_BYTES, &data, &n, err));
        struct slice text = slice_trim((struct slice){ data, n });
        *ret = text.len > 0 ? mem_strndup(text.data, text.len) : NULL;
        explicit_bzero(data, n);
        mem_free(data);
        if (text.len == 0)
                return error_set(err, ERR_INVALID, "token file %s is empty", path);
        return *ret ? 0 : error_no_memory(err);
}

static int decode(const char *encoded, char **ret, struct error *err)
{
        size_t cap = strlen(encoded), n = 0;
        AUTO_FREE char *data = cap <= 2 * LIMIT_TOKEN_BYTES ? mem_alloc(cap + 1) : NULL;
        struct slice text;

        if (!data)
                return error_set(err, ERR_LIMIT, "the token is too long");
        if (text_base64_decode(slice_of(encoded), data, cap, &n, false) < 0)
                return error_set(err, ERR_INVALID, "its key \"" KEY "\" is not base64");
        text = slice_trim((struct slice){ data, n });
        *ret = text.len > 0 ? mem_strndup(text.data, text.len) : NULL;
        explicit_bzero(data, n);
        return *ret ? 0 : error_set(err, ERR_INVALID, "its key \"" KEY "\" is empty");
}

static int read_secret(const struct token_renewal_options *o, char **ret, struct error *err)
{
        struct kube_client quick = *o->member;
        AUTO_JSON json_t *doc = NULL;
        const char *encoded;

        quick.call_deadline_ms = REQUEST_MS;
        TRY(kube_doc_get(&quick, &secrets, o->secret_ns, o->secret_name, &doc, err));
        encoded = doc_get_string(doc, "data." KEY);
        if (!encoded)
                return error_set(err, ERR_INVALID, "Secret %s/%s has no key \"" KEY "\"", o->secret_ns,
                                 o->secret_name);
        TRY_WRAP(decode(encoded, ret, err), err, "Secret %s/%s", o->secret_ns, o->secret_name);
        return 0;
}

static int write_secret(const struct token_renewal_options *o, const char *token, struct error *err)
{
        struct kube_client quick = *o->member;
        size_t n = strlen(token);
        AUTO_FREE char *encoded = mem_alloc(text_base64_size(n));
        AUTO_JSON json_t *patch = NULL;

        if (!encoded)
                return error_no_memory(err);
        text_base64_encode(token, n, encoded);
        patch = json_pack("{s:{s:s}}", "data", KEY, encoded);
        explicit_bzero(encoded, strlen(encoded));
        if (!patch)
                return error_no_memory(err);
        quick.call_deadline_ms = REQUEST_MS;
        return kube_doc_patch(&quick, &secrets, o->secret_ns, o->secret_name, KUBE_PATCH_MERGE, patch, NULL,
                              NULL, err);
}

static int write_file(const struct token_renewal_options *o, const char *token, struct error *err)
{
        struct world *w = o->member->world;

        return w->files->write(w->ctx, o->path, token, strlen(token), err);
}

/* Stored is stored: with a Secret the file may be somebody else's to write (a sidecar, a mounted volume). */
static int store(const struct token_renewal_options *o, const char *token, struct error *err)
{
        struct error why = { 0 };
        int secret = o->secret_name ? write_secret(o, token, err) : 0;
        int file = write_file(o, token, &why);

        if (o->secret_name && secret < 0)
                return error_wrap(err, "Secret %s/%s", o->secret_ns, o->secret_name);
        if (o->secret_name || file == 0)
                return 0;
        if (err)
                *err = why;
        return file;
}

int token_fetch(const struct token_renewal_options *o, struct error *err)
{
        char *token = NULL;
        int code;

        TRY(read_secret(o, &token, err));
        code = write_file(o, token, err);
        forget_token(&token);
        return code;
}

/* ---- renewing ---- */

static int ask_hub(struct token_renewal *r, const struct token_claims *c, struct arena *arena,
                   const char **ret, struct error *err)
{
        AUTO_JSON json_t *request = token_request_new(c), *answer = NULL;
        AUTO_BUF struct buf body, path;
        struct kube_client quick = *r->o.hub;
        struct http_response response;
        const char *token;

        buf_init(&body, LIMIT_TOKEN_BYTES);
        buf_init(&path, 1024);
        if (!request || doc_write(request, &body) < 0)
                return error_no_memory(err);
        buf_printf(&path, "/api/v1/namespaces/%s/serviceaccounts/%s/token", c->ns, c->account);
        TRY(buf_status(&path, err, "request path"));
        quick.call_deadline_ms = REQUEST_MS;
        TRY(kube_raw(&quick, "POST", path.data, "application/json", (struct slice){ body.data, body.len },
                     arena, &response, err));
        TRY(doc_parse(response.body, &answer, err));
        TRY(doc_need_string(answer, "status.token", &token, err));
        *ret = arena_strdup(arena, token);
        return *ret ? 0 : error_no_memory(err);
}

/* Nothing is changed for a token that does not go on. */
static int check_next(const struct token_claims *now, const char *token, struct arena *arena,
                      struct token_claims *ret, struct error *err)
{
        TRY(token_claims_read(token, arena, ret, err));
        if (!token_goes_on(now, ret)) {
                token_claims_free(ret);
                return error_set(err, ERR_INVALID, "the hub answered with a token that does not go on");
        }
        return 0;
}

static int renew(struct token_renewal *r, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        CLEANUP(token_claims_free) struct token_claims now = { 0 }, next = { 0 };
        const char *token = NULL;
        char until[RFC3339_SIZE];

        TRY(token_claims_read(r->token, &arena, &now, err));
        if (ask_hub(r, &now, &arena, &token, err) < 0)
                return error_wrap(err, "the hub gives no new one");
        TRY(check_next(&now, token, &arena, &next, err));
        if (store(&r->o, token, err) < 0)
                return error_wrap(err, "it cannot be stored");
        time_format_rfc3339(next.expires_ms, until);
        log_info(&r->log, "the token for the hub was renewed", "good_until", until);
        return 0;
}

/* Somebody may have put a good one into the Secret: worth a look whenever ours is not renewed. */
static void take_from_secret(struct token_renewal *r)
{
        char *token = NULL;

        if (r->o.secret_name && read_secret(&r->o, &token, NULL) == 0 && !text_equal(token, r->token) &&
            write_file(&r->o, token, NULL) == 0)
                log_info(&r->log, "the token for the hub was taken from the Secret", "secret",
                         r->o.secret_name);
        forget_token(&token);
}

/* Several tries fit into what is left of the token's life. */
static int64_t longest_pause(struct token_renewal *r)
{
        int64_t left = r->expires_ms - loop_wall_ms(world_of(r)->loop);

        if (left <= 0)
                return RETRY_EXPIRED_MS;
        return MAX(MIN(left / 10, (int64_t)RETRY_LAST_MS), (int64_t)RETRY_FIRST_MS);
}

static void try_renewal(struct token_renewal *r)
{
        struct loop *l = world_of(r)->loop;
        struct error err = { 0 };

        if (renew(r, &err) == 0) {
                r->problem[0] = '\0';
                r->renewed = true;
                r->retry_at_ms = loop_now_ms(l) + RETRY_EXPIRED_MS;
                return;
        }
        if (err.code == ERR_CANCELLED)
                return;
        say(r, "the token for the hub cannot be renewed", err.text, kube_connection_tells(r->o.hub, &err));
        take_from_secret(r);
        r->retry_at_ms = loop_now_ms(l) + r->pause_ms / 2 +
                         (int64_t)(loop_random_u64(l) % (uint64_t)(r->pause_ms / 2));
        r->pause_ms = MIN(r->pause_ms * 2, longest_pause(r));
}

/* The successor is stored, but the file still has the old one: usually a sidecar's business, which is fast.
 */
static void wait_for_file(struct token_renewal *r)
{
        take_from_secret(r);
        r->retry_at_ms = loop_now_ms(world_of(r)->loop) + RETRY_EXPIRED_MS;
}

/* ---- looking ---- */

static void show_time(struct token_renewal *r, enum metric_id which, int64_t at_ms)
{
        if (at_ms == TIME_NONE)
                metric_remove(r->o.metrics, which, NULL);
        else
                metric_set(r->o.metrics, which, (double)at_ms / 1000, NULL);
}

static void show_times(struct token_renewal *r)
{
        show_time(r, METRIC_TOKEN_EXPIRY, r->expires_ms);
        show_time(r, METRIC_TOKEN_RENEWAL, r->renew_at_ms);
}

static void plan(struct token_renewal *r)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        CLEANUP(token_claims_free) struct token_claims c = { 0 };

        r->renew_at_ms = r->expires_ms = TIME_NONE;
        r->retry_at_ms = 0;
        r->pause_ms = RETRY_FIRST_MS;
        r->told_end = r->renewed = false;
        r->problem[0] = '\0';
        if (token_claims_read(r->token, &arena, &c, NULL) < 0)
                return; /* of an identity provider of its own: renewed by whoever brings it */
        r->expires_ms = c.expires_ms;
        r->renew_at_ms = token_renew_at_ms(&c, loop_random_u64(world_of(r)->loop));
}

static void look_at_file(struct token_renewal *r)
{
        uint64_t stamp = world_of(r)->files->stamp(world_of(r)->ctx, r->path);
        struct error err = { 0 };
        char *token = NULL;

        if (stamp != 0 && stamp == r->stamp)
                return;
        r->stamp = 0;
        if (read_file(world_of(r), r->path, &token, &err) < 0) {
                /* With none at all, no request gets through either. */
                say(r, "the token for the hub cannot be read", err.text, r->o.hub->connection && !r->token);
                take_from_secret(r);
                return;
        }
        r->stamp = stamp;
        if (text_equal(token, r->token)) {
                forget_token(&token);
                return;
        }
        forget_token(&r->token);
        r->token = token;
        plan(r);
        show_times(r);
}

static void tell_end(struct token_renewal *r, int64_t wall_ms)
{
        char text[64 + RFC3339_SIZE], at[RFC3339_SIZE];

        if (r->told_end || r->expires_ms == TIME_NONE || wall_ms < r->expires_ms)
                return;
        r->told_end = true;
        time_format_rfc3339(r->expires_ms, at);
        snprintf(text, sizeof(text), "it ended at %s; waiting for a new one", at);
        say(r, "the token for the hub has expired", text, r->o.hub->connection != NULL);
}

static void renewal_fiber(void *ctx)
{
        struct token_renewal *r = ctx;
        struct loop *l = world_of(r)->loop;

        do {
                int64_t wall_ms = loop_wall_ms(l);

                look_at_file(r);
                tell_end(r, wall_ms);
                if (r->renew_at_ms != TIME_NONE && wall_ms >= r->renew_at_ms &&
                    loop_now_ms(l) >= r->retry_at_ms)
                        r->renewed ? wait_for_file(r) : try_renewal(r);
        } while (fiber_sleep(l, LOOK_MS) == 0);
}

/* ---- life ---- */

static char *copy(const char *s)
{
        return s ? mem_strdup(s) : NULL;
}

struct token_renewal *token_renewal_new(struct fiber_group *group, const struct token_renewal_options *o)
{
        struct token_renewal *r = NEW(struct token_renewal);

        if (!r)
                return NULL;
        *r = (struct token_renewal){ .o = *o, .renew_at_ms = TIME_NONE, .expires_ms = TIME_NONE };
        r->path = copy(o->path);
        r->secret_ns = copy(o->secret_ns);
        r->secret_name = copy(o->secret_name);
        r->o.path = r->path;
        r->o.secret_ns = r->secret_ns;
        r->o.secret_name = r->secret_name;
        r->log = log_with(o->log, "token", o->path);
        r->group = fiber_group_new(o->member->world->loop, group, "hub-token");
        if (!r->path || (o->secret_name && (!r->secret_name || !r->secret_ns)) || !r->group ||
            !fiber_spawn(r->group, "hub-token", renewal_fiber, r))
                return token_renewal_free(r);
        return r;
}

struct token_renewal *token_renewal_free(struct token_renewal *r)
{
        if (!r)
                return NULL;
        if (r->group)
                fiber_group_end(r->group);
        forget_token(&r->token);
        mem_free(r->path);
        mem_free(r->secret_ns);
        mem_free(r->secret_name);
        mem_free(r);
        return NULL;
}
