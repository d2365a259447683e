#include "kubectl-fleet/page/placement_head.h"

#include "common/kube/selector.h"
#include "hub-agent/common.h"
#include "kubectl-fleet/page/row_parts.h"
#include "kubectl-fleet/run_view.h"

#define RESOURCES_MAX 500 /* selected resources that the head names */
#define OVERRIDES_MAX 100
#define RUNS_MAX 20
#define WORDS_MAX 100 /* sentences of a policy */
#define SENTENCE_BYTES 4096

/* ---- the policy, in words ---- */

struct sentences {
        struct page_writer *w;
        json_t *list;
};

static const char *written(struct page_writer *w, const struct buf *text)
{
        int code = buf_status(text, NULL, "policy");

        w->failed = w->failed || code == ERR_NO_MEMORY;
        return code < 0 ? "(too long to be shown)" : text->data;
}

static void say(struct sentences *s, struct buf *text)
{
        const char *said = written(s->w, text);
        size_t n = json_array_size(s->list);

        if (n <= WORDS_MAX)
                page_append(s->w, s->list, json_string(n == WORDS_MAX ? "and more" : said));
        buf_clear(text);
}

static void add_property(const struct property_selector *p, struct buf *text)
{
        for (uint32_t i = 0; i < p->match_expressions.n; i++) {
                const struct property_requirement *r = &p->match_expressions.at[i];

                buf_printf(text, "%s%s %s %s", i || text->len ? " and " : "", or_empty(r->name),
                           or_empty(r->operator), r->values.n ? or_empty(r->values.at[0]) : "?");
        }
}

static void add_term(struct page_writer *w, const struct cluster_selector_term *t, struct buf *text)
{
        AUTO_BUF struct buf labels;

        buf_init(&labels, SENTENCE_BYTES);
        if (t->label_selector) {
                label_selector_print(t->label_selector, &labels);
                buf_append_str(text, written(w, &labels));
        }
        if (t->property_selector)
                add_property(t->property_selector, text);
        if (t->property_sorter)
                buf_printf(text, "%sthe %s %s", text->len ? ", " : "",
                           text_equal(t->property_sorter->sort_order, SORT_ASCENDING) ? "least" : "most",
                           or_empty(t->property_sorter->name));
        if (text->len == 0)
                buf_append_str(text, "any cluster");
}

static void say_affinity(struct sentences *s, const struct cluster_affinity *a, struct buf *text)
{
        AUTO_BUF struct buf term;

        buf_init(&term, SENTENCE_BYTES);
        for (uint32_t i = 0; a->required && i < a->required->terms.n; i++) {
                buf_clear(&term);
                add_term(s->w, &a->required->terms.at[i], &term);
                buf_printf(text, "%s %s", i ? "or" : "only clusters with", written(s->w, &term));
                say(s, text);
        }
        for (uint32_t i = 0; i < a->preferred.n; i++) {
                const struct cluster_selector_term *t = a->preferred.at[i].preference;

                buf_clear(&term);
                if (t)
                        add_term(s->w, t, &term);
                buf_printf(text, "%s%lld points for %s", t && t->property_sorter ? "up to " : "",
                           (long long)a->preferred.at[i].weight.value, written(s->w, &term));
                say(s, text);
        }
}

static void say_tolerations(struct sentences *s, const struct placement_policy *p, struct buf *text)
{
        for (uint32_t i = 0; i < p->tolerations.n; i++) {
                const struct toleration *t = &p->tolerations.at[i];

                buf_printf(text, "puts up with taint %s%s%s%s%s", text_empty(t->key) ? "of any key" : t->key,
                           text_empty(t->value) ? "" : "=", or_empty(t->value),
                           text_empty(t->effect) ? "" : ":", or_empty(t->effect));
                say(s, text);
        }
}

json_t *page_policy_words(struct page_writer *w, const struct placement_policy *p)
{
        struct sentences s = { w, json_array() };
        AUTO_BUF struct buf text;

        buf_init(&text, SENTENCE_BYTES);
        for (uint32_t i = 0; p && i < p->cluster_names.n; i++) {
                buf_printf(&text, "cluster %s", or_empty(p->cluster_names.at[i]));
                say(&s, &text);
        }
        if (p && p->affinity && p->affinity->cluster_affinity)
                say_affinity(&s, p->affinity->cluster_affinity, &text);
        for (uint32_t i = 0; p && i < p->topology_spread_constraints.n; i++) {
                const struct topology_spread_constraint *t = &p->topology_spread_constraints.at[i];

                buf_printf(&text, "spread over %s, at most %lld apart%s", or_empty(t->topology_key),
                           (long long)(t->max_skew.set ? t->max_skew.value : 1),
                           text_equal(t->when_unsatisfiable, "ScheduleAnyway") ? " where that can be" : "");
                say(&s, &text);
        }
        if (p)
                say_tolerations(&s, p, &text);
        return s.list;
}

