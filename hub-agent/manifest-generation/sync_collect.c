/* Deletes what the repository does not have any more. spec/flux-yaml.md 7.3. */
#include "common/base/memory.h"
#include "common/base/vec.h"
#include "hub-agent/manifest-generation/generation_agent.h"
#include "proto/gen/kinds.h"

#define LIST_TRIES 3
#define LIST_PAUSE_MS 1000

struct found {
        struct collect_object object;
        struct kube_resource resource;
        const char *uid;
};

struct collection {
        struct generator_agent *a;
        struct reconcile *rc;
        struct kube_client kube; /* which tells nobody of rights that are missing: they are not missed */
        struct map wanted;
        VEC(struct found *) found;
        struct kube_mapped *kinds;
        size_t n_kinds;
        size_t deleted;
        const struct found *stuck; /* could not be deleted, and may be yet; NULL = none */
};

/* ---- which kinds ---- */

static bool is_looked_at(const struct kube_mapped *m)
{
        static const char *const left_out[] = { "ComponentStatus", "Endpoints", "EndpointSlice", "Event",
                                                "Lease" };

        return m->listable && m->preferred_version && !strchr(m->resource.plural, '/') &&
               !text_in(m->resource.kind, left_out, ARRAY_LEN(left_out)) &&
               !text_ends_with(or_empty(m->resource.group), "metrics.k8s.io");
}

/* A copy: the table may be read anew while requests are under way. */
static int choose_kinds(struct collection *c, struct error *err)
{
        const struct kube_mapped *all;
        size_t n;

        all = kube_mapper_all(c->a->mapper, &n);
        c->kinds = ARENA_NEW_ARRAY(c->rc->arena, struct kube_mapped, n + 1);
        if (!c->kinds)
                return error_no_memory(err);
        for (size_t i = 0; i < n; i++)
                if (is_looked_at(&all[i]))
                        c->kinds[c->n_kinds++] = all[i];
        return 0;
}

/* ---- what is there ---- */

struct listing {
        struct collection *c;
        const struct kube_resource *resource;
};

static int take(void *ctx, struct object *o)
{
        struct listing *l = ctx;
        struct arena *arena = l->c->rc->arena;
        struct found *f = ARENA_NEW(arena, struct found);
        const char *ns = l->resource->namespaced ? o->meta.ns : NULL;
        const char *ignore = string_map_get(&o->meta.annotations, FLUX_IGNORE);

        if (!ignore)
                ignore = string_map_get(&o->meta.annotations, FLUX_IGNORE_OLD);
        if (!f || arena_defer(arena, (void (*)(void *))object_unref, object_ref(o)) < 0)
                return ERR_NO_MEMORY;
        *f = (struct found){ .object = { .identity =
                                                 sync_identity(arena, ns, l->resource->kind, o->meta.name),
                                         .ns = ns,
                                         .kind = l->resource->kind,
                                         .name = o->meta.name,
                                         .mark = string_map_get(&o->meta.labels, FLUX_SYNC_MARK),
                                         .checksum = string_map_get(&o->meta.annotations, FLUX_SYNC_CHECKSUM),
                                         .ignore = ignore,
                                         .owned = o->meta.n_owners > 0 || o->meta.deletion_ms != TIME_NONE },
                             .resource = *l->resource,
                             .uid = o->meta.uid };
        return f->object.identity && vec_push(&l->c->found, f) == 0 ? 0 : ERR_NO_MEMORY;
}

static int list_once(struct collection *c, struct reconcile *one, const struct kube_resource *r,
                     const char *ns)
{
        struct listing l = { c, r };
        const struct kube_list_options o = { .ns = ns,
                                             .label_selector = FLUX_SYNC_MARK,
                                             .flags = DECODE_FULL,
                                             .interns = c->a->interns,
                                             .metadata_only = true };

        return kube_list_resource(&c->kube, &partial_object_kind, r, &o, take, &l, NULL, one->err);
}

/* There are many kinds, so that one hiccup must not end it. What came of a list that broke off is found
 * again: is_another(). */
static int list_in(struct collection *c, struct reconcile *one, const struct kube_resource *r, const char *ns)
{
        for (unsigned tries = 1;; tries++) {
                int code = list_once(c, one, r, ns);

                if (code == 0 || !error_is_retryable(code) || tries == LIST_TRIES ||
                    !kube_connection_good(c->a->connection))
                        return code;
                if (fiber_sleep(c->a->world->loop, LIST_PAUSE_MS) < 0)
                        return error_set(one->err, ERR_CANCELLED, "cancelled");
                error_clear(one->err);
        }
}

