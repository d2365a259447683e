/* Which Works to create, change and delete. spec/rollout-and-work.md 6.3, 6.6. */
#include "common/base/digest.h"
#include "hub-agent/report-back/report_back.h"
#include "hub-agent/rollout/rollout.h"
#include "hub-agent/work-generator/work_generator.h"

static const char *hash_text(struct arena *arena, const struct buf *b)
{
        char digest[SHA256_HEX_SIZE];

        if (b->failed)
                return NULL;
        sha256_hex(b->data, b->len, digest);
        return arena_strdup(arena, digest);
}

int override_list_hashes(struct arena *arena, const struct binding *b, const char **ret_own,
                         const char **ret_cluster)
{
        const struct namespaced_name_list *own = &b->spec->resource_override_snapshots;
        const struct string_list *cluster = &b->spec->cluster_resource_override_snapshots;
        AUTO_BUF struct buf text;

        buf_init(&text, 1u << 20);
        for (uint32_t i = 0; i < own->n; i++)
                buf_printf(&text, "%s{\"name\":\"%s\",\"namespace\":\"%s\"}", i ? "," : "[", own->at[i].name,
                           own->at[i].ns);
        buf_append_str(&text, own->n ? "]" : "null");
        *ret_own = hash_text(arena, &text);
        buf_clear(&text);
        for (uint32_t i = 0; i < cluster->n; i++)
                buf_printf(&text, "%s\"%s\"", i ? "," : "[", cluster->at[i]);
        buf_append_str(&text, cluster->n ? "]" : "null");
        *ret_cluster = hash_text(arena, &text);
        return *ret_own && *ret_cluster ? 0 : ERR_NO_MEMORY;
}

/* What all Works of a binding carry alike. */
struct marks {
        const char *index;
        const char *own, *cluster; /* override list hashes */
        const char *set;           /* ANNOTATION_WORK_SET */
        const char *labels;        /* ANNOTATION_CLUSTER_LABELS_HASH; NULL: not known; "": none */
};

/* Bound to the snapshot and the overrides: an agent that does not know the mark keeps it when it gives a Work
 * other content. */
static const char *labels_mark(struct arena *arena, const struct marks *m, const char *labels)
{
        char digest[SHA256_HEX_SIZE], *text;

        if (text_empty(labels))
                return labels;
        text = arena_printf(arena, "%s/%s/%s/%s", or_empty(m->index), m->own, m->cluster, labels);
        if (!text)
                return NULL;
        sha256_hex(text, strlen(text), digest);
        return arena_strdup(arena, digest);
}

static int make_marks(struct arena *arena, const struct binding *b, const char *index, size_t n_works,
                      const char *labels, struct marks *ret)
{
        ret->index = index;
        TRY(override_list_hashes(arena, b, &ret->own, &ret->cluster));
        ret->set = arena_printf(arena, "%s/%.*s.%.*s/%zu", or_empty(index), WORK_SET_HASH_DIGITS, ret->own,
                                WORK_SET_HASH_DIGITS, ret->cluster, n_works);
        ret->labels = labels_mark(arena, ret, labels);
        return ret->set && !ret->labels == !labels ? 0 : ERR_NO_MEMORY;
}

/* Without a mark, what was taken from the labels is not known: rendering finds out. */
static bool follows_labels(const struct object *work, const struct marks *m)
{
        return text_empty(m->labels) ||
               text_equal(annotation_of(work, ANNOTATION_CLUSTER_LABELS_HASH), m->labels);
}

/* A Work without a set is of an agent that knows none: it gets one with its next content. */
static bool is_current(const struct object *work, const struct marks *m)
{
        const char *set = annotation_of(work, ANNOTATION_WORK_SET);

        return text_equal(label_of(work, LABEL_PARENT_RESOURCE_SNAPSHOT_INDEX), m->index) &&
               text_equal(annotation_of(work, ANNOTATION_OVERRIDE_SNAPSHOT_HASH), m->own) &&
               text_equal(annotation_of(work, ANNOTATION_CLUSTER_OVERRIDE_SNAPSHOT_HASH), m->cluster) &&
               (!set || text_equal(set, m->set)) && follows_labels(work, m);
}

bool works_in_sync(struct arena *arena, const struct binding *b, const struct object_list *live,
                   const char *index, size_t n_expected, const char *labels)
{
        struct marks m;

        if (live->n != n_expected || make_marks(arena, b, index, n_expected, labels, &m) < 0)
                return false;
        for (size_t i = 0; i < live->n; i++)
                if (!is_current(live->at[i], &m))
                        return false;
        return true;
}

bool works_are_complete(struct arena *arena, const struct binding *b, const struct object_list *live,
                        const char *index)
{
        for (size_t i = 0; i < live->n; i++)
                if (!annotation_of(live->at[i], ANNOTATION_WORK_SET))
                        return false;
        return live->n > 0 && works_in_sync(arena, b, live, index, live->n, NULL);
}

