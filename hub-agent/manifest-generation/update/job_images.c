/* What a request to release images does to one workload. */
#include "hub-agent/manifest-generation/update/plan_builder.h"
#include "hub-agent/manifest-generation/update/words.h"

struct releasing {
        struct plan_builder *b;
        const struct job_request *request;
        const struct update_object *object;
        const struct image_catalog *catalog;
        struct policy_set policies;
        struct workload_view view;
        struct container_update *updates;
        size_t n_updates;
        bool uses;             /* one of its containers is meant */
        const char *not_found; /* an image that is not there, or a pattern that has none */
        const char *failure;
        const char *kept; /* why one stays as it is, though there is something newer */
};

static int is_meant(struct arena *arena, const struct job_image *want, const struct workload_container *c,
                    bool *ret)
{
        const char *wanted, *has;

        *ret = false;
        if (want->container && strcmp(want->container, c->name) != 0)
                return 0;
        *ret = !*want->image.path;
        if (*ret || !*c->image.path)
                return 0;
        wanted = image_canonical(arena, &want->image);
        has = image_canonical(arena, &c->image);
        *ret = wanted && has && strcmp(wanted, has) == 0;
        return wanted && has ? 0 : ERR_NO_MEMORY;
}

/* The first image of the request that means the container; *ret NULL: none does. */
static int find_wanted(struct arena *arena, const struct job_request *r, const struct workload_container *c,
                       const struct job_image **ret)
{
        *ret = NULL;
        for (size_t i = 0; i < r->n_images && !*ret; i++) {
                bool meant;

                TRY(is_meant(arena, &r->images[i], c, &meant));
                if (meant)
                        *ret = &r->images[i];
        }
        return 0;
}

/* Of which tags the newest is taken: by force of all, unless every image is meant. */
static int pattern_of(struct arena *arena, const struct job_request *r, const struct job_image *want,
                      const struct policy_set *policies, const char *container,
                      const struct tag_pattern **ret, struct error *err)
{
        *ret = &tag_pattern_any;
        return r->force && *want->image.path ? 0 : policy_set_pattern(arena, policies, container, ret, err);
}

static const struct image_repository *repository_of(struct releasing *r, const struct workload_container *c,
                                                    bool *ret_failed)
{
        const char *name = image_canonical(r->b->arena, &c->image);

        *ret_failed |= !name;
        return name && r->catalog ? image_catalog_find(r->catalog, name) : NULL;
}

/* The tag that the request names, if it is there. */
static int pick_named(struct releasing *r, const struct image_repository *repository, const char *tag,
                      const char **ret)
{
        if (r->catalog && !r->request->force &&
            (!repository || repository->problem || !image_repository_find(repository, tag)))
                r->not_found = "cannot find one or more images";
        else
                *ret = tag;
        return 0;
}

static int pick_newest(struct releasing *r, const struct image_repository *repository,
                       const struct job_image *want, const struct workload_container *c, const char **ret)
{
        const struct tag_pattern *pattern = &tag_pattern_any;
        const char *why = NULL;
        struct error bad = { 0 };
        int code = pattern_of(r->b->arena, r->request, want, &r->policies, c->name, &pattern, &bad);

        if (code == 0 && !repository) {
                r->not_found = "cannot find one or more images";
                return 0;
        }
        if (code == 0)
                code = automation_newest(r->b->arena, repository, pattern, &c->image, ret, &why, &bad);
        if (code == ERR_NO_MEMORY)
                return error_no_memory(r->b->err);
        if (code < 0)
                why = arena_printf(r->b->arena, "%s: %s", c->name, bad.text);
        else if (*ret || !why)
                return 0;
        if (!why)
                return error_no_memory(r->b->err);
        if (strcmp(why, IMAGES_UP_TO_DATE) != 0)
                r->kept = why;
        return 0;
}

static int release(struct releasing *r, const struct job_image *want, const struct workload_container *c)
{
        const char *tag = NULL;
        bool failed = false;
        const struct image_repository *repository;

        r->uses = true;
        if (c->problem) {
                r->failure = c->problem;
                return 0;
        }
        if (*c->image.digest && !r->request->force) {
                r->kept = arena_printf(r->b->arena, IMAGE_IS_PINNED, c->image.text);
                return r->kept ? 0 : error_no_memory(r->b->err);
        }
        repository = repository_of(r, c, &failed);
        if (failed)
                return error_no_memory(r->b->err);
        TRY(*want->image.tag ? pick_named(r, repository, want->image.tag, &tag)
                             : pick_newest(r, repository, want, c, &tag));
        if (!tag || (strcmp(tag, c->image.tag) == 0 && !*c->image.digest))
                return 0;
        return plan_add_image(r->b, r->object, c, tag, &r->updates[r->n_updates++]);
}

static int release_container(struct releasing *r, const struct workload_container *c)
{
        const struct job_image *want;

        if (find_wanted(r->b->arena, r->request, c, &want) < 0)
                return error_no_memory(r->b->err);
        return want ? release(r, want, c) : 0;
}

/* Containers that the request names and the workload does not have; NULL = none. */
static int missing_containers(struct releasing *r, const char **ret)
{
        const char *names = NULL;

        for (size_t i = 0; i < r->request->n_images; i++) {
                const char *name = r->request->images[i].container;

                if (!name || workload_find(&r->view, name))
                        continue;
                names = arena_printf(r->b->arena, "%s%s%s", or_empty(names), names ? ", " : "", name);
                if (!names)
                        return error_no_memory(r->b->err);
        }
        *ret = names ? arena_printf(r->b->arena, "container(s) not found: %s", names) : NULL;
        return names && !*ret ? error_no_memory(r->b->err) : 0;
}

