/* The view of one placement: what it is and how it goes in the head, a row for each cluster with its steps,
 * and rows for each object that failed, drifted or differs. */
#include "hub-agent/common.h"
#include "kubectl-fleet/page/placement_head.h"
#include "kubectl-fleet/page/row_parts.h"

#define TROUBLE_ROWS_MAX 1000        /* of each part */
#define TROUBLE_BYTES_MAX (4u << 20) /* of each part, together */
#define LABELS_MAX 64                /* of a cluster */
#define WORKS_MAX 100                /* of a cluster, by name */

/* ---- what is read ---- */

int page_placement_needs(const struct page_look *l, const struct page_placement *p, bool works_whole,
                         struct page_needs *ret, struct error *err)
{
        const struct scope *scope = scope_of(p->ns);
        const char *of = selector_of(l->arena, LABEL_PARENT_PLACEMENT, p->name);
        const char *works =
                p->ns ? arena_printf(l->arena, "%s,%s=%s", or_empty(of), LABEL_PARENT_PLACEMENT_NAMESPACE,
                                     p->ns)
                      : arena_printf(l->arena, "%s,!%s", or_empty(of), LABEL_PARENT_PLACEMENT_NAMESPACE);

        if (!of || !works)
                return error_no_memory(err);
        const struct fetch all[] = {
                { .kind = scope->binding, .ns = p->ns, .selector = of },
                { .kind = &work_kind, .selector = works, .metadata_only = !works_whole },
        };

        return page_needs_add_all(ret, all, ARRAY_LEN(all), err);
}

static int read_words(const struct page_look *l, struct page_placement *ret, struct error *err)
{
        const char *kind;

        *ret = (struct page_placement){ 0 };
        TRY(page_arg(l, "kind", &kind, err));
        TRY(page_arg(l, "name", &ret->name, err));
        if (text_equal(kind, "rp"))
                return page_arg(l, "ns", &ret->ns, err);
        if (!text_equal(kind, "crp"))
                return error_set(err, ERR_INVALID, "kind: must be crp or rp");
        if (*page_arg_or(l, "ns", ""))
                return error_set(err, ERR_INVALID, "ns: a ClusterResourcePlacement has no namespace");
        return 0;
}

int page_placement_arg(const struct page_look *l, struct page_placement *ret, struct error *err)
{
        TRY(read_words(l, ret, err));
        if (!text_is_label_value(ret->name) || !text_is_dns1123_subdomain(ret->name))
                return error_set(err, ERR_INVALID, "name: must be a name of a placement, up to %d characters",
                                 LABEL_VALUE_MAX);
        if (ret->ns && !text_is_dns1123_label(ret->ns))
                return error_set(err, ERR_INVALID, "ns: must be a name of a namespace");
        return 0;
}

static int need(const struct page_look *l, struct page_needs *ret, struct error *err)
{
        struct page_placement p;
        const struct scope *scope;
        const char *latest;

        TRY(page_placement_arg(l, &p, err));
        scope = scope_of(p.ns);
        latest = arena_printf(l->arena, "%s=%s,%s=%s", LABEL_PARENT_PLACEMENT, p.name,
                              LABEL_IS_LATEST_SNAPSHOT, LABEL_TRUE);
        if (!latest)
                return error_no_memory(err);
        const struct fetch all[] = {
                { .kind = scope->placement, .ns = p.ns, .name = p.name, .may_lack = true },
                { .kind = scope->resource_snapshot, .ns = p.ns, .selector = latest, .metadata_only = true },
                { .kind = scope->update_run, .ns = p.ns, .may_lack = true },
                { .kind = &member_cluster_kind },
        };

        TRY(page_needs_add_all(ret, all, ARRAY_LEN(all), err));
        return page_placement_needs(l, &p, false, ret, err);
}

/* ---- a cluster ---- */

static int by_name(const void *key, const void *at)
{
        return strcmp(key, (*(const struct object *const *)at)->meta.name);
}

static const struct member_cluster *member_of(const struct page_need *members, const char *cluster)
{
        const struct object_list *l = &members->fetch.result;
        const struct object *const *found =
                l->n ? bsearch(cluster, l->at, l->n, sizeof(*l->at), by_name) : NULL;

        return found ? (const struct member_cluster *)*found : NULL;
}

