#include "common/net/http_credentials.h"

#include "common/base/limits.h"
#include "common/base/map.h"
#include "common/base/memory.h"

struct token {
        uint64_t stamp;
        char *value;
};

struct http_credentials {
        struct world *world;
        struct map tokens; /* path -> struct token */
};

static void token_free(void *value)
{
        struct token *t = value;
        if (!t)
                return;
        mem_free_secret(t->value);
        mem_free(t);
}

struct http_credentials *http_credentials_new(struct world *w)
{
        struct http_credentials *c = NEW(struct http_credentials);
        if (!c)
                return NULL;
        c->world = w;
        map_init(&c->tokens, MAP_OWN_KEYS, token_free);
        return c;
}

struct http_credentials *http_credentials_free(struct http_credentials *c)
{
        if (!c)
                return NULL;
        map_free(&c->tokens);
        mem_free(c);
        return NULL;
}

static bool is_token_text(struct slice s)
{
        for (size_t i = 0; i < s.len; i++)
                if (s.data[i] <= ' ' || s.data[i] > '~')
                        return false;
        return s.len > 0;
}

static int unreadable(const char *path, struct error *err)
{
        int code = error_wrap(err, "token file %s", path);
        error_set_reason(err,
                         code == ERR_NOT_FOUND ? HTTP_REASON_TOKEN_MISSING : HTTP_REASON_TOKEN_UNREADABLE);
        return code;
}

static int copy_token(const char *path, struct slice text, char **ret, struct error *err)
{
        if (!is_token_text(text)) {
                error_set(err, ERR_UNAUTHORIZED, "token file %s: it holds no token", path);
                error_set_reason(err, HTTP_REASON_TOKEN_EMPTY);
                return ERR_UNAUTHORIZED;
        }
        *ret = mem_strndup(text.data, text.len);
        return *ret ? 0 : error_no_memory(err);
}

static int read_token(struct world *w, const char *path, char **ret, struct error *err)
{
        char *data = NULL;
        size_t n = 0;
        if (w->files->read(w->ctx, path, LIMIT_TOKEN_BYTES, &data, &n, err) < 0)
                return unreadable(path, err);
        int code = copy_token(path, slice_trim((struct slice){ data, n }), ret, err);
        mem_free_secret(data);
        return code;
}

static struct token *token_entry(struct http_credentials *c, const char *path)
{
        struct token *t = map_get(&c->tokens, path);
        if (t)
                return t;
        t = NEW(struct token);
        if (t && map_put(&c->tokens, path, t) < 0) {
                token_free(t);
                return NULL;
        }
        return t;
}

/* The stamp is taken before the read, so a write in between makes the next call read again. */
static int current_token(struct http_credentials *c, const char *path, bool again, const char **ret,
                         struct error *err)
{
        struct token *t = token_entry(c, path);
        if (!t)
                return error_no_memory(err);
        uint64_t stamp = c->world->files->stamp(c->world->ctx, path);
        if (!t->value || again || stamp != t->stamp) {
                char *fresh = NULL;
                int r = read_token(c->world, path, &fresh, err);
                if (r < 0 && !t->value)
                        return r;
                if (r == 0) {
                        mem_free_secret(t->value);
                        t->value = fresh;
                        t->stamp = stamp;
                }
        }
        *ret = t->value;
        return 0;
}

static int basic_header(const struct http_endpoint *e, struct arena *arena, const char **ret,
                        struct error *err)
{
        const char *plain = arena_printf(arena, "%s:%s", e->username, e->password ? e->password : "");
        if (!plain)
                return error_no_memory(err);
        size_t n = strlen(plain);
        char *encoded = arena_alloc(arena, text_base64_size(n));
        if (!encoded)
                return error_no_memory(err);
        text_base64_encode(plain, n, encoded);
        *ret = arena_printf(arena, "Basic %s", encoded);
        return *ret ? 0 : error_no_memory(err);
}

/* Of each request; tokens are long. */
static const char *bearer_header(struct arena *arena, const char *token)
{
        static const char scheme[] = "Bearer ";
        size_t head = strlen(scheme), n = strlen(token) + 1;
        char *text = arena_alloc(arena, head + n);
        if (!text)
                return NULL;
        memcpy(text, scheme, head);
        memcpy(text + head, token, n);
        return text;
}

int http_credentials_header(struct http_credentials *c, const struct http_endpoint *e, bool again,
                            struct arena *arena, const char **ret, struct error *err)
{
        const char *token = e->bearer_token;
        bool is_checked =
                e->bearer_token_file != NULL; /* when it was read: one may have thousands of bytes */
        if (is_checked)
                TRY(current_token(c, e->bearer_token_file, again, &token, err));
        if (!token && e->username)
                return basic_header(e, arena, ret, err);
        *ret = NULL;
        if (!token)
                return 0;
        if (!is_checked && !is_token_text(slice_of(token)))
                return error_set(err, ERR_UNAUTHORIZED,
                                 "bearer token for %s: it holds characters no token has", e->base_url);
        *ret = bearer_header(arena, token);
        return *ret ? 0 : error_no_memory(err);
}
