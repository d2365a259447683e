#include "e2e/simulation/mirror.h"

struct mirror_object {
        struct blob *blob;
        json_t *doc; /* parsed when it is asked for; NULL = not yet */
};

struct mirror_table {
        char *resource;
        VEC(struct mirror_object) items; /* by namespace, then name */
};

struct mirror_cluster {
        char *name;
        struct map tables; /* resource -> struct mirror_table */
};

struct written {
        struct mirror_cluster *cluster;
        struct mirror_table *table;
        struct blob *object; /* DELETED: the last state */
        struct author by;
        enum event_type type;
};

struct mirror {
        struct mirror_options options;
        struct map clusters; /* name -> struct mirror_cluster */
        VEC(struct written) written;
        bool silent;
};

/* ---- tables ---- */

static void object_clear(struct mirror_object *o)
{
        blob_unref(o->blob);
        json_decref(o->doc);
        *o = (struct mirror_object){ 0 };
}

static void table_free(void *value)
{
        struct mirror_table *t = value;

        vec_for_each(&t->items, o)
                object_clear(o);
        vec_free(&t->items);
        mem_free(t->resource);
        mem_free(t);
}

static void cluster_free(void *value)
{
        struct mirror_cluster *c = value;

        map_free(&c->tables);
        mem_free(c->name);
        mem_free(c);
}

static struct mirror_cluster *need_cluster(struct mirror *m, const char *name)
{
        struct mirror_cluster *c = map_get(&m->clusters, name);

        if (c || !(c = NEW(struct mirror_cluster)))
                return c;
        map_init(&c->tables, MAP_OWN_KEYS, table_free);
        c->name = mem_strdup(name);
        if (c->name && map_put(&m->clusters, name, c) == 0)
                return c;
        cluster_free(c);
        return NULL;
}

static struct mirror_table *need_table(struct mirror_cluster *c, const char *resource)
{
        struct mirror_table *t = map_get(&c->tables, resource);

        if (t || !(t = NEW(struct mirror_table)))
                return t;
        t->resource = mem_strdup(resource);
        if (t->resource && map_put(&c->tables, resource, t) == 0)
                return t;
        table_free(t);
        return NULL;
}

static struct mirror_table *find_table(const struct mirror *m, const char *cluster, const char *resource)
{
        const struct mirror_cluster *c = map_get(&m->clusters, cluster);

        return c ? map_get(&c->tables, resource) : NULL;
}

static int compare_key(const struct blob *b, const char *ns, const char *name)
{
        int r = strcmp(blob_ns(b), ns);

        return r ? r : strcmp(blob_name(b), name);
}

