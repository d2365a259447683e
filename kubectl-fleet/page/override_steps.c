/* What becomes of each object of a placement on one cluster, rule by rule: each is applied alone to what
 * those before it made, by the agent's own code; then all of them at once, as the agent does. */
#include <stdio.h>

#include "common/base/limits.h"
#include "common/json/doc.h"
#include "hub-agent/staged-update/update_plan.h"
#include "kubectl-fleet/page/overrides.h"

#define FIELDS_MAX 200 /* of one object, in all its steps: a row has its limit, too */
#define STEPS_MAX 300

struct rendering {
        const struct overrides *o;
        struct page_doc *d;
        uint64_t stamp;
        struct map *kept;          /* keys of rows that stay as they were drawn from the same */
        struct override_set named; /* the snapshots that are there, in the order of the binding */
        size_t n_rules;            /* of those, that concern the cluster */
        size_t bytes, passes;      /* so far */
        size_t objects, touched, left_out, unread;
};

/* One object on its way. */
struct passing {
        struct rendering *r;
        struct arena *arena;
        json_t *steps; /* a list, owned */
        struct slice text;
        const char *kind;
        bool in_namespace;
        bool ended;                  /* dropped, or a rule failed */
        bool failed;                 /* a rule did */
        bool hide_all, hide_data;    /* what may be a Secret's was brought into it */
        size_t fields, n_steps_left; /* shown so far; steps that are not */
};

static bool is_cluster_scoped(void *ctx, const char *group, const char *version, const char *kind)
{
        return !((struct passing *)ctx)->in_namespace;
}

/* ---- one rule ---- */

/* The same snapshot with all rules but one concerning no cluster, so that what that one does is seen by
 * itself and told of by its number. */
static struct override_snapshot *with_rule(struct arena *arena, const struct touch *t, uint32_t rule)
{
        struct override_snapshot *copy = arena_memdup(arena, t->snapshot, sizeof(*copy));
        struct override_snapshot_spec *spec = arena_memdup(arena, t->snapshot->spec, sizeof(*spec));
        struct override_spec *inner = arena_memdup(arena, t->spec, sizeof(*inner));
        struct override_policy *policy = arena_memdup(arena, t->spec->policy, sizeof(*policy));
        struct override_rule *rules = ARENA_NEW_ARRAY(arena, struct override_rule, t->rules.n);

        if (!copy || !spec || !inner || !policy || !rules)
                return NULL;
        rules[rule] = t->rules.at[rule];
        policy->rules.at = rules;
        inner->policy = policy;
        spec->override_spec = inner;
        copy->spec = spec;
        return copy;
}

static bool hides_field(const struct passing *p, const struct touch *t, const char *path)
{
        return page_is_secret(p->kind) || p->hide_all ||
               ((p->hide_data || t->near_secrets) &&
                (text_equal(path, "/") || text_starts_with(path, "/data") ||
                 text_starts_with(path, "/stringData")));
}

static json_t *field_row(struct passing *p, const struct touch *t, const struct planned_field *f)
{
        bool hidden = hides_field(p, t, f->path);
        struct page_writer w;

        page_begin(&w, p->arena);
        page_set_text(&w, "path", f->path, PAGE_VALUE_BYTES);
        page_set_flag(&w, "hidden", hidden);
        if (!hidden && f->from)
                page_set_json(&w, "from", f->from);
        if (!hidden && f->to)
                page_set_json(&w, "to", f->to);
        return page_end(&w);
}

/* The fields that a step changed, both sides. */
static void set_fields(struct passing *p, const struct touch *t, struct slice before, struct page_writer *w)
{
        AUTO_JSON json_t *from = NULL, *to = NULL;
        struct planned_object o = { .kind = p->kind };
        json_t *list = json_array();
        size_t n, left;

        if (doc_parse(before, &from, NULL) < 0 || doc_parse(p->text, &to, NULL) < 0 ||
            plan_fields(p->arena, from, to, &o, NULL) < 0)
                w->failed = true;
        n = w->failed ? 0 : MIN((size_t)o.fields.n, FIELDS_MAX - p->fields);
        left = o.fields.n - n + (o.omitted_fields.set ? (size_t)o.omitted_fields.value : 0);
        for (size_t i = 0; i < n; i++)
                page_append(w, list, field_row(p, t, &o.fields.at[i]));
        p->fields += n;
        page_set(w, "fields", list);
        if (left)
                page_set_number(w, "fieldsLeft", (int64_t)left);
}

