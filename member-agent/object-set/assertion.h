/* What a probe asserts of an object: spec/cluster-object-set.md 10.3. Pure. Each writes into `words` what it
 * found, in the reference's words, whatever the verdict. */
#pragma once

#include "member-agent/object-set/set.h"

enum verdict { VERDICT_TRUE, VERDICT_FALSE, VERDICT_UNKNOWN };

/* `observedGeneration` says, where it is present, which generation a status or a condition is about. */
bool assertion_outdated(const json_t *status_or_condition, const json_t *live);
enum verdict assert_condition_equal(const json_t *live, const char *type, const char *status,
                                    struct buf *words);
enum verdict assert_fields_equal(const json_t *live, const char *a, const char *b, struct buf *words);
enum verdict assert_field_value(const json_t *live, const char *path, const char *value, struct buf *words);
