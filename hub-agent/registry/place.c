/* Where repositories of registries are. */
#include "hub-agent/registry/registry.h"

#define SCHEME "oci://"
#define PATH_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"

/* Parts with a slash between them, none of which leads elsewhere. */
static bool is_path(const char *path)
{
        for (;;) {
                size_t n = strspn(path, PATH_LETTERS);

                if (n == 0 || path[0] == '.')
                        return false;
                if (!path[n])
                        return true;
                if (path[n] != '/')
                        return false;
                path += n + 1;
        }
}

static bool is_host(struct slice host)
{
        for (size_t i = 0; i < host.len; i++)
                if (host.data[i] <= ' ' || strchr("@?#\\%\x7f", host.data[i]))
                        return false;
        return host.len > 0;
}

static bool is_hub(const char *host)
{
        return text_equal(host, "docker.io") || text_equal(host, "index.docker.io") ||
               text_equal(host, "registry-1.docker.io");
}

int registry_place_parse(const char *url, struct arena *arena, struct registry_place *ret, struct error *err)
{
        const char *host = url + strlen(SCHEME),
                   *slash = text_starts_with(url, SCHEME) ? strchr(host, '/') : NULL;
        const char *shown;

        if (slash && is_host((struct slice){ host, (size_t)(slash - host) }) && is_path(slash + 1)) {
                ret->host = arena_strndup(arena, host, (size_t)(slash - host));
                ret->path = is_hub(ret->host) && !strchr(slash + 1, '/')
                                    ? arena_printf(arena, "library/%s", slash + 1)
                                    : arena_strdup(arena, slash + 1);
                return ret->host && ret->path ? 0 : error_no_memory(err);
        }
        shown = web_url_public(url, arena);
        return shown ? error_set(err, ERR_INVALID, "not an URL such as oci://host/path: '%s'", shown)
                     : error_no_memory(err);
}
