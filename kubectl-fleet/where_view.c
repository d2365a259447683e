#include "kubectl-fleet/where_view.h"

#include "hub-agent/common.h"
#include "kubectl-fleet/placement_view.h"

/* ---- objects ---- */

static void judge_applied(const struct manifest_condition *m, struct placed_object *o)
{
        const struct condition *applied = condition_find(&m->conditions, CONDITION_APPLIED);
        const struct condition *available = condition_find(&m->conditions, CONDITION_AVAILABLE);
        const struct condition *compared = condition_find(&m->conditions, CONDITION_DIFF_REPORTED);
        const struct condition *last = compared ? compared : applied;

        o->standing = STANDING_BUSY;
        o->word = compared ? "comparing" : "applying";
        if (last && text_equal(last->status, CONDITION_FALSE))
                o->standing = STANDING_FAILED, o->word = compared ? "not compared" : "apply failed";
        else if (last && text_equal(last->status, CONDITION_TRUE) && compared)
                o->standing = STANDING_DONE, o->word = "compared";
        else if (last && text_equal(last->status, CONDITION_TRUE)) {
                bool well = available && text_equal(available->status, CONDITION_TRUE);

                last = available;
                o->standing = well ? STANDING_DONE : STANDING_BUSY;
                o->word = well ? "available" : "not available";
        }
        o->message = last && o->standing != STANDING_DONE ? or_empty(last->message) : "";
        if (o->standing == STANDING_DONE && m->drift_details)
                o->standing = STANDING_BUSY, o->word = "drifted";
        else if (o->standing == STANDING_DONE && m->diff_details)
                o->standing = STANDING_BUSY, o->word = "differs";
}

/* A manifest that the member has not spoken of yet. */
static int from_manifest(struct arena *arena, struct slice manifest, struct placed_object *o)
{
        AUTO_JSON json_t *doc = NULL;
        const char *api_version;
        const char *slash;

        *o = (struct placed_object){ .group = "",
                                     .version = "",
                                     .kind = "",
                                     .ns = "",
                                     .name = "",
                                     .standing = STANDING_WAITS,
                                     .word = "not applied yet",
                                     .message = "" };
        if (doc_parse(manifest, &doc, NULL) < 0)
                return 0;
        api_version = or_empty(doc_get_string(doc, "apiVersion"));
        slash = strchr(api_version, '/');
        o->group = slash ? arena_strndup(arena, api_version, (size_t)(slash - api_version)) : "";
        o->version = arena_strdup(arena, slash ? slash + 1 : api_version);
        o->kind = arena_strdup(arena, or_empty(doc_get_string(doc, "kind")));
        o->ns = arena_strdup(arena, or_empty(doc_get_string(doc, "metadata.namespace")));
        o->name = arena_strdup(arena, or_empty(doc_get_string(doc, "metadata.name")));
        return o->group && o->version && o->kind && o->ns && o->name ? 0 : ERR_NO_MEMORY;
}

void placed_object_judge(const struct manifest_condition *m, struct placed_object *o)
{
        const struct work_resource_identifier *id = m->identifier;

        *o = (struct placed_object){ .group = or_empty(id->group),
                                     .version = or_empty(id->version),
                                     .kind = or_empty(id->kind),
                                     .ns = or_empty(id->ns),
                                     .name = or_empty(id->name) };
        judge_applied(m, o);
}

static int compare_objects(const void *a, const void *b)
{
        static const int ranks[] = {
                [STANDING_FAILED] = 0, [STANDING_BUSY] = 1, [STANDING_WAITS] = 2, [STANDING_DONE] = 3
        };
        const struct placed_object *x = a, *y = b;
        int order = ranks[x->standing] - ranks[y->standing];

        order = order ? order : strcmp(x->kind, y->kind);
        order = order ? order : strcmp(x->ns, y->ns);
        return order ? order : strcmp(x->name, y->name);
}

/* ---- shares ---- */

static const char *share_key(const struct object *work, const char *label)
{
        return or_empty(label_of(work, label));
}

static int compare_works(const void *a, const void *b)
{
        const struct object *x = *(const struct object *const *)a, *y = *(const struct object *const *)b;
        int order = strcmp(share_key(x, LABEL_PARENT_PLACEMENT_NAMESPACE),
                           share_key(y, LABEL_PARENT_PLACEMENT_NAMESPACE));

        order = order ? order
                      : strcmp(share_key(x, LABEL_PARENT_PLACEMENT), share_key(y, LABEL_PARENT_PLACEMENT));
        return order ? order : strcmp(x->meta.name, y->meta.name);
}

