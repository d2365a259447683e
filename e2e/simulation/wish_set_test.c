/* ClusterObjectSets of a wish, as objects. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/gzip.h"
#include "common/base/memory.h"
#include "e2e/simulation/wish.h"

static void names_tell_what_they_name(void **state)
{
        unsigned ship, n;
        char name[WISH_SHIP_NAME];

        for (unsigned i = 0; i < WISH_REVISIONS; i++) {
                assert_true(wish_set_of(wish_set_name(1, i, name), &ship, &n));
                assert_int_equal(ship, 1);
                assert_int_equal(n, i);
                assert_false(wish_cargo_of(name, &ship, &n));
        }
        for (unsigned i = 0; i < WISH_CARGO; i++) {
                assert_true(wish_cargo_of(wish_cargo_name(0, i, name), &ship, &n));
                assert_int_equal(ship, 0);
                assert_int_equal(n, i);
                assert_false(wish_set_of(name, &ship, &n));
        }
        assert_false(wish_set_of("ship-2-r1", &ship, &n));
        assert_false(wish_set_of("ship-0-r0", &ship, &n));
        assert_false(wish_cargo_of("ship-0-z", &ship, &n));
        assert_false(wish_cargo_of("ship-0", &ship, &n));
}

static struct wish_set example(void)
{
        struct wish_set s = {
                .protection = PROTECT_PREVENT, .asks = true, .wants_yes = true, .secret = SECRET_MUTABLE
        };

        s.items[CARGO_ASKED] = (struct wish_item){ .wanted = true, .color = 1 };
        s.items[CARGO_CREW] = (struct wish_item){ .wanted = true, .color = 2, .phase = 2, .by_ref = true };
        s.items[CARGO_ROLE] = (struct wish_item){ .wanted = true, .phase = 2, .protection = PROTECT_NONE };
        s.phase_protection[2] = PROTECT_IF_NO_CONTROLLER;
        return s;
}

static void a_set_says_its_phases_and_how_far_it_may_go(void **state)
{
        struct wish_set s = example();
        AUTO_JSON json_t *doc = wish_set_doc(&s, 0, 3);
        const json_t *phases = doc_get_array(doc, "spec.phases"), *last = json_array_get(phases, 2);

        assert_string_equal(doc_get_string(doc, "metadata.name"), "ship-0-r4");
        assert_int_equal(doc_get_int(doc, "spec.revision", 0), 4);
        assert_int_equal(json_array_size(phases), 3);
        assert_int_equal(json_array_size(json_object_get(json_array_get(phases, 1), "objects")), 0);
        assert_string_equal(doc_get_string(last, "collisionProtection"), "IfNoController");
        assert_string_equal(doc_get_string(json_array_get(json_object_get(last, "objects"), 0), "ref.key"),
                            "c");
        assert_int_equal(wish_protection_of(&s, CARGO_ASKED), PROTECT_PREVENT);
        assert_int_equal(wish_protection_of(&s, CARGO_CREW), PROTECT_IF_NO_CONTROLLER);
        assert_int_equal(wish_protection_of(&s, CARGO_ROLE), PROTECT_NONE);
        assert_false(wish_may_adopt(&s, CARGO_ASKED, false));
        assert_true(wish_may_adopt(&s, CARGO_CREW, false));
        assert_false(wish_may_adopt(&s, CARGO_CREW, true));
        assert_true(wish_may_adopt(&s, CARGO_ROLE, true));
}

static void a_secret_holds_what_the_set_refers_to(void **state)
{
        for (unsigned zipped = 0; zipped < 2; zipped++) {
                struct wish_set s = example();
                AUTO_JSON json_t *doc = NULL, *held = NULL, *wanted = wish_cargo_doc(&s, 1, CARGO_CREW);
                struct buf b AUTO_BUF;
                struct error err;
                char data[4096];
                size_t n;

                s.zipped = zipped;
                doc = wish_set_secret(&s, 1, 0);
                assert_int_equal(json_object_size(doc_get_object(doc, "data")), 1);
                assert_false(doc_get_bool(doc, "immutable", true));
                assert_int_equal(text_base64_decode(slice_of(doc_get_string(doc, "data.c")), data,
                                                    sizeof(data), &n, false),
                                 0);
                assert_int_equal(gzip_begins((struct slice){ data, n }), zipped);
                buf_init(&b, sizeof(data));
                if (zipped)
                        assert_int_equal(gzip_unpack((struct slice){ data, n }, &b, &err), 0);
                assert_int_equal(
                        doc_parse(zipped ? (struct slice){ b.data, b.len } : (struct slice){ data, n }, &held,
                                  &err),
                        0);
                assert_true(json_equal(held, wanted));
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(names_tell_what_they_name),
                cmocka_unit_test(a_set_says_its_phases_and_how_far_it_may_go),
                cmocka_unit_test(a_secret_holds_what_the_set_refers_to),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
