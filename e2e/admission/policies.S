/* The specs of the chart's admission policies that stand for the guard rail, linked into the tests. */
        .section .rodata
        .global guard_who_text, guard_definitions_text, guard_namespaces_text, guard_members_text
        .global guard_content_text, guard_member_content_text
guard_who_text:
        .incbin "charts/hub-agent/files/guard/who.yaml"
        .byte 0
guard_definitions_text:
        .incbin "charts/hub-agent/files/guard/definitions.yaml"
        .byte 0
guard_namespaces_text:
        .incbin "charts/hub-agent/files/guard/namespaces.yaml"
        .byte 0
guard_members_text:
        .incbin "charts/hub-agent/files/guard/members.yaml"
        .byte 0
guard_content_text:
        .incbin "charts/hub-agent/files/guard/content.yaml"
        .byte 0
guard_member_content_text:
        .incbin "charts/hub-agent/files/guard/member-content.yaml"
        .byte 0
        .section .note.GNU-stack,"",@progbits
