#include "hub-agent/source/s3/s3_url.h"

#include "common/base/limits.h"
#include "common/base/memory.h"
#include "common/net/http.h"

#define BUCKET_CHARS 255
#define HOST_CHARS 300
#define REGION_CHARS 60 /* libcurl has no room for more */

static bool is_alphanumeric(char c)
{
        return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
}

static bool is_of(const char *s, size_t n, const char *others)
{
        for (size_t i = 0; i < n; i++)
                if (!is_alphanumeric(s[i]) && !strchr(others, s[i]))
                        return false;
        return n > 0;
}

static bool is_port(const char *s)
{
        int64_t port;

        return text_parse_i64(s, &port) && port > 0 && port < 65536;
}

/* A name or an IPv4 address, or an IPv6 address in brackets; perhaps with a port. */
static bool is_host(const char *s)
{
        size_t n = s[0] == '[' ? strcspn(s, "]") : strcspn(s, ":");
        bool good =
                s[0] == '[' ? s[n] && is_of(s + 1, n - 1, ":.") : is_of(s, n, "-.") && is_alphanumeric(s[0]);

        n += s[0] == '[';
        return good && strlen(s) <= HOST_CHARS && (!s[n] || (s[n] == ':' && is_port(s + n + 1)));
}

/* Looser than AWS, which other services are, too: what is safe in a path and in a host. */
static bool is_bucket(const char *s)
{
        size_t n = strlen(s);

        return is_of(s, n, "-._") && n <= BUCKET_CHARS && is_alphanumeric(s[0]) && is_alphanumeric(s[n - 1]);
}

bool s3_is_region(const char *s)
{
        size_t n = strlen(s);

        return is_of(s, n, "-_.") && n <= REGION_CHARS;
}

int s3_bucket_url(const struct s3_place *p, struct arena *arena, const char **ret, struct error *err)
{
        const char *scheme = p->insecure ? "http" : "https", *bucket = or_empty(p->bucket);
        bool by_host = p->by_host && !strchr(bucket, '_') && (p->insecure || !strchr(bucket, '.'));

        if (!is_host(or_empty(p->endpoint)))
                return error_set(
                        err, ERR_INVALID,
                        "spec.endpoint is no host, nor one with a port: scheme, path and user do not "
                        "belong there");
        if (!is_bucket(bucket))
                return error_set(err, ERR_INVALID,
                                 "spec.bucketName is no name of a bucket: letters, digits, '-', '.' and '_', "
                                 "from a letter or digit to one");
        *ret = by_host ? arena_printf(arena, "%s://%s.%s", scheme, bucket, p->endpoint)
                       : arena_printf(arena, "%s://%s/%s", scheme, p->endpoint, bucket);
        return *ret ? 0 : error_no_memory(err);
}

static void append_pair(struct buf *b, const char *name, const char *value)
{
        buf_append_str(b, name);
        http_escape(b, value);
}

const char *s3_list_url(const char *bucket_url, const char *prefix, const char *token, struct arena *arena)
{
        AUTO_BUF struct buf b;

        buf_init(&b, LIMIT_HEADER_BYTES);
        buf_append_str(&b, bucket_url);
        if (!strchr(strstr(bucket_url, "://") + 3, '/'))
                buf_append_char(&b, '/');
        buf_append_char(&b, '?');
        if (token) {
                append_pair(&b, "continuation-token=", token);
                buf_append_char(&b, '&');
        }
        buf_printf(&b, "encoding-type=url&list-type=2&max-keys=%d", S3_PAGE_KEYS);
        if (!text_empty(prefix))
                append_pair(&b, "&prefix=", prefix);
        return b.failed ? NULL : arena_strndup(arena, b.data, b.len);
}

const char *s3_object_url(const char *bucket_url, const char *key, struct arena *arena)
{
        AUTO_BUF struct buf b;
        struct slice rest = slice_of(key), part;
        bool more = true;

        buf_init(&b, LIMIT_HEADER_BYTES);
        buf_append_str(&b, bucket_url);
        while (more) {
                AUTO_FREE char *text = NULL;

                more = slice_cut(&rest, '/', &part);
                text = mem_strndup(part.data, part.len);
                if (!text)
                        return NULL;
                append_pair(&b, "/", text);
        }
        return b.failed ? NULL : arena_strndup(arena, b.data, b.len);
}
