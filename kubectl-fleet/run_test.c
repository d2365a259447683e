/* Command lines: what is checked in which order, what is told where, and with which exit code. */
#include "kubectl-fleet/fleet_test.h"

#include "common/base/version.h"

#define HUB "--hub-cluster-context", "hub"

USER_TEST(without_words_the_help_is_printed, {
        assert_int_equal(FLEET_RUN(u, "--help"), 0);
        assert_lines(u->out.data, "Usage:\n  kubectl-fleet [command]\nAvailable Commands:\n  approve ");
        assert_string_equal(u->err.data, "");
        assert_int_equal(fleet_command(u, 0, NULL), 0);
        assert_lines(u->out.data, "Usage:\n  kubectl-fleet [command]\nAvailable Commands:\n  approve ");
})

USER_TEST(the_version_goes_to_standard_output, {
        assert_int_equal(FLEET_RUN(u, "version"), 0);
        assert_string_equal(u->out.data, "kubectl-fleet " ARGOSY_VERSION " (unknown)\n");
        assert_string_equal(u->err.data, "");
})

/* spec/staged-update-and-eviction.md checklist 59 */
USER_TEST(missing_flags_are_told_sorted_on_standard_error, {
        assert_int_equal(FLEET_RUN(u, "approve", "careq"), 1);
        assert_lines(u->err.data, "Error: required flag(s) \"hub-cluster-context\", \"name\" not set\n"
                                  "Usage:\n"
                                  "  kubectl-fleet approve <kind> [flags]\n"
                                  "2026/01/01 00:00:00 Error executing command: required flag(s) "
                                  "\"hub-cluster-context\", \"name\" not set");
        assert_string_equal(u->out.data, "");
        assert_int_equal(FLEET_RUN(u, "draincluster"), 1);
        assert_lines(u->err.data,
                     "Error: required flag(s) \"cluster-name\", \"hub-cluster-context\" not set");
        assert_int_equal(FLEET_RUN(u, "uncordoncluster", HUB), 1);
        assert_lines(u->err.data, "Error: required flag(s) \"cluster-name\" not set");
        assert_int_equal(FLEET_RUN(u, "uncordoncluster", "--help"), 0);
        assert_lines(u->out.data, "Usage:\n  kubectl-fleet uncordoncluster [flags]");
        assert_string_equal(u->err.data, "");
})

USER_TEST(the_context_of_kubectl_names_the_hub_too, {
        assert_int_equal(FLEET_RUN(u, "approve", "careq", "--context", "hub"), 1);
        assert_lines(u->err.data, "Error: required flag(s) \"name\" not set");
        assert_int_equal(FLEET_RUN(u, "uncordoncluster", HUB, "--context=other", "--cluster-name=x"), 1);
        assert_lines(u->err.data,
                     "Error: --context \"other\" and --hub-cluster-context \"hub\" name different hubs");
})

USER_TEST(the_number_of_arguments_is_looked_at_first, {
        assert_int_equal(FLEET_RUN(u, "approve"), 1);
        assert_lines(u->err.data, "Error: accepts 1 arg(s), received 0");
        assert_int_equal(FLEET_RUN(u, "approve", "careq", "areq"), 1);
        assert_lines(u->err.data, "Error: accepts 1 arg(s), received 2");
})

USER_TEST(an_unknown_command_points_at_the_help, {
        assert_int_equal(FLEET_RUN(u, "aprove", "careq"), 1);
        assert_string_equal(u->err.data,
                            "Error: unknown command \"aprove\" for \"kubectl-fleet\"\n"
                            "\nDid you mean this?\n\tapprove\n\n"
                            "Run 'kubectl-fleet --help' for usage.\n"
                            "2026/01/01 00:00:00 Error executing command: unknown command \"aprove\" for "
                            "\"kubectl-fleet\"\n");
        assert_int_equal(FLEET_RUN(u, "--context", "hub", "aprove", "--name=x"), 1);
        assert_lines(u->err.data, "Error: unknown command \"aprove\" for \"kubectl-fleet\"\n");
        assert_int_equal(FLEET_RUN(u, "wh"), 1);
        assert_lines(u->err.data, "Did you mean this?\n\twhere\n\twhy\n");
        assert_int_equal(FLEET_RUN(u, "get", "crp"), 1);
        assert_null(strstr(u->err.data, "Did you mean"));
})

USER_TEST(flags_may_stand_before_the_command, {
        assert_int_equal(FLEET_RUN(u, HUB, "approve", "--name", "approve", "careq"), 1);
        assert_lines(u->err.data,
                     "Error: failed to approve ClusterApprovalRequest \"approve\": failed to get "
                     "ClusterApprovalRequest \"approve\":");
})

