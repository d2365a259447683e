/* The view of one object across the fleet: which placements hold it, and how it does on each cluster. The
 * placements tell which bindings, Works and revisions are read; manifests never are but for what names them,
 * since they may hold Secrets. */
#include "hub-agent/common.h"
#include "kubectl-fleet/page/object_holders.h"
#include "kubectl-fleet/page/row_parts.h"
#include "kubectl-fleet/where_view.h"

static int wanted_of(const struct page_look *l, struct wanted *ret, struct error *err)
{
        *ret = (struct wanted){ .group = page_arg_or(l, "group", ""), .ns = page_arg_or(l, "ns", "") };
        TRY(page_arg(l, "kind", &ret->kind, err));
        TRY(page_arg(l, "name", &ret->name, err));
        ret->secret = page_is_secret(ret->kind);
        return 0;
}

static int need(const struct page_look *l, struct page_needs *ret, struct error *err)
{
        struct holders holders;
        struct wanted w;

        TRY(wanted_of(l, &w, err));
        if (*w.ns && !text_is_dns1123_label(w.ns))
                return error_set(err, ERR_INVALID, "ns: must be a name of a namespace");
        if (holders_of(l, &w, &holders) < 0)
                return error_no_memory(err);
        TRY(page_needs_add(ret, (struct fetch){ .kind = &cluster_resource_placement_kind }, err));
        if (*w.ns)
                TRY(page_needs_add(
                        ret, (struct fetch){ .kind = &resource_placement_kind, .ns = w.ns, .may_lack = true },
                        err));
        for (size_t i = 0; i < MIN(holders.n, HOLDERS_MAX); i++)
                TRY(holder_needs(l, &holders.at[i], ret, err));
        return 0;
}

/* ---- how it does on one cluster ---- */

struct found {
        enum standing standing;
        const char *word, *message;
        int64_t since_ms, changed_ms; /* the second: since it drifted or differs */
        const struct patch_detail_list *fields;
        bool drifted;
        const char *work; /* that speaks of it; NULL */
        bool absent;      /* the cluster's revision does not have it */
};

/* What Works say: `found` = one speaks of it; `told` = all have told of what they hold now. */
struct told {
        const struct manifest_condition *found;
        const struct work *work;
        size_t n;
        bool all;
};

static bool work_has_told(const struct work *w)
{
        static const char *const types[] = { CONDITION_APPLIED, CONDITION_DIFF_REPORTED };

        for (size_t i = 0; w->status && i < ARRAY_LEN(types); i++) {
                const struct condition *c = condition_find(&w->status->conditions, types[i]);

                if (c && c->observed_generation.value == w->object.meta.generation &&
                    !text_equal(c->status, CONDITION_UNKNOWN))
                        return true;
        }
        return false;
}

static bool manifest_is(const struct wanted *w, const struct manifest_condition *m)
{
        const struct work_resource_identifier *id = m->identifier;

        return id && text_equal(or_empty(id->name), w->name) && text_equal(or_empty(id->kind), w->kind) &&
               text_equal(or_empty(id->ns), w->ns) && text_equal(or_empty(id->group), w->group);
}

static void read_work(const struct wanted *w, const struct work *work, struct told *t)
{
        t->n++;
        t->all = t->all && work_has_told(work);
        for (uint32_t i = 0; work->status && i < work->status->manifest_conditions.n; i++) {
                const struct manifest_condition *m = &work->status->manifest_conditions.at[i];

                if (!t->found && manifest_is(w, m)) {
                        t->found = m;
                        t->work = work;
                }
        }
}

static int compare_to_namespace(const void *key, const void *at)
{
        return strcmp(key, or_empty((*(const struct object *const *)at)->meta.ns));
}

