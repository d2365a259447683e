#include "kubectl-fleet/diff_view.h"

#include "hub-agent/common.h"
#include "kubectl-fleet/placement_view.h"

static int compare(const void *a, const void *b)
{
        const struct difference *x = a, *y = b;
        int order = strcmp(x->cluster, y->cluster);

        order = order ? order : strcmp(or_empty(x->id->kind), or_empty(y->id->kind));
        order = order ? order : strcmp(or_empty(x->id->ns), or_empty(y->id->ns));
        return order ? order : strcmp(or_empty(x->id->name), or_empty(y->id->name));
}

static size_t differences_of(const struct binding *b)
{
        size_t n = 0;

        if (b->status && b->status->drifted_placements)
                n += b->status->drifted_placements->n;
        if (b->status && b->status->diffed_placements)
                n += b->status->diffed_placements->n;
        return n;
}

static void add_binding(const struct binding *b, struct diff_view *v)
{
        struct drifted_placement_list drifted =
                LIST_OR_NONE(b->status ? b->status->drifted_placements : NULL);
        struct diffed_placement_list diffed = LIST_OR_NONE(b->status ? b->status->diffed_placements : NULL);

        for (uint32_t i = 0; i < drifted.n; i++)
                v->at[v->n++] = (struct difference){ b->spec->target_cluster, true, &drifted.at[i].id,
                                                     &drifted.at[i].observed_drifts,
                                                     drifted.at[i].first_drifted_observed_time };
        for (uint32_t i = 0; i < diffed.n; i++)
                v->at[v->n++] = (struct difference){ b->spec->target_cluster, false, &diffed.at[i].id,
                                                     &diffed.at[i].observed_diffs,
                                                     diffed.at[i].first_diffed_observed_time };
        v->cut = v->cut || drifted.n >= PLACEMENT_DETAILS_MAX || diffed.n >= PLACEMENT_DETAILS_MAX;
}

static bool has_compared(const struct binding *b)
{
        int64_t generation = b->object.meta.generation;

        return b->status && (fresh_condition(&b->status->conditions, CONDITION_APPLIED, generation) ||
                             fresh_condition(&b->status->conditions, CONDITION_DIFF_REPORTED, generation));
}

static bool is_asked_about(const struct binding *b, const char *cluster)
{
        return b->spec && b->spec->target_cluster &&
               (!cluster || text_equal(b->spec->target_cluster, cluster));
}

int diff_look(struct arena *arena, const struct placement *p, const struct object_list *bindings,
              const char *cluster, struct diff_view *ret)
{
        size_t n = 0;

        *ret = (struct diff_view){ .placement = p };
        for (size_t i = 0; i < bindings->n; i++)
                n += differences_of((const struct binding *)bindings->at[i]);
        ret->at = ARENA_NEW_ARRAY(arena, struct difference, n + 1);
        if (!ret->at)
                return ERR_NO_MEMORY;
        for (size_t i = 0; i < bindings->n; i++) {
                const struct binding *b = (const struct binding *)bindings->at[i];

                if (!is_asked_about(b, cluster))
                        continue;
                add_binding(b, ret);
                ret->n_clusters++;
                ret->n_compared += has_compared(b);
        }
        if (ret->n)
                qsort(ret->at, ret->n, sizeof(*ret->at), compare);
        return 0;
}

/* ---- drawing ---- */

static void draw_field(struct screen *s, const struct patch_detail *f)
{
        bool on_hub = !text_empty(f->value_in_hub), on_member = !text_empty(f->value_in_member);
        size_t start = s->out->len;

        screen_text(s, TONE_PLAIN, "    %s", or_empty(f->path));
        screen_end_line(s, start);
        start = s->out->len;
        screen_text(s, TONE_BAD, "      - hub     %s", on_hub ? f->value_in_hub : "(none)");
        screen_end_line(s, start);
        start = s->out->len;
        screen_text(s, TONE_GOOD, "      + member  %s", on_member ? f->value_in_member : "(none)");
        screen_end_line(s, start);
}