/* ---- the strategy ---- */

static void put_number_or_text(struct page_writer *w, const char *key, const struct int_or_string *v,
                               const char *fallback)
{
        const char *text = !v || !v->set ? fallback : v->text ? v->text : number_text(w->arena, v->value);

        if (!text)
                w->failed = true;
        page_set_string(w, key, text);
}

static json_t *apply_of(struct page_writer *of, const struct apply_strategy *a)
{
        static const struct apply_strategy none;
        struct page_writer w;

        a = a ? a : &none;
        page_begin(&w, of->arena);
        page_set_string(&w, "type", text_empty(a->type) ? "ClientSideApply" : a->type);
        page_set_string(&w, "comparison",
                        text_empty(a->comparison_option) ? "PartialComparison" : a->comparison_option);
        page_set_string(&w, "whenToApply",
                        text_empty(a->when_to_apply) ? WHEN_TO_APPLY_ALWAYS : a->when_to_apply);
        page_set_string(&w, "whenToTakeOver",
                        text_empty(a->when_to_take_over) ? "Always" : a->when_to_take_over);
        page_set_flag(&w, "coOwnership", a->allow_co_ownership.value);
        page_set_flag(&w, "force", a->server_side_apply_config && a->server_side_apply_config->force.value);
        return page_end(&w);
}

static json_t *strategy_of(struct page_writer *of, const struct rollout_strategy *s)
{
        static const struct rollout_strategy none;
        const struct rolling_update *r;
        struct page_writer w;

        s = s ? s : &none;
        r = s->rolling_update;
        page_begin(&w, of->arena);
        page_set_string(&w, "type", text_empty(s->type) ? ROLLOUT_ROLLING_UPDATE : s->type);
        if (!text_equal(s->type, ROLLOUT_EXTERNAL)) {
                put_number_or_text(&w, "maxUnavailable", r ? &r->max_unavailable : NULL, "25%");
                put_number_or_text(&w, "maxSurge", r ? &r->max_surge : NULL, "25%");
                page_set_number(&w, "unavailablePeriodSeconds",
                                r && r->unavailable_period_seconds.set ? r->unavailable_period_seconds.value
                                                                       : 60);
        }
        page_set(&w, "apply", apply_of(&w, s->apply_strategy));
        page_set_string(&w, "onDelete",
                        s->delete_strategy && !text_empty(s->delete_strategy->propagation_policy)
                                ? s->delete_strategy->propagation_policy
                                : "Delete");
        if (s->report_back_strategy)
                page_set_string(&w, "reportBack", s->report_back_strategy->type);
        return page_end(&w);
}

/* ---- overrides and runs ---- */

json_t *page_override_of(struct arena *arena, const char *ns, const char *snapshot)
{
        const char *dash = strrchr(or_empty(snapshot), '-');
        int64_t index;
        bool numbered = dash && text_parse_i64(dash + 1, &index);
        const char *name =
                numbered ? arena_strndup(arena, snapshot, (size_t)(dash - snapshot)) : or_empty(snapshot);

        return name ? json_pack("{s:s, s:s, s:s, s:s}", "kind",
                                text_empty(ns) ? "ClusterResourceOverride" : "ResourceOverride", "namespace",
                                or_empty(ns), "name", name, "snapshot", or_empty(snapshot))
                    : NULL;
}

struct override_use {
        const char *ns, *snapshot;
        size_t clusters;
};
struct override_uses {
        struct override_use at[OVERRIDES_MAX];
        size_t n, more;
};

static void use_override(struct override_uses *all, const char *ns, const char *snapshot)
{
        for (size_t i = 0; i < all->n; i++)
                if (text_equal(all->at[i].ns, ns) && text_equal(all->at[i].snapshot, snapshot)) {
                        all->at[i].clusters++;
                        return;
                }
        if (all->n == OVERRIDES_MAX)
                all->more++;
        else
                all->at[all->n++] = (struct override_use){ ns, snapshot, 1 };
}