/* What may not be listed is skipped. What cannot be listed ends the collection: nobody knows then. */
static int list_kind(struct reconcile *one, void *ctx, size_t i)
{
        struct collection *c = ctx;
        const struct kube_resource *r = &c->kinds[i].resource;
        const struct sync_rules *rules = &c->a->rules;
        size_t n = r->namespaced && rules->n_namespaces ? rules->n_namespaces : 1;

        for (size_t k = 0; k < n; k++) {
                int code = list_in(c, one, r,
                                   r->namespaced && rules->n_namespaces ? rules->namespaces[k] : NULL);

                if (code == ERR_FORBIDDEN || code == ERR_NOT_FOUND || code == ERR_UNSUPPORTED)
                        error_clear(one->err);
                else if (code < 0)
                        return error_wrap(one->err, "listing %s", r->plural);
        }
        return 0;
}

/* ---- what goes ---- */

static int note_failure(struct collection *c, const struct found *f, const struct error *err)
{
        struct generator_agent *a = c->a;

        log_warn(&a->log, "an object that the repository does not have any more is not deleted", "resource",
                 f->object.identity, "error", err->text);
        a->failed++;
        return sync_problems_add(&a->problems, f->object.identity, "", err->text);
}

static int delete_one(struct collection *c, const struct found *f, struct error *err)
{
        struct generator_agent *a = c->a;
        struct error why = { 0 };
        int code;

        log_info(&a->log, "cluster resource not in resources to be synced; deleting", "dry-run",
                 a->options->collect_dry ? "true" : "false", "resource", f->object.identity);
        if (a->options->collect_dry)
                return 0;
        code = kube_doc_delete(&a->kube, &f->resource, f->object.ns, f->object.name, f->uid, "Background",
                               &why);
        if (code == ERR_CANCELLED)
                return error_set(err, code, "cancelled");
        if (code < 0 && code != ERR_NOT_FOUND) {
                if (error_is_retryable(code))
                        c->stuck = f;
                return note_failure(c, f, &why) < 0 ? error_no_memory(err) : 0;
        }
        c->deleted++;
        hub_view_forget(a->view, f->object.identity);
        return 0;
}

/* A kind that several groups serve is found once in each. */
static bool is_another(const struct collection *c, size_t i)
{
        for (size_t k = 0; k < i; k++)
                if (text_equal(c->found.at[k]->uid, c->found.at[i]->uid))
                        return false;
        return true;
}

static size_t choose(struct collection *c, const struct collect_object **goes)
{
        size_t n = 0;
        struct generator_agent *a = c->a;

        for (size_t i = 0; i < c->found.n; i++) {
                struct found *f = c->found.at[i];

                switch (collect_fate_of(a->set_name, &c->wanted, &a->rules, &f->object)) {
                case COLLECT_DELETE:
                        if (is_another(c, i))
                                goes[n++] = &f->object;
                        break;
                case COLLECT_OUTDATED:
                        log_info(&a->log, "resource to be synced has not been updated; skipping", "resource",
                                 f->object.identity);
                        break;
                default:
                        break;
                }
        }
        collect_sort(goes, n);
        return n;
}

static int remember_wanted(struct collection *c, const struct desired *d)
{
        for (size_t i = 0; i < d->n; i++) {
                const struct sync_item *item = &d->items[i];
                const char *checksum = item->outcome == ITEM_IGNORED ? "" : item->checksum;

                TRY(map_put(&c->wanted, item->object.identity, (void *)(uintptr_t)checksum));
        }
        for (size_t i = 0; i < d->loaded.n_unknown; i++)
                TRY(map_put(&c->wanted, d->loaded.unknown[i].resource->identity, (void *)(uintptr_t) ""));
        return 0;
}

/* A namespace takes what is in it along, and a placement is to go before what it selects: what goes later
 * waits for those that are tried again. What is refused for good is waited for by nobody. */
static bool waits(const struct collection *c, const struct found *f)
{
        if (!c->stuck || sync_rank(f->object.kind) >= sync_rank(c->stuck->object.kind))
                return false;
        log_info(&c->a->log, "not deleted before what goes first", "resource", f->object.identity, "first",
                 c->stuck->object.identity);
        return true;
}

static int collect(struct collection *c, struct error *err)
{
        const struct collect_object **goes;
        size_t n;

        TRY(choose_kinds(c, err));
        if (rc_for_each(c->rc, c->n_kinds, list_kind, c) < 0)
                return c->rc->err->code;
        goes = ARENA_NEW_ARRAY(c->rc->arena, const struct collect_object *, c->found.n + 1);
        if (!goes)
                return error_no_memory(err);
        n = choose(c, goes);
        for (size_t i = 0; i < n; i++) {
                const struct found *f = container_of(goes[i], struct found, object);

                if (!waits(c, f))
                        TRY(delete_one(c, f, err));
        }
        return 0;
}

int sync_collect(struct reconcile *rc, const struct desired *d, size_t *ret_n, struct error *err)
{
        struct collection c = { .a = generator_of(rc), .rc = rc, .kube = *rc->kube };
        int code;

        c.kube.connection = NULL;
        code = remember_wanted(&c, d) < 0 ? error_no_memory(err) : collect(&c, err);
        map_free(&c.wanted);
        vec_free(&c.found);
        *ret_n = c.deleted;
        return code;
}
