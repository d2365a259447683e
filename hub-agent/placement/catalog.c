#include "hub-agent/placement/catalog_internal.h"

#include "common/base/memory.h"
#include "common/base/vec.h"

#define REFRESH_MS (5 * 60 * 1000) /* what nobody tells of is seen at the latest then */
/* A kind counts as gone when two readings so far apart both lack it. */
#define CONFIRM_MS 60000
/* A kind that cannot be listed keeps the agent from being ready so long. */
#define UNLISTED_MS 60000

/* An API server needs a moment to serve a new kind, and longer when it is busy: it is looked at 0.1, 1, 5 and
 * 15 s after the change. */
static const int64_t look_gaps_ms[] = { 100, 900, 4000, 10000 };
#define LOOKS ARRAY_LEN(look_gaps_ms)

struct catalog {
        struct hub_agent *agent;
        VEC(struct catalog_entry *) entries;
        struct waitq changed, was_read_again;
        int64_t look_ms;                /* loop time of the next reading */
        size_t step;                    /* of look_gaps_ms; LOOKS = nothing changed */
        size_t failures;                /* in a row */
        int64_t first_read_ms, read_ms; /* loop times of readings that succeeded */
        bool was_read;
        bool was_ready;
};

static int64_t now_ms(const struct catalog *c)
{
        return loop_now_ms(c->agent->world->loop);
}

/* ---- entries ---- */

struct catalog_entry *catalog_entry_ref(const struct catalog_entry *e)
{
        struct catalog_entry *entry = (struct catalog_entry *)e;

        entry->refs++;
        return entry;
}

void catalog_entry_unref(void *entry)
{
        struct catalog_entry *e = entry;

        if (!e || --e->refs > 0)
                return;
        mem_free((char *)e->resource.group);
        mem_free((char *)e->resource.version);
        mem_free((char *)e->resource.plural);
        mem_free((char *)e->resource.kind);
        mem_free((char *)e->kind_key);
        mem_free(e);
}

/* Ends what runs for it; whoever holds a reference may still read its names. Parks. */
static void entry_end(struct catalog_entry *e)
{
        if (e->waiting)
                e->waiting = fiber_group_end(e->waiting);
        if (e->informer)
                manager_remove_informer(e->agent->manager, TAKE_PTR(e->informer));
        catalog_entry_unref(e);
}

static struct catalog_entry *entry_new(struct hub_agent *a, const struct kube_resource *r)
{
        struct catalog_entry *e = NEW(struct catalog_entry);
        struct informer_options o = { .kind = &partial_object_kind };

        if (!e)
                return NULL;
        *e = (struct catalog_entry){ .agent = a,
                                     .refs = 1,
                                     .kind_key = kind_key(r->group, r->version, r->kind),
                                     .resource = { .group = mem_strdup(r->group),
                                                   .version = mem_strdup(r->version),
                                                   .plural = mem_strdup(r->plural),
                                                   .kind = mem_strdup(r->kind),
                                                   .namespaced = r->namespaced } };
        o.resource = &e->resource;
        if (e->kind_key && e->resource.group && e->resource.version && e->resource.plural &&
            e->resource.kind && manager_add_informer(a->manager, &o, &e->informer) == 0)
                return e;
        catalog_entry_unref(e);
        return NULL;
}

struct catalog *catalog_new(struct hub_agent *a)
{
        struct catalog *c = NEW(struct catalog);

        if (c)
                *c = (struct catalog){ .agent = a, .step = LOOKS };
        return c;
}

struct catalog *catalog_free(struct catalog *c)
{
        if (!c)
                return NULL;
        while (c->entries.n > 0)
                entry_end(c->entries.at[--c->entries.n]);
        vec_free(&c->entries);
        mem_free(c);
        return NULL;
}

struct catalog_entry *catalog_find(struct catalog *c, const char *group, const char *version,
                                   const char *kind)
{
        vec_for_each(&c->entries, e)
                if (text_equal((*e)->resource.kind, kind) &&
                    text_equal((*e)->resource.group, or_empty(group)) &&
                    text_equal((*e)->resource.version, version))
                        return *e;
        return NULL;
}

