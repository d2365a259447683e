/* Whether files mean after an image job what they should. */
#include "hub-agent/manifest-generation/update/plan_builder.h"
#include "hub-agent/manifest-generation/update/words.h"

#define FAILED "verifying changes: failed to verify changes"

struct verifying {
        struct arena arena;
        const struct job_plan *plan;
        const struct update_object *const *after;
        size_t n_after;
        struct error *err;
};

static const struct update_result *result_of(const struct job_plan *p, const char *id)
{
        size_t low = 0, high = p->n_results;

        while (low < high) {
                size_t middle = low + (high - low) / 2;
                int order = strcmp(p->results[middle].id, id);

                if (order == 0)
                        return &p->results[middle];
                if (order < 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        return NULL;
}

/* What a container's image has to be: what it was, unless the plan says otherwise. */
static const char *wanted_image(const struct verifying *v, const char *id,
                                const struct workload_container *was)
{
        const struct update_result *r = result_of(v->plan, id);

        for (size_t i = 0; r && i < r->n_containers; i++)
                if (strcmp(r->containers[i].container, was->name) == 0)
                        return r->containers[i].target;
        return was->image.text;
}

static int other_image(struct verifying *v, const char *container, const char *id, const char *want,
                       const char *is)
{
        const char *c = words_quote(&v->arena, container), *r = words_quote(&v->arena, id);
        const char *w = words_quote(&v->arena, want), *i = words_quote(&v->arena, is);

        if (!c || !r || !w || !i)
                return error_no_memory(v->err);
        return error_set(v->err, ERR_INVALID,
                         FAILED ": the image for container %s in resource %s should be %s, but is %s", c, r,
                         w, i);
}

static int other_containers(struct verifying *v, const char *id)
{
        const char *quoted = words_quote(&v->arena, id);

        if (!quoted)
                return error_no_memory(v->err);
        return error_set(v->err, ERR_INVALID,
                         FAILED ": resource %s has different set of containers after update", quoted);
}

static int compare(struct verifying *v, const struct update_object *before, const struct update_object *after)
{
        struct workload_view was, is;

        TRY(workload_read(&v->arena, before->id, before->doc, &was, v->err));
        if (!workload_is_kind(doc_get_string(after->doc, "kind")))
                return other_containers(v, before->id);
        TRY(workload_read(&v->arena, after->id, after->doc, &is, v->err));
        if (was.n != is.n)
                return other_containers(v, before->id);
        for (size_t i = 0; i < was.n; i++) {
                const struct workload_container *now = workload_find(&is, was.containers[i].name);
                const char *want = wanted_image(v, before->id, &was.containers[i]);

                if (!now)
                        return other_containers(v, before->id);
                if (strcmp(now->image.text, want) != 0)
                        return other_image(v, now->name, before->id, want, now->image.text);
        }
        return 0;
}

static int gone(struct verifying *v, const char *ids)
{
        return error_set(v->err, ERR_INVALID, FAILED ": resources {%s} present before update but not after",
                         ids);
}

static int verify_all(struct verifying *v, const struct update_object *const *before, size_t n)
{
        const char *missing = NULL;

        for (size_t i = 0; i < n; i++) {
                const struct update_object *after;

                if (!workload_is_kind(doc_get_string(before[i]->doc, "kind")))
                        continue;
                after = plan_find_object(v->after, v->n_after, before[i]->id);
                if (after) {
                        TRY(compare(v, before[i], after));
                        continue;
                }
                if (missing && strlen(missing) > ERROR_TEXT_MAX) /* more has no room in the message */
                        continue;
                missing = arena_printf(&v->arena, "%s%s%s", or_empty(missing), missing ? ", " : "",
                                       before[i]->id);
                if (!missing)
                        return error_no_memory(v->err);
        }
        return missing ? gone(v, missing) : 0;
}

int job_verify(const struct update_objects *before, const struct update_objects *after,
               const struct job_plan *p, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct verifying v = { .arena = ARENA_INIT, .plan = p, .n_after = after->n, .err = err };
        const struct update_object *const *sorted;
        int code;

        TRY(plan_sort_objects(&arena, before, &sorted, err));
        TRY(plan_sort_objects(&arena, after, &v.after, err));
        code = verify_all(&v, sorted, before->n);
        arena_free(&v.arena);
        return code;
}
