/* What happens to dependents when an owner goes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "e2e/devcluster/rig.h"

#define CM "/api/v1/namespaces/default/configmaps"

/* Makes ConfigMap NAME, owned by OWNER where given, with extra metadata. */
static void make(struct rig *r, const char *name, const char *owner, const char *more)
{
        const char *owners = "";
        if (owner) {
                assert_int_equal(rig_get(r, arena_printf(&r->arena, CM "/%s", owner)), 200);
                owners = arena_printf(
                        &r->arena,
                        ",\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"name\":\"%s\","
                        "\"uid\":\"%s\",\"blockOwnerDeletion\":true}]",
                        owner, rig_string(r, "metadata.uid"));
        }
        assert_int_equal(
                rig_post(r, CM,
                         arena_printf(&r->arena, "{\"metadata\":{\"name\":\"%s\"%s%s}}", name, owners, more)),
                201);
}

static void remove_as(struct rig *r, const char *name, const char *propagation)
{
        assert_int_equal(rig_call(r, "DELETE", arena_printf(&r->arena, CM "/%s", name), "application/json",
                                  arena_printf(&r->arena, "{\"propagationPolicy\":\"%s\"}", propagation)),
                         200);
}

static int status_of(struct rig *r, const char *name)
{
        return rig_get(r, arena_printf(&r->arena, CM "/%s", name));
}

static void check_background(struct rig *r)
{
        make(r, "owner", NULL, "");
        make(r, "child", "owner", "");
        make(r, "grandchild", "child", "");
        remove_as(r, "owner", "Background");
        assert_int_equal(status_of(r, "owner"), 404);
        rig_settle(r);
        assert_int_equal(status_of(r, "child"), 404);
        assert_int_equal(status_of(r, "grandchild"), 404);
}

static void background_deletion_takes_all_dependents_afterwards(void **state)
{
        rig_run(check_background);
}

static void check_orphan(struct rig *r)
{
        make(r, "owner", NULL, "");
        make(r, "child", "owner", "");
        remove_as(r, "owner", "Orphan");
        rig_settle(r);
        assert_int_equal(status_of(r, "owner"), 404);
        assert_int_equal(status_of(r, "child"), 200);
        assert_null(doc_get(r->answer, "metadata.ownerReferences"));
}

static void orphan_deletion_leaves_dependents_without_owner(void **state)
{
        rig_run(check_orphan);
}

static void check_foreground(struct rig *r)
{
        make(r, "owner", NULL, "");
        make(r, "child", "owner", ",\"finalizers\":[\"test/hold\"]");
        remove_as(r, "owner", "Foreground");
        rig_settle(r);
        assert_int_equal(status_of(r, "owner"), 200);
        assert_true(*rig_string(r, "metadata.deletionTimestamp"));
        assert_int_equal(status_of(r, "child"), 200);
        assert_true(*rig_string(r, "metadata.deletionTimestamp"));
        assert_int_equal(rig_merge(r, CM "/child", "{\"metadata\":{\"finalizers\":null}}"), 200);
        rig_settle(r);
        assert_int_equal(status_of(r, "child"), 404);
        assert_int_equal(status_of(r, "owner"), 404);
}

static void foreground_deletion_keeps_the_owner_until_its_dependents_are_gone(void **state)
{
        rig_run(check_foreground);
}

static void check_two_owners(struct rig *r)
{
        make(r, "one", NULL, "");
        make(r, "two", NULL, "");
        assert_int_equal(status_of(r, "one"), 200);
        const char *uid_one = arena_strdup(&r->arena, rig_string(r, "metadata.uid"));
        assert_int_equal(status_of(r, "two"), 200);
        const char *uid_two = arena_strdup(&r->arena, rig_string(r, "metadata.uid"));
        assert_int_equal(
                rig_post(r, CM,
                         arena_printf(
                                 &r->arena,
                                 "{\"metadata\":{\"name\":\"child\",\"ownerReferences\":[{\"apiVersion\":"
                                 "\"v1\","
                                 "\"kind\":\"ConfigMap\",\"name\":\"one\",\"uid\":\"%s\"},{\"apiVersion\":"
                                 "\"v1\",\"kind\":\"ConfigMap\",\"name\":\"two\",\"uid\":\"%s\"}]}}",
                                 uid_one, uid_two)),
                201);
        remove_as(r, "one", "Background");
        rig_settle(r);
        assert_int_equal(status_of(r, "child"), 200);
        assert_int_equal(json_array_size(doc_get_array(r->answer, "metadata.ownerReferences")), 1);
        remove_as(r, "two", "Background");
        rig_settle(r);
        assert_int_equal(status_of(r, "child"), 404);
}

static void a_dependent_lives_as_long_as_one_owner(void **state)
{
        rig_run(check_two_owners);
}

/* ctx: what is left of the reference, by its blockOwnerDeletion; NULL = nothing. The object stays, held by a
 * finalizer. */
static void check_unblocked(struct rig *r)
{
        const char *left = r->ctx, *uid, *references = "null";

        make(r, "owner", NULL, "");
        make(r, "child", "owner", ",\"finalizers\":[\"example.com/hold\"]");
        rig_get(r, CM "/owner");
        uid = arena_strdup(&r->arena, rig_string(r, "metadata.uid"));
        remove_as(r, "owner", "Foreground");
        rig_settle(r);
        assert_int_equal(status_of(r, "owner"), 200);
        if (left)
                references = arena_printf(&r->arena,
                                          "[{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"name\":\"owner\","
                                          "\"uid\":\"%s\",\"blockOwnerDeletion\":%s}]",
                                          uid, left);
        assert_int_equal(
                rig_merge(r, CM "/child",
                          arena_printf(&r->arena, "{\"metadata\":{\"ownerReferences\":%s}}", references)),
                200);
        rig_settle(r);
        assert_int_equal(status_of(r, "owner"), left && strcmp(left, "true") == 0 ? 200 : 404);
        assert_int_equal(status_of(r, "child"), 200);
}

static void an_owner_goes_as_soon_as_nothing_blocks_it(void **state)
{
        static const char *const left[] = { NULL, "false", "true" };

        for (size_t i = 0; i < sizeof(left) / sizeof(left[0]); i++)
                rig_run_for(check_unblocked, (void *)(uintptr_t)left[i]);
}

static void check_absent_owner(struct rig *r)
{
        assert_int_equal(rig_post(r, CM,
                                  "{\"metadata\":{\"name\":\"child\",\"ownerReferences\":[{\"apiVersion\":"
                                  "\"v1\",\"kind\":"
                                  "\"ConfigMap\",\"name\":\"never\",\"uid\":\"11111111-1111-1111-1111-"
                                  "111111111111\"}]}}"),
                         201);
        rig_settle(r);
        assert_int_equal(status_of(r, "child"), 404);
}

static void an_object_whose_owner_never_was_is_removed(void **state)
{
        rig_run(check_absent_owner);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(background_deletion_takes_all_dependents_afterwards),
                cmocka_unit_test(orphan_deletion_leaves_dependents_without_owner),
                cmocka_unit_test(foreground_deletion_keeps_the_owner_until_its_dependents_are_gone),
                cmocka_unit_test(a_dependent_lives_as_long_as_one_owner),
                cmocka_unit_test(an_owner_goes_as_soon_as_nothing_blocks_it),
                cmocka_unit_test(an_object_whose_owner_never_was_is_removed),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
