/* The process between us and a confined program, and what the two say over their socket. Private to
 * common/loop. */
#pragma once

#include <stdint.h>

#include "common/loop/confined.h"

enum keeper_word_kind {
        KEEPER_ENDED = 1, /* the program; value: its status as of waitpid() */
        KEEPER_NO_PROGRAM,
        KEEPER_NO_FOLDER, /* value: errno, also of the others */
        KEEPER_FAILED,
};

struct keeper_word {
        int32_t kind, value;
};

/* One byte from us; that we hung up is as good as the second. */
#define KEEPER_TERM 'T'
#define KEEPER_KILL 'K'

/* The whole life of a keeper, in a process just made by _Fork() with all signals blocked: only calls that are
 * safe in signal handlers. `out` and `err` are what the program writes to. */
NORETURN void keeper_run(const struct confined *c, int out, int err, int talk);
