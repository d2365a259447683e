#include "hub-agent/shards.h"

#include "common/base/memory.h"
#include "hub-agent/eviction/eviction_agent.h"
#include "hub-agent/input-provider/input_provider_agent.h"
#include "hub-agent/placement/progress.h"
#include "hub-agent/resource-set/resource_set_agent.h"
#include "hub-agent/scheduler/scheduler_agent.h"
#include "hub-agent/source/source_agent.h"
#include "hub-agent/work-generator/work_index.h"

/* ---- whose a key is ---- */

static int no_memory_without(const struct key *k)
{
        return k->text ? 0 : ERR_NO_MEMORY;
}

/* What names no placement is worked on by whoever has the empty name's shard. */
static int put_placement(struct key *ret, const char *ns, const char *name)
{
        key_text(ret, text_empty(name) ? NULL : ns, or_empty(name));
        return no_memory_without(ret);
}

int placement_of_self(void *agent, const char *key, const struct object *about, struct key *ret)
{
        key_text(ret, NULL, key);
        return no_memory_without(ret);
}

/* The object of a key: as the cache has it, else `about`, if it is the one; NULL if neither is. It lives as
 * long as the arena and `about`. `kinds`: of both scopes. 0 or ERR_NO_MEMORY. */
static int object_of(struct hub_agent *a, const char *key, const struct object *about,
                     const struct kind *cluster_wide, const struct kind *namespaced, struct arena *arena,
                     const struct object **ret)
{
        const struct kind *kind = strchr(key, '/') ? namespaced : cluster_wide;
        AUTO_KEY struct key of_about = KEY_EMPTY;

        *ret = NULL;
        if (!kind)
                return 0;
        TRY(informer_read_key(manager_informer(a->manager, kind), key, arena, ret));
        if (*ret || !about || about->kind != kind)
                return 0;
        if (!key_text(&of_about, about->meta.ns, about->meta.name))
                return ERR_NO_MEMORY;
        *ret = text_equal(of_about.text, key) ? about : NULL;
        return 0;
}

static int placement_of_works_label(const struct object *work, struct key *ret)
{
        return put_placement(ret, label_of(work, LABEL_PARENT_PLACEMENT_NAMESPACE),
                             label_of(work, LABEL_PARENT_PLACEMENT));
}

/* A binding that is gone leaves Works behind, which are to go. All replicas take the same one's word: the
 * first's that names a placement. */
static int placement_of_orphans(struct hub_agent *a, const char *key, struct key *ret)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct object_list works;
        size_t i = 0;

        TRY(informer_by_index(manager_informer(a->manager, &work_kind), INDEX_BINDING, key, &arena, &works));
        if (works.n == 0)
                return 0;
        while (i < works.n && text_empty(label_of(works.at[i], LABEL_PARENT_PLACEMENT)))
                i++;
        return placement_of_works_label(works.at[i < works.n ? i : 0], ret);
}

int placement_of_binding(void *agent, const char *key, const struct object *about, struct key *ret)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const struct object *b;

        TRY(object_of(agent, key, about, &cluster_resource_binding_kind, &resource_binding_kind, &arena, &b));
        if (b)
                return put_placement(ret, b->meta.ns, label_of(b, LABEL_PARENT_PLACEMENT));
        TRY(placement_of_orphans(agent, key, ret));
        return ret->text || !about || about->kind != &work_kind ? 0 : placement_of_works_label(about, ret);
}

int placement_of_work(void *agent, const char *key, const struct object *about, struct key *ret)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const struct object *w;

        TRY(object_of(agent, key, about, NULL, &work_kind, &arena, &w));
        return w ? placement_of_works_label(w, ret) : 0;
}

int placement_of_update_run(void *agent, const char *key, const struct object *about, struct key *ret)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const struct object *o;
        const struct update_run *run;

        TRY(object_of(agent, key, about, &cluster_staged_update_run_kind, &staged_update_run_kind, &arena,
                      &o));
        run = (const struct update_run *)o;
        return run ? put_placement(ret, o->meta.ns, run->spec ? run->spec->placement_name : NULL) : 0;
}

int placement_of_eviction(void *agent, const char *key, const struct object *about, struct key *ret)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const struct object *o;
        const struct eviction *e;

        TRY(object_of(agent, key, about, &cluster_resource_placement_eviction_kind, NULL, &arena, &o));
        e = (const struct eviction *)o;
        return e ? put_placement(ret, NULL, e->spec ? e->spec->placement_name : NULL) : 0;
}

/* ---- what goes when it is another's ---- */

struct owner {
        struct hub_agent *agent;
        const struct controller *controller; /* whose keys they are */
};

static bool is_ours(void *owner, const char *key)
{
        const struct owner *o = owner;

        return manager_owns(o->agent->manager, o->controller, key);
}

void shards_forget(void *agent)
{
        struct hub_agent *a = agent;
        const struct {
                struct memories *memories;
                const struct controller *controller;
        } all[] = {
                { &a->members, &membership_controller },         { &a->intakes, &intake_controller },
                { &a->statuses, &placement_status_controller },  { &a->bindings, &work_generator_controller },
                { &a->not_reported, &intake_controller },        { &a->reported, &report_back_controller },
                { &a->resource_sets, &resource_set_controller },
        };

        for (size_t i = 0; i < ARRAY_LEN(all); i++)
                memories_keep_if(all[i].memories, is_ours, &(struct owner){ a, all[i].controller });
        update_runs_keep_if(a, is_ours, &(struct owner){ a, &update_run_controller });
        progress_keep_if(a, is_ours, &(struct owner){ a, &placement_status_controller });
        scheduler_memory_keep_if(a->scheduler, is_ours, &(struct owner){ a, &scheduler_controller });
        if (a->input_providers)
                memories_keep_if(&a->input_providers->shown, is_ours,
                                 &(struct owner){ a, &input_provider_controller });
        if (a->sources && !manager_is_leader(a->manager))
                sources_forget(a->sources);
        if (!a->options->without_evictions)
                evictions_show_only(a, is_ours, &(struct owner){ a, &eviction_controller });
}
