/* What a plan tells of manifests, and how it is named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/base/buf.h"
#include "hub-agent/staged-update/update_plan.h"

#define OBJECT(api, kind, name, rest)                                                                        \
        "{\"apiVersion\":\"" api "\",\"kind\":\"" kind "\",\"metadata\":{\"name\":\"" name                   \
        "\",\"namespace\":\"app\"}" rest "}"

struct scene {
        struct arena arena, scratch;
        struct error err;
        struct cluster_plan plan;
};

static struct raw_list list_of(struct scene *s, const char *const *texts, size_t n)
{
        struct raw_list l = { arena_calloc(&s->arena, n + 1, sizeof(struct slice)), (uint32_t)n, true };

        for (size_t i = 0; i < n; i++)
                l.at[i] = slice_of(texts[i]);
        return l;
}

static void plan(struct scene *s, const char *const *before, size_t n_before, const char *const *after,
                 size_t n_after)
{
        struct raw_list old = list_of(s, before, n_before), new = list_of(s, after, n_after);

        if (plan_cluster(&s->arena, &s->scratch, &old, &new, &s->plan, &s->err) < 0)
                fail_msg("%s", s->err.text);
}

static void scene_free(struct scene *s)
{
        arena_free(&s->arena);
        arena_free(&s->scratch);
}

/* "Changed apps/v1 Deployment app/web /spec/replicas:1>2" */
static const char *told(struct scene *s)
{
        const char *text = "";

        for (uint32_t i = 0; i < s->plan.objects.n; i++) {
                const struct planned_object *o = &s->plan.objects.at[i];

                text = arena_printf(&s->arena, "%s%s%s %s/%s %s %s/%s", text, i ? "; " : "", o->change,
                                    or_empty(o->group), o->version, o->kind, or_empty(o->ns), o->name);
                for (uint32_t k = 0; k < o->fields.n; k++)
                        text = arena_printf(&s->arena, "%s %s:%s>%s", text, o->fields.at[k].path,
                                            or_empty(o->fields.at[k].from), or_empty(o->fields.at[k].to));
        }
        return text;
}

static void objects_are_added_changed_and_removed(void **state)
{
        static const char *const before[] = {
                OBJECT("v1", "ConfigMap", "gone", ""),
                OBJECT("apps/v1", "Deployment", "web", ",\"spec\":{\"replicas\":1,\"paused\":true}"),
                OBJECT("v1", "ConfigMap", "same", ",\"data\":{\"a\":\"b\"}"),
        };
        static const char *const after[] = {
                OBJECT("v1", "ConfigMap", "same", ",\"data\":{\"a\":\"b\"}"),
                OBJECT("v1", "ConfigMap", "fresh", ""),
                OBJECT("apps/v1", "Deployment", "web", ",\"spec\":{\"replicas\":2,\"list\":[\"x\"]}"),
        };
        struct scene s = { .err.code = 0 };

        plan(&s, before, 3, after, 3);
        assert_int_equal(s.plan.added.value, 1);
        assert_int_equal(s.plan.changed.value, 1);
        assert_int_equal(s.plan.removed.value, 1);
        assert_string_equal(told(&s),
                            "Changed apps/v1 Deployment app/web /spec/paused:true> /spec/replicas:1>2 "
                            "/spec/list:>[\"x\"]; Added /v1 ConfigMap app/fresh; Removed /v1 "
                            "ConfigMap app/gone");
        scene_free(&s);
}

static void of_secrets_no_value_is_told(void **state)
{
        static const char *const before[] = { OBJECT("v1", "Secret", "key", ",\"data\":{\"a\":\"b2xk\"}") };
        static const char *const after[] = { OBJECT("v1", "Secret", "key",
                                                    ",\"data\":{\"a\":\"bmV3\",\"b\":\"bmV3\"}") };
        struct scene s = { .err.code = 0 };

        plan(&s, before, 1, after, 1);
        assert_string_equal(told(&s), "Changed /v1 Secret app/key /data/a:> /data/b:>");
        scene_free(&s);
}

