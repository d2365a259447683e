/* What the Secrets that sources name give. Pure; messages name keys and never values. spec/helm-chart.md 10.
 */
#pragma once

#include "hub-agent/transfer/secret.h"

/* NULL = not given. Texts are in the arena. */
struct source_login {
        const char *username, *password, *bearer_token;
        const char *ca_pem, *cert_pem, *key_pem;           /* the last two together */
        const char *identity, *known_hosts, *key_password; /* of ssh */
        const char *access_key, *secret_key;               /* of buckets */
        const char *proxy_url;                             /* with user and password */
};

/* Each adds to *ret. ERR_INVALID says which keys the Secret lacks. */
int source_login_http(const struct secret *s, struct arena *arena, struct source_login *ret,
                      struct error *err); /* a HelmRepository's; without both keys: nobody's */
/* A registry's: username and password, or what a Secret of type kubernetes.io/dockerconfigjson has for that
 * host and path. */
int source_login_registry(const struct secret *s, const char *host, const char *path, struct arena *arena,
                          struct source_login *ret, struct error *err);
int source_login_tls(const struct secret *s, struct arena *arena, struct source_login *ret,
                     struct error *err); /* certSecretRef */
/* The same keys in a Secret that need not have them, of a HelmRepository without certSecretRef: deprecated.
 * *ret_any: it has some. */
int source_login_old_tls(const struct secret *s, struct arena *arena, bool *ret_any, struct source_login *ret,
                         struct error *err);
int source_login_git(const struct secret *s, bool ssh, struct arena *arena, struct source_login *ret,
                     struct error *err);
int source_login_bucket(const struct secret *s, struct arena *arena, struct source_login *ret,
                        struct error *err);
int source_login_proxy(const struct secret *s, struct arena *arena, struct source_login *ret,
                       struct error *err);
