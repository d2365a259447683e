/* Rows of overrides with their rules in words, and of clusters with the rules that touched them. */
#include "common/kube/selector.h"
#include "kubectl-fleet/page/overrides.h"
#include "kubectl-fleet/page/placement_head.h"

/* ---- overrides ---- */

static json_t *operation_row(const struct overrides *o, const struct touch *t,
                             const struct json_patch_override *p)
{
        bool hidden = p->value.data && override_value_hidden(t, p->path);
        struct page_writer w;

        page_begin(&w, o->look->arena);
        page_set_string(&w, "op", p->op);
        page_set_text(&w, "path", p->path, PAGE_VALUE_BYTES);
        page_set_flag(&w, "hidden", hidden);
        if (p->value.data && !hidden) {
                const char *value = arena_strndup(o->look->arena, p->value.data, p->value.len);

                page_set_text(&w, "value", value, PAGE_VALUE_BYTES);
                w.failed = w.failed || !value;
        }
        return page_end(&w);
}

static void append_term(struct buf *b, const struct label_selector *s, size_t *n)
{
        size_t before;

        if (!s)
                return; /* the agent passes it over, too */
        buf_append_str(b, *n ? " or " : "clusters with ");
        before = b->len;
        label_selector_print(s, b);
        if (b->len == before)
                buf_append_str(b, "any labels");
        ++*n;
}

/* "all clusters", "no cluster", "clusters with region=eu or tier in (a,b)". NULL on no memory. */
static const char *where_words(struct arena *arena, const struct override_rule *r)
{
        const struct cluster_selector *s = r->cluster_selector;
        AUTO_BUF struct buf b;
        size_t n = 0;

        buf_init(&b, 1u << 20);
        if (!s || s->terms.n == 0)
                return s ? "all clusters" : "no cluster";
        for (uint32_t i = 0; i < s->terms.n; i++)
                append_term(&b, s->terms.at[i].label_selector, &n);
        if (b.failed)
                return NULL;
        return n ? arena_strndup(arena, b.data, b.len) : "no cluster";
}

static json_t *rule_row(const struct overrides *o, const struct touch *t, uint32_t i)
{
        const struct override_rule *r = &t->rules.at[i];
        const char *where = where_words(o->look->arena, r);
        json_t *operations = json_array();
        bool deletes = text_equal(r->override_type, "Delete");
        struct page_writer w;

        page_begin(&w, o->look->arena);
        for (uint32_t k = 0; !deletes && k < r->json_patch_overrides.n; k++)
                page_append(&w, operations, operation_row(o, t, &r->json_patch_overrides.at[k]));
        page_set(&w, "operations", operations);
        page_set_flag(&w, "deletes", deletes);
        page_set_text(&w, "where", where, PAGE_MESSAGE_BYTES);
        page_set_number(&w, "clusters", (int64_t)t->by_rule[i]);
        page_set_flag(&w, "broken", t->broken[i]);
        w.failed = w.failed || !where;
        return page_end(&w);
}

static json_t *target_row(const char *group, const char *version, const char *kind, const char *ns,
                          const char *name)
{
        return json_pack("{s:s, s:s, s:s, s:s, s:s}", "group", or_empty(group), "version", or_empty(version),
                         "kind", or_empty(kind), "namespace", or_empty(ns), "name", or_empty(name));
}

static json_t *targets_of(const struct overrides *o, const struct touch *t)
{
        struct page_writer w = { .arena = o->look->arena, .doc = json_array() };

        for (uint32_t i = 0; i < t->spec->cluster_resource_selectors.n; i++) {
                const struct resource_selector *r = &t->spec->cluster_resource_selectors.at[i];

                page_append(&w, w.doc, target_row(r->group, r->version, r->kind, "", r->name));
        }
        for (uint32_t i = 0; i < t->spec->resource_selectors.n; i++) {
                const struct override_target *r = &t->spec->resource_selectors.at[i];

                page_append(&w, w.doc,
                            target_row(r->group, r->version, r->kind, t->snapshot->object.meta.ns, r->name));
        }
        return page_end(&w);
}

