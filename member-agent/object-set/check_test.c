/* spec/cluster-object-set.md 7 */
#include "member-agent/object-set/check.h"

#include "member-agent/object-set/content.h"
#include "member-agent/object-set/testing.h"

#define MOST 64

static const struct set_identity us = { .name = "s", .uid = "1", .revision = 3 };

/* A set; phases in the order of their first object. */
struct bench {
        struct arena arena;
        struct set_phase phases[4];
        struct set_object objects[4][MOST];
        size_t n;
};

static void add(struct bench *b, const char *phase, const char *manifest)
{
        size_t i = 0;

        while (i < b->n && !text_equal(b->phases[i].name, phase))
                i++;
        if (i == b->n)
                b->phases[b->n++] = (struct set_phase){ .name = phase, .at = b->objects[i] };
        assert_int_equal(
                content_object(quoted(manifest), &b->arena, &b->phases[i].at[b->phases[i].n++], NULL), 0);
}

static const char *check(struct bench *b)
{
        const char *words = "";

        assert_int_equal(check_set(&us, &(struct set_phases){ b->phases, b->n }, &b->arena, &words, NULL), 0);
        return words;
}

#define OBJECT(api, kind, meta)                                                                              \
        "{'apiVersion':'" api "','kind':'" kind "','metadata':{'namespace':'ns','name':'a'" meta "}}"
#define CM(meta) OBJECT("v1", "ConfigMap", meta)
#define HEAD "revision validation error: revision \"s\" (3): "
#define ON_CM HEAD "phase \"p\": /v1, Kind=ConfigMap ns/a: "

/* spec/cluster-object-set.md checklist 30 */
static void fields_that_are_the_servers_are_refused(void **state)
{
        static const struct {
                const char *manifest, *says;
        } cases[] = {
                { CM(""), NULL },
                { CM(",'uid':'','generation':0,'generateName':'','finalizers':[],'ownerReferences':[],"
                     "'resourceVersion':'','labels':{'a':'b'}"),
                  NULL },
                { CM(",'uid':'1'"), ON_CM "metadata.uid: Forbidden: must be empty" },
                { CM(",'generation':1"), ON_CM "metadata.generation: Forbidden: must be empty" },
                { CM(",'generateName':'x'"), ON_CM "metadata.generateName: Forbidden: must be empty" },
                { CM(",'finalizers':['x']"), ON_CM "metadata.finalizers: Forbidden: must be empty" },
                { CM(",'ownerReferences':[{}]"), ON_CM "metadata.ownerReferences: Forbidden: must be empty" },
                { CM(",'resourceVersion':'7'"), ON_CM "metadata.resourceVersion: Forbidden: must be empty" },
                { CM(",'finalizers':{}"), ON_CM "metadata.finalizers: Forbidden: must be empty" },
                { "{'metadata':{'name':'a','resourceVersion':'7','ownerReferences':[{}],'finalizers':['x'],"
                  "'generateName':'x','generation':1,'uid':'1'}}",
                  HEAD "phase \"p\": /, Kind= /a: apiVersion: Required value: must not be empty, kind: "
                       "Required value: "
                       "must not be empty, metadata.uid: Forbidden: must be empty, metadata.generation: "
                       "Forbidden: "
                       "must be empty, metadata.generateName: Forbidden: must be empty, metadata.finalizers: "
                       "Forbidden: must be empty, metadata.ownerReferences: Forbidden: must be empty, "
                       "metadata.resourceVersion: Forbidden: must be empty" },
                { "null", HEAD
                  "phase \"p\": /, Kind= /: apiVersion: Required value: must not be empty, kind: Required "
                  "value: must not be empty" },
        };

        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                struct bench b = { 0 };
                const char *says;

                add(&b, "p", cases[i].manifest);
                says = check(&b);
                if (!text_equal(says, cases[i].says))
                        fail_msg("%s: %s", cases[i].manifest, says ? says : "nothing");
                arena_free(&b.arena);
        }
}

static void all_objects_of_all_phases_are_told_of(void **state)
{
        struct bench b = { 0 };

        add(&b, "p", CM(",'uid':'1'"));
        add(&b, "p", OBJECT("apps/v1", "Deployment", ",'uid':'1','generation':2"));
        add(&b, "fine", OBJECT("v1", "Service", ""));
        add(&b, "q", OBJECT("v1", "Secret", ",'uid':'1'"));
        add(&b, "q", OBJECT("v1", "Pod", ""));
        assert_string_equal(check(&b),
                            ON_CM "metadata.uid: Forbidden: must be empty, apps/v1, Kind=Deployment ns/a: "
                                  "metadata.uid: Forbidden: must be empty, metadata.generation: Forbidden: "
                                  "must be empty, phase \"q\": /v1, Kind=Secret ns/a: metadata.uid: "
                                  "Forbidden: must be empty");
        arena_free(&b.arena);
}

