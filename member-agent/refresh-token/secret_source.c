#include "member-agent/refresh-token/secret_source.h"

#include "common/base/limits.h"
#include "common/base/memory.h"
#include "common/json/doc.h"
#include "common/net/cert.h"
#include "proto/gen/kinds.h"

#define DAY_MS (24 * 3600000LL)
#define UNWATCHED_MS 300000

static const struct kube_resource secrets = { "", "v1", "secrets", "Secret", true };

int64_t token_expires_ms(const char *token, int64_t now_ms)
{
        AUTO_FREE char *payload = NULL;
        AUTO_JSON json_t *claims = NULL;
        int64_t seconds;

        if (jwt_read(token, &payload, NULL) < 0 || doc_parse(slice_of(payload), &claims, NULL) < 0)
                return now_ms + DAY_MS;
        seconds = doc_get_int(claims, "exp", 0);
        return seconds > 0 && seconds < INT64_MAX / 1000 ? seconds * 1000 : now_ms + DAY_MS;
}

/* A token becomes a header: visible ASCII only. */
static int take_token(struct slice s, char **ret, struct error *err)
{
        if (s.len == 0)
                return error_set(err, ERR_INVALID, "the token is empty");
        for (size_t i = 0; i < s.len; i++)
                if (s.data[i] <= ' ' || s.data[i] > '~')
                        return error_set(err, ERR_INVALID, "the token has characters that no token has");
        *ret = mem_strndup(s.data, s.len);
        return *ret ? 0 : error_no_memory(err);
}

static int read_token(const json_t *secret, char **ret, struct error *err)
{
        const char *encoded = NULL;
        size_t cap, n = 0;
        int r;

        TRY(doc_want_string(secret, "data.token", &encoded, err));
        if (text_empty(encoded))
                return error_set(err, ERR_INVALID, "key \"token\" is missing or empty");
        cap = strlen(encoded);
        if (cap > 2 * LIMIT_TOKEN_BYTES)
                return error_set(err, ERR_LIMIT, "the token is too long");
        AUTO_FREE char *text = mem_alloc(cap);
        if (!text)
                return error_no_memory(err);
        if (text_base64_decode(slice_of(encoded), text, cap, &n, false) < 0)
                return error_set(err, ERR_INVALID, "key \"token\" is not base64");
        r = take_token(slice_trim((struct slice){ text, n }), ret, err);
        explicit_bzero(text, n);
        return r;
}

static int remember(struct secret_source *s, const char *version)
{
        char *copy = mem_strdup(version ? version : "");

        if (!copy)
                return ERR_NO_MEMORY;
        mem_free(s->seen);
        s->seen = copy;
        return 0;
}

static int fetch(struct token_source *base, int64_t deadline_ms, struct hub_token *ret, struct error *err)
{
        struct secret_source *s = (struct secret_source *)base;
        struct loop *loop = s->kube->world->loop;
        AUTO_JSON json_t *secret = NULL;
        char *text = NULL;

        s->kube->call_deadline_ms = MAX(1, deadline_ms - loop_now_ms(loop));
        TRY(kube_doc_get(s->kube, &secrets, s->ns, s->name, &secret, err));
        if (remember(s, doc_get_string(secret, "metadata.resourceVersion")) < 0)
                return error_no_memory(err);
        if (read_token(secret, &text, err) < 0)
                return error_wrap(err, "Secret %s/%s", s->ns, s->name);
        *ret = (struct hub_token){ .text = text,
                                   .expires_ms = token_expires_ms(text, loop_wall_ms(loop)),
                                   .look_again_ms = follower_current(s->follower) ? 0 : UNWATCHED_MS };
        return 0;
}

/* ---- news of the Secret; only its metadata travels ---- */

static void list_begins_or_ends(void *ctx)
{
}

/* One that goes has a version of its own, too. */
static void on_secret(void *ctx, const struct object *o, bool deleted)
{
        struct secret_source *s = ctx;

        if (!text_equal(o->meta.resource_version, s->seen))
                refresh_wake(s->refresher);
}

int secret_source_start(struct secret_source *s, struct fiber_group *group, struct error *err)
{
        struct follower_options o = { .kube = s->kube,
                                      .kind = &partial_object_kind,
                                      .resource = &secrets,
                                      .ns = s->ns,
                                      .metadata_only = true,
                                      .begin = list_begins_or_ends,
                                      .object = on_secret,
                                      .end = list_begins_or_ends,
                                      .ctx = s };

        s->source.fetch = fetch;
        s->selector = mem_printf("metadata.name=%s", s->name);
        if (!s->selector)
                return error_no_memory(err);
        o.field_selector = s->selector;
        s->follower = follower_new(group, &o, err);
        return s->follower ? 0 : err->code;
}

void secret_source_stop(struct secret_source *s)
{
        s->follower = follower_stop(s->follower);
        mem_free(s->selector);
        mem_free(s->seen);
        s->selector = s->seen = NULL;
}
