/* The view of a placement's scheduling: for each cluster whether it is picked, and why; and what a policy
 * that somebody tries out would change. Nothing is written. */
#include "hub-agent/common.h"
#include "kubectl-fleet/page/placement_head.h"
#include "kubectl-fleet/page/policy_try.h"
#include "kubectl-fleet/page/row_parts.h"
#include "kubectl-fleet/why_view.h"

#define LABELS_MAX 64          /* of a cluster */
#define TAINTS_MAX 32          /* of a cluster */
#define REQUIREMENTS_MAX 50    /* of a cluster */
#define REQUIREMENTS_MIN 5     /* of a cluster of a large fleet */
#define REQUIREMENTS_ALL 50000 /* of all clusters, about */
#define REQUIREMENT_TEXT 256   /* bytes */
#define MINUTE_MS 60000

/* ---- what is read ---- */

static int need(const struct page_look *l, struct page_needs *ret, struct error *err)
{
        struct page_placement p;
        const struct scope *scope;
        const json_t *policy = json_object_get(l->args, "policy");
        const char *of, *latest;

        TRY(page_placement_arg(l, &p, err));
        if (policy && !json_is_string(policy))
                return error_set(err, ERR_INVALID, "policy: must be a string");
        scope = scope_of(p.ns);
        of = selector_of(l->arena, LABEL_PARENT_PLACEMENT, p.name);
        latest = arena_printf(l->arena, "%s,%s=%s", or_empty(of), LABEL_IS_LATEST_SNAPSHOT, LABEL_TRUE);
        if (!of || !latest)
                return error_no_memory(err);
        const struct fetch wanted[] = {
                { .kind = scope->placement, .ns = p.ns, .name = p.name, .may_lack = true },
                { .kind = &member_cluster_kind },
                { .kind = scope->binding, .ns = p.ns, .selector = of, .may_lack = true },
                { .kind = scope->policy_snapshot, .ns = p.ns, .selector = latest, .may_lack = true },
        };

        return page_needs_add_all(ret, wanted, ARRAY_LEN(wanted), err);
}

/* ---- a cluster ---- */

struct drawing {
        const struct page_look *l;
        struct page_doc *d;
        const struct why_view *v;
        size_t n_ineligible;
        size_t most; /* requirements of a cluster */
        const struct why_terms *like;
};
struct entry {
        const struct why_cluster *c;
        size_t order;
        bool eligible;
        bool counts_time; /* its reason tells minutes */
        struct why_terms terms;
};

static const char *change_word(enum why_change change)
{
        static const char *const words[] = {
                [WHY_NEITHER] = "", [WHY_JOINS] = "joins", [WHY_LEAVES] = "leaves", [WHY_STAYS] = "stays"
        };

        return words[change];
}

static json_t *requirement_of(struct arena *arena, const struct why_requirement *r)
{
        struct page_writer w;

        page_begin(&w, arena);
        page_set(&w, "holds", json_boolean(r->holds));
        page_set_text(&w, "text", r->text, REQUIREMENT_TEXT);
        if (r->actual)
                page_set_text(&w, "has", r->actual, REQUIREMENT_TEXT);
        return page_end(&w);
}

static json_t *term_of(struct arena *arena, const struct why_term *t)
{
        json_t *list = json_array();
        struct page_writer w;
        bool holds = true;

        page_begin(&w, arena);
        page_set_string(&w, "title", t->title);
        for (size_t i = 0; i < t->n; i++) {
                holds = holds && t->at[i].holds;
                page_append(&w, list, requirement_of(arena, &t->at[i]));
        }
        page_set(&w, "requirements", list);
        page_set(&w, "holds", t->n_left ? json_null() : json_boolean(holds));
        if (t->n_left)
                page_set_number(&w, "left", (int64_t)t->n_left);
        if (t->sorted_by) {
                page_set_text(&w, "sortedBy", t->sorted_by, REQUIREMENT_TEXT);
                page_set_string(&w, "order", t->order);
                if (t->sorter_value)
                        page_set_text(&w, "has", t->sorter_value, REQUIREMENT_TEXT);
        }
        return page_end(&w);
}

static void put_terms(struct page_writer *w, const struct why_terms *terms)
{
        json_t *list = json_array();

        for (size_t i = 0; i < terms->n; i++)
                page_append(w, list, term_of(w->arena, &terms->at[i]));
        page_set(w, "terms", list);
        if (terms->n_left)
                page_set_number(w, "termsLeft", (int64_t)terms->n_left);
}

