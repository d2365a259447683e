/* Writes to the hub's objects what a member reports of their status. spec/placement.md 15. */
#include "hub-agent/report-back/report_back.h"

#include "common/base/memory.h"
#include "common/base/vec.h"
#include "common/kube/mapping.h"
#include "hub-agent/agent.h"
#include "hub-agent/placement/catalog.h"
#include "hub-agent/shards.h"
#include "hub-agent/work-generator/work_index.h"

/* Of a placement whose statuses cannot come back. */
struct not_reported_memory {
        struct memory memory;
        int64_t told; /* the generation of which an event was recorded; 0 = none */
};
const struct memory_kind not_reported_memory_kind = { .size = sizeof(struct not_reported_memory) };

/* Of a Work that reports. */
struct reported_memory {
        struct memory memory;
        VEC(struct digest { uint8_t of[SHA256_SIZE]; }) objects; /* by ordinal: what the hub's object has */
};
static void forget_reported(void *record)
{
        vec_free(&((struct reported_memory *)record)->objects);
}
const struct memory_kind reported_memory_kind = { sizeof(struct reported_memory), forget_reported };

struct pass {
        struct reconcile *rc;
        const struct placement *placement; /* NULL: the Work is nobody's, or does not speak for it */
        const struct work *work;           /* whole: its cache holds no statuses of objects */
        struct reported_memory *memory;    /* NULL: for the lack of it everything is looked at */
};

/* ---- what the pass goes by ---- */

static int find_placement(struct pass *s, const struct work *w)
{
        const char *ns = label_of(&w->object, LABEL_PARENT_PLACEMENT_NAMESPACE);
        const struct scope *scope = scope_of(text_empty(ns) ? NULL : ns);
        const char *name = label_of(&w->object, LABEL_PARENT_PLACEMENT);
        const struct object *p = NULL, *b = NULL;

        ns = text_empty(ns) ? NULL : ns;
        if (text_empty(name))
                return 0;
        TRY(cache_get(s->rc, scope->placement, ns, name, &p));
        TRY(cache_get(s->rc, scope->binding, ns, or_empty(label_of(&w->object, LABEL_PARENT_BINDING)), &b));
        if (p && b && report_back_work_counts(w, (const struct binding *)b, (const struct placement *)p))
                s->placement = (const struct placement *)p;
        return 0;
}

/* As the caches have it by now. */
static int look(struct pass *s, enum report_back *ret)
{
        const struct object *w;

        s->placement = NULL;
        *ret = REPORT_BACK_OFF;
        TRY(cache_get(s->rc, &work_kind, s->rc->ns, s->rc->name, &w));
        if (!w || is_deleting(w))
                return 0;
        TRY(find_placement(s, (const struct work *)w));
        if (s->placement)
                *ret = report_back_of(s->placement);
        return 0;
}

/* ---- one object ---- */

static int find_resource(struct pass *s, const struct work_resource_identifier *id, struct kube_resource *ret)
{
        struct kube_mapped mapped;

        TRY(kube_mapper_kind(agent_of(s->rc)->mapper, or_empty(id->group), id->version, id->kind, &mapped,
                             s->rc->err));
        *ret = mapped.resource;
        return 0;
}

/* The version that the cache of its kind has, NULL if none. */
static const char *cached_version(struct pass *s, const struct work_resource_identifier *id)
{
        const struct catalog_entry *e =
                catalog_find(agent_of(s->rc)->catalog, id->group, id->version, id->kind);
        const struct object *o =
                e && e->informer ? informer_get(e->informer, text_empty(id->ns) ? NULL : id->ns, id->name)
                                 : NULL;

        return o ? o->meta.resource_version : NULL;
}

/* It has what is reported, in the very state in which we left or saw it. */
static bool has_it(struct pass *s, uint32_t i, const struct work_resource_identifier *id,
                   struct slice observed)
{
        const char *version = s->memory && i < s->memory->objects.n ? cached_version(s, id) : NULL;
        uint8_t now[SHA256_SIZE];

        if (!version)
                return false;
        report_back_digest(id, observed, version, now);
        return !memcmp(now, s->memory->objects.at[i].of, sizeof(now));
}

static void remember(struct pass *s, uint32_t i, const struct work_resource_identifier *id,
                     struct slice observed, const json_t *object)
{
        static const struct digest none;
        const char *version = doc_get_string(object, "metadata.resourceVersion");

        while (s->memory && s->memory->objects.n <= i)
                if (vec_push(&s->memory->objects, none) < 0)
                        return;
        if (s->memory && version)
                report_back_digest(id, observed, version, s->memory->objects.at[i].of);
}

static int write_status(struct pass *s, uint32_t i, const struct work_resource_identifier *id,
                        struct slice observed)
{
        static const struct kube_write to_status = { .subresource = "status" };
        AUTO_JSON json_t *object = NULL, *patch = NULL, *answer = NULL;
        const char *ns = text_empty(id->ns) ? NULL : id->ns;
        struct kube_resource resource;