struct catalog_entry *catalog_find_kind(struct catalog *c, const char *group, const char *kind)
{
        vec_for_each(&c->entries, e)
                if (text_equal((*e)->resource.kind, kind) &&
                    text_equal((*e)->resource.group, or_empty(group)))
                        return *e;
        return NULL;
}

struct catalog_entry *catalog_next(struct catalog *c, struct catalog_entry *previous)
{
        size_t i = 0;

        if (previous)
                while (i < c->entries.n && c->entries.at[i++] != previous)
                        ;
        return i < c->entries.n ? c->entries.at[i] : NULL;
}

/* ---- waiting for a cache ---- */

/* Whoever may need it: placements of the kind, and those of whole namespaces. */
static void enqueue_concerned(const struct catalog_entry *e)
{
        enqueue_all_of_kind(e->agent, &cluster_resource_placement_kind, e->kind_key);
        enqueue_all_of_kind(e->agent, &resource_placement_kind, e->kind_key);
        if (e->resource.namespaced)
                enqueue_all_of_kind(e->agent, &cluster_resource_placement_kind, "/v1/Namespace");
}

static void wake_when_filled(void *entry)
{
        struct catalog_entry *e = entry;

        if (informer_wait_synced(e->informer, DEADLINE_NONE) == 0)
                enqueue_concerned(e);
        e->awaited = false;
}

int64_t catalog_await(struct catalog_entry *e)
{
        struct loop *l = e->agent->world->loop;

        if (e->awaited)
                return loop_now_ms(l) - e->awaited_since_ms;
        if (!e->waiting)
                e->waiting = fiber_group_new(l, e->agent->group, "catalog-await");
        e->awaited = e->waiting && fiber_spawn(e->waiting, "catalog-await", wake_when_filled, e);
        e->awaited_since_ms = loop_now_ms(l);
        return 0;
}

static bool is_waited_for(const struct catalog *c, const struct catalog_entry *e)
{
        return !informer_synced(e->informer) &&
               (text_empty(informer_problem(e->informer)) || now_ms(c) - c->first_read_ms < UNLISTED_MS);
}

bool catalog_ready(struct catalog *c, struct buf *why_not)
{
        size_t n = 0;

        if (c->was_ready)
                return true;
        if (c->entries.n == 0) {
                buf_append_str(why_not, "resource informer not ready: no resources registered\n");
                return false;
        }
        vec_for_each(&c->entries, e)
                n += is_waited_for(c, *e);
        c->was_ready = n == 0;
        if (n > 0)
                buf_printf(why_not, "resource informer not ready: %zu/%zu informers not synced yet\n", n,
                           c->entries.n);
        return c->was_ready;
}

/* ---- taking kinds in ---- */

static bool is_placeable(const struct hub_agent *a, const struct kube_mapped *m)
{
        return m->listable && m->watchable &&
               filter_api_allowed(&a->filters, m->resource.group, m->resource.version, m->resource.kind);
}

static bool somebody_selects(struct hub_agent *a, const char *key)
{
        static const struct kind *const placements[] = { &cluster_resource_placement_kind,
                                                         &resource_placement_kind };
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct object_list list;

        for (size_t i = 0; i < ARRAY_LEN(placements); i++)
                if (informer_by_index(manager_informer(a->manager, placements[i]), INDEX_SELECTOR, key,
                                      &arena, &list) == 0 &&
                    list.n > 0)
                        return true;
        return false;
}

/* Versions that are not preferred cost a cache each, so only those that a selector names are taken. */
static bool is_wanted(struct catalog *c, const struct kube_mapped *m)
{
        AUTO_FREE char *key = NULL;

        if (!is_placeable(c->agent, m))
                return false;
        if (m->preferred_version)
                return true;
        key = kind_key(m->resource.group, m->resource.version, m->resource.kind);
        return key && somebody_selects(c->agent, key);
}

static void emit_namespace(const struct object *o, index_emit emit, void *to)
{
        if (o->meta.ns)
                emit(to, o->meta.ns);
}

static struct catalog_entry *add(struct catalog *c, const struct kube_resource *r)
{
        struct catalog_entry *e =
                vec_reserve(&c->entries, c->entries.n + 1) < 0 ? NULL : entry_new(c->agent, r);

