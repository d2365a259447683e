/* Which commit was synced last: in the sync tag, or on the repository's Secret. spec/flux-yaml.md 8. */
#include "hub-agent/manifest-generation/generation_agent.h"

#define ANNOTATION_SYNCED "flux.weave.works/sync-hwm"

static const struct kube_resource secrets = { "", "v1", "secrets", "Secret", true };
static const struct kube_write written = { .field_manager = GENERATION_COMPONENT };

/* ---- the Secret ---- */

static int read_secret(struct generator_agent *a, struct git_hash *ret, struct error *err)
{
        const struct generation_options *o = a->options;
        AUTO_JSON json_t *secret = NULL;
        const char *value;
        int code = kube_doc_get(&a->kube, &secrets, o->agent_namespace, o->state_secret, &secret, err);

        if (code == ERR_NOT_FOUND) {
                error_clear(err);
                return 0;
        }
        TRY(code);
        value = sync_annotation(secret, ANNOTATION_SYNCED);
        if (!text_empty(value) && git_hash_parse(value, ret, NULL) < 0) {
                log_warn(&a->log, "what the Secret says was synced is no commit; all is synced", "secret",
                         o->state_secret);
                *ret = (struct git_hash){ "" };
        }
        return 0;
}

static int write_secret(struct generator_agent *a, const struct git_hash *to, struct error *err)
{
        const struct generation_options *o = a->options;
        AUTO_JSON json_t *patch =
                json_pack("{s:{s:{s:s}}}", "metadata", "annotations", ANNOTATION_SYNCED, to->hex);
        AUTO_JSON json_t *answer = NULL;
        int code;

        if (!patch)
                return error_no_memory(err);
        code = kube_doc_patch(&a->kube, &secrets, o->agent_namespace, o->state_secret, KUBE_PATCH_MERGE,
                              patch, &written, &answer, err);
        if (code != ERR_NOT_FOUND)
                return code;
        error_clear(err);
        if (doc_set_string(patch, "apiVersion", "v1") < 0 || doc_set_string(patch, "kind", "Secret") < 0 ||
            doc_set_string(patch, "metadata.name", o->state_secret) < 0)
                return error_no_memory(err);
        return kube_doc_create(&a->kube, &secrets, o->agent_namespace, patch, &written, &answer, err);
}

/* ---- both ---- */

/* Told once for each time that it is so. */
static void tell_moved(struct generator_agent *a, const struct git_hash *now)
{
        bool moved = a->recorded && !git_hash_equal(&a->state, now);

        if (moved && !a->told_moved)
                log_warn(&a->log,
                         "detected external change in sync state; the sync state should not be shared by "
                         "fluxd instances",
                         "was", a->state.hex, "is", now->hex);
        a->told_moved |= moved;
}

int sync_state_read(struct generator_agent *a, struct git_hash *ret, struct error *err)
{
        const struct repository *r = &a->options->repository;
        struct git_hash found = { "" };

        TRY(a->options->state_secret ? read_secret(a, &found, err) : r->ops->synced(r->ctx, &found, err));
        tell_moved(a, &found);
        a->recorded = true;
        a->state = found;
        *ret = found;
        return 0;
}

int sync_state_write(struct generator_agent *a, const struct git_hash *to, struct error *err)
{
        const struct repository *r = &a->options->repository;

        if (git_hash_equal(&a->state, to))
                return 0;
        TRY(a->options->state_secret ? write_secret(a, to, err) : r->ops->set_synced(r->ctx, to, err));
        a->state = *to;
        a->recorded = true;
        return 0;
}
