/* Events. record() formats and queues; one fiber sends. An event's name is a function of the object, the
 * reason and the message, so the same thing said again finds the same object and counts up; what is sent
 * again because nobody answered does no harm either. */
#include "common/kube/event.h"

#include <stdarg.h>

#include "common/base/digest.h"
#include "common/base/map.h"
#include "common/base/memory.h"
#include "common/base/timefmt.h"
#include "common/kube/connection.h"

#define QUEUE_MAX 1000
#define MESSAGE_MAX 1024
#define SEEN_MAX 4096
#define AGGREGATE_MS (10 * 60 * 1000)
/* As client-go's recorder. */
#define TRIES_MAX 12
#define TRY_PAUSE_MS 10000
#define TRY_PAUSE_MAX_MS 60000 /* whatever the server wishes */

struct pending {
        struct list node;
        char *name, *ns;
        json_t *doc; /* the whole event, ready to be created; count and lastTimestamp in it */
        int64_t count;
};

struct seen { /* what was sent before */
        int64_t count, first_ms, last_ms;
};

struct event_recorder {
        struct kube_client *kube;
        struct fiber_group *group; /* of the sending fiber */
        struct list queue;
        struct waitq wait;
        struct map seen; /* event name -> struct seen */
        size_t n_queued;
        uint64_t dropped;
        const char *component;
};

static const struct kube_resource events = { "", "v1", "events", "Event", true };

static void pending_free(struct pending *p)
{
        mem_free(p->name);
        mem_free(p->ns);
        json_decref(p->doc);
        mem_free(p);
}

/* Counts up the event that is there already. */
static int send_repeat(struct event_recorder *r, struct pending *p, struct error *err)
{
        AUTO_JSON json_t *patch = json_pack("{s:I, s:O}", "count", (json_int_t)p->count, "lastTimestamp",
                                            json_object_get(p->doc, "lastTimestamp"));

        if (!patch)
                return error_no_memory(err);
        return kube_doc_patch(r->kube, &events, p->ns, p->name, KUBE_PATCH_MERGE, patch, NULL, NULL, err);
}

static int send_once(struct event_recorder *r, struct pending *p, struct error *err)
{
        int code = ERR_NOT_FOUND;

        if (p->count > 1)
                code = send_repeat(r, p, err);
        if (code == ERR_NOT_FOUND)
                code = kube_doc_create(r->kube, &events, p->ns, p->doc, NULL, NULL, err);
        if (code == ERR_EXISTS) /* recorded before a restart, or by a try whose answer was lost */
                code = send_repeat(r, p, err);
        return code;
}

/* Nobody answered, or not to this question: the same event may be taken later. A refused one never is. */
static bool may_be_taken_later(const struct event_recorder *r, int code, const struct error *err)
{
        return error_is_retryable(code) || (code != ERR_FORBIDDEN && kube_connection_tells(r->kube, err));
}

/* Until the server can be used: what happens meanwhile is told when it is back. */
static int wait_for_server(struct event_recorder *r)
{
        return r->kube->connection ? kube_connection_wait(r->kube->connection, DEADLINE_NONE) : 0;
}

/* The first pause is a part of one, so that not all who missed the server come back at once. */
static int pause_before_try(struct event_recorder *r, unsigned tries, const struct error *err)
{
        int64_t ms =
                tries > 1 ? TRY_PAUSE_MS : (int64_t)(loop_random_u64(r->kube->world->loop) % TRY_PAUSE_MS);

        TRY(kube_connection_pause(r->kube, MAX(ms, MIN((int64_t)err->retry_after_ms, TRY_PAUSE_MAX_MS))));
        return wait_for_server(r);
}

/* What was recorded after it waits: where this one finds nobody, the next would not either. */
static int send_event(struct event_recorder *r, struct pending *p)
{
        for (unsigned tries = 1;; tries++) {
                struct error err = { 0 };
                int code = send_once(r, p, &err);
                bool later = code < 0 && may_be_taken_later(r, code, &err);

                if (code == 0 || code == ERR_CANCELLED)
                        return code;
                if (!later || tries == TRIES_MAX) {
                        if (later || !kube_connection_tells(r->kube, &err))
                                log_warn(r->kube->log, "event not recorded", "event", p->name, "tries",
                                         LOG_INT(tries), "error", err.text);
                        return 0;
                }
                TRY(pause_before_try(r, tries, &err));
        }
}

static int send_next(struct event_recorder *r)
{
        struct pending *p = list_first(&r->queue, struct pending, node);
        int code;

        list_remove(&p->node);
        r->n_queued--;
        code = send_event(r, p);
        pending_free(p);
        return code;
}

static void sender(void *ctx)
{
        struct event_recorder *r = ctx;
        struct loop *l = r->kube->world->loop;

        for (;;) {
                if (list_empty(&r->queue)) {
                        if (waitq_wait(l, &r->wait, DEADLINE_NONE) == ERR_CANCELLED)
                                return;
                } else if (wait_for_server(r) < 0 || send_next(r) < 0) {
                        return;
                }
        }
}

struct event_recorder *event_recorder_new(struct kube_client *k, struct fiber_group *group,
                                          const char *component)
{
        struct event_recorder *r = NEW(struct event_recorder);

        if (!r)
                return NULL;
        r->kube = k;
        r->component = component;
        list_init(&r->queue);
        map_init(&r->seen, MAP_OWN_KEYS, mem_free);
        r->group = fiber_group_new(k->world->loop, group, "event-recorder");
        if (!r->group || !fiber_spawn(r->group, "event-recorder", sender, r))
                return event_recorder_free(r);
        return r;
}

