/* What rules and panels may say of metrics, and that what they say is so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "proto/dashboards.h"

static const char *const of_job[] = { "job", "controller", NULL };
static const struct recorded records[] = { { "argosy:x", METRIC_OF_BOTH, of_job, "" }, { 0 } };
static const struct expression_scope hub = { METRIC_OF_HUB, records, "job=\"j\"" };

static void every_series_is_selected_by_its_job(void **state)
{
        static const struct {
                const char *text, *wanted;
        } rows[] = {
                { "@workqueue_depth", "workqueue_depth{job=\"j\"}" },
                { "@workqueue_depth{}", "workqueue_depth{job=\"j\"}" },
                { "@workqueue_depth{controller=\"a}b\\\"c\",name!~\"x\"} > 5",
                  "workqueue_depth{job=\"j\",controller=\"a}b\\\"c\",name!~\"x\"} > 5" },
                { "sum by (le, controller) (rate(@workqueue_work_duration_seconds_bucket[5m]))",
                  "sum by (le, controller) (rate(workqueue_work_duration_seconds_bucket{job=\"j\"}[5m]))" },
                { "@argosy:x{controller=\"c\"} and on (job, instance) (@leader_election_master_status == 1)",
                  "argosy:x{job=\"j\",controller=\"c\"} and on (job, instance) "
                  "(leader_election_master_status{job=\"j\"} == 1)" },
                { "time() - @process_start_time_seconds offset 15m > 0.5",
                  "time() - process_start_time_seconds{job=\"j\"} offset 15m > 0.5" },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                AUTO_BUF struct buf b;
                struct error err = { 0 };

                buf_init(&b, 4096);
                if (expression_expand(rows[i].text, &hub, &b, &err) < 0)
                        fail_msg("%s: %s", rows[i].text, err.text);
                assert_string_equal(b.data, rows[i].wanted);
        }
}

static void what_is_not_in_the_table_is_refused_by_name(void **state)
{
        static const struct {
                const char *text, *says;
        } rows[] = {
                { "@workqueue_dept", "no series is called workqueue_dept" },
                { "@workqueue_depth_bucket", "no series is called workqueue_depth_bucket" },
                { "@workqueue_work_duration_seconds", "no series is called workqueue_work_duration_seconds" },
                { "@argosy:y", "no series is called argosy:y" },
                { "@argosy_state_file_good", "argosy_state_file_good is not a series of this agent" },
                { "@workqueue_depth{queue=\"x\"}", "workqueue_depth has no label queue" },
                { "@workqueue_depth{le=\"1\"}", "workqueue_depth has no label le" },
                { "@argosy:x{name=\"1\"}", "argosy:x has no label name" },
                { "@workqueue_depth{name=x}", "label name needs a text" },
                { "@workqueue_depth{name=\"x", "a text does not end" },
                { "sum by (queue) (@workqueue_depth)", "no series has a label queue" },
                { "@workqueue_depth and on (job, queue) @workqueue_depth", "no series has a label queue" },
                { "sum by (le) (@workqueue_depth)", "no series has a label le" },
                { "workqueue_depth > 1", "workqueue_depth is neither a word nor, with @, a series" },
                { "1 > 0", "it names no series" },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                AUTO_BUF struct buf b;
                struct error err = { 0 };

                buf_init(&b, 4096);
                if (expression_expand(rows[i].text, &hub, &b, &err) != ERR_INVALID ||
                    !strstr(err.text, rows[i].says))
                        fail_msg("%s: %s", rows[i].text, err.text);
        }
}

static void a_summary_names_labels_that_are_there(void **state)
{
        struct error err = { 0 };

        assert_int_equal(expression_check_summary("{{ $labels.controller }} of {{ $labels.job }}",
                                                  "@workqueue_depth > 1", &hub, &err),
                         0);
        assert_int_equal(expression_check_summary("{{ $labels.queue }}", "@workqueue_depth > 1", &hub, &err),
                         ERR_INVALID);
        assert_non_null(strstr(err.text, "no series has a label queue"));
}

static const enum metric_of agents[] = { METRIC_OF_HUB, METRIC_OF_MEMBER };

static void check(const char *owner, enum metric_of of, const char *text)
{
        for (size_t k = 0; k < ARRAY_LEN(agents); k++) {
                const struct expression_scope scope = { agents[k], recorded_series, "job=\"j\"" };
                AUTO_BUF struct buf b;
                struct error err = { 0 };

                buf_init(&b, 8192);
                if ((of & agents[k]) && expression_expand(text, &scope, &b, &err) < 0)
                        fail_msg("%s: %s", owner, err.text);
        }
}

static void rules_and_panels_name_what_there_is(void **state)
{
        for (const struct recorded *r = recorded_series; r->name; r++)
                check(r->name, r->of, r->expression);
        for (size_t i = 0; i < n_alerts; i++) {
                check(alerts[i].name, alerts[i].of, alerts[i].expression);
                for (size_t k = 0; k < i; k++)
                        assert_string_not_equal(alerts[i].name, alerts[k].name);
                assert_int_equal(
                        alerts[i].name[strspn(alerts[i].name,
                                              "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")],
                        '\0');
                assert_true(alerts[i].summary[strlen(alerts[i].summary) - 1] == '.');
        }
        for (size_t i = 0; i < n_panels; i++) {
                assert_true(panels[i].unit && panels[i].about && panels[i].queries[0].expression);
                for (size_t k = 0; k < PANEL_QUERIES_MAX && panels[i].queries[k].expression; k++)
                        check(panels[i].title, panels[i].of, panels[i].queries[k].expression);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(every_series_is_selected_by_its_job),
                cmocka_unit_test(what_is_not_in_the_table_is_refused_by_name),
                cmocka_unit_test(a_summary_names_labels_that_are_there),
                cmocka_unit_test(rules_and_panels_name_what_there_is),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