static size_t lower_bound(const struct mirror_table *t, const char *ns, const char *name)
{
        size_t low = 0, high = t->items.n;

        while (low < high) {
                size_t middle = low + (high - low) / 2;

                if (compare_key(t->items.at[middle].blob, ns, name) < 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

static struct mirror_object *find(const struct mirror_table *t, const char *ns, const char *name,
                                  size_t *ret_at)
{
        size_t at = lower_bound(t, ns, name);

        *ret_at = at;
        return at < t->items.n && compare_key(t->items.at[at].blob, ns, name) == 0 ? &t->items.at[at] : NULL;
}

static json_t *parsed(struct mirror_object *o)
{
        struct error err;

        if (!o->doc) /* the server's own, if it has it still: nobody changes that */
                o->doc = json_incref((json_t *)blob_kept_doc(o->blob));
        if (!o->doc && blob_parse(o->blob, &o->doc, &err) < 0)
                o->doc = NULL;
        return o->doc;
}

/* ---- changes ---- */

void mirror_write(struct mirror *m, const struct table *t, enum event_type type, struct blob *object,
                  const struct author *by)
{
        struct mirror_cluster *c = need_cluster(m, t->cluster->name);
        struct mirror_table *mine = c ? need_table(c, t->key) : NULL;
        struct written w = { c, mine, object, *by, type };

        /* A test that has no memory ends. */
        ASSERT(mine && vec_push(&m->written, w) == 0);
        blob_ref(object);
}

/* Takes the write over into its table; *ret_before is what was there. */
static struct mirror_object *take_over(const struct written *w, struct mirror_object *ret_before)
{
        size_t at;
        struct mirror_object *there = find(w->table, blob_ns(w->object), blob_name(w->object), &at);

        *ret_before = there ? *there : (struct mirror_object){ 0 };
        if (w->type == EVENT_DELETED) {
                if (there)
                        vec_remove(&w->table->items, at);
                return NULL;
        }
        if (!there) {
                ASSERT(vec_reserve(&w->table->items, w->table->items.n + 1) == 0);
                memmove(&w->table->items.at[at + 1], &w->table->items.at[at],
                        (w->table->items.n++ - at) * sizeof(struct mirror_object));
        }
        w->table->items.at[at] = (struct mirror_object){ .blob = blob_ref(w->object) };
        return &w->table->items.at[at];
}

static void tell(struct mirror *m, const struct written *w, struct mirror_object *before,
                 struct mirror_object *after)
{
        static const enum change_type types[] = { [EVENT_ADDED] = CHANGE_ADDED,
                                                  [EVENT_MODIFIED] = CHANGE_MODIFIED,
                                                  [EVENT_DELETED] = CHANGE_DELETED };
        bool looks = !m->options.looks_into || m->options.looks_into(w->table->resource);
        struct change c = { .at_ms = loop_now_ms(m->options.loop),
                            .cluster = w->cluster->name,
                            .resource = w->table->resource,
                            .ns = blob_ns(w->object),
                            .name = blob_name(w->object),
                            .type = types[w->type],
                            .before = looks && before->blob ? parsed(before) : NULL,
                            .after = looks && after ? parsed(after) : NULL,
                            .who = w->by.who,
                            .asked_ms = w->by.asked_ms,
                            .unheard = w->by.unheard };

        m->options.changed(m->options.ctx, &c);
}

static void commit(struct mirror *m, const struct written *w)
{
        struct mirror_object before, *after = take_over(w, &before);

        if (!m->silent && m->options.changed)
                tell(m, w, &before, after);
        object_clear(&before);
}

void mirror_commit(struct mirror *m, bool durable)
{
        vec_for_each(&m->written, w) {
                if (durable)
                        commit(m, w);
                blob_unref(w->object);
        }
        m->written.n = 0;
}

/* ---- comparing ---- */

static int compare_table(const struct mirror_table *mine, const struct table *t, struct error *err)
{
        static const struct mirror_table none;

        for (size_t i = 0, k = 0; (mine = mine ? mine : &none, i < t->items.n || k < mine->items.n);
             i++, k++) {
                const struct blob *is = i < t->items.n ? t->items.at[i] : NULL,
                                  *was = k < mine->items.n ? mine->items.at[k].blob : NULL;
                const struct blob *any = is ? is : was;

                if (!is || !was || compare_key(is, blob_ns(was), blob_name(was)) != 0 || is->rv != was->rv ||
                    is->len != was->len || memcmp(is->data, was->data, is->len) != 0)
                        return error_set(err, ERR_INTERNAL,
                                         "%s: %s %s/%s is not in the store as it was acknowledged",
                                         t->cluster->name, t->key, blob_ns(any), blob_name(any));
        }
        return 0;
}

int mirror_compare(const struct mirror *m, struct cluster *c, struct error *err)
{
        const struct mirror_cluster *mine = map_get(&m->clusters, c->name);

        map_for_each(&c->tables, e)
                TRY(compare_table(mine ? map_get(&mine->tables, e->key) : NULL, e->value, err));
        if (mine)
                map_for_each(&mine->tables, e) {
                        const struct mirror_table *t = e->value;

                        if (t->items.n > 0 && !map_has(&c->tables, e->key))
                                return error_set(err, ERR_INTERNAL, "%s: all %s are lost", c->name, e->key);
                }
        return 0;
}

/* ---- reading ---- */

const json_t *mirror_get(struct mirror *m, const char *cluster, const char *resource, const char *ns,
                         const char *name)
{
        const struct mirror_table *t = find_table(m, cluster, resource);
        size_t at;
        struct mirror_object *o = t ? find(t, ns ? ns : "", name, &at) : NULL;

        return o ? parsed(o) : NULL;
}

void mirror_each(struct mirror *m, const char *cluster, const char *resource, const char *ns,
                 bool (*fn)(void *ctx, const json_t *doc), void *ctx)
{
        const struct mirror_table *t = find_table(m, cluster, resource);

        for (size_t i = t && ns ? lower_bound(t, ns, "") : 0; t && i < t->items.n; i++) {
                const json_t *doc;

                if (ns && !text_equal(blob_ns(t->items.at[i].blob), ns))
                        break;
                doc = parsed(&t->items.at[i]);
                if (doc && !fn(ctx, doc))
                        break;
        }
}

/* ---- life ---- */

struct mirror *mirror_new(const struct mirror_options *o)
{
        struct mirror *m = NEW(struct mirror);

        if (!m)
                return NULL;
        m->options = *o;
        m->silent = true;
        map_init(&m->clusters, MAP_OWN_KEYS, cluster_free);
        return m;
}

struct mirror *mirror_free(struct mirror *m)
{
        if (!m)
                return NULL;
        mirror_commit(m, false);
        vec_free(&m->written);
        map_free(&m->clusters);
        mem_free(m);
        return NULL;
}

void mirror_set_silent(struct mirror *m, bool silent)
{
        m->silent = silent;
}
