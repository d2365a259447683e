/* What tests of the generated CRDs share: a document against a kind's schema, by the same validation the API
 * server has. */
#pragma once

#include "proto/test_documents.h"

#include "common/base/memory.h"
#include "common/json/schema.h"

struct suite {
        struct arena arena;
        struct map schemas; /* "name/version" -> struct schema */
};

static inline json_t *crd_named(const char *name)
{
        for (size_t i = 0; i < n_crd_texts; i++) {
                if (!text_equal(crd_texts[i].name, name))
                        continue;
                json_t *crd = NULL;
                assert_int_equal(doc_parse(slice_of(crd_texts[i].json), &crd, NULL), 0);
                return crd;
        }
        fail_msg("no CRD %s", name);
        return NULL;
}

static inline const struct schema *schema_of(struct suite *s, const char *name, const char *version)
{
        char key[128];
        snprintf(key, sizeof(key), "%s/%s", name, version);
        const struct schema *known = map_get(&s->schemas, key);
        if (known)
                return known;
        json_t *crd = crd_named(name);
        size_t i;
        json_t *v;
        json_array_foreach(doc_get_array(crd, "spec.versions"), i, v) {
                struct error err = { 0 };
                const struct schema *schema = NULL;
                if (!text_equal(doc_get_string(v, "name"), version))
                        continue;
                if (schema_from_crd(&s->arena, doc_get(v, "schema.openAPIV3Schema"), &schema, &err) < 0)
                        fail_msg("%s: %s", key, err.text);
                assert_int_equal(map_put(&s->schemas, key, (void *)(uintptr_t)schema), 0);
        }
        json_decref(crd);
        known = map_get(&s->schemas, key);
        assert_non_null(known);
        return known;
}

static inline json_t *defaulted(const struct schema *schema, const char *text)
{
        json_t *doc = NULL;
        struct error err = { 0 };
        if (yaml_parse(slice_of(text), &doc, &err) < 0) /* JSON is YAML */
                fail_msg("%s: %s", text, err.text);
        if (!json_object_get(doc, "metadata"))
                json_object_set_new(doc, "metadata", json_pack("{s:s}", "name", "x"));
        assert_int_equal(schema_apply_defaults(schema, doc, &err), 0);
        return doc;
}

static inline struct suite *suite_new(void)
{
        struct suite *s = NEW(struct suite);
        assert_non_null(s);
        map_init(&s->schemas, MAP_OWN_KEYS, NULL);
        return s;
}

static inline void suite_free(struct suite *s)
{
        map_free(&s->schemas);
        arena_free(&s->arena);
        mem_free(s);
}

/* What is wrong with `text`; "" if nothing. */
static inline const char *problems_of(struct suite *s, const char *name, const char *version,
                                      const char *old_text, const char *text)
{
        const struct schema *schema = schema_of(s, name, version);
        AUTO_JSON json_t *doc = defaulted(schema, text);
        AUTO_JSON json_t *old = old_text ? defaulted(schema, old_text) : NULL;
        struct schema_problems problems = { .arena = &s->arena };
        struct error err = { 0 };
        if (schema_validate(schema, doc, old, &problems, &err) < 0)
                fail_msg("%s: %s", name, err.text);
        const char *all = "";
        for (size_t i = 0; i < problems.n; i++)
                all = arena_printf(&s->arena, "%s%s: %s; ", all, problems.at[i].field,
                                   problems.at[i].message);
        return all;
}

struct rule_case {
        const char *name, *version, *old, *text;
        const char *problem; /* part of what must be reported; NULL = accepted */
};

static inline void check_cases(const struct rule_case *cases, size_t n)
{
        struct suite *s = suite_new();
        for (size_t i = 0; i < n; i++) {
                const struct rule_case *c = &cases[i];
                const char *got = problems_of(s, c->name, c->version, c->old, c->text);
                if (c->problem ? !strstr(got, c->problem) : got[0] != '\0')
                        fail_msg("%s %s %s: wanted \"%s\", got \"%s\"", c->name, c->version, c->text,
                                 c->problem ? c->problem : "nothing", got);
        }
        suite_free(s);
}
