#include "member-agent/object-set/reference.h"

static bool field_is(const json_t *reference, const char *field, const char *value)
{
        return text_equal(json_string_value(json_object_get(reference, field)), value);
}

json_t *reference_new(const struct set_identity *set)
{
        return json_pack("{s:s, s:s, s:s, s:s, s:b, s:b}", "apiVersion", API_VERSION_OLM, "kind",
                         KIND_CLUSTER_OBJECT_SET, "name", set->name, "uid", set->uid, "controller", 1,
                         "blockOwnerDeletion", 1);
}

bool reference_is_of_a_set(const json_t *reference)
{
        return text_starts_with(doc_get_string(reference, "apiVersion"), OLM_PREFIX) &&
               field_is(reference, "kind", KIND_CLUSTER_OBJECT_SET);
}

bool reference_is_of(const json_t *reference, const struct set_identity *set)
{
        return reference_is_of_a_set(reference) && field_is(reference, "name", set->name) &&
               field_is(reference, "uid", set->uid);
}

json_t *reference_list(const json_t *live)
{
        return doc_get_array(live, "metadata.ownerReferences");
}

json_t *reference_find(const json_t *live, const struct set_identity *set)
{
        size_t i;
        json_t *reference;

        json_array_foreach(reference_list(live), i, reference)
                if (reference_is_of(reference, set))
                        return reference;
        return NULL;
}

json_t *reference_controller(const json_t *live)
{
        size_t i;
        json_t *reference;

        json_array_foreach(reference_list(live), i, reference)
                if (json_is_true(json_object_get(reference, "controller")))
                        return reference;
        return NULL;
}
