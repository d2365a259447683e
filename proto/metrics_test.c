/* The table of metrics against what dashboards are written for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/buf.h"
#include "proto/metrics.h"

/* Name, type, agents, labels and buckets as the documents have them, in words of their own. */
struct row {
        const char *name;
        enum metric_type type;
        enum metric_of of;
        const char *labels, *buckets;
};

#define WORKLOAD_SECONDS                                                                                     \
        "0.005,0.01,0.025,0.05,0.1,0.15,0.2,0.25,0.3,0.35,0.4,0.45,0.5,0.6,0.7,0.8,0.9,1,1.25,1.5,1.75,2,2." \
        "5,3,3.5,4,4.5,5,6,7,8,9,10,15,20,25,30,40,50,60"
#define QUEUE_SECONDS "1e-08,1e-07,1e-06,1e-05,0.0001,0.001,0.01,0.1,1,10,100,1000"

static const struct row rows[] = {
        { "join_result_counter", METRIC_COUNTER, METRIC_OF_BOTH, "result", "" },
        { "leave_result_counter", METRIC_COUNTER, METRIC_OF_BOTH, "result", "" },
        { "fleet_workload_placement_status_last_timestamp_seconds", METRIC_GAUGE, METRIC_OF_HUB,
          "namespace,name,generation,conditionType,status,reason", "" },
        { "fleet_workload_eviction_complete", METRIC_GAUGE, METRIC_OF_HUB, "name,isCompleted,isValid", "" },
        { "fleet_workload_update_run_status_last_timestamp_seconds", METRIC_GAUGE, METRIC_OF_HUB,
          "namespace,name,state,condition,status,reason,failureType", "" },
        { "fleet_workload_update_run_approval_request_latency_seconds", METRIC_HISTOGRAM, METRIC_OF_HUB,
          "namespace,name,taskType", "60,300,900,1800,3600,7200,21600,43200,86400" },
        { "fleet_workload_update_run_stage_cluster_updating_duration_seconds", METRIC_HISTOGRAM,
          METRIC_OF_HUB, "namespace,name", "15,30,60,120,300,600,1800,3600" },
        { "scheduling_cycle_duration_milliseconds", METRIC_HISTOGRAM, METRIC_OF_HUB,
          "is_failed,needs_requeue", "10,50,100,500,1000,5000,10000,50000" },
        { "scheduling_active_workers", METRIC_GAUGE, METRIC_OF_HUB, "", "" },
        { "fleet_workload_reconcile_total", METRIC_COUNTER, METRIC_OF_BOTH, "controller,result", "" },
        { "fleet_workload_reconcile_errors_total", METRIC_COUNTER, METRIC_OF_BOTH, "controller", "" },
        { "fleet_workload_reconcile_time_seconds", METRIC_HISTOGRAM, METRIC_OF_BOTH, "controller",
          WORKLOAD_SECONDS },
        { "fleet_workload_max_concurrent_reconciles", METRIC_GAUGE, METRIC_OF_BOTH, "controller", "" },
        { "fleet_workload_active_workers", METRIC_GAUGE, METRIC_OF_BOTH, "controller", "" },
        { "work_apply_time_seconds", METRIC_HISTOGRAM, METRIC_OF_MEMBER, "name",
          "0.01,0.025,0.05,0.1,0.15,0.2,0.25,0.3,0.4,0.5,0.7,0.9,1,1.25,1.5,1.75,2,2.5,3,3.5,4,4.5,5,7,9,10,"
          "15,20,30,60,120" },
        { "fleet_work_processing_requests_total", METRIC_COUNTER, METRIC_OF_MEMBER,
          "apply_status,availability_status,diff_reporting_status", "" },
        { "fleet_manifest_processing_requests_total", METRIC_COUNTER, METRIC_OF_MEMBER,
          "apply_status,availability_status,diff_reporting_status,drift_detection_status,"
          "diff_detection_status",
          "" },
        { "controller_runtime_reconcile_total", METRIC_COUNTER, METRIC_OF_BOTH, "controller,result", "" },
        { "controller_runtime_reconcile_errors_total", METRIC_COUNTER, METRIC_OF_BOTH, "controller", "" },
        { "controller_runtime_reconcile_time_seconds", METRIC_HISTOGRAM, METRIC_OF_BOTH, "controller",
          WORKLOAD_SECONDS },
        { "controller_runtime_max_concurrent_reconciles", METRIC_GAUGE, METRIC_OF_BOTH, "controller", "" },
        { "controller_runtime_active_workers", METRIC_GAUGE, METRIC_OF_BOTH, "controller", "" },
        { "controller_runtime_webhook_requests_total", METRIC_COUNTER, METRIC_OF_HUB, "webhook,code", "" },
        { "controller_runtime_webhook_latency_seconds", METRIC_HISTOGRAM, METRIC_OF_HUB, "webhook", NULL },
        { "workqueue_depth", METRIC_GAUGE, METRIC_OF_BOTH, "name,controller", "" },
        { "workqueue_adds_total", METRIC_COUNTER, METRIC_OF_BOTH, "name,controller", "" },
        { "workqueue_queue_duration_seconds", METRIC_HISTOGRAM, METRIC_OF_BOTH, "name,controller",
          QUEUE_SECONDS },
        { "workqueue_work_duration_seconds", METRIC_HISTOGRAM, METRIC_OF_BOTH, "name,controller",
          QUEUE_SECONDS },
        { "workqueue_retries_total", METRIC_COUNTER, METRIC_OF_BOTH, "name,controller", "" },
        { "workqueue_unfinished_work_seconds", METRIC_GAUGE, METRIC_OF_BOTH, "name,controller", "" },
        { "workqueue_longest_running_processor_seconds", METRIC_GAUGE, METRIC_OF_BOTH, "name,controller",
          "" },
        { "rest_client_requests_total", METRIC_COUNTER, METRIC_OF_BOTH, "code,host,method", "" },
        { "leader_election_master_status", METRIC_GAUGE, METRIC_OF_BOTH, "name", "" },
        { "certwatcher_read_certificate_total", METRIC_COUNTER, METRIC_OF_HUB, "", "" },
        { "certwatcher_read_certificate_errors_total", METRIC_COUNTER, METRIC_OF_HUB, "", "" },
        { "flux_daemon_sync_duration_seconds", METRIC_HISTOGRAM, METRIC_OF_GENERATOR, "success",
          "0.5,5,10,20,30,40,50,60,75,90,120,240" },
        { "flux_daemon_sync_manifests", METRIC_GAUGE, METRIC_OF_GENERATOR, "success", "" },
        { "flux_daemon_job_duration_seconds", METRIC_HISTOGRAM, METRIC_OF_GENERATOR, "success", NULL },
        { "flux_daemon_queue_duration_seconds", METRIC_HISTOGRAM, METRIC_OF_GENERATOR, "", NULL },
        { "flux_daemon_queue_length_count", METRIC_GAUGE, METRIC_OF_GENERATOR, "", "" },
        { "flux_git_ready", METRIC_GAUGE, METRIC_OF_GENERATOR, "", "" },
        { "argosy_member_heard", METRIC_GAUGE, METRIC_OF_HUB, "name", "" },
        { "argosy_members_heard_late_total", METRIC_COUNTER, METRIC_OF_HUB, "", "" },
        { "argosy_hub_token_expiry_timestamp_seconds", METRIC_GAUGE, METRIC_OF_MEMBER, "", "" },
        { "argosy_hub_token_renewal_timestamp_seconds", METRIC_GAUGE, METRIC_OF_MEMBER, "", "" },
        { "process_cpu_seconds_total", METRIC_COUNTER, METRIC_OF_BOTH, "", "" },
        { "process_resident_memory_bytes", METRIC_GAUGE, METRIC_OF_BOTH, "", "" },
        { "process_open_fds", METRIC_GAUGE, METRIC_OF_BOTH, "", "" },
        { "process_start_time_seconds", METRIC_GAUGE, METRIC_OF_BOTH, "", "" },
};

