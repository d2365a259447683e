#include "e2e/bench/placements.h"

#include "common/base/limits.h"
#include "common/base/memory.h"

#define PLACEMENTS_PATH "/apis/placement.kubernetes-fleet.io/v1/clusterresourceplacements"
#define NAME_PREFIX "bench-"

static const struct kube_resource namespaces = { "", "v1", "namespaces", "Namespace", false };
static const struct kube_resource config_maps = { "", "v1", "configmaps", "ConfigMap", true };
static const struct kube_resource deployments = { "apps", "v1", "deployments", "Deployment", true };
static const struct kube_resource crps = { "placement.kubernetes-fleet.io", "v1", "clusterresourceplacements",
                                           "ClusterResourcePlacement", false };

/* ---- what a watch says ---- */

static bool holds(const json_t *object, const char *type)
{
        int64_t generation = doc_get_int(object, "metadata.generation", 0);
        size_t i;
        json_t *c;
        json_array_foreach(doc_get_array(object, "status.conditions"), i, c)
                if (text_equal(doc_get_string(c, "type"), type))
                        return text_equal(doc_get_string(c, "status"), "True") &&
                               doc_get_int(c, "observedGeneration", 0) == generation;
        return false;
}

static void note_event(struct placements *p, const json_t *object)
{
        const char *name = doc_get_string(object, "metadata.name");
        int64_t number = -1, now = loop_now_us(p->hub->world->loop);
        if (!name || !text_starts_with(name, NAME_PREFIX) ||
            !slice_parse_i64(slice_of(name + strlen(NAME_PREFIX)), &number) || number < 0 ||
            (size_t)number >= p->capacity)
                return;
        struct placement_times *t = &p->at[number];
        if (!t->applied && holds(object, "ClusterResourcePlacementApplied"))
                t->applied = now;
        if (!t->available && holds(object, "ClusterResourcePlacementAvailable")) {
                t->available = now;
                p->n_available++;
                waitq_wake_all(&p->changed);
        }
}

static int take_lines(struct placements *p, struct buf *pending)
{
        char *end;
        while ((end = memchr(pending->data, '\n', pending->len))) {
                size_t n = (size_t)(end - pending->data);
                AUTO_JSON json_t *event = NULL;
                TRY(doc_parse((struct slice){ pending->data, n }, &event, &p->err));
                note_event(p, json_object_get(event, "object"));
                buf_consume(pending, n + 1);
        }
        return 0;
}

static int follow(struct placements *p)
{
        struct http_request rq = { .endpoint = p->hub->endpoint,
                                   .method = "GET",
                                   .path = PLACEMENTS_PATH "?watch=true&timeoutSeconds=3600",
                                   .deadline_ms = loop_now_ms(p->hub->world->loop) + 10000,
                                   .priority = HTTP_WATCH };
        struct http_stream *stream = NULL;
        AUTO_BUF struct buf pending;
        int code = http_stream_open(p->hub->world->transport, &rq, &stream, &p->err);
        buf_init(&pending, LIMIT_WATCH_EVENT_BYTES);
        while (code == 0) {
                struct slice data;
                code = http_stream_read(stream, DEADLINE_NONE, &data, &p->err);
                if (code == 0)
                        code = buf_append(&pending, data.data, data.len);
                if (code == 0)
                        code = take_lines(p, &pending);
        }
        http_stream_close(stream);
        return code;
}

static void watch_fiber(void *ctx)
{
        struct placements *p = ctx;
        p->code = follow(p);
        waitq_wake_all(&p->changed);
}

int placements_open(struct placements *p, struct kube_client *hub, struct fiber_group *parent,
                    size_t capacity, struct error *err)
{
        *p = (struct placements){ .hub = hub, .capacity = capacity };
        p->at = mem_calloc(capacity, sizeof(*p->at));
        p->group = fiber_group_new(hub->world->loop, parent, "placements");
        if (!p->at || !p->group || !fiber_spawn(p->group, "placement watch", watch_fiber, p))
                return error_no_memory(err);
        return 0;
}

void placements_close(struct placements *p)
{
        fiber_group_end(p->group);
        mem_free(p->at);
}

/* ---- what is placed ---- */

static int create(struct placements *p, const struct kube_resource *r, const char *ns, json_t *doc,
                  struct error *err)
{
        AUTO_JSON json_t *owned = doc;
        return owned ? kube_doc_create(p->hub, r, ns, owned, NULL, NULL, err) : error_no_memory(err);
}

static json_t *make_config_map(const char *text)
{
        return json_pack("{s:s,s:s,s:{s:s},s:{s:s}}", "apiVersion", "v1", "kind", "ConfigMap", "metadata",
                         "name", "settings", "data", "text", text);
}

static json_t *make_deployment(void)
{
        return json_pack("{s:s,s:s,s:{s:s},s:{s:i,s:{s:{s:s}},s:{s:{s:{s:s}},s:{s:[{s:s,s:s}]}}}}",
                         "apiVersion", "apps/v1", "kind", "Deployment", "metadata", "name", "web", "spec",
                         "replicas", 2, "selector", "matchLabels", "app", "web", "template", "metadata",
                         "labels", "app", "web", "spec", "containers", "name", "main", "image",
                         "registry.example/web:1.0");
}

int placements_prepare(struct placements *p, size_t number, struct error *err)
{
        char name[32], text[1025];
        snprintf(name, sizeof(name), NAME_PREFIX "%zu", number);
        memset(text, 'x', sizeof(text) - 1);
        text[sizeof(text) - 1] = '\0';
        TRY(create(p, &namespaces, NULL,
                   json_pack("{s:s,s:s,s:{s:s}}", "apiVersion", "v1", "kind", "Namespace", "metadata", "name",
                             name),
                   err));
        TRY(create(p, &config_maps, name, make_config_map(text), err));
        return create(p, &deployments, name, make_deployment(), err);
}

int placements_begin(struct placements *p, size_t number, struct error *err)
{
        char name[32];
        snprintf(name, sizeof(name), NAME_PREFIX "%zu", number);
        json_t *doc =
                json_pack("{s:s,s:s,s:{s:s},s:{s:[{s:s,s:s,s:s,s:s}],s:{s:s}}}", "apiVersion",
                          "placement.kubernetes-fleet.io/v1", "kind", "ClusterResourcePlacement", "metadata",
                          "name", name, "spec", "resourceSelectors", "group", "", "version", "v1", "kind",
                          "Namespace", "name", name, "policy", "placementType", "PickAll");
        p->at[number].began = loop_now_us(p->hub->world->loop);
        return create(p, &crps, NULL, doc, err);
}

int placements_wait(struct placements *p, size_t n_available, int64_t deadline_ms, struct error *err)
{
        while (p->n_available < n_available) {
                if (p->code < 0)
                        return *err = p->err, error_wrap(err, "the watch on placements ended");
                int r = waitq_wait(p->hub->world->loop, &p->changed, deadline_ms);
                if (r == ERR_TIMEOUT)
                        return error_set(err, ERR_TIMEOUT, "only %zu of %zu placements became Available",
                                         p->n_available, n_available);
                TRY(r);
        }
        return 0;
}
