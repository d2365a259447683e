/* The objects of a phase are made, adopted or put right, and judged: spec/cluster-object-set.md 8, 10. */
#include "member-agent/apply/clean.h"
#include "member-agent/object-set/probe.h"
#include "member-agent/object-set/set_phase.h"

/* ---- writing: 8 ---- */

static int send(struct phase *f, struct set_item *item, enum kube_patch_type type, const json_t *body,
                bool force, struct error *why)
{
        const struct kube_write write = { .field_manager = FIELD_MANAGER_OBJECT_SET, .force = force };
        json_t *answer = NULL;

        TRY(kube_doc_patch(f->p->rc->kube, &item->resource, phase_ns_of(item), item->object->name, type, body,
                           &write, &answer, why));
        item->live = answer;
        return doc_keep(f->docs, answer, why);
}

static int convert(struct phase *f, struct set_item *item, struct error *why)
{
        AUTO_JSON json_t *patch = NULL;

        TRY(want_conversion(item->live, &patch, why));
        return patch ? send(f, item, KUBE_PATCH_MERGE, patch, false, why) : 0;
}

static int create(struct phase *f, struct set_item *item, struct error *why)
{
        static const struct kube_write write = { .field_manager = FIELD_MANAGER_OBJECT_SET };
        json_t *answer = NULL;

        TRY(phase_create(f, item, &write, &answer, why));
        item->live = answer;
        TRY(doc_keep(f->docs, answer, why));
        return convert(f, item, why);
}

static int adopt(struct phase *f, struct set_item *item, struct error *why)
{
        AUTO_JSON json_t *body = NULL;
        const char *title = set_object_title(item->object, f->p->arena);

        TRY(convert(f, item, why));
        TRY(want_adoption(item->prepared, item->live, &body, why));
        TRY(send(f, item, KUBE_PATCH_APPLY, body, true, why));
        rc_event(f->p->rc, &f->p->set->object, EVENT_TYPE_NORMAL, EVENT_SET_ADOPTED_OBJECT, "%s",
                 or_empty(title));
        return 0;
}

static int put_right(struct phase *f, struct set_item *item, struct error *why)
{
        AUTO_JSON json_t *body = NULL;
        enum want want;

        TRY(convert(f, item, why));
        TRY(want_compare(item->prepared, item->live, &want, why));
        if (want == WANT_NOTHING)
                return 0;
        TRY(want_request(item->prepared, item->live, &body, why));
        if (send(f, item, KUBE_PATCH_APPLY, body, want == WANT_RECOVER, why) < 0)
                return want == WANT_RECOVER ? why->code : error_wrap(why, "patching (modified)");
        return 0;
}

static int write_once(struct phase *f, struct set_item *item, struct error *why)
{
        switch (item->claim.claim) {
        case CLAIM_CREATE:
                return create(f, item, why);
        case CLAIM_ADOPT:
                return adopt(f, item, why);
        case CLAIM_KEEP:
                return put_right(f, item, why);
        default:
                return 0;
        }
}

/* Of what is written anew without having been wanted otherwise. */
static bool was_right(const struct phase *f, const struct set_item *item)
{
        const struct row *row = set_row_of(f->p, item);

        return row && row->state == ROW_APPLIED && text_equal(row->hash, item->hash);
}

/* Who is not the first decides anew, by what is there: a write is bound to what was judged. */
static int write_it(struct phase *f, struct set_item *item, struct error *why)
{
        int r = ERR_CONFLICT;

        for (int i = 0; (r == ERR_EXISTS || r == ERR_CONFLICT) && i < LOOK_AGAIN_TRIES; i++) {
                if (i > 0) {
                        error_clear(why);
                        TRY(phase_look(f, item, why));
                        TRY(phase_decide(f, item, why));
                }
                r = item->to_write ? write_once(f, item, why) : 0;
        }
        if (r == 0 && was_right(f, item))
                set_metrics_corrected(f->p);
        return r;
}

/* ---- judging: 10 ---- */

static bool is_default_class(const json_t *class)
{
        return text_equal(clean_annotation(class, "storageclass.kubernetes.io/is-default-class"), "true");
}

/* Whether a claim waits for somebody who uses it; what cannot be found out counts as no. */
static int waits_for_consumer(struct phase *f, const struct set_item *item, bool *ret, struct error *err)
{
        static const struct kube_resource classes = { "storage.k8s.io", "v1", "storageclasses",
                                                      "StorageClass", false };
        AUTO_JSON json_t *all = NULL;
        const char *wanted = NULL;
        struct error why = { 0 };
        json_t *class;
        size_t i;
        int r;

        *ret = false;
        if (!probe_needs_class(item->object->group, item->object->kind, item->live, &wanted))
                return 0;
        r = kube_doc_list(f->p->rc->kube, &classes, NULL, NULL, &all, &why);
        if (set_is_fatal(r)) {
                *err = why;
                return r;
        }
        json_array_foreach(all, i, class)
                if (wanted ? text_equal(doc_get_string(class, "metadata.name"), wanted)
                           : is_default_class(class))
                        *ret = text_equal(doc_get_string(class, "volumeBindingMode"), "WaitForFirstConsumer");
        return 0;
}

static int probe(struct phase *f, struct set_item *item, struct error *err)
{
        const struct cluster_object_set_spec *spec = f->p->set->spec;
        struct probe_input in = { .probes = spec ? &spec->progression_probes : NULL,
                                  .group = item->object->group,
                                  .kind = item->object->kind,
                                  .live = item->live };
        struct probe_result r;

        TRY(waits_for_consumer(f, item, &in.first_consumer, err));
        TRY(probe_object(&in, f->p->arena, &r, err));
        item->out->unready = r.words;
        return 0;
}

int phase_finish(struct phase *f, struct set_item *item, struct error *err)
{
        struct error why = { 0 };

        if (item->to_write && write_it(f, item, &why) < 0)
                return phase_trouble(f, item, &why, err);
        if (item->out->collision || item->out->going || !item->live)
                return 0;
        TRY(probe(f, item, err));
        item->finished = !item->out->error;
        return 0;
}
