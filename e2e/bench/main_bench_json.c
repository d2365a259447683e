/* How fast JSON is read: the pull scanner, documents, and jansson's own loader for comparison, on a list page
 * as the informers get it: 500 objects of about 3.3 KB, like Works. Prints `bench NAME VALUE UNIT` lines. */
#include "common/base/limits.h"
#include "common/base/memory.h"
#include "common/json/apply.h"
#include "common/json/doc.h"
#include "common/json/scan.h"
#include "common/loop/loop.h"

enum { ITEMS = 500, RUNS_US = 700000 };

static void add_container(struct buf *b, int item, int n)
{
        buf_printf(b,
                   "%s{\"name\":\"app-%d\",\"image\":\"registry.example.com/team-%d/"
                   "service:v1.%d.0\",\"args\":[\"--listen=:8080\","
                   "\"--cluster=member-%d\",\"--log-level=info\"],\"ports\":[{\"containerPort\":8080,"
                   "\"protocol\":\"TCP\"}],"
                   "\"resources\":{\"limits\":{\"cpu\":\"500m\",\"memory\":\"256Mi\"},\"requests\":{\"cpu\":"
                   "\"100m\",\"memory\":\"64Mi\"}},"
                   "\"env\":[{\"name\":\"REGION\",\"value\":\"west-%d\"},{\"name\":\"MESSAGE\",\"value\":\"a "
                   "\\\"quoted\\\" line\\n\"}]}",
                   n ? "," : "", n, item % 40, item % 17, item, item % 5);
}

static void add_item(struct buf *b, int i)
{
        buf_printf(b,
                   "%s{\"apiVersion\":\"placement.kubernetes-fleet.io/"
                   "v1\",\"kind\":\"Work\",\"metadata\":{\"name\":\"placement-%d-work\","
                   "\"namespace\":\"fleet-member-member-%d\",\"uid\":\"6f1f6a55-7d3c-4a7e-9b7e-%012d\","
                   "\"resourceVersion\":\"%d\","
                   "\"generation\":3,\"creationTimestamp\":\"2026-01-02T03:04:05Z\",\"finalizers\":["
                   "\"kubernetes-fleet.io/work-cleanup\"],"
                   "\"labels\":{\"kubernetes-fleet.io/parent-CRP\":\"placement-%d\",\"kubernetes-fleet.io/"
                   "parent-resource-snapshot-index\":\"2\"},"
                   "\"ownerReferences\":[{\"apiVersion\":\"placement.kubernetes-fleet.io/"
                   "v1\",\"kind\":\"ClusterResourceBinding\","
                   "\"name\":\"placement-%d-member\",\"uid\":\"6f1f6a55-7d3c-4a7e-9b7e-000000000000\","
                   "\"blockOwnerDeletion\":true}]},"
                   "\"spec\":{\"workload\":{\"manifests\":[{\"apiVersion\":\"apps/"
                   "v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"app\","
                   "\"namespace\":\"team-%d\",\"labels\":{\"app\":\"app\"}},\"spec\":{\"replicas\":3,"
                   "\"selector\":{\"matchLabels\":{\"app\":\"app\"}},"
                   "\"template\":{\"metadata\":{\"labels\":{\"app\":\"app\"}},\"spec\":{\"containers\":[",
                   i ? "," : "", i, i % 100, i, 100000 + i, i, i, i % 40);
        for (int n = 0; n < 4; n++)
                add_container(b, i, n);
        buf_append_str(b, "]}}}}]}},\"status\":{\"conditions\":[");
        static const char *const types[] = { "Applied", "Available", "DiffReported" };
        for (size_t n = 0; n < ARRAY_LEN(types); n++)
                buf_printf(b,
                           "%s{\"type\":\"%s\",\"status\":\"True\",\"reason\":\"WorkIs%s\","
                           "\"observedGeneration\":3,"
                           "\"lastTransitionTime\":\"2026-01-02T03:04:05Z\",\"message\":\"all resources are "
                           "in the wanted state\"}",
                           n ? "," : "", types[n], types[n]);
        buf_append_str(b, "]}}");
}

