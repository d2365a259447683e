#include "e2e/devcluster/serving/http1_parse.h"

#include <strings.h>

#include "common/base/limits.h"
#include "common/base/memory.h"

#define METHOD_MAX 32
#define TRAILER_MAX (8u << 10)

enum parse_state { HEAD, BODY_BY_LENGTH, CHUNK_SIZE, CHUNK_DATA, CHUNK_END, TRAILERS, COMPLETE };

void http1_parser_init(struct http1_parser *p, const struct http1_limits *limits)
{
        *p = (struct http1_parser){ 0 };
        if (limits)
                p->limits = *limits;
        if (!p->limits.header_bytes)
                p->limits.header_bytes = LIMIT_HEADER_BYTES;
        if (!p->limits.headers)
                p->limits.headers = LIMIT_HEADER_COUNT;
        if (!p->limits.body_bytes)
                p->limits.body_bytes = LIMIT_REQUEST_BODY_BYTES;
        else if (p->limits.body_bytes == HTTP1_NO_BODY)
                p->limits.body_bytes = 0;
        buf_init(&p->head, p->limits.header_bytes);
        buf_init(&p->body, p->limits.body_bytes);
}

void http1_parser_free(struct http1_parser *p)
{
        arena_free(&p->arena);
        buf_free(&p->head);
        buf_free(&p->body);
}

void http1_parser_reset(struct http1_parser *p)
{
        struct http1_limits limits = p->limits;
        if (limits.body_bytes == 0)
                limits.body_bytes = HTTP1_NO_BODY;
        http1_parser_free(p);
        http1_parser_init(p, &limits);
}

static int refuse(struct http1_parser *p, int status, enum error_code code, struct error *err,
                  const char *text)
{
        p->http_status = status;
        return error_set(err, code, "request: %s", text);
}

static int bad(struct http1_parser *p, struct error *err, const char *text)
{
        return refuse(p, 400, ERR_INVALID, err, text);
}

static int too_long(struct http1_parser *p, struct error *err)
{
        p->http_status = 413;
        return error_set(err, ERR_LIMIT, "request: a body of more than %zu bytes", p->limits.body_bytes);
}

static int no_memory(struct http1_parser *p, struct error *err)
{
        p->http_status = 503;
        return error_no_memory(err);
}

/* ---- characters ---- */

