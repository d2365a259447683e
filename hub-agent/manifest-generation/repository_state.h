/* How far the way to the repository has come, and what is tried next. spec/flux-yaml.md 2. Pure: times are of
 * one clock that does not go back. */
#pragma once

#include "common/base/error.h"

#define REPOSITORY_RETRY_MS 10000

enum repository_state {
        REPOSITORY_UNCONFIGURED, /* there is no address */
        REPOSITORY_NEW,
        REPOSITORY_UNREACHABLE, /* its host is not known */
        REPOSITORY_CLONED,      /* read, and the branch is there */
        REPOSITORY_READY,       /* and can be written, or need not be */
};
const char *repository_state_name(enum repository_state s);

enum repository_step {
        REPOSITORY_REST,
        REPOSITORY_CLONE,       /* mirror it, look for the branch */
        REPOSITORY_CHECK_WRITE, /* push a tag and delete it */
        REPOSITORY_FETCH,       /* mirror it again */
};

struct repository_status {
        enum repository_state state;
        bool readonly;
        int64_t interval_ms;          /* from one fetch to the next */
        int64_t due_ms;               /* of the next step */
        char problem[ERROR_TEXT_MAX]; /* of the last step; "" = none */
};
void repository_status_init(struct repository_status *s, bool configured, bool readonly, int64_t interval_ms);
enum repository_step repository_next(const struct repository_status *s, int64_t now_ms);
int64_t repository_due_ms(const struct repository_status *s);     /* INT64_MAX: never */
void repository_ask(struct repository_status *s, int64_t now_ms); /* the next fetch is due now */
/* How a step went. `failure` NULL: well; `unknown_host`: that was why. */
void repository_done(struct repository_status *s, enum repository_step step, const struct error *failure,
                     bool unknown_host, int64_t now_ms);
/* Why it is not ready; NULL when it is. */
const char *repository_unready(const struct repository_status *s);
/* "flux-write-check-0123456789". The same for the same set, so that the next check takes away what one left
 * whose answers were lost, or which ended before. */
#define REPOSITORY_CHECK_TAG_SIZE 28
void repository_check_tag(const char *set_name, char ret[REPOSITORY_CHECK_TAG_SIZE]);
