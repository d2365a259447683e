/* Git services: spec/resource-set.md 19.2 to 19.5. */
#include "hub-agent/input-provider/source_test.h"

#define HUB "https://github.com/acme/app"
#define HUB_API "GET api.github.com/repos/acme/app/"

/* spec/resource-set.md checklist 109 */
RIG_TEST(branches_of_github_come_page_by_page, {
        static const struct route routes[] = {
                { HUB_API "branches?per_page=100",
                  200,
                  { "Link",
                    "<https://api.github.com/x>; rel=\"prev\", "
                    "<https://api.github.com/repos/acme/app/branches?per_page=100&page=2>; rel=\"next\"" },
                  "[{\"name\":\"main\",\"commit\":{\"sha\":\"a1\",\"url\":\"u\"},\"protected\":true}]" },
                { HUB_API "branches?per_page=100&page=2",
                  200,
                  { 0 },
                  "[{\"name\":\"feat\",\"commit\":{\"sha\":\"b2\"}}]" },
                { 0 },
        };

        serve(r, "api.github.com", routes);
        collect(r, "GitHubBranch", HUB);
        exports_are(r, "[{\"branch\":\"main\",\"id\":\"68878758\",\"sha\":\"a1\"},"
                       "{\"branch\":\"feat\",\"id\":\"67174817\",\"sha\":\"b2\"}]");
        r->source.credentials.password = "t0ken";
        filter_by(r, &(struct filter_texts){ .limit = 1 });
        collect(r, "GitHubBranch", HUB ".git");
        assert_int_equal(r->source.refs.n, 1);
        assert_string_equal(r->said.data, HUB_API "branches?per_page=100 Bearer t0ken\n");
})

/* spec/resource-set.md checklist 109 and 118 */
RIG_TEST(all_tags_of_github_are_read_and_the_best_taken, {
        static const struct route routes[] = {
                { HUB_API "tags?per_page=100",
                  200,
                  { "Link", "</repos/acme/app/tags?per_page=100&page=2>; rel=next" },
                  "[{\"name\":\"1.0.0\",\"commit\":{\"sha\":\"a\"}},{\"name\":\"x\",\"commit\":{\"sha\":"
                  "\"b\"}}]" },
                { HUB_API "tags?per_page=100&page=2",
                  200,
                  { 0 },
                  "[{\"name\":\"1.2.0\",\"commit\":{\"sha\":\"c\"}}]" },
                { 0 },
        };

        serve(r, "api.github.com", routes);
        filter_by(r, &(struct filter_texts){ .limit = 1, .semver = "1.x" });
        collect(r, "GitHubTag", HUB "/");
        exports_are(r, "[{\"id\":\"47448304\",\"sha\":\"c\",\"tag\":\"1.2.0\"}]");
})

#define PULL(number, branch, label)                                                                          \
        "{\"number\":" #number ",\"title\":\"T" #number "\",\"head\":{\"ref\":\"" branch                     \
        "\",\"sha\":\"s" #number "\"},\"user\":{\"login\":\"ann\"},\"labels\":[{\"name\":\"" label "\"}]}"

/* spec/resource-set.md checklist 109 */
RIG_TEST(pull_requests_are_filtered_by_branch_and_labels, {
        static const struct route routes[] = {
                { HUB_API "pulls?state=open&per_page=100",
                  200,
                  { 0 },
                  "[" PULL(1, "feat/a", "deploy") "," PULL(2, "feat/b", "other") "," PULL(3, "fix/c",
                                                                                          "deploy") "]" },
                { 0 },
        };

        serve(r, "api.github.com", routes);
        filter_by(r, &(struct filter_texts){ .include_branch = "^feat/",
                                             .labels = (const char *[]){ "deploy" },
                                             .n_labels = 1 });
        collect(r, "GitHubPullRequest", HUB);
        exports_are(r, "[{\"author\":\"ann\",\"branch\":\"feat/a\",\"id\":\"1\",\"labels\":[\"deploy\"],"
                       "\"sha\":\"s1\",\"title\":\"T1\"}]");
})