/* Works are sorted by namespace. */
static int read_works(struct arena *arena, const struct wanted *w, const struct object_list *works,
                      const char *cluster, struct told *ret)
{
        const char *ns = arena_printf(arena, "%s%s", NAMESPACE_MEMBER_PREFIX, cluster);
        const struct object **hit;

        *ret = (struct told){ .all = true };
        if (!ns)
                return ERR_NO_MEMORY;
        hit = works->n ? bsearch(ns, works->at, works->n, sizeof(*works->at), compare_to_namespace) : NULL;
        while (hit && hit > works->at && text_equal(hit[-1]->meta.ns, ns))
                hit--;
        for (; hit && hit < works->at + works->n && text_equal((*hit)->meta.ns, ns); hit++)
                read_work(w, (const struct work *)*hit, ret);
        ret->all = ret->all && ret->n > 0;
        return 0;
}

static int64_t since_of(const struct condition_list *l, const char *type)
{
        const struct condition *c = condition_find(l, type);

        return c ? c->last_transition_ms : TIME_NONE;
}

static const char *shown_message(const struct wanted *w, const char *message)
{
        return w->secret && !text_empty(message) ? PAGE_HIDDEN_MESSAGE : or_empty(message);
}

static void from_manifest(const struct wanted *w, const struct told *t, struct found *f)
{
        const struct manifest_condition *m = t->found;
        struct placed_object o;
        bool compares = condition_find(&m->conditions, CONDITION_DIFF_REPORTED) != NULL;
        bool applied = condition_find(&m->conditions, CONDITION_APPLIED) &&
                       text_equal(condition_find(&m->conditions, CONDITION_APPLIED)->status, CONDITION_TRUE);

        placed_object_judge(m, &o);
        *f = (struct found){ .standing = o.standing,
                             .word = o.word,
                             .message = shown_message(w, o.message),
                             .since_ms = since_of(&m->conditions, compares  ? CONDITION_DIFF_REPORTED
                                                                  : applied ? CONDITION_AVAILABLE
                                                                            : CONDITION_APPLIED),
                             .changed_ms = TIME_NONE,
                             .work = t->work->object.meta.name };
        if (m->drift_details) {
                f->drifted = true;
                f->fields = &m->drift_details->observed_drifts;
                f->changed_ms = m->drift_details->first_drifted_observed_time;
        } else if (m->diff_details) {
                f->fields = &m->diff_details->observed_diffs;
                f->changed_ms = m->diff_details->first_diffed_observed_time;
        }
}

static void from_failed(const struct wanted *w, const struct place *p, struct found *f)
{
        for (uint32_t i = 0; i < p->failed.n; i++) {
                const struct condition *c = p->failed.at[i].condition;

                if (!wanted_is(w, &p->failed.at[i].id))
                        continue;
                f->standing = STANDING_FAILED;
                f->word = c && text_equal(c->type, CONDITION_AVAILABLE)       ? "not available"
                          : c && text_equal(c->type, CONDITION_DIFF_REPORTED) ? "not compared"
                                                                              : "apply failed";
                f->message = c ? shown_message(w, c->message) : "";
                f->since_ms = c ? c->last_transition_ms : TIME_NONE;
                return;
        }
}

static void from_changed(const struct wanted *w, const struct place *p, struct found *f)
{
        for (uint32_t i = 0; !f->fields && i < p->drifted.n; i++)
                if (wanted_is(w, &p->drifted.at[i].id)) {
                        f->drifted = true;
                        f->fields = &p->drifted.at[i].observed_drifts;
                        f->changed_ms = p->drifted.at[i].first_drifted_observed_time;
                }
        for (uint32_t i = 0; !f->fields && i < p->diffed.n; i++)
                if (wanted_is(w, &p->diffed.at[i].id)) {
                        f->fields = &p->diffed.at[i].observed_diffs;
                        f->changed_ms = p->diffed.at[i].first_diffed_observed_time;
                }
        if (f->fields && f->standing == STANDING_DONE)
                f->standing = STANDING_BUSY, f->word = f->drifted ? "drifted" : "differs";
}

/* A projection of a Work leaves out what is well, so an object that no Work speaks of, once all have told, is
 * well. Until they have, it is as far as the placement is. */