static void put_overrides(struct page_writer *w, const struct places *v)
{
        struct override_uses *all = ARENA_NEW(w->arena, struct override_uses);
        json_t *list = json_array();

        w->failed = w->failed || !all;
        for (size_t i = 0; all && i < v->n; i++) {
                const struct binding_spec *s = v->at[i].binding ? v->at[i].binding->spec : NULL;

                for (uint32_t k = 0; s && k < s->cluster_resource_override_snapshots.n; k++)
                        use_override(all, NULL, s->cluster_resource_override_snapshots.at[k]);
                for (uint32_t k = 0; s && k < s->resource_override_snapshots.n; k++)
                        use_override(all, or_empty(s->resource_override_snapshots.at[k].ns),
                                     s->resource_override_snapshots.at[k].name);
        }
        for (size_t i = 0; all && i < all->n; i++) {
                json_t *one = page_override_of(w->arena, all->at[i].ns, all->at[i].snapshot);

                json_object_set_new(one, "clusters", json_integer((json_int_t)all->at[i].clusters));
                page_append(w, list, one);
        }
        page_set(w, "overrides", list);
        page_set_flag(w, "overridesCut", all && all->more);
}

static json_t *run_of(struct arena *arena, const struct update_run *run)
{
        static const struct object_list none;
        struct page_writer w;
        struct run_view v;

        if (run_look(arena, run, &none, &v) < 0)
                return NULL;
        page_begin(&w, arena);
        page_set_string(&w, "scope", run->object.meta.ns ? "rp" : "crp");
        page_set_string(&w, "namespace", run->object.meta.ns);
        page_set_string(&w, "name", run->object.meta.name);
        page_set_string(&w, "standing", page_standing_of(run_tone(v.state)));
        page_set_string(&w, "word", v.word);
        page_set_string(&w, "revision", v.revision);
        page_set(&w, "since", page_time(run->object.meta.creation_ms));
        return page_end(&w);
}

static int newest_first(const void *a, const void *b)
{
        const struct object *x = *(const struct object *const *)a, *y = *(const struct object *const *)b;

        if (x->meta.creation_ms != y->meta.creation_ms)
                return x->meta.creation_ms < y->meta.creation_ms ? 1 : -1;
        return strcmp(x->meta.name, y->meta.name);
}

static void put_runs(struct page_writer *w, const struct page_look *l, const struct object *placement)
{
        const struct page_need *runs = page_need_of(l, scope_of(placement->meta.ns)->update_run, 0);
        const struct object **of = ARENA_NEW_ARRAY(w->arena, const struct object *, runs->fetch.result.n + 1);
        json_t *list = json_array();
        size_t n = 0;

        w->failed = w->failed || !of;
        for (size_t i = 0; of && i < runs->fetch.result.n; i++) {
                const struct update_run *run = (const struct update_run *)runs->fetch.result.at[i];

                if (run->spec && text_equal(run->spec->placement_name, placement->meta.name))
                        of[n++] = &run->object;
        }
        if (n)
                qsort(of, n, sizeof(*of), newest_first);
        for (size_t i = 0; i < MIN(n, RUNS_MAX); i++)
                page_append(w, list, run_of(w->arena, (const struct update_run *)of[i]));
        page_set(w, "runs", list);
        page_set_number(w, "runsTotal", (int64_t)n);
}

/* ---- how it goes ---- */

static const char *const step_names[] = { "scheduled", "rolled out", "overridden", "written",
                                          "applied",   "available",  "compared" };

struct step_count {
        size_t of[4]; /* by standing */
};

static void count_steps(const struct places *v, struct step_count ret[ARRAY_LEN(step_names)])
{
        for (size_t i = 0; i < v->n; i++) {
                struct place_step steps[PLACE_STEPS_MAX];
                size_t n = v->at[i].removing || v->at[i].unplaced ? 0 : place_steps(&v->at[i], steps);

                if (v->at[i].unplaced)
                        ret[0].of[STANDING_FAILED]++;
                for (size_t k = 0; k < n; k++)
                        for (size_t s = 0; s < ARRAY_LEN(step_names); s++)
                                if (text_equal(step_names[s], steps[k].step))
                                        ret[s].of[steps[k].standing]++;
        }
}

