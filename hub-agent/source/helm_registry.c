/* Charts in registries: which tag, and what it leads to. spec/helm-chart.md 9.3, 9.4. */
#include "common/base/vec.h"
#include "hub-agent/source/helm_download.h"

#define LAYER_TYPE "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
#define OLD_LAYER_TYPE "application/tar+gzip"

int helm_registry_with(struct source_pass *p, const struct helm_access *access, const char *url,
                       const struct registry_place *place, enum registry_scheme scheme,
                       struct helm_registry *ret)
{
        *ret = (struct helm_registry){ .pass = p, .access = *access, .url = url };
        ret->registry = (struct registry){ .transfer = &ret->access.transfer,
                                           .tokens = &p->sources->tokens,
                                           .place = *place,
                                           .login = access->login,
                                           .scheme = scheme,
                                           .timeout_ms = access->timeout_ms };
        return registry_open(&ret->registry, p->rc->err);
}

int helm_registry_open(struct source_pass *p, const struct helm_repository_spec *spec, const char *url,
                       const struct registry_place *place, struct helm_registry *ret)
{
        struct helm_access access;

        TRY(helm_access_open_registry(p, spec, place, &access));
        return helm_registry_with(p, &access, url, place,
                                  spec->insecure.value ? REGISTRY_HTTP : REGISTRY_HTTPS, ret);
}

/* ---- the version ---- */

struct tags {
        struct arena *arena;
        VEC(struct chart_version) at;
};

/* Tags have no plus, so versions have '_' in its place there. Of others than strict versions nothing is
 * known. */
static int take_tag(void *ctx, const char *tag, struct error *err)
{
        struct tags *t = ctx;
        char *version = arena_strdup(t->arena, tag);
        const struct chart_version v = { .version = version, .url = "", .digest = "" };

        if (!version)
                return error_no_memory(err);
        for (char *c = version; (c = strchr(c, '_'));)
                *c = '+';
        if (!semver_is_strict(slice_of(version)))
                return 0;
        return vec_push(&t->at, v) < 0 ? error_no_memory(err) : 0;
}

static const char *without_scheme(const char *url)
{
        return url + strlen("oci://");
}

static int select_tag(struct helm_registry *h, const struct tags *t, const char *wanted, const char **ret)
{
        struct error *err = h->pass->rc->err;
        const struct chart_version *v;
        int code;

        if (t->at.n == 0)
                return error_set(err, ERR_NOT_FOUND, "unable to locate any tags in provided repository: %s",
                                 without_scheme(h->url));
        code = select_version(t->at.at, t->at.n, wanted, &v, err);
        if (code == ERR_NOT_FOUND)
                return error_set(err, code, "could not locate a version matching provided version string %s",
                                 wanted);
        TRY(code);
        *ret = v->version;
        return 0;
}

int helm_registry_version(struct helm_registry *h, const char *name, const char *wanted, const char **ret)
{
        struct reconcile *rc = h->pass->rc;
        struct tags t = { .arena = rc->arena };
        const struct registry_tag_sink sink = { take_tag, &t };
        int code;

        wanted = text_empty(wanted) ? "*" : wanted;
        *ret = wanted;
        if (semver_is_strict(slice_of(wanted)))
                return 0;
        code = registry_tags(&h->registry, 0, &sink, rc->err);
        if (code < 0)
                error_wrap(rc->err, "could not get tags for \"%s\": could not fetch tags for \"%s\"", name,
                           without_scheme(h->url));
        else
                code = select_tag(h, &t, wanted, ret);
        vec_free(&t.at);
        return code;
}

/* ---- the archive ---- */

static int not_got(struct helm_registry *h, const char *version, int code)
{
        if (code < 0 && code != ERR_CANCELLED && code != ERR_NO_MEMORY)
                error_wrap(h->pass->rc->err, "failed to get '%s:%s'", h->url, version);
        return code;
}

int helm_registry_resolve(struct helm_registry *h, const char *version, const char **ret_digest)
{
        return not_got(h, version, registry_resolve(&h->registry, version, ret_digest, h->pass->rc->err));
}

static int find_layer(const struct registry_manifest *m, struct registry_descriptor *ret, struct error *err)
{
        const json_t *layer;
        size_t i;

        if (!text_equal(doc_get_string(m->doc, "config.mediaType"), REGISTRY_CHART_CONFIG))
                return error_set(err, ERR_INVALID, "could not load config with mediatype %s",
                                 REGISTRY_CHART_CONFIG);
        json_array_foreach(doc_get_array(m->doc, "layers"), i, layer) {
                const char *type = doc_get_string(layer, "mediaType");

                if (text_equal(type, LAYER_TYPE) || text_equal(type, OLD_LAYER_TYPE))
                        return registry_descriptor_read(layer, ret, err);
        }
        return error_set(err, ERR_INVALID, "manifest does not contain a layer with mediatype %s", LAYER_TYPE);
}

static int pull(struct helm_registry *h, const char *name, const char *digest, struct slice *ret)
{
        struct error *err = h->pass->rc->err;
        size_t most = h->pass->sources->options->chart_bytes;
        struct registry_descriptor layer;
        struct registry_manifest m;

        TRY(registry_manifest(&h->registry, digest, REGISTRY_ONE_CHART, &m, err));
        TRY(find_layer(&m, &layer, err));
        if (layer.size > most)
                return error_set(err, ERR_LIMIT, "size of chart '%s' exceeds '%zu' bytes limit", name, most);
        return registry_blob_read(&h->registry, &layer, most, ret, err);
}

int helm_registry_pull(struct helm_registry *h, const char *name, const char *version, const char *digest,
                       struct slice *ret)
{
        return not_got(h, version, pull(h, name, digest, ret));
}
