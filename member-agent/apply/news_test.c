#include "member-agent/apply/news.h"

#include "member-agent/apply/testing.h"
#include "proto/gen/kinds.h"

/* A Work's status by its manifestConditions, in single quotes. */
static const struct work_status *status(struct arena *arena, const char *entries)
{
        char *text = arena_printf(arena, "{'metadata':{'name':'w'},'status':{'manifestConditions':[%s]}}",
                                  entries);
        struct object *o = NULL;
        struct error err = { 0 };

        for (char *c = text; *c; c++)
                if (*c == '\'')
                        *c = '"';
        if (object_decode_arena(&work_kind, slice_of(text), arena, &o, &err) < 0)
                fail_msg("%s", err.text);
        return ((const struct work *)(const void *)o)->status;
}

#define ENTRY(kind, name, conditions, more)                                                                  \
        "{'identifier':{'ordinal':0,'version':'v1','kind':'" kind "','name':'" name                          \
        "','namespace':'web'},'conditions':[" conditions "]" more "}"
#define CONDITION(type, is, reason, message)                                                                 \
        "{'type':'" type "','status':'" is "','reason':'" reason "','message':'" message                     \
        "','lastTransitionTime':'2026-01-01T00:00:00Z'}"
#define FINE ENTRY("ConfigMap", "a", CONDITION("Applied", "True", "Applied", "ok"), "")
#define FAILED(message)                                                                                      \
        ENTRY("ConfigMap", "a", CONDITION("Applied", "False", "ManifestApplyFailed", message), "")
#define DRIFT(path)                                                                                          \
        ",'driftDetails':{'observationTime':'2026-01-01T00:00:00Z','firstDriftedObservedTime':"              \
        "'2026-01-01T00:00:00Z','observedInMemberClusterGeneration':1,'observedDrifts':[{'path':'" path      \
        "','valueInMember':'secret'}]}"
#define DIFF(paths)                                                                                          \
        ",'diffDetails':{'observationTime':'2026-01-01T00:00:00Z','firstDiffedObservedTime':"                \
        "'2026-01-01T00:00:00Z','observedDiffs':[" paths "]}"

static const struct {
        const char *what, *before, *after, *told;
} lines[] = {
        { "nothing is told of what is fine", "", FINE, "" },
        { "a failure is told", FINE, FAILED("no room"), "+ManifestApplyFailed no room;" },
        { "a new Work's too", "", FAILED("no room"), "+ManifestApplyFailed no room;" },
        { "but not again", FAILED("no room"), FAILED("no room"), "" },
        { "nor for another number in it", FAILED("version 17 is old"), FAILED("version 204 is old"), "" },
        { "another cause is told", FAILED("no room"), FAILED("no right"), "+ManifestApplyFailed no right;" },
        { "and the end", FAILED("no room"), FINE, "-ManifestApplyFailed as it is meant to be again;" },
        { "a drift by its paths", FINE,
          ENTRY("ConfigMap", "a", CONDITION("Applied", "False", "FoundDrifts", "found"), DRIFT("/data/k")),
          "+FoundDrifts found; it drifted at /data/k;" },
        { "at another path is another drift",
          ENTRY("ConfigMap", "a", CONDITION("Applied", "False", "FoundDrifts", "found"), DRIFT("/data/k")),
          ENTRY("ConfigMap", "a", CONDITION("Applied", "False", "FoundDrifts", "found"), DRIFT("/data/l")),
          "+FoundDrifts found; it drifted at /data/l;" },
        { "a drift beside an apply", FINE,
          ENTRY("ConfigMap", "a", CONDITION("Applied", "True", "Applied", "ok"), DRIFT("/data/k")),
          "+FoundDrifts applied, but not as it is meant to be; it drifted at /data/k;" },
        { "a reported difference", "",
          ENTRY("ConfigMap", "a", CONDITION("DiffReported", "True", "FoundDiff", "found"),
                DIFF("{'path':'/a'},{'path':'/b'},{'path':'/c'},{'path':'/d'},{'path':'/e'}")),
          "+FoundDiff not as it is on the hub; it differs at /a, /b, /c and 2 more;" },
        { "what is not available yet is no trouble", FINE,
          ENTRY("ConfigMap", "a",
                CONDITION("Applied", "True", "Applied",
                          "ok") "," CONDITION("Available", "False", "ManifestNotAvailableYet", "wait"),
                ""),
          "" },
        { "what cannot be judged is", FINE,
          ENTRY("ConfigMap", "a",
                CONDITION("Applied", "True", "Applied", "ok") "," CONDITION("Available", "False", "Failed",
                                                                            "odd"),
                ""),
          "+Failed odd;" },
        { "of a Secret not what the server said", "",
          ENTRY("Secret", "a", CONDITION("Applied", "False", "ManifestApplyFailed", "value is 1234"), ""),
          "+ManifestApplyFailed the Work's status says why;" },
        { "a duplicate has no part in the first one's history",
          FINE "," ENTRY("ConfigMap", "a", CONDITION("Applied", "False", "Duplicated", "twice"), ""),
          FINE "," ENTRY("ConfigMap", "a", CONDITION("Applied", "False", "Duplicated", "twice"), ""), "" },
        { "what cannot be read is known by its place", "",
          "{'identifier':{'ordinal':0},'conditions':[" CONDITION("Applied", "False", "DecodingErred",
                                                                 "odd") "]}",
          "+DecodingErred odd;" },
};

static void each_change_is_told_once(void **state)
{
        for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                const struct work_status *before =
                        lines[i].before[0] ? status(&arena, lines[i].before) : NULL;
                struct news *news = NULL;
                size_t n = 0;
                AUTO_BUF struct buf told;

                buf_init(&told, 4096);
                assert_int_equal(news_of(before, status(&arena, lines[i].after), &arena, &news, &n, NULL), 0);
                for (size_t k = 0; k < n; k++)
                        buf_printf(&told, "%s%s %s;", news[k].trouble ? "+" : "-", news[k].rule,
                                   news[k].text);
                buf_append_str(&told, "");
                if (!text_equal(told.data ? told.data : "", lines[i].told))
                        fail_msg("%s: \"%s\", not \"%s\"", lines[i].what, told.data, lines[i].told);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(each_change_is_told_once),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