/* What a user has to know of the cluster when nothing goes on there; "" = all is well. */
static const char *trouble_of(const struct page_need *members, const struct member_cluster *m)
{
        const struct agent_status *agent;
        const struct condition *healthy;

        if (!members->filled)
                return "";
        if (!m)
                return "there is no such member cluster";
        if (is_deleting(&m->object))
                return "the cluster is leaving the fleet";
        if (!m->status || !condition_find(&m->status->conditions, CONDITION_JOINED))
                return "the cluster has not joined";
        agent = member_agent_status(&m->status->agent_status, AGENT_MEMBER);
        healthy = agent ? condition_find(&agent->conditions, CONDITION_HEALTHY) : NULL;
        if (!text_equal(condition_find(&m->status->conditions, CONDITION_JOINED)->status, CONDITION_TRUE))
                return "the cluster has not joined";
        return healthy && text_equal(healthy->status, CONDITION_TRUE) ? "" : "the cluster is not healthy";
}

static uint64_t stamp_of(const struct place *p, const struct member_cluster *m, const char *trouble,
                         const char *latest)
{
        uint64_t stamp = page_stamp(PAGE_STAMP, p->source);

        for (size_t i = 0; i < p->n_works; i++)
                stamp = page_stamp_text(stamp, p->works[i]);
        for (uint32_t i = 0; m && i < m->object.meta.labels.n; i++) {
                stamp = page_stamp_text(stamp, m->object.meta.labels.at[i].key);
                stamp = page_stamp_text(stamp, m->object.meta.labels.at[i].value);
        }
        stamp = page_stamp_text(stamp, trouble);
        return page_stamp_text(stamp, latest);
}

/* There are six steps of each cluster, and little to be said of most. */
static void set_unless_empty(struct page_writer *w, const char *key, const char *text)
{
        if (!text_empty(text))
                page_set_text(w, key, text, PAGE_MESSAGE_BYTES);
}

static json_t *steps_of(struct arena *arena, const struct place *p)
{
        struct place_step steps[PLACE_STEPS_MAX];
        size_t n = place_steps(p, steps);
        AUTO_JSON json_t *list = json_array();

        for (size_t i = 0; i < n; i++) {
                struct page_writer w;

                page_begin(&w, arena);
                page_set_string(&w, "step", steps[i].step);
                page_set_string(&w, "state", page_standing(steps[i].standing));
                set_unless_empty(&w, "word", steps[i].word);
                set_unless_empty(&w, "reason", steps[i].reason);
                set_unless_empty(&w, "message", steps[i].message);
                page_set(&w, "since", page_time(steps[i].since_ms));
                if (json_array_append_new(list, page_end(&w)) < 0)
                        return NULL;
        }
        return json_incref(list);
}

static void put_works(struct page_writer *w, const struct place *p)
{
        json_t *list = json_array();

        for (size_t i = 0; i < MIN(p->n_works, WORKS_MAX); i++)
                page_append(w, list, json_string(p->works[i]));
        page_set(w, "works", list);
        page_set_number(w, "worksTotal", (int64_t)p->n_works);
}

static void put_labels(struct page_writer *w, const struct member_cluster *m)
{
        json_t *labels = json_object();

        for (uint32_t i = 0; m && i < MIN(m->object.meta.labels.n, LABELS_MAX); i++)
                if (json_object_set_new(labels, m->object.meta.labels.at[i].key,
                                        json_string(or_empty(m->object.meta.labels.at[i].value))) < 0)
                        w->failed = true;
        page_set(w, "labels", labels);
}

static void put_overrides(struct page_writer *w, const struct binding *b)
{
        json_t *list = json_array();

        for (uint32_t i = 0; b && i < b->spec->cluster_resource_override_snapshots.n; i++)
                page_append(
                        w, list,
                        page_override_of(w->arena, NULL, b->spec->cluster_resource_override_snapshots.at[i]));
        for (uint32_t i = 0; b && i < b->spec->resource_override_snapshots.n; i++)
                page_append(w, list,
                            page_override_of(w->arena, b->spec->resource_override_snapshots.at[i].ns,
                                             b->spec->resource_override_snapshots.at[i].name));
        page_set(w, "overrides", list);
}

