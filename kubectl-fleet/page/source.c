#include "kubectl-fleet/page/source.h"

#include "common/base/memory.h"
#include "hub-agent/common.h"
#include "kubectl-fleet/page/reduce.h"

struct page_source {
        struct page_sources *all;
        struct fetch fetch; /* with strings of its own; may_lack is each user's */
        struct kube_resource resource;
        char *key, *field_selector;
        struct informer *informer;
        struct list uses;
        size_t n_uses;
        struct list node; /* of those that linger, longest first; or of those that end */
        int64_t until_ms; /* loop; while it lingers */
};

struct page_sources {
        struct kube_client *hub;
        struct fiber_group *group;
        struct intern_table *interns;
        struct map by_key; /* struct page_source, whose key it borrows */
        struct list lingering;
        struct list ending; /* not in the map any more */
        size_t most, n;     /* n: with those that end */
        struct fiber_group *janitor;
        struct waitq work;
};

/* ---- fetches ---- */

bool page_fetch_same(const struct fetch *a, const struct fetch *b)
{
        return a->kind == b->kind && text_equal(a->ns, b->ns) && text_equal(a->name, b->name) &&
               text_equal(a->selector, b->selector) && a->metadata_only == b->metadata_only &&
               a->whole == b->whole && a->names_only == b->names_only && a->may_lack == b->may_lack;
}

static void free_fetch(struct fetch *f)
{
        mem_free((void *)(uintptr_t)f->ns);
        mem_free((void *)(uintptr_t)f->name);
        mem_free((void *)(uintptr_t)f->selector);
        *f = (struct fetch){ 0 };
}

static int copy_text(const char **text)
{
        if (*text && !(*text = mem_strdup(*text)))
                return ERR_NO_MEMORY;
        return 0;
}

static int copy_fetch(const struct fetch *f, struct fetch *ret)
{
        struct fetch copy = { .kind = f->kind,
                              .metadata_only = f->metadata_only,
                              .whole = f->whole,
                              .names_only = f->names_only,
                              .may_lack = f->may_lack };
        const char *texts[] = { f->ns, f->name, f->selector };
        int code = 0;

        for (size_t i = 0; i < ARRAY_LEN(texts); i++)
                code = copy_text(&texts[i]) < 0 ? ERR_NO_MEMORY : code;
        copy.ns = texts[0], copy.name = texts[1], copy.selector = texts[2];
        if (code < 0) {
                free_fetch(&copy);
                return code;
        }
        *ret = copy;
        return 0;
}

/* A name becomes part of a selector. */
static int check_fetch(const struct fetch *f, struct error *err)
{
        if (f->ns && !text_is_dns1123_label(f->ns))
                return error_set(err, ERR_INVALID, "namespace \"%.100s\": no namespace can have that name",
                                 f->ns);
        if (f->name && !text_is_dns1123_subdomain(f->name))
                return error_set(err, ERR_INVALID, "name \"%.300s\": no %s can have that name", f->name,
                                 f->kind->kind);
        return 0;
}

/* What can be in no name and no selector stands between the parts. */
static char *fetch_key(const struct fetch *f)
{
        return mem_printf("%s/%s\n%s\n%s\n%s\n%d%d%d", f->kind->group, f->kind->plural, or_empty(f->ns),
                          or_empty(f->name), or_empty(f->selector), f->metadata_only, f->whole,
                          f->names_only);
}

/* ---- informers ---- */

static bool is_placement(const struct kind *k)
{
        return k == &cluster_resource_placement_kind || k == &resource_placement_kind;
}

static bool is_reduced(const struct fetch *f)
{
        if (f->name || f->metadata_only)
                return false;
        return f->names_only || (f->whole ? f->kind == &work_kind : is_placement(f->kind));
}

static struct object *reduce(void *ctx, const struct object *o)
{
        const struct page_source *s = ctx;