        if (!e)
                return NULL;
        if (informer_add_index(e->informer, INDEX_NAMESPACE, emit_namespace) < 0 ||
            informer_add_handler(e->informer, catalog_on_change, e) < 0) {
                entry_end(e);
                return NULL;
        }
        c->entries.at[c->entries.n++] = e;
        enqueue_concerned(e); /* a placement that selected the kind before it existed may go on now */
        return e;
}

/* One kind that cannot be taken in does not stop the others: it is told and tried again. */
static int take_in(struct catalog *c, const struct kube_mapped *m)
{
        const struct kube_resource *r = &m->resource;
        struct catalog_entry *e = catalog_find(c, r->group, r->version, r->kind);

        if (!e && !(e = add(c, r))) {
                log_error(&c->agent->log, "no memory to follow a kind, trying again", "group", r->group,
                          "version", r->version, "kind", r->kind);
                return ERR_NO_MEMORY;
        }
        if (e->missing)
                log_info(&c->agent->log, "a kind is served again", "kind", e->kind_key);
        e->seen = true;
        e->missing = false;
        e->preferred = m->preferred_version;
        e->stale = m->stale;
        return 0;
}

struct catalog_entry *catalog_demand(struct catalog *c, const char *group, const char *version,
                                     const char *kind)
{
        struct catalog_entry *e = catalog_find(c, group, version, kind);
        const struct kube_mapped *all;
        size_t n;

        all = kube_mapper_all(c->agent->mapper, &n);
        for (size_t i = 0; !e && i < n; i++)
                if (text_equal(all[i].resource.kind, kind) &&
                    text_equal(all[i].resource.group, or_empty(group)) &&
                    text_equal(all[i].resource.version, version) && is_placeable(c->agent, &all[i]) &&
                    take_in(c, &all[i]) == 0)
                        e = catalog_find(c, group, version, kind);
        return e;
}

/* ---- letting kinds go ---- */

static bool is_listed(struct catalog *c, const char *group)
{
        size_t n;
        const struct kube_mapped *all = kube_mapper_all(c->agent->mapper, &n);

        for (size_t i = 0; i < n; i++)
                if (text_equal(all[i].resource.group, group))
                        return true;
        return false;
}

/* Whether an aggregated API that discovery does not list yet is to serve the group: by a registration of its
 * own, not one that comes and goes with the kinds. */
static bool is_registered(struct catalog *c, const char *group)
{
        struct catalog_entry *services = catalog_find_kind(c, "apiregistration.k8s.io", "APIService");
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct object_list list;

        if (!services || !group[0] || is_listed(c, group))
                return false;
        if (!informer_synced(services->informer) || informer_list(services->informer, &arena, &list) < 0)
                return true;
        for (size_t i = 0; i < list.n; i++) {
                const char *dot = strchr(list.at[i]->meta.name, '.'); /* "version.group" */

                if (dot && text_equal(dot + 1, group) &&
                    !label_of(list.at[i], "kube-aggregator.kubernetes.io/automanaged"))
                        return true;
        }
        return false;
}

static bool has_definition(struct catalog *c, const struct kube_resource *r)
{
        const struct catalog_entry *crds = catalog_definitions(c);
        AUTO_FREE char *name = NULL;

        if (!crds)
                return false;
        name = mem_printf("%s.%s", r->plural, r->group);
        return !name || crds->missing || !informer_synced(crds->informer) ||
               informer_get(crds->informer, NULL, name);
}

static bool is_superseded(struct catalog *c, const struct catalog_entry *gone)
{
        vec_for_each(&c->entries, e)
                if ((*e)->seen && text_equal((*e)->resource.kind, gone->resource.kind) &&
                    text_equal((*e)->resource.group, gone->resource.group))
                        return true;
        return false;
}

/* Whether an entry that discovery lacks is to be let go; its objects would be taken off the members. */
static bool is_gone(struct catalog *c, struct catalog_entry *e)
{
        if (is_superseded(c, e))
                return true;
        if (!e->missing) {
                e->missing = true;
                e->missing_since_ms = c->read_ms;
                log_info(&c->agent->log, "a kind is not served any more", "kind", e->kind_key);
        }
        return c->read_ms - e->missing_since_ms >= CONFIRM_MS && !has_definition(c, &e->resource) &&
               !is_registered(c, e->resource.group) &&
               !kube_mapper_doubts(c->agent->mapper, e->resource.group);
}

