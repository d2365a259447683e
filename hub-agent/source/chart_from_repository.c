/* The version that is wanted, and its archive. spec/helm-chart.md 5.2, 8.3, 8.5. */
#include "hub-agent/source/helm_chart.h"
#include "hub-agent/source/helm_download.h"
#include "hub-agent/source/index_access.h"

/* ---- the name ---- */

static bool is_name(const char *s)
{
        static const char letters[] = "-abcdefghijklmnopqrstuvwxyz0123456789";

        while (*s) {
                size_t n = strspn(s, letters);

                if (n == 0)
                        return false;
                s += n;
                if (*s == '/')
                        s++;
                if (*s == '.')
                        s++;
        }
        return true;
}

int chart_check_name(struct chart_pass *c)
{
        struct error *err = c->pass->rc->err;
        const char *name = or_empty(c->spec->chart);

        if (*name && is_name(name))
                return 0;
        if (*name)
                error_set(err, ERR_INVALID,
                          "invalid chart name '%s': a valid name must be lower case letters and numbers and "
                          "MAY be "
                          "separated with dashes (-), slashes (/) or periods (.)",
                          name);
        else
                error_set(err, ERR_INVALID, "no name set for remote chart reference");
        return source_fails(c->pass, &failing_reference);
}

/* ---- the version ---- */

static int no_version(struct chart_pass *c)
{
        error_set(c->pass->rc->err, ERR_NOT_FOUND,
                  "failed to get chart version for remote reference: no '%s' chart with version matching "
                  "'%s' found",
                  c->spec->chart, text_empty(c->spec->version) ? "*" : c->spec->version);
        return source_fails(c->pass, &failing_reference);
}

static int choose(struct chart_pass *c, const struct chart_version *at, size_t n,
                  const struct chart_version **ret)
{
        struct error *err = c->pass->rc->err;
        int code;

        if (n == 0) {
                error_set(err, ERR_NOT_FOUND,
                          "failed to get chart version for remote reference: no chart name found");
                return source_fails(c->pass, &failing_reference);
        }
        code = select_version(at, n, or_empty(c->spec->version), ret, err);
        if (code == ERR_NOT_FOUND)
                return no_version(c);
        if (code == 0)
                return 0;
        error_wrap(err, "failed to get chart version for remote reference");
        return source_fails(c->pass, &failing_reference);
}

static int find_version(struct chart_pass *c, const struct helm_repository *r,
                        const struct chart_version **ret)
{
        struct chart_version *at = NULL;
        size_t n = 0;

        TRY(index_versions(c->pass, &r->object, r->status->artifact, c->spec->chart, &at, &n));
        return choose(c, at, n, ret);
}

/* ---- the archive ---- */

static int download(struct chart_pass *c, const struct helm_repository_spec *spec,
                    const struct chart_version *v)
{
        struct error *err = c->pass->rc->err;
        struct helm_access access;
        bool refused;

        TRY(helm_access_open(c->pass, spec, &access));
        if (helm_download(c->pass, spec, &access, c->spec->chart, v, &c->build.archive) == 0)
                return 0;
        refused = helm_is_login_error(err);
        error_wrap(err, "%s",
                   refused ? "failed to authenticate with the Helm repository"
                           : "failed to download chart for remote reference");
        return source_fails(c->pass, refused ? &failing_login : &failing_pull);
}

/* ---- all of it ---- */

static int check_url(struct chart_pass *c, const struct helm_repository_spec *spec)
{
        struct reconcile *rc = c->pass->rc;
        const char *index;

        if (helm_index_url(rc->arena, or_empty(spec->url), &index, rc->err) == 0)
                return 0;
        error_wrap(rc->err, "invalid Helm repository URL");
        return source_fails(c->pass, &failing_url);
}

int chart_from_repository(struct chart_pass *c, const struct helm_repository *r)
{
        struct reconcile *rc = c->pass->rc;
        const struct chart_version *v;
        const char *version;

        TRY(check_url(c, r->spec));
        TRY(chart_check_name(c));
        TRY(find_version(c, r, &v));
        if (chart_version_with(rc->arena, v->version, NULL, c->has_values ? c->pass->run.generation : 0,
                               &version, rc->err) < 0)
                return source_fails(c->pass, &failing_patch);
        c->is_same = chart_is_kept(c, c->spec->chart, version);
        if (c->is_same)
                return 0;
        TRY(download(c, r->spec, v));
        c->build.version = v->version;
        return 0;
}
