/* Environment, arguments, downward API and keys of Secrets and ConfigMaps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "e2e/chart-runner/image.h"
#include "e2e/chart-runner/pod_env.h"

static json_t *doc(const char *text)
{
        json_t *ret = NULL;
        struct error err = { 0 };

        if (doc_parse(slice_of(text), &ret, &err) < 0)
                fail_msg("%s", err.text);
        return ret;
}

static json_t *secret, *map;

static int look_up(void *ctx, const char *kind, const char *name, const json_t **ret, struct error *err)
{
        *ret = strcmp(kind, "Secret") == 0 && strcmp(name, "s") == 0      ? secret
               : strcmp(kind, "ConfigMap") == 0 && strcmp(name, "m") == 0 ? map
                                                                          : NULL;
        return *ret ? 0 : error_set(err, ERR_NOT_FOUND, "%s %s", kind, name);
}

static const struct pod_lookup lookup = { .get = look_up };

static int set_up(void **state)
{
        secret = doc("{\"data\":{\"token\":\"c2VjcmV0\",\"bad\":\"***\"}}");
        map = doc("{\"data\":{\"a\":\"1\",\"b\":\"2\"}}");
        return 0;
}

static int tear_down(void **state)
{
        json_decref(secret);
        json_decref(map);
        return 0;
}

static void references_are_expanded_as_kubernetes_does(void **state)
{
        static const struct {
                const char *text, *gives;
        } cases[] = {
                { "plain", "plain" },     { "$(A)", "1" },     { "x$(A)y$(B)", "x1y" },
                { "$(NONE)", "$(NONE)" }, { "$$(A)", "$(A)" }, { "$A", "$A" },
                { "$(A", "$(A" },         { "$", "$" },        { "--n=$(A)$(NONE)$$", "--n=1$(NONE)$" },
        };
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct env_list env = { 0 };

        assert_int_equal(env_put(&env, &arena, "A", "1"), 0);
        assert_int_equal(env_put(&env, &arena, "B", ""), 0);
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                const char *got = NULL;

                assert_int_equal(env_expand(&env, cases[i].text, &arena, &got), 0);
                assert_string_equal(got, cases[i].gives);
        }
}

static void variables_come_from_everywhere_and_later_ones_win(void **state)
{
        AUTO_JSON json_t *pod = doc("{\"metadata\":{\"name\":\"p\",\"labels\":{\"a/b\":\"L\"}},\"spec\":{}}");
        AUTO_JSON json_t *container =
                doc("{\"envFrom\":[{\"prefix\":\"M_\",\"configMapRef\":{\"name\":\"m\"}},"
                    "{\"secretRef\":{\"name\":\"gone\",\"optional\":true}}],"
                    "\"env\":[{\"name\":\"M_a\",\"value\":\"own\"},"
                    "{\"name\":\"NAME\",\"valueFrom\":{\"fieldRef\":{\"fieldPath\":\"metadata.name\"}}},"
                    "{\"name\":\"LABEL\",\"valueFrom\":{\"fieldRef\":{\"fieldPath\":\"metadata.labels['a/"
                    "b']\"}}},"
                    "{\"name\":\"T\",\"valueFrom\":{\"secretKeyRef\":{\"name\":\"s\",\"key\":\"token\"}}},"
                    "{\"name\":\"O\",\"valueFrom\":{\"secretKeyRef\":{\"name\":\"s\",\"key\":\"x\","
                    "\"optional\":true}}},{\"name\":\"ALL\",\"value\":\"$(NAME)-$(M_b)-$(HOST)-$(LATER)\"},"
                    "{\"name\":\"LATER\",\"value\":\"l\"}]}");
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct env_list env = { 0 };
        struct error err = { 0 };

        assert_int_equal(env_put(&env, &arena, "HOST", "h"), 0);
        if (pod_env(pod, container, &lookup, &arena, &env, &err) < 0)
                fail_msg("%s", err.text);
        assert_string_equal(env_get(&env, "M_a"), "own");
        assert_string_equal(env_get(&env, "LABEL"), "L");
        assert_string_equal(env_get(&env, "T"), "secret");
        assert_null(env_get(&env, "O"));
        assert_string_equal(env_get(&env, "ALL"), "p-2-h-$(LATER)");
}

static void a_missing_key_or_a_strange_source_says_which(void **state)
{
        static const struct {
                const char *from, *words;
        } cases[] = {
                { "{\"secretKeyRef\":{\"name\":\"s\",\"key\":\"x\"}}",
                  "env V: couldn't find key x in Secret \"s\"" },
                { "{\"configMapKeyRef\":{\"name\":\"n\",\"key\":\"x\"}}",
                  "env V: ConfigMap \"n\" not found" },
                { "{\"secretKeyRef\":{\"name\":\"s\",\"key\":\"bad\"}}", "env V: data is not base64" },
                { "{\"resourceFieldRef\":{\"resource\":\"limits.cpu\"}}",
                  "env V: valueFrom: only fieldRef, secretKeyRef and configMapKeyRef" },
                { "{\"fieldRef\":{\"fieldPath\":\"spec.x\"}}", "env V: fieldPath spec.x is not supported" },
        };

        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                struct env_list env = { 0 };
                struct error err = { 0 };
                AUTO_JSON json_t *container =
                        json_pack("{s:[{s:s, s:o}]}", "env", "name", "V", "valueFrom", doc(cases[i].from));

                assert_true(pod_env(container, container, &lookup, &arena, &env, &err) < 0);
                assert_string_equal(err.text, cases[i].words);
        }
}

static void a_command_takes_the_place_of_the_images_entry(void **state)
{
        AUTO_JSON json_t *with = doc("{\"command\":[\"/x\"],\"args\":[\"--a=$(A)\"]}"),
                         *without = doc("{\"args\":[\"-b\"]}");
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct env_list env = { 0 };
        const char *const *words = NULL;

        assert_int_equal(env_put(&env, &arena, "A", "1"), 0);
        assert_int_equal(pod_words(with, "/entry", &env, &arena, &words, NULL), 0);
        assert_string_equal(words[0], "/x");
        assert_string_equal(words[1], "--a=1");
        assert_null(words[2]);
        assert_int_equal(pod_words(without, "/entry", &env, &arena, &words, NULL), 0);
        assert_string_equal(words[0], "/entry");
        assert_string_equal(words[1], "-b");
}

static void images_are_known_by_their_last_word(void **state)
{
        assert_string_equal(image_program_of("r.example.com:5000/a/hub-agent:v1")->program, "hub-agent");
        assert_string_equal(image_program_of("member-agent@sha256:00")->entrypoint, "/memberagent");
        assert_string_equal(image_program_of("refresh-token")->program, "refresh-token");
        assert_null(image_program_of("hub-agent/other:v1"));
        assert_null(image_program_of("hub-agents"));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(references_are_expanded_as_kubernetes_does),
                cmocka_unit_test(variables_come_from_everywhere_and_later_ones_win),
                cmocka_unit_test(a_missing_key_or_a_strange_source_says_which),
                cmocka_unit_test(a_command_takes_the_place_of_the_images_entry),
                cmocka_unit_test(images_are_known_by_their_last_word),
        };

        return cmocka_run_group_tests(tests, set_up, tear_down);
}