/* spec/resource-set.md checklist 111 */
RIG_TEST(another_host_of_github_has_its_api_below_a_path, {
        static const struct route routes[] = {
                { "GET git.corp:8443/api/v3/repos/a/b/tags?per_page=100", 200, { 0 }, "[]" },
                { "GET api.ghe.com/repos/a/b/tags?per_page=100", 200, { 0 }, "[]" },
                { 0 },
        };

        serve(r, "git.corp:8443", routes);
        collect(r, "GitHubTag", "https://user:secret@git.corp:8443/a/b");
        exports_are(r, "[]");
        serve(r, "api.ghe.com", routes);
        collect(r, "GitHubTag", "https://api.ghe.com/a/b");
        exports_are(r, "[]");
        collect(r, "GitHubTag", "https://me:pw@github.com/a/b/c");
        fails_with(r, "failed to create Git provider: invalid GitHub URL \"https://github.com/a/b/c\": can't "
                      "find owner "
                      "and repository; expected is a GitHub repository address such as "
                      "https://github.com/owner/repo");
        assert_int_equal(r->code, ERR_INVALID);
})

/* spec/resource-set.md checklist 123 */
RIG_TEST(a_refusal_names_the_form_of_the_url_and_no_secret, {
        static const struct route routes[] = { { 0 } };

        serve(r, "api.github.com", routes);
        r->source.credentials.password = "t0ken";
        collect(r, "GitHubPullRequest", "https://me:pw@github.com/acme/app?x=y");
        fails_with(
                r,
                "failed to call Git provider: failed to list requests: could not list pull requests: "
                "GET https://api.github.com/repos/acme/app/pulls: HTTP 404: expected is a GitHub repository "
                "address such as https://github.com/owner/repo that its credentials may read");
})

RIG_TEST(a_limit_of_requests_says_when_to_come_again, {
        static const struct route routes[] = {
                { HUB_API "branches?per_page=100", 403, { "X-RateLimit-Remaining", "0" }, "{}" },
                { HUB_API "tags?per_page=100", 429, { "Retry-After", "77" }, "{}" },
                { 0 },
        };

        serve(r, "api.github.com", routes);
        collect(r, "GitHubTag", HUB);
        assert_int_equal(r->code, ERR_TOO_MANY);
        assert_int_equal(r->err.retry_after_ms, 77000);
        collect(r, "GitHubBranch", HUB); /* it does not say when */
        assert_int_equal(r->code, ERR_FORBIDDEN);
        assert_int_equal(r->err.retry_after_ms, 0);
})

RIG_TEST(pages_that_lead_in_circles_or_away_end_the_run, {
        static const struct route routes[] = {
                { HUB_API "branches?per_page=100",
                  200,
                  { "Link", "</repos/acme/app/branches?per_page=100>; rel=\"next\"" },
                  "[]" },
                { HUB_API "tags?per_page=100",
                  200,
                  { "Link", "<https://evil.example/x>; rel=\"next\"" },
                  "[]" },
                { 0 },
        };

        serve(r, "api.github.com", routes);
        collect(r, "GitHubBranch", HUB);
        fails_with(r, "failed to call Git provider: failed to list branches: could not list branches: GitHub "
                      "branches "
                      "pagination returned a repeated page");
        collect(r, "GitHubTag", HUB);
        fails_with(r, "failed to call Git provider: failed to list tags: could not list tags: "
                      "https://api.github.com/repos/acme/app/tags: its next page is on another host");
})

RIG_TEST(what_is_no_list_of_refs_is_an_error, {
        static const struct route routes[] = {
                { HUB_API "branches?per_page=100", 200, { 0 }, "{\"a\":1}" },
                { HUB_API "tags?per_page=100", 200, { 0 }, "<html>" },
                { HUB_API "pulls?state=open&per_page=100",
                  200,
                  { 0 },
                  "[7,{\"number\":\"1\"},{\"number\":2,\"head\":{\"ref\":5}},{}]" },
                { 0 },
        };

        serve(r, "api.github.com", routes);
        collect(r, "GitHubBranch", HUB);
        assert_int_equal(r->code, ERR_INVALID);
        collect(r, "GitHubTag", HUB);
        assert_int_equal(r->code, ERR_INVALID);
        collect(r, "GitHubPullRequest", HUB);
        exports_are(r, "[]");
})

