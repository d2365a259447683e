/* void context_switch(struct context *from, struct context *to)
 * Saves what the System V ABI lets a call keep, changes stacks, and returns into the other context. The floating
 * point control words are not saved: nothing here changes them. */
#if defined(__x86_64__) && !defined(ARGOSY_UCONTEXT)
        .text
        .globl  context_switch
        .hidden context_switch
        .type   context_switch, @function
        .balign 16
context_switch:
        .cfi_startproc
        endbr64
        pushq   %rbp
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset rbp, 0
        pushq   %rbx
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset rbx, 0
        pushq   %r12
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset r12, 0
        pushq   %r13
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset r13, 0
        pushq   %r14
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset r14, 0
        pushq   %r15
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset r15, 0
        movq    %rsp, (%rdi)
        movq    (%rsi), %rsp
        popq    %r15
        .cfi_adjust_cfa_offset -8
        .cfi_restore r15
        popq    %r14
        .cfi_adjust_cfa_offset -8
        .cfi_restore r14
        popq    %r13
        .cfi_adjust_cfa_offset -8
        .cfi_restore r13
        popq    %r12
        .cfi_adjust_cfa_offset -8
        .cfi_restore r12
        popq    %rbx
        .cfi_adjust_cfa_offset -8
        .cfi_restore rbx
        popq    %rbp
        .cfi_adjust_cfa_offset -8
        .cfi_restore rbp
        ret
        .cfi_endproc
        .size   context_switch, . - context_switch

/* First frame of a context: context_make put entry into r12 and its argument into r13. Unwinders stop here. */
        .globl  context_start
        .hidden context_start
        .type   context_start, @function
        .balign 16
context_start:
        .cfi_startproc
        .cfi_undefined rip
        endbr64
        movq    %r13, %rdi
        call    *%r12
        ud2
        .cfi_endproc
        .size   context_start, . - context_start
#endif
        .section .note.GNU-stack, "", @progbits
