/* spec/flux-yaml.md 2. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hub-agent/manifest-generation/repository_state.h"

static const struct error failure = { .code = ERR_RETRY, .text = "no" };

/* spec/flux-yaml.md checklist 5 */
static void a_repository_is_cloned_checked_and_ready(void **state)
{
        struct repository_status s;

        repository_status_init(&s, true, false, 300000);
        assert_string_equal(repository_state_name(s.state), "new");
        assert_string_equal(repository_unready(&s), "git repo has not been cloned yet");
        assert_int_equal(repository_next(&s, 0), REPOSITORY_CLONE);
        repository_done(&s, REPOSITORY_CLONE, NULL, false, 0);
        assert_string_equal(repository_state_name(s.state), "cloned");
        assert_string_equal(repository_unready(&s),
                            "git repo has been cloned but not yet checked for write access");
        assert_int_equal(repository_next(&s, 0), REPOSITORY_CHECK_WRITE);
        repository_done(&s, REPOSITORY_CHECK_WRITE, NULL, false, 1000);
        assert_string_equal(repository_state_name(s.state), "ready");
        assert_null(repository_unready(&s));
        assert_int_equal(repository_next(&s, 300999), REPOSITORY_REST);
        assert_int_equal(repository_next(&s, 301000), REPOSITORY_FETCH);
}

/* spec/flux-yaml.md checklist 5 */
static void a_step_that_failed_is_tried_after_ten_seconds(void **state)
{
        struct repository_status s;

        repository_status_init(&s, true, false, 300000);
        repository_done(&s, REPOSITORY_CLONE, &failure, true, 5000);
        assert_string_equal(repository_state_name(s.state), "unreachable");
        assert_string_equal(repository_unready(&s), "no");
        assert_int_equal(repository_next(&s, 14999), REPOSITORY_REST);
        assert_int_equal(repository_next(&s, 15000), REPOSITORY_CLONE);
        repository_done(&s, REPOSITORY_CLONE, NULL, false, 15000);
        repository_done(&s, REPOSITORY_CHECK_WRITE, &failure, false, 15000);
        assert_string_equal(repository_state_name(s.state), "cloned");
        assert_int_equal(repository_next(&s, 24999), REPOSITORY_REST);
        assert_int_equal(repository_next(&s, 25000), REPOSITORY_CHECK_WRITE);
}

static void a_fetch_that_failed_goes_back_to_new(void **state)
{
        struct repository_status s;

        repository_status_init(&s, true, true, 300000);
        repository_done(&s, REPOSITORY_CLONE, NULL, false, 0);
        assert_string_equal(repository_state_name(s.state), "ready");
        repository_done(&s, REPOSITORY_FETCH, &failure, false, 300000);
        assert_string_equal(repository_state_name(s.state), "new");
        assert_int_equal(repository_due_ms(&s), 310000);
}

static void a_fetch_can_be_asked_for(void **state)
{
        struct repository_status s;

        repository_status_init(&s, true, true, 300000);
        repository_done(&s, REPOSITORY_CLONE, NULL, false, 0);
        repository_ask(&s, 1000);
        assert_int_equal(repository_next(&s, 1000), REPOSITORY_FETCH);
}

static void without_an_address_nothing_is_tried(void **state)
{
        struct repository_status s;

        repository_status_init(&s, false, false, 300000);
        assert_int_equal(repository_next(&s, INT64_MAX - 1), REPOSITORY_REST);
        assert_int_equal(repository_due_ms(&s), INT64_MAX);
        assert_string_equal(repository_state_name(s.state), "unconfigured");
        assert_string_equal(repository_unready(&s), "git repo does not have valid config");
}

static void the_tag_of_the_check_has_ten_digits_of_its_set(void **state)
{
        char tag[REPOSITORY_CHECK_TAG_SIZE], other[REPOSITORY_CHECK_TAG_SIZE];

        repository_check_tag("abc", tag);
        assert_string_equal(tag, "flux-write-check-ba7816bf8f");
        repository_check_tag("abd", other);
        assert_string_not_equal(tag, other);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_repository_is_cloned_checked_and_ready),
                cmocka_unit_test(a_step_that_failed_is_tried_after_ten_seconds),
                cmocka_unit_test(a_fetch_that_failed_goes_back_to_new),
                cmocka_unit_test(a_fetch_can_be_asked_for),
                cmocka_unit_test(without_an_address_nothing_is_tried),
                cmocka_unit_test(the_tag_of_the_check_has_ten_digits_of_its_set),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