static void put_steps(struct page_writer *w, const struct places *v)
{
        struct step_count counts[ARRAY_LEN(step_names)] = { 0 };
        json_t *list = json_array();

        count_steps(v, counts);
        for (size_t i = 0; i < ARRAY_LEN(step_names); i++) {
                const size_t *n = counts[i].of;

                if (n[STANDING_WAITS] + n[STANDING_BUSY] + n[STANDING_DONE] + n[STANDING_FAILED])
                        page_append(w, list,
                                    json_pack("{s:s, s:I, s:I, s:I, s:I}", "step", step_names[i], "waits",
                                              (json_int_t)n[STANDING_WAITS], "busy",
                                              (json_int_t)n[STANDING_BUSY], "done",
                                              (json_int_t)n[STANDING_DONE], "failed",
                                              (json_int_t)n[STANDING_FAILED]));
        }
        page_set(w, "steps", list);
}

static void put_conditions(struct page_writer *w, const struct placement *p)
{
        json_t *list = json_array();

        for (uint32_t i = 0; p->status && i < p->status->conditions.n; i++)
                page_append(
                        w, list,
                        page_condition(w->arena, &p->status->conditions.at[i], p->object.meta.generation));
        page_set(w, "conditions", list);
}

static void put_resources(struct page_writer *w, const struct placement_status *s)
{
        uint32_t n = s ? s->selected_resources.n : 0;
        json_t *list = json_array();

        for (uint32_t i = 0; i < MIN(n, RESOURCES_MAX); i++) {
                json_t *one = json_object();

                if (one && page_put_identifier(one, &s->selected_resources.at[i]) < 0)
                        w->failed = true;
                page_append(w, list, one);
        }
        page_set(w, "resources", list);
        page_set_number(w, "resourcesTotal", n);
}

static json_t *count_of(const struct page_trouble_count *c)
{
        return json_pack("{s:I, s:I}", "total", (json_int_t)c->total, "shown", (json_int_t)c->shown);
}

static void put_progress(struct page_writer *w, const struct page_placement_look *v)
{
        const struct progress *g = &v->places.view.summary.progress;

        page_set(w, "progress",
                 json_pack("{s:I, s:I, s:I, s:I}", "done", (json_int_t)g->good, "busy", (json_int_t)g->busy,
                           "failed", (json_int_t)g->bad, "total", (json_int_t)g->total));
        page_set(w, "failed", count_of(&v->failed));
        page_set(w, "drifted", count_of(&v->drifted));
        page_set(w, "different", count_of(&v->different));
        page_set_number(w, "ill", (int64_t)v->ill);
        page_set_number(w, "unplaced", (int64_t)v->places.n_unplaced);
        page_set_number(w, "leftover", (int64_t)v->places.n_leftover);
        if (v->places.cut)
                page_set_number(w, "cutAt", PLACEMENT_DETAILS_MAX);
}

/* ---- all ---- */

json_t *page_placement_name(const struct object *o)
{
        return json_pack("{s:s, s:s, s:s}", "scope", o->meta.ns ? "rp" : "crp", "namespace",
                         or_empty(o->meta.ns), "name", o->meta.name);
}

json_t *page_placement_head(const struct page_placement_look *v)
{
        const struct placement_summary *s = &v->places.view.summary;
        const struct placement *p = s->placement;
        struct page_writer w;

        page_begin(&w, v->look->arena);
        page_set_string(&w, "kind", p->object.kind->kind);
        page_set_string(&w, "scope", p->object.meta.ns ? "rp" : "crp");
        page_set_string(&w, "namespace", p->object.meta.ns);
        page_set_string(&w, "name", p->object.meta.name);
        page_set(&w, "created", page_time(p->object.meta.creation_ms));
        page_set(&w, "deleting", page_time(p->object.meta.deletion_ms));
        page_set_string(&w, "standing", page_standing(s->standing));
        page_set_string(&w, "word", s->word);
        page_set_string(&w, "policy", s->policy);
        page_set(&w, "policyWords", page_policy_words(&w, p->spec ? p->spec->policy : NULL));
        page_set(&w, "strategy", strategy_of(&w, p->spec ? p->spec->strategy : NULL));
        page_set_string(&w, "snapshot", v->places.view.snapshot);
        page_set_string(&w, "revision", v->places.view.latest);
        page_set(&w, "revisionSince", page_time(v->places.view.snapshot_ms));
        put_steps(&w, &v->places);
        put_progress(&w, v);
        put_conditions(&w, p);
        put_resources(&w, p->status);
        put_overrides(&w, &v->places);
        put_runs(&w, v->look, &p->object);
        return page_end(&w);
}