static void mark_hidden(struct passing *p, const struct touch *t)
{
        p->hide_all = p->hide_all || t->for_secrets;
        p->hide_data = p->hide_data || t->near_secrets;
}

/* What the agent says of a failure may quote a value. */
static const char *failure_words(const struct passing *p, const char *text)
{
        return page_is_secret(p->kind) || p->hide_all || p->hide_data ? PAGE_HIDDEN_MESSAGE : text;
}

static int add_step(struct passing *p, const struct touch *t, uint32_t rule, int code, struct slice before,
                    const char *why)
{
        struct page_writer w, list = { .arena = p->arena, .doc = p->steps };

        mark_hidden(p, t);
        p->failed = code < 0;
        p->ended = code < 0 || code == 2;
        if (json_array_size(p->steps) >= STEPS_MAX && !p->ended) {
                p->n_steps_left++;
                return 0;
        }
        page_begin(&w, p->arena);
        page_set_string(&w, "key", t->key);
        page_set_number(&w, "rule", rule);
        page_set_flag(&w, "dropped", code == 2);
        if (code < 0)
                page_set_text(&w, "error", failure_words(p, why), PAGE_MESSAGE_BYTES);
        if (code == 1)
                set_fields(p, t, before, &w);
        page_append(&list, p->steps, page_end(&w));
        return list.failed ? ERR_NO_MEMORY : 0;
}

static int apply(struct passing *p, struct override_set set, struct slice *text, struct error *why)
{
        struct override_applier a = { .set = set,
                                      .cluster = p->r->o->asked->cluster,
                                      .scopes = { is_cluster_scoped, p } };

        p->r->bytes += text->len;
        p->r->passes++;
        return override_apply(&a, p->arena, text, why);
}

static int pass_rule(struct passing *p, const struct touch *t, uint32_t rule)
{
        struct override_snapshot *one = with_rule(p->arena, t, rule);
        const struct object *list[1];
        struct object_list alone = { .at = list, .n = 1 };
        struct override_set set = { 0 };
        struct slice before = p->text;
        struct error why = { 0 };
        int code;

        if (!one)
                return ERR_NO_MEMORY;
        list[0] = &one->object;
        if (t->snapshot->object.meta.ns)
                set.own = alone;
        else
                set.cluster = alone;
        code = apply(p, set, &p->text, &why);
        if (code == 0 || code == ERR_NO_MEMORY)
                return code;
        return add_step(p, t, rule, code, before, why.text);
}

static int pass_rules(struct passing *p)
{
        const struct overrides *o = p->r->o;

        for (size_t i = 0; i < o->asked->named.n; i++) {
                const struct touch *t = o->asked->named.at[i].touch;

                for (uint32_t k = 0; t && !p->ended && k < t->rules.n; k++)
                        if (override_rule_matches(&t->rules.at[k], o->asked->cluster, NULL) != 0)
                                TRY(pass_rule(p, t, k));
        }
        return 0;
}

/* ---- one object ---- */

struct envelope {
        const char *kind, *ns, *name;
};

static json_t *object_row(struct passing *p, const json_t *doc, const struct envelope *e, const char *error)
{
        const char *api = or_empty(doc_get_string(doc, "apiVersion")), *slash = strchr(api, '/');
        const char *group = slash ? arena_strndup(p->arena, api, (size_t)(slash - api)) : "";
        struct page_writer w;

        page_begin(&w, p->arena);
        page_set_string(&w, "group", group);
        page_set_string(&w, "version", slash ? slash + 1 : api);
        page_set_string(&w, "kind", p->kind);
        page_set_string(&w, "namespace", doc_get_string(doc, "metadata.namespace"));
        page_set_string(&w, "name", doc_get_string(doc, "metadata.name"));
        if (e)
                page_set(&w, "envelope",
                         json_pack("{s:s, s:s, s:s}", "kind", e->kind, "namespace", e->ns, "name", e->name));
        page_set(&w, "steps", json_incref(p->steps));
        if (p->n_steps_left)
                page_set_number(&w, "stepsLeft", (int64_t)p->n_steps_left);
        if (error)
                page_set_text(&w, "error", failure_words(p, error), PAGE_MESSAGE_BYTES);
        w.failed = w.failed || !group;
        return page_end(&w);
}

