/* The texts beside this file, linked into the program: no file is read at run time. */
        .section .rodata
        .global builtin_types_text, builtin_types_end, builtin_resources_text, builtin_resources_end
        .global builtin_protobuf_text, builtin_protobuf_end
builtin_types_text:
        .incbin "e2e/devcluster/builtin/types.txt"
builtin_types_end:
        .byte 0
builtin_resources_text:
        .incbin "e2e/devcluster/builtin/resources.txt"
builtin_resources_end:
        .byte 0
builtin_protobuf_text:
        .incbin "e2e/devcluster/builtin/protobuf.txt"
builtin_protobuf_end:
        .byte 0
        .section .note.GNU-stack,"",@progbits
