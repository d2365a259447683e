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

static int answer_work(struct answering *a, const struct object *o, const char *now, struct error *err)
{
        long long generation = o->meta.generation;
        char body[512];

        snprintf(body, sizeof(body),
                 "{\"status\":{\"conditions\":[" CONDITION("Applied") "," CONDITION("Available") "]}}", now,
                 generation, now, generation);
        a->n_works++;
        return patch_status(a, o, body, err);
}

static int join_member(struct answering *a, const struct object *o, const char *now, struct error *err)
{
        char body[768];

        snprintf(body, sizeof(body),
                 "{\"status\":{\"agentStatus\":[{\"type\":\"MemberAgent\",\"lastReceivedHeartbeat\":\"%s\","
                 "\"conditions\":[" CONDITION("Joined") "," CONDITION("Healthy") "]}]}}",
                 now, now, 1LL, now, 1LL);
        return patch_status(a, o, body, err);
}

static int answer(struct answering *a, const struct object *o, struct error *err)
{
        char now[RFC3339_SIZE];
        int code;

        time_format_rfc3339(loop_wall_ms(a->hub->world->loop), now);
        code = o->kind == &work_kind ? answer_work(a, o, now, err) : join_member(a, o, now, err);
        return code == ERR_NOT_FOUND ? 0 : code;
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
                if (code == ERR_CANCELLED)
                        return;
                if (code < 0 && a->code == 0) {
                        a->code = code;
                        a->err = err;
                }
        }
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

        if (e->type != INFORMER_DELETED &&
            !(w->status &&
              condition_is_true(&w->status->conditions, CONDITION_AVAILABLE, w->object.meta.generation)) &&
            !(e->type == INFORMER_UPDATED && e->old->meta.generation == e->now->meta.generation))
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

int answering_open(struct answering *a, struct kube_client *hub, struct fiber_group *parent,
                   struct error *err)
{
        *a = (struct answering){ .hub = hub };
        a->group = fiber_group_new(hub->world->loop, parent, "members that answer");
        if (!a->group)
                return error_no_memory(err);
        TRY(watch(a, &work_kind, note_work, &a->works, err));
        TRY(watch(a, &internal_member_cluster_kind, note_member, &a->members, err));
        for (int i = 0; i < ANSWERERS; i++)
                if (!fiber_spawn(a->group, "member", answer_all, a))
                        return error_no_memory(err);
        return 0;
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