static void from_place(const struct wanted *w, const struct place *p, const struct told *t, struct found *f)
{
        bool compares = condition_find(p->conditions, CONDITION_DIFF_REPORTED) != NULL;
        bool well = p->word.standing == STANDING_DONE ||
                    (t->all && condition_is_true(p->conditions, CONDITION_WORK_SYNCHRONIZED, p->generation));

        *f = (struct found){ .standing = p->word.standing,
                             .word = p->word.word,
                             .message = p->message,
                             .since_ms = p->since_ms,
                             .changed_ms = TIME_NONE };
        if (p->removing || p->unplaced)
                return;
        if (well)
                *f = (struct found){ .standing = STANDING_DONE,
                                     .word = compares ? "compared" : "available",
                                     .message = "",
                                     .since_ms = p->word.standing == STANDING_DONE ? p->since_ms : TIME_NONE,
                                     .changed_ms = TIME_NONE };
        from_failed(w, p, f);
        from_changed(w, p, f);
}

static void judge(const struct wanted *w, const struct place *p, const struct told *t, struct found *f)
{
        bool reached = p->known && !p->removing &&
                       condition_is_true(p->conditions, CONDITION_WORK_SYNCHRONIZED, p->generation);

        if (t->found && (reached || !p->binding))
                from_manifest(w, t, f);
        else
                from_place(w, p, t, f);
}

/* What its revision does not have; NULL = it has it, or that is not known. Left over or removed, it was there
 * for what the Works say. */
static const char *absence(struct arena *arena, const struct wanted *w, const struct holder *h,
                           const struct place *p, const struct told *t)
{
        const struct held_revision *r = holder_revision(h, p->revision);

        if (!h->revisions_known || !*p->revision || t->found || (r && r->has) ||
            wanted_in(w, &p->failed, &p->drifted, &p->diffed))
                return NULL;
        return r ? arena_printf(arena, "not in revision %s", p->revision) : "not known";
}

static void judge_absent(const char *word, const struct place *p, struct arena *arena, struct found *f)
{
        *f = (struct found){ .standing = STANDING_WAITS,
                             .word = word,
                             .message =
                                     text_equal(word, "not known")
                                             ? arena_printf(arena, "the hub keeps no snapshot of revision %s",
                                                            p->revision)
                                             : "",
                             .since_ms = TIME_NONE,
                             .changed_ms = TIME_NONE,
                             .absent = true };
}

/* ---- drawing ---- */

#define CHANGED_BYTES_MAX (8u << 20) /* of fields of all rows together */

struct drawing {
        const struct page_look *l;
        struct page_doc *d;
        const struct wanted *w;
        struct progress progress;
        size_t drifted, different, fields_bytes, without_fields, clusters;
        size_t not_shown, not_asked; /* placements: that hold it; that may hold it */
        json_t *placements;
};

static json_t *row_of(struct drawing *g, const struct holder *h, const struct place *p, const struct found *f,
                      const char *latest)
{
        struct page_writer w;
        bool room = !f->fields || g->fields_bytes <= CHANGED_BYTES_MAX;

        page_begin(&w, g->l->arena);
        page_set_string(&w, "cluster", p->cluster);
        page_set(&w, "placement", page_placement_name(&h->placement->object));
        page_set_string(&w, "standing", page_standing(f->standing));
        page_set_string(&w, "word", f->word);
        page_set_text(&w, "message", f->message, PAGE_MESSAGE_BYTES);
        page_set(&w, "since", page_time(f->since_ms));
        page_set_string(&w, "revision", p->revision);
        page_set_flag(&w, "latest", *p->revision && text_equal(p->revision, latest));
        page_set_string(&w, "work", f->work);
        page_set_flag(&w, "absent", f->absent);
        if (f->fields) {
                page_set_string(&w, "change", f->drifted ? "drifted" : "different");
                page_set(&w, "changedSince", page_time(f->changed_ms));
                page_set_flag(&w, "fieldsLeftOut", !room);
                if (room && w.doc && page_put_fields(g->l->arena, w.doc, f->fields, g->w->secret) < 0)
                        w.failed = true;
        }
        return page_end(&w);
}

