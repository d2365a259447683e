/* One program of many unit tests: its table is written by e2e/unit/table, and unit_main.c runs one of them.
 */
#pragma once

struct unit_test {
        const char *name; /* the test's path without .c: "common/json/patch_test" */
        int (*run)(void); /* its main() */
};
extern const struct unit_test unit_tests[]; /* ends with a name of NULL */