        TRY(find_resource(s, id, &resource));
        TRY(kube_doc_get(s->rc->kube, &resource, ns, id->name, &object, s->rc->err));
        TRY(report_back_patch(object, observed, &patch, s->rc->err));
        if (patch)
                TRY(kube_doc_patch(s->rc->kube, &resource, ns, id->name, KUBE_PATCH_MERGE, patch, &to_status,
                                   &answer, s->rc->err));
        remember(s, i, id, observed, patch ? answer : object);
        return 0;
}

/* The object went, its kind has no status of its own, or the API server does not take this one: nothing that
 * trying again would mend. It is tried with the next report. */
static bool is_final(int code)
{
        return code == ERR_NOT_FOUND || code == ERR_INVALID;
}

static int report_one(struct pass *s, uint32_t i)
{
        const struct manifest_condition *m = &s->work->status->manifest_conditions.at[i];
        const struct work_resource_identifier *id = m->identifier;
        int code;

        if (!report_back_selects(s->placement, id))
                return 0;
        code = write_status(s, i, id, m->back_reported_status->observed_status);
        if (code < 0 && is_final(code)) {
                log_info(&s->rc->log, "the status of an object does not come back", "kind", id->kind,
                         "namespace", or_empty(id->ns), "name", id->name, "error", s->rc->err->text);
                error_clear(s->rc->err);
                return 0;
        }
        return code;
}

static bool is_news(struct pass *s, uint32_t i)
{
        const struct manifest_condition *m = &s->work->status->manifest_conditions.at[i];

        return m->identifier && m->back_reported_status && m->back_reported_status->observed_status.data &&
               !has_it(s, i, m->identifier, m->back_reported_status->observed_status);
}

/* One that fails holds up no other; the first failure is what is tried again. Between two objects the
 * placement may change, or go elsewhere: what is not asked for any more is not written. */
static struct outcome report_all(struct pass *s)
{
        struct error first = { 0 };

        for (uint32_t i = 0; i < s->work->status->manifest_conditions.n; i++) {
                enum report_back now;
                int code;

                if (!is_news(s, i))
                        continue;
                code = look(s, &now);
                if (code == 0 && now != REPORT_BACK_ON)
                        return done();
                if (code == 0)
                        code = report_one(s, i);
                if (code == ERR_CANCELLED)
                        return failed(s->rc->err);
                if (code < 0 && !first.code)
                        first = *s->rc->err;
        }
        *s->rc->err = first;
        return first.code ? failed(s->rc->err) : done();
}

/* ---- reconcile ---- */

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
        enum report_back how;
        struct object *whole;
        int code;

        if (look(&s, &how) < 0)
                return failed(rc->err);
        switch (how) {
        case REPORT_BACK_OFF:
                memory_drop(&agent_of(rc)->reported, rc->key);
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
        s.memory = memory_of(&agent_of(rc)->reported, whole, rc->arena);
        if (!s.work->status ||
            !condition_is_true(&s.work->status->conditions, CONDITION_APPLIED, whole->meta.generation))
                return done();
        return report_all(&s);
}

/* ---- watches ---- */

static bool is_to_report(const struct object *work)
{
        const struct work *w = (const struct work *)work;

        return !w->spec || !equal_report_back(w->spec->report_back_strategy, NULL);
}

static void map_work(void *agent, const struct informer_event *e, key_emit emit, void *to)
{
        AUTO_KEY struct key key = KEY_EMPTY;

        if (e->type == INFORMER_DELETED || is_to_report(e->now) || (e->old && is_to_report(e->old)))
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

                if (is_to_report(works.at[i]))
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
        if (!works_report_back((const struct placement *)e->now) ||
            (e->type == INFORMER_UPDATED &&
             report_back_alike((const struct placement *)e->old, (const struct placement *)e->now)))
                return;
        if (objects_of_owner(a, scope_of(m->ns)->binding, m->ns, m->name, &arena, &bindings) < 0) {
                emit(to, NULL);
                return;
        }
        for (size_t i = 0; i < bindings.n; i++)
                emit_works_of(a, bindings.at[i], &arena, emit, to);
}

static bool speaks(const struct object *binding)
{
        const struct binding *b = (const struct binding *)binding;

        return b->spec && text_equal(b->spec->state, BINDING_BOUND);
}

/* What its Works reported while another cluster was in view did not count. */
static void map_binding(void *agent, const struct informer_event *e, key_emit emit, void *to)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;

        if (e->type != INFORMER_DELETED && speaks(e->now) && (e->type == INFORMER_ADDED || !speaks(e->old)))
                emit_works_of(agent, e->now, &arena, emit, to);
}

static const struct watch watches[] = {
        { &work_kind, ON_VERSION, map_work }, /* what is reported is not in the cache */
        { &cluster_resource_placement_kind, ON_SPEC | ON_STATUS | ON_DELETION, map_placement },
        { &resource_placement_kind, ON_SPEC | ON_STATUS | ON_DELETION, map_placement },
        { &cluster_resource_binding_kind, ON_SPEC, map_binding },
        { &resource_binding_kind, ON_SPEC, map_binding },
};

const struct controller report_back_controller = {
        .name = "status-back-reporter",
        .placement_of = placement_of_work,
        .watches = watches,
        .n_watches = ARRAY_LEN(watches),
        .reconcile = reconcile,
        .concurrency = 10,
};