static json_t *cluster_row(struct arena *arena, const struct place *p, const struct member_cluster *m,
                           const char *trouble, const char *latest)
{
        struct page_writer w;

        page_begin(&w, arena);
        page_set_string(&w, "cluster", p->cluster);
        page_set_number(&w, "rank", *trouble ? 0 : p->rank);
        page_set_string(&w, "standing", page_standing(p->word.standing));
        page_set_string(&w, "word", p->word.word);
        page_set_text(&w, "message", p->message, PAGE_MESSAGE_BYTES);
        page_set(&w, "since", page_time(p->since_ms));
        page_set_string(&w, "revision", p->revision);
        page_set_flag(&w, "latest", *p->revision && text_equal(p->revision, latest));
        page_set_flag(&w, "removing", p->removing);
        page_set_flag(&w, "unplaced", p->unplaced);
        page_set_string(&w, "trouble", trouble);
        page_set_number(&w, "failed", p->failed.n);
        page_set_number(&w, "drifted", p->drifted.n);
        page_set_number(&w, "different", p->diffed.n);
        page_set(&w, "steps", p->removing || p->unplaced ? json_array() : steps_of(arena, p));
        put_works(&w, p);
        put_labels(&w, m);
        put_overrides(&w, p->binding);
        return page_end(&w);
}

/* `ill`: how many are on a cluster that is not well. */
static int draw_clusters(const struct page_look *l, const struct places *v, struct page_doc *d, size_t *ill)
{
        const struct page_need *members = page_need_of(l, &member_cluster_kind, 0);

        for (size_t i = 0; i < v->n; i++) {
                const struct place *p = &v->at[i];
                const struct member_cluster *m = member_of(members, p->cluster);
                const char *trouble = *p->cluster ? trouble_of(members, m) : "";
                uint64_t stamp = stamp_of(p, m, trouble, v->view.latest);

                *ill += *trouble != '\0';
                if (page_row_stays(d, "clusters", p->key, stamp))
                        continue;
                TRY(page_row_stamped(d, "clusters", p->key, stamp,
                                     cluster_row(l->arena, p, m, trouble, v->view.latest)));
        }
        return 0;
}

/* ---- objects that are not well ---- */

struct trouble {
        const struct place *place;
        const struct resource_identifier *id;
        const struct condition *condition;      /* of one that failed */
        const struct patch_detail_list *fields; /* else */
        int64_t since_ms, seen_ms;
};

struct troubles {
        const struct page_look *l;
        struct page_doc *d;
        const char *part;
        struct page_trouble_count *count;
        size_t bytes;
        int code;
};

static json_t *trouble_row(struct arena *arena, const struct trouble *t)
{
        bool secret = page_is_secret(t->id->kind);
        struct page_writer w;

        page_begin(&w, arena);
        page_set_string(&w, "cluster", t->place->cluster);
        if (!w.doc || page_put_identifier(w.doc, t->id) < 0)
                w.failed = true;
        page_set(&w, "since", page_time(t->since_ms));
        if (t->condition)
                page_set(&w, "condition",
                         page_condition_of(arena, t->condition, t->condition->observed_generation.value,
                                           secret));
        if (t->fields) {
                page_set(&w, "seen", page_time(t->seen_ms));
                if (!w.doc || page_put_fields(arena, w.doc, t->fields, secret) < 0)
                        w.failed = true;
        }
        return page_end(&w);
}

static const char *trouble_key(struct arena *arena, const struct trouble *t)
{
        const struct envelope_identifier *e = t->id->envelope;

        return arena_printf(arena, "%s %s/%s/%s/%s%s%s%s%s", t->place->key, or_empty(t->id->group),
                            or_empty(t->id->kind), or_empty(t->id->ns), or_empty(t->id->name),
                            e ? " in " : "", e ? or_empty(e->ns) : "", e ? "/" : "",
                            e ? or_empty(e->name) : "");
}

static size_t trouble_size(const struct trouble *t)
{
        size_t n = 512;

        if (t->condition)
                n += MIN(strlen(or_empty(t->condition->message)), PAGE_MESSAGE_BYTES);
        return t->fields ? n + page_fields_size(t->fields) : n;
}

