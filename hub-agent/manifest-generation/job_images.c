/* What registries have, for jobs that ask for it. spec/flux-yaml.md 10. */
#include "common/base/memory.h"
#include "common/base/vec.h"
#include "hub-agent/manifest-generation/job_run.h"

static struct image_filter filter_of(const struct images *images)
{
        return (struct image_filter){ images->exclude, images->n_exclude, images->include,
                                      images->n_include };
}

static int read_tags(struct job *j, const struct image_candidates *candidates, struct image_catalog *ret,
                     struct error *err)
{
        const struct images *images = &j->a->options->images;

        if (!images->ops)
                return error_set(err, ERR_UNSUPPORTED,
                                 "registries are not scanned: a request has to name tags");
        return images->ops->read(images->ctx, &j->objects, candidates, j->rc->arena, ret, err);
}

/* ---- of a request ---- */

typedef VEC(struct image_candidate) candidate_list;

static bool is_asked_for(const struct job_request *r, const char *id)
{
        return r->all || text_in(id, r->workloads, r->n_workloads);
}

static int add_containers(struct job *j, const struct update_object *o, candidate_list *into,
                          struct error *err)
{
        const struct image_filter filter = filter_of(&j->a->options->images);
        struct arena *arena = j->rc->arena;
        struct workload_view w;
        int code;

        if (!workload_is_kind(or_empty(doc_get_string(o->doc, "kind"))) || !is_asked_for(j->request, o->id))
                return 0;
        code = workload_read(arena, o->id, o->doc, &w, NULL);
        if (code < 0) /* the plan says what is wrong with it */
                return code == ERR_NO_MEMORY ? error_no_memory(err) : 0;
        for (size_t i = 0; i < w.n; i++) {
                const char *repository;

                if (w.containers[i].problem)
                        continue;
                repository = image_canonical(arena, &w.containers[i].image);
                if (!repository)
                        return error_no_memory(err);
                if (image_filter_has(&filter, repository) &&
                    vec_push(into, ((struct image_candidate){ .object = o,
                                                              .container = &w.containers[i],
                                                              .repository = repository })) < 0)
                        return error_no_memory(err);
        }
        return 0;
}

int job_read_tags(struct job *j, struct image_catalog *ret, struct error *err)
{
        candidate_list all = VEC_INIT;
        int code = 0;

        for (size_t i = 0; code == 0 && i < j->objects.n; i++)
                code = add_containers(j, &j->objects.at[i], &all, err);
        if (code == 0) {
                const struct image_candidates those = { .at = all.at, .n = all.n };

                code = read_tags(j, &those, ret, err);
        }
        vec_free(&all);
        return code;
}

/* ---- of a poll ---- */

static int tell_problems(struct generator_agent *a, const struct image_catalog *catalog, struct error *err)
{
        AUTO_BUF struct buf text;

        buf_init(&text, 256u << 10);
        for (size_t i = 0; i < catalog->n; i++)
                if (catalog->at[i].problem)
                        buf_printf(&text, "%s: %s\n", catalog->at[i].name, catalog->at[i].problem);
        if (text.failed == ERR_NO_MEMORY)
                return error_no_memory(err);
        mem_free(a->images);
        a->images = text.len ? mem_strdup(text.data) : NULL;
        return 0;
}

int job_automation(struct job *j, struct error *err)
{
        const struct image_filter filter = filter_of(&j->a->options->images);
        struct image_candidates candidates;
        struct image_catalog catalog = { 0 };
        struct arena *arena = j->rc->arena;

        TRY(automation_candidates(arena, &j->objects, &filter, &candidates, err));
        for (size_t i = 0; i < candidates.n_problems; i++)
                warn_once(j->a, candidates.problems[i]);
        if (candidates.n == 0)
                return 0;
        TRY(read_tags(j, &candidates, &catalog, err));
        TRY(tell_problems(j->a, &catalog, err));
        return automation_plan(arena, &candidates, &catalog, &j->plan, err);
}
