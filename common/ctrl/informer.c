/* The cache of one kind: objects by key, indexes over them, handlers told of changes. What changes it comes
 * from reflector.c or, for our own writes, from informer_observe(). A state is taken over only if its
 * resourceVersion is newer than what is held, so the two sources may arrive in any order. */
#include "common/ctrl/informer_internal.h"

#include "common/base/limits.h"
#include "common/base/memory.h"
#include "common/ctrl/metrics.h"

int object_key(struct key *k, const char *ns, const char *name)
{
        return key_join(k, ns, '/', name);
}

int informer_key(const struct object *o, struct key *k)
{
        return object_key(k, o->meta.ns, o->meta.name);
}

uint64_t resource_version_number(const struct object *o)
{
        uint64_t v;

        return o->meta.resource_version && text_parse_u64(o->meta.resource_version, &v) ? v : 0;
}

/* ---- indexes ---- */

/* Under most values of an index there is one object. It stands there itself, marked by an odd pointer; from
 * the second on there is an array. */
static void *alone(const struct kept *k)
{
        return (void *)((uintptr_t)k | 1);
}

static const struct kept *kept_alone(const void *value)
{
        return (uintptr_t)value & 1 ? (const struct kept *)((uintptr_t)value & ~(uintptr_t)1) : NULL;
}

static void indexed_destroy(void *value)
{
        struct kept_vec *v = value;

        if (!value || kept_alone(value))
                return;
        vec_free(v);
        mem_free(v);
}

struct index_edit {
        struct index *index;
        const struct kept *kept;
        bool failed;
};

static struct kept_vec *make_array(struct index_edit *edit, const char *value, const struct kept *first)
{
        struct kept_vec *v = NEW(struct kept_vec);

        if (v && vec_push(v, first) == 0 && vec_reserve(v, 2) == 0 &&
            map_put(&edit->index->values, value, v) == 0)
                return v;
        indexed_destroy(v);
        return NULL;
}

static void index_insert(void *to, const char *value)
{
        struct index_edit *edit = to;
        void *there = value ? map_get(&edit->index->values, value) : NULL;
        const struct kept *first = kept_alone(there);
        struct kept_vec *v = first ? make_array(edit, value, first) : there;

        if (!value || (first && !v))
                edit->failed = true;
        else if (!v)
                edit->failed |= map_put(&edit->index->values, value, alone(edit->kept)) < 0;
        else
                edit->failed |= vec_push(v, edit->kept) < 0;
}

static void erase_from(struct index_edit *edit, const char *value, void *there)
{
        struct kept_vec *v = kept_alone(there) ? NULL : there;

        if (!v) {
                if (kept_alone(there) == edit->kept)
                        map_remove(&edit->index->values, value);
                return;
        }
        for (size_t k = 0; k < v->n; k++) {
                if (v->at[k] != edit->kept)
                        continue;
                v->at[k] = v->at[--v->n];
                break;
        }
        if (v->n == 0)
                map_remove(&edit->index->values, value);
        else if (v->n == 1)
                ASSERT(map_put(&edit->index->values, value, alone(v->at[0])) == 0); /* it takes no memory */
}

/* Without memory for the value it is looked for under all: the object is about to go. */
static void index_erase(void *to, const char *value)
{
        struct index_edit *edit = to;
        void *there = value ? map_get(&edit->index->values, value) : NULL;

        if (there)
                erase_from(edit, value, there);
        if (value)
                return;
        map_for_each(&edit->index->values, e)
                erase_from(edit, e->key, e->value);
}

static void unindex(struct informer *i, const struct object *o, const struct kept *kept)
{
        vec_for_each(&i->indexes, ix) {
                struct index_edit edit = { *ix, kept, false };

                (*ix)->fn(o, index_erase, &edit);
        }
}

static int reindex(struct informer *i, const struct object *o, const struct kept *kept)
{
        vec_for_each(&i->indexes, ix) {
                struct index_edit edit = { *ix, kept, false };

                (*ix)->fn(o, index_insert, &edit);
                if (edit.failed)
                        return ERR_NO_MEMORY;
        }
        return 0;
}

