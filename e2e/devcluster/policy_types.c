/* What expressions may read of `request` and `namespaceObject`. Everything else they see has no type before
 * it runs. Properties are sorted by name. */
#include "e2e/devcluster/policy.h"

static const struct schema text = { .type = SCHEMA_STRING }, boolean = { .type = SCHEMA_BOOLEAN },
                           integer = { .type = SCHEMA_INTEGER };
static const struct schema moment = { .type = SCHEMA_STRING, .format = "date-time" };
static const struct schema texts = { .type = SCHEMA_ARRAY, .items = &text };
static const struct schema text_map = { .type = SCHEMA_OBJECT, .additional = &text };
static const struct schema texts_map = { .type = SCHEMA_OBJECT, .additional = &texts };

#define OBJECT(list)                                                                                         \
        {                                                                                                    \
                .type = SCHEMA_OBJECT, .properties = list, .n_properties = ARRAY_LEN(list)                   \
        }

static const struct schema_property kind_fields[] = { { .name = "group", .schema = &text },
                                                      { .name = "kind", .schema = &text },
                                                      { .name = "version", .schema = &text } };
static const struct schema kind = OBJECT(kind_fields);

static const struct schema_property resource_fields[] = { { .name = "group", .schema = &text },
                                                          { .name = "resource", .schema = &text },
                                                          { .name = "version", .schema = &text } };
static const struct schema resource = OBJECT(resource_fields);

static const struct schema_property user_fields[] = { { .name = "extra", .schema = &texts_map },
                                                      { .name = "groups", .schema = &texts },
                                                      { .name = "uid", .schema = &text },
                                                      { .name = "username", .schema = &text } };
static const struct schema user = OBJECT(user_fields);

static const struct schema_property request_fields[] = {
        { .name = "dryRun", .schema = &boolean },
        { .name = "kind", .schema = &kind },
        { .name = "name", .schema = &text },
        { .name = "namespace", .schema = &text },
        { .name = "operation", .schema = &text },
        { .name = "options", .schema = &cel_anything },
        { .name = "requestKind", .schema = &kind },
        { .name = "requestResource", .schema = &resource },
        { .name = "requestSubResource", .schema = &text },
        { .name = "resource", .schema = &resource },
        { .name = "subResource", .schema = &text },
        { .name = "userInfo", .schema = &user },
};
const struct schema policy_request_schema = OBJECT(request_fields);

static const struct schema_property meta_fields[] = {
        { .name = "annotations", .schema = &text_map },
        { .name = "creationTimestamp", .schema = &moment },
        { .name = "deletionGracePeriodSeconds", .schema = &integer },
        { .name = "deletionTimestamp", .schema = &moment },
        { .name = "finalizers", .schema = &texts },
        { .name = "generateName", .schema = &text },
        { .name = "generation", .schema = &integer },
        { .name = "labels", .schema = &text_map },
        { .name = "name", .schema = &text },
        { .name = "namespace", .schema = &text },
        { .name = "resourceVersion", .schema = &text },
        { .name = "uid", .schema = &text },
};
static const struct schema meta = OBJECT(meta_fields);

static const struct schema_property spec_fields[] = { { .name = "finalizers", .schema = &texts } };
static const struct schema spec = OBJECT(spec_fields);

static const struct schema_property status_fields[] = { { .name = "conditions", .schema = &cel_anything },
                                                        { .name = "phase", .schema = &text } };
static const struct schema status = OBJECT(status_fields);

static const struct schema_property namespace_fields[] = { { .name = "metadata", .schema = &meta },
                                                           { .name = "spec", .schema = &spec },
                                                           { .name = "status", .schema = &status } };
const struct schema policy_namespace_schema = OBJECT(namespace_fields);
