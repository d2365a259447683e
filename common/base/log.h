/* Structured logging: a level, a sentence, key/value pairs. Text form for people
 *     2026-01-02T03:04:05.006Z INFO  placement reconciled  key=web reconcile=17 took_ms=3
 * or one JSON object per line. A logger is passed down; there is no global. It writes through a sink, so the
 * simulation and tests can read what was said. Secret values must never be passed as a value. */
#pragma once

#include "common/base/error.h"

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };
enum log_format { LOG_TEXT, LOG_JSON };

struct log_sink {
        void (*write)(void *ctx, const char *line, size_t n); /* line ends in \n */
        int64_t (*wall_ms)(void *ctx);                        /* time of day for the stamp */
        void *ctx;
        enum log_format format;
        enum log_level least; /* quieter lines are dropped */
};

/* A logger is a sink plus bound pairs; copies are cheap and live on the stack of who derives them. */
struct log {
        const struct log_sink *sink; /* NULL = silent */
        const struct log *parent;    /* bound pairs further up; must outlive this one */
        const char *key;             /* one bound pair, borrowed; NULL if none */
        const char *value;
};

struct log log_with(const struct log *parent, const char *key, const char *value);
bool log_enabled(const struct log *l, enum log_level level);

/* log_info(l, "placement reconciled", "key", key, "took_ms", LOG_INT(3), NULL): pairs of const char *, ending
 * in NULL; a NULL value prints as null. LOG_INT formats into a small per-call buffer. */
void log_write(const struct log *l, enum log_level level, const char *message, ...) __attribute__((sentinel));
#define log_debug(l, ...) log_write((l), LOG_DEBUG, __VA_ARGS__, NULL)
#define log_info(l, ...) log_write((l), LOG_INFO, __VA_ARGS__, NULL)
#define log_warn(l, ...) log_write((l), LOG_WARN, __VA_ARGS__, NULL)
#define log_error(l, ...) log_write((l), LOG_ERROR, __VA_ARGS__, NULL)
#define LOG_INT(i) (log_int((char[24]){ 0 }, (int64_t)(i)))
const char *log_int(char *buffer24, int64_t i);