static int add_result(struct releasing *r)
{
        const char *id = r->object->id;

        if (r->failure)
                return plan_add_result(r->b, id, UPDATE_FAILED, r->failure);
        if (!r->uses)
                return plan_add_result(r->b, id, UPDATE_IGNORED, "does not use image(s)");
        if (r->not_found || r->kept)
                return plan_add_result(r->b, id, UPDATE_SKIPPED, r->not_found ? r->not_found : r->kept);
        return plan_add_result(r->b, id, UPDATE_SKIPPED, IMAGES_UP_TO_DATE);
}

static int add_updates(struct releasing *r)
{
        const char *text = r->failure ? r->failure : r->not_found ? r->not_found : or_empty(r->kept);

        TRY(plan_add_result(r->b, r->object->id, UPDATE_SUCCESS, text));
        r->b->results[r->b->n_results - 1].containers = r->updates;
        r->b->results[r->b->n_results - 1].n_containers = r->n_updates;
        return 0;
}

static int skip(struct plan_builder *b, const struct update_object *object, const char *why)
{
        return plan_add_result(b, object->id, UPDATE_SKIPPED, why);
}

int plan_images(struct plan_builder *b, const struct job_request *q, const struct update_object *object,
                bool named, const struct image_catalog *catalog)
{
        struct releasing r = { .b = b, .request = q, .object = object, .catalog = catalog };
        const char *missing;

        TRY(policy_set_read(b->arena, object->doc, &r.policies, b->err));
        TRY(workload_read(b->arena, object->id, object->doc, &r.view, b->err));
        if (policy_set_is(&r.policies, POLICY_IGNORE))
                return skip(b, object, "ignore");
        if (policy_set_is(&r.policies, POLICY_LOCKED) && !q->force)
                return skip(b, object, "locked");
        TRY(missing_containers(&r, &missing));
        if (missing && named)
                return plan_add_result(b, object->id, UPDATE_FAILED, missing);
        r.updates = ARENA_NEW_ARRAY(b->arena, struct container_update, r.view.n + 1);
        if (!r.updates)
                return error_no_memory(b->err);
        for (size_t i = 0; i < r.view.n; i++)
                TRY(release_container(&r, &r.view.containers[i]));
        return r.n_updates ? add_updates(&r) : add_result(&r);
}

/* ---- what has to be known for it ---- */

struct looking {
        struct arena *arena;
        const struct job_request *request;
        struct image_candidate *at;
        size_t n, cap;
        struct error *err;
};

static int pattern_to_know(struct looking *l, const struct job_image *want, const struct policy_set *policies,
                           struct image_candidate *c)
{
        struct error bad = { 0 };
        const char *tag = want->image.tag;
        int code = *tag ? tag_pattern_parse(l->arena, tag, &c->pattern, &bad)
                        : pattern_of(l->arena, l->request, want, policies, c->container->name, &c->pattern,
                                     &bad);

        if (code == ERR_NO_MEMORY)
                return error_no_memory(l->err);
        if (code == 0)
                return 0;
        c->pattern = NULL;
        c->problem = arena_strdup(l->arena, bad.text);
        return c->problem ? 0 : error_no_memory(l->err);
}

static int look_at_container(struct looking *l, const struct update_object *object,
                             const struct policy_set *policies, const struct workload_container *c)
{
        struct image_candidate *at;
        const struct job_image *want;

        if (find_wanted(l->arena, l->request, c, &want) < 0)
                return error_no_memory(l->err);
        if (!want || c->problem)
                return 0;
        at = words_grow(l->arena, l->at, l->n, &l->cap, sizeof(*at));
        if (!at)
                return error_no_memory(l->err);
        l->at = at;
        at[l->n] = (struct image_candidate){ .object = object,
                                             .container = c,
                                             .repository = image_canonical(l->arena, &c->image) };
        if (!at[l->n].repository)
                return error_no_memory(l->err);
        return pattern_to_know(l, want, policies, &at[l->n++]);
}

static bool is_named(const struct job_request *r, const char *id)
{
        return r->all || (r->n_workloads &&
                          bsearch(&id, r->workloads, r->n_workloads, sizeof(*r->workloads), words_compare));
}

int job_candidates(struct arena *arena, const struct job_request *r, const struct update_objects *objects,
                   struct image_candidates *ret, struct error *err)
{
        struct looking l = { .arena = arena, .request = r, .err = err };
        const struct update_object *const *sorted;

        TRY(plan_sort_objects(arena, objects, &sorted, err));
        for (size_t i = 0; i < objects->n; i++) {
                struct policy_set policies;
                struct workload_view w;

                if (!workload_is_kind(doc_get_string(sorted[i]->doc, "kind")) || !is_named(r, sorted[i]->id))
                        continue;
                TRY(policy_set_read(arena, sorted[i]->doc, &policies, err));
                TRY(workload_read(arena, sorted[i]->id, sorted[i]->doc, &w, err));
                for (size_t k = 0; k < w.n; k++)
                        TRY(look_at_container(&l, sorted[i], &policies, &w.containers[k]));
        }
        *ret = (struct image_candidates){ .at = l.at, .n = l.n };
        return 0;
}
