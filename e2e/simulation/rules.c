#include "e2e/simulation/rules.h"

const char *rule_label(const json_t *doc, const char *key)
{
        const char *const keys[] = { "metadata", "labels", key };

        return json_string_value(doc_get_keys(doc, keys, 3));
}

bool rule_placement_of(const json_t *doc, char ret[192])
{
        const char *parent = rule_label(doc, LABEL_PARENT_PLACEMENT),
                   *ns = rule_label(doc, LABEL_PARENT_PLACEMENT_NAMESPACE);

        if (!parent)
                return false;
        /* Snapshots and bindings of a namespaced placement live beside it, Works only say so. */
        if (!ns && !text_equal(doc_get_string(doc, "kind"), "Work"))
                ns = doc_get_string(doc, "metadata.namespace");
        snprintf(ret, 192, "%s%s%s", ns ? ns : "", ns ? "/" : "", parent);
        return true;
}

bool rule_is_leaving(const json_t *doc)
{
        return doc_get(doc, "metadata.deletionTimestamp") != NULL;
}

static void key_of_wished(unsigned app, enum wish_place place, char ret[192])
{
        bool is_namespaced = wish_placement_resource(place)->namespaced;
        char name[64];

        wish_placement_name(app, place, name);
        snprintf(ret, 192, "%s%s%s", is_namespaced ? wish_app_name(app) : "", is_namespaced ? "/" : "", name);
}

const struct wish_placement *rule_wished(const struct wish *w, const char *key)
{
        char name[192];

        for (unsigned app = 0; app < WISH_APPS; app++)
                for (unsigned place = 0; place < WISH_PLACES; place++) {
                        key_of_wished(app, place, name);
                        if (text_equal(name, key))
                                return &w->apps[app].placements[place];
                }
        return NULL;
}

bool rule_binding_lives(const json_t *binding)
{
        return !rule_is_leaving(binding) && !text_equal(doc_get_string(binding, "spec.state"), "Unscheduled");
}
