#include "hub-agent/git/git_url.h"

#include "hub-agent/git/git.h"

#define SSH "ssh://"
#define SSH_PORT 22

/* ---- ssh ---- */

static int split_port(const char *text, size_t n, struct arena *arena, int *ret, struct error *err)
{
        const char *port = arena_strndup(arena, text, n);
        uint64_t number;

        if (!port)
                return error_no_memory(err);
        if (!*port)
                return 0;
        if (!text_parse_u64(port, &number) || number < 1 || number > 65535)
                return error_set(err, ERR_INVALID, "an URL of ssh with a port that is none");
        *ret = (int)number;
        return 0;
}

/* A name or an address, with a port behind it. */
static int split_host(const char *text, size_t n, struct arena *arena, struct git_url *ret, struct error *err)
{
        const char *end = text + n, *close = *text == '[' ? memchr(text, ']', n) : NULL;
        const char *from = close ? text + 1 : text, *colon = close ? close + 1 : memchr(text, ':', n),
                   *to = close   ? close
                         : colon ? colon
                                 : end;

        if (to == from || (close && colon < end && *colon != ':'))
                return error_set(err, ERR_INVALID, "an URL of ssh without a host");
        ret->host = arena_strndup(arena, from, (size_t)(to - from));
        ret->port = SSH_PORT;
        if (!ret->host)
                return error_no_memory(err);
        return colon && colon < end ? split_port(colon + 1, (size_t)(end - colon - 1), arena, &ret->port, err)
                                    : 0;
}

static int split_user(const char *text, size_t n, struct arena *arena, struct git_url *ret, struct error *err)
{
        const char *colon = memchr(text, ':', n);
        const struct slice name = { text, colon ? (size_t)(colon - text) : n };

        ret->user = http_unescape(arena, name, false);
        if (!text_empty(ret->user))
                return 0;
        return error_set(err, ERR_INVALID, "an URL of ssh with a user that cannot be read");
}

static int parse_ssh(const char *url, struct arena *arena, struct git_url *ret, struct error *err)
{
        const char *authority = url + strlen(SSH);
        size_t n = strcspn(authority, "/?#");
        const char *at = memrchr(authority, '@', n), *host = at ? at + 1 : authority;
        const char *path = authority + n;

        ret->ssh = true;
        ret->user = "git";
        if (at)
                TRY(split_user(authority, (size_t)(at - authority), arena, ret, err));
        TRY(split_host(host, (size_t)(authority + n - host), arena, ret, err));
        if (path[0] != '/' || !path[1])
                return error_set(err, ERR_INVALID, "an URL of ssh without a path");
        ret->path = http_unescape(arena, slice_of(path[1] == '~' ? path + 1 : path), false);
        /* A host or a path that begins so would be an option of some program. */
        if (ret->path && *ret->host != '-' && *ret->path != '-')
                return 0;
        return error_set(err, ERR_INVALID, "an URL of ssh that cannot be read");
}

/* ---- the web ---- */

static int read_user(const char *url, struct arena *arena, struct git_url *ret, struct error *err)
{
        const char *authority = strstr(url, "://") + 3;
        size_t n = strcspn(authority, "/?#");
        const char *at = memrchr(authority, '@', n);

        if (!at)
                return 0;
        struct slice rest = { authority, (size_t)(at - authority) }, user;

        slice_cut(&rest, ':', &user);
        ret->web_user = http_unescape(arena, user, false);
        ret->web_password = http_unescape(arena, rest, false);
        if (ret->web_user && ret->web_password)
                return 0;
        return error_set(err, ERR_INVALID, "an URL with a user that cannot be read");
}

int git_url_parse(const char *url, struct arena *arena, struct git_url *ret, struct error *err)
{
        struct git_url u = { 0 };

        for (const char *c = url; *c; c++)
                if ((unsigned char)*c <= ' ' || *c == 0x7f)
                        return error_set(err, ERR_INVALID, "an URL with spaces or control characters");
        if (text_starts_with(url, SSH)) {
                TRY(parse_ssh(url, arena, &u, err));
        } else if (text_starts_with(url, "http://") || text_starts_with(url, "https://")) {
                TRY(web_url_parse(url, arena, &u.web, err));
                TRY(read_user(url, arena, &u, err));
        } else {
                return error_set(err, ERR_INVALID, "not an URL of http, https or ssh");
        }
        *ret = u;
        return 0;
}

int remote_check_url(const char *url, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct git_url u;

        return git_url_parse(url, &arena, &u, err);
}

const char *remote_public_url(const char *url, struct arena *arena)
{
        const char *authority = strstr(url, "://"), *at;

        if (!authority || !text_starts_with(url, SSH))
                return web_url_public(url, arena);
        authority += 3;
        at = memrchr(authority, '@', strcspn(authority, "/?#"));
        /* The user is part of the address here, a password is not. */
        const size_t user = at ? MIN(strcspn(authority, ":"), (size_t)(at - authority)) : 0;

        return arena_printf(arena, "%.*s%.*s%s", (int)(authority - url), url, (int)user, authority,
                            at ? at : authority);
}

/* ---- submodules ---- */

/* "../x" and "./x" of a path, without leaving its first part. NULL on no memory; "" = it leads outside. */
static const char *climb(const char *base, const char *url, struct arena *arena)
{
        size_t begin = (size_t)(strchr(strstr(base, "://") + 3, '/') - base), n = strlen(base);

        while (n > begin && base[n - 1] == '/')
                n--;
        for (;;) {
                if (text_starts_with(url, "./")) {
                        url += 2;
                } else if (text_starts_with(url, "../")) {
                        url += 3;
                        while (n > begin && base[n - 1] != '/')
                                n--;
                        if (n <= begin)
                                return "";
                        n--;
                } else {
                        break;
                }
        }
        return arena_printf(arena, "%.*s/%s", (int)n, base, url);
}

int remote_resolve_url(const char *base, const char *url, struct arena *arena, const char **ret,
                       struct error *err)
{
        const char *full = url;

        if (text_starts_with(url, "./") || text_starts_with(url, "../")) {
                const char *authority = strstr(base, "://");

                full = authority && strchr(authority + 3, '/') ? climb(base, url, arena) : "";
                if (!full)
                        return error_no_memory(err);
                if (!*full)
                        return error_set(err, ERR_INVALID, "a submodule's URL that leads out of its host");
        }
        TRY(remote_check_url(full, err));
        *ret = full;
        return 0;
}
