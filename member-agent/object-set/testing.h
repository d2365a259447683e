/* For the tests of this folder: sets and objects in a few words. */
#pragma once

#include "common/base/limits.h"
#include "member-agent/apply/testing.h"
#include "member-agent/object-set/content.h"

#define SET_REFERENCE(name, uid, rest)                                                                       \
        "{'apiVersion':'olm.operatorframework.io/v1','kind':'ClusterObjectSet','name':'" name                \
        "','uid':'" uid "'" rest "}"
#define CONTROLLING ",'controller':true,'blockOwnerDeletion':true"
#define RELEASED ",'controller':false,'blockOwnerDeletion':true"

static inline struct set_object object_from(struct arena *arena, json_t *doc)
{
        struct set_object o = { 0 };

        assert_int_equal(content_object(json_incref(doc), arena, &o, NULL), 0);
        return o;
}

static inline struct cluster_object_set *set_from(struct arena *arena, const char *text)
{
        AUTO_JSON json_t *doc = quoted(text);
        struct object *o = NULL;
        struct error err = { 0 };

        if (object_from_doc(&cluster_object_set_kind, doc, arena, &o, &err) < 0)
                fail_msg("%s", err.text);
        return (struct cluster_object_set *)(void *)o;
}
