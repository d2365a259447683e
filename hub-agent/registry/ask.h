/* One request to a registry: as whom, how often, and what its refusal says. Internal to the folder. */
#pragma once

#include "hub-agent/registry/registry.h"

struct registry_question {
        const char *method; /* NULL = GET */
        const char *path;   /* behind /v2/<repository>/, or an URL of the same registry */
        const char *accept;
        size_t max_body;
        const struct transfer_sink *sink; /* NULL: the body is held */
        bool may_be_absent;               /* 404 is an answer */
};
/* The answer has a status of 2xx, or 404 where that is one. */
int registry_ask(struct registry *r, const struct registry_question *q, struct http_response *ret,
                 struct error *err);
/* An operation begins: it has the time it may take. */
void registry_begin(struct registry *r);
/* "https://host/v2/repository/path", in the arena. NULL on no memory. */
const char *registry_url(const struct registry *r, const char *path);
/* One request, again while the server wants that; whatever the answer is. */
int registry_call(struct registry *r, const struct transfer_call *c, const struct transfer_sink *sink,
                  struct http_response *ret, struct error *err);
/* The error of an answer. */
int registry_refused(struct registry *r, const struct transfer_call *c, const struct http_response *a,
                     struct error *err);

/* Pages that follow each other by Link: each is asked for once, and REGISTRY_PAGES_MAX at most. */
#define REGISTRY_PAGES_MAX 1000
struct registry_pages {
        struct map *seen;
};
int registry_enter_page(struct registry *r, struct registry_pages *p, const char *path, struct error *err);
/* *ret NULL: that was the last. */
int registry_next_page(struct registry *r, const char *path, const struct http_response *a, const char **ret,
                       struct error *err);

/* ---- who asks ---- */

/* Sets r->authorization to what is known by now, if anything is. */
int registry_remember_login(struct registry *r, struct error *err);
/* Keeps it until then. */
int registry_keep_login(struct registry *r, int64_t ends_ms, struct error *err);
/* Does what the 401 wants. *ret_changed: so there is a point in asking again. */
int registry_log_in(struct registry *r, const struct http_response *refused, bool *ret_changed,
                    struct error *err);