/* What the agent refuses in the whole, though each rule is fine by itself: their bounds together, and a later
 * rule that is broken behind a Delete. */
static const char *refused(const struct passing *p, int code, const struct error *why)
{
        return code < 0 && !p->failed ? why->text : NULL;
}

static int pass_object(struct passing *p, const json_t *doc, const char *key, const struct envelope *e)
{
        struct slice text = p->text;
        struct error why = { 0 };
        int code = apply(p, p->r->named, &text, &why);

        if (code == ERR_NO_MEMORY)
                return code;
        p->r->objects++;
        if (code == 0)
                return 0;
        p->r->touched++;
        if (map_has(p->r->kept, key))
                return 0;
        TRY(pass_rules(p));
        return page_row_stamped(p->r->d, "objects", key, p->r->stamp,
                                object_row(p, doc, e, refused(p, code, &why)));
}

static int draw_object(struct rendering *r, const json_t *doc, struct slice text, const char *key,
                       const struct envelope *e)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        AUTO_JSON json_t *steps = json_array();
        struct passing p = { .r = r,
                             .arena = &arena,
                             .steps = steps,
                             .text = text,
                             .kind = or_empty(doc_get_string(doc, "kind")),
                             .in_namespace = !text_empty(doc_get_string(doc, "metadata.namespace")) };

        return steps ? pass_object(&p, doc, key, e) : ERR_NO_MEMORY;
}

/* ---- manifests ---- */

static bool is_envelope(const json_t *doc)
{
        const char *kind = doc_get_string(doc, "kind");

        return text_starts_with(or_empty(doc_get_string(doc, "apiVersion")), GROUP_PLACEMENT "/") &&
               (text_equal(kind, "ClusterResourceEnvelope") || text_equal(kind, "ResourceEnvelope"));
}

/* Overrides change what is in an envelope, not the envelope. Its touched objects are numbered without gaps.
 */
static int draw_envelope(struct rendering *r, const json_t *doc, const char *key)
{
        struct envelope e = { or_empty(doc_get_string(doc, "kind")),
                              or_empty(doc_get_string(doc, "metadata.namespace")),
                              or_empty(doc_get_string(doc, "metadata.name")) };
        const char *name;
        json_t *inner;
        size_t n = 0;

        json_object_foreach(json_object_get(doc, "data"), name, inner) {
                const char *inside = arena_printf(r->o->look->arena, "%s/%zu", key, n);
                size_t before = r->touched;
                AUTO_BUF struct buf text;

                buf_init(&text, LIMIT_OBJECT_BYTES * 2);
                if (!json_is_object(inner))
                        continue;
                if (!inside || doc_write(inner, &text) < 0)
                        return ERR_NO_MEMORY;
                TRY(draw_object(r, inner, (struct slice){ text.data, text.len }, inside, &e));
                n += r->touched - before;
        }
        return 0;
}

static int draw_manifest(struct rendering *r, struct slice manifest, const char *key)
{
        AUTO_JSON json_t *doc = NULL;
        int code;

        if (r->bytes + manifest.len > PAGE_OVERRIDE_BYTES ||
            r->passes + r->n_rules >= PAGE_OVERRIDE_PASSES_MAX) {
                r->left_out++;
                return 0;
        }
        code = doc_parse(manifest, &doc, NULL);
        if (code == ERR_NO_MEMORY)
                return code;
        if (code < 0) {
                r->unread++; /* nor can the agent */
                return 0;
        }
        return is_envelope(doc) ? draw_envelope(r, doc, key) : draw_object(r, doc, manifest, key, NULL);
}

/* Calls `each` with every manifest of the revision, and the key of its row. */
static int each_manifest(struct rendering *r,
                         int (*each)(struct rendering *r, struct slice manifest, const char *key))
{
        const struct page_need *n = page_need_of(r->o->look, r->o->scope->resource_snapshot, 0);

        for (size_t i = 0; n && i < n->fetch.result.n; i++) {
                const struct resource_snapshot *s = (const struct resource_snapshot *)n->fetch.result.at[i];

                for (uint32_t k = 0; s->spec && k < s->spec->selected_resources.n; k++) {
                        const char *key = arena_printf(r->o->look->arena, "%s/%u", s->object.meta.name, k);

                        if (!key)
                                return ERR_NO_MEMORY;
                        TRY(each(r, s->spec->selected_resources.at[k], key));
                }
        }
        return 0;
}

