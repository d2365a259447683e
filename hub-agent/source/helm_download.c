/* Archives of charts that an index tells of. spec/helm-chart.md 8.5. */
#include "hub-agent/source/helm_download.h"

#include <strings.h>

#include "common/base/digest.h"

static int check_digest(struct source_pass *p, const char *name, const struct chart_version *v,
                        struct slice archive)
{
        struct reconcile *rc = p->rc;
        const char *said = text_starts_with(v->digest, "sha256:") ? v->digest + 7 : v->digest;
        char hex[SHA256_HEX_SIZE];

        if (!*said)
                return 0;
        sha256_hex(archive.data, archive.len, hex);
        if (strcasecmp(said, hex) == 0)
                return 0;
        if (p->sources->options->enforces_digests)
                return error_set(rc->err, ERR_INVALID,
                                 "chart '%s' of version %s has digest %s, the index says %s", name,
                                 v->version, hex, said);
        rc_event(rc, p->now, "Warning", "DigestMismatch",
                 "chart '%s' of version %s has digest %s, the index says %s", name, v->version, hex, said);
        return 0;
}

static int status_fails(struct source_pass *p, const char *url, int status)
{
        struct error *err = p->rc->err;
        const char *shown = web_url_public(url, p->rc->arena);

        if (!shown)
                return error_no_memory(err);
        error_set(err, ERR_RETRY, "failed to fetch %s : %d %s", shown, status, http_status_text(status));
        err->http_status = status;
        return err->code;
}

/* Where an index leads: a registry has what is asked for under the tag of the version, or what the address
 * says. */
static int cut_reference(struct source_pass *p, const char *url, const char *version, const char **ret_url,
                         const char **ret_version, const char **ret_digest)
{
        struct arena *arena = p->rc->arena;
        const char *name = strrchr(url, '/'), *at = strchr(name, '@');
        size_t n = at ? (size_t)(at - url) : strlen(url);
        const char *colon = memchr(name, ':', (size_t)(url + n - name));

        *ret_digest = at ? at + 1 : NULL;
        *ret_version = colon ? arena_strndup(arena, colon + 1, (size_t)(url + n - colon - 1)) : version;
        *ret_url = arena_strndup(arena, url, colon ? (size_t)(colon - url) : n);
        return *ret_url && *ret_version ? 0 : error_no_memory(p->rc->err);
}

static int download_from_registry(struct source_pass *p, const struct helm_repository_spec *spec,
                                  const struct helm_access *access, const char *name,
                                  const struct chart_version *v, struct slice *ret)
{
        struct helm_access lent = *access;
        const char *url, *version, *digest;
        struct registry_place place;
        struct helm_registry h;

        if (!spec->pass_credentials.value)
                lent.login = (struct docker_login){ 0 };
        TRY(cut_reference(p, v->url, v->version, &url, &version, &digest));
        TRY(registry_place_parse(url, p->rc->arena, &place, p->rc->err));
        TRY(helm_registry_with(p, &lent, url, &place, REGISTRY_HTTPS, &h));
        if (!digest)
                TRY(helm_registry_resolve(&h, version, &digest));
        return helm_registry_pull(&h, name, version, digest, ret);
}

static int download_from_web(struct source_pass *p, const struct helm_repository_spec *spec,
                             const struct helm_access *access, const char *name,
                             const struct chart_version *v, struct slice *ret)
{
        struct reconcile *rc = p->rc;
        struct transfer_call call = { .max_body = p->sources->options->chart_bytes };
        struct transfer transfer = access->transfer;
        struct http_response answer;
        struct web_url base, target;
        const char *index;
        int code;

        TRY(helm_index_url(rc->arena, spec->url, &index, rc->err));
        TRY(web_url_parse(index, rc->arena, &base, rc->err));
        call.url = web_url_resolve(&base, v->url, rc->arena);
        if (!call.url)
                return error_no_memory(rc->err);
        TRY(web_url_parse(call.url, rc->arena, &target, rc->err));
        if (spec->pass_credentials.value || web_url_same_origin(&base, &target))
                call.secret = (struct http_header){ "Authorization", access->authorization };
        code = transfer_ask(&transfer, &call, &answer, rc->err);
        if (code == ERR_LIMIT)
                error_set(rc->err, code, "size of chart '%s' exceeds '%zu' bytes limit", name, call.max_body);
        TRY(code);
        if (answer.status != 200)
                return status_fails(p, call.url, answer.status);
        *ret = (struct slice){ answer.body.data, answer.body.len };
        return 0;
}

int helm_download(struct source_pass *p, const struct helm_repository_spec *spec,
                  const struct helm_access *access, const char *name, const struct chart_version *v,
                  struct slice *ret)
{
        if (text_empty(v->url))
                return error_set(p->rc->err, ERR_INVALID, "chart '%s' has no downloadable URLs", name);
        TRY(text_starts_with(v->url, "oci://") ? download_from_registry(p, spec, access, name, v, ret)
                                               : download_from_web(p, spec, access, name, v, ret));
        return check_digest(p, name, v, *ret);
}
