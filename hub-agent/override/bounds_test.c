/* What overrides may cost. */
#include "hub-agent/override/testing.h"

#include "common/base/limits.h"
#include "common/base/memory.h"

#define KEYS 70000
#define RULES 20      /* of one override, as many as the API allows */
#define OPERATIONS 20 /* of one rule */

/* {"data":{"key-0":"0",...}} of a ConfigMap with so many keys. */
static void big_manifest(struct buf *b, int keys)
{
        buf_init(b, LIMIT_OBJECT_BYTES);
        buf_append_str(b, "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"site\","
                          "\"namespace\":\"web\"},\"data\":{\"a\":\"1\"");
        for (int i = 0; i < keys; i++)
                buf_printf(b, ",\"key-%d\":\"%d\"", i, i);
        buf_append_str(b, "}}");
        assert_int_equal(b->failed, 0);
}

/* A full override, each of its operations with this value. */
static void add_full(struct bench *b, const char *name, const char *value)
{
        AUTO_BUF struct buf spec;

        buf_init(&spec, 16u << 20);
        buf_append_str(&spec, "{" SELECT_CM("site") ",\"policy\":{\"overrideRules\":[");
        for (int rule = 0; rule < RULES; rule++) {
                buf_printf(&spec, "%s{" ALL ",\"jsonPatchOverrides\":[", rule ? "," : "");
                for (int i = 0; i < OPERATIONS; i++)
                        buf_printf(&spec, "%s{\"op\":\"add\",\"path\":\"/data/a\",\"value\":\"%s\"}",
                                   i ? "," : "", value);
                buf_append_str(&spec, "]}");
        }
        buf_append_str(&spec, "]}}");
        add(b, "web", name, spec.data);
}

static uint64_t allocations_of(const char *manifest, int overrides)
{
        struct slice text;
        struct bench b;
        uint64_t n;

        begin(&b);
        for (int i = 0; i < overrides; i++) {
                char name[16];

                snprintf(name, sizeof(name), "o-%d", i);
                add_full(&b, name, "2");
        }
        mem_fail_at(0, false);
        assert_int_equal(apply_to(&b, manifest, &text), 1);
        n = mem_alloc_count();
        arena_free(&b.arena);
        return n;
}

/* The document is parsed once and printed once; an operation costs what it touches. */
static void an_operation_does_not_copy_the_manifest(void **state)
{
        AUTO_BUF struct buf big;
        uint64_t one, five;

        big_manifest(&big, KEYS);
        one = allocations_of(big.data, 1);
        five = allocations_of(big.data, 5);
        assert_in_range(one, KEYS, 8 * KEYS);
        assert_in_range(five - one, 1, 4 * RULES * OPERATIONS * 40);
}

static void operations_on_one_manifest_are_limited(void **state)
{
        struct slice text;
        struct bench b;

        begin(&b);
        for (int i = 0; i < 6; i++) {
                char name[16];

                snprintf(name, sizeof(name), "o-%d", i);
                add_full(&b, name, "2");
        }
        assert_int_equal(apply_to(&b, CONFIG, &text), ERR_INVALID);
        assert_string_equal(b.err.text,
                            "ResourceOverrideSnapshot \"o-5\" failed to apply on ConfigMap \"site\" in "
                            "namespace \"web\": rule 0, operation 0: the overrides of one manifest have more "
                            "than 2000 operations (LIMIT_OVERRIDE_OPERATIONS)");
        arena_free(&b.arena);
}

/* Variables count as what they stand for. */
static void bytes_brought_into_one_manifest_are_limited(void **state)
{
        static const char variable[] = "${MEMBER-CLUSTER-LABEL-KEY-l}";
        AUTO_BUF struct buf value;
        struct slice text;
        struct bench b;

        begin(&b);
        b.member =
                parse(&b, &member_cluster_kind,
                      "{\"metadata\":{\"name\":\"member-1\",\"labels\":{\"l\":\"0123456789012345678901234567"
                      "89012345678901234567890123456789\"}}}");
        buf_init(&value, 1u << 20);
        for (size_t i = 0; i < 6000 / strlen(variable); i++)
                buf_append_str(&value, variable);
        add_full(&b, "o-0", value.data); /* 2.4 MB as text, twice that when replaced */
        assert_int_equal(apply_to(&b, CONFIG, &text), ERR_INVALID);
        assert_non_null(strstr(b.err.text, "ResourceOverrideSnapshot \"o-0\" failed to apply on ConfigMap"));
        assert_non_null(strstr(b.err.text, "rule 1"));
        assert_non_null(strstr(b.err.text, "LIMIT_OVERRIDE_BYTES"));
        arena_free(&b.arena);
}

