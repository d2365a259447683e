/* The trusted root of sigstore's public instance, which its update server publishes as trusted_root.json and
 * the PyPI package sigstore 4.5.1 carries (below sigstore/_store), byte for byte. A newer one is given with
 * --sigstore-trusted-root. */
        .section .rodata
        .global public_good_root_text
public_good_root_text:
        .incbin "hub-agent/source/verify/public_good_root.json"
        .byte 0
        .section .note.GNU-stack,"",@progbits
