/* Errors as values. A function that can fail returns 0 or a negative code and fills `struct error` last.
 * The code says what the caller may do; the text says what happened to which object. Wrap on the way up,
 * log once at the top. A struct error lives on the caller's stack; passing NULL is allowed. */
#pragma once

#include "common/base/base.h"

enum error_code {
        ERR_OK = 0,
        ERR_RETRY = -1, /* transient: network, timeout of the peer, 5xx; try again with backoff */
        ERR_CONFLICT =
                -2, /* 409: the resourceVersion moved, or a field conflict; re-read and compute again */
        ERR_NOT_FOUND = -3,    /* 404 */
        ERR_EXISTS = -4,       /* 409 AlreadyExists */
        ERR_GONE = -5,         /* 410: relist */
        ERR_INVALID = -6,      /* 400/422 or input that breaks a rule: no retry helps until it changes */
        ERR_FORBIDDEN = -7,    /* 403 */
        ERR_UNAUTHORIZED = -8, /* 401: credentials must be read again */
        ERR_TIMEOUT = -9,      /* our own deadline passed */
        ERR_CANCELLED = -10,   /* the fiber was cancelled: unwind, do not log */
        ERR_NO_MEMORY = -11,
        ERR_LIMIT = -12,       /* a size, depth or count from limits.h was exceeded */
        ERR_SYSTEM = -13,      /* the operating system refused: text holds the errno's words */
        ERR_CLOSED = -14,      /* the stream ended in good order */
        ERR_UNSUPPORTED = -15, /* the server or this program does not do that; the text names what */
        ERR_TOO_MANY = -16,    /* 429: wait retry_after_ms */
        ERR_INTERNAL = -17,    /* our own bug, caught */
};

#define ERROR_TEXT_MAX 1024

struct error {
        int code;
        int http_status;         /* 0 if none */
        uint32_t retry_after_ms; /* server's wish, 0 if none */
        char reason[64]; /* Kubernetes Status.reason ("AlreadyExists"), or HTTP_REASON_... (http.h); "" */
        char text[ERROR_TEXT_MAX];
};

/* Sets code and text and returns the code; a NULL err is fine. Over-long text is cut and ends in "...". */
int error_set(struct error *err, enum error_code code, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* Puts "context: " before the text, keeps everything else, returns the code. A text for which there is no
 * room loses its middle. Where nobody wants the error its code is not known here, and ERR_INTERNAL comes
 * back: who may be called so and has the code of what failed uses TRY_WRAP, or returns it himself. */
int error_wrap(struct error *err, const char *fmt, ...) PRINTF_LIKE(2, 3);
void error_set_reason(struct error *err, const char *reason); /* after error_set, which empties it */
int error_no_memory(struct error *err);                       /* ERR_NO_MEMORY, fixed text */
int error_errno(struct error *err, int saved_errno, const char *fmt, ...) PRINTF_LIKE(3, 4); /* ERR_SYSTEM */
void error_clear(struct error *err);
const char *error_code_name(int code); /* "conflict" */
/* The server said no (4xx): nothing was done. What failed otherwise may have been done. */
bool error_is_refusal(const struct error *err);
bool error_is_retryable(int code); /* RETRY, CONFLICT, GONE, TIMEOUT, TOO_MANY, NO_MEMORY */

/* Returns the code of the first failing call from the enclosing function. */
#define TRY(call)                                                                                            \
        do {                                                                                                 \
                int try_result_ = (call);                                                                    \
                if (try_result_ < 0)                                                                         \
                        return try_result_;                                                                  \
        } while (0)
/* The same, with context put before the text: error_wrap(err, ...). The code is the call's, also where `err`
 * is NULL. */
#define TRY_WRAP(call, err, ...)                                                                             \
        do {                                                                                                 \
                int try_result_ = (call);                                                                    \
                if (try_result_ < 0) {                                                                       \
                        (void)error_wrap((err), __VA_ARGS__);                                                \
                        return try_result_;                                                                  \
                }                                                                                            \
        } while (0)
