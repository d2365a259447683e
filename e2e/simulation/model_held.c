/* What a cluster holds that an update run has reached: the run's snapshot, as the hub keeps it. */
#include "common/base/memory.h"
#include "e2e/simulation/model_parts.h"
#include "proto/names.h"

static const char *label(const json_t *doc, const char *key)
{
        const char *const keys[] = { "metadata", "labels", key };

        return json_string_value(doc_get_keys(doc, keys, 3));
}

/* By a run, to what the binding says now. */
static bool was_reached(const json_t *binding)
{
        const json_t *started = model_condition(doc_get_object(binding, "status"), "RolloutStarted");
        const char *message = doc_get_string(started, "message");

        return message && strstr(message, "updateRun: ") &&
               text_equal(doc_get_string(started, "status"), "True") &&
               doc_get_int(started, "observedGeneration", -1) ==
                       doc_get_int(binding, "metadata.generation", 0);
}

static bool is_overridden(const json_t *binding)
{
        return json_array_size(doc_get_array(binding, "spec.resourceOverrideSnapshots")) > 0 ||
               json_array_size(doc_get_array(binding, "spec.clusterResourceOverrideSnapshots")) > 0;
}

/* Another placement of the application has a say in the same objects. */
static bool is_shared(const struct wish *w, unsigned app, enum wish_place place, const struct model_held *h)
{
        const struct wish_placement *all = w->apps[app].placements, *main = &all[PLACE_MAIN];
        bool there[WISH_PLACES];

        for (unsigned i = 0; i < WISH_PLACES; i++)
                there[i] = all[i].exists || all[i].leaving;
        if (place == PLACE_TWIN)
                return there[PLACE_MAIN];
        if (place == PLACE_PART)
                return main->leaving || (main->exists && (main->strategy.external_ms > 0 ||
                                                          main->selection != SELECT_NAMESPACE_ONLY));
        if (there[PLACE_TWIN] && h->objects[SLOT_ROLE].exists)
                return true;
        for (unsigned slot = 0; slot < SLOT_WEB && there[PLACE_PART]; slot++)
                if (h->objects[slot].exists)
                        return true;
        return false;
}

static bool is_slot(const json_t *resource, unsigned app, unsigned slot)
{
        const struct kube_resource *r = wish_resource(app, slot);
        char name[64];

        wish_object_name(app, slot, name);
        return text_equal(doc_get_string(resource, "kind"), r->kind) &&
               text_equal(doc_get_string(resource, "metadata.name"), name);
}

static void read_resource(struct model_held *h, unsigned app, const json_t *resource)
{
        if (text_equal(doc_get_string(resource, "kind"), "Namespace"))
                h->home = true;
        for (unsigned slot = 0; slot < WISH_SLOTS; slot++) {
                struct wish_object *o = &h->objects[slot];

                if (!is_slot(resource, app, slot))
                        continue;
                o->exists = wish_color(slot, resource, &o->color);
                o->labelled = doc_get(resource, "metadata.labels.pick") != NULL;
        }
}

static bool is_of_group(const json_t *snapshot, const json_t *placement, const char *index)
{
        return text_equal(label(snapshot, LABEL_PARENT_PLACEMENT),
                          doc_get_string(placement, "metadata.name")) &&
               text_equal(doc_get_string(snapshot, "metadata.namespace"),
                          doc_get_string(placement, "metadata.namespace")) &&
               text_equal(label(snapshot, LABEL_RESOURCE_INDEX), index);
}

/* false: somebody deleted some or all of the group. */
static bool read_group(struct model_held *h, unsigned app, const json_t *placement, const json_t *snapshots)
{
        static const char *const size[] = { "metadata", "annotations",
                                            ANNOTATION_NUMBER_OF_RESOURCE_SNAPSHOTS };
        json_t *snapshot, *resource;
        size_t i, k, n = 0, n_all = 0;

        json_array_foreach(snapshots, i, snapshot) {
                const char *text = json_string_value(doc_get_keys(snapshot, size, 3));

                if (!is_of_group(snapshot, placement, h->index))
                        continue;
                n++;
                if (text)
                        n_all = strtoul(text, NULL, 10);
                json_array_foreach(doc_get_array(snapshot, "spec.selectedResources"), k, resource)
                        read_resource(h, app, resource);
        }
        return n > 0 && n == n_all;
}

struct model_held *model_held_new(const struct wish *w, const struct model_place *p, const json_t *binding,
                                  const json_t *snapshots)
{
        const json_t *asked = doc_get(p->doc, "spec.strategy.applyStrategy"),
                     *applied = doc_get(binding, "spec.applyStrategy");
        const char *snapshot = doc_get_string(binding, "spec.resourceSnapshotName"), *end;
        struct model_held *h;
        char name[64];

        wish_placement_name(p->app, p->place, name);
        if (!was_reached(binding) || is_overridden(binding) || !asked || !applied ||
            !doc_equal(asked, applied) || !snapshot || !text_starts_with(snapshot, name) ||
            !(end = strstr(snapshot, "-snapshot")))
                return NULL;
        h = NEW(struct model_held);
        if (!h)
                return NULL;
        snprintf(h->index, sizeof(h->index), "%.*s", (int)(end - snapshot) - (int)strlen(name) - 1,
                 snapshot + strlen(name) + 1);
        if (read_group(h, p->app, p->doc, snapshots) && !is_shared(w, p->app, p->place, h))
                return h;
        mem_free(h);
        return NULL;
}
