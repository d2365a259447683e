/* The series of a ResourceSet on /metrics. */
#include "hub-agent/resource-set/resource_set_test.h"

static void begin_counting(struct rig *r, struct fleet *f)
{
        begin(r, f);
        stop(f);
        f->metrics = metrics_new(METRIC_OF_HUB);
        assert_non_null(f->metrics);
        start_again(r, f);
}

static size_t series(const struct fleet *f)
{
        AUTO_BUF struct buf b;
        size_t n = 0;

        buf_init(&b, 16u << 20);
        assert_int_equal(metrics_print(f->metrics, &b), 0);
        for (const char *at = b.data; (at = strstr(at, "\nflux_resourceset_info{")); at++)
                n++;
        return n;
}

static void assert_shown(struct rig *r, const struct fleet *f, const char *ready, const char *reason,
                         const char *suspended, const char *resources)
{
        assert_int_equal(rig_get(r, SET), 200);
        AUTO_FREE char *uid = mem_strdup(rig_string(r, "metadata.uid"));
        AUTO_FREE char *revision = mem_strdup(rig_string(r, "status.lastAppliedRevision"));
        const char *labels[] = { uid,    "ResourceSet", "tenants", "default", ready,
                                 reason, suspended,     resources, revision };

        assert_int_equal(strncmp(revision, "sha256:", 7), 0);
        assert_int_equal(metric_value(f->metrics, METRIC_RESOURCE_SET, labels), 1);
        assert_int_equal(series(f), 1);
}

/* spec/resource-set.md checklist 104 */
RIG_TEST(a_set_has_one_series_that_says_how_it_is_and_goes_with_it, {
        struct fleet f;

        begin_counting(r, &f);
        create(r, PLAIN("", TENANT("team1"), OBJECTS));
        assert_shown(r, &f, "True", "ReconciliationSucceeded", "False", "2");
        merge_and_settle(r, SET, "{\"spec\":{\"resources\":[" CONFIG("\"x\":\"<< inputs.nope >>\"") "]}}");
        assert_shown(r, &f, "False", "BuildFailed", "False", "2");
        merge_and_settle(
                r, SET,
                "{\"metadata\":{\"annotations\":{\"fluxcd.controlplane.io/reconcile\":\"disabled\"}}}");
        assert_shown(r, &f, "False", "BuildFailed", "True", "2");
        rig_delete(r, SET);
        rig_settle(r);
        assert_int_equal(rig_get(r, SET), 404);
        assert_int_equal(series(&f), 0);
        stop(&f);
        metrics_free(f.metrics);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_set_has_one_series_that_says_how_it_is_and_goes_with_it),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