/* An envelope's Work is known by its labels: older ones have other names. */
static bool carries(const struct object *work, const struct wanted_work *w)
{
        if (!w->envelope_kind)
                return text_equal(work->meta.name, w->name);
        return text_equal(label_of(work, LABEL_ENVELOPE_TYPE), w->envelope_kind) &&
               text_equal(label_of(work, LABEL_ENVELOPE_NAME), w->envelope_name) &&
               text_equal(label_of(work, LABEL_ENVELOPE_NAMESPACE), w->envelope_ns);
}

static const struct work *find_work(const struct object_list *live, const struct wanted_work *w)
{
        for (size_t i = 0; i < live->n; i++)
                if (carries(live->at[i], w))
                        return (const struct work *)live->at[i];
        return NULL;
}

/* spec 6.5: left over from versions that named such Works at random. */
static int refuse_duplicates(struct arena *arena, const struct wanted_work *w, const struct object_list *live,
                             const char **ret_words, struct error *err)
{
        const char *ref = text_empty(w->envelope_ns)
                                  ? w->envelope_name
                                  : arena_printf(arena, "%s/%s", w->envelope_ns, w->envelope_name);
        const char *names = "", *ns = "";
        size_t n = 0;

        for (size_t i = 0; i < live->n && names; i++) {
                if (!carries(live->at[i], w))
                        continue;
                names = arena_printf(arena, "%s%s%s", names, n++ ? " " : "", live->at[i]->meta.name);
                ns = live->at[i]->meta.ns;
        }
        if (n < 2)
                return 0;
        *ret_words =
                arena_printf(arena,
                             "Multiple Work objects ([%s]) found for envelope %s in namespace %s; delete "
                             "all but the oldest to recover",
                             names, ref, ns);
        if (!*ret_words)
                return error_no_memory(err);
        return error_set(err, ERR_INTERNAL,
                         "%zu work objects found for the same envelope %s, only one expected", n, ref);
}

static int mark(struct work *w, const struct binding *b, const struct marks *m, struct arena *arena)
{
        struct object *o = &w->object;

        TRY(set_label(o, LABEL_PARENT_RESOURCE_SNAPSHOT_INDEX, m->index, arena));
        TRY(set_annotation(o, ANNOTATION_WORK_SET, m->set, arena));
        if (text_empty(m->labels))
                string_map_remove(&o->meta.annotations, ANNOTATION_CLUSTER_LABELS_HASH);
        else
                TRY(set_annotation(o, ANNOTATION_CLUSTER_LABELS_HASH, m->labels, arena));
        TRY(set_annotation(o, ANNOTATION_PARENT_RESOURCE_SNAPSHOT, b->spec->resource_snapshot_name, arena));
        TRY(set_annotation(o, ANNOTATION_OVERRIDE_SNAPSHOT_HASH, m->own, arena));
        return set_annotation(o, ANNOTATION_CLUSTER_OVERRIDE_SNAPSHOT_HASH, m->cluster, arena);
}

static int fill(struct work *w, const struct binding *b, const struct wanted_work *from, struct arena *arena)
{
        if (!w->spec && !(w->spec = ARENA_NEW(arena, struct work_spec)))
                return ERR_NO_MEMORY;
        if (!w->spec->workload && !(w->spec->workload = ARENA_NEW(arena, struct workload)))
                return ERR_NO_MEMORY;
        w->spec->workload->manifests = from->manifests;
        w->spec->apply_strategy = b->spec->apply_strategy;
        return 0;
}

static struct work *make(struct arena *arena, const struct binding *b, const struct wanted_work *from)
{
        const char *ns = arena_printf(arena, NAMESPACE_MEMBER_PREFIX "%s", b->spec->target_cluster);
        struct work *w = ns ? (struct work *)object_new(&work_kind, ns, from->name, arena) : NULL;
        struct object *o = w ? &w->object : NULL;

        if (!w || set_label(o, LABEL_PARENT_BINDING, b->object.meta.name, arena) < 0 ||
            set_label(o, LABEL_PARENT_PLACEMENT, or_empty(label_of(&b->object, LABEL_PARENT_PLACEMENT)),
                      arena) < 0 ||
            /* The member agent's finalizer, so that it need not write each new Work once more. */
            object_add_finalizer(o, FINALIZER_WORK, arena) < 0)
                return NULL;
        if (b->object.meta.ns && set_label(o, LABEL_PARENT_PLACEMENT_NAMESPACE, b->object.meta.ns, arena) < 0)
                return NULL;
        if (from->envelope_kind && (set_label(o, LABEL_ENVELOPE_TYPE, from->envelope_kind, arena) < 0 ||
                                    set_label(o, LABEL_ENVELOPE_NAME, from->envelope_name, arena) < 0))
                return NULL;
        if (from->envelope_ns && set_label(o, LABEL_ENVELOPE_NAMESPACE, from->envelope_ns, arena) < 0)
                return NULL;
        return w;
}