static int draw_place(struct drawing *g, const struct holder *h, const struct places *v,
                      const struct place *p, const struct object_list *works)
{
        const char *key, *missing;
        uint64_t stamp = page_stamp(PAGE_STAMP, p->source);
        struct told told;
        struct found f;

        if (p->unplaced)
                return 0;
        key = arena_printf(g->l->arena, "%s %s/%s %s", p->key, or_empty(h->placement->object.meta.ns),
                           h->placement->object.meta.name, h->placement->object.meta.ns ? "rp" : "crp");
        if (!key)
                return ERR_NO_MEMORY;
        TRY(read_works(g->l->arena, g->w, works, p->cluster, &told));
        missing = absence(g->l->arena, g->w, h, p, &told);
        if (missing && p->removing)
                return 0;
        if (missing)
                judge_absent(missing, p, g->l->arena, &f);
        else
                judge(g->w, p, &told, &f);
        if (!f.message)
                return ERR_NO_MEMORY;
        g->clusters += !f.absent;
        if (!f.absent)
                progress_add(&g->progress, f.standing);
        g->drifted += f.fields && f.drifted;
        g->different += f.fields && !f.drifted;
        if (f.fields)
                g->fields_bytes += page_fields_size(f.fields);
        g->without_fields += f.fields && g->fields_bytes > CHANGED_BYTES_MAX;
        stamp = page_stamp(stamp, told.work ? &told.work->object : NULL);
        stamp = page_stamp_text(page_stamp_text(stamp, f.word), v->view.latest);
        stamp = page_stamp_text(stamp, g->fields_bytes > CHANGED_BYTES_MAX ? "cut" : "");
        return page_row_stays(g->d, "clusters", key, stamp)
                       ? 0
                       : page_row_stamped(g->d, "clusters", key, stamp, row_of(g, h, p, &f, v->view.latest));
}

static json_t *placement_of(struct arena *arena, const struct holder *h, const struct places *v,
                            size_t clusters)
{
        struct placement_summary s;
        struct page_writer w;

        if (placement_summarize(arena, h->placement, &s) < 0)
                return NULL;
        page_begin(&w, arena);
        page_set_string(&w, "scope", h->placement->object.meta.ns ? "rp" : "crp");
        page_set_string(&w, "namespace", h->placement->object.meta.ns);
        page_set_string(&w, "name", h->placement->object.meta.name);
        page_set_string(&w, "standing", page_standing(v ? v->view.summary.standing : s.standing));
        page_set_string(&w, "word", v ? v->view.summary.word : s.word);
        page_set_string(&w, "revision", s.revision);
        page_set_number(&w, "clusters", (int64_t)clusters);
        page_set_flag(&w, "selects", h->selects);
        page_set_string(&w, "envelope", h->envelope);
        page_set_flag(&w, "shown", v != NULL);
        return page_end(&w);
}

/* The need of one placement's bindings or Works: of its kind, in the order in which need() asks. */
static const struct page_need *need_of_holder(const struct page_look *l, const struct holders *all, size_t i,
                                              bool works)
{
        const char *ns = all->at[i].placement->object.meta.ns;
        size_t nth = 0;

        for (size_t k = 0; k < i; k++)
                nth += works || !all->at[k].placement->object.meta.ns == !ns;
        return page_need_of(l, works ? &work_kind : scope_of(ns)->binding, nth);
}

