/* The flags of the manifest-generator: spec/flux-yaml.md 1.1. One table gives parsing, defaults and help. */
#pragma once

#include "common/base/arena.h"
#include "common/base/flags.h"

struct generation_flags {
        bool help, json_logs, leader_elect;
        const char *kubeconfig, *health_address, *metrics_address, *leader_election_namespace;
        int64_t lease_duration_ms, renew_deadline_ms, retry_period_ms, verbosity;
        struct klog_flags klog;

        const char *git_url, *git_branch, *git_user, *git_email;
        struct flag_strings git_paths;
        const char *git_label, *git_sync_tag, *git_notes_ref, *git_ci_skip_message, *git_secret_name;
        bool git_readonly, git_set_author, git_ci_skip;
        int64_t git_poll_ms, git_timeout_ms;

        bool generation, generator_cache;
        struct flag_strings generator_env;

        int64_t sync_interval_ms, sync_timeout_ms;
        bool collect, collect_dry, sync_drift;
        const char *sync_state;
        const char *default_namespace;
        struct flag_strings allowed_namespaces;

        int64_t automation_ms, registry_poll_ms;
        bool without_scanning;
        struct flag_strings exclude_images, include_images, insecure_hosts;
        const char *docker_config;

        const char *work_path;

        /* Known, and refused. */
        const char *git_signing_key, *git_verify_mode;
        bool git_verify, git_secret, sops;
        struct flag_strings git_keys;
};

extern const struct flag generation_flag_table[];
extern const size_t n_generation_flags;
/* Rules across flags. ERR_INVALID, or ERR_UNSUPPORTED for what is not in this version. */
int generation_flags_check(const struct generation_flags *f, struct error *err);

/* --git-label overrides both. */
const char *generation_sync_tag(const struct generation_flags *f);
const char *generation_notes_ref(const struct generation_flags *f);
/* --registry-poll-interval is the old name of the first. */
int64_t generation_images_ms(const struct generation_flags *f);
/* The Secret that keeps the state, as a repository that is never written needs; NULL = the tag does. */
const char *generation_state_secret(const struct generation_flags *f);

/* The values between commas of a flag that may be given several times; spaces around them do not count, and
 * empty ones are left out. In the arena. ERR_NO_MEMORY; ERR_LIMIT beyond GENERATION_LIST_MAX. */
#define GENERATION_LIST_MAX 1000
int generation_list(const struct flag_strings *given, struct arena *arena, const char *const **ret,
                    size_t *ret_n, struct error *err);
