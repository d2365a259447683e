/* For the tests of this folder: ResourceSets and documents as YAML. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "hub-agent/resource-set/build.h"
#include "hub-agent/resource-set/inputs.h"

static inline json_t *yaml_of(struct arena *arena, const char *text)
{
        struct error err = { 0 };
        json_t *doc;

        if (yaml_parse(slice_of(text), &doc, &err) < 0 || doc_keep(arena, doc, &err) < 0)
                fail_msg("%s: %s", text, err.text);
        return doc;
}

static inline struct object *object_of(struct arena *arena, const struct kind *kind, const char *text)
{
        struct error err = { 0 };
        struct object *o;

        if (object_from_doc(kind, yaml_of(arena, text), arena, &o, &err) < 0)
                fail_msg("%s: %s", text, err.text);
        return o;
}

/* Named my-rset in default unless the text has metadata. */
static inline struct resource_set *set_of(struct arena *arena, const char *text)
{
        struct object *o = object_of(arena, &resource_set_kind, text);

        if (!o->meta.name) {
                o->meta.name = "my-rset";
                o->meta.ns = "default";
                o->meta.generation = 1;
        }
        return (struct resource_set *)o;
}

/* A provider with what it exported, as YAML's flow form. */
static inline const struct object *provider_of(struct arena *arena, const char *name, const char *inputs)
{
        struct object *o = object_of(arena, &resource_set_input_provider_kind,
                                     arena_printf(arena,
                                                  "{status: {lastExportedRevision: 'sha256:1', "
                                                  "exportedInputs: [%s]}}",
                                                  inputs));

        o->meta.name = name;
        o->meta.ns = "default";
        return o;
}

static inline const char *json_of(struct arena *arena, const json_t *doc)
{
        AUTO_BUF struct buf b;

        buf_init(&b, 1u << 20);
        assert_int_equal(doc_write_canonical(doc, &b), 0);
        return arena_strndup(arena, b.data, b.len);
}

/* What is built from `text`; NULL: it fails, with the error in *err. */
static inline struct build *try_build(struct arena *arena, const struct resource_set *set, struct error *err)
{
        struct build *b = ARENA_NEW(arena, struct build);
        json_t *sets = NULL;

        if (!inputs_are_none(set))
                assert_int_equal(inputs_collect(arena, set, &(struct object_list){ 0 }, &sets, err), 0);
        return build_objects(arena, set, sets, b, err) < 0 ? NULL : b;
}

static inline struct build *build_of(struct arena *arena, const char *text)
{
        struct error err = { 0 };
        struct build *b = try_build(arena, set_of(arena, text), &err);

        if (!b)
                fail_msg("%s: %s", text, err.text);
        return b;
}

static inline void assert_fails_to_build(const char *text, const char *words)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct error err = { 0 };

        if (try_build(&arena, set_of(&arena, text), &err))
                fail_msg("%s is built", text);
        if (!strstr(err.text, words))
                fail_msg("wanted \"%s\", got \"%s\"", words, err.text);
}
