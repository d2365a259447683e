/* Command-line flags from one table: parsing (Go's syntax, as the reference's programs have it), defaults,
 * ranges and help text. `-x` and `--x` are equal; values follow after `=` or as the next word; a boolean
 * takes `=true|false` only. */
#pragma once

#include "common/base/buf.h"

enum flag_type {
        FLAG_BOOL,     /* bool */
        FLAG_INT,      /* int64_t */
        FLAG_REAL,     /* double */
        FLAG_STRING,   /* const char *, borrowed from argv or the table */
        FLAG_DURATION, /* int64_t ms, written "1m30s" */
        FLAG_IGNORED,  /* accepted for compatibility, has no effect */
};

struct flag {
        const char *name;
        enum flag_type type;
        const char *fallback; /* as text */
        size_t offset;        /* of the value in the options struct */
        const char *help;
        double least, most; /* of INT and REAL; both 0 = any */
        bool or_negative;   /* any negative value is allowed too, and becomes -1 */
};

/* Sets all defaults, then what argv says. ERR_INVALID names the flag and the rule. Words that are no flags
 * are errors. */
int flags_parse(const struct flag *flags, size_t n, int argc, const char *const *argv, void *options,
                struct error *err);
int flags_help(const struct flag *flags, size_t n, struct buf *b); /* one entry per flag, sorted by name */

/* An address to listen on: "host:port", or ":port" for all of the host's; "", "0" and NULL switch it off,
 * *ret_port is -1 then. ERR_INVALID names the text. */
#define FLAG_HOST_SIZE 64
int flags_address(const char *text, char host[FLAG_HOST_SIZE], int *ret_port, struct error *err);
