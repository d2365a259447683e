/* Runs the unit test that the only argument names, in this process. */
#include <stdio.h>
#include <string.h>

#include "e2e/unit/tests.h"

int main(int argc, char **argv)
{
        if (argc == 2)
                for (const struct unit_test *t = unit_tests; t->name; t++)
                        if (strcmp(t->name, argv[1]) == 0)
                                return t->run();
        fprintf(stderr, "usage: %s TEST, which is one of:\n", argv[0]);
        for (const struct unit_test *t = unit_tests; t->name; t++)
                fprintf(stderr, "  %s\n", t->name);
        return 2;
}
