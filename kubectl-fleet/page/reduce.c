#include "kubectl-fleet/page/reduce.h"

#include "common/base/memory.h"
#include "common/json/doc.h"
#include "kubectl-fleet/page/row_parts.h"
#include "proto/names.h"

#define CONDITIONS_MAX 16 /* of one cluster that are shared; a status has six */

/* Returns whether all are True: then nothing in it is the object's own. */
static bool reduce_conditions(const struct condition_list *l, struct condition *to)
{
        bool well = true;

        for (uint32_t i = 0; i < l->n; i++) {
                to[i] = l->at[i];
                if (text_equal(to[i].status, CONDITION_TRUE)) {
                        to[i].message = NULL;
                        to[i].last_transition_ms = 0;
                } else {
                        well = false;
                }
        }
        return well && l->n <= CONDITIONS_MAX;
}

struct reducer {
        struct intern_table *interns;
        struct arena *arena;
        const struct condition **shared; /* of each cluster; NULL = its own */
};

/* How many drifted or differ is told, not how. */
static int reduce_details(struct reducer *r, struct per_cluster_status *c)
{
        struct drifted_placement_list *drifted = &c->drifted_placements;
        struct diffed_placement_list *diffed = &c->diffed_placements;

        drifted->at = arena_memdup(r->arena, drifted->at, drifted->n * sizeof(*drifted->at));
        diffed->at = arena_memdup(r->arena, diffed->at, diffed->n * sizeof(*diffed->at));
        if (!drifted->at || !diffed->at)
                return ERR_NO_MEMORY;
        for (uint32_t i = 0; i < drifted->n; i++)
                drifted->at[i].observed_drifts = (struct patch_detail_list){ 0 };
        for (uint32_t i = 0; i < diffed->n; i++)
                diffed->at[i].observed_diffs = (struct patch_detail_list){ 0 };
        return 0;
}

static int reduce_cluster(struct reducer *r, struct per_cluster_status *c, uint32_t i)
{
        struct condition *at = ARENA_NEW_ARRAY(r->arena, struct condition, c->conditions.n + 1);

        if (!at)
                return ERR_NO_MEMORY;
        c->applicable_resource_overrides = (struct namespaced_name_list){ 0 };
        c->applicable_cluster_resource_overrides = (struct string_list){ 0 };
        if (reduce_conditions(&c->conditions, at) && c->conditions.n && r->interns) {
                r->shared[i] = intern_bytes(r->interns, at, c->conditions.n * sizeof(*at));
                if (!r->shared[i])
                        return ERR_NO_MEMORY;
                c->conditions.n = 0; /* until the block is made */
        }
        c->conditions.at = at;
        return c->drifted_placements.n + c->diffed_placements.n ? reduce_details(r, c) : 0;
}

static int reduce_clusters(struct reducer *r, struct placement_status *s)
{
        uint32_t n = s->placement_statuses.n;

        r->shared = ARENA_NEW_ARRAY(r->arena, const struct condition *, n + 1);
        s->placement_statuses.at =
                arena_memdup(r->arena, s->placement_statuses.at, n * sizeof(*s->placement_statuses.at));
        if (!r->shared || !s->placement_statuses.at)
                return ERR_NO_MEMORY;
        for (uint32_t i = 0; i < n; i++)
                TRY(reduce_cluster(r, &s->placement_statuses.at[i], i));
        return 0;
}

/* The block is nobody else's yet. */
static void put_shared(const struct reducer *r, const struct placement *from, struct placement *to)
{
        for (uint32_t i = 0; i < to->status->placement_statuses.n; i++) {
                struct condition_list *l = &to->status->placement_statuses.at[i].conditions;

                if (!r->shared[i])
                        continue;
                l->at = (struct condition *)(uintptr_t)r->shared[i];
                l->n = from->status->placement_statuses.at[i].conditions.n;
        }
}

struct object *page_reduce_placement(struct intern_table *interns, const struct object *o)
{
        const struct placement *from = (const struct placement *)o;
        struct placement less = *from;
        struct placement_status status;
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct reducer r = { .interns = interns, .arena = &arena };
        struct object *block;