        if (s->fetch.names_only)
                return page_reduce_snapshot(s->all->interns, o);
        return is_placement(s->fetch.kind) ? page_reduce_placement(s->all->interns, o)
                                           : page_reduce_work(s->all->interns, o);
}

static bool concerns(const struct page_use *u, const struct object *o)
{
        return !u->fetch.name || (text_equal(u->fetch.name, o->meta.name) &&
                                  (text_empty(u->fetch.ns) || text_equal(u->fetch.ns, o->meta.ns)));
}

static void on_change(void *ctx, const struct informer_event *e)
{
        struct page_source *s = ctx;

        list_for_each(u, &s->uses, struct page_use, node) {
                if (!concerns(u, e->now))
                        continue;
                if (u->event)
                        u->event(u, e);
                u->changed(u);
        }
}

static void on_state(void *ctx)
{
        struct page_source *s = ctx;

        list_for_each(u, &s->uses, struct page_use, node)
                u->changed(u);
}

static struct page_source *free_source(struct page_source *s)
{
        free_fetch(&s->fetch);
        mem_free(s->field_selector);
        mem_free(s->key);
        mem_free(s);
        return NULL;
}

static int start(struct page_source *s)
{
        const struct fetch *f = &s->fetch;
        struct informer_options o = { .kind = f->metadata_only ? &partial_object_kind : f->kind,
                                      .resource = f->metadata_only ? &s->resource : NULL,
                                      .ns = f->ns,
                                      .label_selector = f->selector,
                                      .flags = f->whole ? DECODE_FULL : DECODE_PROJECTION,
                                      .interns = s->all->interns,
                                      .state_changed = on_state,
                                      .state_changed_ctx = s,
                                      .pause_most_ms = PAGE_SOURCE_PAUSE_MS,
                                      .reduce = is_reduced(f) ? reduce : NULL,
                                      .reduce_ctx = s };

        s->resource = kube_resource_of(f->kind);
        if (f->name && !(s->field_selector = mem_printf("metadata.name=%s", f->name)))
                return ERR_NO_MEMORY;
        o.field_selector = s->field_selector;
        s->informer = informer_new(s->all->hub, s->all->group, &o);
        if (s->informer && informer_add_handler(s->informer, on_change, s) == 0)
                return 0;
        return ERR_NO_MEMORY;
}

/* ---- ends ---- */

static void hand_to_janitor(struct page_source *s)
{
        struct page_sources *all = s->all;

        list_remove(&s->node);
        list_append(&all->ending, &s->node);
        map_remove(&all->by_key, s->key);
        informer_silence(s->informer);
        waitq_wake_all(&all->work);
}

/* Parks. */
static void end_source(struct page_source *s)
{
        list_remove(&s->node);
        informer_stop(s->informer);
        s->all->n--;
        free_source(s);
}

static void end_those_that_end(struct page_sources *all)
{
        while (!list_empty(&all->ending))
                end_source(list_first(&all->ending, struct page_source, node));
}

/* Stopping an informer parks, which who leaves one may not. */
static void janitor(void *ctx)
{
        struct page_sources *all = ctx;
        struct loop *l = all->hub->world->loop;
        int code = 0;

        while (code != ERR_CANCELLED) {
                int64_t deadline = DEADLINE_NONE;

                list_for_each_safe(s, next, &all->lingering, struct page_source, node) {
                        if (s->until_ms > loop_now_ms(l)) {
                                deadline = s->until_ms;
                                break;
                        }
                        hand_to_janitor(s);
                }
                if (list_empty(&all->ending))
                        code = waitq_wait(l, &all->work, deadline);
                else
                        end_those_that_end(all);
        }
}

/* ---- uses ---- */

/* *ret: NULL where there is none, which must not be said for lack of memory. */
static int find(const struct page_sources *all, const struct fetch *f, struct page_source **ret)
{
        AUTO_FREE char *key = fetch_key(f);

        if (!key)
                return ERR_NO_MEMORY;
        *ret = map_get(&all->by_key, key);
        return 0;
}