static bool same_share(const struct object *a, const struct object *b)
{
        return text_equal(share_key(a, LABEL_PARENT_PLACEMENT), share_key(b, LABEL_PARENT_PLACEMENT)) &&
               text_equal(share_key(a, LABEL_PARENT_PLACEMENT_NAMESPACE),
                          share_key(b, LABEL_PARENT_PLACEMENT_NAMESPACE));
}

static size_t objects_of(const struct work *w)
{
        size_t told = w->status ? w->status->manifest_conditions.n : 0;

        return told ? told : w->spec && w->spec->workload ? w->spec->workload->manifests.n : 0;
}

static int add_objects(struct arena *arena, const struct work *w, struct share *s)
{
        size_t n = objects_of(w);
        bool told = w->status && w->status->manifest_conditions.n;

        for (size_t i = 0; i < n; i++) {
                struct placed_object *o = &s->objects[s->n_objects];

                if (told && !w->status->manifest_conditions.at[i].identifier)
                        continue;
                if (told)
                        placed_object_judge(&w->status->manifest_conditions.at[i], o);
                else
                        TRY(from_manifest(arena, w->spec->workload->manifests.at[i], o));
                progress_add(&s->progress, o->standing);
                s->n_objects++;
        }
        return 0;
}

/* The Works at[0..n) are of one placement. */
static int make_share(struct arena *arena, const struct object *const *at, size_t n, struct share *s)
{
        const char *ns = share_key(at[0], LABEL_PARENT_PLACEMENT_NAMESPACE);
        size_t objects = 0;

        *s = (struct share){ .placement = share_key(at[0], LABEL_PARENT_PLACEMENT),
                             .ns = *ns ? ns : NULL,
                             .revision = or_empty(label_of(at[0], LABEL_PARENT_RESOURCE_SNAPSHOT_INDEX)),
                             .n_works = n };
        for (size_t i = 0; i < n; i++)
                objects += objects_of((const struct work *)at[i]);
        s->works = ARENA_NEW_ARRAY(arena, const char *, n);
        s->objects = ARENA_NEW_ARRAY(arena, struct placed_object, objects + 1);
        if (!s->works || !s->objects)
                return ERR_NO_MEMORY;
        for (size_t i = 0; i < n; i++) {
                s->works[i] = at[i]->meta.name;
                TRY(add_objects(arena, (const struct work *)at[i], s));
        }
        qsort(s->objects, s->n_objects, sizeof(*s->objects), compare_objects);
        return 0;
}

static void look_at_cluster(struct where_view *v)
{
        const struct member_cluster_status *status = v->cluster->status;

        v->heartbeat_ms = TIME_NONE;
        if (!status)
                return;
        v->joined = condition_find(&status->conditions, CONDITION_JOINED) &&
                    text_equal(condition_find(&status->conditions, CONDITION_JOINED)->status, CONDITION_TRUE);
        for (uint32_t i = 0; i < status->agent_status.n; i++) {
                const struct agent_status *a = &status->agent_status.at[i];
                const struct condition *healthy = condition_find(&a->conditions, CONDITION_HEALTHY);

                if (!text_equal(a->type, AGENT_MEMBER))
                        continue;
                v->healthy = healthy && text_equal(healthy->status, CONDITION_TRUE);
                v->heartbeat_ms = a->last_received_heartbeat;
        }
}

int where_look(struct arena *arena, const struct member_cluster *cluster, const struct object_list *works,
               struct where_view *ret)
{
        const struct object **sorted = ARENA_NEW_ARRAY(arena, const struct object *, works->n + 1);
        size_t n = 0;

        *ret = (struct where_view){ .cluster = cluster };
        look_at_cluster(ret);
        ret->shares = ARENA_NEW_ARRAY(arena, struct share, works->n + 1);
        if (!sorted || !ret->shares)
                return ERR_NO_MEMORY;
        for (size_t i = 0; i < works->n; i++)
                if (!text_empty(label_of(works->at[i], LABEL_PARENT_PLACEMENT)))
                        sorted[n++] = works->at[i];
        qsort(sorted, n, sizeof(*sorted), compare_works);
        for (size_t i = 0, end; i < n; i = end) {
                for (end = i + 1; end < n && same_share(sorted[i], sorted[end]);)
                        end++;
                TRY(make_share(arena, sorted + i, end - i, &ret->shares[ret->n_shares++]));
        }
        return 0;
}

/* ---- drawing ---- */

#define OBJECTS_SHOWN 10 /* of one placement that are well, without --all */

struct drawing {
        struct where_drawing *d;
        struct tree tree;
};

