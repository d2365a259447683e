/* Programs of somebody else, run within limits: spec/flux-yaml.md 4. Each runs below a keeper, a process of
 * ours that takes in whatever it leaves behind, so that nothing of it is left afterwards: neither those in
 * its process group, nor those that left it (setsid, daemons). With us the keeper ends too, and they with it.
 *
 * It has no open file but 0 (empty), 1 and 2, the umask 077, no way to new privileges, no core files, all
 * signals as they are by default, and a session of its own.
 *
 * What cannot be prevented without a container of its own: it runs as our user, so it can read what that user
 * can (not our memory or environment, where we are a program that keeps_secrets: common/ctrl/program.h), and
 * end us or its keeper; and what it asks other programs to do (a daemon that was there before) is not ended
 * with it. */
#pragma once

#include "common/base/error.h"

struct confined {
        const char *const *argv; /* NULL-terminated; the first is the program's path */
        const char *const *env;  /* exactly these, NULL-terminated */
        const char *folder;      /* in which it runs */
        bool merges;             /* what it says on 2 goes where what it says on 1 does, in order */
        size_t max_output;       /* of both together; more ends it */
        int64_t time_limit_ms;   /* from its start until it failed, or has ended and let go of 1 and 2 */
        int64_t grace_ms;        /* from TERM to KILL */
        /* 0: as ours. */
        uint64_t max_memory;     /* of addresses, of each process */
        uint64_t max_file_bytes; /* of each file it writes */
        /* Of processes at once. The kernel counts all of our user, everywhere on the machine, so those there
         * are when it begins are found out by trying, and allowed twice. Root is not held to it. */
        uint64_t max_processes;
};

enum confined_how {
        CONFINED_EXITED,    /* number: its exit code */
        CONFINED_SIGNALLED, /* number: of the signal */
        CONFINED_TOO_LONG,  /* it ran into time_limit_ms */
        CONFINED_TOO_MUCH,  /* it said more than max_output */
};

struct confined_end {
        enum confined_how how;
        int number;
        /* What it said, never NULL, NUL-terminated, however it ended; mem_free. With `merges` all is in
         * output. */
        char *output, *errors;
        size_t output_len, errors_len;
};
