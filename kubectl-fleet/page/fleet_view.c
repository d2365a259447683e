/* The whole fleet: clusters, placements and staged update runs, a row each, and how many are how. */
#include "hub-agent/common.h"
#include "kubectl-fleet/page/cluster_facts.h"
#include "kubectl-fleet/page/tallies.h"
#include "kubectl-fleet/run_view.h"

static int need(const struct page_look *l, struct page_needs *ret, struct error *err)
{
        static const struct fetch all[] = {
                { .kind = &member_cluster_kind },
                { .kind = &cluster_resource_placement_kind },
                { .kind = &resource_placement_kind, .may_lack = true },
                { .kind = &cluster_staged_update_run_kind, .may_lack = true },
                { .kind = &staged_update_run_kind, .may_lack = true },
        };

        return page_needs_add_all(ret, all, ARRAY_LEN(all), err);
}

struct fleet {
        const struct page_look *look;
        struct page_doc *doc;
        struct tallies *tallies; /* what placements say of clusters */
        struct progress clusters, placements, runs;
        size_t approvals; /* runs that wait for one */
};

/* ---- placements ---- */

/* The newest turn of the placement's own conditions. */
static int64_t since_of(const struct placement *p)
{
        int64_t since = p->object.meta.creation_ms;

        for (uint32_t i = 0; p->status && i < p->status->conditions.n; i++)
                since = MAX(since, p->status->conditions.at[i].last_transition_ms);
        return since;
}

static const char *trouble_of(const struct placement *p)
{
        for (uint32_t i = 0; p->status && i < p->status->conditions.n; i++) {
                const struct condition *c = &p->status->conditions.at[i];

                if (!text_equal(c->status, CONDITION_TRUE) && !text_empty(c->message))
                        return c->message;
        }
        return "";
}

static json_t *placement_row(struct arena *arena, const struct placement_summary *s)
{
        struct page_writer w;

        page_begin(&w, arena);
        page_set_string(&w, "standing", page_standing(s->standing));
        page_set_string(&w, "word", s->word);
        page_set_string(&w, "policy", s->policy);
        page_set_string(&w, "revision", s->revision);
        page_set(&w, "progress", page_progress(&s->progress));
        page_set(&w, "since", page_time(since_of(s->placement)));
        page_set(&w, "created", page_time(s->placement->object.meta.creation_ms));
        if (s->n_drifted)
                page_set_number(&w, "drifted", (int64_t)s->n_drifted);
        if (s->n_diffed)
                page_set_number(&w, "differing", (int64_t)s->n_diffed);
        if (s->standing != STANDING_DONE)
                page_set_text(&w, "message", trouble_of(s->placement), PAGE_MESSAGE_BYTES);
        return page_end(&w);
}

static int draw_placement(struct fleet *f, const struct object *o)
{
        struct arena *arena = f->look->arena;
        const char *key = page_object_key(arena, o, "crp", "rp");
        uint64_t stamp = page_stamp(PAGE_STAMP, o);
        struct placement_summary s;
        enum standing standing;
        bool counted, stays;

        if (!key)
                return ERR_NO_MEMORY;
        counted = tallies_stays(f->tallies, key, stamp, &standing);
        stays = page_row_stays(f->doc, "placements", key, stamp);
        if (!counted || !stays) {
                TRY(placement_summarize(arena, (const struct placement *)o, &s));
                standing = s.standing;
        }
        if (!counted)
                TRY(tallies_count(f->tallies, key, stamp, (const struct placement *)o, standing));
        progress_add(&f->placements, standing);
        return stays ? 0 : page_row_stamped(f->doc, "placements", key, stamp, placement_row(arena, &s));
}

/* ---- clusters ---- */

static json_t *cluster_row(struct arena *arena, const struct page_cluster *c, const struct tally *t)
{
        struct page_writer w;

        page_begin(&w, arena);
        page_put_cluster(&w, c);
        page_set_number(&w, "placements", t ? t->placements : 0);
        if (t && t->trouble)
                page_set_number(&w, "trouble", t->trouble);
        return page_end(&w);
}

static int draw_cluster(struct fleet *f, const struct object *o)
{
        const char *key = o->meta.name;
        const struct tally *t = tallies_of(f->tallies, key);
        uint64_t stamp = page_stamp(PAGE_STAMP, o);
        struct page_cluster c;

        if (t)
                stamp = hash_bytes(t, sizeof(*t), stamp) | 1;
        TRY(page_cluster_look(f->look->arena, (const struct member_cluster *)o, &c));
        progress_add(&f->clusters, c.standing);
        if (page_row_stays(f->doc, "clusters", key, stamp))
                return 0;
        return page_row_stamped(f->doc, "clusters", key, stamp, cluster_row(f->look->arena, &c, t));
}

/* ---- runs ---- */

static enum standing run_standing(enum run_state state)
{
        switch (state) {
        case RUN_DONE:
                return STANDING_DONE;
        case RUN_FAILED:
        case RUN_STUCK:
                return STANDING_FAILED;
        case RUN_GOES_ON:
        case RUN_WAITS:
        case RUN_STOPPING:
                return STANDING_BUSY;
        default:
                return STANDING_WAITS;
        }
}

static int add_gates(json_t *all, const struct stage_view *s, const struct gate *at, size_t n,
                     const char *when)
{
        for (size_t i = 0; i < n; i++) {
                const struct gate *g = &at[i];

                if (g->state != GATE_WAITS || !text_equal(g->type, STAGE_TASK_APPROVAL))
                        continue;
                if (json_array_append_new(all, json_pack("{s:s, s:s, s:s}", "stage", s->name, "when", when,
                                                         "request", or_empty(g->request))) < 0)
                        return ERR_NO_MEMORY;
        }
        return 0;
}

