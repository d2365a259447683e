#include "common/base/log.h"

#include <stdarg.h>

#include "common/base/buf.h"
#include "common/base/digits.h"
#include "common/base/limits.h"
#include "common/base/text.h"
#include "common/base/timefmt.h"

#define TAIL_ROOM 32 /* for the mark of a cut line and its end */

static const char *const level_names[] = { "debug", "info", "warn", "error" };
static const char *const level_columns[] = { "DEBUG", "INFO ", "WARN ", "ERROR" };

struct log log_with(const struct log *parent, const char *key, const char *value)
{
        return (struct log){
                .sink = parent ? parent->sink : NULL, .parent = parent, .key = key, .value = value
        };
}

bool log_enabled(const struct log *l, enum log_level level)
{
        return l && l->sink && level >= l->sink->least;
}

/* Also of lines that nobody wants: nothing is formatted by format. */
const char *log_int(char *buffer24, int64_t i)
{
        buffer24[23] = '\0';
        return digits_signed(buffer24 + 23, i);
}

/* Text values stand bare where a reader cannot mistake them. */
static bool is_plain(const char *s)
{
        if (!*s)
                return false;
        for (; *s; s++) {
                unsigned char c = (unsigned char)*s;
                if (c <= ' ' || c == '"' || c == '=' || c == '\\' || c >= 0x7f)
                        return false;
        }
        return true;
}

static int append_value(struct buf *b, enum log_format format, const char *value)
{
        if (!value)
                return buf_append_str(b, "null");
        if (format == LOG_TEXT && is_plain(value))
                return buf_append_str(b, value);
        return buf_append_json_string(b, value, strlen(value));
}

static int append_pair_whole(struct buf *b, enum log_format format, const char *key, const char *value)
{
        if (format == LOG_JSON) {
                TRY(buf_append_char(b, ','));
                TRY(buf_append_json_string(b, key, strlen(key)));
                TRY(buf_append_char(b, ':'));
        } else {
                TRY(buf_printf(b, " %s=", key));
        }
        return append_value(b, format, value);
}

/* A pair that does not fit is left out and the line marked, so that a line always parses. */
static void append_pair(struct buf *b, enum log_format format, const char *key, const char *value, bool *cut)
{
        size_t before = b->len;
        if (append_pair_whole(b, format, key, value) == 0)
                return;
        b->failed = 0;
        b->len = before;
        *cut = true;
}

static void append_bound(struct buf *b, const struct log *l, bool *cut)
{
        if (l->parent)
                append_bound(b, l->parent, cut);
        if (l->key)
                append_pair(b, l->sink->format, l->key, l->value, cut);
}

static void append_head(struct buf *b, const struct log *l, enum log_level level, const char *message,
                        bool *cut)
{
        char stamp[RFC3339_SIZE];
        time_format_rfc3339_milli(l->sink->wall_ms ? l->sink->wall_ms(l->sink->ctx) : 0, stamp);
        if (l->sink->format == LOG_JSON) {
                buf_printf(b, "{\"time\":\"%s\",\"level\":\"%s\"", stamp, level_names[level]);
                append_pair(b, LOG_JSON, "msg", message, cut);
                return;
        }
        buf_printf(b, "%s %s ", stamp, level_columns[level]);
        size_t before = b->len;
        for (const char *c = message; *c; c++)
                buf_append_char(b, (unsigned char)*c < ' ' ? ' ' : *c);
        if (buf_append_char(b, ' ') < 0) {
                b->failed = 0;
                b->len = before;
                *cut = true;
        }
}

void log_write(const struct log *l, enum log_level level, const char *message, ...)
{
        if (!log_enabled(l, level))
                return;
        /* On the heap: a fiber's stack should not grow by a log line. */
        AUTO_BUF struct buf b;
        buf_init(&b, LIMIT_LOG_LINE_BYTES - TAIL_ROOM);
        bool json = l->sink->format == LOG_JSON, cut = false;
        append_head(&b, l, level, message, &cut);
        append_bound(&b, l, &cut);
        va_list args;
        va_start(args, message);
        for (const char *key = va_arg(args, const char *); key; key = va_arg(args, const char *))
                append_pair(&b, l->sink->format, key, va_arg(args, const char *), &cut);
        va_end(args);
        b.max = LIMIT_LOG_LINE_BYTES;
        if (cut)
                buf_append_str(&b, json ? ",\"cut\":\"true\"" : " cut=true");
        if (buf_append_str(&b, json ? "}\n" : "\n") == 0)
                l->sink->write(l->sink->ctx, b.data, b.len);
}
