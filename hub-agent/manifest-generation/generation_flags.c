#include "hub-agent/manifest-generation/generation_flags.h"

#include "common/base/text.h"
#include "common/base/vec.h"
#include "common/ctrl/program_flags.h"

#define AT(field) offsetof(struct generation_flags, field)

const struct flag generation_flag_table[] = {
        { "help", FLAG_BOOL, "false", AT(help), "Prints this text." },
        { "kubeconfig", FLAG_STRING, "", AT(kubeconfig),
          "Kubeconfig of the hub cluster; in-cluster if empty." },
        ELECTION_FLAGS(AT, "60s", "45s", "5s", "", "Namespace of the lease; the agent's own if empty."),
        ENDPOINT_FLAGS("", "Address", AT(health_address), ":8081", AT(metrics_address), ":8080"),
        LOG_FLAGS(AT),
        { "work-path", FLAG_STRING, "/data", AT(work_path),
          "Folder for the mirror of the repository and for checkouts; it is the agent's alone." },

        { "git-url", FLAG_STRING, "", AT(git_url),
          "Address of the repository: https://..., ssh://...; nothing is synced if empty." },
        { "git-branch", FLAG_STRING, "master", AT(git_branch), "Branch that is read and written." },
        { "git-path", FLAG_STRINGS, "", AT(git_paths),
          "Target path below the root; several may be given, also between commas. None: the root." },
        { "git-poll-interval", FLAG_DURATION, "5m", AT(git_poll_ms), "Time between two fetches." },
        { "git-timeout", FLAG_DURATION, "20s", AT(git_timeout_ms), "How long each operation may take." },
        { "git-label", FLAG_STRING, "", AT(git_label),
          "Name of the sync tag and of the ref of notes, in place of both." },
        { "git-sync-tag", FLAG_STRING, "flux-sync", AT(git_sync_tag), "Name of the sync tag." },
        { "git-notes-ref", FLAG_STRING, "flux", AT(git_notes_ref), "Name of the ref of notes." },
        { "git-readonly", FLAG_BOOL, "false", AT(git_readonly),
          "The repository is never written; the state is kept in the Secret then." },
        { "git-user", FLAG_STRING, "Argosy", AT(git_user), "Committer's name." },
        { "git-email", FLAG_STRING, "argosy@localhost", AT(git_email), "Committer's mail address." },
        { "git-set-author", FLAG_BOOL, "false", AT(git_set_author),
          "The author of a commit is the user of the request." },
        { "git-ci-skip", FLAG_BOOL, "false", AT(git_ci_skip), "Appends \"[ci skip]\" to commit messages." },
        { "git-ci-skip-message", FLAG_STRING, "", AT(git_ci_skip_message),
          "Appends this text to commit messages instead." },
        { "k8s-secret-name", FLAG_STRING, "flux-git-deploy", AT(git_secret_name),
          "Secret in the agent's namespace with the credentials of the repository: identity and "
          "known_hosts, or username and password." },

        { "manifest-generation", FLAG_BOOL, "false", AT(generation),
          "Looks for .flux.yaml, whose commands are run; without it every target path is raw." },
        { "generator-cache", FLAG_BOOL, "true", AT(generator_cache),
          "What was generated of a commit is not generated again." },
        { "generator-env", FLAG_STRINGS, "", AT(generator_env),
          "Variables that generators see although their names end in TOKEN, PASSWORD, SECRET or KEY; also "
          "between commas." },

        { "sync-interval", FLAG_DURATION, "5m", AT(sync_interval_ms), "A sync at least this often." },
        { "sync-timeout", FLAG_DURATION, "1m", AT(sync_timeout_ms), "How long a command may take." },
        { "sync-garbage-collection", FLAG_BOOL, "false", AT(collect),
          "Objects that are not in the repository any more are deleted." },
        { "sync-garbage-collection-dry", FLAG_BOOL, "false", AT(collect_dry),
          "Only logs what would be deleted; implies the one above." },
        { "sync-drift", FLAG_BOOL, "true", AT(sync_drift),
          "What is changed on the hub is mended at once, not at the next sync." },
        { "sync-state", FLAG_STRING, "git", AT(sync_state),
          "Where the last synced commit is kept: git (a tag) or secret (an annotation)." },
        { "k8s-default-namespace", FLAG_STRING, "", AT(default_namespace),
          "Namespace of namespaced objects without one; that of the kubeconfig's context if empty." },
        { "k8s-allow-namespace", FLAG_STRINGS, "", AT(allowed_namespaces),
          "The only namespaces that are read and written; several may be given, also between commas." },

        { "automation-interval", FLAG_DURATION, "5m", AT(automation_ms), "Time between two image polls." },
        { "registry-poll-interval", FLAG_DURATION, "0s", AT(registry_poll_ms),
          "The same, under its old name; counts where automation-interval is not given." },
        { "registry-disable-scanning", FLAG_BOOL, "false", AT(without_scanning),
          "Registries are never asked, so nothing is released automatically." },
        { "registry-exclude-image", FLAG_STRINGS, "", AT(exclude_images),
          "Globs of images that are not looked at; also between commas. Default: k8s.gcr.io/*." },
        { "registry-include-image", FLAG_STRINGS, "", AT(include_images),
          "Globs of the only images that are looked at; also between commas." },
        { "registry-insecure-host", FLAG_STRINGS, "", AT(insecure_hosts),
          "Registries that may be asked over http; also between commas." },
        { "docker-config", FLAG_STRING, "", AT(docker_config),
          "File with credentials of registries, for images whose Secrets have none." },

        { "git-signing-key", FLAG_STRING, "", AT(git_signing_key), "Refused: commits are not signed." },
        { "git-verify-signatures", FLAG_BOOL, "false", AT(git_verify),
          "Refused: signatures are not verified." },
        { "git-verify-signatures-mode", FLAG_STRING, "", AT(git_verify_mode),
          "Refused: signatures are not verified." },
        { "git-gpg-key-import", FLAG_STRINGS, "", AT(git_keys), "Refused: no keys are imported." },
        { "git-secret", FLAG_BOOL, "false", AT(git_secret), "Refused: git-secret is not run." },
        { "sops", FLAG_BOOL, "false", AT(sops), "Refused: files are not decrypted." },
        KLOG_FLAGS(AT),
};
const size_t n_generation_flags = ARRAY_LEN(generation_flag_table);

