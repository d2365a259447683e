/* A fleet's definitions as the minor version before has them: v1beta1 without the fields that came later,
 * which are those that v1 does not show (placements' deleteStrategy and reportBackStrategy, Works' reports of
 * statuses, members' namespaces and options for their end). The server prunes them, as an older one would.
 * For tests. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "e2e/devcluster/rig.h"

static inline json_t *version_of(json_t *versions, const char *name)
{
        json_t *v;
        size_t i;

        json_array_foreach(versions, i, v)
                if (text_equal(doc_get_string(v, "name"), name))
                        return v;
        return NULL;
}

/* `definition` is installed already; false: that kind has always been as it is. */
static inline bool make_former(struct rig *r, const char *definition)
{
        AUTO_JSON json_t *crd = NULL, *patch = NULL;
        AUTO_BUF struct buf text;
        struct error err = { 0 };
        json_t *versions, *stored, *shown;

        buf_init(&text, 8 << 20);
        assert_int_equal(doc_parse(slice_of(definition), &crd, &err), 0);
        versions = doc_get(crd, "spec.versions");
        stored = version_of(versions, "v1beta1");
        shown = version_of(versions, "v1");
        if (!stored || !shown ||
            json_equal(json_object_get(stored, "schema"), json_object_get(shown, "schema")))
                return false;
        json_object_set(stored, "schema", json_object_get(shown, "schema"));
        patch = json_pack("{s:{s:O}}", "spec", "versions", versions);
        assert_int_equal(doc_write(patch, &text), 0);
        if (rig_merge(r,
                      arena_printf(&r->arena, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/%s",
                                   doc_get_string(crd, "metadata.name")),
                      text.data) != 200)
                fail_msg("%s: %s", doc_get_string(crd, "metadata.name"), r->text);
        return true;
}

/* The other way: the hub is upgraded. */
static inline void make_present(struct rig *r, const char *definition)
{
        AUTO_JSON json_t *crd = NULL, *patch = NULL;
        AUTO_BUF struct buf text;
        struct error err = { 0 };

        buf_init(&text, 8 << 20);
        assert_int_equal(doc_parse(slice_of(definition), &crd, &err), 0);
        patch = json_pack("{s:{s:O}}", "spec", "versions", doc_get(crd, "spec.versions"));
        assert_int_equal(doc_write(patch, &text), 0);
        assert_int_equal(rig_merge(r,
                                   arena_printf(&r->arena,
                                                "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/%s",
                                                doc_get_string(crd, "metadata.name")),
                                   text.data),
                         200);
}
