/* What a tag leads to, asked of its registry in its turn. */
#include "common/base/timefmt.h"
#include "hub-agent/manifest-generation/update/image_scan_internal.h"

#define TIMEOUT_MS 30000
#define PAUSE_MS 1000

int scan_open(struct scan_run *run, const struct scanned_repository *r, struct transfer *transfer,
              struct arena *arena, struct registry *ret, struct error *err)
{
        const struct image_scan_options *o = &run->scan->options;
        bool insecure = text_in(r->place.host, o->insecure_hosts, o->n_insecure_hosts);

        *transfer = (struct transfer){ .world = o->world,
                                       .arena = arena,
                                       .proxy_url = o->proxy_url,
                                       .denied = o->denied,
                                       .deadline_ms = run->deadline_ms };
        *ret = (struct registry){ .transfer = transfer,
                                  .tokens = &run->scan->tokens,
                                  .place = r->place,
                                  .login = r->login,
                                  .scheme = insecure ? REGISTRY_EITHER : REGISTRY_HTTPS,
                                  .timeout_ms = o->timeout_ms ? o->timeout_ms : TIMEOUT_MS,
                                  .tries = 1 };
        return registry_open(ret, err);
}

static int cancelled(struct error *err)
{
        return error_set(err, ERR_CANCELLED, "cancelled");
}

static int take_turns(struct scan_run *run, const struct scanned_repository *r, size_t turns,
                      struct error *err)
{
        struct loop *l = run->scan->options.world->loop;
        int64_t wait_ms = 0;

        for (size_t i = 0; i < turns; i++)
                wait_ms = rate_limit_take(r->rate, loop_now_ms(l));
        if (loop_now_ms(l) + wait_ms >= run->deadline_ms) {
                rate_limit_give_back(r->rate, turns);
                return error_set(err, ERR_TIMEOUT, "there was no time left in this poll");
        }
        return wait_ms > 0 && fiber_sleep(l, wait_ms) < 0 ? cancelled(err) : 0;
}

/* A host that cannot be reached is asked once more, and not as often as one that says to come later. */
static bool comes_again(int code, const struct error *err, int left)
{
        if (code == ERR_RETRY && err->http_status == 0)
                return left == SCAN_TRIES;
        return left > 1 && (code == ERR_TOO_MANY || (code == ERR_RETRY && err->http_status != 501));
}

int scan_ask(struct scan_run *run, const struct scanned_repository *r, size_t turns,
             int (*ask)(void *ctx, struct error *err), void *ctx, struct error *err)
{
        struct loop *l = run->scan->options.world->loop;

        for (int left = SCAN_TRIES, code;; left--) {
                int64_t pause_ms;

                TRY(take_turns(run, r, turns, err));
                error_clear(err);
                code = ask(ctx, err);
                if (code == ERR_TOO_MANY)
                        rate_limit_slow_down(r->rate, loop_now_ms(l));
                else
                        rate_limit_speed_up(r->rate, loop_now_ms(l));
                pause_ms = MAX((int64_t)err->retry_after_ms, (int64_t)PAUSE_MS << (SCAN_TRIES - left));
                if (!comes_again(code, err, left) || loop_now_ms(l) + pause_ms >= run->deadline_ms)
                        return code;
                if (fiber_sleep(l, pause_ms) < 0)
                        return cancelled(err);
        }
}

/* ---- one tag ---- */

struct tag_reading {
        struct registry *registry;
        const char *tag;
        const char *digest; /* of what it leads to */
        struct registry_manifest manifest;
        struct slice config;
};

static int ask_digest(void *ctx, struct error *err)
{
        struct tag_reading *t = ctx;

        return registry_resolve(t->registry, t->tag, &t->digest, err);
}

static int ask_manifest(void *ctx, struct error *err)
{
        struct tag_reading *t = ctx;

        return registry_manifest(t->registry, t->tag, REGISTRY_LINUX_AMD64, &t->manifest, err);
}

static int ask_config(void *ctx, struct error *err)
{
        struct tag_reading *t = ctx;
        struct registry_descriptor d;

        TRY(registry_descriptor_read(doc_get_object(t->manifest.doc, "config"), &d, err));
        return registry_blob_read(t->registry, &d, IMAGE_SCAN_CONFIG_BYTES, &t->config, err);
}

/* Its time in milliseconds; the zero time of Go's, and none at all, are TIME_NONE. */
static int64_t created_of(struct slice config, struct error *err, int *ret_code)
{
        AUTO_JSON json_t *doc = NULL;
        const char *created;
        int64_t ms, zero = 0;

        *ret_code = doc_parse(config, &doc, err);
        created = doc_get_string(doc, "created");
        if (!created || time_parse_rfc3339(slice_of(created), &ms) < 0)
                return TIME_NONE;
        time_parse_rfc3339(SLICE("0001-01-01T00:00:00Z"), &zero);
        return ms <= zero ? TIME_NONE : ms;
}

static int read_whole(struct scan_run *run, const struct scanned_repository *r, struct tag_reading *t,
                      struct kept_tag *ret, struct error *err)
{
        int code;

        TRY(scan_ask(run, r, 2, ask_manifest, t, err));
        TRY(scan_ask(run, r, 1, ask_config, t, err));
        ret->created_ms = created_of(t->config, err, &code);
        t->digest = t->manifest.asked;
        return code;
}

/* It is there and no image that can be run: an index without linux/amd64, a signature, a chart too large. */
static bool is_no_image(int code, const struct error *err)
{
        return (code == ERR_INVALID || code == ERR_LIMIT || code == ERR_UNSUPPORTED) && err->http_status == 0;
}

static int read_again(struct scan_run *run, struct scanned_repository *r, const struct kept_tag *was,
                      struct tag_reading *t, struct kept_tag *ret, struct error *err)
{
        int code = 0;

        if (was && *was->digest) {
                TRY(scan_ask(run, r, 1, ask_digest, t, err));
                if (strcmp(t->digest, was->digest) == 0) {
                        *ret = *was;
                        manifest_age_read(&ret->age, false, loop_wall_ms(run->scan->options.world->loop));
                        return 0;
                }
        }
        code = read_whole(run, r, t, ret, err);
        ret->excluded = is_no_image(code, err);
        if (code < 0 && !ret->excluded)
                return code;
        ret->age = was ? was->age : (struct manifest_age){ 0, 0 };
        manifest_age_read(&ret->age, true, loop_wall_ms(run->scan->options.world->loop));
        ret->digest = (char *)(uintptr_t)t->digest;
        return 0;
}

int scan_read_tag(struct scan_run *run, struct scanned_repository *r, const char *tag)
{
        const struct kept_tag *was = map_get(&r->kept->tags, tag);
        struct kept_tag now = { .created_ms = TIME_NONE }, before;
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct tag_reading t = { .tag = tag };
        struct transfer transfer;
        struct registry registry;
        struct error err = { 0 };
        int code;

        /* Only this fiber changes what is known of the tag; the map may move it meanwhile. */
        if (was)
                before = *was;
        t.registry = &registry;
        code = scan_open(run, r, &transfer, &arena, &registry, &err);
        if (code == 0)
                code = read_again(run, r, was ? &before : NULL, &t, &now, &err);
        if (code == 0)
                return scan_put(run->scan, r->kept, tag, &now);
        if (code == ERR_NOT_FOUND)
                scan_forget(run->scan, r->kept, tag);
        return code == ERR_CANCELLED || code == ERR_NO_MEMORY ? code : 0;
}