/* Which approvals are waited for. */
static json_t *approvals_of(const struct run_view *v)
{
        json_t *all = json_array();
        int code = all ? 0 : ERR_NO_MEMORY;

        for (size_t i = 0; code == 0 && i < v->n_stages + (v->deletion != NULL); i++) {
                const struct stage_view *s = i < v->n_stages ? &v->stages[i] : v->deletion;

                code = add_gates(all, s, s->before, s->n_before, "before");
                if (code == 0)
                        code = add_gates(all, s, s->after, s->n_after, "after");
        }
        if (code == 0)
                return all;
        json_decref(all);
        return NULL;
}

static const char *placement_key(struct arena *arena, const struct update_run *r)
{
        const char *name = r->spec ? or_empty(r->spec->placement_name) : "";

        if (!*name)
                return "";
        return r->object.meta.ns ? arena_printf(arena, "rp/%s/%s", r->object.meta.ns, name)
                                 : arena_printf(arena, "crp/%s", name);
}

static json_t *run_row(struct arena *arena, const struct run_view *v, json_t *approvals)
{
        const char *placement = placement_key(arena, v->run);
        struct page_writer w;

        page_begin(&w, arena);
        page_set_string(&w, "standing", page_standing(run_standing(v->state)));
        page_set_string(&w, "word", v->word);
        page_set(&w, "placement", placement ? json_string(placement) : NULL);
        page_set_string(&w, "revision", v->revision);
        page_set(&w, "progress", page_progress(&v->progress));
        page_set_string(&w, "stage", v->current ? v->current->name : "");
        page_set_text(&w, "message", v->message, PAGE_MESSAGE_BYTES);
        page_set(&w, "since", page_time(v->run->object.meta.creation_ms));
        page_set_flag(&w, "over", run_is_over(v->state));
        page_set(&w, "approvals", approvals);
        return page_end(&w);
}

static int draw_run(struct fleet *f, const struct object *o)
{
        const struct object_list none = { 0 };
        struct arena *arena = f->look->arena;
        const char *key = page_object_key(arena, o, "csur", "sur");
        uint64_t stamp = page_stamp(PAGE_STAMP, o);
        json_t *approvals;
        struct run_view v;

        if (!key || run_look(arena, (const struct update_run *)o, &none, &v) < 0 ||
            !(approvals = approvals_of(&v)))
                return ERR_NO_MEMORY;
        progress_add(&f->runs, run_standing(v.state));
        f->approvals += json_array_size(approvals) > 0 && !run_is_over(v.state);
        if (!page_row_stays(f->doc, "runs", key, stamp))
                return page_row_stamped(f->doc, "runs", key, stamp, run_row(arena, &v, approvals));
        json_decref(approvals);
        return 0;
}

/* ---- all ---- */

static json_t *counts(const struct progress *p)
{
        return json_pack("{s:I, s:I, s:I, s:I, s:I}", "total", (json_int_t)p->total, "done",
                         (json_int_t)p->good, "busy", (json_int_t)p->busy, "failed", (json_int_t)p->bad,
                         "waits", (json_int_t)(p->total - p->good - p->busy - p->bad));
}

/* Kinds that this hub does not have. */
static json_t *lacking(const struct page_look *l)
{
        json_t *all = json_array();

        for (size_t i = 0; all && i < l->needs->n; i++)
                if (l->needs->at[i].fetch.kind_missing &&
                    json_array_append_new(all, json_string(l->needs->at[i].fetch.kind->kind)) < 0) {
                        json_decref(all);
                        return NULL;
                }
        return all;
}

static int draw_head(struct fleet *f)
{
        struct page_writer w;

        page_begin(&w, f->look->arena);
        page_set(&w, "clusters", counts(&f->clusters));
        page_set(&w, "placements", counts(&f->placements));
        page_set(&w, "runs", counts(&f->runs));
        page_set_number(&w, "approvals", (int64_t)f->approvals);
        page_set(&w, "lacks", lacking(f->look));
        return page_head(f->doc, page_end(&w));
}

static int draw_each(struct fleet *f, const struct kind *kind,
                     int (*draw)(struct fleet *f, const struct object *o))
{
        const struct page_need *n = page_need_of(f->look, kind, 0);

        for (size_t i = 0; n && i < n->fetch.result.n; i++)
                TRY(draw(f, n->fetch.result.at[i]));
        return 0;
}

static int draw(struct fleet *f)
{
        tallies_begin(f->tallies);
        TRY(draw_each(f, &cluster_resource_placement_kind, draw_placement));
        TRY(draw_each(f, &resource_placement_kind, draw_placement));
        tallies_end(f->tallies);
        TRY(draw_each(f, &member_cluster_kind, draw_cluster)); /* with what placements say of them */
        TRY(draw_each(f, &cluster_staged_update_run_kind, draw_run));
        TRY(draw_each(f, &staged_update_run_kind, draw_run));
        return draw_head(f);
}

static int look(const struct page_look *l, struct page_doc *d, struct error *err)
{
        struct fleet f = { .look = l, .doc = d, .tallies = page_kept(d) };
        int code;

        if (!f.tallies) {
                f.tallies = tallies_new();
                if (!f.tallies)
                        return error_no_memory(err);
                page_keep(d, f.tallies, tallies_free);
        }
        code = draw(&f);
        if (code < 0)
                page_keep(d, NULL, NULL);
        return code;
}

const struct page_view fleet_page_view = { .name = "fleet", .need = need, .look = look };
