/* What wakes a ResourceSet: spec/resource-set.md 14.2. */
#include "hub-agent/resource-set/watches.h"
#include "hub-agent/resource-set/inputs.h"
#include "hub-agent/resource-set/pass.h"
#include "hub-agent/resource-set/resource_set_agent.h"

/* A run that waits for health is to end for it. */
static void note_trigger(struct hub_agent *a, const char *key, const struct object *by, const char *kind)
{
        struct set_memory *m = map_get(&a->resource_sets.by_key, key);

        if (!m)
                return;
        mem_free(m->trigger);
        m->trigger = mem_printf("%s/%s/%s", kind, or_empty(by->meta.ns), by->meta.name);
}

static void wake(struct hub_agent *a, const struct object *set, const struct object *by, const char *kind,
                 key_emit emit, void *to)
{
        AUTO_KEY struct key key = KEY_EMPTY;
        const char *text = key_text(&key, set->meta.ns, set->meta.name);

        if (text)
                note_trigger(a, text, by, kind);
        emit(to, text);
}

static bool is_news(const struct informer_event *e)
{
        if (e->type != INFORMER_UPDATED)
                return true;
        return e->old->meta.generation != e->now->meta.generation ||
               (e->now->meta.deletion_ms != TIME_NONE) != (e->old->meta.deletion_ms != TIME_NONE) ||
               !string_map_equal(&e->old->meta.annotations, &e->now->meta.annotations);
}

/* ---- who depends on it ---- */

static const struct condition *ready_of(const struct object *o, const char *kind)
{
        const struct resource_set *set = (const struct resource_set *)o;
        const struct input_provider *provider = (const struct input_provider *)o;

        if (text_equal(kind, KIND_RESOURCE_SET))
                return set->status ? condition_find(&set->status->conditions, CONDITION_FLUX_READY) : NULL;
        return provider->status ? condition_find(&provider->status->conditions, CONDITION_FLUX_READY) : NULL;
}

static bool has_other_readiness(const struct informer_event *e, const char *kind)
{
        const struct condition *was = e->type == INFORMER_UPDATED ? ready_of(e->old, kind) : NULL,
                               *is = ready_of(e->now, kind);

        return !text_equal(was ? was->status : NULL, is ? is->status : NULL);
}

static bool depends_on(const struct resource_set *set, const struct object *o, const char *kind)
{
        const struct resource_set_dependency_list *l = &set->spec->depends_on;

        for (uint32_t i = 0; i < l->n; i++)
                if (text_equal(l->at[i].kind, kind) && text_equal(l->at[i].name, o->meta.name) &&
                    text_starts_with(or_empty(l->at[i].api_version), FLUX_PREFIX) &&
                    text_equal(text_empty(l->at[i].ns) ? set->object.meta.ns : l->at[i].ns, o->meta.ns))
                        return true;
        return false;
}

static bool is_waiting(const struct object *set)
{
        const struct condition *ready = ready_of(set, KIND_RESOURCE_SET);

        return ready && text_equal(ready->reason, REASON_FLUX_DEPENDENCY);
}

/* Those that wait look again at once; a run that is under way is not disturbed. */
static void wake_dependents(struct hub_agent *a, const struct informer_event *e, const char *kind,
                            key_emit emit, void *to)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct object_list all;

        if (!has_other_readiness(e, kind))
                return;
        if (informer_list(manager_informer(a->manager, &resource_set_kind), &arena, &all) < 0) {
                emit(to, NULL);
                return;
        }
        for (size_t i = 0; i < all.n; i++) {
                const struct resource_set *set = (const struct resource_set *)all.at[i];
                AUTO_KEY struct key key = KEY_EMPTY;

                if (set->spec && is_waiting(all.at[i]) && depends_on(set, e->now, kind))
                        emit(to, key_text(&key, all.at[i]->meta.ns, all.at[i]->meta.name));
        }
}

void map_set(void *agent, const struct informer_event *e, key_emit emit, void *to)
{
        if (is_news(e))
                wake(agent, e->now, e->now, KIND_RESOURCE_SET, emit, to);
        wake_dependents(agent, e, KIND_RESOURCE_SET, emit, to);
}

/* ---- providers ---- */

static const char *revision_of(const struct object *o)
{
        const struct input_provider *p = (const struct input_provider *)o;

        return p->status ? or_empty(p->status->last_exported_revision) : "";
}

static bool has_other_inputs(const struct informer_event *e)
{
        return e->type != INFORMER_UPDATED || !text_equal(revision_of(e->old), revision_of(e->now)) ||
               labels_changed(e);
}

/* Those that picked it before, too: their inputs are fewer now. */
void map_provider(void *agent, const struct informer_event *e, key_emit emit, void *to)
{
        struct hub_agent *a = agent;
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct object_list all;

        wake_dependents(a, e, KIND_INPUT_PROVIDER, emit, to);
        if (!has_other_inputs(e))
                return;
        if (informer_list(manager_informer(a->manager, &resource_set_kind), &arena, &all) < 0) {
                emit(to, NULL);
                return;
        }
        for (size_t i = 0; i < all.n; i++) {
                const struct resource_set *set = (const struct resource_set *)all.at[i];

                if (inputs_pick(set, e->now) || (e->old && inputs_pick(set, e->old)))
                        wake(a, all.at[i], e->now, KIND_INPUT_PROVIDER, emit, to);
        }
}

/* ---- sources of copies ---- */

static void source_changed(struct hub_agent *a, const struct informer_event *e, const char *kind)
{
        AUTO_FREE char *word = mem_printf(" %s/%s/%s ", kind, or_empty(e->now->meta.ns), e->now->meta.name);

        if (!word || e->initial)
                return;
        map_for_each(&a->resource_sets.by_key, entry) {
                const struct set_memory *m = entry->value;

                if (!m->copied || !strstr(m->copied, word))
                        continue;
                note_trigger(a, entry->key, e->now, kind);
                manager_enqueue(a->manager, &resource_set_controller, entry->key, QUEUE_FOLLOW_UP);
        }
}

static void config_map_changed(void *ctx, const struct informer_event *e)
{
        source_changed(ctx, e, "ConfigMap");
}

static void secret_changed(void *ctx, const struct informer_event *e)
{
        source_changed(ctx, e, "Secret");
}

static int watch_configs(struct hub_agent *a, const char *selector, const struct kube_resource *resource,
                         informer_handler handler)
{
        struct informer_options o = { .kind = &partial_object_kind,
                                      .resource = resource,
                                      .label_selector = *selector ? selector : NULL,
                                      .flags = DECODE_PROJECTION,
                                      .interns = a->interns };
        struct informer *informer;

        TRY(manager_add_informer(a->manager, &o, &informer));
        if (informer_add_handler(informer, handler, a) == 0)
                return 0;
        manager_remove_informer(a->manager, informer);
        return ERR_NO_MEMORY;
}

int resource_sets_watch_configs(struct hub_agent *a, const char *selector)
{
        static const struct kube_resource resources[] = { { "", "v1", "configmaps", "ConfigMap", true },
                                                          { "", "v1", "secrets", "Secret", true } };
        static const informer_handler handlers[] = { config_map_changed, secret_changed };

        for (; a->n_watched_configs < ARRAY_LEN(resources); a->n_watched_configs++)
                TRY(watch_configs(a, selector, &resources[a->n_watched_configs],
                                  handlers[a->n_watched_configs]));
        return 0;
}