USER_TEST(a_context_that_is_not_there_is_told_with_its_file, {
        assert_int_equal(FLEET_RUN(u, "approve", "careq", "--name=a", "--hub-cluster-context=nowhere"), 1);
        assert_lines(u->err.data, "Error: failed to create hub cluster client: kubeconfig " KUBECONFIG_PATH);
        assert_lines(u->err.data, "nowhere");
})

USER_TEST(a_server_that_is_no_hub_is_told_as_one, {
        static const char *const lines[][3] = {
                { "status" }, { "runs", "r" }, { "where", "c" }, { "runs", "stop", "r" }
        };

        rig_delete(u->rig, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"
                           "clusterresourceplacements.placement.kubernetes-fleet.io");
        rig_delete(u->rig, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"
                           "clusterstagedupdateruns.placement.kubernetes-fleet.io");
        rig_delete(u->rig, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"
                           "works.placement.kubernetes-fleet.io");
        rig_settle(u->rig);
        for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
                assert_int_equal(fleet_command(u, lines[i][2] ? 3 : lines[i][1] ? 2 : 1, lines[i]), 1);
                assert_lines(u->err.data,
                             "Error: \nThe API server of context \"hub\" does not serve what was "
                             "asked for: is it a hub's?\n");
        }
})

USER_TEST(one_may_act_as_somebody_else, {
        assert_int_equal(FLEET_RUN(u, "status", HUB, "--as", "jane"), 1);
        assert_lines(u->err.data, "User \"jane\" cannot list resource \"clusterresourceplacements\"");
        assert_int_equal(FLEET_RUN(u, "status", HUB, "--as=jane", "--as-group", "guests",
                                   "--as-group=system:masters", "--as-uid", "7"),
                         0);
        assert_int_equal(FLEET_RUN(u, "status", HUB, "--as-group", "guests"), 1);
        assert_lines(u->err.data, "Error: --as-group and --as-uid are beside --as");
})

/* Improve: a list of files, as kubectl takes it, of which some may be missing. */
USER_TEST(the_kubeconfig_variable_may_be_a_list, {
        u->kubeconfig_env = "/nowhere:" KUBECONFIG_PATH;
        assert_int_equal(FLEET_RUN(u, "approve", "careq", "--name=a", HUB), 1);
        assert_lines(u->err.data, "failed to get ClusterApprovalRequest \"a\": ");
})

USER_TEST(other_commands_tell_an_error_once_and_usage_only_where_it_helps, {
        assert_int_equal(FLEET_RUN(u, "where"), 1);
        assert_string_equal(u->err.data, "Error: the cluster is missing: where <cluster>\n"
                                         "Run 'kubectl-fleet where --help' for usage.\n");
        assert_int_equal(FLEET_RUN(u, "where", "a", "b"), 1);
        assert_lines(u->err.data, "Error: \"b\" is one word too many\n");
        assert_int_equal(FLEET_RUN(u, "runs", "stop", "a", "--al"), 1);
        assert_string_equal(u->err.data, "Error: unknown flag: --al\n"
                                         "Run 'kubectl-fleet runs stop --help' for usage.\n");
        assert_int_equal(FLEET_RUN(u, "where", "nowhere"), 1);
        assert_string_equal(u->err.data, "Error: MemberCluster \"nowhere\" not found\n");
})

USER_TEST(help_tells_about_a_command, {
        assert_int_equal(FLEET_RUN(u, "help", "draincluster"), 0);
        assert_lines(u->out.data, "Usage:\n  kubectl-fleet draincluster [flags]\n"
                                  "      --cluster-name string   Name of the MemberCluster.\n"
                                  "Flags of the hub:\n"
                                  "      --context string ");
        assert_int_equal(FLEET_RUN(u, "help", "nothing"), 1);
        assert_lines(u->err.data, "Error: unknown help topic \"nothing\"");
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(without_words_the_help_is_printed),
                cmocka_unit_test(the_version_goes_to_standard_output),
                cmocka_unit_test(missing_flags_are_told_sorted_on_standard_error),
                cmocka_unit_test(the_context_of_kubectl_names_the_hub_too),
                cmocka_unit_test(the_number_of_arguments_is_looked_at_first),
                cmocka_unit_test(an_unknown_command_points_at_the_help),
                cmocka_unit_test(flags_may_stand_before_the_command),
                cmocka_unit_test(a_context_that_is_not_there_is_told_with_its_file),
                cmocka_unit_test(a_server_that_is_no_hub_is_told_as_one),
                cmocka_unit_test(one_may_act_as_somebody_else),
                cmocka_unit_test(the_kubeconfig_variable_may_be_a_list),
                cmocka_unit_test(other_commands_tell_an_error_once_and_usage_only_where_it_helps),
                cmocka_unit_test(help_tells_about_a_command),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
