#include "hub-agent/input-provider/secrets.h"

#include "common/base/timefmt.h"
#include "common/net/cert.h"

/* *ret NULL: there is no such key, or nothing in it. */
static int take(const struct secret *s, const char *key, struct arena *arena, const char **ret,
                struct error *err)
{
        const char *coded = json_string_value(json_object_get(doc_get_object(s->doc, "data"), key));
        size_t n = coded ? strlen(coded) : 0, len;
        char *plain = arena_alloc(arena, n + 1);
        struct slice text;

        *ret = NULL;
        if (!coded)
                return 0;
        if (!plain)
                return error_no_memory(err);
        if (text_base64_decode(slice_of(coded), plain, n, &len, false) < 0 || memchr(plain, 0, len))
                return error_set(err, ERR_INVALID, "invalid secret '%s': key '%s' holds no text", s->name,
                                 key);
        text = slice_trim((struct slice){ plain, len });
        if (text.len == 0)
                return 0;
        *ret = arena_strndup(arena, text.data, text.len);
        return *ret ? 0 : error_no_memory(err);
}

static int missing(const struct secret *s, const char *key, struct error *err)
{
        return error_set(err, ERR_INVALID, "invalid secret '%s': key '%s' is missing", s->name, key);
}

static int take_app(const struct secret *s, struct arena *arena, struct source_credentials *ret,
                    struct error *err)
{
        TRY(take(s, "githubAppID", arena, &ret->app_id, err));
        TRY(take(s, "githubAppInstallationOwner", arena, &ret->app_owner, err));
        TRY(take(s, "githubAppInstallationID", arena, &ret->app_installation, err));
        TRY(take(s, "githubAppPrivateKey", arena, &ret->app_key, err));
        return take(s, "githubAppBaseURL", arena, &ret->app_base_url, err);
}

int secret_git(const struct secret *s, bool app, struct arena *arena, struct source_credentials *ret,
               struct error *err)
{
        if (app) {
                TRY(take_app(s, arena, ret, err));
                if (ret->app_id || ret->app_key || ret->app_owner || ret->app_installation)
                        return 0;
        }
        TRY(take(s, "username", arena, &ret->username, err));
        TRY(take(s, "password", arena, &ret->password, err));
        if (!ret->username)
                return missing(s, "username", err);
        return ret->password ? 0 : missing(s, "password", err);
}

int secret_service(const struct secret *s, struct arena *arena, struct source_credentials *ret,
                   struct error *err)
{
        TRY(take(s, "token", arena, &ret->token, err));
        return ret->token ? 0 : secret_git(s, false, arena, ret, err);
}

/* ---- TLS ---- */

static int take_either(const struct secret *s, const char *key, const char *legacy, struct arena *arena,
                       const char **ret, struct error *err)
{
        TRY(take(s, key, arena, ret, err));
        return *ret ? 0 : take(s, legacy, arena, ret, err);
}

static int check_tls(const struct secret *s, const struct source_credentials *c, struct error *err)
{
        const char *problem = !c->ca_pem && !c->cert_pem && !c->key_pem
                                      ? "it has neither 'ca.crt' nor 'tls.crt' and 'tls.key'"
                              : !c->cert_pem != !c->key_pem ? "'tls.crt' and 'tls.key' must come together"
                              : c->ca_pem && cert_not_after_ms(c->ca_pem) == TIME_NONE
                                      ? "'ca.crt' is no certificate in PEM"
                              : c->cert_pem && cert_not_after_ms(c->cert_pem) == TIME_NONE
                                      ? "'tls.crt' is no certificate in PEM"
                              : c->cert_pem && !cert_has_key(c->cert_pem, c->key_pem)
                                      ? "'tls.key' is not the key of 'tls.crt' in PEM"
                                      : NULL;

        return problem ? error_set(err, ERR_INVALID, "invalid secret '%s': %s", s->name, problem) : 0;
}

int secret_tls(const struct secret *s, struct arena *arena, struct source_credentials *ret, struct error *err)
{
        TRY(take_either(s, "ca.crt", "caFile", arena, &ret->ca_pem, err));
        TRY(take_either(s, "tls.crt", "certFile", arena, &ret->cert_pem, err));
        TRY(take_either(s, "tls.key", "keyFile", arena, &ret->key_pem, err));
        return check_tls(s, ret, err);
}

/* ---- docker configs ---- */

int secret_docker_config(const struct secret *s, struct arena *arena, const json_t **room, size_t *n,
                         struct error *err)
{
        const char *text, *old = NULL;
        const json_t *registries;
        json_t *doc = NULL;

        TRY(take(s, ".dockerconfigjson", arena, &text, err));
        if (!text)
                TRY(take(s, ".dockercfg", arena, &old, err));
        if (!text && !old)
                return missing(s, ".dockerconfigjson", err);
        if (doc_parse(slice_of(text ? text : old), &doc, NULL) < 0)
                return error_set(err, ERR_INVALID, "invalid secret '%s': the docker config is no JSON",
                                 s->name);
        TRY(doc_keep(arena, doc, err));
        registries = text ? doc_get_object(doc, "auths") : doc;
        if (json_is_object(registries))
                room[(*n)++] = registries;
        return 0;
}