int informer_add_index(struct informer *i, const char *name, index_fn fn)
{
        struct index *ix;

        vec_for_each(&i->indexes, have)
                if (text_equal((*have)->name, name))
                        return 0;
        ix = NEW(struct index);
        if (!ix)
                return ERR_NO_MEMORY;
        *ix = (struct index){ .name = name, .fn = fn };
        map_init(&ix->values, MAP_OWN_KEYS, indexed_destroy);
        if (vec_push(&i->indexes, ix) < 0) {
                mem_free(ix);
                return ERR_NO_MEMORY;
        }
        map_for_each(&i->objects, e) {
                struct index_edit edit = { ix, e->value, false };
                const struct object *o = kept_object(i, e->value, STOWED_WITHOUT_DETAIL);

                if (o)
                        fn(o, index_insert, &edit);
                object_unref(o);
                if (!o || edit.failed)
                        return ERR_NO_MEMORY;
        }
        return 0;
}

/* ---- changes ---- */

static void tell(struct informer *i, enum informer_event_type type, const struct object *old,
                 const struct object *now, bool initial)
{
        struct informer_event e = { .type = type, .old = old, .now = now, .initial = initial };

        for (size_t k = 0; k < i->handlers.n && !i->stopped; k++)
                i->handlers.at[k].fn(i->handlers.at[k].ctx, &e);
}

/* Puts `o` in the place of `old`, which is held as `held` (both may be NULL); on no memory all is as it was.
 */
static int replace(struct informer *i, const char *key, const struct object *old, const struct kept *held,
                   const struct object *o)
{
        const struct kept *kept = kept_new(i, key, o);

        if (!kept)
                return ERR_NO_MEMORY;
        if (reindex(i, o, kept) < 0 || map_put(&i->objects, kept_key(i, key, kept), (void *)kept) < 0) {
                unindex(i, o, kept);
                kept_free(i, kept);
                return ERR_NO_MEMORY;
        }
        i->bytes += kept_bytes(i, kept);
        if (!held)
                return 0;
        i->bytes -= kept_bytes(i, held);
        unindex(i, old, held);
        kept_free(i, held);
        return 0;
}

/* What is held under a key, if anything is. 0 or ERR_NO_MEMORY. */
static int find_held(const struct informer *i, const char *key, const struct kept **ret_kept,
                     const struct object **ret)
{
        *ret_kept = map_get(&i->objects, key);
        *ret = *ret_kept ? kept_object(i, *ret_kept, STOWED_WHOLE) : NULL;
        return *ret_kept && !*ret ? ERR_NO_MEMORY : 0;
}

DEFINE_CLEANUP(const struct object, object_unref, unref_object);

/* What we hold is newer than `o` tells of, unless the server lost its memory. */
static bool is_outdated(const struct informer *i, const struct object *held, const struct object *o)
{
        uint64_t version = resource_version_number(o);

        return held && version && version < resource_version_number(held) && !i->server_went_back;
}

const struct object *informer_held(const struct informer *i, struct slice ns, struct slice name)
{
        char key[KEY_OWN_BYTES];
        size_t before = ns.len ? ns.len + 1 : 0;
        const struct kept *kept;

        if (before + name.len > sizeof(key))
                return NULL;
        if (ns.len) {
                memcpy(key, ns.data, ns.len);
                key[ns.len] = '/';
        }
        memcpy(key + before, name.data, name.len);
        kept = map_get_n(&i->objects, key, before + name.len);
        return kept ? kept_object(i, kept, STOWED_WITHOUT_DETAIL) : NULL;
}

bool informer_has_version(const struct informer *i, struct slice ns, struct slice name, struct slice version)
{
        CLEANUP(unref_object) const struct object *held = informer_held(i, ns, name);

        return held && held->meta.resource_version && slice_is(version, held->meta.resource_version);
}

int informer_apply(struct informer *i, struct object *o, bool initial)
{
        AUTO_KEY struct key key = KEY_EMPTY;
        CLEANUP(unref_object) const struct object *old = NULL;
        const struct kept *held;

        TRY(informer_key(o, &key));
        TRY(find_held(i, key.text, &held, &old));
        if (old && text_equal(old->meta.resource_version, o->meta.resource_version))
                return 0;
        if (is_outdated(i, old, o))
                return 0;
        TRY(replace(i, key.text, old, held, o));
        map_remove(&i->undecodable, key.text);
        tell(i, old ? INFORMER_UPDATED : INFORMER_ADDED, old, o, initial);
        return 0;
}