static void make_page(struct buf *b)
{
        buf_append_str(b, "{\"kind\":\"WorkList\",\"apiVersion\":\"placement.kubernetes-fleet.io/"
                          "v1\",\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[");
        for (int i = 0; i < ITEMS; i++)
                add_item(b, i);
        buf_append_str(b, "]}");
}

static bool scan_tokens(struct slice text)
{
        struct scanner s;
        scan_init(&s, text);
        enum scan_token t;
        do
                t = scan_next(&s);
        while (t > SCAN_END);
        return t == SCAN_END;
}

static bool skip_document(struct slice text)
{
        struct scanner s;
        scan_init(&s, text);
        return scan_skip(&s, NULL) == 0 && scan_next(&s) == SCAN_END;
}

static bool parse_document(struct slice text)
{
        AUTO_JSON json_t *doc = NULL;
        return doc_parse(text, &doc, NULL) == 0;
}

static bool load_with_jansson(struct slice text)
{
        json_error_t e;
        AUTO_JSON json_t *doc = json_loadb(text.data, text.len, 0, &e);
        return doc != NULL;
}

/* Megabytes (10^6) per second; 0 if the text is refused. */
static double measure(struct loop *loop, bool (*read)(struct slice), struct slice text)
{
        int64_t start = loop_now_us(loop), now = start;
        size_t runs = 0;
        for (; now - start < RUNS_US; now = loop_now_us(loop), runs++)
                if (!read(text))
                        return 0;
        return (double)text.len * (double)runs / (double)(now - start);
}

/* Microseconds of one apply_track_update() of an item whose status changed, without a schema. */
static double measure_tracking(struct loop *loop, struct slice page)
{
        AUTO_JSON json_t *list = NULL;
        struct apply_options o = { .manager = "bench", .api_version = "v1" };
        if (doc_parse(page, &list, NULL) < 0)
                return 0;
        json_t *live = json_array_get(doc_get(list, "items"), 0);
        if (apply_track_update(NULL, live, NULL, &o, NULL) < 0)
                return 0;
        int64_t start = loop_now_us(loop), now = start;
        size_t runs = 0;
        for (; now - start < RUNS_US; now = loop_now_us(loop), runs++) {
                AUTO_JSON json_t *object = doc_copy(live);
                if (doc_set_int(object, "status.observedGeneration", (int64_t)runs) < 0 ||
                    apply_track_update(live, object, NULL, &o, NULL) < 0)
                        return 0;
        }
        return (double)(now - start) / (double)runs;
}

int main(void)
{
        static const struct {
                const char *name;
                bool (*read)(struct slice);
        } readers[] = { { "scan_mb_s", scan_tokens },
                        { "skip_mb_s", skip_document },
                        { "doc_parse_mb_s", parse_document },
                        { "jansson_mb_s", load_with_jansson } };
        mem_hook_libraries();
        struct error e;
        struct loop *loop = loop_new_real(&e);
        if (!loop) {
                fprintf(stderr, "%s\n", e.text);
                return 1;
        }
        AUTO_BUF struct buf page;
        buf_init(&page, LIMIT_RESPONSE_BYTES);
        make_page(&page);
        printf("bench json_object_bytes %zu bytes\n", page.len / ITEMS);
        int failed = page.failed ? 1 : 0;
        for (size_t i = 0; i < ARRAY_LEN(readers); i++) {
                double speed = measure(loop, readers[i].read, (struct slice){ page.data, page.len });
                printf("bench %s %.0f MB/s\n", readers[i].name, speed);
                failed |= speed <= 0;
        }
        double tracking = measure_tracking(loop, (struct slice){ page.data, page.len });
        printf("bench track_update_us %.1f us\n", tracking);
        failed |= tracking <= 0;
        loop_free(loop);
        return failed;
}
