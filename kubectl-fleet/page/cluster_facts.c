#include "kubectl-fleet/page/cluster_facts.h"

#include "hub-agent/common.h"

/* `cordon` of the plugin, and of the published one. */
#define CORDON_KEY "cordon-key"

json_t *page_progress(const struct progress *p)
{
        return json_pack("{s:I, s:I, s:I, s:I}", "done", (json_int_t)p->good, "busy", (json_int_t)p->busy,
                         "failed", (json_int_t)p->bad, "total", (json_int_t)p->total);
}

const char *page_object_key(struct arena *arena, const struct object *o, const char *cluster,
                            const char *namespaced)
{
        return o->meta.ns ? arena_printf(arena, "%s/%s/%s", namespaced, o->meta.ns, o->meta.name)
                          : arena_printf(arena, "%s/%s", cluster, o->meta.name);
}

/* ---- how it is ---- */

static const struct condition *cluster_condition(const struct member_cluster *c, const char *type)
{
        return c->status ? condition_find(&c->status->conditions, type) : NULL;
}

static const struct condition *agent_condition(const struct member_cluster *c, const char *type)
{
        const struct agent_status *a =
                c->status ? member_agent_status(&c->status->agent_status, AGENT_MEMBER) : NULL;

        return a ? condition_find(&a->conditions, type) : NULL;
}

static const char *message_of(const struct condition *c)
{
        return c ? or_empty(c->message) : "";
}

static void judge(struct page_cluster *c)
{
        c->message = "";
        if (c->removing)
                c->standing = STANDING_BUSY, c->word = "leaving";
        else if (!c->joined)
                c->standing = STANDING_WAITS, c->word = "not joined",
                c->message = message_of(cluster_condition(c->cluster, CONDITION_JOINED));
        else if (!c->healthy)
                c->standing = STANDING_FAILED, c->word = "not healthy",
                c->message = message_of(agent_condition(c->cluster, CONDITION_HEALTHY));
        else
                c->standing = STANDING_DONE, c->word = "healthy";
}

int page_cluster_look(struct arena *arena, const struct member_cluster *c, struct page_cluster *ret)
{
        const struct object_list none = { 0 };
        struct where_view v;

        TRY(where_look(arena, c, &none, &v));
        *ret = (struct page_cluster){ .cluster = c,
                                      .joined = v.joined,
                                      .healthy = v.healthy,
                                      .removing = is_deleting(&c->object),
                                      .heard_ms = v.heartbeat_ms };
        for (uint32_t i = 0; c->spec && i < c->spec->taints.n; i++)
                ret->cordoned = ret->cordoned || text_equal(c->spec->taints.at[i].key, CORDON_KEY);
        judge(ret);
        return 0;
}

/* ---- what it has ---- */

static json_t *labels_of(const struct object *o)
{
        json_t *all = json_object();

        for (uint32_t i = 0; all && i < o->meta.labels.n; i++)
                if (json_object_set_new(all, o->meta.labels.at[i].key,
                                        json_string(or_empty(o->meta.labels.at[i].value))) < 0) {
                        json_decref(all);
                        return NULL;
                }
        return all;
}

static json_t *taints_of(const struct member_cluster_spec *s)
{
        json_t *all = json_array();

        for (uint32_t i = 0; all && i < s->taints.n; i++) {
                const struct taint *t = &s->taints.at[i];

                if (json_array_append_new(all, json_pack("{s:s, s:s, s:s}", "key", or_empty(t->key), "value",
                                                         or_empty(t->value), "effect", or_empty(t->effect))) <
                    0) {
                        json_decref(all);
                        return NULL;
                }
        }
        return all;
}

static const char *property(const struct member_cluster *c, const char *name)
{
        const struct property_value *p = c->status ? member_property(c->status, name) : NULL;

        return p && !text_empty(p->value) ? p->value : NULL;
}

static void put_amounts(struct page_writer *w, const struct resource_usage *u, const char *name)
{
        const char *capacity = string_map_get(&u->capacity, name);
        const char *allocatable = string_map_get(&u->allocatable, name);
        const char *available = string_map_get(&u->available, name);

        if (capacity || allocatable || available)
                page_set(w, name,
                         json_pack("{s:s?, s:s?, s:s?}", "capacity", capacity, "allocatable", allocatable,
                                   "available", available));
}

static void put_properties(struct page_writer *w, const struct member_cluster *c)
{
        const char *nodes = property(c, PROPERTY_NODE_COUNT);
        const char *version = property(c, PROPERTY_KUBERNETES_VERSION);
        const char *cpu = property(c, PROPERTY_PER_CPU_CORE_COST);
        const char *memory = property(c, PROPERTY_PER_GB_MEMORY_COST);
        int64_t n;

        if (nodes && text_parse_i64(nodes, &n))
                page_set_number(w, "nodes", n);
        if (version)
                page_set_text(w, "version", version, PAGE_VALUE_BYTES);
        if (cpu || memory)
                page_set(w, "cost", json_pack("{s:s?, s:s?}", "cpu", cpu, "memory", memory));
}

void page_put_cluster(struct page_writer *w, const struct page_cluster *c)
{
        const struct member_cluster *m = c->cluster;

        page_set_string(w, "standing", page_standing(c->standing));
        page_set_string(w, "word", c->word);
        if (*c->message)
                page_set_text(w, "message", c->message, PAGE_MESSAGE_BYTES);
        if (c->heard_ms != TIME_NONE && c->heard_ms != 0)
                page_set_number(w, "heard", c->heard_ms);
        page_set_flag(w, "removing", c->removing);
        page_set_flag(w, "cordoned", c->cordoned);
        page_set(w, "labels", labels_of(&m->object));
        if (m->spec && m->spec->taints.n)
                page_set(w, "taints", taints_of(m->spec));
        put_properties(w, m);
        if (m->status && m->status->resource_usage) {
                put_amounts(w, m->status->resource_usage, "cpu");
                put_amounts(w, m->status->resource_usage, "memory");
        }
}
