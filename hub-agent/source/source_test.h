/* Charts and sources within a whole agent, with servers on the simulated network. */
#pragma once

#include "hub-agent/hub_agent_test.h"
#include "hub-agent/source/source_agent.h"

#define SOURCES "/apis/source.toolkit.fluxcd.io/v1/namespaces/apps/"
#define REPOSITORY SOURCES "helmrepositories/podinfo"
#define MINUTE_MS 60000

struct web_file {
        const char *path;
        struct slice data;
};

struct web {
        struct rig *rig;
        struct source_options options;
        int status, served, not_modified;
        const char *body, *tag, *authorized; /* NULL = anybody */
        const char *modified, *date;         /* Last-Modified and Date; NULL = none */
        bool hangs;
        struct web_file files[4]; /* what there is beside the body */
        int downloads;
        char said[256]; /* Authorization of the last request */
};

static inline void answer_web(void *ctx, struct http_exchange *x)
{
        struct web *w = ctx;
        struct http_header all[3];
        struct http_headers headers = { all, 0 };
        const char *secret = http_header_get(&x->headers, "Authorization");

        if (w->tag)
                all[headers.n++] = (struct http_header){ "ETag", w->tag };
        if (w->modified)
                all[headers.n++] = (struct http_header){ "Last-Modified", w->modified };
        if (w->date)
                all[headers.n++] = (struct http_header){ "Date", w->date };
        w->served++;
        snprintf(w->said, sizeof(w->said), "%s %s", x->path, or_empty(secret));
        if (w->hangs) {
                (void)fiber_sleep(x->loop, 3600000);
                return;
        }
        for (size_t i = 0; i < ARRAY_LEN(w->files) && w->files[i].path; i++)
                if (text_equal(w->files[i].path, x->path)) {
                        w->downloads++;
                        http_reply(x, 200, "application/gzip", w->files[i].data, NULL);
                        return;
                }
        if (w->authorized && !text_equal(w->authorized, secret)) {
                http_reply(x, 401, "text/plain", SLICE("no"), NULL);
        } else if ((w->tag && text_equal(http_header_get(&x->headers, "If-None-Match"), w->tag)) ||
                   (w->modified &&
                    text_equal(http_header_get(&x->headers, "If-Modified-Since"), w->modified))) {
                w->not_modified++;
                http_reply(x, 304, NULL, SLICE(""), NULL);
        } else {
                http_reply(x, w->status, "text/yaml", slice_of(w->body), &headers);
        }
}

#define FILES "hub.example"
static inline void listen_for_files(void *ctx, http_handler_fn handle, void *handle_ctx)
{
        struct rig *r = ctx;

        assert_int_equal(loopback_listen(r->net, FILES, handle, handle_ctx), 0);
}

/* The status; the answer is left in *ret. */
static inline int get_file(struct rig *r, const char *path, struct http_response *ret)
{
        struct http_endpoint endpoint = { .base_url = (char *)(uintptr_t) "https://" FILES };
        const struct http_request rq = { .endpoint = &endpoint,
                                         .method = "GET",
                                         .path = path,
                                         .deadline_ms = loop_now_ms(r->loop) + 5000 };
        struct error err = { 0 };

        return http_roundtrip(r->client, &rq, &r->arena, ret, &err) < 0 ? err.code : ret->status;
}

/* With a folder for what is fetched with Git, or NULL. */
static inline void begin_sources_in(struct rig *r, struct fleet *f, struct web *w, const char *work_folder)
{
        *w = (struct web){ .rig = r,
                           .options = { .volume = volume_new_in_memory(r->loop),
                                        .port = -1,
                                        .served = listen_for_files,
                                        .served_ctx = r,
                                        .work_folder = work_folder,
                                        .address = "http://hub.example:9090",
                                        .retention = { SOURCE_RETENTION_MS, SOURCE_RETENTION_RECORDS },
                                        .index_bytes = SOURCE_INDEX_BYTES,
                                        .chart_bytes = SOURCE_CHART_BYTES,
                                        .file_bytes = SOURCE_FILE_BYTES,
                                        .concurrency = 2 },
                           .status = 200 };
        assert_int_equal(loopback_listen(r->net, "charts.example", answer_web, w), 0);
        start(r, f);
        stop(f);
        f->sources = &w->options;
        f->metrics = metrics_new(METRIC_OF_HUB);
        start_again(r, f);
        assert_int_equal(rig_post(r, "/api/v1/namespaces", "{\"metadata\":{\"name\":\"apps\"}}"), 201);
}

static inline void begin_sources(struct rig *r, struct fleet *f, struct web *w)
{
        begin_sources_in(r, f, w, NULL);
}

static inline void end_sources(struct rig *r, struct fleet *f, struct web *w)
{
        stop(f);
        metrics_free(f->metrics);
        loopback_listen(r->net, "charts.example", NULL, NULL);
        volume_close(w->options.volume);
}

/* Reason and message NULL: whatever they are. */
static inline void assert_condition(struct rig *r, const char *path, const char *type, const char *status,
                                    const char *reason, const char *message)
{
        assert_int_equal(rig_get(r, path), 200);
        if (!text_equal(part_of_condition(r, type, "status"), status) ||
            (reason && !text_equal(part_of_condition(r, type, "reason"), reason)) ||
            (message && !text_equal(part_of_condition(r, type, "message"), message)))
                fail_msg("%s is not %s/%s (%s): %s", type, status, or_empty(reason), or_empty(message),
                         r->text);
}

static inline bool has_event(struct rig *r, const char *type, const char *reason, const char *message)
{
        json_t *e;
        size_t i;

        rig_settle(r);
        assert_int_equal(rig_get(r, "/api/v1/namespaces/apps/events"), 200);
        json_array_foreach(doc_get_array(r->answer, "items"), i, e)
                if (text_equal(doc_get_string(e, "type"), type) &&
                    text_equal(doc_get_string(e, "reason"), reason) &&
                    strstr(or_empty(doc_get_string(e, "message")), message) &&
                    text_equal(doc_get_string(e, "source.component"), "source-controller"))
                        return true;
        return false;
}

static inline void pass_time(struct rig *r, int64_t ms)
{
        fiber_sleep(r->loop, ms);
        rig_settle(r);
}

static inline void add_repository(struct rig *r, const char *spec)
{
        AUTO_FREE char *body =
                mem_printf("{\"apiVersion\":\"source.toolkit.fluxcd.io/v1\",\"kind\":\"HelmRepository\","
                           "\"metadata\":{\"name\":\"podinfo\"},\"spec\":{%s}}",
                           spec);

        if (rig_post(r, SOURCES "helmrepositories", body) != 201)
                fail_msg("%s", r->text);
        rig_settle(r);
}

static inline bool is_kept(struct web *w, const char *path)
{
        struct volume_info info;

        return volume_look(w->options.volume, path, &info, NULL) == 0;
}
