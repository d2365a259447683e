#include "hub-agent/manifest-generation/hub_view.h"

#include <stdio.h>

#include "common/base/memory.h"
#include "common/base/vec.h"
#include "proto/gen/kinds.h"

#define LOOK_MS 200 /* whether the cache cannot be filled */

struct hub_kind {
        struct hub_view *view;
        struct kube_resource resource; /* the mapper's */
        char *ns;                      /* NULL = all */
        struct informer *informer;
        bool used; /* since hub_view_tidy() */
};

struct hub_view {
        struct hub_view_options options;
        VEC(struct hub_kind *) kinds;
        struct map known; /* identity -> struct known_object */
};

/* ---- what is known ---- */

static void known_free(void *known)
{
        struct known_object *k = known;

        if (!k)
                return;
        mem_free(k->uid);
        mem_free(k->version);
        mem_free(k);
}

struct known_object *hub_view_known(struct hub_view *v, const char *identity)
{
        return map_get(&v->known, identity);
}

struct known_object *hub_view_obtain(struct hub_view *v, const char *identity)
{
        struct known_object *k = map_get(&v->known, identity);

        if (k)
                return k;
        k = NEW(struct known_object);
        if (k && map_put(&v->known, identity, k) < 0) {
                known_free(k);
                return NULL;
        }
        if (k)
                k->due_ms = INT64_MAX;
        return k;
}

void hub_view_forget(struct hub_view *v, const char *identity)
{
        (void)map_remove(&v->known, identity);
}

int64_t hub_view_due_ms(const struct hub_view *v)
{
        int64_t first = INT64_MAX;

        map_for_each(&v->known, e)
                first = MIN(first, ((const struct known_object *)e->value)->due_ms);
        return first;
}

void hub_view_rest(struct hub_view *v, int64_t until_ms)
{
        map_for_each(&v->known, e) {
                struct known_object *k = e->value;

                if (k->due_ms <= until_ms)
                        k->due_ms = INT64_MAX;
        }
}

void hub_view_hurry(struct hub_view *v, int64_t at_ms)
{
        map_for_each(&v->known, e) {
                struct known_object *k = e->value;

                if (k->due_ms != INT64_MAX)
                        k->due_ms = MIN(k->due_ms, at_ms);
        }
}

void hub_view_keep(struct hub_view *v, const struct map *wanted)
{
        map_for_each(&v->known, e)
                if (!map_has(wanted, e->key))
                        (void)map_remove(&v->known, e->key);
}

int known_object_note(struct known_object *k, const json_t *live, const char *checksum)
{
        char *uid = mem_strdup(or_empty(doc_get_string(live, "metadata.uid")));
        char *version = mem_strdup(or_empty(doc_get_string(live, "metadata.resourceVersion")));

        mem_free(k->uid);
        mem_free(k->version);
        k->uid = uid;
        k->version = version;
        k->generation = doc_get_int(live, "metadata.generation", 0);
        k->drifted = !uid || !version;
        snprintf(k->checksum, sizeof(k->checksum), "%s", checksum);
        return uid && version ? 0 : ERR_NO_MEMORY;
}

static bool has_all(const struct string_map *live, const json_t *wanted)
{
        const char *key;
        json_t *value;

        json_object_foreach((json_t *)(uintptr_t)wanted, key, value) {
                const char *text = json_string_value(value);

                if (text_equal(key, FLUX_SYNC_MARK) || text_equal(key, FLUX_SYNC_CHECKSUM))
                        continue; /* not the manifest's to say */
                if (!json_is_null(value) && (!text || !text_equal(string_map_get(live, key), text)))
                        return false;
        }
        return true;
}

/* Of what else metadata may have (finalizers, owners) only the version tells. */
static bool has_only_maps(const json_t *metadata)
{
        static const char *const told[] = { "name", "namespace", "labels", "annotations" };
        const char *key;
        json_t *value;

        json_object_foreach((json_t *)(uintptr_t)metadata, key, value)
                if (!json_is_null(value) && !text_in(key, told, ARRAY_LEN(told)))
                        return false;
        return true;
}

static bool has_ours(const struct known_object *k, const struct object_meta *live, const char *mark)
{
        return text_equal(string_map_get(&live->labels, FLUX_SYNC_MARK), mark) &&
               text_equal(string_map_get(&live->annotations, FLUX_SYNC_CHECKSUM), k->checksum);
}