/* What find_held() found under the key. */
static void forget(struct informer *i, const char *key, const struct kept *held, const struct object *old,
                   const struct object *last, bool initial)
{
        map_remove(&i->undecodable, key);
        if (!old)
                return;
        map_take(&i->objects, key);
        i->bytes -= kept_bytes(i, held);
        unindex(i, old, held);
        kept_free(i, held);
        tell(i, INFORMER_DELETED, old, last ? last : old, initial);
}

int informer_forget(struct informer *i, const char *key, const struct object *last, bool initial)
{
        CLEANUP(unref_object) const struct object *old = NULL;
        const struct kept *held;

        TRY(find_held(i, key, &held, &old));
        forget(i, key, held, old, last, initial);
        return 0;
}

/* The deletion may be that of a predecessor: ours of a moment ago, and the answer to making it again was
 * faster than the watch. */
int informer_take_deletion(struct informer *i, const struct object *o, bool decoded)
{
        AUTO_KEY struct key key = KEY_EMPTY;
        CLEANUP(unref_object) const struct object *old = NULL;
        const struct kept *held;

        TRY(informer_key(o, &key));
        TRY(find_held(i, key.text, &held, &old));
        TRY(parts_note_gone(i, key.text, o));
        if (!is_outdated(i, old, o))
                forget(i, key.text, held, old, decoded ? o : NULL, false);
        return 0;
}

static void tell_undecodable(struct informer *i, const struct object *id, const struct error *why)
{
        log_warn(i->kube->log, "an object cannot be decoded and counts as it was last known", "resource",
                 i->resource.plural, "namespace", id->meta.ns, "name", id->meta.name, "version",
                 id->meta.resource_version, "error", why->text);
        metric_add(i->options.metrics, METRIC_UNDECODABLE, 1, (const char *const[]){ i->resource.plural });
}

/* What is held of the same object stays; of metadata it is worth knowing that the object is there at all. */
int informer_note_undecodable(struct informer *i, struct object *id, const struct error *why, bool initial)
{
        AUTO_KEY struct key key = KEY_EMPTY;
        CLEANUP(unref_object) const struct object *old = NULL;
        const struct kept *held;
        char *version;

        TRY(informer_key(id, &key));
        TRY(find_held(i, key.text, &held, &old));
        if (is_outdated(i, old, id))
                return 0;
        if (old && !text_equal(old->meta.uid, id->meta.uid)) {
                forget(i, key.text, held, old, NULL, initial);
                held = NULL;
        }
        if (!held && i->options.resource)
                TRY(informer_apply(i, id, initial));
        if (text_equal(map_get(&i->undecodable, key.text), id->meta.resource_version))
                return 0;
        version = mem_strdup(id->meta.resource_version ? id->meta.resource_version : "");
        if (!version || map_put(&i->undecodable, key.text, version) < 0) {
                mem_free(version);
                return ERR_NO_MEMORY;
        }
        tell_undecodable(i, id, why);
        return 0;
}

/* Our own write was answered before the watch told of it. An object that is not in the cache and not newer
 * than what the watch has shown was deleted meanwhile: it must not come back. */
void informer_observe(struct informer *i, const struct object *o)
{
        AUTO_KEY struct key key = KEY_EMPTY;
        uint64_t version = resource_version_number(o);

        if (!version || !(i->synced || i->follows) || informer_key(o, &key) < 0)
                return;
        if (!map_has(&i->objects, key.text) && version <= i->high_water)
                return;
        i->observed = MAX(i->observed, version);
        informer_apply(i, (struct object *)o, false);
}

/* ---- reading ---- */

bool informer_holds(const struct informer *i, const struct kind *kind, const char *ns)
{
        const struct informer_options *o = &i->options;

        return o->kind == kind && !o->resource && !o->label_selector && !o->field_selector &&
               (!o->ns || text_equal(o->ns, ns));
}

enum decode_flags informer_flags(const struct informer *i)
{
        return i->options.flags;
}

bool informer_synced(const struct informer *i)
{
        return i->synced;
}

int informer_wait_synced(struct informer *i, int64_t deadline_ms)
{
        int code = 0;

        informer_ref(i);
        while (code == 0 && !(i->synced && !i->stopped))
                code = i->stopped ? ERR_CLOSED
                                  : waitq_wait(i->kube->world->loop, &i->synced_wait, deadline_ms);
        informer_unref(i);
        return code;
}

