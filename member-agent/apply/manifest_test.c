/* spec/member-agent.md 2.3 (checklist 12-14). */
#include "common/kube/trouble.h"
#include "member-agent/apply/manifest.h"

#include "member-agent/apply/testing.h"

static void decode(struct manifest *m, int ordinal, const char *text, struct arena *arena)
{
        assert_int_equal(manifest_decode(m, ordinal, slice_of(text), arena, NULL), 0);
}

static void a_manifest_is_identified(void **state)
{
        struct arena arena AUTO_ARENA = ARENA_INIT;
        struct manifest m;

        decode(&m, 2,
               "{\"apiVersion\":\"apps/"
               "v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"a\",\"namespace\":\"b\"}}",
               &arena);
        assert_int_equal(m.result, RESULT_NONE);
        assert_int_equal(m.ordinal, 2);
        assert_string_equal(m.group, "apps");
        assert_string_equal(m.version, "v1");
        assert_string_equal(m.identity, "GV=apps/v1, Kind=Deployment, Namespace=b, Name=a");
}

static void the_core_group_is_empty(void **state)
{
        struct arena arena AUTO_ARENA = ARENA_INIT;
        struct manifest m;

        decode(&m, 0, "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"a\"}}", &arena);
        assert_string_equal(m.group, "");
        assert_null(m.ns);
}

/* spec/member-agent.md checklist 13 */
static void bad_manifests_get_a_result_and_a_cause(void **state)
{
        static const struct {
                const char *text;
                enum result result;
        } lines[] = {
                { "{", RESULT_DECODING_ERRED },
                { "[]", RESULT_DECODING_ERRED },
                { "{\"apiVersion\":\"v1\"}", RESULT_DECODING_ERRED },
                { "{\"apiVersion\":\"v1\",\"Kind\":\"X\"}", RESULT_DECODING_ERRED },
                { "{\"apiVersion\":\"\",\"kind\":\"X\",\"metadata\":{\"name\":\"n\"}}",
                  RESULT_DECODING_ERRED },
                { "{\"apiVersion\":\"v1\",\"kind\":\"\",\"metadata\":{\"name\":\"n\"}}",
                  RESULT_DECODING_ERRED },
                { "{\"apiVersion\":\"v1\",\"kind\":\"X\"}", RESULT_DECODING_ERRED },
                { "{\"apiVersion\":\"v1\",\"kind\":\"X\",\"metadata\":{\"name\":\"\"}}",
                  RESULT_DECODING_ERRED },
                { "{\"apiVersion\":\"v1\",\"kind\":\"X\",\"metadata\":{\"name\":\"n\",\"namespace\":7}}",
                  RESULT_DECODING_ERRED },
                { "{\"apiVersion\":\"v1\",\"kind\":\"X\",\"metadata\":{\"name\":\"n\",\"generateName\":7}}",
                  RESULT_DECODING_ERRED },
                { "{\"apiVersion\":\"v1\",\"kind\":\"X\",\"metadata\":{\"name\":7}}", RESULT_DECODING_ERRED },
                { "{\"apiVersion\":\"v1\",\"kind\":\"X\",\"metadata\":{\"generateName\":\"g\"}}",
                  RESULT_FOUND_GENERATE_NAME },
                { "{\"apiVersion\":\"v1\",\"kind\":\"X\",\"metadata\":{\"generateName\":\"g\",\"name\":\"n\"}"
                  "}",
                  RESULT_NONE },
        };

        for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
                struct arena arena AUTO_ARENA = ARENA_INIT;
                struct manifest m;

                decode(&m, 0, lines[i].text, &arena);
                assert_int_equal(m.result, lines[i].result);
                assert_int_equal(m.cause[0] != '\0', lines[i].result != RESULT_NONE);
        }
}

/* spec/member-agent.md checklist 14 */
static void a_second_occurrence_is_a_duplicate(void **state)
{
        static const char text[] = "{\"apiVersion\":\"v1\",\"kind\":\"X\",\"metadata\":{\"name\":\"n\"}}";
        struct arena arena AUTO_ARENA = ARENA_INIT;
        struct manifest m[3];

        decode(&m[0], 0, text, &arena);
        decode(&m[1], 1, "{\"apiVersion\":\"v1\",\"kind\":\"X\",\"metadata\":{\"name\":\"o\"}}", &arena);
        decode(&m[2], 2, text, &arena);
        assert_int_equal(manifest_mark_duplicates(m, 3, NULL), 0);
        assert_int_equal(m[0].result, RESULT_NONE);
        assert_int_equal(m[1].result, RESULT_NONE);
        assert_int_equal(m[2].result, RESULT_DUPLICATED);
}

