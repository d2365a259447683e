/* The services that inputs come from, asked over HTTP. spec/resource-set.md 19. */
#pragma once

#include "common/base/map.h"
#include "common/base/vec.h"
#include "common/net/http.h"
#include "hub-agent/input-provider/filter.h"

/* Out of Secrets, decoded and trimmed; NULL = not there. Never part of a message. */
struct source_credentials {
        const char *username, *password, *token;
        const char *app_id, *app_owner, *app_installation, *app_key, *app_base_url; /* a GitHub App */
        const json_t *const *docker_configs; /* objects whose members are registries */
        size_t n_docker_configs;
        const char *ca_pem, *cert_pem, *key_pem;
};

/* Tokens of GitHub Apps by what they were got with, kept from run to run. Zero-initialise. */
struct source_memory {
        struct map app_tokens;
};
void source_memory_init(struct source_memory *m);
void source_memory_free(struct source_memory *m);

/* One run. All but the last group is the caller's. */
struct source {
        struct world *world;
        struct arena *arena;
        struct source_memory *memory;
        const char *type, *url;
        struct source_credentials credentials;
        struct filter filter;
        bool insecure, any_address; /* any_address: also those that address_guard_strict refuses */
        int64_t deadline_ms;        /* loop time */

        size_t bytes; /* of answers so far */
        VEC(struct input_ref) refs;
        json_t *sets; /* of an external service */
};

/* Whether the type is asked over HTTP here, and one of Git's, of which registries, or the external service.
 */
bool source_is_supported(const char *type);
bool source_is_git(const char *type);
/* Fills refs or sets. ERR_UNSUPPORTED: "unsupported type: ..."; ERR_INVALID: the URL is none of that service;
 * else as http_roundtrip(). Texts are in the arena; source_free() for the rest. Parks. */
int source_collect(struct source *s, struct error *err);
void source_free(struct source *s);