static void put_taints(struct page_writer *w, const struct member_cluster *m)
{
        uint32_t n = m->spec ? m->spec->taints.n : 0;
        json_t *list = json_array();

        for (uint32_t i = 0; i < MIN(n, TAINTS_MAX); i++) {
                const struct taint *t = &m->spec->taints.at[i];
                const char *text = arena_printf(w->arena, "%s=%s:%s", or_empty(t->key), or_empty(t->value),
                                                or_empty(t->effect));

                page_append(w, list, text ? json_string(text) : NULL);
        }
        page_set(w, "taints", list);
}

static void put_labels(struct page_writer *w, const struct string_map *labels)
{
        json_t *all = json_object();

        for (uint32_t i = 0; i < MIN(labels->n, LABELS_MAX); i++)
                if (json_object_set_new(all, labels->at[i].key, json_string(or_empty(labels->at[i].value))) <
                    0)
                        w->failed = true;
        page_set(w, "labels", all);
}

static json_t *row_of(struct arena *arena, const struct entry *e)
{
        const struct why_cluster *c = e->c;
        struct page_writer w;

        page_begin(&w, arena);
        page_set_number(&w, "order", (int64_t)e->order);
        page_set_string(&w, "word", c->word);
        page_set_string(&w, "tone", page_standing_of(c->tone));
        page_set_text(&w, "because", c->because, PAGE_MESSAGE_BYTES);
        page_set_flag(&w, "placed", c->held != NULL);
        page_set_flag(&w, "anew", c->verdict->picked);
        page_set_flag(&w, "fits", !c->verdict->filtered);
        page_set_flag(&w, "eligible", e->eligible);
        if (c->against)
                page_set_text(&w, "against", c->against, PAGE_MESSAGE_BYTES);
        else if (c->scored) {
                page_set_number(&w, "affinity", c->verdict->affinity);
                page_set_number(&w, "spread", c->verdict->topology);
        }
        if (c->change)
                page_set_string(&w, "change", change_word(c->change));
        put_terms(&w, &e->terms);
        put_taints(&w, c->verdict->cluster);
        put_labels(&w, &c->verdict->cluster->object.meta.labels);
        if (c->held)
                page_set_string(&w, "binding", c->held->object.meta.name);
        if (c->said)
                page_set_text(&w, "said", c->said, PAGE_MESSAGE_BYTES);
        return page_end(&w);
}

static uint64_t stamp_number(uint64_t stamp, int64_t n)
{
        char text[32];

        snprintf(text, sizeof(text), "%lld", (long long)n);
        return page_stamp_text(stamp, text);
}

static uint64_t stamp_terms(uint64_t stamp, const struct why_terms *terms)
{
        for (size_t i = 0; i < terms->n; i++) {
                const struct why_term *t = &terms->at[i];

                stamp = page_stamp_text(page_stamp_text(stamp, t->title), t->sorted_by);
                stamp = page_stamp_text(page_stamp_text(stamp, t->order), t->sorter_value);
                for (size_t k = 0; k < t->n; k++) {
                        stamp = page_stamp_text(stamp, t->at[k].holds ? "holds" : "fails");
                        stamp = page_stamp_text(page_stamp_text(stamp, t->at[k].text), t->at[k].actual);
                }
                stamp = stamp_number(stamp, (int64_t)t->n_left);
        }
        return stamp_number(stamp, (int64_t)terms->n_left);
}

static uint64_t stamp_cluster(uint64_t stamp, const struct member_cluster *m)
{
        for (uint32_t i = 0; i < m->object.meta.labels.n; i++) {
                stamp = page_stamp_text(stamp, m->object.meta.labels.at[i].key);
                stamp = page_stamp_text(stamp, m->object.meta.labels.at[i].value);
        }
        for (uint32_t i = 0; m->spec && i < m->spec->taints.n; i++) {
                stamp = page_stamp_text(stamp, m->spec->taints.at[i].key);
                stamp = page_stamp_text(stamp, m->spec->taints.at[i].value);
                stamp = page_stamp_text(stamp, m->spec->taints.at[i].effect);
        }
        return stamp;
}

/* Of what is shown, not of the objects: heartbeats are no news. A reason that tells minutes is news each
 * minute.
 */
