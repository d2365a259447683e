/* Versions and ranges: an order is an order, and a version is in the range that names it alone. Three lines:
 * a range and two versions. */
#include "common/base/semver.h"
#include "e2e/fuzz/fuzz.h"

static int sign(int n)
{
        return (n > 0) - (n < 0);
}

static void check_own_range(struct slice text, const struct semver *v)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const struct semver_range *r;
        char term[256];
        if (text.len + 2 > sizeof(term))
                return;
        snprintf(term, sizeof(term), "=%.*s", (int)text.len, text.data);
        if (semver_range_parse(&arena, slice_of(term), &r, NULL) == 0)
                ASSERT(semver_range_has(r, v));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct slice b = input_of(data, size), range = first_line(&b), a = first_line(&b);
        const struct semver_range *r;
        struct error err = { 0 };
        struct semver x, y;
        bool has_x = semver_parse(a, &x) == 0, has_y = semver_parse(b, &y) == 0;
        if (semver_range_parse(&arena, range, &r, &err) < 0)
                ASSERT((err.code == ERR_INVALID || err.code == ERR_LIMIT) && *err.text);
        else if (has_x && has_y && semver_compare(&x, &y) == 0 && !x.pre.len == !y.pre.len)
                ASSERT(semver_range_has(r, &x) == semver_range_has(r, &y));
        if (has_x) {
                ASSERT(semver_compare(&x, &x) == 0);
                check_own_range(a, &x);
        }
        if (has_x && has_y)
                ASSERT(sign(semver_compare(&x, &y)) == -sign(semver_compare(&y, &x)));
        return 0;
}