struct event_recorder *event_recorder_free(struct event_recorder *r)
{
        if (!r)
                return NULL;
        fiber_group_end(r->group);
        list_for_each_safe(p, tmp, &r->queue, struct pending, node) {
                list_remove(&p->node);
                pending_free(p);
        }
        map_free(&r->seen);
        mem_free(r);
        return NULL;
}

/* {object name}.{16 hex}: stable for object, type, reason and message. */
static char *event_name(const struct object *about, const char *type, const char *reason, const char *message)
{
        char hex[SHA256_HEX_SIZE];
        AUTO_FREE char *identity =
                mem_printf("%s\n%s\n%s\n%s\n%s\n%s", about->kind->kind,
                           about->meta.uid ? about->meta.uid : "", about->meta.name, type, reason, message);

        if (!identity)
                return NULL;
        sha256_hex(identity, strlen(identity), hex);
        return mem_printf("%.230s.%.16s", about->meta.name, hex);
}

/* How often this was said, now included; a new count after ten minutes of silence. */
static struct seen count_up(struct event_recorder *r, const char *name, int64_t now_ms)
{
        struct seen *s = map_get(&r->seen, name);

        if (!s) {
                if (map_count(&r->seen) >= SEEN_MAX)
                        map_clear(&r->seen);
                s = NEW(struct seen);
                if (s && map_put(&r->seen, name, s) < 0) {
                        mem_free(s);
                        s = NULL;
                }
                if (!s)
                        return (struct seen){ 1, now_ms, now_ms };
        }
        if (s->count == 0 || now_ms - s->last_ms > AGGREGATE_MS)
                *s = (struct seen){ 0, now_ms, now_ms };
        s->count++;
        s->last_ms = now_ms;
        return *s;
}

static json_t *event_doc(const struct object *about, const char *name, const char *ns, const char *type,
                         const char *reason, const char *message, const struct seen *s, const char *source)
{
        char first[RFC3339_SIZE], last[RFC3339_SIZE];
        AUTO_JSON json_t *object = json_pack("{s:s, s:s, s:s}", "apiVersion", about->kind->api_version,
                                             "kind", about->kind->kind, "name", about->meta.name);

        time_format_rfc3339(s->first_ms, first);
        time_format_rfc3339(s->last_ms, last);
        if (!object || (about->meta.ns && doc_set_string(object, "namespace", about->meta.ns) < 0) ||
            (about->meta.uid && doc_set_string(object, "uid", about->meta.uid) < 0) ||
            (about->meta.resource_version &&
             doc_set_string(object, "resourceVersion", about->meta.resource_version) < 0))
                return NULL;
        return json_pack("{s:s, s:s, s:{s:s, s:s}, s:O, s:s, s:s, s:s, s:{s:s}, s:s, s:s, s:I, s:s, s:s}",
                         "apiVersion", "v1", "kind", "Event", "metadata", "name", name, "namespace", ns,
                         "involvedObject", object, "type", type, "reason", reason, "message", message,
                         "source", "component", source, "firstTimestamp", first, "lastTimestamp", last,
                         "count", (json_int_t)s->count, "reportingComponent", source, "reportingInstance",
                         "");
}

static int annotate(json_t *event, const struct string_map *annotations)
{
        json_t *all = annotations ? json_object() : NULL;

        if (!annotations)
                return 0;
        for (uint32_t i = 0; i < annotations->n; i++) {
                const struct string_pair *one = &annotations->at[i];

                if (json_object_set_new(all, one->key, json_string(one->value)) < 0) {
                        json_decref(all);
                        return ERR_NO_MEMORY;
                }
        }
        return json_object_set_new(json_object_get(event, "metadata"), "annotations", all) < 0 ? ERR_NO_MEMORY
                                                                                               : 0;
}

void event_recordv(struct event_recorder *r, const char *source, const struct string_map *annotations,
                   const struct object *about, const char *type, const char *reason, const char *fmt,
                   va_list ap)
{
        char message[MESSAGE_MAX];
        struct pending *p;
        struct seen s;

        if (!r)
                return;
        vsnprintf(message, sizeof(message), fmt, ap);
        if (r->n_queued >= QUEUE_MAX) {
                if (r->dropped++ % QUEUE_MAX == 0)
                        log_warn(r->kube->log, "events are dropped: too many wait to be sent", "dropped",
                                 LOG_INT(r->dropped));
                return;
        }
        p = NEW(struct pending);
        if (!p)
                return;
        p->name = event_name(about, type, reason, message);
        p->ns = mem_strdup(about->meta.ns ? about->meta.ns : "default");
        if (p->name && p->ns) {
                s = count_up(r, p->name, loop_wall_ms(r->kube->world->loop));
                p->count = s.count;
                p->doc = event_doc(about, p->name, p->ns, type, reason, message, &s,
                                   source ? source : r->component);
        }
        if (!p->doc || annotate(p->doc, annotations) < 0) {
                pending_free(p);
                return;
        }
        list_append(&r->queue, &p->node);
        r->n_queued++;
        waitq_wake_one(&r->wait);
}

void event_record(struct event_recorder *r, const struct object *about, const char *type, const char *reason,
                  const char *fmt, ...)
{
        va_list ap;

        va_start(ap, fmt);
        event_recordv(r, NULL, NULL, about, type, reason, fmt, ap);
        va_end(ap);
}

void event_record_by(struct event_recorder *r, const char *source, const struct object *about,
                     const char *type, const char *reason, const char *fmt, ...)
{
        va_list ap;

        va_start(ap, fmt);
        event_recordv(r, source, NULL, about, type, reason, fmt, ap);
        va_end(ap);
}