static void let_go(struct catalog *c)
{
        for (size_t i = c->entries.n; i-- > 0;) {
                struct catalog_entry *e = c->entries.at[i];

                if (e->seen || !is_gone(c, e))
                        continue;
                log_info(&c->agent->log, "a kind is followed no longer", "kind", e->kind_key);
                vec_remove(&c->entries, i);
                enqueue_concerned(e);
                entry_end(e); /* parks: meanwhile kinds may be added behind, none is removed */
        }
}

struct catalog_entry *catalog_definitions(struct catalog *c)
{
        return catalog_find(c, "apiextensions.k8s.io", "v1", "CustomResourceDefinition");
}

bool catalog_lacks_for_good(struct catalog *c, const char *group)
{
        bool early = !c->was_read || c->read_ms - c->first_read_ms < CONFIRM_MS;
        int64_t due = (early ? c->first_read_ms : c->read_ms) + CONFIRM_MS;

        if (!early && !kube_mapper_doubts(c->agent->mapper, group) && !is_registered(c, group))
                return true;
        c->look_ms = MIN(c->look_ms, MAX(due, now_ms(c) + look_gaps_ms[0]));
        waitq_wake_all(&c->changed);
        return false;
}

/* ---- following discovery ---- */

void catalog_look(struct catalog *c, bool initial)
{
        c->step = initial ? MIN(c->step, LOOKS - 1) : 0;
        c->look_ms = MIN(c->look_ms, now_ms(c) + look_gaps_ms[0]);
        waitq_wake_all(&c->changed);
}

static void plan_after_failure(struct catalog *c)
{
        c->step = MIN(c->step, LOOKS - 1); /* what was to be seen was not */
        c->look_ms = now_ms(c) + look_gaps_ms[MIN(c->failures, LOOKS - 1)];
        c->failures++;
}

static void plan_after_success(struct catalog *c)
{
        c->failures = 0;
        c->step = MIN(c->step + 1, LOOKS);
        c->look_ms = c->read_ms + (c->step < LOOKS ? look_gaps_ms[c->step] : REFRESH_MS);
        vec_for_each(&c->entries, e) {
                int64_t due = (*e)->missing ? (*e)->missing_since_ms + CONFIRM_MS : c->read_ms + CONFIRM_MS;

                if ((*e)->missing || (*e)->stale)
                        c->look_ms = MIN(c->look_ms, due > c->read_ms ? due : c->read_ms + CONFIRM_MS);
        }
}

static int read_kinds(struct catalog *c, struct error *err)
{
        const struct kube_mapped *all;
        int code = 0;
        size_t n;

        TRY(kube_mapper_refresh(c->agent->mapper, NULL, err));
        c->read_ms = now_ms(c);
        if (!c->was_read)
                c->first_read_ms = c->read_ms;
        c->was_read = true;
        all = kube_mapper_all(c->agent->mapper, &n);
        vec_for_each(&c->entries, e)
                (*e)->seen = false;
        for (size_t i = 0; i < n; i++)
                if (is_wanted(c, &all[i]) && take_in(c, &all[i]) < 0)
                        code = error_no_memory(err);
        let_go(c);
        return code;
}

int catalog_refresh(struct catalog *c, struct error *err)
{
        int code = read_kinds(c, err);

        if (code < 0)
                plan_after_failure(c);
        else
                plan_after_success(c);
        if (code == 0)
                waitq_wake_all(&c->was_read_again);
        return code;
}

int catalog_await_reading(struct catalog *c)
{
        return waitq_wait(c->agent->world->loop, &c->was_read_again, DEADLINE_NONE);
}

void catalog_follow(void *catalog)
{
        struct catalog *c = catalog;
        struct loop *l = c->agent->world->loop;
        struct error err;

        for (;;) {
                while (now_ms(c) < c->look_ms)
                        if (waitq_wait(l, &c->changed, c->look_ms) == ERR_CANCELLED)
                                return;
                error_clear(&err);
                if (catalog_refresh(c, &err) == ERR_CANCELLED)
                        return;
                if (err.code < 0 && c->failures == 1 && !kube_connection_tells(&c->agent->kube, &err))
                        log_warn(&c->agent->log, "discovery failed, trying again", "error", err.text);
        }
}
