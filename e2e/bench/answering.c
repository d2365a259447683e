#include "e2e/bench/answering.h"

#include <stdio.h>

#include "common/base/timefmt.h"
#include "proto/gen/kinds.h"
#include "proto/names.h"

enum { ANSWERERS = 48 };

/* ---- what is answered ---- */

#define CONDITION(type)                                                                                      \
        "{\"type\":\"" type "\",\"status\":\"True\",\"reason\":\"AsSoonAsWritten\",\"message\":\"\","        \
        "\"lastTransitionTime\":\"%s\",\"observedGeneration\":%lld}"

static int patch_status(struct answering *a, const struct object *o, const char *body, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct http_response r;
        AUTO_BUF struct buf path;

        buf_init(&path, 1024);
        buf_printf(&path, "/apis/%s/namespaces/%s/%s/%s/status", o->kind->api_version, o->meta.ns,
                   o->kind->plural, o->meta.name);
        return kube_raw(a->hub, "PATCH", path.data, "application/merge-patch+json", slice_of(body), &arena,
                        &r, err);
}

/* Whoever deletes a Work waits until its member has taken away what it placed. */
static int let_go(struct answering *a, const struct object *o, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct http_response r;
        AUTO_BUF struct buf path;

        buf_init(&path, 1024);
        buf_printf(&path, "/apis/%s/namespaces/%s/%s/%s", o->kind->api_version, o->meta.ns, o->kind->plural,
                   o->meta.name);
        return kube_raw(a->hub, "PATCH", path.data, "application/merge-patch+json",
                        SLICE("{\"metadata\":{\"finalizers\":null}}"), &arena, &r, err);
}

static int answer_work(struct answering *a, const struct object *o, const char *now, struct error *err)
{
        long long generation = o->meta.generation;
        char body[512];

        a->n_works++;
        if (o->meta.deletion_ms != TIME_NONE)
                return let_go(a, o, err);
        snprintf(body, sizeof(body),
                 "{\"status\":{\"conditions\":[" CONDITION("Applied") "," CONDITION("Available") "]}}", now,
                 generation, now, generation);
        return patch_status(a, o, body, err);
}

#define OBSERVED(name, value) "\"" name "\":{\"value\":\"" value "\",\"observationTime\":\"%s\"}"
#define AMOUNTS(name, cpu, memory) "\"" name "\":{\"cpu\":\"" cpu "\",\"memory\":\"" memory "\"}"
#define PROPERTIES                                                                                           \
        "\"properties\":{" OBSERVED("kubernetes-fleet.io/node-count",                                        \
                                    "3") "," OBSERVED("k8s.io/k8s-version", "v1.34.4") "}"
#define USAGE                                                                                                \
        "\"resourceUsage\":{" AMOUNTS("capacity", "12", "48Gi") "," AMOUNTS(                                 \
                "allocatable", "11400m", "45Gi") "," AMOUNTS("available", "5100m",                           \
                                                             "21Gi") ",\"observationTime\":\"%s\"}"
#define AGENT                                                                                                \
        "\"agentStatus\":[{\"type\":\"MemberAgent\",\"lastReceivedHeartbeat\":\"%s\","                       \
        "\"conditions\":[" CONDITION("Joined") "," CONDITION("Healthy") "]}]"

/* What a member-agent writes with each heartbeat: the cluster's properties have been looked at again. */
static int beat(struct answering *a, const struct object *o, const char *now, struct error *err)
{
        long long generation = o->meta.generation;
        char joined[RFC3339_SIZE], body[2048];

        time_format_rfc3339(o->meta.creation_ms, joined);
        snprintf(body, sizeof(body), "{\"status\":{" PROPERTIES "," USAGE "," AGENT "}}", now, now, now, now,
                 joined, generation, joined, generation);
        return patch_status(a, o, body, err);
}

static int answer(struct answering *a, const struct object *o, struct error *err)
{
        char now[RFC3339_SIZE];
        int code;

        time_format_rfc3339(loop_wall_ms(a->hub->world->loop), now);
        if (o->kind == &work_kind) {
                code = answer_work(a, o, now, err);
        } else {
                code = beat(a, o, now, err);
                a->n_joined++;
        }
        return code == ERR_NOT_FOUND ? 0 : code;
}

static void keep_failure(struct answering *a, int code, const struct error *err)
{
        if (code == ERR_CANCELLED || a->code < 0)
                return;
        a->code = code;
        a->err = *err;
}

