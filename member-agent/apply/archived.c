#include "member-agent/apply/archived.h"

#include "proto/names.h"

#define STATE "spec.lifecycleState"

static bool is_set(const json_t *doc)
{
        return text_starts_with(doc_get_string(doc, "apiVersion"), OLM_PREFIX) &&
               text_equal(doc_get_string(doc, "kind"), KIND_CLUSTER_OBJECT_SET);
}

bool archived_applies(const json_t *manifest, const json_t *live)
{
        return is_set(manifest) && text_equal(doc_get_string(live, STATE), SET_ARCHIVED) &&
               text_equal(doc_get_string(manifest, STATE), SET_ACTIVE);
}

int archived_settle(json_t *manifest, const json_t *live, struct error *err)
{
        return archived_applies(manifest, live) && doc_set_string(manifest, STATE, SET_ARCHIVED) < 0
                       ? error_no_memory(err)
                       : 0;
}