const struct kube_resource *informer_resource(const struct informer *i)
{
        return &i->resource;
}

const char *informer_problem(const struct informer *i)
{
        return i->problem;
}

int informer_problem_code(const struct informer *i)
{
        return i->problem_code;
}

/* Of "memberclusters: GET hub/apis/...: connection refused" the end. */
const char *informer_problem_reason(const struct informer *i)
{
        const char *get = strstr(i->problem, ": GET ");
        const char *end = get ? strstr(get + strlen(": GET "), ": ") : NULL;
        const char *colon = strstr(i->problem, ": ");

        return end ? end + 2 : colon ? colon + 2 : i->problem;
}

static uint64_t hash_reason(const struct informer *i)
{
        const char *reason = informer_problem_reason(i);

        return hash_bytes(reason, strlen(reason), 1);
}

void informer_set_problem(struct informer *i, int code, const char *text)
{
        uint64_t before = hash_reason(i);
        bool another = code != i->problem_code;

        i->problem_code = code;
        i->problem[0] = '\0';
        if (code)
                snprintf(i->problem, sizeof(i->problem), "%s: %s", i->resource.plural, text);
        another = another || hash_reason(i) != before;
        if (code && i->hasty)
                waitq_wake_all(&i->synced_wait);
        if (another && i->options.state_changed && !i->stopped)
                i->options.state_changed(i->options.state_changed_ctx);
}

uint64_t informer_objects(const struct informer *i)
{
        return map_count(&i->objects);
}

size_t informer_bytes(const struct informer *i)
{
        return i->bytes;
}

static bool is_named(const char *key, const char *ns, const char *name)
{
        size_t n = text_empty(ns) ? 0 : strlen(ns);

        return n ? strncmp(key, ns, n) == 0 && key[n] == '/' && strcmp(key + n + 1, name) == 0
                 : strcmp(key, name) == 0;
}

/* Absent must not be said for lack of memory: a key too long for its struct is looked for one by one then. */
static const struct kept *find(const struct informer *i, const char *ns, const char *name)
{
        AUTO_KEY struct key key = KEY_EMPTY;

        if (object_key(&key, ns, name) == 0)
                return map_get(&i->objects, key.text);
        map_for_each(&i->objects, e)
                if (is_named(e->key, ns, name))
                        return e->value;
        return NULL;
}

const struct object *informer_get(const struct informer *i, const char *ns, const char *name)
{
        ASSERT(!i->options.stowed);
        return (const struct object *)find(i, ns, name);
}

bool informer_has(const struct informer *i, const char *ns, const char *name)
{
        return find(i, ns, name) != NULL;
}

static void unref_value(void *p)
{
        object_unref(p);
}

static int read_held(const struct informer *i, const struct kept *held, enum stowed_part part,
                     struct arena *arena, const struct object **ret)
{
        const struct object *o = held ? kept_object(i, held, part) : NULL;

        if (held && (!o || arena_defer(arena, unref_value, (void *)o) < 0))
                return ERR_NO_MEMORY;
        *ret = o;
        return 0;
}

int informer_read(const struct informer *i, const char *ns, const char *name, struct arena *arena,
                  const struct object **ret)
{
        return read_held(i, find(i, ns, name), STOWED_WITHOUT_DETAIL, arena, ret);
}

int informer_read_whole(const struct informer *i, const char *ns, const char *name, struct arena *arena,
                        const struct object **ret)
{
        return read_held(i, find(i, ns, name), STOWED_WHOLE, arena, ret);
}

int informer_read_key(const struct informer *i, const char *key, struct arena *arena,
                      const struct object **ret)
{
        return read_held(i, map_get(&i->objects, key), STOWED_WITHOUT_DETAIL, arena, ret);
}

int informer_keys(const struct informer *i, struct arena *arena, const char *const **ret, size_t *ret_n)
{
        const char **keys = ARENA_NEW_ARRAY(arena, const char *, map_count(&i->objects) + 1);
        size_t n = 0;

        if (!keys)
                return ERR_NO_MEMORY;
        map_for_each(&i->objects, e) {
                keys[n] = arena_strdup(arena, e->key);
                if (!keys[n++])
                        return ERR_NO_MEMORY;
        }
        *ret = keys;
        *ret_n = n;
        return 0;
}

