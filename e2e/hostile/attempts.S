/* The table beside this file, linked into the program. */
        .section .rodata
        .global hostile_attempts_text
hostile_attempts_text:
        .incbin "e2e/hostile/attempts.yaml"
        .byte 0
        .section .note.GNU-stack,"",@progbits
