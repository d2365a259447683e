#include "member-agent/apply/decode.h"

#include "member-agent/apply/clean.h"

int strategy_of_work(const struct work *w, struct strategy *ret, struct error *err)
{
        const struct apply_strategy *s = w->spec ? w->spec->apply_strategy : NULL;

        TRY(strategy_from_words(s ? s->type : NULL, s ? s->comparison_option : NULL,
                                s ? s->when_to_apply : NULL, s ? s->when_to_take_over : NULL, ret, err));
        ret->allow_co_ownership = s && s->allow_co_ownership.value;
        ret->force = s && s->server_side_apply_config && s->server_side_apply_config->force.value;
        return 0;
}

const char *work_only_namespace(const struct work *w)
{
        const struct string_map *labels = &w->object.meta.labels;
        const char *ns = string_map_get(labels, LABEL_PARENT_PLACEMENT_NAMESPACE);

        if (text_empty(ns) && text_equal(string_map_get(labels, LABEL_ENVELOPE_TYPE), ENVELOPE_RESOURCE))
                ns = string_map_get(labels, LABEL_ENVELOPE_NAMESPACE);
        return text_empty(ns) ? NULL : ns;
}

int manifest_map(struct manifest *m, struct kube_mapper *mapper, const char *only_ns, struct arena *arena,
                 struct error *err)
{
        struct error why = { 0 };
        struct kube_mapped mapped;
        int r = kube_mapper_kind(mapper, m->group, m->version, m->kind, &mapped, &why);

        if (r == ERR_NO_MEMORY || r == ERR_CANCELLED) {
                *err = why;
                return r;
        }
        if (r == 0) {
                m->resource = mapped.resource;
                r = manifest_check_place(m, only_ns, &why);
        }
        if (r == 0)
                r = ignore_rules_read(m->doc, arena, &m->ignored, &why);
        if (r == ERR_NO_MEMORY)
                return error_no_memory(err);
        if (r < 0) {
                if (manifest_fail(m, arena, RESULT_DECODING_ERRED, "failed to decode manifest: ", &why) < 0)
                        return error_no_memory(err);
                m->unanswered |= error_is_retryable(r); /* which kinds there are could not be told */
                return 0;
        }
        m->result = RESULT_NONE;
        m->cause = "";
        m->unanswered = false;
        return 0;
}

static int decode(struct manifest *m, int ordinal, struct slice text, struct kube_mapper *mapper,
                  const char *only_ns, struct arena *arena, struct error *err)
{
        TRY(manifest_decode(m, ordinal, text, arena, err));
        if (m->name && !(m->key = object_identity(m->group, m->kind, m->ns ? m->ns : "", m->name, arena)))
                return error_no_memory(err);
        if (m->result != RESULT_NONE)
                return 0;
        TRY(manifest_map(m, mapper, only_ns, arena, err));
        return clean_hash(m->doc, m->hash, err);
}

int manifests_of_work(const struct work *w, struct kube_mapper *mapper, struct arena *arena,
                      struct manifest **ret, size_t *ret_n, struct error *err)
{
        const struct raw_list *texts = w->spec && w->spec->workload ? &w->spec->workload->manifests : NULL;
        size_t n = texts ? texts->n : 0;
        struct manifest *all = ARENA_NEW_ARRAY(arena, struct manifest, n + 1);

        if (!all)
                return error_no_memory(err);
        for (size_t i = 0; i < n; i++)
                TRY(decode(&all[i], (int)i, texts->at[i], mapper, work_only_namespace(w), arena, err));
        TRY(manifest_mark_duplicates(all, n, err));
        *ret = all;
        *ret_n = n;
        return 0;
}