static int draw_holder(struct drawing *g, const struct holders *all, size_t i)
{
        struct holder *h = &all->at[i];
        const struct page_need *bindings = need_of_holder(g->l, all, i, false);
        const struct page_need *works = need_of_holder(g->l, all, i, true);
        struct placement_parts parts = { .placement = h->placement };
        struct places v;
        size_t before = g->clusters;

        if (i >= HOLDERS_MAX || !bindings || !works) {
                g->not_shown += h->sure;
                g->not_asked += !h->sure;
                return h->sure ? json_array_append_new(g->placements, placement_of(g->l->arena, h, NULL, 0))
                               : 0;
        }
        TRY(holder_read_revisions(g->l, g->w, h));
        if (!holder_holds(h))
                return 0;
        parts.bindings = bindings->fetch.result;
        parts.works = works->fetch.result;
        TRY(places_of(g->l->arena, &parts, bindings->filled, &v));
        v.view.latest = h->placement->status ? or_empty(h->placement->status->observed_resource_index) : "";
        for (size_t k = 0; k < v.n; k++)
                TRY(draw_place(g, h, &v, &v.at[k], &works->fetch.result));
        return json_array_append_new(g->placements, placement_of(g->l->arena, h, &v, g->clusters - before));
}

static json_t *head_of(const struct drawing *g)
{
        const struct progress *p = &g->progress;
        struct page_writer w;

        page_begin(&w, g->l->arena);
        page_set_string(&w, "group", g->w->group);
        page_set_string(&w, "kind", g->w->kind);
        page_set_string(&w, "namespace", g->w->ns);
        page_set_string(&w, "name", g->w->name);
        page_set_flag(&w, "hidden", g->w->secret);
        page_set(&w, "placements", json_incref(g->placements));
        page_set(&w, "progress",
                 json_pack("{s:I, s:I, s:I, s:I}", "done", (json_int_t)p->good, "busy", (json_int_t)p->busy,
                           "failed", (json_int_t)p->bad, "total", (json_int_t)p->total));
        page_set_number(&w, "drifted", (int64_t)g->drifted);
        page_set_number(&w, "different", (int64_t)g->different);
        page_set_number(&w, "notShown", (int64_t)g->not_shown);
        page_set_number(&w, "notAsked", (int64_t)g->not_asked);
        page_set_number(&w, "withoutFields", (int64_t)g->without_fields);
        return page_end(&w);
}

static int nobody(const struct drawing *g, struct error *err)
{
        const struct wanted *w = g->w;

        if (g->not_asked)
                return error_set(err, ERR_NOT_FOUND,
                                 "no placement says that it holds %s %s%s%s; %zu that may hold it were not "
                                 "looked into: open it from the page of a placement or of a cluster",
                                 w->kind, w->ns, *w->ns ? "/" : "", w->name, g->not_asked);
        return error_set(err, ERR_NOT_FOUND,
                         "no placement holds %s %s%s%s: none says so, and it is in no revision that a "
                         "cluster has of one that selects it",
                         w->kind, w->ns, *w->ns ? "/" : "", w->name);
}

static int look(const struct page_look *l, struct page_doc *d, struct error *err)
{
        AUTO_JSON json_t *placements = json_array();
        struct wanted w;
        struct drawing g = { .l = l, .d = d, .w = &w, .placements = placements };
        struct holders holders;
        int code = placements ? 0 : ERR_NO_MEMORY;

        TRY(wanted_of(l, &w, err));
        if (holders_of(l, &w, &holders) < 0)
                return error_no_memory(err);
        if (holders.n == 0 && !page_need_of(l, &cluster_resource_placement_kind, 0)->filled)
                return error_set(err, ERR_RETRY, "placements cannot be read: %s",
                                 or_empty(page_need_of(l, &cluster_resource_placement_kind, 0)->problem));
        for (size_t i = 0; code == 0 && i < holders.n; i++)
                code = draw_holder(&g, &holders, i) < 0 ? ERR_NO_MEMORY : 0;
        if (code == 0 && json_array_size(placements) == 0)
                return nobody(&g, err);
        if (code == 0)
                code = page_head(d, head_of(&g));
        return code < 0 ? error_no_memory(err) : 0;
}

const struct page_view object_page_view = { .name = "object", .need = need, .look = look };