/* ---- rules ---- */

static int check_missing(const struct generation_flags *f, struct error *err)
{
        const struct {
                bool asked;
                const char *flag, *why;
        } refused[] = { { !text_empty(f->git_signing_key), "git-signing-key", "commits are not signed" },
                        { f->git_verify, "git-verify-signatures", "signatures are not verified" },
                        { !text_empty(f->git_verify_mode) && !text_equal(f->git_verify_mode, "none"),
                          "git-verify-signatures-mode", "signatures are not verified" },
                        { f->git_keys.n > 0, "git-gpg-key-import", "no keys are imported" },
                        { f->git_secret, "git-secret", "git-secret is not run" },
                        { f->sops, "sops", "files are not decrypted" } };

        for (size_t i = 0; i < ARRAY_LEN(refused); i++)
                if (refused[i].asked)
                        return error_set(err, ERR_UNSUPPORTED, "--%s is not in this version: %s",
                                         refused[i].flag, refused[i].why);
        return 0;
}

static int check_paths(const struct generation_flags *f, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const char *const *paths;
        size_t n;

        TRY(generation_list(&f->git_paths, &arena, &paths, &n, err));
        for (size_t i = 0; i < n; i++)
                if (*paths[i] == '/')
                        return error_set(
                                err, ERR_INVALID,
                                "subdirectory given as --git-path should not have leading forward slash");
        return 0;
}

static int check_times(const struct generation_flags *f, struct error *err)
{
        const struct {
                int64_t ms;
                const char *flag;
        } times[] = { { f->git_poll_ms, "git-poll-interval" },
                      { f->git_timeout_ms, "git-timeout" },
                      { f->sync_interval_ms, "sync-interval" },
                      { f->sync_timeout_ms, "sync-timeout" },
                      { f->automation_ms, "automation-interval" } };

        for (size_t i = 0; i < ARRAY_LEN(times); i++)
                if (times[i].ms < 1000)
                        return error_set(err, ERR_INVALID, "--%s must be at least 1s", times[i].flag);
        if (f->registry_poll_ms < 0)
                return error_set(err, ERR_INVALID, "--registry-poll-interval must not be negative");
        return 0;
}