static void long_values_lose_their_middle_and_many_fields_are_counted(void **state)
{
        AUTO_BUF struct buf b;
        const char *before = OBJECT("v1", "ConfigMap", "big", ",\"data\":{}"), *after;
        struct scene s = { .err.code = 0 };

        buf_init(&b, 1 << 20);
        buf_append_str(&b, "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"big\","
                           "\"namespace\":\"app\"},\"data\":{");
        for (int i = 0; i < UPDATE_PLAN_FIELDS_MAX + 7; i++)
                buf_printf(&b, "%s\"k%03d\":\"%0400d\"", i ? "," : "", i, i);
        buf_append_str(&b, "}}");
        after = b.data;
        plan(&s, &before, 1, &after, 1);
        assert_int_equal(s.plan.objects.at[0].fields.n, UPDATE_PLAN_FIELDS_MAX);
        assert_int_equal(s.plan.objects.at[0].omitted_fields.value, 7);
        assert_true(strlen(s.plan.objects.at[0].fields.at[0].to) < UPDATE_PLAN_VALUE_MAX);
        assert_non_null(strstr(s.plan.objects.at[0].fields.at[0].to, " ... "));
        scene_free(&s);
}

static struct update_plan two_clusters(struct scene *s)
{
        static const char *const after[] = { OBJECT("v1", "ConfigMap", "a", ""),
                                             OBJECT("v1", "ConfigMap", "b", "") };
        struct update_plan p = { .resource_snapshot_index = "1" };

        plan(s, NULL, 0, after, 2);
        p.clusters.at = ARENA_NEW_ARRAY(&s->arena, struct cluster_plan, 2);
        p.clusters.at[0] = p.clusters.at[1] = s->plan;
        p.clusters.at[0].cluster_name = "c0";
        p.clusters.at[1].cluster_name = "c1";
        p.clusters.n = 2;
        return p;
}

static void another_plan_has_another_name(void **state)
{
        struct scene s = { .err.code = 0 };
        struct update_plan p = two_clusters(&s);
        const char *hash = update_plan_hash(&s.arena, &p, "basis");

        assert_string_equal(update_plan_hash(&s.arena, &p, "basis"), hash);
        assert_string_not_equal(update_plan_hash(&s.arena, &p, "hidden"), hash);
        p.clusters.at[1].cluster_name = "c2";
        assert_string_not_equal(update_plan_hash(&s.arena, &p, "basis"), hash);
        p.clusters.at[1].cluster_name = "c1";
        p.clusters.at[1].problem = "x";
        assert_string_not_equal(update_plan_hash(&s.arena, &p, "basis"), hash);
        p.clusters.at[1].problem = NULL;
        p.resource_snapshot_index = "2";
        assert_string_not_equal(update_plan_hash(&s.arena, &p, "basis"), hash);
        scene_free(&s);
}

/* One text at a time, and none passes into the next. */
static void whatever_a_plan_tells_is_in_its_name(void **state)
{
        static const char *const before[] = { OBJECT("apps/v1", "Deployment", "web",
                                                     ",\"spec\":{\"replicas\":1}") };
        static const char *const after[] = { OBJECT("apps/v1", "Deployment", "web",
                                                    ",\"spec\":{\"replicas\":2}") };
        struct scene s = { .err.code = 0 };
        struct update_plan p = { .resource_snapshot_index = "1" };
        struct planned_object *o;
        const char **texts[9], *hash;

        plan(&s, before, 1, after, 1);
        p.clusters.at = &s.plan;
        p.clusters.n = 1;
        o = s.plan.objects.at;
        memcpy(texts,
               ((const char **[]){ &o->change, &o->group, &o->version, &o->kind, &o->ns, &o->name,
                                   &o->fields.at[0].path, &o->fields.at[0].from, &o->fields.at[0].to }),
               sizeof(texts));
        hash = update_plan_hash(&s.arena, &p, "basis");
        for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
                const char *kept = *texts[i];

                assert_non_null(kept);
                *texts[i] = "other";
                assert_string_not_equal(update_plan_hash(&s.arena, &p, "basis"), hash);
                *texts[i] = kept;
        }
        assert_string_equal(update_plan_hash(&s.arena, &p, "basis"), hash);
        o->group = "a";
        o->version = "bc";
        hash = update_plan_hash(&s.arena, &p, "basis");
        o->group = "ab";
        o->version = "c";
        assert_string_not_equal(update_plan_hash(&s.arena, &p, "basis"), hash);
        scene_free(&s);
}

