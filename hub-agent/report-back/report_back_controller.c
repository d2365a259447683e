/* Writes to the hub's objects what a member reports of their status. spec/placement.md 15. */
#include "hub-agent/report-back/report_back.h"

#include "common/base/memory.h"
#include "common/kube/mapping.h"
#include "hub-agent/agent.h"
#include "hub-agent/work-generator/work_index.h"

/* Of a placement whose statuses cannot come back. */
struct not_reported_memory {
        struct memory memory;
        int64_t told; /* the generation of which an event was recorded; 0 = none */
};
const struct memory_kind not_reported_memory_kind = { .size = sizeof(struct not_reported_memory) };

struct pass {
        struct reconcile *rc;
        const struct placement *placement;
        const struct work *work; /* whole: its cache holds no statuses of objects */
};

/* ---- one object ---- */

static int find_resource(struct pass *s, const struct work_resource_identifier *id, struct kube_resource *ret)
{
        struct kube_mapped mapped;

        TRY(kube_mapper_kind(agent_of(s->rc)->mapper, or_empty(id->group), id->version, id->kind, &mapped,
                             s->rc->err));
        *ret = mapped.resource;
        return 0;
}

static int write_status(struct pass *s, const struct work_resource_identifier *id, struct slice observed)
{
        static const struct kube_write to_status = { .subresource = "status" };
        AUTO_JSON json_t *object = NULL, *patch = NULL;
        const char *ns = text_empty(id->ns) ? NULL : id->ns;
        struct kube_resource resource;

        TRY(find_resource(s, id, &resource));
        TRY(kube_doc_get(s->rc->kube, &resource, ns, id->name, &object, s->rc->err));
        TRY(report_back_patch(object, observed, &patch, s->rc->err));
        if (!patch)
                return 0;
        return kube_doc_patch(s->rc->kube, &resource, ns, id->name, KUBE_PATCH_MERGE, patch, &to_status, NULL,
                              s->rc->err);
}

/* The object went, its kind has no status of its own, or the API server does not take this one: nothing that
 * trying again would mend. It is tried with the next report. */
static bool is_final(int code)
{
        return code == ERR_NOT_FOUND || code == ERR_INVALID;
}

static int report_one(struct pass *s, const struct manifest_condition *m)
{
        const struct work_resource_identifier *id = m->identifier;
        int code;

        if (!id || !m->back_reported_status || !m->back_reported_status->observed_status.data ||
            !report_back_selects(s->placement, id))
                return 0;
        code = write_status(s, id, m->back_reported_status->observed_status);
        if (code < 0 && is_final(code)) {
                log_info(&s->rc->log, "the status of an object does not come back", "kind", id->kind,
                         "namespace", or_empty(id->ns), "name", id->name, "error", s->rc->err->text);
                error_clear(s->rc->err);
                return 0;
        }
        return code;
}

/* One that fails holds up no other; the first failure is what is tried again. */
static struct outcome report_all(struct pass *s)
{
        const struct manifest_condition_list *all = &s->work->status->manifest_conditions;
        struct error first = { 0 };

        for (uint32_t i = 0; i < all->n; i++) {
                int code = report_one(s, &all->at[i]);

                if (code == ERR_CANCELLED)
                        return failed(s->rc->err);
                if (code < 0 && !first.code)
                        first = *s->rc->err;
        }
        *s->rc->err = first;
        return first.code ? failed(s->rc->err) : done();
}

/* ---- reconcile ---- */

/* *ret NULL: the Work is nobody's, or does not speak for its placement. */
static int placement_of(struct reconcile *rc, const struct work *w, const struct placement **ret)
{
        const char *ns = label_of(&w->object, LABEL_PARENT_PLACEMENT_NAMESPACE);
        const struct scope *scope = scope_of(text_empty(ns) ? NULL : ns);
        const char *name = label_of(&w->object, LABEL_PARENT_PLACEMENT);
        const struct object *p = NULL, *b = NULL;

        *ret = NULL;
        ns = text_empty(ns) ? NULL : ns;
        if (text_empty(name))
                return 0;
        TRY(cache_get(rc, scope->placement, ns, name, &p));
        TRY(cache_get(rc, scope->binding, ns, or_empty(label_of(&w->object, LABEL_PARENT_BINDING)), &b));
        if (p && b && report_back_work_counts(w, (const struct binding *)b, (const struct placement *)p))
                *ret = (const struct placement *)p;
        return 0;
}

/* Once: each of its Works comes by whenever its member reports. */
static struct outcome tell_impossible(struct reconcile *rc, const struct placement *p)
{
        struct not_reported_memory *m = memory_of(&agent_of(rc)->not_reported, &p->object, rc->arena);

