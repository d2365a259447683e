#include "hub-agent/manifest-generation/update/policy.h"
#include "hub-agent/manifest-generation/update/update_test.h"

static const char *complaint_of(struct arena *arena, int code, const struct error *err)
{
        return code < 0 ? arena_strdup(arena, err->text) : "";
}

/* ---- patterns ---- */

static void stars_are_the_only_pattern_of_globs(void **state)
{
        static const struct {
                const char *pattern, *text;
                bool matches;
        } rows[] = {
                { "*", "", true },
                { "*", "a/b:c", true },
                { "a", "a", true },
                { "a", "ab", false },
                { "a*", "ab", true },
                { "*b*", "abc", true },
                { "a*c", "abcbc", true },
                { "a*c", "abcb", false },
                { "", "", true },
                { "", "a", false },
                { "a?", "ab", false },
                { "[a]", "a", false },
                { "[a]", "[a]", true },
                { "**", "ab", true },
                { "1.*-alpine", "1.2-alpine", true },
                { "k8s.gcr.io/*", "k8s.gcr.io/pause", true },
                { "k8s.gcr.io/*", "index.docker.io/library/nginx", false },
                { "*a*a*a*a*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++)
                if (star_glob_matches(rows[i].pattern, rows[i].text) != rows[i].matches)
                        fail_msg("%s %s", rows[i].pattern, rows[i].text);
}

/* spec/flux-yaml.md checklist 60 */
static void each_kind_of_pattern_has_its_tags(void **state)
{
        static const struct {
                const char *pattern, *in, *out; /* tags separated by blanks */
        } rows[] = {
                { "glob:*", "1.0 master-abc x", "latest LATEST Latest" },
                { "*", "1.0", "latest" },
                { "glob:latest", "latest", "LATEST 1.0" },
                { "latest", "latest", "Latest" },
                { "glob:l*", "later", "latest" },
                { "glob:master-*", "master-1", "1-master- main" },
                { "semver:~1.2", "1.2.0 v1.2.9 1.2", "1.3.0 latest x 1.2.1-rc.1" },
                { "semver:*", "1 v2.0 03.1", "a 1.2.3.4 2.0.0-rc1 latest" },
                { "semver:>=1.0.0-0", "1.0.0-rc.1", "0.9.0" },
                { "regexp:^v[0-9]+$", "v1 v22", "v1a av1" },
                { "regex:v", "av1", "a latest" },
                { "regexp:.*", "a", "latest" },
        };
        AUTO_ARENA struct arena arena = ARENA_INIT;

        for (size_t i = 0; i < ARRAY_LEN(rows); i++)
                for (int in = 0; in < 2; in++) {
                        struct slice all = slice_of(in ? rows[i].in : rows[i].out), one;
                        const struct tag_pattern *p;

                        assert_int_equal(tag_pattern_parse(&arena, rows[i].pattern, &p, NULL), 0);
                        while (all.len > 0) {
                                slice_cut(&all, ' ', &one);
                                if (tag_pattern_has(p, arena_strndup(&arena, one.data, one.len)) != in)
                                        fail_msg("%s %.*s", rows[i].pattern, (int)one.len, one.data);
                        }
                        assert_int_equal(tag_pattern_order(p), text_starts_with(rows[i].pattern, "semver:")
                                                                       ? TAG_BY_VERSION
                                                                       : TAG_BY_TIME);
                }
}

/* spec/flux-yaml.md checklist 54 */
static void what_is_no_pattern_is_refused(void **state)
{
        static const struct {
                const char *pattern, *complaint;
        } rows[] = {
                { "semver:", "invalid tag pattern: \"semver:\"" },
                { "semver:one", "invalid tag pattern: \"semver:one\"" },
                { "regexp:(", "invalid tag pattern: \"regexp:(\"" },
                { "regex:\"[\"", "invalid tag pattern: \"regex:\\\"[\\\"\"" },
        };
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const struct tag_pattern *p;
        struct error err;

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                assert_int_equal(tag_pattern_parse(&arena, rows[i].pattern, &p, &err), ERR_INVALID);
                assert_string_equal(err.text, rows[i].complaint);
        }
}

/* ---- what a workload has ---- */

static struct policy_set set_of(struct arena *arena, const char *annotations)
{
        struct policy_set s;
        json_t *doc = json_pack("{s:{s:o}}", "metadata", "annotations", doc_of(annotations));

        assert_int_equal(doc_keep(arena, doc, NULL), 0);
        assert_int_equal(policy_set_read(arena, doc, &s, NULL), 0);
        return s;
}

static void assert_value(const struct policy_set *s, const char *name, const char *value)
{
        const struct sync_policy *p = policy_set_find(s, name);

        if (value)
                assert_string_equal(p->value, value);
        else
                assert_null(p);
}

/* spec/flux-yaml.md checklist 55 */
static void policies_are_read_under_all_their_prefixes(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct policy_set s = set_of(&arena, "{'fluxcd.io/automated':'true','flux.weave.works/locked':'true',"
                                             "'filter.fluxcd.io/app':'semver:~1','fluxcd.io/tag.b':'glob:x',"
                                             "'flux.weave.works/automated':'false','other':'x',"
                                             "'filter.fluxcd.io/b':'y','fluxcd.io/':'z'}");

        assert_int_equal(s.n, 4);
        assert_true(policy_set_is(&s, "automated"));
        assert_true(policy_set_is(&s, "locked"));
        assert_false(policy_set_is(&s, "ignore"));
        assert_value(&s, "tag.app", "semver:~1");
        assert_value(&s, "tag.b", "glob:x");
        assert_value(&s, "tag.c", NULL);
        assert_string_equal(policy_set_find(&s, "tag.app")->annotation, "filter.fluxcd.io/app");
        assert_null(s.problem);
}

static void an_object_without_annotations_has_no_policies(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        AUTO_JSON json_t *doc = doc_of("{'metadata':{}}");
        struct policy_set s;

        assert_int_equal(policy_set_read(&arena, doc, &s, NULL), 0);
        assert_int_equal(s.n, 0);
}

static void a_value_that_is_no_string_is_told(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct policy_set s = set_of(&arena, "{'fluxcd.io/automated':true}");

        assert_false(policy_set_is(&s, "automated"));
        assert_string_equal(s.problem,
                            "annotation fluxcd.io/automated must be a string: it is taken as absent");
}

static void a_container_without_pattern_takes_any_tag(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct policy_set s =
                set_of(&arena, "{'fluxcd.io/tag.app':'semver:~1','fluxcd.io/tag.bad':'semver:one'}");
        const struct tag_pattern *p;
        struct error err;

        assert_int_equal(policy_set_pattern(&arena, &s, "app", &p, NULL), 0);
        assert_int_equal(tag_pattern_order(p), TAG_BY_VERSION);
        assert_int_equal(policy_set_pattern(&arena, &s, "other", &p, NULL), 0);
        assert_ptr_equal(p, &tag_pattern_any);
        assert_int_equal(policy_set_pattern(&arena, &s, "bad", &p, &err), ERR_INVALID);
        assert_string_equal(err.text, "invalid tag pattern: \"semver:one\"");
}

static void there_is_a_most_of_policies(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        AUTO_JSON json_t *doc = doc_of("{'metadata':{'annotations':{}}}");
        struct policy_set s;

        for (int i = 0; i <= POLICIES_MAX; i++) {
                const char *key = arena_printf(&arena, "fluxcd.io/tag.a%d", i);

                json_object_set_new(doc_get_object(doc, "metadata.annotations"), key, json_string("x"));
        }
        assert_int_equal(policy_set_read(&arena, doc, &s, NULL), ERR_LIMIT);
}

/* ---- requests ---- */

/* "automated=true -locked": of added and removed policies. */
static const char *text_of_changes(struct arena *arena, const struct policy_changes *c)
{
        const char *all = "";

        for (size_t i = 0; i < c->n; i++)
                all = c->at[i].value ? arena_printf(arena, "%s%s%s=%s", all, i ? " " : "", c->at[i].name,
                                                    c->at[i].value)
                                     : arena_printf(arena, "%s%s-%s", all, i ? " " : "", c->at[i].name);
        return all;
}

/* spec/flux-yaml.md checklist 50, 54 */
static void lines_of_requests_are_read_or_refused_with_their_number(void **state)
{
        static const struct {
                const char *add, *remove, *result;
        } rows[] = {
                { "automated", NULL, "automated=true" },
                { " automated = true \n\ntag.app=glob:a=b c\n", "locked\nlocked_msg=x",
                  "automated=true tag.app=glob:a=b c -locked -locked_msg" },
                { "ignore=sync_only\nlocked=false", "", "ignore=sync_only locked=false" },
                { "tag_all=semver:~1", "", "tag_all=semver:~1" },
                { "locked_msg=", "", "locked_msg=" },
                { "", "", "" },
                { "\n\nfoo=1", "",
                  "data.add: line 3: unknown policy \"foo\": must be automated, locked, "
                  "ignore, locked_user, locked_msg, tag_all or tag.<container>" },
                { "tag.=x", "",
                  "data.add: line 1: unknown policy \"tag.\": must be automated, locked, "
                  "ignore, locked_user, locked_msg, tag_all or tag.<container>" },
                { "tag.a b=x", "",
                  "data.add: line 1: unknown policy \"tag.a b\": must be automated, locked, "
                  "ignore, locked_user, locked_msg, tag_all or tag.<container>" },
                { "automated=yes", "", "data.add: line 1: the value of automated must be true or false" },
                { "ignore=x", "", "data.add: line 1: the value of ignore must be true, sync_only or false" },
                { "tag.app", "", "data.add: line 1: policy tag.app needs a value: tag.app=..." },
                { "tag_all=semver:one", "", "data.add: line 1: invalid tag pattern: \"semver:one\"" },
                { "locked\nlocked", "", "data.add: line 2: policy \"locked\" is named before" },
                { "locked", "automated\nlocked",
                  "data.remove: line 2: policy \"locked\" is named before, in data.add" },
                { "", "foo",
                  "data.remove: line 1: unknown policy \"foo\": must be automated, locked, "
                  "ignore, locked_user, locked_msg, tag_all or tag.<container>" },
        };
        AUTO_ARENA struct arena arena = ARENA_INIT;

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct policy_changes c;
                struct error err;
                int code = policy_changes_read(&arena, rows[i].add, rows[i].remove, &c, &err);

                assert_string_equal(code < 0 ? complaint_of(&arena, code, &err) : text_of_changes(&arena, &c),
                                    rows[i].result);
        }
}