bool known_object_holds(const struct known_object *k, const struct object_meta *live, const json_t *wanted,
                        const char *mark)
{
        const json_t *metadata = doc_get_object(wanted, "metadata");

        if (k->drifted || !text_equal(k->uid, live->uid) || live->deletion_ms != TIME_NONE)
                return false;
        if (text_equal(k->version, live->resource_version))
                return true;
        return k->generation > 0 && k->generation == live->generation && has_only_maps(metadata) &&
               has_ours(k, live, mark) && has_all(&live->labels, json_object_get(metadata, "labels")) &&
               has_all(&live->annotations, json_object_get(metadata, "annotations"));
}

/* ---- caches ---- */

static struct hub_kind *kind_free(struct hub_kind *k)
{
        if (!k)
                return NULL;
        if (k->informer)
                manager_remove_informer(k->view->options.manager, TAKE_PTR(k->informer));
        mem_free(k->ns);
        mem_free(k);
        return NULL;
}

static void changed(void *ctx, const struct informer_event *e)
{
        const struct hub_kind *k = ctx;
        const struct hub_view_options *o = &k->view->options;
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const char *identity = sync_identity(&arena, k->resource.namespaced ? e->now->meta.ns : NULL,
                                             k->resource.kind, e->now->meta.name);
        struct known_object *known = identity ? hub_view_known(k->view, identity) : NULL;

        if (!known || !known->uid)
                return;
        if (e->type == INFORMER_DELETED && text_equal(known->uid, e->now->meta.uid)) {
                known->drifted = true;
                o->changed(o->ctx, identity, known, NULL);
        } else if (e->type != INFORMER_DELETED) {
                o->changed(o->ctx, identity, known, e->now);
        }
}

static struct hub_kind *kind_new(struct hub_view *v, const struct kube_resource *r, const char *ns)
{
        struct hub_kind *k = NEW(struct hub_kind);
        struct informer_options o = { .kind = &partial_object_kind,
                                      .label_selector = FLUX_SYNC_MARK,
                                      .flags = DECODE_FULL,
                                      .interns = v->options.interns };

        if (!k)
                return NULL;
        *k = (struct hub_kind){ .view = v, .resource = *r, .ns = ns ? mem_strdup(ns) : NULL };
        o.resource = &k->resource;
        o.ns = k->ns;
        if ((!ns || k->ns) && manager_add_informer(v->options.manager, &o, &k->informer) == 0 &&
            informer_add_handler(k->informer, changed, k) == 0)
                return k;
        return kind_free(k);
}

int hub_view_kind(struct hub_view *v, const struct kube_resource *r, const char *ns, struct hub_kind **ret)
{
        struct hub_kind *k;

        vec_for_each(&v->kinds, it)
                if (text_equal((*it)->resource.plural, r->plural) &&
                    text_equal((*it)->resource.group, or_empty(r->group)) &&
                    text_equal((*it)->resource.version, r->version) && text_equal((*it)->ns, ns)) {
                        *ret = *it;
                        k = *it;
                        k->used = true;
                        return 0;
                }
        k = kind_new(v, r, ns);
        if (!k)
                return ERR_NO_MEMORY;
        if (vec_push(&v->kinds, k) < 0) {
                kind_free(k);
                return ERR_NO_MEMORY;
        }
        k->used = true;
        *ret = k;
        return 0;
}

void hub_view_tidy(struct hub_view *v)
{
        for (size_t i = 0; i < v->kinds.n;) {
                struct hub_kind *k = v->kinds.at[i];

                if (k->used) {
                        k->used = false;
                        i++;
                } else {
                        vec_remove(&v->kinds, i);
                        kind_free(k);
                }
        }
}

int hub_kind_await(struct hub_kind *k, struct loop *l, int64_t deadline_ms)
{
        int code;

        do
                code = informer_wait_synced(k->informer, MIN(loop_now_ms(l) + LOOK_MS, deadline_ms));
        while (code == ERR_TIMEOUT && loop_now_ms(l) < deadline_ms &&
               text_empty(informer_problem(k->informer)));
        return code;
}

bool hub_kind_filled(const struct hub_kind *k)
{
        return informer_synced(k->informer);
}

const struct object *hub_kind_get(const struct hub_kind *k, const char *ns, const char *name)
{
        return informer_synced(k->informer) ? informer_get(k->informer, ns, name) : NULL;
}

/* ---- all of it ---- */

struct hub_view *hub_view_new(const struct hub_view_options *o)
{
        struct hub_view *v = NEW(struct hub_view);

        if (!v)
                return NULL;
        v->options = *o;
        map_init(&v->known, MAP_OWN_KEYS, known_free);
        return v;
}

struct hub_view *hub_view_free(struct hub_view *v)
{
        if (!v)
                return NULL;
        while (v->kinds.n > 0)
                kind_free(v->kinds.at[--v->kinds.n]);
        vec_free(&v->kinds);
        map_free(&v->known);
        mem_free(v);
        return NULL;
}
