#include "hub-agent/manifest-generation/repository_state.h"

#include <stdio.h>

#include "common/base/digest.h"
#include "common/base/text.h"

const char *repository_state_name(enum repository_state s)
{
        static const char *const names[] = { "unconfigured", "new", "unreachable", "cloned", "ready" };

        return names[s];
}

void repository_status_init(struct repository_status *s, bool configured, bool readonly, int64_t interval_ms)
{
        *s = (struct repository_status){ .state = configured ? REPOSITORY_NEW : REPOSITORY_UNCONFIGURED,
                                         .readonly = readonly,
                                         .interval_ms = interval_ms };
}

static enum repository_step step_of(const struct repository_status *s)
{
        switch (s->state) {
        case REPOSITORY_UNCONFIGURED:
                return REPOSITORY_REST;
        case REPOSITORY_NEW:
        case REPOSITORY_UNREACHABLE:
                return REPOSITORY_CLONE;
        case REPOSITORY_CLONED:
                return REPOSITORY_CHECK_WRITE;
        case REPOSITORY_READY:
                return REPOSITORY_FETCH;
        }
        UNREACHABLE();
}

enum repository_step repository_next(const struct repository_status *s, int64_t now_ms)
{
        return now_ms >= s->due_ms ? step_of(s) : REPOSITORY_REST;
}

int64_t repository_due_ms(const struct repository_status *s)
{
        return step_of(s) == REPOSITORY_REST ? INT64_MAX : s->due_ms;
}

void repository_ask(struct repository_status *s, int64_t now_ms)
{
        if (s->state == REPOSITORY_READY && s->due_ms > now_ms)
                s->due_ms = now_ms;
}

static void fail(struct repository_status *s, enum repository_step step, const struct error *failure,
                 bool unknown_host, int64_t now_ms)
{
        snprintf(s->problem, sizeof(s->problem), "%s", failure->text);
        s->due_ms = now_ms + REPOSITORY_RETRY_MS;
        if (step != REPOSITORY_CHECK_WRITE)
                s->state = unknown_host ? REPOSITORY_UNREACHABLE : REPOSITORY_NEW;
}

void repository_done(struct repository_status *s, enum repository_step step, const struct error *failure,
                     bool unknown_host, int64_t now_ms)
{
        if (failure) {
                fail(s, step, failure, unknown_host, now_ms);
                return;
        }
        *s->problem = '\0';
        if (step == REPOSITORY_CLONE && !s->readonly) {
                s->state = REPOSITORY_CLONED;
                s->due_ms = now_ms;
                return;
        }
        s->state = REPOSITORY_READY;
        s->due_ms = now_ms + s->interval_ms;
}

const char *repository_unready(const struct repository_status *s)
{
        if (s->state == REPOSITORY_READY)
                return NULL;
        if (*s->problem)
                return s->problem;
        if (s->state == REPOSITORY_UNCONFIGURED)
                return "git repo does not have valid config";
        return s->state == REPOSITORY_CLONED ? "git repo has been cloned but not yet checked for write access"
                                             : "git repo has not been cloned yet";
}

void repository_check_tag(const char *set_name, char ret[REPOSITORY_CHECK_TAG_SIZE])
{
        char sum[SHA256_HEX_SIZE];

        sha256_hex(set_name, strlen(set_name), sum);
        snprintf(ret, REPOSITORY_CHECK_TAG_SIZE, "flux-write-check-%.10s", sum);
}