int informer_for_each(const struct informer *i, int (*fn)(void *ctx, const struct object *o), void *ctx)
{
        map_for_each(&i->objects, e) {
                const struct object *o = kept_object(i, e->value, STOWED_WITHOUT_DETAIL);
                int code = o ? fn(ctx, o) : ERR_NO_MEMORY;

                object_unref(o);
                if (code < 0)
                        return code;
        }
        return 0;
}

static int compare_objects(const void *a, const void *b)
{
        const struct object_meta *x = &(*(const struct object *const *)a)->meta;
        const struct object_meta *y = &(*(const struct object *const *)b)->meta;
        int r = strcmp(x->ns ? x->ns : "", y->ns ? y->ns : "");

        return r ? r : strcmp(x->name, y->name);
}

struct references { /* what an arena lets go of when it dies */
        const struct object **at;
        size_t n;
};

static void drop_references(void *p)
{
        struct references *r = p;

        for (size_t k = 0; k < r->n; k++)
                object_unref(r->at[k]);
}

/* Makes objects of what is held, each with a reference of its own; none if there is no memory for all. */
static int take_objects(const struct informer *i, const struct kept *const *kept, size_t n,
                        enum stowed_part part, const struct object **ret)
{
        for (size_t k = 0; k < n; k++) {
                ret[k] = kept_object(i, kept[k], part);
                if (ret[k])
                        continue;
                drop_references(&(struct references){ ret, k });
                return ERR_NO_MEMORY;
        }
        if (n > 1)
                qsort(ret, n, sizeof(*ret), compare_objects);
        return 0;
}

static int take_list(const struct informer *i, struct arena *arena, const struct kept *const *kept, size_t n,
                     enum stowed_part part, struct object_list *ret)
{
        const struct object **at = ARENA_NEW_ARRAY(arena, const struct object *, n + 1);
        struct references *refs = ARENA_NEW(arena, struct references);

        if (!at || !refs)
                return ERR_NO_MEMORY;
        TRY(take_objects(i, kept, n, part, at));
        /* An array of its own: callers may shorten or reorder theirs. */
        *refs = (struct references){ n ? arena_memdup(arena, at, n * sizeof(*at)) : at, n };
        if (!refs->at) {
                drop_references(&(struct references){ at, n });
                return ERR_NO_MEMORY;
        }
        TRY(arena_defer(arena, drop_references, refs));
        *ret = (struct object_list){ at, n };
        return 0;
}

int informer_list(const struct informer *i, struct arena *arena, struct object_list *ret)
{
        const struct kept **at = ARENA_NEW_ARRAY(arena, const struct kept *, map_count(&i->objects) + 1);
        size_t n = 0;

        if (!at)
                return ERR_NO_MEMORY;
        map_for_each(&i->objects, e)
                at[n++] = e->value;
        return take_list(i, arena, at, n, STOWED_WITHOUT_DETAIL, ret);
}

static int list_by_index(const struct informer *i, const char *index, const char *value, struct arena *arena,
                         enum stowed_part part, struct object_list *ret)
{
        const struct kept *only = NULL;
        const struct kept_vec *v = NULL;
        bool known = false;

        vec_for_each(&i->indexes, ix) {
                if (!text_equal((*ix)->name, index))
                        continue;
                known = true;
                v = map_get(&(*ix)->values, value);
                only = kept_alone(v);
        }
        ASSERT(known);
        if (only)
                return take_list(i, arena, &only, 1, part, ret);
        return take_list(i, arena, v ? v->at : NULL, v ? v->n : 0, part, ret);
}

int informer_by_index(const struct informer *i, const char *index, const char *value, struct arena *arena,
                      struct object_list *ret)
{
        return list_by_index(i, index, value, arena, STOWED_WITHOUT_DETAIL, ret);
}

int informer_by_index_without_status(const struct informer *i, const char *index, const char *value,
                                     struct arena *arena, struct object_list *ret)
{
        return list_by_index(i, index, value, arena, STOWED_WITHOUT_STATUS, ret);
}

/* ---- life ---- */

static int tell_one(void *handler, const struct object *o)
{
        const struct handler *h = handler;
        struct informer_event event = { .type = INFORMER_ADDED, .now = o, .initial = true };

        h->fn(h->ctx, &event);
        return 0;
}