static void a_lock_tells_who_and_why(void **state)
{
        static const struct {
                const char *add, *remove, *user, *message, *result;
        } rows[] = {
                { "locked", "", "Ann <a@b>", "broken",
                  "locked=true locked_user=Ann <a@b> locked_msg=broken" },
                { "locked\nlocked_msg=mine", "", "Ann", "x", "locked=true locked_msg=mine locked_user=Ann" },
                { "locked", "", "", "", "locked=true -locked_user -locked_msg" },
                { "", "locked", "Ann", "x", "-locked -locked_user -locked_msg" },
                { "locked=false", "", "Ann", "x", "locked=false -locked_user -locked_msg" },
                { "automated", "", "Ann", "x", "automated=true" },
        };
        AUTO_ARENA struct arena arena = ARENA_INIT;

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct policy_changes c;

                assert_int_equal(policy_changes_read(&arena, rows[i].add, rows[i].remove, &c, NULL), 0);
                assert_int_equal(policy_changes_complete(&arena, rows[i].user, rows[i].message, &c, NULL), 0);
                assert_string_equal(text_of_changes(&arena, &c), rows[i].result);
        }
}

/* ---- what has to change ---- */

static const char *plan(struct arena *arena, const char *annotations, const char *add, const char *remove)
{
        static const char *const containers[] = { "app", "side" };
        struct policy_set s = set_of(arena, annotations);
        json_t *doc = doc_of(annotations);
        struct policy_target t = { doc, &s, containers, ARRAY_LEN(containers) };
        struct policy_changes want;
        struct annotation_changes c;
        const char *all = "";

        assert_int_equal(doc_keep(arena, doc, NULL), 0);
        assert_int_equal(policy_changes_read(arena, add, remove, &want, NULL), 0);
        assert_int_equal(policy_changes_plan(arena, &t, &want, &c, NULL), 0);
        for (size_t i = 0; i < c.n; i++)
                all = arena_printf(arena, "%s%s%s:%s%s%s", all, i ? " " : "", c.at[i].policy,
                                   c.at[i].annotation, c.at[i].value ? "=" : "-", or_empty(c.at[i].value));
        return all;
}

