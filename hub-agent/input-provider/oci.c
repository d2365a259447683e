/* Tags of an OCI repository and their digests. spec/resource-set.md 19.7. */
#include "common/base/limits.h"
#include "hub-agent/input-provider/sources.h"
#include "hub-agent/registry/registry.h"

#define HUB "index.docker.io"

/* An input provider's run at a registry. */
struct oci_run {
        struct source *source;
        struct transfer transfer;
        struct registry registry;
        const char *name; /* as users know it: host/path */
};

static int take_tag(void *ctx, const char *tag, struct error *err)
{
        struct source *s = ctx;
        struct input_ref r = { .tag = arena_strdup(s->arena, tag) };
        int wanted = filter_takes_name(&s->filter, tag);

        if (wanted <= 0)
                return wanted < 0 ? error_no_memory(err) : 0;
        return !r.tag || vec_push(&s->refs, r) < 0 ? error_no_memory(err) : 0;
}

static int list_tags(struct oci_run *o, struct error *err)
{
        struct source *s = o->source;
        const struct registry_tag_sink sink = { take_tag, s };

        TRY(registry_tags(&o->registry, SIZE_MAX, &sink, err));
        return filter_best_tags(&s->filter, s->refs.at, &s->refs.n) < 0 ? error_no_memory(err) : 0;
}

static int find_digest(struct oci_run *o, struct input_ref *ref, struct error *err)
{
        char id[INPUT_ID_SIZE];

        TRY(registry_resolve(&o->registry, ref->tag, &ref->digest, err));
        input_id(ref->tag, id);
        ref->id = arena_strdup(o->source->arena, id);
        return ref->id ? 0 : error_no_memory(err);
}

static int refused(void *ctx, const struct transfer_call *c, const struct http_response *a, struct error *err)
{
        return source_status_error(ctx, c, a, "a repository such as oci://host/path", err);
}

static int open_registry(struct oci_run *o, struct error *err)
{
        struct source *s = o->source;
        const struct source_credentials *c = &s->credentials;
        struct registry *r = &o->registry;

        TRY(registry_place_parse(s->url, s->arena, &r->place, err));
        o->name = s->url + strlen("oci://");
        if (text_equal(r->place.host, "docker.io"))
                r->place.host = HUB;
        TRY(docker_config_find(c->docker_configs, c->n_docker_configs, r->place.host, r->place.path, s->arena,
                               &r->login, err));
        source_transfer(s, &o->transfer);
        r->transfer = &o->transfer;
        r->scheme = s->insecure ? REGISTRY_EITHER : REGISTRY_HTTPS;
        r->tries = 1;
        r->refused = refused;
        r->ctx = s;
        return registry_open(r, err);
}

static int collect(struct oci_run *o, struct error *err)
{
        struct source *s = o->source;
        int code = list_tags(o, err);

        if (code < 0)
                return error_wrap(err, "failed to list OCI tags for '%s'", o->name), code;
        for (size_t i = 0; i < s->refs.n; i++) {
                code = find_digest(o, &s->refs.at[i], err);
                if (code < 0)
                        return error_wrap(err, "failed to get digest for tag '%s' in repository '%s'",
                                          s->refs.at[i].tag, o->name),
                               code;
        }
        return 0;
}

int oci_collect(struct source *s, enum listing_of what, struct error *err)
{
        struct oci_run o = { .source = s };

        TRY(open_registry(&o, err));
        int code = collect(&o, err);

        s->bytes = o.transfer.bytes;
        return code;
}
