#include "e2e/devcluster/events.h"

static const struct {
        const char *core, *other;
} names[] = {
        { "involvedObject", "regarding" },
        { "message", "note" },
        { "source", "deprecatedSource" },
        { "firstTimestamp", "deprecatedFirstTimestamp" },
        { "lastTimestamp", "deprecatedLastTimestamp" },
        { "count", "deprecatedCount" },
        { "reportingComponent", "reportingController" },
};

static int rename_member(json_t *doc, const char *from, const char *to)
{
        AUTO_JSON json_t *value = json_incref(json_object_get(doc, from));
        json_object_del(doc, from);
        return value && json_object_set(doc, to, value) < 0 ? ERR_NO_MEMORY : 0;
}

int event_to_core(json_t *doc)
{
        for (size_t i = 0; i < ARRAY_LEN(names); i++)
                TRY(rename_member(doc, names[i].other, names[i].core));
        return doc_set_string(doc, "apiVersion", "v1");
}

int event_from_core(json_t *doc)
{
        for (size_t i = 0; i < ARRAY_LEN(names); i++)
                TRY(rename_member(doc, names[i].core, names[i].other));
        return doc_set_string(doc, "apiVersion", "events.k8s.io/v1");
}
