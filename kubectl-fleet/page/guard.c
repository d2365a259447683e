#include "kubectl-fleet/page/guard.h"

#include <strings.h>

#define HOST_MAX 300

/* ---- names ---- */

/* Whether `host` is `name`, with this port or, where it is the scheme's own, without one. */
static bool is_address(const struct page_guard *g, const char *host, const char *name)
{
        bool v6 = strchr(name, ':') != NULL;
        char text[HOST_MAX];

        snprintf(text, sizeof(text), v6 ? "[%s]:%d" : "%s:%d", name, g->port);
        if (strcasecmp(host, text) == 0)
                return true;
        snprintf(text, sizeof(text), v6 ? "[%s]" : "%s", name);
        return g->port == (g->tls ? 443 : 80) && strcasecmp(host, text) == 0;
}

/* A name that was given without a port is taken with any: what stands before the page has its own. */
static bool is_given(const char *host, const char *given)
{
        size_t n = strlen(given);

        if (strcasecmp(host, given) == 0)
                return true;
        return !strchr(given, ':') && strncasecmp(host, given, n) == 0 && host[n] == ':' && host[n + 1] &&
               host[n + 1 + strspn(host + n + 1, "0123456789")] == '\0';
}

/* It listens everywhere, as in a pod: `kubectl port-forward` leads to it from any port of loopback. No
 * foreign name can be made to stand for these. */
static bool is_forwarded(const struct page_guard *g, const char *host)
{
        static const char *const names[] = { "localhost", "127.0.0.1" };

        if (!text_equal(g->bind, "0.0.0.0") && !text_equal(g->bind, "::"))
                return false;
        for (size_t i = 0; i < ARRAY_LEN(names); i++)
                if (is_given(host, names[i]))
                        return true;
        return false;
}

static bool is_ours(const struct page_guard *g, const char *host)
{
        if (is_address(g, host, g->bind) || is_address(g, host, "localhost") || is_forwarded(g, host))
                return true;
        for (size_t i = 0; g->hosts && g->hosts[i]; i++)
                if (is_given(host, g->hosts[i]))
                        return true;
        return false;
}

static const char *host_of_origin(const char *origin)
{
        if (text_starts_with(origin, "http://"))
                return origin + strlen("http://");
        return text_starts_with(origin, "https://") ? origin + strlen("https://") : NULL;
}

int page_guard_check(const struct page_guard *g, const struct http_headers *h, bool socket,
                     const char **ret_why)
{
        const char *host = http_header_get(h, "Host"), *origin = http_header_get(h, "Origin");
        const char *from = origin ? host_of_origin(origin) : NULL;

        *ret_why = NULL;
        if (!host || !is_ours(g, host))
                *ret_why = "This page does not answer under that name: open the link as it was printed.";
        else if (origin ? !from || strcasecmp(from, host) != 0 : socket)
                *ret_why = "This page answers its own scripts only, and no other page's.";
        return *ret_why ? 403 : 0;
}

/* ---- what browsers are told ---- */

#define POLICY                                                                                               \
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "                    \
        "connect-src 'self' %s://%s; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "          \
        "require-trusted-types-for 'script'"

int page_guard_headers(const struct page_guard *g, const char *host, struct arena *arena,
                       struct http_headers *ret)
{
        const struct http_header all[] = {
                { "Content-Security-Policy", arena_printf(arena, POLICY, g->tls ? "wss" : "ws", host) },
                { "Referrer-Policy", "no-referrer" },
                { "Cross-Origin-Opener-Policy", "same-origin" },
                { "Cross-Origin-Resource-Policy", "same-origin" },
                { "X-Content-Type-Options", "nosniff" },
                { "Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()" },
        };

        ret->at = arena_memdup(arena, all, sizeof(all));
        ret->n = ARRAY_LEN(all);
        return all[0].value && ret->at ? 0 : ERR_NO_MEMORY;
}
