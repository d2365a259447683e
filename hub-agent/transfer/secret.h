/* What Secrets hold. Pure; messages name keys and never values. */
#pragma once

#include "common/base/arena.h"
#include "common/json/doc.h"

/* A Secret as it was read, "namespace/name" for messages. */
struct secret {
        const char *name;
        const json_t *doc;
};

/* The text under a key, decoded, in the arena; NULL: there is no such key, or nothing but blanks in it.
 * ERR_INVALID: "invalid secret '...': key '...' holds no text". */
int secret_take(const struct secret *s, const char *key, struct arena *arena, const char **ret,
                struct error *err);
/* What is wrong with TLS material, each part of which may be NULL, the last two only together; NULL =
 * nothing. */
const char *secret_tls_problem(const char *ca_pem, const char *cert_pem, const char *key_pem);
/* The registries of .dockerconfigjson or .dockercfg (an object whose members are registries), as long as the
 * arena; NULL: it has none. ERR_INVALID: neither key is there, or it is no JSON. */
int secret_take_docker_config(const struct secret *s, struct arena *arena, const json_t **ret,
                              struct error *err);

struct docker_login {
        const char *username, *password; /* username NULL = none */
};
/* The entry of the registries that covers most of "host/path". ERR_INVALID: its auth cannot be read. */
int docker_config_find(const json_t *const *configs, size_t n, const char *host, const char *path,
                       struct arena *arena, struct docker_login *ret, struct error *err);
