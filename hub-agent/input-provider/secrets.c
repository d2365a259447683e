#include "hub-agent/input-provider/secrets.h"

static int missing(const struct secret *s, const char *key, struct error *err)
{
        return error_set(err, ERR_INVALID, "invalid secret '%s': key '%s' is missing", s->name, key);
}

static int take_app(const struct secret *s, struct arena *arena, struct source_credentials *ret,
                    struct error *err)
{
        TRY(secret_take(s, "githubAppID", arena, &ret->app_id, err));
        TRY(secret_take(s, "githubAppInstallationOwner", arena, &ret->app_owner, err));
        TRY(secret_take(s, "githubAppInstallationID", arena, &ret->app_installation, err));
        TRY(secret_take(s, "githubAppPrivateKey", arena, &ret->app_key, err));
        return secret_take(s, "githubAppBaseURL", arena, &ret->app_base_url, err);
}

int secret_git(const struct secret *s, bool app, struct arena *arena, struct source_credentials *ret,
               struct error *err)
{
        if (app) {
                TRY(take_app(s, arena, ret, err));
                if (ret->app_id || ret->app_key || ret->app_owner || ret->app_installation)
                        return 0;
        }
        TRY(secret_take(s, "username", arena, &ret->username, err));
        TRY(secret_take(s, "password", arena, &ret->password, err));
        if (!ret->username)
                return missing(s, "username", err);
        return ret->password ? 0 : missing(s, "password", err);
}

int secret_service(const struct secret *s, struct arena *arena, struct source_credentials *ret,
                   struct error *err)
{
        TRY(secret_take(s, "token", arena, &ret->token, err));
        return ret->token ? 0 : secret_git(s, false, arena, ret, err);
}

/* ---- TLS ---- */

static int take_either(const struct secret *s, const char *key, const char *legacy, struct arena *arena,
                       const char **ret, struct error *err)
{
        TRY(secret_take(s, key, arena, ret, err));
        return *ret ? 0 : secret_take(s, legacy, arena, ret, err);
}

static int check_tls(const struct secret *s, const struct source_credentials *c, struct error *err)
{
        const char *problem = !c->ca_pem && !c->cert_pem && !c->key_pem
                                      ? "it has neither 'ca.crt' nor 'tls.crt' and 'tls.key'"
                              : !c->cert_pem != !c->key_pem
                                      ? "'tls.crt' and 'tls.key' must come together"
                                      : secret_tls_problem(c->ca_pem, c->cert_pem, c->key_pem);

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
        const json_t *registries;

        TRY(secret_take_docker_config(s, arena, &registries, err));
        if (registries)
                room[(*n)++] = registries;
        return 0;
}