static void a_result_that_is_too_long_is_told(void **state)
{
        AUTO_BUF struct buf big, value;
        struct slice text;
        struct bench b;

        begin(&b);
        big_manifest(&big, KEYS);
        buf_init(&value, 4u << 20);
        buf_append_str(
                &value,
                "{" SELECT_CM(
                        "site") ",\"policy\":{\"overrideRules\":[{" ALL
                                ",\"jsonPatchOverrides\":[{\"op\":\"add\",\"path\":\"/data/a\",\"value\":\"");
        for (size_t i = 0; i < LIMIT_OBJECT_BYTES - big.len / 2; i++)
                buf_append_char(&value, 'x');
        buf_append_str(&value, "\"}]}]}}");
        add(&b, "web", "o-0", value.data);
        assert_int_equal(apply_to(&b, big.data, &text), ERR_INVALID);
        assert_string_equal(b.err.text,
                            "overrides failed to apply on ConfigMap \"site\" in namespace \"web\": "
                            "manifest is longer than 3145728 bytes");
        arena_free(&b.arena);
}

struct pauses {
        int n, last; /* of them the last one is a cancellation; 0 = none */
};

static int pause_once(void *ctx)
{
        struct pauses *p = ctx;

        return ++p->n == p->last ? ERR_CANCELLED : 0;
}

static int apply_with_pauses(struct bench *b, struct pauses *p, int manifests)
{
        struct override_applier a = { b->set, b->member, scopes, pause_once, p };
        int code = 0;

        while (code >= 0 && manifests-- > 0) {
                struct slice text = slice_of(CONFIG);

                code = override_apply(&a, &b->arena, &text, &b->err);
        }
        return code;
}

static void a_long_pass_lets_others_run(void **state)
{
        struct pauses p = { 0 };
        struct bench b;

        begin(&b);
        add_full(&b, "o-0", "2");
        assert_int_equal(apply_with_pauses(&b, &p, 1), 1);
        assert_in_range(p.n, RULES * OPERATIONS / 20, RULES * OPERATIONS);
        p = (struct pauses){ .last = 3 };
        assert_int_equal(apply_with_pauses(&b, &p, 1), ERR_CANCELLED);
        assert_int_equal(p.n, 3);
        arena_free(&b.arena);
}

/* Also one of many manifests, and of many overrides of which each has little to do with each. */
static void many_short_passes_let_others_run_too(void **state)
{
        struct pauses p = { 0 };
        struct bench b;

        begin(&b);
        add(&b, "web", "o-0", "{" SELECT_CM("another") "," POLICY(DELETE) "}");
        assert_int_equal(apply_with_pauses(&b, &p, 2000), 0);
        assert_in_range(p.n, 2, 100);
        arena_free(&b.arena);
}

/* It is the user's fault only if it is. */
static void running_out_of_memory_is_nobodys_mistake(void **state)
{
        struct bench b;

        begin(&b);
        add(&b, "web", "o-0",
            "{" SELECT_CM("site") "," POLICY(
                    PATCH("add", "/data/b", "{\"x\":\"${MEMBER-CLUSTER-NAME}\"}")) "}");
        for (uint64_t n = 1;; n++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                struct override_applier a = { b.set, b.member, scopes };
                struct slice text = slice_of(CONFIG);
                size_t before = mem_live_count();
                int code;

                mem_fail_at(n, false);
                code = override_apply(&a, &arena, &text, &b.err);
                if (!mem_fault_fired()) {
                        assert_int_equal(code, 1);
                        break;
                }
                if (code != 1 && code != ERR_NO_MEMORY)
                        fail_msg("allocation %llu: %d %s", (unsigned long long)n, code, b.err.text);
                arena_free(&arena);
                assert_int_equal(mem_live_count(), before);
        }
        mem_fail_at(0, false);
        arena_free(&b.arena);
}

int main(void)
{
        mem_hook_libraries();
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(an_operation_does_not_copy_the_manifest),
                cmocka_unit_test(operations_on_one_manifest_are_limited),
                cmocka_unit_test(bytes_brought_into_one_manifest_are_limited),
                cmocka_unit_test(a_result_that_is_too_long_is_told),
                cmocka_unit_test(a_long_pass_lets_others_run),
                cmocka_unit_test(many_short_passes_let_others_run_too),
                cmocka_unit_test(running_out_of_memory_is_nobodys_mistake),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
