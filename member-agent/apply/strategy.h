/* How a Work wants its manifests treated, and what can come of one manifest: spec/member-agent.md 2.1
 * (defaults), 2.6 (results), api.md 3 (ApplyStrategy). */
#pragma once

#include "common/base/text.h"

enum apply_type { STRATEGY_CLIENT_SIDE, STRATEGY_SERVER_SIDE, STRATEGY_REPORT_DIFF };
enum take_over { TAKING_ALWAYS, TAKING_IF_NO_DIFF, TAKING_NEVER };

struct strategy {
        enum apply_type type;
        enum take_over take_over;
        bool full_comparison;     /* else partial */
        bool only_if_not_drifted; /* whenToApply: IfNotDrifted */
        bool allow_co_ownership;
        bool force; /* server-side apply takes conflicting fields */
};

/* Absent (NULL) values get the defaults; an unknown word is ERR_INVALID naming the field. */
int strategy_from_words(const char *type, const char *comparison, const char *when_to_apply,
                        const char *when_to_take_over, struct strategy *ret, struct error *err);
/* A number that differs whenever two strategies differ: part of the test "was this manifest handled before".
 */
unsigned strategy_number(const struct strategy *s);

/* What came of one manifest. The order is stored in the state file: append only. */
enum result {
        RESULT_NONE, /* not processed yet */
        RESULT_DECODING_ERRED,
        RESULT_FOUND_GENERATE_NAME,
        RESULT_DUPLICATED,
        RESULT_FAILED_TO_FIND,
        RESULT_FAILED_TO_TAKE_OVER,
        RESULT_NOT_TAKEN_OVER,
        RESULT_FAILED_DRIFT_DETECTION,
        RESULT_FOUND_DRIFTS,
        RESULT_FOUND_DRIFTS_DEGRADED,
        RESULT_APPLY_FAILED,
        RESULT_APPLIED,
        RESULT_APPLIED_DRIFT_DETECTION_FAILED,
        RESULT_NO_DIFF,
        RESULT_FOUND_DIFF,
        RESULT_FOUND_DIFF_DEGRADED,
        RESULT_FAILED_TO_REPORT_DIFF,
        RESULT_COUNT
};
const char *result_word(enum result r); /* the condition's reason: "FailedToTakeOver" */
bool result_is_applied(enum result r);
/* Failed before any request was made: such a manifest is in no wave. */
bool result_is_preprocessing(enum result r);

enum availability {
        AVAILABILITY_SKIPPED,
        AVAILABILITY_AVAILABLE,
        AVAILABILITY_NOT_YET,
        AVAILABILITY_NOT_TRACKABLE,
        AVAILABILITY_FAILED
};
const char *availability_word(enum availability a);