static void draw_difference(struct screen *s, const struct difference *d, int64_t now_ms)
{
        size_t start = s->out->len;
        char text[RESOURCE_TEXT_SIZE], age[32];

        screen_text(s, TONE_STRONG, "  %s", resource_text(d->id->kind, d->id->ns, d->id->name, text));
        screen_text(s, TONE_BUSY, d->drifted ? "  drifted" : "  differs");
        if (d->since_ms != TIME_NONE && d->since_ms != 0) {
                duration_format_human(MAX(0, now_ms - d->since_ms), age, sizeof(age));
                screen_text(s, TONE_FAINT, "  for %s", age);
        }
        screen_end_line(s, start);
        for (uint32_t i = 0; i < d->fields->n; i++)
                draw_field(s, &d->fields->at[i]);
}

static void draw_nothing(const struct diff_view *v, struct screen *s)
{
        size_t start = s->out->len;

        if (v->n_clusters == 0)
                screen_text(s, TONE_FAINT, "on no cluster");
        else
                screen_text(s, TONE_GOOD, "no difference is known on %zu cluster%s", v->n_compared,
                            v->n_compared == 1 ? "" : "s");
        if (v->n_compared < v->n_clusters)
                screen_text(s, TONE_FAINT, "; %zu of %zu have not told of any comparison",
                            v->n_clusters - v->n_compared, v->n_clusters);
        screen_end_line(s, start);
}

void diff_draw(const struct diff_view *v, struct screen *s, int64_t now_ms)
{
        const char *cluster = "";
        size_t start;

        if (v->n == 0)
                draw_nothing(v, s);
        for (size_t i = 0; i < v->n; i++) {
                if (!text_equal(cluster, v->at[i].cluster)) {
                        cluster = v->at[i].cluster;
                        start = s->out->len;
                        screen_text(s, TONE_STRONG, "%s", cluster);
                        screen_end_line(s, start);
                }
                draw_difference(s, &v->at[i], now_ms);
        }
        if (!v->cut)
                return;
        start = s->out->len;
        screen_text(s, TONE_FAINT, "there may be more: a cluster tells of at most %d resources",
                    PLACEMENT_DETAILS_MAX);
        screen_end_line(s, start);
}

/* ---- documents ---- */

static json_t *difference_doc(const struct difference *d)
{
        json_t *doc = resource_identifier_doc(d->id), *fields = json_array();

        for (uint32_t i = 0; fields && i < d->fields->n; i++)
                json_array_append_new(fields,
                                      json_pack("{s:s, s:s, s:s}", "path", or_empty(d->fields->at[i].path),
                                                "hub", or_empty(d->fields->at[i].value_in_hub), "member",
                                                or_empty(d->fields->at[i].value_in_member)));
        if (!doc || json_object_set_new(doc, "cluster", json_string(d->cluster)) < 0 ||
            json_object_set_new(doc, "drifted", json_boolean(d->drifted)) < 0) {
                json_decref(fields);
                json_decref(doc);
                return NULL;
        }
        json_object_set_new(doc, "fields", fields);
        return doc;
}

json_t *diff_doc(const struct diff_view *v)
{
        json_t *items = json_array(), *doc;

        for (size_t i = 0; items && i < v->n; i++)
                json_array_append_new(items, difference_doc(&v->at[i]));
        doc = json_pack("{s:s, s:s, s:I, s:I, s:o}", "kind", v->placement->object.kind->kind, "name",
                        v->placement->object.meta.name, "clusters", (json_int_t)v->n_clusters,
                        "comparedClusters", (json_int_t)v->n_compared, "items", items);
        if (doc)
                doc_set_unless_empty(doc, "namespace", v->placement->object.meta.ns);
        return doc;
}