static int keep_row(struct rendering *r, const char *key)
{
        if (!key)
                return ERR_NO_MEMORY;
        if (!page_row_stays(r->d, "objects", key, r->stamp))
                return 0;
        return map_put(r->kept, key, r) < 0 ? ERR_NO_MEMORY : 1;
}

/* What was drawn of it from the same stays. */
static int keep_manifest(struct rendering *r, struct slice manifest, const char *key)
{
        int kept = keep_row(r, key);

        if (kept)
                return MIN(kept, 0);
        for (size_t n = 0;; n++) { /* of an envelope */
                kept = keep_row(r, arena_printf(r->o->look->arena, "%s/%zu", key, n));
                if (kept <= 0)
                        return kept;
        }
}

/* ---- all of them ---- */

/* Everything that the rows are made of: not the binding, whose status goes on while they stay the same. */
static uint64_t stamp_of(const struct rendering *r)
{
        const struct override_place *p = r->o->asked;
        const struct page_need *n = page_need_of(r->o->look, r->o->scope->resource_snapshot, 0);
        uint64_t stamp = page_stamp_text(PAGE_STAMP, p->name);

        for (uint32_t i = 0; i < p->cluster->object.meta.labels.n; i++) {
                const struct string_pair *label = &p->cluster->object.meta.labels.at[i];

                stamp = page_stamp_text(page_stamp_text(stamp, label->key), label->value);
        }
        for (size_t i = 0; n && i < n->fetch.result.n; i++)
                stamp = page_stamp(stamp, n->fetch.result.at[i]);
        for (size_t i = 0; i < p->named.n; i++) {
                const struct touch *t = p->named.at[i].touch;

                stamp = page_stamp(stamp, t ? &t->snapshot->object : NULL);
                stamp = page_stamp_text(stamp, t && t->near_secrets ? "near" : "");
        }
        return stamp;
}

static int add_named(struct rendering *r)
{
        const struct named_overrides *n = &r->o->asked->named;
        const struct object **wide = ARENA_NEW_ARRAY(r->o->look->arena, const struct object *, n->n + 1),
                            **own = ARENA_NEW_ARRAY(r->o->look->arena, const struct object *, n->n + 1);

        if (!wide || !own)
                return ERR_NO_MEMORY;
        r->named = (struct override_set){ { .at = wide }, { .at = own } };
        for (size_t i = 0; i < n->n; i++) {
                const struct touch *t = n->at[i].touch;

                if (!t)
                        continue;
                if (t->snapshot->object.meta.ns)
                        own[r->named.own.n++] = &t->snapshot->object;
                else
                        wide[r->named.cluster.n++] = &t->snapshot->object;
                for (uint32_t k = 0; k < t->rules.n; k++)
                        r->n_rules += override_rule_matches(&t->rules.at[k], r->o->asked->cluster, NULL) != 0;
        }
        return 0;
}

static json_t *rendered_row(const struct rendering *r)
{
        struct page_writer w;

        page_begin(&w, r->o->look->arena);
        page_set_number(&w, "objects", (int64_t)r->objects);
        page_set_number(&w, "touched", (int64_t)r->touched);
        page_set_number(&w, "untouched", (int64_t)(r->objects - r->touched));
        page_set_number(&w, "leftOut", (int64_t)r->left_out);
        page_set_number(&w, "unread", (int64_t)r->unread);
        return page_end(&w);
}

/* Stands for all that was drawn, so also for how much that is: of a look that failed half-way some rows stay.
 */
static uint64_t stamp_of_all(const struct rendering *r, size_t rows)
{
        char text[32];

        snprintf(text, sizeof(text), "%zu", rows);
        return page_stamp_text(r->stamp, text);
}

int overrides_draw_objects(const struct overrides *o, struct page_doc *d)
{
        struct rendering r = { .o = o, .d = d, .kept = map_of_arena(o->look->arena) };

        if (!r.kept)
                return ERR_NO_MEMORY;
        if (!o->asked || !o->asked->cluster)
                return 0;
        r.stamp = stamp_of(&r);
        TRY(each_manifest(&r, keep_manifest));
        if (page_row_stays(d, "rendered", o->asked->name, stamp_of_all(&r, map_count(r.kept))))
                return 0;
        TRY(add_named(&r));
        TRY(each_manifest(&r, draw_manifest));
        return page_row_stamped(d, "rendered", o->asked->name, stamp_of_all(&r, r.touched), rendered_row(&r));
}
