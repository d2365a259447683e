/* Command-line flags from one table: parsing (Go's syntax, as the reference's programs have it), defaults,
 * ranges and help text. `-x` and `--x` are equal; values follow after `=` or as the next word; a boolean
 * takes `=true|false` only. */
#pragma once

#include "common/base/buf.h"
#include "common/base/log.h"

enum flag_type {
        FLAG_BOOL,     /* bool */
        FLAG_INT,      /* int64_t */
        FLAG_REAL,     /* double */
        FLAG_STRING,   /* const char *, borrowed from argv or the table */
        FLAG_DURATION, /* int64_t ms, written "1m30s" */
        FLAG_STRINGS,  /* struct flag_strings: given several times; the fallback is none */
};

#define FLAG_STRINGS_MAX 16
struct flag_strings {
        const char *at[FLAG_STRINGS_MAX + 1]; /* borrowed as FLAG_STRING's; NULL behind the last */
        size_t n;
};

struct flag {
        const char *name;
        enum flag_type type;
        const char *fallback; /* as text */
        size_t offset;        /* of the value in the options struct */
        const char *help;
        double least, most; /* of INT and REAL; both 0 = any */
        bool or_negative;   /* any negative value is allowed too, and becomes -1 */
        bool or_zero;       /* and so is 0, which becomes -1 where negative values do */
        /* For what the program cannot do: why a value other than the fallback changes nothing. */
        const char *missing;
        /* For programs whose command line is kubectl's (posix_flags.h). */
        char letter;             /* "-n"; 0 = none */
        bool required;           /* it must be given */
        const char *placeholder; /* what help calls the value; NULL = by its type */
        unsigned completes; /* what completion offers for the value: the program's own numbers; 0 = nothing */
};

/* Reads one value into the flag's field. ERR_INVALID tells the rule alone: who calls names flag and value. */
int flag_set_value(const struct flag *f, const char *text, void *options, struct error *err);

/* Sets all defaults, then what argv says. ERR_INVALID names the flag and the rule. Words that are no flags
 * are errors. */
int flags_parse(const struct flag *flags, size_t n, int argc, const char *const *argv, void *options,
                struct error *err);
/* Warns of each flag that asks for something missing: what a user believes to have must not be silently
 * absent. */
void flags_log_missing(const struct flag *flags, size_t n, const void *options, const struct log *log);
int flags_help(const struct flag *flags, size_t n, struct buf *b); /* one entry per flag, sorted by name */

/* An address to listen on: "host:port", or ":port" for all of the host's; "", "0" and NULL switch it off,
 * *ret_port is -1 then. ERR_INVALID names the text. */
#define FLAG_HOST_SIZE 64
int flags_address(const char *text, char host[FLAG_HOST_SIZE], int *ret_port, struct error *err);

/* ---- flags of the reference's logging library ---- */

/* The log goes to standard error, one line per entry, with time and level: what would change that is accepted
 * and checked, so that command lines need not be edited. */
struct klog_flags {
        bool to_stderr, also_to_stderr, skip_headers, skip_log_headers, add_dir_header, one_output;
        const char *directory, *file, *modules, *backtrace_at, *stderr_threshold;
        int64_t max_file_size;
};
#define KLOG_NO_EFFECT "No effect: the log goes to standard error, with time and level."
#define KLOG_MISSING "the log goes to standard error only"
#define KLOG_FLAGS(at)                                                                                       \
        { "logtostderr", FLAG_BOOL, "true", at(klog.to_stderr), KLOG_NO_EFFECT, .missing = KLOG_MISSING },   \
                { "log_dir", FLAG_STRING, "", at(klog.directory), KLOG_NO_EFFECT, .missing = KLOG_MISSING }, \
                { "log_file", FLAG_STRING, "", at(klog.file), KLOG_NO_EFFECT, .missing = KLOG_MISSING },     \
                { "vmodule",                                                                                 \
                  FLAG_STRING,                                                                               \
                  "",                                                                                        \
                  at(klog.modules),                                                                          \
                  "No effect: one verbosity for all.",                                                       \
                  .missing = "all modules log with the verbosity of --v" },                                  \
                { "alsologtostderr", FLAG_BOOL, "false", at(klog.also_to_stderr), KLOG_NO_EFFECT },          \
                { "stderrthreshold", FLAG_STRING, "2", at(klog.stderr_threshold), KLOG_NO_EFFECT },          \
                { "log_file_max_size", FLAG_INT, "1800", at(klog.max_file_size),                             \
                  KLOG_NO_EFFECT,      0,        1e15,   false },                                            \
                { "log_backtrace_at", FLAG_STRING, "", at(klog.backtrace_at), KLOG_NO_EFFECT },              \
                { "skip_headers", FLAG_BOOL, "false", at(klog.skip_headers), KLOG_NO_EFFECT },               \
                { "skip_log_headers", FLAG_BOOL, "false", at(klog.skip_log_headers), KLOG_NO_EFFECT },       \
                { "add_dir_header", FLAG_BOOL, "false", at(klog.add_dir_header), KLOG_NO_EFFECT },           \
        {                                                                                                    \
                "one_output", FLAG_BOOL, "false", at(klog.one_output), KLOG_NO_EFFECT                        \
        }
