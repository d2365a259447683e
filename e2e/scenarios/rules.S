/* The rights the charts give the agents, linked into the test programs, so that agents in tests have these and
 * no others. A change of the files needs `touch` on this one; the linter and the charts' tests read the files. */
        .section .rodata
        .global hub_agent_rules_text, hub_agent_select_rules_text, member_agent_rules_text
        .global member_agent_apply_rules_text, hub_agent_member_policy_text
        .global hub_agent_eviction_policy_text, hub_agent_budget_policy_text, hub_agent_policies_rules_text
        .global hub_agent_webhooks_rules_text, hub_agent_webhooks_role_text, hub_agent_shards_role_text
        .global hub_agent_report_back_rules_text, hub_agent_networking_rules_text
        .global hub_agent_sets_rules_text, hub_agent_sources_rules_text, hub_agent_impersonate_rules_text, rules_of_sets_text
hub_agent_rules_text:
        .incbin "charts/hub-agent/files/rules.yaml"
        .byte 0
hub_agent_select_rules_text:
        .incbin "charts/hub-agent/files/rules-select.yaml"
        .byte 0
hub_agent_report_back_rules_text:
        .incbin "charts/hub-agent/files/rules-report-back.yaml"
        .byte 0
hub_agent_networking_rules_text:
        .incbin "charts/hub-agent/files/rules-networking.yaml"
        .byte 0
hub_agent_sources_rules_text:
        .incbin "charts/hub-agent/files/rules-sources.yaml"
        .byte 0
hub_agent_sets_rules_text:
        .incbin "charts/hub-agent/files/rules-resource-sets.yaml"
        .byte 0
hub_agent_impersonate_rules_text:
        .incbin "charts/hub-agent/files/rules-impersonate.yaml"
        .byte 0
rules_of_sets_text:
        .incbin "charts/hub-agent/files/rules-of-sets.yaml"
        .byte 0
hub_agent_policies_rules_text:
        .incbin "charts/hub-agent/files/rules-policies.yaml"
        .byte 0
hub_agent_webhooks_rules_text:
        .incbin "charts/hub-agent/files/rules-webhooks.yaml"
        .byte 0
hub_agent_webhooks_role_text:
        .incbin "charts/hub-agent/files/role-webhooks.yaml"
        .byte 0
hub_agent_shards_role_text:
        .incbin "charts/hub-agent/files/role-shards.yaml"
        .byte 0
member_agent_rules_text:
        .incbin "charts/member-agent/files/rules.yaml"
        .byte 0
member_agent_apply_rules_text:
        .incbin "charts/member-agent/files/rules-apply.yaml"
        .byte 0
hub_agent_member_policy_text:
        .incbin "charts/hub-agent/files/member-policy.yaml"
        .byte 0
hub_agent_eviction_policy_text:
        .incbin "charts/hub-agent/files/eviction-policy.yaml"
        .byte 0
hub_agent_budget_policy_text:
        .incbin "charts/hub-agent/files/budget-policy.yaml"
        .byte 0
        .section .note.GNU-stack,"",@progbits