        if (!m) {
                error_no_memory(rc->err);
                return failed(rc->err);
        }
        if (m->told == p->object.meta.generation)
                return done();
        m->told = p->object.meta.generation;
        event_record(
                manager_events(rc->manager), &p->object, EVENT_TYPE_WARNING, EVENT_STATUS_NOT_REPORTED,
                "the status of objects comes back from one cluster alone: the policy has to be PickFixed "
                "with one name, or PickN with one cluster");
        return done();
}

static struct outcome reconcile(struct reconcile *rc)
{
        struct pass s = { .rc = rc };
        const struct object *cached;
        struct object *whole;
        int code;

        if (cache_get(rc, &work_kind, rc->ns, rc->name, &cached) < 0)
                return failed(rc->err);
        if (!cached || is_deleting(cached))
                return done();
        if (placement_of(rc, (const struct work *)cached, &s.placement) < 0)
                return failed(rc->err);
        switch (s.placement ? report_back_of(s.placement) : REPORT_BACK_OFF) {
        case REPORT_BACK_OFF:
                return done();
        case REPORT_BACK_IMPOSSIBLE:
                return tell_impossible(rc, s.placement);
        case REPORT_BACK_ON:
                break;
        }
        code = kube_get(rc->kube, &work_kind, rc->ns, rc->name, rc->arena, &whole, rc->err);
        if (code < 0)
                return code == ERR_NOT_FOUND ? done() : failed(rc->err);
        s.work = (const struct work *)whole;
        if (!s.work->status ||
            !condition_is_true(&s.work->status->conditions, CONDITION_APPLIED, whole->meta.generation))
                return done();
        return report_all(&s);
}

/* ---- watches ---- */

/* Only Works that are to report. */
static void map_work(void *agent, const struct informer_event *e, key_emit emit, void *to)
{
        const struct work *w = (const struct work *)e->now;
        AUTO_KEY struct key key = KEY_EMPTY;

        if (e->type != INFORMER_DELETED && w->spec && equal_report_back(w->spec->report_back_strategy, NULL))
                return;
        emit(to, key_text(&key, e->now->meta.ns, e->now->meta.name));
}

static void emit_works_of(struct hub_agent *a, const struct object *binding, struct arena *arena,
                          key_emit emit, void *to)
{
        AUTO_KEY struct key key = KEY_EMPTY;
        struct object_list works;

        if (!key_text(&key, binding->meta.ns, binding->meta.name) ||
            informer_by_index(manager_informer(a->manager, &work_kind), INDEX_BINDING, key.text, arena,
                              &works) < 0) {
                emit(to, NULL);
                return;
        }
        for (size_t i = 0; i < works.n; i++) {
                AUTO_KEY struct key work = KEY_EMPTY;

                emit(to, key_text(&work, works.at[i]->meta.ns, works.at[i]->meta.name));
        }
}

/* What it selects, and where it goes, may be told after the Works reported. */
static void map_placement(void *agent, const struct informer_event *e, key_emit emit, void *to)
{
        struct hub_agent *a = agent;
        AUTO_ARENA struct arena arena = ARENA_INIT;
        AUTO_KEY struct key owner = KEY_EMPTY;
        const struct object_meta *m = &e->now->meta;
        struct object_list bindings;

        if (e->type == INFORMER_DELETED) {
                if (key_text(&owner, m->ns, m->name))
                        memory_drop(&a->not_reported, owner.text);
                return;
        }
        if (!works_report_back((const struct placement *)e->now))
                return;
        if (objects_of_owner(a, scope_of(m->ns)->binding, m->ns, m->name, &arena, &bindings) < 0) {
                emit(to, NULL);
                return;
        }
        for (size_t i = 0; i < bindings.n; i++)
                emit_works_of(a, bindings.at[i], &arena, emit, to);
}

static const struct watch watches[] = {
        { &work_kind, ON_VERSION, map_work }, /* what is reported is not in the cache */
        { &cluster_resource_placement_kind, ON_SPEC | ON_STATUS | ON_DELETION, map_placement },
        { &resource_placement_kind, ON_SPEC | ON_STATUS | ON_DELETION, map_placement },
        { &cluster_resource_binding_kind, 0, NULL },
        { &resource_binding_kind, 0, NULL },
};

const struct controller report_back_controller = {
        .name = "status-back-reporter",
        .watches = watches,
        .n_watches = ARRAY_LEN(watches),
        .reconcile = reconcile,
        .concurrency = 10,
};