static void an_object_is_where_its_kind_and_its_placement_say(void **state)
{
        static const struct {
                bool namespaced;
                const char *ns, *only_ns;
                const char *cause; /* NULL = allowed */
        } lines[] = {
                { true, "a", NULL, NULL },
                { false, NULL, NULL, NULL },
                { true, "a", "a", NULL },
                { true, NULL, NULL, "Thing is namespaced, but the manifest has no namespace" },
                { true, NULL, "a", "Thing is namespaced, but the manifest has no namespace" },
                { false, "a", NULL, "Thing is cluster-scoped, but the manifest is in namespace \"a\"" },
                { false, "a", "a", "Thing is cluster-scoped, but the manifest is in namespace \"a\"" },
                { false, NULL, "a",
                  "Thing is cluster-scoped, but this Work may reach namespace \"a\" alone" },
                { true, "b", "a",
                  "the manifest is in namespace \"b\", but this Work may reach namespace \"a\" alone" },
        };

        for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
                struct manifest m = { .kind = "Thing",
                                      .ns = lines[i].ns,
                                      .resource.namespaced = lines[i].namespaced };
                struct error err = { 0 };
                int r = manifest_check_place(&m, lines[i].only_ns, &err);

                assert_int_equal(r, lines[i].cause ? ERR_INVALID : 0);
                assert_string_equal(err.text, lines[i].cause ? lines[i].cause : "");
        }
}

/* Silence, a stranger's page and a refused credential are of the way; what the API server says is of the
 * object. */
static void only_an_api_server_judges_an_object(void **state)
{
        static const struct {
                int code, http_status;
                const char *reason;
                bool unanswered;
        } rows[] = {
                { ERR_TIMEOUT, 0, "", true },
                { ERR_UNAUTHORIZED, 401, "", true },
                { ERR_INVALID, 200, KUBE_REASON_NOT_KUBERNETES, true },
                { ERR_RETRY, 503, KUBE_REASON_NOT_KUBERNETES, true },
                { ERR_FORBIDDEN, 403, KUBE_REASON_RIGHT_MISSING, false },
                { ERR_INVALID, 422, "Invalid", false },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct arena arena AUTO_ARENA = ARENA_INIT;
                struct error why = { .code = rows[i].code, .http_status = rows[i].http_status };
                struct manifest m = { 0 };

                error_set_reason(&why, rows[i].reason);
                assert_int_equal(manifest_fail(&m, &arena, RESULT_FAILED_TO_FIND, "", &why), 0);
                if (m.unanswered != rows[i].unanswered)
                        fail_msg("row %zu", i);
        }
}

/* What failed otherwise, or cannot be told by name, stands for nothing. */
static void only_what_is_well_is_the_first_of_its_kind(void **state)
{
        static const char text[] = "{\"apiVersion\":\"v1\",\"kind\":\"X\",\"metadata\":{\"name\":\"n\"}}";
        static const char nameless[] = "{\"apiVersion\":\"v1\",\"kind\":\"X\"}";
        struct arena arena AUTO_ARENA = ARENA_INIT;
        struct manifest m[4];

        decode(&m[0], 0, text, &arena);
        decode(&m[1], 1, nameless, &arena);
        decode(&m[2], 2, nameless, &arena);
        decode(&m[3], 3, text, &arena);
        m[0].result = RESULT_APPLY_FAILED;
        assert_int_equal(manifest_mark_duplicates(m, 4, NULL), 0);
        assert_int_equal(m[0].result, RESULT_APPLY_FAILED);
        assert_int_equal(m[2].result, RESULT_DECODING_ERRED);
        assert_int_equal(m[3].result, RESULT_NONE);
}

static void an_empty_namespace_is_none(void **state)
{
        struct arena arena AUTO_ARENA = ARENA_INIT;
        struct manifest m;

        decode(&m, 0,
               "{\"apiVersion\":\"v1\",\"kind\":\"X\",\"metadata\":{\"name\":\"n\",\"namespace\":\"\"}}",
               &arena);
        assert_int_equal(m.result, RESULT_NONE);
        assert_null(m.ns);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(an_object_is_where_its_kind_and_its_placement_say),
                cmocka_unit_test(a_manifest_is_identified),
                cmocka_unit_test(the_core_group_is_empty),
                cmocka_unit_test(bad_manifests_get_a_result_and_a_cause),
                cmocka_unit_test(a_second_occurrence_is_a_duplicate),
                cmocka_unit_test(only_an_api_server_judges_an_object),
                cmocka_unit_test(only_what_is_well_is_the_first_of_its_kind),
                cmocka_unit_test(an_empty_namespace_is_none),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