int informer_add_handler(struct informer *i, informer_handler fn, void *ctx)
{
        struct handler h = { fn, ctx };

        if (vec_push(&i->handlers, h) < 0)
                return ERR_NO_MEMORY;
        if (informer_for_each(i, tell_one, &h) == 0)
                return 0;
        i->handlers.n--; /* its last one, as fn does not add any */
        return ERR_NO_MEMORY;
}

static struct informer *informer_free(struct informer *i)
{
        vec_for_each(&i->indexes, ix) {
                map_free(&(*ix)->values);
                mem_free(*ix);
        }
        vec_free(&i->indexes);
        vec_free(&i->handlers);
        map_for_each(&i->objects, e)
                kept_free(i, e->value);
        map_free(&i->objects);
        buf_free(&i->scratch);
        map_free(&i->undecodable);
        parts_free(&i->parts);
        mem_free(i);
        return NULL;
}

static int start_reflector(struct informer *i)
{
        i->group = fiber_group_new(fiber_group_loop(i->parent), i->parent, i->resource.plural);
        if (i->group && fiber_spawn(i->group, i->resource.plural, reflector_run, i))
                return 0;
        i->group = fiber_group_end(i->group);
        return ERR_NO_MEMORY;
}

struct informer *informer_new(struct kube_client *k, struct fiber_group *group,
                              const struct informer_options *o)
{
        struct informer *i = NEW(struct informer);

        if (!i)
                return NULL;
        i->refs = 1;
        i->kube = k;
        i->options = *o;
        i->resource = o->resource ? *o->resource : kube_resource_of(o->kind);
        /* Without a namespace the name is the key, and the object has it; what is stowed has any key. No
         * destructor: the caller of replace() looks at the old object. */
        map_init(&i->objects, i->resource.namespaced && !o->stowed ? MAP_OWN_KEYS : MAP_BORROW_KEYS, NULL);
        buf_init(&i->scratch, LIMIT_STOWING_BYTES);
        ASSERT(!o->stowed || !o->reduce);
        map_init(&i->undecodable, MAP_OWN_KEYS, mem_free);
        parts_init(&i->parts);
        i->parent = group;
        return start_reflector(i) < 0 ? informer_free(i) : i;
}

struct informer *informer_ref(struct informer *i)
{
        i->refs++;
        return i;
}

void informer_unref(struct informer *i)
{
        ASSERT(i->refs > 0);
        if (--i->refs == 0)
                informer_free(i);
}

/* While the old reflector ends, the informer may be stopped, or another refresh may begin the new one. */
static int list_anew(struct informer *i, uint64_t *ret_lists)
{
        int code = 0;

        informer_ref(i);
        fiber_group_end(TAKE_PTR(i->group));
        *ret_lists = i->lists;
        if (i->stopped)
                code = ERR_CLOSED;
        else if (!i->group)
                code = start_reflector(i);
        if (code == ERR_NO_MEMORY) /* nothing watches any more */
                i->synced = false;
        informer_unref(i);
        return code;
}

int informer_refresh(struct informer *i)
{
        uint64_t lists;

        i->synced = false;
        return list_anew(i, &lists);
}

int informer_relist(struct informer *i, uint64_t *ret_lists)
{
        return list_anew(i, ret_lists);
}

int informer_wait_listed(struct informer *i, uint64_t lists, bool hasty, int64_t deadline_ms)
{
        int code = 0;

        informer_ref(i);
        i->hasty += hasty;
        while (code == 0 && !i->stopped && i->lists <= lists)
                code = hasty && i->problem_code
                               ? ERR_TIMEOUT
                               : waitq_wait(fiber_group_loop(i->parent), &i->synced_wait, deadline_ms);
        i->hasty -= hasty;
        if (code == 0 && i->stopped)
                code = ERR_CLOSED;
        if (code == ERR_TIMEOUT)
                i->synced = false;
        informer_unref(i);
        return code;
}

void informer_silence(struct informer *i)
{
        i->stopped = true;
        waitq_wake_all(&i->synced_wait);
}

struct informer *informer_stop(struct informer *i)
{
        if (!i)
                return NULL;
        informer_silence(i);
        fiber_group_end(TAKE_PTR(i->group));
        informer_unref(i);
        return NULL;
}
