#include "hub-agent/transfer/web_url.h"

#include <strings.h>

/* ---- parts ---- */

int web_url_parse(const char *url, struct arena *arena, struct web_url *ret, struct error *err)
{
        const char *scheme = text_starts_with(url, "https://")  ? "https"
                             : text_starts_with(url, "http://") ? "http"
                                                                : NULL;
        for (const char *c = url; *c; c++)
                if (*c <= ' ' || *c == 0x7f || *c == '\\')
                        scheme = NULL;
        if (!scheme)
                return error_set(err, ERR_INVALID, "not an URL of http or https");
        const char *authority = url + strlen(scheme) + 3;
        size_t n = strcspn(authority, "/?#");
        const char *at = memrchr(authority, '@', n), *host = at ? at + 1 : authority;
        const char *rest = authority + n;
        size_t path = strcspn(rest, "?#"), query = rest[path] == '?' ? strcspn(rest + path + 1, "#") : 0;

        if (host == rest)
                return error_set(err, ERR_INVALID, "an URL without a host");
        ret->scheme = scheme;
        ret->host = arena_strndup(arena, host, (size_t)(rest - host));
        ret->path = path > 0 ? arena_strndup(arena, rest, path) : "/";
        ret->query = query > 0 ? arena_strndup(arena, rest + path + 1, query) : "";
        ret->origin = ret->host ? arena_printf(arena, "%s://%s", scheme, ret->host) : NULL;
        return ret->origin && ret->path && ret->query ? 0 : error_no_memory(err);
}

const char *web_url_public(const char *url, struct arena *arena)
{
        const char *authority = strstr(url, "://");

        authority = authority ? authority + 3 : url;
        size_t n = strcspn(authority, "/?#");
        const char *at = memrchr(authority, '@', n), *from = at ? at + 1 : authority;

        return arena_printf(arena, "%.*s%.*s", (int)(authority - url), url, (int)strcspn(from, "?#"), from);
}

/* ---- origins ---- */

/* Without the port that the scheme has by itself; a bracketed address keeps its colons. */
static struct slice name_and_port(const struct web_url *u)
{
        const char *own = text_equal(u->scheme, "https") ? ":443" : ":80";
        struct slice host = slice_of(u->host);
        size_t n = strlen(own);

        if (host.len > n && memcmp(host.data + host.len - n, own, n) == 0 &&
            (host.data[0] != '[' || host.data[host.len - n - 1] == ']'))
                host.len -= n;
        return host;
}

bool web_url_same_origin(const struct web_url *a, const struct web_url *b)
{
        struct slice x = name_and_port(a), y = name_and_port(b);

        return text_equal(a->scheme, b->scheme) && x.len == y.len && strncasecmp(x.data, y.data, x.len) == 0;
}

/* ---- where links lead ---- */

const char *web_url_resolve(const struct web_url *base, const char *target, struct arena *arena)
{
        if (text_starts_with(target, "//"))
                return arena_printf(arena, "%s:%s", base->scheme, target);
        if (target[0] == '/')
                return arena_printf(arena, "%s%s", base->origin, target);
        if (target[0] == '?')
                return arena_printf(arena, "%s%s%s", base->origin, base->path, target);
        if (strstr(target, "://"))
                return target;
        const char *slash = strrchr(base->path, '/');

        return arena_printf(arena, "%s%.*s/%s", base->origin, slash ? (int)(slash - base->path) : 0,
                            base->path, target);
}

/* The target of the entry that says rel="next"; {0} if none does. */
static struct slice find_next(const char *link)
{
        struct slice rest = slice_of(link), entry, target;

        while (rest.len > 0) {
                slice_cut(&rest, '<', &entry);
                if (!slice_cut(&rest, '>', &target))
                        break;
                struct slice after = rest;

                slice_cut(&after, '<', &entry);
                if (memmem(entry.data, entry.len, "rel=\"next\"", 10) ||
                    memmem(entry.data, entry.len, "rel=next", 8))
                        return target;
        }
        return (struct slice){ 0 };
}

int web_url_next(const struct http_headers *h, const struct web_url *base, struct arena *arena,
                 const char **ret, struct error *err)
{
        struct slice next = find_next(or_empty(http_header_get(h, "Link")));
        struct web_url u;

        *ret = NULL;
        if (next.len == 0)
                return 0;
        const char *target = arena_strndup(arena, next.data, next.len);
        const char *url = target ? web_url_resolve(base, target, arena) : NULL;

        if (!url)
                return error_no_memory(err);
        if (web_url_parse(url, arena, &u, err) < 0 || !web_url_same_origin(&u, base))
                return error_set(err, ERR_INVALID, "%s%s: its next page is on another host", base->origin,
                                 base->path);
        *ret = url;
        return 0;
}
