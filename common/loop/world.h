/* The world: everything that is not a function of its inputs, handed in. Real agents get world_real(); the
 * simulation hands each agent a world of its own with the simulated loop, a virtual disk and the loopback
 * transport. No code outside common/loop and common/net calls the system for these. */
#pragma once

#include "common/loop/loop.h"

struct http_transport; /* common/net/http.h */
struct confined;       /* common/loop/confined.h */
struct confined_end;

struct world {
        struct loop *loop;                /* clock, random, timers, fibers */
        struct http_transport *transport; /* how HTTP requests leave: libcurl or loopback */
        const struct log_sink *log_sink;
        const struct world_files *files; /* never NULL */
        const struct world_process *process;
        int64_t began_ms; /* wall time at which it was made: with the process, in the real one */
        void *ctx;        /* of the files and process tables */
};

/* Small-file access (kubeconfig, tokens, CA bundles). Paths may be followed through links only where
 * Kubernetes itself uses them (projected tokens); writes go to a temporary name, mode 0600, then rename. */
struct world_files {
        /* Reads at most max bytes; mem_free the result; NUL-terminated. ERR_NOT_FOUND, ERR_LIMIT, ERR_SYSTEM.
         */
        int (*read)(void *ctx, const char *path, size_t max, char **ret_data, size_t *ret_len,
                    struct error *err);
        int (*write)(void *ctx, const char *path, const void *data, size_t len, struct error *err);
        /* Changes whenever the file may have changed (inode, size, mtime mixed); 0 if it cannot be read. */
        uint64_t (*stamp)(void *ctx, const char *path);
        int (*make_directory)(void *ctx, const char *path,
                              struct error *err); /* with parents; exists is fine */
        int (*remove)(void *ctx, const char *path, struct error *err);
        /* What is in a folder, sorted by name, without "." and "..": names one behind the other, each ended
         * by a NUL, an empty one behind the last; mem_free the block. ERR_UNSUPPORTED: it is no folder. May
         * be NULL in worlds without folders. */
        int (*list)(void *ctx, const char *path, char **ret_names, struct error *err);
};

/* A program that is run to its end. Its standard error is ours. */
struct world_command {
        const char *const *argv; /* NULL-terminated; without a slash the first is looked for on the PATH */
        const char *const *env;  /* NAME=value beside and in place of ours, NULL-terminated; may be NULL */
        bool reads_input;        /* our standard input is its; else it has none */
        size_t max_output;
};

/* What the process uses at this moment. */
struct world_usage {
        int64_t cpu_us; /* processor time */
        uint64_t resident_bytes, virtual_bytes, open_files, most_files;
};

/* Environment and signals of the process; the simulation has none. */
struct world_process {
        const char *(*getenv)(void *ctx, const char *name);
        int64_t (*cpu_us)(void *ctx); /* CPU time used */
        /* For metrics; NULL where a process is not one agent. ERR_SYSTEM: it cannot be told. */
        int (*usage)(void *ctx, struct world_usage *ret);
        /* Parks until the program has ended and its output was read; mem_free that, wiped: it may hold
         * secrets. *ret_code is its exit code, 128 and the signal's number where one ended it. ERR_NOT_FOUND:
         * there is no such program; ERR_LIMIT: it said more than max_output; ERR_CANCELLED: it was asked to
         * end, and killed when it did not. NULL where nothing can be run. */
        int (*run)(void *ctx, const struct world_command *c, char **ret_output, size_t *ret_len,
                   int *ret_code, struct error *err);
        /* A program of somebody else: parks until nothing of it is left. 0: it was started, *ret tells the
         * rest. ERR_NOT_FOUND: there is no such program; ERR_INVALID: no such folder; ERR_CANCELLED: as
         * above; ERR_SYSTEM. NULL where none can be run. */
        int (*run_confined)(void *ctx, const struct confined *c, struct confined_end *ret, struct error *err);
        /* All of it: NAME=value, NULL-terminated, borrowed. NULL where there is none. */
        const char *const *(*environment)(void *ctx);
};

/* Fills a world on the real backend; transport stays NULL until common/net sets it. */
void world_init_real(struct world *w, struct loop *l, const struct log_sink *sink);
const struct log_sink *log_sink_stderr(enum log_format format, enum log_level least); /* for mains */

/* From now on this process leaves no core file, and others of the same user cannot read its memory: for mains
 * whose memory holds secrets. For the whole process, so no part of a world. */
int world_forbid_core_files(struct error *err);

/* SIGTERM and SIGINT call fn once, from the loop. Real backend only. */
int world_on_terminate(struct world *w, void (*fn)(void *ctx), void *ctx, struct error *err);