RIG_TEST(credentials_do_not_follow_a_redirect_to_another_host, {
        static const struct route routes[] = {
                { HUB_API "tags?per_page=100", 301, { "Location", "https://other.example/moved" }, "" },
                { "GET other.example/moved", 307, { "Location", "/moved/again" }, "" },
                { "GET other.example/moved/again", 200, { 0 }, "[]" },
                { HUB_API "branches?per_page=100", 302, { "Location", "http://api.github.com/x" }, "" },
                { 0 },
        };

        r->source.credentials.password = "t0ken";
        serve(r, "other.example", routes);
        serve(r, "api.github.com", routes);
        collect(r, "GitHubTag", HUB);
        exports_are(r, "[]");
        assert_string_equal(r->said.data, HUB_API "tags?per_page=100 Bearer t0ken\n"
                                                  "GET other.example/moved\nGET other.example/moved/again\n");
        collect(r, "GitHubBranch", HUB);
        assert_int_equal(r->code, ERR_INVALID);
        assert_non_null(strstr(r->err.text, "redirected from https to http"));
})

#define LAB "https://gitlab.example/group/sub/app"
#define LAB_API "GET gitlab.example/api/v4/projects/group%2Fsub%2Fapp/"

/* spec/resource-set.md checklist 109 and 112 */
RIG_TEST(git_lab_is_asked_for_the_project_as_one_segment, {
        static const struct route routes[] = {
                { LAB_API "repository/branches?per_page=100",
                  200,
                  { "X-Next-Page", "2" },
                  "[{\"name\":\"Feat/A\",\"commit\":{\"id\":\"a1\"}}]",
                  .fails = 2 },
                { LAB_API "repository/branches?per_page=100&page=2", 200, { "X-Next-Page", "3" }, "[]" },
                { LAB_API "repository/branches?per_page=100&page=3",
                  200,
                  { "X-Next-Page", "" },
                  "[{\"name\":\"main\",\"commit\":{\"id\":\"b2\"}}]" },
                { LAB_API "merge_requests?state=opened&per_page=100&labels=a%2Cb%20c",
                  200,
                  { 0 },
                  "[{\"iid\":7,\"id\":900,\"sha\":\"c3\",\"source_branch\":\"fix\",\"title\":\"T\","
                  "\"author\":{\"username\":\"bob\"},\"labels\":[\"a\",\"b c\"]}]" },
                { 0 },
        };

        serve(r, "gitlab.example", routes);
        r->secret_header = "PRIVATE-TOKEN";
        r->source.credentials.password = "t0ken";
        collect(r, "GitLabBranch", LAB);
        exports_are(r, "[{\"branch\":\"Feat/A\",\"id\":\"119669233\",\"sha\":\"a1\",\"slug\":\"feat-a\"},"
                       "{\"branch\":\"main\",\"id\":\"68878758\",\"sha\":\"b2\",\"slug\":\"main\"}]");
        assert_int_equal(r->served, 5);
        assert_int_equal(loop_now_ms(r->loop), 3000);
        filter_by(r, &(struct filter_texts){ .labels = (const char *[]){ "a", "b c" }, .n_labels = 2 });
        collect(r, "GitLabMergeRequest", LAB ".git");
        exports_are(r, "[{\"author\":\"bob\",\"branch\":\"fix\",\"id\":\"7\",\"labels\":[\"a\",\"b "
                       "c\"],\"sha\":\"c3\","
                       "\"slug\":\"fix\",\"title\":\"T\"}]");
        assert_non_null(strstr(r->said.data, " t0ken"));
})

#define ENVIRONMENT(id, name, state)                                                                         \
        "{\"id\":" #id ",\"name\":\"" name "\",\"slug\":\"" name "-x\",\"state\":\"" state "\"}"
#define DEPLOYMENT(status, sha)                                                                              \
        "{\"status\":\"" status "\",\"deployable\":{\"commit\":{\"id\":\"" sha "\"},\"ref\":\"main\"},"      \
        "\"user\":{\"username\":\"bob\"}}"
#define DEPLOYMENTS LAB_API "deployments?order_by=created_at&sort=desc&environment="