        if (!from->status || !from->status->placement_statuses.n)
                return object_ref(o);
        status = *from->status;
        if (reduce_clusters(&r, &status) < 0)
                return NULL;
        less.status = &status;
        block = object_block(&less.object, o, interns);
        if (block)
                put_shared(&r, from, (struct placement *)block);
        return block;
}

/* ---- Works ---- */

struct object *page_reduce_work(struct intern_table *interns, const struct object *o)
{
        const struct work *from = (const struct work *)o;
        struct work less = *from;
        struct work_status status;
        AUTO_ARENA struct arena arena = ARENA_INIT;

        if (!from->status || !from->status->manifest_conditions.n)
                return object_ref(o);
        status = *from->status;
        status.manifest_conditions.at =
                arena_memdup(&arena, status.manifest_conditions.at,
                             status.manifest_conditions.n * sizeof(*status.manifest_conditions.at));
        if (!status.manifest_conditions.at)
                return NULL;
        for (uint32_t i = 0; i < status.manifest_conditions.n; i++)
                status.manifest_conditions.at[i].back_reported_status = NULL;
        less.status = &status;
        less.spec = NULL;
        return object_block(&less.object, o, interns);
}

/* ---- resource snapshots ---- */

static json_t *names_of(const json_t *manifest)
{
        json_t *doc = json_pack("{s:{}}", "metadata");
        static const char *const paths[] = { "apiVersion", "kind", "metadata.name", "metadata.namespace" };

        for (size_t i = 0; doc && i < ARRAY_LEN(paths); i++) {
                const char *value = doc_get_string(manifest, paths[i]);

                if (value && doc_set_string(doc, paths[i], value) < 0) {
                        json_decref(doc);
                        return NULL;
                }
        }
        return doc;
}

static int add_enveloped(const json_t *envelope, json_t *names)
{
        json_t *manifest, *data = json_object();
        const char *key;

        if (!data || json_object_set_new(names, "data", data) < 0)
                return ERR_NO_MEMORY;
        json_object_foreach(json_object_get(envelope, "data"), key, manifest)
                if (json_object_set_new(data, key, names_of(manifest)) < 0)
                        return ERR_NO_MEMORY;
        return 0;
}

static int reduce_manifest(struct arena *arena, struct slice *text)
{
        AUTO_JSON json_t *doc = NULL;
        AUTO_JSON json_t *names = NULL;
        AUTO_BUF struct buf b;
        int code = doc_parse(*text, &doc, NULL);

        buf_init(&b, text->len + 256);
        if (code == ERR_NO_MEMORY || !(names = names_of(doc)))
                return ERR_NO_MEMORY;
        if (page_is_envelope(doc_get_string(doc, "kind")))
                TRY(add_enveloped(doc, names));
        TRY(doc_write(names, &b));
        *text = (struct slice){ arena_strndup(arena, b.data, b.len), b.len };
        return text->data ? 0 : ERR_NO_MEMORY;
}

struct object *page_reduce_snapshot(struct intern_table *interns, const struct object *o)
{
        const struct resource_snapshot *from = (const struct resource_snapshot *)o;
        struct resource_snapshot less = *from;
        struct resource_snapshot_spec spec;
        AUTO_ARENA struct arena arena = ARENA_INIT;

        if (!from->spec || !from->spec->selected_resources.n)
                return object_ref(o);
        spec = *from->spec;
        spec.selected_resources.at =
                arena_memdup(&arena, spec.selected_resources.at,
                             spec.selected_resources.n * sizeof(*spec.selected_resources.at));
        if (!spec.selected_resources.at)
                return NULL;
        for (uint32_t i = 0; i < spec.selected_resources.n; i++)
                if (reduce_manifest(&arena, &spec.selected_resources.at[i]) < 0)
                        return NULL;
        less.spec = &spec;
        return object_block(&less.object, o, interns);
}