/* A list that is kept anyway and has what is named in it. */
static int find_holder(const struct page_sources *all, const struct fetch *f, struct page_source **ret)
{
        const struct fetch list = { .kind = f->kind, .metadata_only = f->metadata_only, .whole = f->whole };

        *ret = NULL;
        if (!f->name || f->selector || is_reduced(&list))
                return 0;
        TRY(find(all, &list, ret));
        if (*ret && (!informer_synced((*ret)->informer) || informer_problem_code((*ret)->informer)))
                *ret = NULL;
        return 0;
}

static int new_source(struct page_sources *all, const struct fetch *f, struct page_source **ret)
{
        struct page_source *s = NEW(struct page_source);

        if (!s)
                return ERR_NO_MEMORY;
        s->all = all;
        list_init(&s->uses);
        list_init(&s->node);
        if (copy_fetch(f, &s->fetch) < 0 || !(s->key = fetch_key(f)) ||
            map_put(&all->by_key, s->key, s) < 0) {
                free_source(s);
                return ERR_NO_MEMORY;
        }
        all->n++;
        if (start(s) == 0) {
                *ret = s;
                return 0;
        }
        if (s->informer) {
                hand_to_janitor(s);
                return ERR_NO_MEMORY;
        }
        map_remove(&all->by_key, s->key);
        all->n--;
        free_source(s);
        return ERR_NO_MEMORY;
}

/* One that lingers makes room. */
static int make_room(struct page_sources *all, struct error *err)
{
        if (all->n < all->most)
                return 0;
        if (list_empty(&all->lingering))
                return error_set(err, ERR_LIMIT,
                                 "%zu lists of the hub are followed at once for all who look, and no more",
                                 all->most);
        hand_to_janitor(list_first(&all->lingering, struct page_source, node));
        return 0;
}

static int find_or_start(struct page_sources *all, const struct fetch *f, struct page_source **ret,
                         struct error *err)
{
        struct page_source *s = NULL;

        if (find_holder(all, f, &s) < 0 || (!s && find(all, f, &s) < 0))
                return error_no_memory(err);
        if (s) {
                *ret = s;
                return 0;
        }
        TRY(make_room(all, err));
        return new_source(all, f, ret) < 0 ? error_no_memory(err) : 0;
}

int page_use_begin(struct page_sources *all, const struct fetch *f, struct page_use *u, struct error *err)
{
        struct page_source *s = NULL;
        int code;

        TRY(check_fetch(f, err));
        if (copy_fetch(f, &u->fetch) < 0)
                return error_no_memory(err);
        code = find_or_start(all, f, &s, err);
        if (code < 0) {
                free_fetch(&u->fetch);
                return code;
        }
        list_remove(&s->node); /* it lingered */
        s->n_uses++;
        u->source = s;
        list_append(&s->uses, &u->node);
        return 0;
}

int page_use_refuse(const struct fetch *f, const char *why, struct page_use *u)
{
        char *refused = mem_strdup(why);

        if (!refused || copy_fetch(f, &u->fetch) < 0) {
                mem_free(refused);
                return ERR_NO_MEMORY;
        }
        u->refused = refused;
        return 0;
}

void page_use_end(struct page_use *u)
{
        struct page_source *s = u->source;

        free_fetch(&u->fetch);
        mem_free(TAKE_PTR(u->refused));
        if (!s)
                return;
        list_remove(&u->node);
        u->source = NULL;
        if (--s->n_uses > 0)
                return;
        s->until_ms = loop_now_ms(s->all->hub->world->loop) + PAGE_SOURCE_LINGER_MS;
        list_append(&s->all->lingering, &s->node);
        waitq_wake_all(&s->all->work);
}

bool page_use_settled(const struct page_use *u)
{
        return u->refused || informer_synced(u->source->informer) ||
               informer_problem_code(u->source->informer);
}

/* ---- what is read ---- */

