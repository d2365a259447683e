#include "member-agent/apply/strategy.h"

struct word {
        const char *text;
        int value;
};

static int look_up(const char *field, const char *text, const struct word *words, size_t n, int *ret,
                   struct error *err)
{
        if (text_empty(text)) {
                *ret = words[0].value;
                return 0;
        }
        for (size_t i = 0; i < n; i++)
                if (text_equal(text, words[i].text)) {
                        *ret = words[i].value;
                        return 0;
                }
        return error_set(err, ERR_INVALID, "spec.applyStrategy.%s: \"%s\" is not a known value", field, text);
}

int strategy_from_words(const char *type, const char *comparison, const char *when_to_apply,
                        const char *when_to_take_over, struct strategy *ret, struct error *err)
{
        /* The first word of each table is the default. */
        static const struct word types[] = { { "ClientSideApply", STRATEGY_CLIENT_SIDE },
                                             { "ServerSideApply", STRATEGY_SERVER_SIDE },
                                             { "ReportDiff", STRATEGY_REPORT_DIFF } };
        static const struct word comparisons[] = { { "PartialComparison", false },
                                                   { "partialComparison", false },
                                                   { "FullComparison", true },
                                                   { "fullComparison", true } };
        static const struct word applies[] = { { "Always", false }, { "IfNotDrifted", true } };
        static const struct word take_overs[] = { { "Always", TAKING_ALWAYS },
                                                  { "IfNoDiff", TAKING_IF_NO_DIFF },
                                                  { "Never", TAKING_NEVER } };
        int t = 0, c = 0, a = 0, o = 0;

        TRY(look_up("type", type, types, ARRAY_LEN(types), &t, err));
        TRY(look_up("comparisonOption", comparison, comparisons, ARRAY_LEN(comparisons), &c, err));
        TRY(look_up("whenToApply", when_to_apply, applies, ARRAY_LEN(applies), &a, err));
        TRY(look_up("whenToTakeOver", when_to_take_over, take_overs, ARRAY_LEN(take_overs), &o, err));
        *ret = (struct strategy){ .type = (enum apply_type)t,
                                  .take_over = (enum take_over)o,
                                  .full_comparison = c,
                                  .only_if_not_drifted = a };
        return 0;
}

unsigned strategy_number(const struct strategy *s)
{
        return (unsigned)s->type | (unsigned)s->take_over << 2 | (unsigned)s->full_comparison << 4 |
               (unsigned)s->only_if_not_drifted << 5 | (unsigned)s->allow_co_ownership << 6 |
               (unsigned)s->force << 7;
}

const char *result_word(enum result r)
{
        static const char *const words[RESULT_COUNT] = {
                [RESULT_NONE] = "PreparingToProcess",
                [RESULT_DECODING_ERRED] = "DecodingErred",
                [RESULT_FOUND_GENERATE_NAME] = "FoundGenerateName",
                [RESULT_DUPLICATED] = "Duplicated",
                [RESULT_FAILED_TO_FIND] = "FailedToFindObjInMemberCluster",
                [RESULT_FAILED_TO_TAKE_OVER] = "FailedToTakeOver",
                [RESULT_NOT_TAKEN_OVER] = "NotTakenOver",
                [RESULT_FAILED_DRIFT_DETECTION] = "FailedToRunDriftDetection",
                [RESULT_FOUND_DRIFTS] = "FoundDrifts",
                [RESULT_FOUND_DRIFTS_DEGRADED] = "FoundDriftsInDegradedMode",
                [RESULT_APPLY_FAILED] = "ManifestApplyFailed",
                [RESULT_APPLIED] = "Applied",
                [RESULT_APPLIED_DRIFT_DETECTION_FAILED] = "AppliedWithFailedDriftDetection",
                [RESULT_NO_DIFF] = "NoDiffFound",
                [RESULT_FOUND_DIFF] = "FoundDiff",
                [RESULT_FOUND_DIFF_DEGRADED] = "FoundDiffInDegradedMode",
                [RESULT_FAILED_TO_REPORT_DIFF] = "FailedToReportDiff",
        };
        return r < RESULT_COUNT ? words[r] : "Unknown";
}

bool result_is_applied(enum result r)
{
        return r == RESULT_APPLIED || r == RESULT_APPLIED_DRIFT_DETECTION_FAILED;
}

bool result_is_preprocessing(enum result r)
{
        return r == RESULT_DECODING_ERRED || r == RESULT_FOUND_GENERATE_NAME || r == RESULT_DUPLICATED;
}

const char *availability_word(enum availability a)
{
        static const char *const words[] = { "Skipped", "Available", "ManifestNotAvailableYet",
                                             "NotTrackable", "Failed" };
        return (size_t)a < ARRAY_LEN(words) ? words[a] : "Unknown";
}