/* spec/resource-set.md checklist 112 */
RIG_TEST(environments_of_git_lab_follow_their_deployments, {
        static const struct route routes[] = {
                { LAB_API "environments?per_page=100",
                  200,
                  { 0 },
                  "[" ENVIRONMENT(1, "prod", "available") "," ENVIRONMENT(2, "old", "stopped") "," ENVIRONMENT(
                          3, "review",
                          "stopped") "," ENVIRONMENT(4, "none",
                                                     "available") "," ENVIRONMENT(5, "skipped",
                                                                                  "available") "]" },
                { DEPLOYMENTS "prod",
                  200,
                  { 0 },
                  "[" DEPLOYMENT("failed", "f") "," DEPLOYMENT("success", "p") "]" },
                { DEPLOYMENTS "old", 200, { 0 }, "[" DEPLOYMENT("success", "o") "]" },
                { DEPLOYMENTS "review", 200, { 0 }, "[" DEPLOYMENT("running", "r") "]" },
                { DEPLOYMENTS "none", 200, { 0 }, "[]" },
                { 0 },
        };

        serve(r, "gitlab.example", routes);
        filter_by(r, &(struct filter_texts){ .exclude_environment = "^skip" });
        collect(r, "GitLabEnvironment", LAB);
        exports_are(r,
                    "[{\"author\":\"bob\",\"branch\":\"main\",\"id\":\"1\",\"sha\":\"p\",\"slug\":\"prod-x\","
                    "\"title\":\"prod\"},{\"author\":\"bob\",\"branch\":\"main\",\"id\":\"3\",\"sha\":\"r\","
                    "\"slug\":\"review-x\",\"title\":\"review\"}]");
        assert_int_equal(r->served, 5);
})

#define TEA_API "GET tea.example/api/v1/repos/acme/app/"

/* spec/resource-set.md checklist 109 */
RIG_TEST(gitea_is_asked_in_its_own_way, {
        static const struct route routes[] = {
                { TEA_API "branches?limit=100",
                  200,
                  { 0 },
                  "[{\"name\":\"main\",\"commit\":{\"id\":\"a\"}}]" },
                { TEA_API "tags?limit=100",
                  200,
                  { 0 },
                  "[{\"name\":\"v1\",\"id\":\"x\",\"commit\":{\"sha\":\"b\"}}]" },
                { TEA_API "pulls?state=open&limit=100", 200, { 0 }, "[" PULL(4, "fix", "a") "]" },
                { 0 },
        };

        serve(r, "tea.example", routes);
        r->source.credentials.password = "t0ken";
        collect(r, "GiteaBranch", "https://tea.example/acme/app");
        exports_are(r, "[{\"branch\":\"main\",\"id\":\"68878758\",\"sha\":\"a\"}]");
        assert_string_equal(r->said.data, TEA_API "branches?limit=100 token t0ken\n");
        collect(r, "GiteaTag", "https://tea.example/acme/app");
        exports_are(r, "[{\"id\":\"18809000\",\"sha\":\"b\",\"tag\":\"v1\"}]");
        collect(r, "GiteaPullRequest", "https://tea.example/acme/app");
        exports_are(r,
                    "[{\"author\":\"ann\",\"branch\":\"fix\",\"id\":\"4\",\"labels\":[\"a\"],\"sha\":\"s4\","
                    "\"title\":\"T4\"}]");
        collect(r, "GiteaTag", "https://tea.example/acme");
        assert_true(text_starts_with(r->err.text, "failed to create Git provider: invalid Gitea URL"));
})

#define AZURE "https://dev.azure.com/org/project/_git/app"
#define AZURE_API "GET dev.azure.com/org/project/_apis/git/repositories/app/"

/* spec/resource-set.md checklist 109, 113 */
RIG_TEST(annotated_tags_of_azure_are_resolved_to_their_commit, {
        static const struct route routes[] = {
                { AZURE_API "refs?filter=tags&$top=100&api-version=7.1",
                  200,
                  { "x-ms-continuationtoken", "n/2" },
                  "{\"value\":[{\"name\":\"refs/tags/1.0.0\",\"objectId\":\"o1\"}]}" },
                { AZURE_API "refs?filter=tags&$top=100&api-version=7.1&continuationToken=n%2F2",
                  200,
                  { 0 },
                  "{\"value\":[{\"name\":\"refs/tags/2.0.0\",\"objectId\":\"o2\"}]}" },
                { AZURE_API "annotatedtags/o2?api-version=7.1",
                  200,
                  { 0 },
                  "{\"taggedObject\":{\"objectId\":\"c2\"}}" },
                { 0 },
        };

        serve(r, "dev.azure.com", routes);
        r->source.credentials.password = "pat";
        collect(r, "AzureDevOpsTag", AZURE);
        exports_are(r, "[{\"id\":\"47382767\",\"sha\":\"c2\",\"tag\":\"2.0.0\"},"
                       "{\"id\":\"47055086\",\"sha\":\"o1\",\"tag\":\"1.0.0\"}]");
        assert_non_null(strstr(r->said.data, " Basic OnBhdA==\n"));
})