static int tell_problem(const struct page_source *s, struct arena *arena, struct page_need *n)
{
        const struct kind *k = s->fetch.kind;
        int code = informer_problem_code(s->informer);
        const char *reason = informer_problem_reason(s->informer);

        if (code == ERR_NOT_FOUND) {
                n->fetch.kind_missing = n->fetch.may_lack;
                n->filled = n->filled || n->fetch.may_lack;
                n->problem =
                        n->fetch.may_lack
                                ? NULL
                                : arena_printf(arena, "the hub does not serve %s.%s: is it a hub's address?",
                                               k->plural, k->group);
                n->code = n->problem ? ERR_UNSUPPORTED : 0;
                return n->problem || n->fetch.may_lack ? 0 : ERR_NO_MEMORY;
        }
        n->code = code;
        n->problem = code == ERR_FORBIDDEN || code == ERR_UNAUTHORIZED || code == ERR_INVALID
                             ? arena_strdup(arena, reason)
                             : arena_printf(arena, "the hub cannot be read: %s", reason);
        return n->problem ? 0 : ERR_NO_MEMORY;
}

static void unref(void *object)
{
        object_unref(object);
}

static int read_named(const struct page_use *u, struct arena *arena, struct object_list *ret)
{
        const struct object *o = informer_get(u->source->informer, u->fetch.ns, u->fetch.name);
        const struct object **at = ARENA_NEW_ARRAY(arena, const struct object *, 1);

        *ret = (struct object_list){ .at = at };
        if (!at)
                return ERR_NO_MEMORY;
        if (!o)
                return 0;
        TRY(arena_defer(arena, unref, object_ref(o)));
        at[0] = o;
        ret->n = 1;
        return 0;
}

int page_use_read(const struct page_use *u, struct arena *arena, struct page_need *ret)
{
        const struct page_source *s = u->source;

        if (u->refused) {
                *ret = (struct page_need){ .fetch = u->fetch,
                                           .problem = arena_strdup(arena, u->refused),
                                           .code = ERR_FORBIDDEN };
                return ret->problem ? 0 : ERR_NO_MEMORY;
        }
        *ret = (struct page_need){ .fetch = u->fetch, .filled = informer_synced(s->informer) };
        if (informer_problem_code(s->informer))
                TRY(tell_problem(s, arena, ret));
        if (u->fetch.name && !s->fetch.name)
                return read_named(u, arena, &ret->fetch.result);
        return informer_list(s->informer, arena, &ret->fetch.result);
}

/* ---- all of them ---- */

struct page_sources *page_sources_new(struct kube_client *hub, struct fiber_group *group, size_t most)
{
        struct page_sources *all = NEW(struct page_sources);

        if (!all)
                return NULL;
        all->hub = hub;
        all->most = most ? most : PAGE_SOURCES_MAX;
        map_init(&all->by_key, MAP_BORROW_KEYS, NULL);
        list_init(&all->lingering);
        list_init(&all->ending);
        all->group = group;
        all->interns = intern_table_new();
        all->janitor = fiber_group_new(hub->world->loop, NULL, "page janitor");
        if (all->interns && all->janitor && fiber_spawn(all->janitor, "page janitor", janitor, all))
                return all;
        return page_sources_free(all);
}

struct page_sources *page_sources_free(struct page_sources *all)
{
        if (!all)
                return NULL;
        fiber_group_end(all->janitor);
        map_for_each(&all->by_key, e) {
                ASSERT(((struct page_source *)e->value)->n_uses == 0);
                hand_to_janitor(e->value);
        }
        end_those_that_end(all);
        map_free(&all->by_key);
        intern_table_free(all->interns);
        mem_free(all);
        return NULL;
}

size_t page_sources_count(const struct page_sources *s)
{
        return s->n;
}

size_t page_sources_bytes(const struct page_sources *all)
{
        size_t n = intern_table_bytes(all->interns);

        map_for_each(&all->by_key, e)
                n += informer_bytes(((const struct page_source *)e->value)->informer);
        return n;
}
