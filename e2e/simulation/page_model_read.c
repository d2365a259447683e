/* What a view may say by what the page has read so far: written once more, and simply, so that it can be
 * asked at any moment, however late the page hears of the hub. */
#include "e2e/simulation/sim_page_internal.h"
#include "hub-agent/common.h"

enum { KEPT_CLUSTERS, KEPT_PLACEMENTS, KEPT_RUNS = 3 }; /* as sim_page.c has them: of both scopes */

static bool holds(const struct condition_list *l, const char *type, int64_t generation)
{
        for (uint32_t i = 0; i < l->n; i++)
                if (text_equal(l->at[i].type, type))
                        return text_equal(l->at[i].status, CONDITION_TRUE) &&
                               l->at[i].observed_generation.value == generation;
        return false;
}

bool page_model_is_done(const struct condition_list *l, int64_t generation)
{
        return holds(l, CONDITION_AVAILABLE, generation) || holds(l, CONDITION_DIFF_REPORTED, generation);
}

/* ---- the fleet ---- */

struct listed {
        const char *part, *kind, *ns_kind; /* how keys begin; NULL: a key is a name */
        size_t kept, n_kept;
        int (*check)(const char *key, const json_t *row, const struct object *o, struct error *err);
};

static int check_progress(const char *key, const json_t *row, const struct object *o, struct error *err)
{
        const struct placement *p = (const struct placement *)o;
        int64_t done = 0, said = doc_get_int(row, "progress.done", 0);

        for (uint32_t i = 0; p->status && i < p->status->placement_statuses.n; i++)
                done += page_model_is_done(&p->status->placement_statuses.at[i].conditions,
                                           o->meta.generation);
        if (said > done)
                return error_set(
                        err, ERR_INVALID,
                        "the page: %s is said to be done on %lld clusters, its status says so of %lld", key,
                        (long long)said, (long long)done);
        return 0;
}

static const char *key_of(struct arena *arena, const struct listed *l, const struct object *o)
{
        if (!l->kind)
                return o->meta.name;
        return text_empty(o->meta.ns) ? arena_printf(arena, "%s/%s", l->kind, o->meta.name)
                                      : arena_printf(arena, "%s/%s/%s", l->ns_kind, o->meta.ns, o->meta.name);
}

static int check_objects(struct arena *arena, const struct listed *l, const struct object_list *all,
                         const json_t *rows, struct error *err)
{
        for (size_t i = 0; i < all->n; i++) {
                const char *key = key_of(arena, l, all->at[i]);
                const json_t *row = json_object_get(rows, or_empty(key));

                if (!row)
                        return error_set(err, ERR_INVALID,
                                         "the page: the fleet has no row of %s, which is there",
                                         or_empty(key));
                if (l->check)
                        TRY(l->check(key, row, all->at[i], err));
        }
        return 0;
}

static int check_part(struct page_desk *d, const struct listed *l, const struct page_sheet *s,
                      struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const json_t *rows = json_object_get(s->parts, l->part);
        size_t n = 0;

        for (size_t i = l->kept; i < l->kept + l->n_kept; i++) {
                struct page_need need;

                if (page_use_read(&d->kept[i].use, &arena, &need) < 0 || !need.filled || need.problem)
                        return 0;
                n += need.fetch.result.n;
                TRY(check_objects(&arena, l, &need.fetch.result, rows, err));
        }
        if (n != json_object_size(rows))
                return error_set(err, ERR_INVALID,
                                 "the page: the fleet has %zu rows of %s, of %zu that are there",
                                 json_object_size(rows), l->part, n);
        return 0;
}

static int check_fleet(struct page_desk *d, const struct page_sheet *s, struct error *err)
{
        static const struct listed parts[] = {
                { "clusters", NULL, NULL, KEPT_CLUSTERS, 1, NULL },
                { "placements", "crp", "rp", KEPT_PLACEMENTS, 2, check_progress },
                { "runs", "csur", "sur", KEPT_RUNS, 2, NULL },
        };

        for (size_t i = 0; i < ARRAY_LEN(parts); i++)
                TRY(check_part(d, &parts[i], s, err));
        return 0;
}

/* ---- a placement ---- */

static bool is_done_on(const struct object_list *bindings, const char *cluster)
{
        for (size_t i = 0; i < bindings->n; i++) {
                const struct binding *b = (const struct binding *)bindings->at[i];

                if (text_equal(b->spec->target_cluster, cluster) && b->status &&
                    page_model_is_done(&b->status->conditions, b->object.meta.generation))
                        return true;
        }
        return false;
}

int page_model_check_done(const struct page_sheet *s, const struct object_list *bindings, struct error *err)
{
        const char *key;
        json_t *row;

        json_object_foreach(json_object_get(s->parts, "clusters"), key, row)
                if (text_equal(doc_get_string(row, "standing"), "done") &&
                    !is_done_on(bindings, or_empty(doc_get_string(row, "cluster"))))
                        return error_set(err, ERR_INVALID,
                                         "the page: %s is said to be done on %s, its binding does not",
                                         or_empty(doc_get_string(s->args, "name")), key);
        return 0;
}

/* The view's own list, which it shares. */
static int check_placement(struct page_desk *d, const struct page_sheet *s, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const char *ns = doc_get_string(s->args, "ns");
        struct fetch bindings = { .kind = scope_of(ns)->binding,
                                  .ns = ns,
                                  .selector = selector_of(&arena, LABEL_PARENT_PLACEMENT,
                                                          or_empty(doc_get_string(s->args, "name"))) };
        struct page_use use = { .changed = page_desk_ignore };
        struct page_need need;
        int code;

        TRY(page_use_begin(d->core.sources, &bindings, &use, err));
        code = page_use_read(&use, &arena, &need);
        if (code == 0 && need.filled && !need.problem)
                code = page_model_check_done(s, &need.fetch.result, err);
        page_use_end(&use);
        return code;
}

int page_model_check_read(struct page_desk *d, const struct page_sheet *s, struct error *err)
{
        if (s->error || !s->head)
                return 0;
        if (text_equal(s->view, "fleet"))
                return check_fleet(d, s, err);
        return text_equal(s->view, "placement") ? check_placement(d, s, err) : 0;
}
