/* What registries have, for jobs that ask for it. spec/flux-yaml.md 10. */
#include "common/base/memory.h"
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

int job_read_tags(struct job *j, struct image_catalog *ret, struct error *err)
{
        struct image_candidates candidates;

        TRY(job_candidates(j->rc->arena, j->request, &j->objects, &candidates, err));
        return read_tags(j, &candidates, ret, err);
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
