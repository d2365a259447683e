/* One member cluster: what it is, and what each placement put there, from the Works in its namespace. */
#include "hub-agent/common.h"
#include "kubectl-fleet/page/cluster_facts.h"

static int need(const struct page_look *l, struct page_needs *ret, struct error *err)
{
        const char *name, *ns;

        TRY(page_arg(l, "name", &name, err));
        ns = arena_printf(l->arena, "%s%s", NAMESPACE_MEMBER_PREFIX, name);
        if (!ns)
                return error_no_memory(err);
        TRY(page_needs_add(ret, (struct fetch){ .kind = &member_cluster_kind, .name = name }, err));
        return page_needs_add(ret, (struct fetch){ .kind = &work_kind, .ns = ns, .whole = true }, err);
}

/* ---- what is placed there ---- */

/* As the standing of a cluster for a placement: the worst of its objects. */
static enum standing standing_of(const struct progress *p)
{
        return p->bad                ? STANDING_FAILED
               : p->busy             ? STANDING_BUSY
               : p->good == p->total ? STANDING_DONE
                                     : STANDING_WAITS;
}

static json_t *object_row(struct arena *arena, const struct placed_object *o)
{
        bool secret = page_is_secret(o->kind);
        struct page_writer w;

        page_begin(&w, arena);
        page_set_string(&w, "group", o->group);
        page_set_string(&w, "version", o->version);
        page_set_string(&w, "kind", o->kind);
        page_set_string(&w, "namespace", o->ns);
        page_set_string(&w, "name", o->name);
        page_set_string(&w, "standing", page_standing(o->standing));
        page_set_string(&w, "word", o->word);
        if (!text_empty(o->message))
                page_set_text(&w, "message", secret ? PAGE_HIDDEN_MESSAGE : o->message, PAGE_MESSAGE_BYTES);
        return page_end(&w);
}

static json_t *share_row(struct arena *arena, const struct share *s)
{
        static const char *const words[] = { [STANDING_WAITS] = "not applied yet",
                                             [STANDING_BUSY] = "in progress",
                                             [STANDING_DONE] = "available",
                                             [STANDING_FAILED] = "failed" };
        enum standing standing = standing_of(&s->progress);
        size_t shown = MIN(s->n_objects, PAGE_SHARE_OBJECTS_MAX);
        struct page_writer w;
        json_t *objects = json_array();

        page_begin(&w, arena);
        page_set_string(&w, "standing", page_standing(standing));
        page_set_string(&w, "word", words[standing]);
        page_set_string(&w, "revision", s->revision);
        page_set(&w, "progress", page_progress(&s->progress));
        for (size_t i = 0; i < shown; i++)
                page_append(&w, objects, object_row(arena, &s->objects[i]));
        page_set(&w, "objects", objects);
        if (shown < s->n_objects)
                page_set_number(&w, "objectsTotal", (int64_t)s->n_objects);
        return page_end(&w);
}

static int draw_shares(const struct page_look *l, const struct where_view *v, struct page_doc *d)
{
        for (size_t i = 0; i < v->n_shares; i++) {
                const struct share *s = &v->shares[i];
                const char *key = s->ns ? arena_printf(l->arena, "rp/%s/%s", s->ns, s->placement)
                                        : arena_printf(l->arena, "crp/%s", s->placement);

                if (!key)
                        return ERR_NO_MEMORY;
                TRY(page_row(d, "shares", key, share_row(l->arena, s)));
        }
        return 0;
}

/* ---- the cluster ---- */

static json_t *properties_of(struct arena *arena, const struct member_cluster *c)
{
        struct page_writer w;

        page_begin(&w, arena);
        for (uint32_t i = 0; c->status && i < c->status->properties.n; i++) {
                const struct property_value_entry *p = &c->status->properties.at[i];

                /* Long, and for nobody to read. */
                if (!text_equal(p->key, PROPERTY_CERTIFICATE_AUTHORITY))
                        page_set_text(&w, p->key, p->value.value, PAGE_VALUE_BYTES);
        }
        return page_end(&w);
}

static json_t *head_of(struct arena *arena, const struct page_cluster *c)
{
        const struct condition *joined =
                c->joined ? condition_find(&c->cluster->status->conditions, CONDITION_JOINED) : NULL;
        struct page_writer w;

        page_begin(&w, arena);
        page_set_string(&w, "name", c->cluster->object.meta.name);
        page_put_cluster(&w, c);
        page_set(&w, "created", page_time(c->cluster->object.meta.creation_ms));
        if (joined)
                page_set(&w, "joined", page_time(joined->last_transition_ms));
        page_set(&w, "properties", properties_of(arena, c->cluster));
        return page_end(&w);
}

static int look(const struct page_look *l, struct page_doc *d, struct error *err)
{
        const struct page_need *cluster = page_need_of(l, &member_cluster_kind, 0);
        const struct page_need *works = page_need_of(l, &work_kind, 0);
        const struct member_cluster *c = (const struct member_cluster *)fetched(&cluster->fetch);
        struct where_view v;
        struct page_cluster facts;

        if (!c)
                return error_set(err, ERR_NOT_FOUND, "there is no member cluster \"%s\"",
                                 cluster->fetch.name);
        if (where_look(l->arena, c, &works->fetch.result, &v) < 0 ||
            page_cluster_look(l->arena, c, &facts) < 0 || draw_shares(l, &v, d) < 0 ||
            page_head(d, head_of(l->arena, &facts)) < 0)
                return error_no_memory(err);
        return 0;
}

const struct page_view cluster_page_view = { .name = "cluster", .need = need, .look = look };