static void what_does_not_fit_is_counted_and_the_numbers_stay(void **state)
{
        struct scene s = { .err.code = 0 };
        struct update_plan p = two_clusters(&s);

        update_plan_fit(&p, 1 << 20);
        assert_false(p.omitted_objects.set);
        update_plan_fit(&p, 600);
        assert_int_equal(p.clusters.at[0].objects.n, 2);
        assert_int_equal(p.clusters.at[1].objects.n, 1);
        assert_int_equal(p.omitted_objects.value, 1);
        assert_int_equal(p.clusters.at[1].added.value, 2);
        scene_free(&s);
}

/* RFC 6901: what a key holds of the path's own characters is written otherwise. */
static void what_a_field_was_is_found_wherever_it_is(void **state)
{
        static const char *const before[] = { OBJECT(
                "v1", "ConfigMap", "a",
                ",\"data\":{\"a/"
                "b\":\"1\",\"c~d\":\"2\",\"e~1f\":\"3\",\"\":\"4\"},\"list\":[{\"x\":\"5\"},{\"x\":"
                "\"6\"}]") };
        static const char *const after[] = { OBJECT(
                "v1", "ConfigMap", "a",
                ",\"data\":{\"a/"
                "b\":\"9\",\"c~d\":\"9\",\"e~1f\":\"9\",\"\":\"9\"},\"list\":[{\"x\":\"5\"},{\"x\":"
                "\"9\"}]") };
        static const char *const fields[] = { " /data/a~1b:\"1\">\"9\"", " /data/c~0d:\"2\">\"9\"",
                                              " /data/e~01f:\"3\">\"9\"", " /data/:\"4\">\"9\"",
                                              " /list/1/x:\"6\">\"9\"" };
        struct scene s = { .err.code = 0 };

        plan(&s, before, 1, after, 1);
        for (size_t i = 0; i < ARRAY_LEN(fields); i++)
                if (!strstr(told(&s), fields[i]))
                        fail_msg("wanted %s in %s", fields[i], told(&s));
        scene_free(&s);
}

/* Of a kind that shares its name with a core one values are told. */
static void only_the_core_kind_of_secrets_is_secret(void **state)
{
        static const char *const before[] = { OBJECT("example.org/v1", "Secret", "key", ",\"data\":1") };
        static const char *const after[] = { OBJECT("example.org/v1", "Secret", "key", ",\"data\":2") };
        struct scene s = { .err.code = 0 };

        plan(&s, before, 1, after, 1);
        assert_string_equal(told(&s), "Changed example.org/v1 Secret app/key /data:1>2");
        scene_free(&s);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(objects_are_added_changed_and_removed),
                cmocka_unit_test(of_secrets_no_value_is_told),
                cmocka_unit_test(long_values_lose_their_middle_and_many_fields_are_counted),
                cmocka_unit_test(another_plan_has_another_name),
                cmocka_unit_test(whatever_a_plan_tells_is_in_its_name),
                cmocka_unit_test(what_does_not_fit_is_counted_and_the_numbers_stay),
                cmocka_unit_test(what_a_field_was_is_found_wherever_it_is),
                cmocka_unit_test(only_the_core_kind_of_secrets_is_secret),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
