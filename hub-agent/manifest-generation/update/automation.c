/* What is released by itself: the containers that may be, and the one job of all that is newer. */
#include "hub-agent/manifest-generation/update/automation.h"

#include "common/base/map.h"
#include "hub-agent/manifest-generation/update/plan_builder.h"
#include "hub-agent/manifest-generation/update/words.h"

static bool has_match(const char *const *globs, size_t n, const char *text)
{
        for (size_t i = 0; i < n; i++)
                if (star_glob_matches(globs[i], text))
                        return true;
        return false;
}

bool image_filter_has(const struct image_filter *f, const char *canonical)
{
        return !has_match(f->exclude, f->n_exclude, canonical) &&
               (f->n_include == 0 || has_match(f->include, f->n_include, canonical));
}

/* ---- candidates ---- */

struct finding {
        struct arena *arena;
        const struct image_filter *filter;
        struct image_candidate *at;
        size_t n, cap;
        const char **problems;
        size_t n_problems, cap_problems;
        struct error *err;
};

static int add_problem(struct finding *f, const char *id, const char *text)
{
        const char **at = words_grow(f->arena, f->problems, f->n_problems, &f->cap_problems, sizeof(*at));
        const char *problem = arena_printf(f->arena, "%s: %s", id, text);

        if (!at || !problem)
                return error_no_memory(f->err);
        f->problems = at;
        at[f->n_problems++] = problem;
        return 0;
}

/* Why it is left alone; *ret NULL: it is not. */
static int judge(struct finding *f, const struct policy_set *policies, const struct workload_container *c,
                 struct image_candidate *candidate)
{
        struct error bad = { 0 };
        int code;

        candidate->problem = c->problem;
        if (c->problem)
                return 0;
        candidate->repository = image_canonical(f->arena, &c->image);
        if (!candidate->repository)
                return error_no_memory(f->err);
        code = policy_set_pattern(f->arena, policies, c->name, &candidate->pattern, &bad);
        if (code == 0 && *c->image.digest)
                candidate->problem = arena_printf(f->arena, IMAGE_IS_PINNED, c->image.text);
        else if (code == 0 && !image_filter_has(f->filter, candidate->repository))
                candidate->problem = arena_printf(f->arena, "image %s is excluded", candidate->repository);
        else if (code < 0 && code != ERR_NO_MEMORY)
                candidate->problem = arena_strdup(f->arena, bad.text);
        else
                return code == ERR_NO_MEMORY ? error_no_memory(f->err) : 0;
        candidate->pattern = NULL;
        return candidate->problem ? 0 : error_no_memory(f->err);
}

static int add_containers(struct finding *f, const struct update_object *object,
                          const struct policy_set *policies)
{
        struct workload_view w;

        TRY(workload_read(f->arena, object->id, object->doc, &w, f->err));
        for (size_t i = 0; i < w.n; i++) {
                struct image_candidate *at = words_grow(f->arena, f->at, f->n, &f->cap, sizeof(*at));

                if (!at)
                        return error_no_memory(f->err);
                f->at = at;
                at[f->n] = (struct image_candidate){ .object = object, .container = &w.containers[i] };
                TRY(judge(f, policies, &w.containers[i], &at[f->n]));
                f->n++;
        }
        return 0;
}

static int look_at(struct finding *f, const struct update_object *object)
{
        struct policy_set policies;

        if (!workload_is_kind(doc_get_string(object->doc, "kind")))
                return 0;
        TRY(policy_set_read(f->arena, object->doc, &policies, f->err));
        if (policies.problem)
                TRY(add_problem(f, object->id, policies.problem));
        if (!policy_set_is(&policies, POLICY_AUTOMATED) || policy_set_is(&policies, POLICY_LOCKED) ||
            policy_set_is(&policies, POLICY_IGNORE))
                return 0;
        return add_containers(f, object, &policies);
}

/* One workload that is too large leaves the others alone. */
static int look_at_one(struct finding *f, const struct update_object *object)
{
        struct error *outer = f->err, own = { 0 };
        size_t n = f->n;
        int code;

        f->err = &own;
        code = look_at(f, object);
        f->err = outer;
        if (code == ERR_NO_MEMORY)
                return error_no_memory(outer);
        if (code == 0)
                return 0;
        f->n = n;
        return add_problem(f, object->id, own.text);
}

int automation_candidates(struct arena *arena, const struct update_objects *objects,
                          const struct image_filter *filter, struct image_candidates *ret, struct error *err)
{
        struct finding f = { .arena = arena, .filter = filter, .err = err };
        const struct update_object *const *sorted;

        TRY(plan_sort_objects(arena, objects, &sorted, err));
        for (size_t i = 0; i < objects->n; i++)
                TRY(look_at_one(&f, sorted[i]));
        *ret = (struct image_candidates){ f.at, f.n, f.problems, f.n_problems };
        return 0;
}

