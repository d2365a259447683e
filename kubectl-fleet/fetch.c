#include "kubectl-fleet/fetch.h"

#include "common/base/vec.h"
#include "proto/gen/kinds.h"

#define FIRST_PAGE 50

struct one {
        struct session *s;
        struct fetch *fetch;
        VEC(const struct object *) found;
        struct error err;
        int code;
};

static void unref(void *object)
{
        object_unref(object);
}

static int keep(void *ctx, struct object *o)
{
        struct one *one = ctx;

        TRY(arena_defer(one->s->arena, unref, object_ref(o)));
        return vec_push(&one->found, o);
}

static int fetch_list(struct one *one)
{
        const struct fetch *f = one->fetch;
        struct kube_resource resource = kube_resource_of(f->kind);
        struct kube_list_options o = { .ns = f->ns,
                                       .label_selector = f->selector,
                                       .flags = f->whole ? DECODE_FULL : DECODE_PROJECTION,
                                       .metadata_only = f->metadata_only };

        return kube_list_resource(&one->s->hub, f->metadata_only ? &partial_object_kind : f->kind, &resource,
                                  &o, keep, one, NULL, &one->err);
}

static int fetch_named(struct one *one)
{
        const struct fetch *f = one->fetch;
        struct kube_block_options b = { .flags = f->whole ? DECODE_FULL : DECODE_PROJECTION };
        struct object *o = NULL;
        int code;

        TRY(kube_get_block(&one->s->hub, f->kind, f->ns, f->name, &b, &o, &one->err));
        code = keep(one, o);
        object_unref(o);
        return code;
}

/* A server's "404 page not found": it does not serve the kind. That of an object names it. */
bool fetch_lacks_kind(const struct error *err)
{
        return err->http_status == 404 && !strstr(err->text, "\" not found");
}

static void fetch_one(void *ctx)
{
        struct one *one = ctx;
        struct fetch *f = one->fetch;

        one->code = f->name ? fetch_named(one) : fetch_list(one);
        if (one->code == ERR_NOT_FOUND && f->may_lack) {
                f->kind_missing = fetch_lacks_kind(&one->err);
                one->code = 0;
        }
        one->s->lacks_kind = one->s->lacks_kind || f->kind_missing;
        if (one->code < 0 && !one->err.code)
                error_set(&one->err, one->code, "list of %s: %s", f->kind->plural,
                          error_code_name(one->code));
}

static int take(struct one *all, size_t n, struct session *s, struct error *err)
{
        for (size_t i = 0; i < n; i++) {
                struct object_list *l = &all[i].fetch->result;

                if (all[i].code < 0) {
                        *err = all[i].err;
                        return all[i].code;
                }
                l->n = all[i].found.n;
                l->at = arena_memdup(s->arena, all[i].found.at, l->n * sizeof(*l->at));
                if (l->n && !l->at)
                        return error_no_memory(err);
        }
        return 0;
}

int fetch_all(struct session *s, struct fetch *fetches, size_t n, struct error *err)
{
        struct fiber_group *group = fiber_group_new(s->world->loop, NULL, "reads");
        struct one *all = ARENA_NEW_ARRAY(s->arena, struct one, n);
        int code = group && all ? session_time_left(s, err) : error_no_memory(err);

        for (size_t i = 0; code == 0 && i < n; i++) {
                all[i] = (struct one){ .s = s, .fetch = &fetches[i] };
                if (!fiber_spawn(group, "read", fetch_one, &all[i]))
                        code = error_no_memory(err);
        }
        if (code == 0 && (code = fiber_group_join(group, DEADLINE_NONE)) < 0)
                error_set(err, code, "cancelled");
        fiber_group_end(group);
        code = code < 0 ? code : take(all, n, s, err);
        for (size_t i = 0; all && i < n; i++)
                vec_free(&all[i].found);
        return code;
}

const struct object *fetched(const struct fetch *f)
{
        return f->result.n ? f->result.at[0] : NULL;
}

int fetch_each(struct session *s, const struct kind *kind, const char *ns,
               int (*each)(void *ctx, struct object *o), void *ctx, struct error *err)
{
        struct kube_list_options o = { .ns = ns, .flags = DECODE_PROJECTION, .first_page = FIRST_PAGE };

        return kube_list_resource(&s->hub, kind, NULL, &o, each, ctx, NULL, err);
}

const char *selector_of(struct arena *arena, const char *key, const char *value)
{
        return arena_printf(arena, "%s=%s", key, value);
}
