/* The version that is wanted, and its archive. spec/helm-chart.md 5.2, 8.3, 8.5. */
#include "common/base/digest.h"
#include "hub-agent/source/helm_access.h"
#include "hub-agent/source/helm_chart.h"
#include "hub-agent/source/index_access.h"

#define NOT_DOWNLOADED "failed to download chart for remote reference"

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

static int check_name(struct chart_pass *c)
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

static int download_fails(struct chart_pass *c)
{
        error_wrap(c->pass->rc->err, NOT_DOWNLOADED);
        return source_fails(c->pass, &failing_pull);
}

/* Only what the server said of itself: a chart may well be named after a word of that kind. */
static int refused(struct chart_pass *c, const char *url, int status)
{
        struct error *err = c->pass->rc->err;

        error_set(err, ERR_RETRY, "failed to fetch %s : %d %s", url, status, http_status_text(status));
        if (status != 401 && status != 403)
                return download_fails(c);
        error_wrap(err, "failed to authenticate with the Helm repository");
        return source_fails(c->pass, &failing_login);
}

static int check_digest(struct chart_pass *c, const struct chart_version *v, struct slice archive)
{
        struct reconcile *rc = c->pass->rc;
        const char *said = text_starts_with(v->digest, "sha256:") ? v->digest + 7 : v->digest;
        char hex[SHA256_HEX_SIZE];

        if (!*said)
                return 0;
        sha256_hex(archive.data, archive.len, hex);
        if (strcasecmp(said, hex) == 0)
                return 0;
        if (c->pass->sources->options->enforces_digests) {
                error_set(rc->err, ERR_INVALID, "chart '%s' of version %s has digest %s, the index says %s",
                          c->spec->chart, v->version, hex, said);
                return download_fails(c);
        }
        rc_event(rc, c->pass->now, "Warning", "DigestMismatch",
                 "chart '%s' of version %s has digest %s, the index says %s", c->spec->chart, v->version, hex,
                 said);
        return 0;
}

static int download(struct chart_pass *c, const struct helm_repository_spec *spec,
                    const struct chart_version *v)
{
        struct reconcile *rc = c->pass->rc;
        struct helm_access access;
        struct transfer_call call = { .max_body = c->pass->sources->options->chart_bytes };
        struct http_response answer;
        struct web_url base, target;
        const char *index, *told;

        if (text_empty(v->url)) {
                error_set(rc->err, ERR_INVALID, "chart '%s' has no downloadable URLs", c->spec->chart);
                return download_fails(c);
        }
        if (helm_index_url(rc->arena, spec->url, &index, rc->err) < 0 ||
            web_url_parse(index, rc->arena, &base, rc->err) < 0)
                return source_fails(c->pass, &failing_url);
        call.url = web_url_resolve(&base, v->url, rc->arena);
        if (!call.url)
                return error_no_memory(rc->err);
        if (web_url_parse(call.url, rc->arena, &target, rc->err) < 0)
                return download_fails(c);
        TRY(helm_access_open(c->pass, spec, &access));
        if (spec->pass_credentials.value || web_url_same_origin(&base, &target))
                call.secret = (struct http_header){ "Authorization", access.authorization };
        told = web_url_public(call.url, rc->arena);

        int code = transfer_ask(&access.transfer, &call, &answer, rc->err);

        if (!told)
                return error_no_memory(rc->err);
        if (code == ERR_LIMIT)
                error_set(rc->err, code, "size of chart '%s' exceeds '%zu' bytes limit", c->spec->chart,
                          call.max_body);
        if (code < 0)
                return download_fails(c);
        if (answer.status != 200)
                return refused(c, told, answer.status);
        c->build.archive = (struct slice){ answer.body.data, answer.body.len };
        return check_digest(c, v, c->build.archive);
}

/* ---- all of it ---- */

int chart_from_repository(struct chart_pass *c, const struct helm_repository *r)
{
        struct reconcile *rc = c->pass->rc;
        const struct chart_version *v;
        const char *version;

        TRY(check_name(c));
        TRY(find_version(c, r, &v));
        if (c->spec->verify) {
                error_set(rc->err, ERR_UNSUPPORTED, "not implemented");
                return source_fails(c->pass, &failing_signature);
        }
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
