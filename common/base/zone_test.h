/* A file of the time zone database as tests need it: ten minutes before the one change of its table, twenty
 * after it, and a rule. */
#pragma once

#include "common/base/buf.h"
#include "common/base/zone.h"

#define ZONE_TEST_CHANGE_S 0x1000000 /* in 1970 */

static inline void zone_test_number(struct buf *b, uint64_t value, int bytes)
{
        for (int i = bytes - 1; i >= 0; i--)
                buf_append_char(b, (char)(value >> (8 * i)));
}

static inline void zone_test_file(struct buf *b, const char *rule)
{
        buf_init(b, 4096);
        for (int part = 0; part < 2; part++) {
                buf_append_str(b, "TZif2");
                zone_test_number(b, 0, 7);
                zone_test_number(b, 0, 8);
                for (int i = 0; i < 6; i++)
                        zone_test_number(b,
                                         part == 0 ? (i == 4)
                                         : i == 3  ? 1
                                         : i == 4  ? 2
                                         : i == 5  ? 4
                                                   : 0,
                                         4);
                if (part == 0) {
                        zone_test_number(b, 0, 6);
                        continue;
                }
                zone_test_number(b, ZONE_TEST_CHANGE_S, 8);
                zone_test_number(b, 1, 1);
                zone_test_number(b, 600, 4);
                zone_test_number(b, 0, 2);
                zone_test_number(b, 1200, 4);
                zone_test_number(b, 0, 2);
                buf_append(b, "AAA", 4);
        }
        buf_printf(b, "\n%s\n", rule);
}
