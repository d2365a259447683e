/* Files that are closed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>

#include "common/loop/files.h"

static void what_is_closed_twice_closes_nobody_elses_file(void **state)
{
        int fd = open("/dev/null", O_RDONLY | O_CLOEXEC), was = fd, other;

        assert_true(fd >= 0);
        close_fd(&fd);
        assert_int_equal(fd, -1);
        other = open("/dev/null", O_RDONLY | O_CLOEXEC);
        assert_int_equal(other, was); /* the lowest number that is free */
        close_fd(&fd);
        assert_true(fcntl(other, F_GETFD) >= 0);
        close_fd(&other);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(what_is_closed_twice_closes_nobody_elses_file),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