/* A name that is one part of a ref's. */
static bool is_ref_part(const char *s)
{
        return !text_empty(s) && *s != '-' && *s != '/' && *s != '.' && !strpbrk(s, " ~^:?*[\\\x7f\t\n") &&
               !strstr(s, "..") && !strstr(s, "//") && !strstr(s, "@{") && !text_ends_with(s, "/") &&
               !text_ends_with(s, ".") && !text_ends_with(s, ".lock");
}

static int check_refs(const struct generation_flags *f, struct error *err)
{
        const struct {
                const char *value, *flag;
        } refs[] = { { f->git_branch, "git-branch" },
                     { generation_sync_tag(f), "git-sync-tag" },
                     { generation_notes_ref(f), "git-notes-ref" } };

        for (size_t i = 0; i < ARRAY_LEN(refs); i++)
                if (!is_ref_part(refs[i].value))
                        return error_set(err, ERR_INVALID, "--%s: \"%s\" is no name of a ref", refs[i].flag,
                                         refs[i].value);
        return 0;
}

static int check_election(const struct generation_flags *f, struct error *err)
{
        if (f->lease_duration_ms > f->renew_deadline_ms && f->renew_deadline_ms > f->retry_period_ms &&
            f->retry_period_ms > 0)
                return 0;
        return error_set(err, ERR_INVALID,
                         "leader-lease-duration > leader-renew-deadline > leader-retry-period must hold");
}

int generation_flags_check(const struct generation_flags *f, struct error *err)
{
        TRY(check_paths(f, err));
        TRY(check_missing(f, err));
        TRY(check_times(f, err));
        TRY(check_refs(f, err));
        TRY(check_election(f, err));
        if (text_empty(f->work_path))
                return error_set(err, ERR_INVALID, "--work-path must not be empty");
        if (!text_equal(f->sync_state, "git") && !text_equal(f->sync_state, "secret"))
                return error_set(err, ERR_INVALID, "--sync-state must be git or secret, is \"%s\"",
                                 f->sync_state);
        return 0;
}

/* ---- what they come to ---- */

#define AUTOMATION_MS 300000 /* the default */

static const char *labelled(const struct generation_flags *f, const char *own)
{
        return text_empty(f->git_label) ? own : f->git_label;
}

const char *generation_sync_tag(const struct generation_flags *f)
{
        return labelled(f, f->git_sync_tag);
}

const char *generation_notes_ref(const struct generation_flags *f)
{
        return labelled(f, f->git_notes_ref);
}

int64_t generation_images_ms(const struct generation_flags *f)
{
        return f->registry_poll_ms > 0 && f->automation_ms == AUTOMATION_MS ? f->registry_poll_ms
                                                                            : f->automation_ms;
}

const char *generation_state_secret(const struct generation_flags *f)
{
        return f->git_readonly || text_equal(f->sync_state, "secret") ? f->git_secret_name : NULL;
}

/* ---- lists ---- */

typedef VEC(const char *) texts;

static int split(const char *given, struct arena *arena, texts *into, struct error *err)
{
        struct slice rest = slice_of(given), part;

        for (bool more = true; more;) {
                more = slice_cut(&rest, ',', &part);
                part = slice_trim(part);
                if (part.len == 0)
                        continue;
                if (into->n == GENERATION_LIST_MAX)
                        return error_set(err, ERR_LIMIT, "more than %d values of one flag",
                                         GENERATION_LIST_MAX);
                if (vec_push(into, arena_strndup(arena, part.data, part.len)) < 0 || !into->at[into->n - 1])
                        return error_no_memory(err);
        }
        return 0;
}

int generation_list(const struct flag_strings *given, struct arena *arena, const char *const **ret,
                    size_t *ret_n, struct error *err)
{
        texts all = VEC_INIT;
        const char **copy;
        int code = 0;

        for (size_t i = 0; code == 0 && i < given->n; i++)
                code = split(given->at[i], arena, &all, err);
        copy = code == 0 ? arena_memdup(arena, all.at ? (const void *)all.at : "", all.n * sizeof(*copy))
                         : NULL;
        if (code == 0 && !copy)
                code = error_no_memory(err);
        if (code == 0) {
                *ret = copy;
                *ret_n = all.n;
        }
        vec_free(&all);
        return code;
}