static const struct metric_family *find(const char *name)
{
        for (size_t i = 0; i < N_METRICS; i++)
                if (strcmp(metric_families[i].name, name) == 0)
                        return &metric_families[i];
        fail_msg("%s is not in the table", name);
        return NULL;
}

/* spec/membership-webhooks-charts.md checklist 49; spec/flux-yaml.md checklist 49 */
static void what_dashboards_read_has_its_labels_and_buckets(void **state)
{
        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                const struct metric_family *f = find(rows[i].name);
                AUTO_BUF struct buf labels, buckets;

                buf_init(&labels, 4096);
                buf_init(&buckets, 4096);
                buf_append_str(&labels, "");
                buf_append_str(&buckets, "");
                for (size_t k = 0; f->labels && f->labels[k]; k++)
                        buf_printf(&labels, "%s%s", k ? "," : "", f->labels[k]);
                for (size_t k = 0; k < f->n_buckets; k++)
                        buf_printf(&buckets, "%s%g", k ? "," : "", f->buckets[k]);
                assert_int_equal(f->type, rows[i].type);
                if (f->of != rows[i].of)
                        fail_msg("%s: of agents %d", f->name, f->of);
                assert_string_equal(labels.data ? labels.data : "", rows[i].labels);
                if (rows[i].buckets) /* those of reviews are nobody's rule */
                        assert_string_equal(buckets.data ? buckets.data : "", rows[i].buckets);
        }
}

/* What whoever reads the text relies on. */
static void the_table_can_be_exported(void **state)
{
        for (size_t i = 0; i < N_METRICS; i++) {
                const struct metric_family *f = &metric_families[i];

                assert_non_null(f->name);
                assert_int_equal(f->name[strspn(f->name, "abcdefghijklmnopqrstuvwxyz_")], '\0');
                assert_true(f->of >= METRIC_OF_HUB && f->of <= METRIC_OF_GENERATOR);
                assert_true(f->help && f->help[strlen(f->help) - 1] == '.');
                assert_int_equal(f->type == METRIC_HISTOGRAM, f->n_buckets > 0);
                for (size_t k = 1; k < f->n_buckets; k++)
                        assert_true(f->buckets[k - 1] < f->buckets[k]);
                for (size_t k = 0; k < i; k++)
                        assert_string_not_equal(f->name, metric_families[k].name);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(what_dashboards_read_has_its_labels_and_buckets),
                cmocka_unit_test(the_table_can_be_exported),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