static json_t *override_row(const struct overrides *o, const struct touch *t)
{
        const struct object_meta *m = &t->snapshot->object.meta;
        json_t *rules = json_array();
        struct page_writer w;

        page_begin(&w, o->look->arena);
        for (uint32_t i = 0; i < t->rules.n; i++)
                page_append(&w, rules, rule_row(o, t, i));
        page_set(&w, "rules", rules);
        page_set(&w, "override", page_override_of(o->look->arena, m->ns, m->name));
        page_set(&w, "targets", targets_of(o, t));
        page_set(&w, "since", page_time(m->creation_ms));
        page_set_flag(&w, "latest", t->latest);
        page_set_number(&w, "clusters", (int64_t)t->n_named);
        if (!t->n_named)
                page_set_number(&w, "would", (int64_t)t->n_would);
        return page_end(&w);
}

/* ---- clusters ---- */

static uint64_t stamp_of(const struct override_place *p)
{
        uint64_t stamp = page_stamp(PAGE_STAMP, &p->binding->object);

        for (uint32_t i = 0; p->cluster && i < p->cluster->object.meta.labels.n; i++) {
                const struct string_pair *label = &p->cluster->object.meta.labels.at[i];

                stamp = page_stamp_text(page_stamp_text(stamp, label->key), label->value);
        }
        stamp = page_stamp_text(stamp, p->cluster ? "there" : "gone");
        for (size_t i = 0; i < p->named.n; i++) {
                const struct touch *t = p->named.at[i].touch;

                stamp = page_stamp(stamp, t ? &t->snapshot->object : NULL);
                stamp = page_stamp_text(stamp, t && t->near_secrets ? "near" : "");
        }
        return stamp;
}

static json_t *named_row(const struct overrides *o, const struct override_place *p,
                         const struct named_override *n)
{
        json_t *rules = json_array();
        struct page_writer w;

        page_begin(&w, o->look->arena);
        for (uint32_t i = 0; n->touch && p->cluster && i < n->touch->rules.n; i++)
                if (override_rule_matches(&n->touch->rules.at[i], p->cluster, NULL) != 0)
                        page_append(&w, rules, json_integer(i));
        page_set(&w, "rules", rules);
        page_set_string(&w, "key", n->key);
        if (!n->touch)
                page_set(&w, "gone", page_override_of(o->look->arena, n->ns, n->snapshot));
        return page_end(&w);
}

/* The agent quotes what it could not apply; page_message() hides what names a Secret. */
static bool may_quote_secret(const struct override_place *p, const struct condition *told)
{
        if (!told || text_equal(told->status, CONDITION_TRUE))
                return false;
        for (size_t i = 0; i < p->named.n; i++)
                if (p->named.at[i].touch && p->named.at[i].touch->for_secrets)
                        return true;
        return false;
}

static int draw_cluster(const struct overrides *o, const struct override_place *p, struct page_doc *d)
{
        const struct binding *b = p->binding;
        const struct condition *told =
                b->status ? condition_find(&b->status->conditions, CONDITION_OVERRIDDEN) : NULL;
        uint64_t stamp = stamp_of(p);
        json_t *overrides;
        struct page_writer w;

        if (page_row_stays(d, "clusters", p->name, stamp))
                return 0;
        overrides = json_array();
        page_begin(&w, o->look->arena);
        for (size_t i = 0; i < p->named.n; i++)
                page_append(&w, overrides, named_row(o, p, &p->named.at[i]));
        page_set(&w, "overrides", overrides);
        page_set(&w, "told",
                 page_condition_of(o->look->arena, told, b->object.meta.generation,
                                   may_quote_secret(p, told)));
        page_set_flag(&w, "removing", is_deleting(&b->object));
        page_set_flag(&w, "gone", !p->cluster);
        return page_row_stamped(d, "clusters", p->name, stamp, page_end(&w));
}

int overrides_draw(const struct overrides *o, struct page_doc *d)
{
        for (size_t i = 0; i < o->n; i++)
                if (o->at[i].n_named || o->at[i].meant)
                        TRY(page_row(d, "overrides", o->at[i].key, override_row(o, &o->at[i])));
        for (size_t i = 0; i < o->n_places; i++)
                TRY(draw_cluster(o, &o->places[i], d));
        return 0;
}