/* spec/flux-yaml.md checklist 54, 55 */
static void changes_keep_the_prefix_that_is_there(void **state)
{
        static const struct {
                const char *annotations, *add, *remove, *result;
        } rows[] = {
                { "{}", "automated", "", "automated:fluxcd.io/automated=true" },
                { "{'fluxcd.io/automated':'true'}", "automated", "", "" },
                { "{'flux.weave.works/automated':'false'}", "automated", "",
                  "automated:flux.weave.works/automated=true" },
                { "{'flux.weave.works/tag.app':'a'}", "tag.app=b", "", "tag.app:flux.weave.works/tag.app=b" },
                { "{'filter.fluxcd.io/app':'a'}", "tag.app=b", "", "tag.app:filter.fluxcd.io/app=b" },
                { "{'filter.fluxcd.io/app':'a','fluxcd.io/tag.app':'b'}", "", "tag.app",
                  "tag.app:fluxcd.io/tag.app- tag.app:filter.fluxcd.io/app-" },
                { "{}", "", "locked", "" },
                { "{'fluxcd.io/tag.app':'glob:a'}", "tag_all=glob:a", "",
                  "tag.side:fluxcd.io/tag.side=glob:a" },
                { "{'fluxcd.io/tag.app':'glob:a'}", "tag_all=glob:*", "", "tag.app:fluxcd.io/tag.app-" },
                { "{'fluxcd.io/tag.app':'glob:a'}", "", "tag_all", "tag.app:fluxcd.io/tag.app-" },
                { "{}", "tag_all=glob:a\ntag.app=glob:b", "",
                  "tag.side:fluxcd.io/tag.side=glob:a tag.app:fluxcd.io/tag.app=glob:b" },
                { "{'fluxcd.io/automated':true}", "automated", "", "automated:fluxcd.io/automated=true" },
        };
        AUTO_ARENA struct arena arena = ARENA_INIT;

        for (size_t i = 0; i < ARRAY_LEN(rows); i++)
                assert_string_equal(plan(&arena, rows[i].annotations, rows[i].add, rows[i].remove),
                                    rows[i].result);
}

