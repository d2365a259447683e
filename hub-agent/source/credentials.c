#include "hub-agent/source/credentials.h"

#include "common/base/limits.h"
#include "common/net/http.h"

#define DOCKER_CONFIG "kubernetes.io/dockerconfigjson"

/* Two keys that come together, or not at all. */
static int take_pair(const struct secret *s, const char *first, const char *second, struct arena *arena,
                     const char **ret_first, const char **ret_second, struct error *err)
{
        TRY(secret_take(s, first, arena, ret_first, err));
        return secret_take(s, second, arena, ret_second, err);
}

static int lacks_fields(const struct secret *s, const char *first, const char *second, struct error *err)
{
        return error_set(err, ERR_INVALID, "invalid '%s' secret data: required fields '%s' and '%s'", s->name,
                         first, second);
}

static int lacks(const struct secret *s, const char *key, const char *what, struct error *err)
{
        return error_set(err, ERR_INVALID, "secret '%s' is missing '%s', which %s needs", s->name, key, what);
}

/* ---- users ---- */

int source_login_http(const struct secret *s, struct arena *arena, struct source_login *ret,
                      struct error *err)
{
        TRY(take_pair(s, "username", "password", arena, &ret->username, &ret->password, err));
        if (!ret->username == !ret->password)
                return 0;
        return error_set(err, ERR_INVALID, "secret '%s': malformed basic auth - has '%s' but missing '%s'",
                         s->name, ret->username ? "username" : "password",
                         ret->username ? "password" : "username");
}

static int take_docker_login(const struct secret *s, const char *host, const char *path, struct arena *arena,
                             struct source_login *ret, struct error *err)
{
        const json_t *config;
        struct docker_login found = { 0 };

        TRY(secret_take_docker_config(s, arena, &config, err));
        if (config)
                TRY(docker_config_find(&config, 1, host, path, arena, &found, err));
        if (text_empty(found.username))
                return error_set(err, ERR_INVALID,
                                 "no auth config for '%s' in the docker-registry Secret '%s'", host, s->name);
        ret->username = found.username;
        ret->password = or_empty(found.password);
        return 0;
}

int source_login_registry(const struct secret *s, const char *host, const char *path, struct arena *arena,
                          struct source_login *ret, struct error *err)
{
        if (text_equal(doc_get_string(s->doc, "type"), DOCKER_CONFIG))
                return take_docker_login(s, host, path, arena, ret, err);
        TRY(take_pair(s, "username", "password", arena, &ret->username, &ret->password, err));
        return ret->username && ret->password ? 0 : lacks_fields(s, "username", "password", err);
}

int source_login_bucket(const struct secret *s, struct arena *arena, struct source_login *ret,
                        struct error *err)
{
        TRY(take_pair(s, "accesskey", "secretkey", arena, &ret->access_key, &ret->secret_key, err));
        return ret->access_key && ret->secret_key ? 0 : lacks_fields(s, "accesskey", "secretkey", err);
}

/* ---- TLS ---- */

int source_login_old_tls(const struct secret *s, struct arena *arena, bool *ret_any, struct source_login *ret,
                         struct error *err)
{
        const char *problem;

        TRY(secret_take(s, "ca.crt", arena, &ret->ca_pem, err));
        if (!ret->ca_pem)
                TRY(secret_take(s, "caFile", arena, &ret->ca_pem, err));
        TRY(take_pair(s, "tls.crt", "tls.key", arena, &ret->cert_pem, &ret->key_pem, err));
        *ret_any = ret->ca_pem || ret->cert_pem || ret->key_pem;
        if (!ret->cert_pem != !ret->key_pem)
                return error_set(err, ERR_INVALID, "secret '%s' contains '%s' but missing '%s'", s->name,
                                 ret->cert_pem ? "tls.crt" : "tls.key",
                                 ret->cert_pem ? "tls.key" : "tls.crt");
        problem = secret_tls_problem(ret->ca_pem, ret->cert_pem, ret->key_pem);
        return problem ? error_set(err, ERR_INVALID, "secret '%s': %s", s->name, problem) : 0;
}

int source_login_tls(const struct secret *s, struct arena *arena, struct source_login *ret, struct error *err)
{
        bool any;

        TRY(source_login_old_tls(s, arena, &any, ret, err));
        return any ? 0
                   : error_set(err, ERR_INVALID,
                               "secret '%s' must contain either 'ca.crt' or both 'tls.crt' and 'tls.key'",
                               s->name);
}

/* ---- Git, proxies ---- */

int source_login_git(const struct secret *s, bool ssh, struct arena *arena, struct source_login *ret,
                     struct error *err)
{
        bool any;

        if (!ssh) {
                TRY(secret_take(s, "bearerToken", arena, &ret->bearer_token, err));
                TRY(source_login_http(s, arena, ret, err));
                return source_login_old_tls(s, arena, &any, ret, err);
        }
        TRY(take_pair(s, "identity", "known_hosts", arena, &ret->identity, &ret->known_hosts, err));
        if (!ret->identity || !ret->known_hosts)
                return lacks(s, ret->identity ? "known_hosts" : "identity", "ssh", err);
        return secret_take(s, "password", arena, &ret->key_password, err);
}

int source_login_proxy(const struct secret *s, struct arena *arena, struct source_login *ret,
                       struct error *err)
{
        const char *address, *username, *password, *host;
        AUTO_BUF struct buf url;

        buf_init(&url, LIMIT_HEADER_BYTES);
        TRY(secret_take(s, "address", arena, &address, err));
        TRY(take_pair(s, "username", "password", arena, &username, &password, err));
        if (!address)
                return lacks(s, "address", "a proxy", err);
        host = strstr(address, "://");
        if (!host || !host[3])
                return error_set(err, ERR_INVALID,
                                 "secret '%s': 'address' is no URL such as http://host:3128", s->name);
        buf_append(&url, address, (size_t)(host + 3 - address));
        if (username) {
                http_escape(&url, username);
                buf_append_char(&url, ':');
                http_escape(&url, or_empty(password));
                buf_append_char(&url, '@');
        }
        buf_append_str(&url, host + 3);
        TRY(buf_status(&url, err, "a proxy's address"));
        ret->proxy_url = arena_strdup(arena, url.data);
        return ret->proxy_url ? 0 : error_no_memory(err);
}