static uint64_t stamp_of(const struct entry *e, int64_t now_ms)
{
        const struct why_cluster *c = e->c;
        uint64_t stamp = page_stamp_text(PAGE_STAMP, c->word);

        if (e->counts_time)
                stamp = stamp_number(stamp, now_ms / MINUTE_MS);
        else
                stamp = page_stamp_text(page_stamp_text(stamp, c->because), c->against);
        stamp = stamp_number(stamp,
                             (int64_t)e->order * 16 + c->change * 4 + c->verdict->picked * 2 + c->scored);
        stamp = stamp_number(stamp, ((int64_t)c->verdict->affinity << 32) + c->verdict->topology);
        stamp = stamp_number(stamp, (int64_t)c->tone * 4 + e->eligible * 2 + (c->held != NULL));
        stamp = page_stamp_text(stamp, c->held ? c->held->object.meta.name : NULL);
        stamp = page_stamp_text(stamp, c->said);
        return stamp_cluster(stamp_terms(stamp, &e->terms), c->verdict->cluster);
}

static int draw_cluster(struct drawing *g, size_t i)
{
        struct entry *e = ARENA_NEW(g->l->arena, struct entry);
        const char *name = g->v->clusters[i].verdict->cluster->object.meta.name;
        struct patience patience = { g->l->now_ms, .told = true };
        struct ineligibility is;
        uint64_t stamp;

        if (!e)
                return ERR_NO_MEMORY;
        e->c = &g->v->clusters[i];
        e->order = i + 1;
        e->eligible = !e->c->verdict->filtered ||
                      cluster_is_eligible(e->c->verdict->cluster, &patience, g->l->arena, &is);
        if (!e->eligible && !is.reason)
                return ERR_NO_MEMORY;
        e->counts_time = !e->eligible && is.counts_time;
        g->n_ineligible += !e->eligible;
        TRY(why_terms_of(g->l->arena, g->v, e->c, g->most, g->like, &e->terms));
        g->like = &e->terms;
        stamp = stamp_of(e, g->l->now_ms);
        if (page_row_stays(g->d, "clusters", name, stamp))
                return 0;
        return page_row_stamped(g->d, "clusters", name, stamp, row_of(g->l->arena, e));
}

static int draw_clusters(struct drawing *g)
{
        g->most = MIN(REQUIREMENTS_MAX, MAX(REQUIREMENTS_MIN, REQUIREMENTS_ALL / (g->v->n_clusters + 1)));
        for (size_t i = 0; i < g->v->n_clusters; i++)
                TRY(draw_cluster(g, i));
        return 0;
}

/* ---- the head ---- */

struct scheduling {
        const struct placement *placement; /* as it is */
        struct why_parts parts;
        bool clusters_known;
        struct page_policy_try *tried; /* NULL: nothing is */
};

static json_t *numbers_of(const struct drawing *g)
{
        const struct why_view *v = g->v;

        return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "clusters", (json_int_t)v->n_clusters, "placed",
                         (json_int_t)v->n_held, "anew", (json_int_t)v->n_fresh, "fit", (json_int_t)v->n_fit,
                         "ineligible", (json_int_t)g->n_ineligible, "unfit",
                         (json_int_t)(v->n_clusters - v->n_fit - g->n_ineligible));
}

/* What is tried out: why it cannot be, or what it would change. */
static json_t *tried_of(struct arena *arena, const struct scheduling *s, const struct why_view *v)
{
        const struct page_policy_try *t = s->tried;
        struct page_writer w;

        page_begin(&w, arena);
        if (t->error) {
                page_set_text(&w, "error", t->error, PAGE_MESSAGE_BYTES);
                if (t->line)
                        page_set_number(&w, "line", (int64_t)t->line);
                if (t->column)
                        page_set_number(&w, "column", (int64_t)t->column);
                return page_end(&w);
        }
        if (t->refused)
                page_set_text(&w, "refused", t->refused, PAGE_MESSAGE_BYTES);
        if (!s->parts.bindings_unknown)
                page_set(&w, "changes",
                         json_pack("{s:I, s:I, s:I}", "joins", (json_int_t)v->n_changes[WHY_JOINS], "leaves",
                                   (json_int_t)v->n_changes[WHY_LEAVES], "stays",
                                   (json_int_t)v->n_changes[WHY_STAYS]));
        return page_end(&w);
}