static int read_and_plan(struct arena *arena, void *data)
{
        const char *const containers[] = { "app" };
        struct policy_set s;
        struct policy_target t = { doc_get_object(data, "metadata.annotations"), &s, containers, 1 };
        const struct tag_pattern *p;
        struct policy_changes want;
        struct annotation_changes c;
        struct error err;

        TRY(policy_set_read(arena, data, &s, &err));
        TRY(policy_set_pattern(arena, &s, "app", &p, &err));
        TRY(policy_changes_read(arena, "locked\ntag_all=regexp:^a\nignore=sync_only", "tag.x\nautomated",
                                &want, &err));
        TRY(policy_changes_complete(arena, "me", "why", &want, &err));
        return policy_changes_plan(arena, &t, &want, &c, &err);
}

static void each_allocation_may_fail(void **state)
{
        AUTO_JSON json_t *doc =
                doc_of("{'metadata':{'annotations':{'fluxcd.io/automated':'true',"
                       "'filter.fluxcd.io/app':'semver:~1.2 || 3','fluxcd.io/locked':true}}}");

        walk_all_failures(read_and_plan, doc);
}

int main(void)
{
        mem_hook_libraries();
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(stars_are_the_only_pattern_of_globs),
                cmocka_unit_test(each_kind_of_pattern_has_its_tags),
                cmocka_unit_test(what_is_no_pattern_is_refused),
                cmocka_unit_test(policies_are_read_under_all_their_prefixes),
                cmocka_unit_test(an_object_without_annotations_has_no_policies),
                cmocka_unit_test(a_value_that_is_no_string_is_told),
                cmocka_unit_test(a_container_without_pattern_takes_any_tag),
                cmocka_unit_test(there_is_a_most_of_policies),
                cmocka_unit_test(lines_of_requests_are_read_or_refused_with_their_number),
                cmocka_unit_test(a_lock_tells_who_and_why),
                cmocka_unit_test(changes_keep_the_prefix_that_is_there),
                cmocka_unit_test(each_allocation_may_fail),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
