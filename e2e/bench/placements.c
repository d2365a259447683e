#include "e2e/bench/placements.h"

#include "common/base/limits.h"
#include "common/base/memory.h"
#include "proto/names.h"

#define GROUP_PATH "/apis/placement.kubernetes-fleet.io/v1/"
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

/* NULL if it is none of the benchmark's. */
static struct placement_times *times_of(struct placements *p, const char *name)
{
        int64_t number = -1;
        if (!name || !text_starts_with(name, NAME_PREFIX) ||
            !slice_parse_i64(slice_of(name + strlen(NAME_PREFIX)), &number) || number < 0 ||
            (size_t)number >= p->capacity)
                return NULL;
        return &p->at[number];
}

static void note_placement(struct placements *p, const json_t *object)
{
        struct placement_times *t = times_of(p, doc_get_string(object, "metadata.name"));
        int64_t now = loop_now_us(p->hub->world->loop);
        if (!t)
                return;
        if (!t->applied && holds(object, "ClusterResourcePlacementApplied"))
                t->applied = now;
        if (!t->available && holds(object, "ClusterResourcePlacementAvailable")) {
                t->available = now;
                p->n_available++;
                waitq_wake_all(&p->changed);
        }
}

/* The first time only: bindings of a benchmark do not change again. */
static void note_binding(struct placements *p, const json_t *object)
{
        const char *name = doc_get_string(object, "metadata.name");
        struct placement_times *t;
        const json_t *labels;
        if (!name || !holds(object, "Available") || map_has(&p->bindings, name))
                return;
        labels = json_object_get(json_object_get(object, "metadata"), "labels");
        t = times_of(p, json_string_value(json_object_get(labels, LABEL_PARENT_PLACEMENT)));
        if (!t || t < p->first_followed || map_put(&p->bindings, name, t) < 0)
                return;
        t->last_binding = loop_now_us(p->hub->world->loop);
        if (++p->n_bindings == p->half_of_bindings)
                p->n_available_at_half = p->n_available;
}

typedef void (*note_fn)(struct placements *p, const json_t *object);

static int take_lines(struct placements *p, struct buf *pending, note_fn note)
{
        char *end;
        while ((end = memchr(pending->data, '\n', pending->len))) {
                size_t n = (size_t)(end - pending->data);
                AUTO_JSON json_t *event = NULL;
                TRY(doc_parse((struct slice){ pending->data, n }, &event, &p->err));
                note(p, json_object_get(event, "object"));
                buf_consume(pending, n + 1);
        }
        return 0;
}

static int follow(struct placements *p, const char *path, note_fn note)
{
        struct http_request rq = { .endpoint = p->hub->endpoint,
                                   .method = "GET",
                                   .path = path,
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
                        code = take_lines(p, &pending, note);
        }
        http_stream_close(stream);
        return code;
}

#define WATCH "?watch=true&timeoutSeconds=3600"

static void watch_placements(void *ctx)
{
        struct placements *p = ctx;
        p->code = follow(p, GROUP_PATH "clusterresourceplacements" WATCH, note_placement);
        waitq_wake_all(&p->changed);
}

static void watch_bindings(void *ctx)
{
        struct placements *p = ctx;
        p->code = follow(p, GROUP_PATH "clusterresourcebindings" WATCH, note_binding);
        waitq_wake_all(&p->changed);
}

int placements_open(struct placements *p, struct kube_client *hub, struct fiber_group *parent,
                    size_t capacity, struct error *err)
{
        *p = (struct placements){ .hub = hub, .capacity = capacity };
        map_init(&p->bindings, MAP_OWN_KEYS, NULL);
        p->at = mem_calloc(capacity, sizeof(*p->at));
        p->group = fiber_group_new(hub->world->loop, parent, "placements");
        if (!p->at || !p->group || !fiber_spawn(p->group, "placement watch", watch_placements, p))
                return error_no_memory(err);
        return 0;
}

int placements_follow_bindings(struct placements *p, size_t first, size_t n, struct error *err)
{
        p->first_followed = &p->at[first];
        p->half_of_bindings = n / 2;
        return fiber_spawn(p->group, "binding watch", watch_bindings, p) ? 0 : error_no_memory(err);
}

void placements_close(struct placements *p)
{
        fiber_group_end(p->group);
        map_free(&p->bindings);
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
