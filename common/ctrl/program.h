/* What all programs have in common: flags in, a real world, one fiber that does the work, a signal that ends
 * it, an exit code. A main fills the description and calls program_main. */
#pragma once

#include "common/base/flags.h"
#include "common/base/log.h"
#include "common/loop/world.h"

struct program {
        const char *name;
        const char *about; /* the help's first words; may be NULL */
        const struct flag *flags;
        size_t n_flags;
        void *values;     /* options struct the flags are read into */
        const bool *help; /* in it: --help was given */
        /* Rules across flags, where to log to; before anything is opened. An error is exit code 1. */
        int (*check)(struct program *p, struct error *err);
        /* The work. A signal cancels it; an error after that is no failure. */
        int (*run)(struct program *p, struct error *err);
        /* After run, not cancelled; may be NULL. */
        void (*close)(struct program *p);
        bool keeps_secrets;         /* in its memory: it leaves no core file */
        bool tool;                  /* run's error is told as a plain sentence, not in the log */
        enum log_format log_format; /* check may set both */
        enum log_level log_level;

        /* Set from check on: */
        const struct log_sink *sink;
        struct log log;
        /* Set from run on: */
        struct loop *loop;
        struct world world;          /* with an HTTP transport */
        struct fiber_group *group;   /* for what run starts; ended after close */
        bool stopping;               /* a signal came */
        struct fiber_group *working; /* private: holds the fiber of run */
        int code;
};

/* --version alone prints name and version. Flags that ask for what is missing are warned of
 * (flags_log_missing). Exit code: 0 = done, or ended by a signal; 1 = failed, told on stderr; 2 = bad flags.
 */
int program_main(struct program *p, int argc, char **argv);
/* The same for who reads its command line itself: flags, values, help, check and about are not looked at. */
int program_run(struct program *p);
/* Parks until a signal comes. From run. Returns 0. */
int program_wait(struct program *p);
