/* A Work's manifests, decoded and found their resources, and as whom they are applied:
 * spec/member-agent.md 2.3. */
#include "member-agent/apply/clean.h"
#include "member-agent/apply/pass.h"

/* The only namespace that this Work may reach: that of its placement, or of the ResourceEnvelope it was in.
 * NULL = all of the cluster. */
static const char *only_namespace(const struct pass *p)
{
        const struct string_map *labels = &p->work->object.meta.labels;
        const char *ns = string_map_get(labels, LABEL_PARENT_PLACEMENT_NAMESPACE);

        if (text_empty(ns) && text_equal(string_map_get(labels, LABEL_ENVELOPE_TYPE), ENVELOPE_RESOURCE))
                ns = string_map_get(labels, LABEL_ENVELOPE_NAMESPACE);
        return text_empty(ns) ? NULL : ns;
}

int pass_choose_account(struct pass *p, struct error *err)
{
        const char *account = p->agent->options->namespace_account, *ns = only_namespace(p);

        p->objects = p->agent->member;
        if (text_empty(account) || !ns)
                return 0;
        p->objects.connection = NULL;
        p->objects.impersonate = arena_printf(p->arena, "system:serviceaccount:%s:%s", ns, account);
        return p->objects.impersonate ? 0 : error_no_memory(err);
}

int pass_map_manifest(struct pass *p, struct manifest *m, struct error *err)
{
        struct error why = { 0 };
        struct kube_mapped mapped;
        int r = kube_mapper_kind(p->agent->mapper, m->group, m->version, m->kind, &mapped, &why);

        if (r == ERR_NO_MEMORY || r == ERR_CANCELLED) {
                *err = why;
                return r;
        }
        if (r == 0) {
                m->resource = mapped.resource;
                r = manifest_check_place(m, only_namespace(p), &why);
        }
        if (r == 0)
                r = ignore_rules_read(m->doc, p->arena, &m->ignored, &why);
        if (r == ERR_NO_MEMORY)
                return error_no_memory(err);
        if (r < 0) {
                if (manifest_fail(m, p->arena, RESULT_DECODING_ERRED, "failed to decode manifest: ", &why) <
                    0)
                        return error_no_memory(err);
                m->unanswered |= error_is_retryable(r); /* which kinds there are could not be told */
                return 0;
        }
        m->result = RESULT_NONE;
        m->cause = "";
        m->unanswered = false;
        return 0;
}

int pass_decode_manifests(struct pass *p, struct error *err)
{
        const struct raw_list *texts =
                p->work->spec && p->work->spec->workload ? &p->work->spec->workload->manifests : NULL;

        p->n = texts ? texts->n : 0;
        p->manifests = ARENA_NEW_ARRAY(p->arena, struct manifest, p->n + 1);
        if (!p->manifests)
                return error_no_memory(err);
        for (size_t i = 0; i < p->n; i++) {
                struct manifest *m = &p->manifests[i];

                TRY(manifest_decode(m, (int)i, texts->at[i], p->arena, err));
                if (m->name &&
                    !(m->key = object_identity(m->group, m->kind, m->ns ? m->ns : "", m->name, p->arena)))
                        return error_no_memory(err);
                if (m->result != RESULT_NONE)
                        continue;
                TRY(pass_map_manifest(p, m, err));
                TRY(clean_hash(m->doc, m->hash, err));
        }
        return manifest_mark_duplicates(p->manifests, p->n, err);
}
