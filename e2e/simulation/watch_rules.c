/* The rules that every run is held to. A test that has rules of its own defines another table. */
#include "e2e/simulation/rules.h"

const struct rule *const watch_rules[] = { &rule_one_leader,
                                           &rule_live_bindings,
                                           &rule_binding_after_works,
                                           &rule_fresh_news,
                                           &rule_latest_snapshot,
                                           &rule_index_once,
                                           &rule_budget,
                                           &rule_picks,
                                           &rule_external,
                                           &rule_evictions,
                                           &rule_run_forward,
                                           &rule_run_stages_in_order,
                                           &rule_run_clusters,
                                           &rule_work_after_objects,
                                           &rule_wanted_stays,
                                           &rule_one_owner,
                                           &rule_not_ours,
                                           &rule_tidy,
                                           &rule_state,
                                           &rule_quiet,
                                           NULL };