static void add_trouble(struct troubles *all, const struct trouble *t)
{
        uint64_t stamp = page_stamp(PAGE_STAMP, t->place->source);
        const char *key;

        all->count->total++;
        all->bytes += trouble_size(t);
        if (all->code < 0 || all->count->shown >= TROUBLE_ROWS_MAX || all->bytes > TROUBLE_BYTES_MAX)
                return;
        all->count->shown++;
        key = trouble_key(all->l->arena, t);
        if (!key)
                all->code = ERR_NO_MEMORY;
        else if (!page_row_stays(all->d, all->part, key, stamp))
                all->code = page_row_stamped(all->d, all->part, key, stamp, trouble_row(all->l->arena, t));
}

static int draw_failed(const struct page_look *l, const struct places *v, struct page_doc *d,
                       struct page_trouble_count *count)
{
        struct troubles all = { .l = l, .d = d, .part = "failed", .count = count };

        for (size_t i = 0; i < v->n; i++)
                for (uint32_t k = 0; k < v->at[i].failed.n; k++) {
                        const struct failed_placement *f = &v->at[i].failed.at[k];

                        add_trouble(&all, &(struct trouble){
                                                  .place = &v->at[i],
                                                  .id = &f->id,
                                                  .condition = f->condition,
                                                  .since_ms = f->condition ? f->condition->last_transition_ms
                                                                           : TIME_NONE });
                }
        return all.code;
}

static int draw_drifted(const struct page_look *l, const struct places *v, struct page_doc *d,
                        struct page_trouble_count *count)
{
        struct troubles all = { .l = l, .d = d, .part = "drifted", .count = count };

        for (size_t i = 0; i < v->n; i++)
                for (uint32_t k = 0; k < v->at[i].drifted.n; k++) {
                        const struct drifted_placement *f = &v->at[i].drifted.at[k];

                        add_trouble(&all, &(struct trouble){ .place = &v->at[i],
                                                             .id = &f->id,
                                                             .fields = &f->observed_drifts,
                                                             .since_ms = f->first_drifted_observed_time,
                                                             .seen_ms = f->observation_time });
                }
        return all.code;
}

static int draw_different(const struct page_look *l, const struct places *v, struct page_doc *d,
                          struct page_trouble_count *count)
{
        struct troubles all = { .l = l, .d = d, .part = "different", .count = count };

        for (size_t i = 0; i < v->n; i++)
                for (uint32_t k = 0; k < v->at[i].diffed.n; k++) {
                        const struct diffed_placement *f = &v->at[i].diffed.at[k];

                        add_trouble(&all, &(struct trouble){ .place = &v->at[i],
                                                             .id = &f->id,
                                                             .fields = &f->observed_diffs,
                                                             .since_ms = f->first_diffed_observed_time,
                                                             .seen_ms = f->observation_time });
                }
        return all.code;
}

/* ---- the view ---- */

static int look(const struct page_look *l, struct page_doc *d, struct error *err)
{
        struct page_placement_look v = { .look = l };
        struct page_placement p;
        struct placement_parts parts = { 0 };
        const struct scope *scope;
        const struct page_need *placement, *bindings;

        TRY(page_placement_arg(l, &p, err));
        scope = scope_of(p.ns);
        placement = page_need_of(l, scope->placement, 0);
        bindings = page_need_of(l, scope->binding, 0);
        parts.placement = (const struct placement *)fetched(&placement->fetch);
        if (!parts.placement && !placement->filled)
                return error_set(err, ERR_RETRY, "%s \"%s\" cannot be read: %s", scope->placement->kind,
                                 p.name, or_empty(placement->problem));
        if (!parts.placement)
                return error_set(err, ERR_NOT_FOUND, "%s \"%s\" not found%s%s", scope->placement->kind,
                                 p.name, p.ns ? " in namespace " : "", p.ns ? p.ns : "");
        parts.bindings = bindings->fetch.result;
        parts.works = page_need_of(l, &work_kind, 0)->fetch.result;
        parts.snapshots = page_need_of(l, scope->resource_snapshot, 0)->fetch.result;
        if (places_of(l->arena, &parts, bindings->filled, &v.places) < 0 ||
            draw_clusters(l, &v.places, d, &v.ill) < 0 || draw_failed(l, &v.places, d, &v.failed) < 0 ||
            draw_drifted(l, &v.places, d, &v.drifted) < 0 ||
            draw_different(l, &v.places, d, &v.different) < 0)
                return error_no_memory(err);
        return page_head(d, page_placement_head(&v)) < 0 ? error_no_memory(err) : 0;
}

const struct page_view placement_page_view = { .name = "placement", .need = need, .look = look };
