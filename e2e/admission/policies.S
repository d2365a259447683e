/* The specs of the chart's admission policies that say what webhooks say, linked into the tests. */
        .section .rodata
        .global guard_who_text
        .global guard_definitions_text
        .global guard_namespaces_text
        .global guard_members_text
        .global guard_content_text
        .global guard_member_content_text
        .global rules_words_text
        .global rules_workloads_text
        .global rules_pod_budgets_text
        .global rules_taints_text
        .global rules_overrides_text
        .global rules_placements_text
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
rules_words_text:
        .incbin "charts/hub-agent/files/webhook-rules/words.yaml"
        .byte 0
rules_workloads_text:
        .incbin "charts/hub-agent/files/webhook-rules/workloads.yaml"
        .byte 0
rules_pod_budgets_text:
        .incbin "charts/hub-agent/files/webhook-rules/pod-budgets.yaml"
        .byte 0
rules_taints_text:
        .incbin "charts/hub-agent/files/webhook-rules/taints.yaml"
        .byte 0
rules_overrides_text:
        .incbin "charts/hub-agent/files/webhook-rules/overrides.yaml"
        .byte 0
rules_placements_text:
        .incbin "charts/hub-agent/files/webhook-rules/placements.yaml"
        .byte 0
        .section .note.GNU-stack,"",@progbits