/* spec/resource-set.md checklist 109 */
RIG_TEST(branches_and_requests_of_azure_are_exported, {
        static const struct route routes[] = {
                { AZURE_API "stats/branches?api-version=7.1",
                  200,
                  { 0 },
                  "{\"value\":[{\"name\":\"main\",\"commit\":{\"commitId\":\"a\"}}]}" },
                { AZURE_API "pullrequests?searchCriteria.status=active&$top=100&api-version=7.1",
                  200,
                  { 0 },
                  "{\"value\":[{\"pullRequestId\":3,\"sourceRefName\":\"refs/heads/"
                  "fix\",\"lastMergeSourceCommit\":"
                  "{\"commitId\":\"b\"},\"title\":\"T\",\"createdBy\":{\"displayName\":\"Ann A\"},"
                  "\"labels\":[{\"name\":\"l\"}]},{\"pullRequestId\":4,\"sourceRefName\":\"refs/heads/"
                  "x\"}]}" },
                { 0 },
        };

        serve(r, "dev.azure.com", routes);
        collect(r, "AzureDevOpsBranch", AZURE);
        exports_are(r, "[{\"branch\":\"main\",\"id\":\"68878758\",\"sha\":\"a\"}]");
        collect(r, "AzureDevOpsPullRequest", AZURE);
        exports_are(r,
                    "[{\"author\":\"Ann A\",\"branch\":\"fix\",\"id\":\"3\",\"labels\":[\"l\"],\"sha\":\"b\","
                    "\"title\":\"T\"}]");
        collect(r, "AzureDevOpsTag", "https://dev.azure.com/org/project/app");
        assert_true(text_starts_with(r->err.text, "failed to create Git provider: invalid AzureDevOps URL"));
        collect(r, "AzureDevOpsTag", "https://other.example/org/project/_git/app");
        assert_true(text_starts_with(r->err.text,
                                     "failed to create Git provider: unsupported Azure DevOps host: "
                                     "other.example"));
})

/* spec/resource-set.md checklist 114 */
RIG_TEST(types_that_need_a_clouds_identity_are_unsupported, {
        collect(r, "AWSCodeCommitBranch", "https://x.example/a");
        assert_int_equal(r->code, ERR_UNSUPPORTED);
        assert_string_equal(r->err.text, "unsupported type: AWSCodeCommitBranch");
        assert_false(source_is_supported("ACRArtifactTag"));
        assert_true(source_is_supported("GiteaTag") && source_is_git("GiteaTag") &&
                    !source_is_git("OCIArtifactTag"));
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(branches_of_github_come_page_by_page),
                cmocka_unit_test(all_tags_of_github_are_read_and_the_best_taken),
                cmocka_unit_test(pull_requests_are_filtered_by_branch_and_labels),
                cmocka_unit_test(another_host_of_github_has_its_api_below_a_path),
                cmocka_unit_test(a_refusal_names_the_form_of_the_url_and_no_secret),
                cmocka_unit_test(a_limit_of_requests_says_when_to_come_again),
                cmocka_unit_test(pages_that_lead_in_circles_or_away_end_the_run),
                cmocka_unit_test(what_is_no_list_of_refs_is_an_error),
                cmocka_unit_test(credentials_do_not_follow_a_redirect_to_another_host),
                cmocka_unit_test(git_lab_is_asked_for_the_project_as_one_segment),
                cmocka_unit_test(environments_of_git_lab_follow_their_deployments),
                cmocka_unit_test(gitea_is_asked_in_its_own_way),
                cmocka_unit_test(annotated_tags_of_azure_are_resolved_to_their_commit),
                cmocka_unit_test(branches_and_requests_of_azure_are_exported),
                cmocka_unit_test(types_that_need_a_clouds_identity_are_unsupported),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
