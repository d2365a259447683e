/* Credentials for registries out of docker configs. spec/resource-set.md 19.7. */
#include "hub-agent/transfer/secret.h"

#define HUB "index.docker.io"

/* "https://host/path/" as "host/path"; the old API's version does not count. */
static struct slice normalized(const char *key)
{
        struct slice s = slice_of(key);
        static const char *const schemes[] = { "https://", "http://" };
        static const char *const ends[] = { "/", "/v1", "/v2", "/" };

        for (size_t i = 0; i < ARRAY_LEN(schemes); i++)
                if (slice_starts_with(s, schemes[i]))
                        s = (struct slice){ s.data + strlen(schemes[i]), s.len - strlen(schemes[i]) };
        for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
                size_t n = strlen(ends[i]);

                if (s.len > n && memcmp(s.data + s.len - n, ends[i], n) == 0)
                        s.len -= n;
        }
        return slice_is(s, "docker.io") || slice_is(s, "registry-1.docker.io") ? SLICE(HUB) : s;
}

/* How much of the repository's name the key covers; 0: it is of another. */
static size_t covers(struct slice key, const char *repository)
{
        if (key.len == 0 || strlen(repository) < key.len || memcmp(repository, key.data, key.len) != 0)
                return 0;
        return repository[key.len] == '/' || !repository[key.len] ? key.len : 0;
}

static int decode(const char *auth, struct arena *arena, struct docker_login *ret, struct error *err)
{
        size_t n = strlen(auth), len;
        char *plain = arena_alloc(arena, n + 1), *colon;

        if (!plain)
                return error_no_memory(err);
        if (text_base64_decode(slice_of(auth), plain, n, &len, false) < 0)
                return error_set(err, ERR_INVALID, "a registry's auth in the docker config is no base64");
        plain[len] = 0;
        colon = strchr(plain, ':');
        if (!colon)
                return error_set(err, ERR_INVALID,
                                 "a registry's auth in the docker config is no user:password");
        *colon = 0;
        *ret = (struct docker_login){ plain, colon + 1 };
        return 0;
}

int docker_config_find(const json_t *const *configs, size_t n, const char *host, const char *path,
                       struct arena *arena, struct docker_login *ret, struct error *err)
{
        struct slice place = normalized(host);
        const char *repository = arena_printf(arena, "%.*s/%s", (int)place.len, place.data, path), *key;
        const json_t *best = NULL;
        size_t best_length = 0;
        json_t *entry;

        *ret = (struct docker_login){ 0 };
        if (!repository)
                return error_no_memory(err);
        for (size_t i = 0; i < n; i++)
                json_object_foreach((json_t *)(uintptr_t)configs[i], key, entry) {
                        size_t length = covers(normalized(key), repository);

                        if (length > best_length) {
                                best_length = length;
                                best = entry;
                        }
                }
        if (!best)
                return 0;
        ret->username = doc_get_string(best, "username");
        ret->password = doc_get_string(best, "password");
        if (!text_empty(ret->username) || text_empty(doc_get_string(best, "auth")))
                return 0;
        return decode(doc_get_string(best, "auth"), arena, ret, err);
}
