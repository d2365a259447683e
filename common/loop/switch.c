#include "common/loop/switch.h"

#if defined(__x86_64__) && !defined(ARGOSY_UCONTEXT)

void context_start(void);

/* The order in which context_switch pops. */
struct saved_registers {
        uint64_t r15, r14, r13, r12, rbx, rbp;
        void (*return_address)(void);
};

void context_make(struct context *c, void *stack, size_t size, void (*entry)(void *), void *arg)
{
        /* 16-aligned when context_start begins, as if it had been jumped to. */
        uintptr_t top = ((uintptr_t)stack + size) & ~(uintptr_t)15;
        struct saved_registers *saved = (struct saved_registers *)(void *)top - 1;
        *saved = (struct saved_registers){
                .r12 = (uintptr_t)entry,
                .r13 = (uintptr_t)arg,
                .return_address = context_start,
        };
        c->sp = saved;
}

#else

/* makecontext passes ints only. */
static void start(unsigned entry_high, unsigned entry_low, unsigned arg_high, unsigned arg_low)
{
        uintptr_t entry = (uintptr_t)((uint64_t)entry_high << 32 | entry_low);
        uintptr_t arg = (uintptr_t)((uint64_t)arg_high << 32 | arg_low);
        ((void (*)(void *))entry)((void *)arg);
}

void context_make(struct context *c, void *stack, size_t size, void (*entry)(void *), void *arg)
{
        uint64_t e = (uintptr_t)entry, a = (uintptr_t)arg;
        getcontext(&c->uc);
        c->uc.uc_stack.ss_sp = stack;
        c->uc.uc_stack.ss_size = size;
        c->uc.uc_link = NULL;
        makecontext(&c->uc, (void (*)(void))start, 4, (unsigned)(e >> 32), (unsigned)e, (unsigned)(a >> 32),
                    (unsigned)a);
}

void context_switch(struct context *from, struct context *to)
{
        swapcontext(&from->uc, &to->uc);
}

#endif