static void answer_all(void *ctx)
{
        struct answering *a = ctx;

        while (a->code == 0) {
                const struct object *o;
                struct error err = { 0 };
                int code;

                if (a->next == a->due.n) {
                        a->next = a->due.n = 0;
                        if (waitq_wait(a->hub->world->loop, &a->more, DEADLINE_NONE) < 0)
                                return;
                        continue;
                }
                o = a->due.at[a->next++];
                code = answer(a, o, &err);
                object_unref(o);
                if (code < 0)
                        keep_failure(a, code, &err);
                if (code == ERR_CANCELLED)
                        return;
        }
}

/* One round of heartbeats takes heartbeat_ms, whatever the number of members. */
static int beat_round(struct answering *a, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct loop *l = a->hub->world->loop;
        int64_t began = loop_now_ms(l);
        struct object_list all;

        if (informer_list(a->members, &arena, &all) < 0)
                return error_no_memory(err);
        for (size_t i = 0; i < all.n; i++) {
                char now[RFC3339_SIZE];
                int64_t due = began + a->heartbeat_ms * (int64_t)(i + 1) / (int64_t)all.n;
                int code;

                TRY(fiber_sleep(l, MAX(due - loop_now_ms(l), 0)));
                time_format_rfc3339(loop_wall_ms(l), now);
                code = beat(a, all.at[i], now, err);
                if (code < 0 && code != ERR_NOT_FOUND)
                        return code;
                a->n_beats++;
        }
        return all.n ? 0 : fiber_sleep(l, a->heartbeat_ms);
}

static void beat_all(void *ctx)
{
        struct answering *a = ctx;
        struct error err = { 0 };
        int code = informer_wait_synced(a->members, DEADLINE_NONE);

        while (code == 0)
                code = beat_round(a, &err);
        keep_failure(a, code, &err);
}

/* ---- what is seen ---- */

static void note(struct answering *a, const struct object *o)
{
        if (vec_push(&a->due, object_ref(o)) < 0)
                object_unref(o);
        waitq_wake_one(&a->more);
}

static void note_work(void *ctx, const struct informer_event *e)
{
        const struct work *w = (const struct work *)e->now;
        bool leaves = e->now->meta.deletion_ms != TIME_NONE;
        bool known = e->type == INFORMER_UPDATED && e->old->meta.generation == e->now->meta.generation &&
                     (e->old->meta.deletion_ms != TIME_NONE) == leaves;

        if (e->type == INFORMER_DELETED || known)
                return;
        if (leaves ? e->now->meta.n_finalizers > 0
                   : !(w->status && condition_is_true(&w->status->conditions, CONDITION_AVAILABLE,
                                                      w->object.meta.generation)))
                note(ctx, e->now);
}

static void note_member(void *ctx, const struct informer_event *e)
{
        if (e->type == INFORMER_ADDED)
                note(ctx, e->now);
}

/* ---- life ---- */

static int watch(struct answering *a, const struct kind *kind, informer_handler fn, struct informer **ret,
                 struct error *err)
{
        const struct informer_options o = { .kind = kind, .flags = DECODE_PROJECTION };

        *ret = informer_new(a->hub, a->group, &o);
        if (!*ret || informer_add_handler(*ret, fn, a) < 0)
                return error_no_memory(err);
        return 0;
}

int answering_open(struct answering *a, struct kube_client *hub, int64_t heartbeat_ms,
                   struct fiber_group *parent, struct error *err)
{
        *a = (struct answering){ .hub = hub, .heartbeat_ms = heartbeat_ms };
        a->group = fiber_group_new(hub->world->loop, parent, "members that answer");
        if (!a->group)
                return error_no_memory(err);
        TRY(watch(a, &internal_member_cluster_kind, note_member, &a->members, err));
        for (int i = 0; i < ANSWERERS; i++)
                if (!fiber_spawn(a->group, "member", answer_all, a))
                        return error_no_memory(err);
        if (heartbeat_ms && !fiber_spawn(a->group, "heartbeats", beat_all, a))
                return error_no_memory(err);
        return 0;
}

int answering_open_works(struct answering *a, struct error *err)
{
        return watch(a, &work_kind, note_work, &a->works, err);
}

void answering_close(struct answering *a)
{
        if (a->works)
                informer_stop(a->works);
        if (a->members)
                informer_stop(a->members);
        fiber_group_end(a->group);
        for (size_t i = a->next; i < a->due.n; i++)
                object_unref(a->due.at[i]);
        vec_free(&a->due);
}

size_t answering_count_joined(const struct informer *clusters)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct object_list all = { 0 };
        size_t n = 0;

        if (informer_list(clusters, &arena, &all) < 0)
                return 0;
        for (size_t i = 0; i < all.n; i++) {
                const struct member_cluster *c = (const struct member_cluster *)all.at[i];

                n += c->status &&
                     condition_is_true(&c->status->conditions, CONDITION_JOINED, c->object.meta.generation);
        }
        return n;
}