/* ---- one job ---- */

struct releasing {
        struct plan_builder b;
        const struct image_catalog *catalog;
        struct map *newest; /* found_newest by repository and pattern: many workloads have both in common */
        const char *why; /* what keeps containers of the workload as they are, but that they are up to date */
        struct container_update *updates;
        size_t n_updates;
};

struct found_newest {
        const struct image_tag *tag;
        const char *problem;
};

static int find_newest(struct releasing *r, const struct image_repository *repository,
                       const struct tag_pattern *p, const struct found_newest **ret)
{
        const char *key = arena_printf(r->b.arena, "%s %s", repository->name, tag_pattern_text(p));
        struct found_newest *f = key ? map_get(r->newest, key) : NULL;
        struct error bad = { 0 };
        int code;

        *ret = f;
        if (f)
                return 0;
        f = ARENA_NEW(r->b.arena, struct found_newest);
        code = f ? newest_find(repository, p, &f->tag, &bad) : ERR_NO_MEMORY;
        if (code < 0 && code != ERR_NO_MEMORY)
                f->problem = arena_strdup(r->b.arena, bad.text);
        if (!key || code == ERR_NO_MEMORY || (code < 0 && !f->problem) || map_put(r->newest, key, f) < 0)
                return error_no_memory(r->b.err);
        *ret = f;
        return 0;
}

static int keep(struct releasing *r, const struct image_candidate *c, const char *why)
{
        if (strcmp(why, IMAGES_UP_TO_DATE) == 0)
                return 0;
        r->why = arena_printf(r->b.arena, "%s%s%s: %s", r->why, *r->why ? "; " : "", c->container->name, why);
        return r->why ? 0 : error_no_memory(r->b.err);
}

static int cannot_read(struct releasing *r, const struct image_candidate *c,
                       const struct image_repository *repository)
{
        const char *why =
                arena_printf(r->b.arena, "cannot read %s: %s", repository->name, repository->problem);

        return why ? keep(r, c, why) : error_no_memory(r->b.err);
}

static int release(struct releasing *r, const struct image_candidate *c)
{
        const struct image_repository *repository =
                c->problem ? NULL : image_catalog_find(r->catalog, c->repository);
        const struct found_newest *newest = NULL;
        const char *tag = NULL, *why = NULL;

        if (c->problem || !repository)
                return keep(r, c, c->problem ? c->problem : "cannot find one or more images");
        if (repository->problem)
                return cannot_read(r, c, repository);
        TRY(find_newest(r, repository, c->pattern, &newest));
        if (newest->problem)
                return keep(r, c, newest->problem);
        if (newest_choose(repository, c->pattern, newest->tag, c->container->image.tag, &tag, &why) < 0)
                return error_no_memory(r->b.err);
        return tag ? plan_add_image(&r->b, c->object, c->container, tag, &r->updates[r->n_updates++])
                   : keep(r, c, why);
}

/* The candidates of one workload. */
static int release_workload(struct releasing *r, const struct image_candidate *at, size_t n)
{
        struct update_result *result;
        const char *why;

        r->why = "";
        r->n_updates = 0;
        r->updates = ARENA_NEW_ARRAY(r->b.arena, struct container_update, n);
        if (!r->updates)
                return error_no_memory(r->b.err);
        for (size_t i = 0; i < n; i++)
                TRY(release(r, &at[i]));
        why = *r->why || r->n_updates ? r->why : IMAGES_UP_TO_DATE;
        TRY(plan_add_result(&r->b, at->object->id, r->n_updates ? UPDATE_SUCCESS : UPDATE_SKIPPED, why));
        result = &r->b.results[r->b.n_results - 1];
        result->containers = r->updates;
        result->n_containers = r->n_updates;
        return 0;
}

int automation_plan(struct arena *arena, const struct image_candidates *candidates,
                    const struct image_catalog *catalog, struct job_plan *ret, struct error *err)
{
        struct releasing r = { .b = { .arena = arena, .err = err },
                               .catalog = catalog,
                               .newest = map_of_arena(arena) };

        if (!r.newest)
                return error_no_memory(err);
        for (size_t i = 0, n; i < candidates->n; i += n) {
                n = 1;
                while (i + n < candidates->n && candidates->at[i + n].object == candidates->at[i].object)
                        n++;
                TRY(release_workload(&r, &candidates->at[i], n));
        }
        *ret = plan_of(&r.b);
        return 0;
}
