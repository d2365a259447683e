/* What makes a selection another one. */
#include "hub-agent/placement/select.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hub-agent/placement/catalog.h"

/* The selection is read and compared only when its fingerprint is another: whatever of an object may change
 * what is placed has to be in it, and nothing else, since a status changes all the time. */
static void a_fingerprint_holds_what_may_change_what_is_placed(void **state)
{
        char config_map[] = "/v1/ConfigMap", secret[] = "/v1/Secret";
        struct catalog_entry entries[] = { { .kind_key = config_map }, { .kind_key = secret } };
        struct string_pair a = { "k", "a" }, b = { "k", "b" }, other = { "l", "a" };
        const char *held[] = { "one", "two" };
        const struct object_meta plain = {
                .name = "n", .uid = "u", .generation = 1, .resource_version = "5"
        };
        struct object_meta metas[10];
        char hashes[ARRAY_LEN(metas) + 1][65], hash[65];

        for (size_t i = 0; i < ARRAY_LEN(metas); i++)
                metas[i] = plain;
        metas[1].uid = "made-again";
        metas[2].generation = 2;
        metas[3].labels = (struct string_map){ &a, 1, true };
        metas[4].labels = (struct string_map){ &b, 1, true };
        metas[5].labels = (struct string_map){ &other, 1, true };
        metas[6].annotations = (struct string_map){ &a, 1, true };
        metas[7].finalizers = held;
        metas[7].n_finalizers = 1;
        metas[8].finalizers = held;
        metas[8].n_finalizers = 2;
        metas[9].generation = 0; /* a kind without generations */
        for (size_t i = 0; i <= ARRAY_LEN(metas); i++) {
                const struct object o = { .meta = metas[i % ARRAY_LEN(metas)] };
                struct chosen one = { .entry = &entries[i / ARRAY_LEN(metas)], .meta = &o };
                const struct chosen_list list = { .at = &one, .n = 1 };

                chosen_fingerprint(&list, hashes[i]);
                for (size_t k = 0; k < i; k++)
                        assert_string_not_equal(hashes[k], hashes[i]);
        }
        for (int generation = 0; generation < 2; generation++) {
                struct object o = { .meta = plain };
                struct chosen one = { .entry = &entries[0], .meta = &o };
                const struct chosen_list list = { .at = &one, .n = 1 };

                o.meta.generation = generation;
                o.meta.resource_version = "6";
                chosen_fingerprint(&list, hash);
                assert_int_equal(text_equal(hash, hashes[generation ? 0 : 9]), generation);
        }
}

static void append_key(void *to, const char *key)
{
        buf_printf(to, "%s ", key);
}

/* Placements are found by the kinds that they select; one that says nothing yet selects none. */
static void a_placement_is_known_by_each_kind_that_it_selects(void **state)
{
        struct resource_selector selectors[] = { { .version = "v1", .kind = "Namespace" },
                                                 { .group = "apps", .version = "v1", .kind = "Deployment" } };
        struct placement_spec spec = { .resource_selectors = { selectors, 2, true } };
        const struct placement empty = { .spec = NULL }, both = { .spec = &spec };
        AUTO_BUF struct buf keys;

        buf_init(&keys, 1024);
        emit_selectors(&empty.object, append_key, &keys);
        emit_selected(&empty.object, append_key, &keys);
        assert_int_equal(keys.len, 0);
        emit_selectors(&both.object, append_key, &keys);
        assert_string_equal(keys.data, "/v1/Namespace apps/v1/Deployment ");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_fingerprint_holds_what_may_change_what_is_placed),
                cmocka_unit_test(a_placement_is_known_by_each_kind_that_it_selects),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