static void draw_head(struct drawing *g, const struct where_view *v)
{
        const struct member_cluster_spec *spec = v->cluster->spec;
        struct screen *s = &g->d->screen;
        char age[32];

        tree_branch(&g->tree, 0, true);
        screen_text(s, TONE_STRONG, "MemberCluster %s", v->cluster->object.meta.name);
        screen_text(s, v->joined ? TONE_GOOD : TONE_BAD, v->joined ? "  joined" : "  not joined");
        if (v->joined)
                screen_text(s, v->healthy ? TONE_GOOD : TONE_BAD, v->healthy ? ", healthy" : ", not healthy");
        if (v->heartbeat_ms != TIME_NONE && v->heartbeat_ms != 0) {
                duration_format_human(MAX(0, g->d->now_ms - v->heartbeat_ms), age, sizeof(age));
                screen_text(s, TONE_FAINT, "  heard of %s ago", age);
        }
        for (uint32_t i = 0; spec && i < spec->taints.n; i++)
                screen_text(s, TONE_BUSY, "  taint %s=%s:%s", or_empty(spec->taints.at[i].key),
                            or_empty(spec->taints.at[i].value), or_empty(spec->taints.at[i].effect));
        tree_end_line(&g->tree);
}

static void draw_object(struct drawing *g, const struct placed_object *o, bool last)
{
        struct screen *s = &g->d->screen;
        char text[RESOURCE_TEXT_SIZE];

        tree_branch(&g->tree, 2, last);
        screen_text(s, TONE_PLAIN, "%s", resource_text(o->kind, o->ns, o->name, text));
        if (o->standing != STANDING_DONE)
                screen_text(s, tone_of(o->standing), "  %s", o->word);
        if (*o->message)
                screen_text(s, TONE_PLAIN, "  %s", o->message);
        tree_end_line(&g->tree);
}

static void draw_share(struct drawing *g, const struct share *p, bool last)
{
        struct screen *s = &g->d->screen;
        size_t well = p->progress.good, shown = p->n_objects;

        if (!g->d->all && well > OBJECTS_SHOWN + 1)
                shown -= well - OBJECTS_SHOWN; /* they stand last */
        tree_branch(&g->tree, 1, last);
        screen_text(s, TONE_STRONG, "%s %s%s%s", p->ns ? "ResourcePlacement" : "ClusterResourcePlacement",
                    or_empty(p->ns), p->ns ? "/" : "", p->placement);
        if (*p->revision)
                screen_text(s, TONE_PLAIN, "  revision %s", p->revision);
        screen_text(s, TONE_PLAIN, "  ");
        screen_bar(s, &p->progress);
        screen_text(s, TONE_PLAIN, " object%s available", p->n_objects == 1 ? "" : "s");
        tree_end_line(&g->tree);
        for (size_t i = 0; i < shown; i++)
                draw_object(g, &p->objects[i], i + 1 == p->n_objects);
        if (shown == p->n_objects)
                return;
        tree_branch(&g->tree, 2, true);
        screen_text(s, TONE_FAINT, "and %zu more that are well; --all shows them", p->n_objects - shown);
        tree_end_line(&g->tree);
}

void where_draw(const struct where_view *v, struct where_drawing *d)
{
        struct drawing g = { .d = d, .tree = { .screen = &d->screen } };

        draw_head(&g, v);
        for (size_t i = 0; i < v->n_shares; i++)
                draw_share(&g, &v->shares[i], i + 1 == v->n_shares);
        if (v->n_shares)
                return;
        tree_branch(&g.tree, 1, true);
        screen_text(&d->screen, TONE_FAINT, "no placement puts anything there");
        tree_end_line(&g.tree);
}

/* ---- documents ---- */

static json_t *object_doc(const struct placed_object *o)
{
        return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "group", o->group, "version", o->version,
                         "kind", o->kind, "namespace", o->ns, "name", o->name, "state", o->word, "message",
                         o->message);
}

static json_t *share_doc(const struct share *p)
{
        json_t *works = json_array(), *objects = json_array(), *doc;

        for (size_t i = 0; works && i < p->n_works; i++)
                json_array_append_new(works, json_string(p->works[i]));
        for (size_t i = 0; objects && i < p->n_objects; i++)
                json_array_append_new(objects, object_doc(&p->objects[i]));
        doc = json_pack("{s:s, s:s, s:s, s:o, s:o}", "kind",
                        p->ns ? "ResourcePlacement" : "ClusterResourcePlacement", "name", p->placement,
                        "revision", p->revision, "works", works, "objects", objects);
        if (doc)
                doc_set_unless_empty(doc, "namespace", p->ns);
        return doc;
}

json_t *where_doc(const struct where_view *v)
{
        json_t *shares = json_array();

        for (size_t i = 0; shares && i < v->n_shares; i++)
                json_array_append_new(shares, share_doc(&v->shares[i]));
        return json_pack("{s:s, s:b, s:b, s:o}", "cluster", v->cluster->object.meta.name, "joined", v->joined,
                         "healthy", v->healthy, "placements", shares);
}
