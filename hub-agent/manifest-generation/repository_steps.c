/* The way to the repository, step by step. spec/flux-yaml.md 2. */
#include "hub-agent/manifest-generation/generation_agent.h"

static int fetch(struct generator_agent *a, struct error *err)
{
        const struct repository *r = &a->options->repository;
        struct git_hash head = { "" };

        TRY(r->ops->fetch(r->ctx, err));
        TRY(r->ops->head(r->ctx, &head, err));
        if (!git_hash_equal(&head, &a->head))
                a->timetable.sync_asked = true;
        a->head = head;
        return 0;
}

static int check_write(struct generator_agent *a, struct error *err)
{
        const struct repository *r = &a->options->repository;
        char tag[REPOSITORY_CHECK_TAG_SIZE];

        repository_check_tag(a->set_name, tag);
        return r->ops->check_write(r->ctx, tag, err);
}

/* Each trouble once, and its end. */
static void tell(struct generator_agent *a, const struct repository_status *was)
{
        const struct repository_status *is = &a->repository;

        if (*is->problem && !text_equal(is->problem, was->problem))
                log_warn(&a->log, "the repository is not ready, trying again", "url", a->options->public_url,
                         "state", repository_state_name(is->state), "error", is->problem);
        else if (is->state == REPOSITORY_READY && was->state != REPOSITORY_READY)
                log_info(&a->log, "the repository is ready", "url", a->options->public_url, "branch",
                         a->options->branch, "head", a->head.hex);
        metric_set(a->metrics, METRIC_GIT_READY, is->state == REPOSITORY_READY, NULL);
}

static int take(struct generator_agent *a, enum repository_step step, struct error *err)
{
        const struct repository_status was = a->repository;
        int code = step == REPOSITORY_CHECK_WRITE ? check_write(a, err) : fetch(a, err);

        if (code == ERR_CANCELLED)
                return code;
        repository_done(&a->repository, step, code < 0 ? err : NULL,
                        text_equal(err->reason, HTTP_REASON_NAME_UNKNOWN), loop_now_ms(a->world->loop));
        tell(a, &was);
        if (was.state != REPOSITORY_READY && a->repository.state == REPOSITORY_READY)
                a->timetable.sync_asked = true;
        return code;
}

int repository_steps(struct generator_agent *a, struct error *err)
{
        enum repository_step step;

        while ((step = repository_next(&a->repository, loop_now_ms(a->world->loop))) != REPOSITORY_REST) {
                error_clear(err);
                if (take(a, step, err) == ERR_CANCELLED)
                        return ERR_CANCELLED;
        }
        error_clear(err);
        return 0;
}

int repository_refresh(struct generator_agent *a, struct error *err)
{
        const char *why;

        repository_ask(&a->repository, loop_now_ms(a->world->loop));
        TRY(repository_steps(a, err));
        why = repository_unready(&a->repository);
        return why ? error_set(err, ERR_RETRY, "git repo not ready: %s", why) : 0;
}