static int plan_one(struct arena *arena, const struct binding *b, const struct wanted_work *from,
                    const struct work *now, const struct marks *m, struct work_plan *plan)
{
        struct work *wanted;

        if (from->invalid || (now && is_current(&now->object, m)))
                return 0;
        wanted = now ? (struct work *)object_copy(&now->object, arena) : make(arena, b, from);
        if (!wanted || mark(wanted, b, m, arena) < 0 || fill(wanted, b, from, arena) < 0)
                return ERR_NO_MEMORY;
        plan->at[plan->n++] = (struct work_write){ now, wanted };
        return 0;
}

static bool is_wanted(const struct wanted_works *wanted, const struct object_list *live,
                      const struct object *o)
{
        for (size_t i = 0; i < wanted->n; i++)
                if ((const struct object *)find_work(live, &wanted->at[i]) == o)
                        return true;
        return false;
}

int plan_works(struct arena *arena, const struct binding *b, const struct wanted_works *wanted,
               const struct object_list *live, const char *labels, struct work_plan *ret, struct error *err)
{
        struct work_plan plan = { .at = ARENA_NEW_ARRAY(arena, struct work_write, wanted->n + live->n + 1) };
        struct marks m;

        ret->duplicates = NULL;
        for (size_t i = 0; i < wanted->n; i++)
                if (wanted->at[i].envelope_kind)
                        TRY(refuse_duplicates(arena, &wanted->at[i], live, &ret->duplicates, err));
        if (!plan.at ||
            make_marks(arena, b, wanted->n ? wanted->at[0].snapshot_index : "", wanted->n, labels, &m) < 0)
                return error_no_memory(err);
        for (size_t i = 0; i < wanted->n; i++)
                if (plan_one(arena, b, &wanted->at[i], find_work(live, &wanted->at[i]), &m, &plan) < 0)
                        return error_no_memory(err);
        for (size_t i = 0; i < live->n; i++)
                if (!is_wanted(wanted, live, live->at[i]))
                        plan.at[plan.n++] = (struct work_write){ (const struct work *)live->at[i], NULL };
        *ret = plan;
        return 0;
}

static bool has_strategies(const struct work *w, const struct binding *b, const struct placement *p)
{
        return w->spec && equal_apply_strategies(w->spec->apply_strategy, b->spec->apply_strategy) &&
               (!p || equal_report_back(w->spec->report_back_strategy, works_report_back(p)));
}

static void set_report_back(struct work *w, const struct placement *p)
{
        w->spec->report_back_strategy = (struct report_back_strategy *)(uintptr_t)works_report_back(p);
}

void plan_report_back(struct work_plan *plan, const struct placement *p)
{
        for (size_t i = 0; i < plan->n; i++)
                if (!plan->at[i].now)
                        set_report_back(plan->at[i].wanted, p);
}

int plan_work_strategies(struct arena *arena, const struct binding *b, const struct placement *p,
                         const struct object_list *live, struct work_plan *ret, struct error *err)
{
        struct work_plan plan = { .at = ARENA_NEW_ARRAY(arena, struct work_write, live->n + 1) };

        if (!plan.at)
                return error_no_memory(err);
        for (size_t i = 0; i < live->n; i++) {
                const struct work *now = (const struct work *)live->at[i];
                struct work *wanted;

                if (has_strategies(now, b, p))
                        continue;
                wanted = (struct work *)object_copy(&now->object, arena);
                if (!wanted || (!wanted->spec && !(wanted->spec = ARENA_NEW(arena, struct work_spec))))
                        return error_no_memory(err);
                wanted->spec->apply_strategy = b->spec->apply_strategy;
                if (p)
                        set_report_back(wanted, p);
                plan.at[plan.n++] = (struct work_write){ now, wanted };
        }
        *ret = plan;
        return 0;
}

const char *work_of_another(struct arena *arena, const struct object *work, const struct binding *b)
{
        const char *ns = or_empty(label_of(work, LABEL_PARENT_PLACEMENT_NAMESPACE));
        const char *binding = or_empty(label_of(work, LABEL_PARENT_BINDING));
        const char *placement = or_empty(label_of(work, LABEL_PARENT_PLACEMENT));

        if (text_equal(binding, b->object.meta.name) && text_equal(ns, or_empty(b->object.meta.ns)))
                return NULL;
        if (!placement[0])
                return "no placement: somebody made it by hand";
        return ns[0] ? arena_printf(arena, "ResourcePlacement \"%s\" in namespace \"%s\"", placement, ns)
                     : arena_printf(arena, "ClusterResourcePlacement \"%s\"", placement);
}
