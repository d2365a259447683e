/* Switching between stacks: registers only, no signals, no allocation. */
#pragma once

#include "common/base/base.h"

#if defined(__x86_64__) && !defined(ARGOSY_UCONTEXT)

/* A suspended context is its stack pointer; the callee-saved registers lie on the stack. */
struct context {
        void *sp;
};

#else

#include <ucontext.h>

struct context {
        ucontext_t uc;
};

#endif

/* Makes a context that calls entry(arg) on the given stack when first switched to; entry never returns. */
void context_make(struct context *c, void *stack, size_t size, void (*entry)(void *), void *arg);
void context_switch(struct context *from, struct context *to);