/* spec/cluster-object-set.md checklist 31 */
static void an_object_is_there_once(void **state)
{
        struct bench b = { 0 };

        add(&b, "b", OBJECT("apps/v1", "Deployment", ""));
        add(&b, "b", OBJECT("apps/v1", "Deployment", ""));
        add(&b, "b", OBJECT("batch/v1", "Deployment", ""));
        add(&b, "b", "{'apiVersion':'apps/v1','kind':'Deployment','metadata':{'name':'a'}}");
        add(&b, "a", OBJECT("apps/v1beta1", "Deployment", ",'uid':'1'"));
        add(&b, "a", OBJECT("apps/v1", "StatefulSet", ""));
        assert_string_equal(check(&b),
                            HEAD "phase \"b\": apps/v1, Kind=Deployment ns/a: duplicate object found in "
                                 "phases: a, b, phase \"a\": apps/v1beta1, Kind=Deployment ns/a: "
                                 "metadata.uid: Forbidden: must be empty, duplicate object found in "
                                 "phases: a, b");
        arena_free(&b.arena);
        b = (struct bench){ 0 };
        add(&b, "p", CM(""));
        add(&b, "p", CM(""));
        assert_string_equal(check(&b), ON_CM "duplicate object found in phases: p");
        arena_free(&b.arena);
        b = (struct bench){ 0 };
        add(&b, "p", CM(""));
        add(&b, "p", "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'a'}}");
        add(&b, "p", "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'a','namespace':'other'}}");
        assert_null(check(&b));
        arena_free(&b.arena);
        b = (struct bench){ 0 };
        add(&b, "p", "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'generateName':'x'}}");
        add(&b, "p", "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'generateName':'y'}}");
        assert_null(strstr(check(&b), "duplicate")); /* without a name none is the other */
        arena_free(&b.arena);
}

static void a_set_without_phases_is_fine(void **state)
{
        struct bench b = { 0 };

        assert_null(check(&b));
        b.phases[0] = (struct set_phase){ .name = "empty" };
        b.n = 1;
        assert_null(check(&b));
        arena_free(&b.arena);
}

/* spec/cluster-object-set.md 7.2 */
static void answers_that_refuse_are_told_from_those_that_tell_nothing(void **state)
{
        static const struct {
                int status, code;
                const char *text;
                bool refusal;
        } cases[] = {
                { 400, ERR_INVALID, "", true },
                { 401, ERR_UNAUTHORIZED, "", true },
                { 403, ERR_FORBIDDEN, "", true },
                { 404, ERR_NOT_FOUND, "", true },
                { 405, ERR_UNSUPPORTED, "", true },
                { 406, ERR_INVALID, "", true },
                { 409, ERR_CONFLICT, "", true },
                { 409, ERR_EXISTS, "", true },
                { 413, ERR_LIMIT, "", true },
                { 415, ERR_UNSUPPORTED, "", true },
                { 422, ERR_INVALID, "", true },
                { 0, ERR_NOT_FOUND, "no kind \"X\" is served", true },
                { 429, ERR_TOO_MANY, "", false },
                { 500, ERR_RETRY, "", false },
                { 503, ERR_RETRY, "", false },
                { 504, ERR_TIMEOUT, "", false },
                { 0, ERR_TIMEOUT, "", false },
                { 0, ERR_RETRY, "", false },
                { 0, ERR_NO_MEMORY, "", false },
                { 0, ERR_CANCELLED, "", false },
                { 500, ERR_RETRY, "failed to create typed patch object (ns/a; v1): .x: field not declared",
                  true },
        };

        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                struct error answer = { 0 };

                error_set(&answer, cases[i].code, "%s", cases[i].text);
                answer.http_status = cases[i].status;
                if (check_is_refusal(&answer) != cases[i].refusal)
                        fail_msg("%d %s", cases[i].status, error_code_name(cases[i].code));
        }
}

/* spec/cluster-object-set.md checklist 32 */
static void a_phase_that_is_refused_says_which_objects(void **state)
{
        const char *first[] = { "metadata.uid: Forbidden: must be empty", "forbidden" },
                   *second[] = { "namespace \"x\" does not exist" }, *words = NULL;
        struct bench b = { 0 };

        add(&b, "p", CM(""));
        add(&b, "p", OBJECT("apps/v1", "Deployment", ""));
        struct refusal at[] = { { &b.objects[0][0], first, 2 }, { &b.objects[0][1], second, 1 } };
        struct refusals refused = { at, 2 };
        assert_int_equal(check_phase_words(&b.phases[0], 4, &refused, &b.arena, &words, NULL), 0);
        assert_string_equal(words,
                            "phase 4 validation error: phase \"p\": /v1, Kind=ConfigMap ns/a: metadata.uid: "
                            "Forbidden: must be empty, forbidden, apps/v1, Kind=Deployment ns/a: namespace "
                            "\"x\" does not exist");
        refused.n = 0;
        assert_int_equal(check_phase_words(&b.phases[0], 4, &refused, &b.arena, &words, NULL), 0);
        assert_null(words);
        arena_free(&b.arena);
}

static void running_out_of_memory_is_told(void **state)
{
        struct bench b = { 0 };
        struct set_phases phases = { b.phases, 0 };

        add(&b, "p", CM(",'uid':'1'"));
        add(&b, "q", CM(""));
        phases.n = b.n;
        for (uint64_t n = 1, fired = 1; fired; n++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                const char *words = NULL;
                int code;

                mem_fail_at(n, false);
                code = check_set(&us, &phases, &arena, &words, NULL);
                fired = mem_fault_fired();
                mem_fail_at(0, false);
                assert_int_equal(code, fired ? ERR_NO_MEMORY : 0);
                assert_true(fired || words);
        }
        arena_free(&b.arena);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(fields_that_are_the_servers_are_refused),
                cmocka_unit_test(all_objects_of_all_phases_are_told_of),
                cmocka_unit_test(an_object_is_there_once),
                cmocka_unit_test(a_set_without_phases_is_fine),
                cmocka_unit_test(answers_that_refuse_are_told_from_those_that_tell_nothing),
                cmocka_unit_test(a_phase_that_is_refused_says_which_objects),
                cmocka_unit_test(running_out_of_memory_is_told),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
