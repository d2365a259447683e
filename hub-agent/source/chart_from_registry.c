/* A chart in a registry. spec/helm-chart.md 5.2, 9. */
#include "hub-agent/source/helm_chart.h"
#include "hub-agent/source/helm_download.h"
#include "hub-agent/source/verify/chart_signatures.h"

#define NO_VERSION "failed to get chart version for remote reference"
#define NOT_DOWNLOADED "failed to download chart for remote reference"

static int fails(struct chart_pass *c, const char *context)
{
        struct error *err = c->pass->rc->err;
        bool refused = helm_is_login_error(err);

        error_wrap(err, "%s", refused ? "failed to authenticate with the Helm repository" : context);
        return source_fails(c->pass, refused ? &failing_login : &failing_pull);
}

/* ---- where it is ---- */

/* "oci://host/path" with exactly one slash before the chart. */
static int make_url(struct chart_pass *c, const struct helm_repository *r, const char **ret)
{
        const char *url = or_empty(r->spec->url);
        size_t n = strlen(url);

        if (!text_starts_with(url, "oci://")) {
                error_set(c->pass->rc->err, ERR_INVALID,
                          "failed to construct Helm client: invalid OCI registry URL: %s",
                          or_empty(web_url_public(url, c->pass->rc->arena)));
                return source_fails(c->pass, &failing_client);
        }
        while (n > strlen("oci://") && url[n - 1] == '/')
                n--;
        *ret = arena_printf(c->pass->rc->arena, "%.*s/%s", (int)n, url, or_empty(c->spec->chart));
        return *ret ? 0 : error_no_memory(c->pass->rc->err);
}

static int check_provider(struct chart_pass *c, const struct helm_repository *r)
{
        const char *provider = r->spec->provider;

        if (text_empty(provider) || text_equal(provider, "generic"))
                return 0;
        error_set(c->pass->rc->err, ERR_UNSUPPORTED,
                  "HelmRepository '%s': spec.provider '%s' is not acted on: use generic, with spec.secretRef",
                  r->object.meta.name, provider);
        return source_fails(c->pass, &failing_provider);
}

static int open_registry(struct chart_pass *c, const struct helm_repository *r, struct helm_registry *ret)
{
        struct reconcile *rc = c->pass->rc;
        struct registry_place place;
        const char *url;

        TRY(check_provider(c, r));
        TRY(make_url(c, r, &url));
        TRY(chart_check_name(c));
        if (registry_place_parse(url, rc->arena, &place, rc->err) == 0)
                return helm_registry_open(c->pass, r->spec, url, &place, ret);
        error_wrap(rc->err, "invalid Helm repository URL");
        return source_fails(c->pass, &failing_url);
}

/* ---- which one ---- */

/* There may be one that matches at any time, and nobody tells. */
static int find_version(struct chart_pass *c, struct helm_registry *h, const char **ret)
{
        struct error *err = c->pass->rc->err;
        int code = helm_registry_version(h, c->spec->chart, c->spec->version, ret);

        if (code == ERR_NOT_FOUND && err->http_status == 0)
                err->retry_after_ms = (uint32_t)source_duration_ms(c->spec->interval, 0);
        return code < 0 ? fails(c, NO_VERSION) : 0;
}

/* What is verified is what is pulled: the digest, wherever the tag leads by then. */
static int verify(struct chart_pass *c, struct helm_registry *h, const char *version, const char *digest)
{
        const char *reference = arena_printf(c->pass->rc->arena, "%s:%s", h->url + strlen("oci://"), version);

        return reference ? chart_signatures_verify(c, &h->registry, digest, reference, version)
                         : error_no_memory(c->pass->rc->err);
}

static bool is_kept_by(const struct chart_pass *c, const char *digest)
{
        const struct source_artifact *a = c->pass->run.status->artifact;

        for (uint32_t i = 0; a && i < a->metadata.n; i++)
                if (text_equal(a->metadata.at[i].key, METADATA_MANIFEST))
                        return text_equal(a->metadata.at[i].value, digest);
        return false;
}

/* ---- all of it ---- */

static const char *name_in(const char *chart)
{
        const char *slash = strrchr(chart, '/');

        return slash ? slash + 1 : chart;
}

static int pull(struct chart_pass *c, struct helm_registry *h, const char *version)
{
        struct reconcile *rc = c->pass->rc;
        const char *digest, *with_metadata;

        if (helm_registry_resolve(h, version, &digest) < 0)
                return fails(c, NOT_DOWNLOADED);
        TRY(verify(c, h, version, digest));
        if (chart_version_with(rc->arena, version, NULL, c->has_values ? c->pass->run.generation : 0,
                               &with_metadata, rc->err) < 0)
                return source_fails(c->pass, &failing_patch);
        c->asked_name = name_in(c->spec->chart);
        c->asked_version = version;
        c->manifest = digest;
        c->is_same = is_kept_by(c, digest) && chart_is_kept(c, c->asked_name, with_metadata);
        if (c->is_same)
                return 0;
        if (helm_registry_pull(h, c->spec->chart, version, digest, &c->build.archive) < 0)
                return fails(c, NOT_DOWNLOADED);
        c->build.version = version;
        return 0;
}

int chart_from_registry(struct chart_pass *c, const struct helm_repository *r)
{
        struct helm_registry h;
        const char *version;

        c->pass->run.status->observed_source_artifact_revision = NULL;
        TRY(open_registry(c, r, &h));
        TRY(find_version(c, &h, &version));
        return pull(c, &h, version);
}
