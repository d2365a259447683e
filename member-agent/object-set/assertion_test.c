/* spec/cluster-object-set.md 10.3 */
#include "member-agent/object-set/assertion.h"

#include "member-agent/object-set/testing.h"

struct line {
        const char *live, *a, *b;
        enum verdict verdict;
        const char *words;
};

static void check(const struct line *lines, size_t n,
                  enum verdict (*assertion)(const json_t *, const char *, const char *, struct buf *))
{
        for (size_t i = 0; i < n; i++) {
                AUTO_JSON json_t *live = quoted(lines[i].live);
                struct buf words AUTO_BUF;

                buf_init(&words, 1 << 16);
                assert_int_equal(assertion(live, lines[i].a, lines[i].b, &words), lines[i].verdict);
                assert_string_equal(words.data, lines[i].words);
        }
}

#define CONDITIONS(list) "{'metadata':{'generation':2},'status':{'conditions':" list "}}"

/* spec/cluster-object-set.md checklist 54, 55 */
static void a_condition_has_a_status_or_it_is_told_why_not(void **state)
{
        static const struct line lines[] = {
                { "{}", "Ready", "True", VERDICT_UNKNOWN, "missing .status.conditions" },
                { "{'status':'x'}", "Ready", "True", VERDICT_UNKNOWN, "missing .status.conditions" },
                { CONDITIONS("{}"), "Ready", "True", VERDICT_UNKNOWN, "malformed .status.conditions" },
                { CONDITIONS("null"), "Ready", "True", VERDICT_UNKNOWN, "malformed .status.conditions" },
                { CONDITIONS("['x',{'type':'Ready','status':'True'}]"), "Ready", "True", VERDICT_UNKNOWN,
                  "malformed .status.conditions" },
                { CONDITIONS("[]"), "Ready", "True", VERDICT_UNKNOWN,
                  "missing .status.condition[\"Ready\"]" },
                { CONDITIONS("[{'type':'Other','status':'True'}]"), "Ready", "True", VERDICT_UNKNOWN,
                  "missing .status.condition[\"Ready\"]" },
                { CONDITIONS("[{'type':'Ready','status':'True','observedGeneration':1}]"), "Ready", "True",
                  VERDICT_UNKNOWN, ".status.condition[\"Ready\"] outdated" },
                { CONDITIONS("[{'type':'Ready','status':'True','observedGeneration':2}]"), "Ready", "True",
                  VERDICT_TRUE, ".status.condition[\"Ready\"] is True" },
                { CONDITIONS("[{'type':'Ready','status':'False'}]"), "Ready", "True", VERDICT_FALSE,
                  ".status.condition[\"Ready\"] is False" },
                { CONDITIONS("[{'type':'Ready','status':'Unknown'}]"), "Ready", "False", VERDICT_FALSE,
                  ".status.condition[\"Ready\"] is Unknown" },
                { CONDITIONS("[{'type':'Ready','status':'False'}]"), "Ready", "False", VERDICT_TRUE,
                  ".status.condition[\"Ready\"] is False" },
        };

        check(lines, ARRAY_LEN(lines), assert_condition_equal);
}

/* spec/cluster-object-set.md checklist 56 */
static void two_fields_are_equal_or_it_is_told_why_not(void **state)
{
        static const struct line lines[] = {
                { "{'spec':{'replicas':1}}", "spec.replicas", "status.ready", VERDICT_FALSE,
                  "\"status.ready\" missing" },
                { "{'status':{'ready':1}}", "spec.replicas", "status.ready", VERDICT_FALSE,
                  "\"spec.replicas\" missing" },
                { "{}", "a", "b", VERDICT_FALSE, "\"a\" missing" },
                { "{'a':'text'}", "a.b", "a", VERDICT_FALSE, "\"a.b\" missing" },
                { "{'a':1,'b':2}", "a", "b", VERDICT_FALSE, "\"a\" != \"b\" expected: 1 got: 2" },
                { "{'a':1,'b':'1'}", "a", "b", VERDICT_FALSE, "\"a\" != \"b\" expected: 1 got: \"1\"" },
                { "{'a':{'y':1,'x':[true]},'b':{}}", "a", "b", VERDICT_FALSE,
                  "\"a\" != \"b\" expected: {\"x\":[true],\"y\":1} got: {}" },
                { "{'a':{'y':1,'x':[true]},'b':{'x':[true],'y':1}}", "a", "b", VERDICT_TRUE,
                  "\"a\" == \"b\"" },
        };

        check(lines, ARRAY_LEN(lines), assert_fields_equal);
}

/* spec/cluster-object-set.md checklist 57 */
static void a_field_has_a_value_or_it_is_told_why_not(void **state)
{
        static const struct line lines[] = {
                { "{}", "status.phase", "Bound", VERDICT_FALSE, "missing key: \"status.phase\"" },
                { "{'status':null}", "status.phase", "Bound", VERDICT_FALSE,
                  "missing key: \"status.phase\"" },
                { "{'status':{'phase':'x'}}", "status.phase.deep.er", "Bound", VERDICT_FALSE,
                  "error locating key \"status.phase.deep.er\"; \"status.phase\" is not an object" },
                { "{'status':[]}", "status.phase", "Bound", VERDICT_FALSE,
                  "error locating key \"status.phase\"; \"status\" is not an object" },
                { "{'status':{'phase':'Pending'}}", "status.phase", "Bound", VERDICT_FALSE,
                  "value at key \"status.phase\" != \"Bound\"; expected: \"Bound\" got: \"Pending\"" },
                { "{'status':{'phase':'Bound'}}", "status.phase", "Bound", VERDICT_TRUE,
                  "value at key \"status.phase\" == \"Bound\"" },
                { "{'a':3}", "a", "3", VERDICT_TRUE, "value at key \"a\" == \"3\"" },
                { "{'a':true}", "a", "true", VERDICT_TRUE, "value at key \"a\" == \"true\"" },
                { "{'a':3}", "a", "3.0", VERDICT_FALSE,
                  "value at key \"a\" != \"3.0\"; expected: \"3.0\" got: 3" },
                { "{'a':{'b':1}}", "a", "{\"b\":1}", VERDICT_FALSE,
                  "value at key \"a\" != \"{\"b\":1}\"; expected: \"{\"b\":1}\" got: {\"b\":1}" },
                { "{'a':null}", "a", "null", VERDICT_FALSE,
                  "value at key \"a\" != \"null\"; expected: \"null\" got: null" },
        };

        check(lines, ARRAY_LEN(lines), assert_field_value);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_condition_has_a_status_or_it_is_told_why_not),
                cmocka_unit_test(two_fields_are_equal_or_it_is_told_why_not),
                cmocka_unit_test(a_field_has_a_value_or_it_is_told_why_not),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