static bool is_token_char(unsigned char c)
{
        return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
               (c != 0 && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

static bool is_token(struct slice s)
{
        for (size_t i = 0; i < s.len; i++)
                if (!is_token_char((unsigned char)s.data[i]))
                        return false;
        return s.len > 0;
}

static bool is_field_value(struct slice s)
{
        for (size_t i = 0; i < s.len; i++) {
                unsigned char c = (unsigned char)s.data[i];
                if ((c < ' ' && c != '\t') || c == 0x7f)
                        return false;
        }
        return true;
}

static bool same_word(struct slice s, const char *word)
{
        return s.len == strlen(word) && strncasecmp(s.data, word, s.len) == 0;
}

/* Whether a comma-separated list holds the word. */
static bool list_has(const char *list, const char *word)
{
        struct slice rest = slice_of(list), item;
        while (rest.len > 0) {
                slice_cut(&rest, ',', &item);
                if (same_word(slice_trim(item), word))
                        return true;
        }
        return false;
}

/* ---- the request line ---- */

static int parse_version(struct http1_parser *p, struct slice version, struct error *err)
{
        if (slice_is(version, "HTTP/1.1"))
                return 0;
        p->request.http_1_0 = true;
        if (slice_is(version, "HTTP/1.0"))
                return 0;
        if (version.len == 8 && slice_starts_with(version, "HTTP/"))
                return refuse(p, 505, ERR_UNSUPPORTED, err, "a version other than HTTP/1.1");
        return bad(p, err, "a malformed request line");
}

/* The absolute form that proxies use is cut down to the origin form; it must name a host. */
static int cut_authority(struct http1_parser *p, struct slice *target, struct error *err)
{
        size_t scheme = slice_starts_with(*target, "http://")    ? strlen("http://")
                        : slice_starts_with(*target, "https://") ? strlen("https://")
                                                                 : 0;
        if (scheme == 0)
                return 0;
        struct slice rest = { target->data + scheme, target->len - scheme };
        const char *slash = rest.len > 0 ? memchr(rest.data, '/', rest.len) : NULL;
        if (!slash)
                return bad(p, err, "an absolute target without a path");
        if (slash == rest.data)
                return bad(p, err, "an absolute target without a host");
        *target = (struct slice){ slash, (size_t)(rest.data + rest.len - slash) };
        return 0;
}

static int parse_target(struct http1_parser *p, struct slice target, struct error *err)
{
        for (size_t i = 0; i < target.len; i++)
                if (target.data[i] <= ' ' || target.data[i] > '~' || target.data[i] == '#')
                        return bad(p, err, "a target with a character that is not allowed in it");
        TRY(cut_authority(p, &target, err));
        if (!slice_starts_with(target, "/") && !slice_is(target, "*"))
                return bad(p, err, "a target that does not start with /");
        struct slice path;
        slice_cut(&target, '?', &path);
        p->request.path = arena_strndup(&p->arena, path.data, path.len);
        p->request.query = arena_strndup(&p->arena, target.data ? target.data : "", target.len);
        return p->request.path && p->request.query ? 0 : no_memory(p, err);
}

static int parse_request_line(struct http1_parser *p, struct slice line, struct error *err)
{
        struct slice method, target;
        if (!slice_cut(&line, ' ', &method) || !slice_cut(&line, ' ', &target))
                return bad(p, err, "a malformed request line");
        if (!is_token(method) || method.len > METHOD_MAX)
                return bad(p, err, "a malformed method");
        p->request.method = arena_strndup(&p->arena, method.data, method.len);
        if (!p->request.method)
                return no_memory(p, err);
        TRY(parse_version(p, line, err));
        return parse_target(p, target, err);
}

/* ---- headers ---- */

static int parse_header(struct http1_parser *p, struct slice line, struct error *err)
{
        if (p->request.headers.n >= p->limits.headers)
                return refuse(p, 431, ERR_LIMIT, err, "too many headers");
        struct slice name;
        if (!slice_cut(&line, ':', &name) || !is_token(name))
                return bad(p, err, "a malformed header");
        struct slice value = slice_trim(line);
        if (!is_field_value(value))
                return bad(p, err, "a control character in a header");
        struct http_header *h = &p->request.headers.at[p->request.headers.n];
        h->name = arena_strndup(&p->arena, name.data, name.len);
        h->value = arena_strndup(&p->arena, value.data ? value.data : "", value.len);
        if (!h->name || !h->value)
                return no_memory(p, err);
        p->request.headers.n++;
        return 0;
}

static size_t count_header(const struct http1_parser *p, const char *name)
{
        size_t n = 0;
        for (size_t i = 0; i < p->request.headers.n; i++)
                n += strcasecmp(p->request.headers.at[i].name, name) == 0;
        return n;
}

static int parse_length(struct http1_parser *p, const char *text, struct error *err)
{
        uint64_t n;
        if (text[0] == '+' || !text_parse_u64(text, &n))
                return bad(p, err, "a malformed Content-Length");
        if (n > p->limits.body_bytes)
                return too_long(p, err);
        p->body_left = n;
        p->state = n > 0 ? BODY_BY_LENGTH : COMPLETE;
        return 0;
}

/* How the body is delimited: RFC 9112 6.3. */
static int frame_body(struct http1_parser *p, struct error *err)
{
        const char *length = http_header_get(&p->request.headers, "Content-Length");
        const char *coding = http_header_get(&p->request.headers, "Transfer-Encoding");
        if (count_header(p, "Content-Length") > 1 || count_header(p, "Transfer-Encoding") > 1 ||
            (length && coding))
                return bad(p, err, "more than one way to tell the body's length");
        if (coding && p->request.http_1_0)
                return bad(p, err, "a transfer coding in HTTP/1.0");
        if (coding && strcasecmp(coding, "chunked") != 0)
                return refuse(p, 501, ERR_UNSUPPORTED, err, "a transfer coding other than chunked");
        if (coding)
                p->state = CHUNK_SIZE;
        else if (length)
                return parse_length(p, length, err);
        else
                p->state = COMPLETE;
        return 0;
}

static int note_connection(struct http1_parser *p, struct error *err)
{
        struct http1_request *r = &p->request;
        size_t hosts = count_header(p, "Host");
        if (hosts > 1 || (hosts == 0 && !r->http_1_0))
                return bad(p, err, "it needs exactly one Host");
        r->keep_alive = !r->http_1_0;
        for (size_t i = 0; i < r->headers.n; i++) {
                if (strcasecmp(r->headers.at[i].name, "Connection") != 0)
                        continue;
                const char *list = r->headers.at[i].value;
                if (list_has(list, "close"))
                        r->keep_alive = false;
                else if (r->http_1_0 && list_has(list, "keep-alive"))
                        r->keep_alive = true;
                if (list_has(list, "upgrade") && http_header_get(&r->headers, "Upgrade"))
                        r->upgrade = true;
        }
        const char *expect = http_header_get(&r->headers, "Expect");
        if (expect && strcasecmp(expect, "100-continue") != 0)
                return refuse(p, 417, ERR_UNSUPPORTED, err, "an expectation other than 100-continue");
        r->expect_continue = expect && !r->http_1_0;
        return 0;
}

/* Cuts the next line off; false at a line that does not end in CRLF or holds a CR. */
static bool next_line(struct slice *rest, struct slice *ret)
{
        if (!slice_cut(rest, '\n', ret) || ret->len == 0 || ret->data[ret->len - 1] != '\r')
                return false;
        ret->len--;
        return memchr(ret->data, '\r', ret->len) == NULL;
}

static int parse_head(struct http1_parser *p, struct error *err)
{
        struct slice rest = { p->head.data, p->head.len }, line;
        size_t lines = 0;
        for (size_t i = 0; i < p->head.len; i++)
                lines += p->head.data[i] == '\n';
        size_t room = MIN(lines, p->limits.headers);
        p->request.headers.at = ARENA_NEW_ARRAY(&p->arena, struct http_header, room ? room : 1);
        if (!p->request.headers.at)
                return no_memory(p, err);
        if (!next_line(&rest, &line))
                return bad(p, err, "a line that does not end in CRLF");
        TRY(parse_request_line(p, line, err));
        while (rest.len > 0) {
                if (!next_line(&rest, &line))
                        return bad(p, err, "a line that does not end in CRLF");
                if (line.len == 0)
                        break;
                TRY(parse_header(p, line, err));
        }
        TRY(note_connection(p, err));
        TRY(frame_body(p, err));
        p->headers_done = true;
        buf_free(&p->head);
        return 0;
}

/* Where the head ends, 0 if it does not yet. */
static size_t head_end(const struct buf *head, size_t from)
{
        const char *end = memmem(head->data + from, head->len - from, "\r\n\r\n", 4);
        return end ? (size_t)(end - head->data) + 4 : 0;
}

static int take_head(struct http1_parser *p, const char *data, size_t n, size_t *ret_used, struct error *err)
{
        size_t skipped = 0;
        /* Empty lines in front of a request are remains of sloppy clients. */
        while (p->head.len == 0 && skipped < n && (data[skipped] == '\r' || data[skipped] == '\n'))
                skipped++;
        size_t old = p->head.len;
        size_t take = MIN(n - skipped, p->limits.header_bytes - old);
        if (buf_append(&p->head, data + skipped, take) < 0)
                return no_memory(p, err);
        size_t end = head_end(&p->head, old > 3 ? old - 3 : 0);
        if (end == 0 && take < n - skipped)
                return refuse(p, 431, ERR_LIMIT, err, "headers that are too long");
        if (end == 0) {
                *ret_used = skipped + take;
                return 0;
        }
        *ret_used = skipped + end - old;
        p->head.len = end;
        return parse_head(p, err);
}

/* ---- bodies ---- */

static int take_body(struct http1_parser *p, const char *data, size_t n, size_t *ret_used, int next,
                     struct error *err)
{
        size_t take = n < p->body_left ? n : (size_t)p->body_left;
        if (buf_append(&p->body, data, take) < 0)
                return no_memory(p, err);
        p->body_left -= take;
        *ret_used = take;
        if (p->body_left == 0)
                p->state = next;
        return 0;
}

static int hex_value(char c)
{
        if (c >= '0' && c <= '9')
                return c - '0';
        c |= 0x20;
        return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* `line` without CRLF: hex digits, then an extension that nobody uses. */
static int parse_chunk_size(struct http1_parser *p, struct error *err)
{
        uint64_t n = 0;
        size_t i = 0;
        for (; i < p->line_len && hex_value(p->line[i]) >= 0; i++) {
                if (i >= 8)
                        return refuse(p, 413, ERR_LIMIT, err, "a chunk that is too long");
                n = n << 4 | (uint64_t)hex_value(p->line[i]);
        }
        if (i == 0 || (i < p->line_len && p->line[i] != ';'))
                return bad(p, err, "a malformed chunk size");
        if (n > p->limits.body_bytes - p->body.len)
                return too_long(p, err);
        p->body_left = n;
        p->state = n > 0 ? CHUNK_DATA : TRAILERS;
        return 0;
}

/* Gathers a line of up to sizeof(line) bytes. 1 when p->line holds it whole, without CRLF. */
static int take_line(struct http1_parser *p, const char *data, size_t n, size_t *ret_used, struct error *err)
{
        for (size_t i = 0; i < n; i++) {
                char c = data[i];
                *ret_used = i + 1;
                if (c == '\n') {
                        if (p->line_len == 0 || p->line[p->line_len - 1] != '\r')
                                return bad(p, err, "a line that does not end in CRLF");
                        p->line_len--;
                        return 1;
                }
                if (p->line_len > 0 && p->line[p->line_len - 1] == '\r')
                        return bad(p, err, "a stray carriage return");
                if (p->line_len == sizeof(p->line))
                        return bad(p, err, "a chunk line that is too long");
                p->line[p->line_len++] = c;
        }
        return 0;
}

static int take_chunk_line(struct http1_parser *p, const char *data, size_t n, size_t *ret_used,
                           struct error *err)
{
        int r = take_line(p, data, n, ret_used, err);
        if (r <= 0)
                return r;
        r = 0;
        if (p->state == CHUNK_SIZE)
                r = parse_chunk_size(p, err);
        else if (p->line_len > 0)
                r = bad(p, err, "a chunk longer than its size");
        else
                p->state = CHUNK_SIZE;
        p->line_len = 0;
        return r;
}

/* Trailers are read past: nothing here gives them a meaning. An empty line ends them. */
static int skip_trailers(struct http1_parser *p, const char *data, size_t n, size_t *ret_used,
                         struct error *err)
{
        for (size_t i = 0; i < n; i++) {
                *ret_used = i + 1;
                if (++p->trailer_bytes > TRAILER_MAX)
                        return refuse(p, 431, ERR_LIMIT, err, "trailers that are too long");
                if (data[i] == '\n' && p->line[0] != '\r')
                        return bad(p, err, "a line that does not end in CRLF");
                if (data[i] == '\n' && p->line_len == 1) {
                        p->state = COMPLETE;
                        return 0;
                }
                p->line_len = data[i] == '\n' ? 0 : p->line_len + 1;
                p->line[0] = data[i];
        }
        return 0;
}

static int step(struct http1_parser *p, const char *data, size_t n, size_t *ret_used, struct error *err)
{
        switch (p->state) {
        case HEAD:
                return take_head(p, data, n, ret_used, err);
        case BODY_BY_LENGTH:
                return take_body(p, data, n, ret_used, COMPLETE, err);
        case CHUNK_DATA:
                return take_body(p, data, n, ret_used, CHUNK_END, err);
        case CHUNK_SIZE:
        case CHUNK_END:
                return take_chunk_line(p, data, n, ret_used, err);
        case TRAILERS:
                return skip_trailers(p, data, n, ret_used, err);
        default:
                UNREACHABLE();
        }
}

int http1_parse(struct http1_parser *p, const char *data, size_t n, size_t *ret_used, struct error *err)
{
        size_t total = 0;
        while (p->state != COMPLETE && total < n) {
                size_t used = 0;
                TRY(step(p, data + total, n - total, &used, err));
                total += used;
        }
        *ret_used = total;
        if (p->state != COMPLETE)
                return 0;
        p->request.body = (struct slice){ p->body.data, p->body.len };
        return 1;
}