static void put_scheduled(struct page_writer *w, const struct scheduling *s)
{
        const struct policy_snapshot *latest =
                s->parts.policies.n ? (const struct policy_snapshot *)s->parts.policies.at[0] : NULL;
        const struct condition *c = latest && latest->status && latest->status->conditions.n
                                            ? &latest->status->conditions.at[0]
                                            : NULL;

        page_set(w, "scheduled", page_condition(w->arena, c, latest ? latest->object.meta.generation : 0));
}

static json_t *head_of(const struct drawing *g, const struct scheduling *s)
{
        const struct placement_policy *policy = g->v->placement->spec ? g->v->placement->spec->policy : NULL;
        const struct object *o = &s->placement->object;
        struct page_writer w;

        page_begin(&w, g->l->arena);
        page_set_string(&w, "kind", o->kind->kind);
        page_set_string(&w, "scope", o->meta.ns ? "rp" : "crp");
        page_set_string(&w, "namespace", o->meta.ns);
        page_set_string(&w, "name", o->meta.name);
        page_set(&w, "deleting", page_time(o->meta.deletion_ms));
        page_set_string(&w, "policy", g->v->policy);
        page_set(&w, "policyWords", page_policy_words(&w, policy));
        page_set(&w, "policyText", page_policy_lines(s->placement));
        if (g->v->problem)
                page_set_text(&w, "problem", g->v->problem, PAGE_MESSAGE_BYTES);
        put_scheduled(&w, s);
        page_set(&w, "numbers", numbers_of(g));
        page_set(&w, "clustersKnown", json_boolean(s->clusters_known));
        page_set(&w, "placedKnown", json_boolean(!s->parts.bindings_unknown));
        if (s->tried)
                page_set(&w, "tried", tried_of(w.arena, s, g->v));
        return page_end(&w);
}

/* ---- the view ---- */

static int read_parts(const struct page_look *l, struct scheduling *s, struct error *err)
{
        struct page_placement p;
        const struct scope *scope;
        const struct page_need *placement, *clusters, *bindings;

        TRY(page_placement_arg(l, &p, err));
        scope = scope_of(p.ns);
        placement = page_need_of(l, scope->placement, 0);
        clusters = page_need_of(l, &member_cluster_kind, 0);
        bindings = page_need_of(l, scope->binding, 0);
        s->placement = (const struct placement *)fetched(&placement->fetch);
        if (!s->placement && !placement->filled)
                return error_set(err, ERR_RETRY, "%s \"%s\" cannot be read: %s", scope->placement->kind,
                                 p.name, or_empty(placement->problem));
        if (!s->placement)
                return error_set(err, ERR_NOT_FOUND, "%s \"%s\" not found%s%s", scope->placement->kind,
                                 p.name, p.ns ? " in namespace " : "", p.ns ? p.ns : "");
        s->clusters_known = clusters->filled;
        s->parts = (struct why_parts){ .placement = s->placement,
                                       .clusters = clusters->fetch.result,
                                       .bindings = bindings->fetch.result,
                                       .policies = page_need_of(l, scope->policy_snapshot, 0)->fetch.result,
                                       .bindings_unknown = !bindings->filled,
                                       .now_ms = l->now_ms };
        return 0;
}

static int try_policy(const struct page_look *l, struct scheduling *s)
{
        const char *text = json_string_value(json_object_get(l->args, "policy"));

        if (!text)
                return 0;
        s->tried = ARENA_NEW(l->arena, struct page_policy_try);
        if (!s->tried)
                return ERR_NO_MEMORY;
        TRY(page_policy_try(l->arena, s->placement, text, s->tried));
        s->parts.tried = s->tried->placement;
        return 0;
}

static int look(const struct page_look *l, struct page_doc *d, struct error *err)
{
        struct scheduling s = { 0 };
        struct why_view v;
        struct drawing g = { .l = l, .d = d, .v = &v };
        int code;

        TRY(read_parts(l, &s, err));
        if (try_policy(l, &s) < 0)
                return error_no_memory(err);
        TRY(why_look(l->arena, &s.parts, &v, err));
        code = draw_clusters(&g);
        if (code == 0)
                code = page_head(d, head_of(&g, &s));
        return code == ERR_NO_MEMORY ? error_no_memory(err) : code;
}

const struct page_view scheduling_page_view = { .name = "scheduling", .need = need, .look = look };
