#include "common/base/error.h"

#include <stdarg.h>

#include "common/base/text.h"

/* Formats into text, ends an over-long result in "...", and makes no broken UTF-8 of the last character. */
static size_t format_cut(char *text, size_t size, const char *fmt, va_list args)
{
        int n = vsnprintf(text, size, fmt, args);
        if (n < 0) {
                text[0] = '\0';
                return 0;
        }
        if ((size_t)n < size)
                return (size_t)n;
        size_t end = size - 4;
        while (end > 0 && ((unsigned char)text[end] & 0xc0) == 0x80)
                end--;
        memcpy(text + end, "...", 4);
        return end + 3;
}

int error_set(struct error *err, enum error_code code, const char *fmt, ...)
{
        if (!err)
                return code;
        /* Through a copy, since an argument may be err->text itself. */
        char text[ERROR_TEXT_MAX];
        va_list args;
        va_start(args, fmt);
        size_t n = format_cut(text, sizeof(text), fmt, args);
        va_end(args);
        error_clear(err);
        err->code = code;
        memcpy(err->text, text, n + 1);
        return code;
}

int error_wrap(struct error *err, const char *fmt, ...)
{
        if (!err)
                return ERR_INTERNAL;
        char context[ERROR_TEXT_MAX / 2];
        va_list args;
        va_start(args, fmt);
        size_t n = format_cut(context, sizeof(context), fmt, args);
        va_end(args);
        char text[ERROR_TEXT_MAX];
        size_t rest = text_shorten(err->text, text, sizeof(err->text) - n - 2);
        memcpy(err->text, context, n);
        memcpy(err->text + n, ": ", 2);
        memcpy(err->text + n + 2, text, rest + 1);
        return err->code;
}

void error_set_reason(struct error *err, const char *reason)
{
        if (err)
                snprintf(err->reason, sizeof(err->reason), "%s", reason);
}

int error_no_memory(struct error *err)
{
        return error_set(err, ERR_NO_MEMORY, "out of memory");
}

int error_errno(struct error *err, int saved_errno, const char *fmt, ...)
{
        if (!err)
                return ERR_SYSTEM;
        char text[ERROR_TEXT_MAX / 2], words[128];
        va_list args;
        va_start(args, fmt);
        format_cut(text, sizeof(text), fmt, args);
        va_end(args);
        return error_set(err, ERR_SYSTEM, "%s: %s", text, strerror_r(saved_errno, words, sizeof(words)));
}

void error_clear(struct error *err)
{
        if (!err)
                return;
        err->code = 0;
        err->http_status = 0;
        err->retry_after_ms = 0;
        err->reason[0] = '\0';
        err->text[0] = '\0';
}

const char *error_code_name(int code)
{
        static const char *const names[] = {
                "ok",      "retry",     "conflict",     "not found",   "exists",    "gone",
                "invalid", "forbidden", "unauthorized", "timeout",     "cancelled", "no memory",
                "limit",   "system",    "closed",       "unsupported", "too many",  "internal",
        };
        if (code > 0 || code <= -(int)ARRAY_LEN(names))
                return "unknown";
        return names[-code];
}

bool error_is_refusal(const struct error *err)
{
        return err->http_status >= 400 && err->http_status < 500;
}

bool error_is_retryable(int code)
{
        switch (code) {
        case ERR_RETRY:
        case ERR_CONFLICT:
        case ERR_GONE:
        case ERR_TIMEOUT:
        case ERR_TOO_MANY:
        case ERR_NO_MEMORY:
                return true;
        default:
                return false;
        }
}
