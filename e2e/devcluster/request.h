/* One API request on its way through the server: who, what, with which options, and the answer's Status when
 * it fails. Functions that can fail a request return 0 or a negative code after filling rq->status with one
 * of the request_fail_...() calls, so a caller just passes the code on (TRY). Everything lives in rq->arena.
 */
#pragma once

#include "common/net/http_server.h"
#include "e2e/devcluster/registry.h"
#include "e2e/devcluster/store.h"

struct route;

struct identity {                  /* authn.h */
        uint64_t number;           /* the same stands for the same name and groups; 0 = has none */
        const char *name;          /* "system:anonymous" */
        const char *uid;           /* "" if none */
        const char *const *groups; /* NULL-terminated */
        const json_t *extra;       /* object of arrays or NULL */
        const char *certificate;   /* SHA-256 of the client certificate in hex; NULL if there was none */
};

struct status_cause {
        const char *reason, *message, *field;
};

/* What becomes a metav1.Status. */
struct api_status {
        int code;
        const char *reason, *message;
        const char *name, *group, *kind, *uid; /* details; NULL = left out */
        const struct status_cause *causes;
        size_t n_causes;
        const char *continue_token; /* metadata.continue; NULL = none */
        int retry_after_seconds;
        bool plain;           /* the message is sent as text, not as a Status */
        bool details;         /* sent even when empty */
        const char *decoding; /* why the document could not be decoded; NULL = that was not the reason */
};

enum field_validation { FIELDS_WARN, FIELDS_STRICT, FIELDS_IGNORE };
enum body_form { FORM_OBJECT, FORM_TABLE, FORM_PARTIAL };

struct request {
        struct devcluster *devcluster;
        struct cluster *cluster;
        struct http_exchange *x; /* NULL for the server's own requests */
        struct arena *arena;
        const struct identity *user;

        /* what */
        struct route *route; /* routes.h; NULL for the server's own requests */
        const char *path;    /* behind /clusters/NAME */
        const char
                *verb; /* "get", "list", "watch", "create", "update", "patch", "delete", "deletecollection" */
        const char *group, *version, *ns, *plural, *name,
                *subresource; /* name, ns, subresource NULL if none */
        const struct resource *resource;
        const struct resource_version *resource_version;

        /* options */
        bool watch_path;     /* /watch/... before the resource */
        bool name_generated; /* by the server, from generateName */
        bool dry_run, force;
        const char *field_manager;
        enum field_validation field_validation;
        const json_t *duplicates; /* paths of members the body has twice; NULL = none */

        /* What an update begins with, where the store has kept it as a document: normalised and valid by the
         * schema of now. Not changed, and what the new document shares with it is left as it is. NULL if it
         * was read from text. */
        const json_t *sound;

        /* Webhooks were asked, so that others may have written meanwhile: what the request rests on is looked
         * at again before it is stored. `again`: it has moved, and the whole request is to be done anew. */
        bool waited, again;

        /* the answer */
        enum body_form form;
        bool yaml;                /* the answer is wanted as YAML */
        const char *form_version; /* meta.k8s.io version of Table and Partial: "v1" or "v1beta1" */
        struct api_status status;
        VEC(const char *) warnings;
        int64_t now_ms; /* wall */
};

struct table *request_table(struct request *rq, bool create); /* of its resource */
const char *request_api_version(struct request *rq);
void request_warn(struct request *rq, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* ---- failing ---- */
int request_fail(struct request *rq, int code, const char *reason, const char *fmt, ...) PRINTF_LIKE(4, 5);
int request_fail_not_found(struct request *rq, const char *name); /* deployments.apps "x" not found */
int request_fail_exists(struct request *rq, const char *name);
#define MOVED_MESSAGE                                                                                        \
        "the object has been modified; please apply your changes to the latest version and try again"
int request_fail_conflict(struct request *rq, const char *name, const char *fmt, ...) PRINTF_LIKE(3, 4);
int request_fail_forbidden(struct request *rq, const char *name, const char *fmt, ...) PRINTF_LIKE(3, 4);
int request_fail_bad(struct request *rq, const char *fmt, ...) PRINTF_LIKE(2, 3); /* 400 BadRequest */
/* 400: the document is none of the resource's kind; why: what Go's decoder says. */
int request_fail_decoding(struct request *rq, const char *why);
int request_fail_method(struct request *rq, const char *method);
int request_fail_no_handler(struct request *rq); /* text: 404 page not found */
int request_fail_no_path(struct request *rq);    /* "404 page not found" in kube's Status clothes */
int request_fail_memory(struct request *rq);
int request_fail_error(struct request *rq, const struct error *err); /* 500, or by err's code */
/* 422 with one cause per problem: Deployment.apps "x" is invalid: ... */
int request_fail_invalid(struct request *rq, const char *name, const struct schema_problems *problems);
/* Adds one problem; texts are formatted into the problems' arena. reason: "FieldValueInvalid", ... */
int problem_add(struct schema_problems *p, const char *reason, const char *field, const char *fmt, ...)
        PRINTF_LIKE(4, 5);

json_t *status_to_doc(const struct api_status *s);                             /* new; NULL on no memory */
json_t *status_success(struct request *rq, const char *name, const char *uid); /* new */

/* ---- verbs on documents (rest_write.c, rest_delete.c); also used by the server's own controllers ---- */

/* doc is changed in place; *ret_blob, when asked for, is what is stored (a new reference; NULL on dry run)
 * and *ret_doc (new) is the object in the request's version when there is no blob. */
struct write_result {
        json_t *doc;  /* new: in storage version */
        bool created; /* 201 */
};
int rest_create(struct request *rq, json_t *doc, struct write_result *ret);
int rest_update(struct request *rq, json_t *doc, struct write_result *ret);
int rest_patch(struct request *rq, const char *content_type, struct slice body, struct write_result *ret);

struct delete_options {
        const char *uid, *rv;    /* preconditions, NULL = none */
        const char *propagation; /* NULL, "Orphan", "Background", "Foreground" */
        int64_t grace_seconds;   /* -1 = not given */
        bool dry_run;
};
/* *ret: the object as it stands (deletion pending or RETURN_DELETED) or NULL when gone: answer a Status. */
int rest_delete(struct request *rq, const char *ns, const char *name, const struct delete_options *o,
                json_t **ret, const char **ret_uid);

/* A request of the server itself, as system:masters, on a resource by table key in its storage version. */
int request_internal(struct request *rq, struct devcluster *d, struct cluster *c, const char *table_key,
                     const char *ns, const char *name, struct arena *arena);
/* Live document of the request's object, parsed: new; fails with 404. */
int request_load(struct request *rq, json_t **ret);
/* The same for those who do not change it: it may be the kept one, which rq->sound tells then. */
int request_look(struct request *rq, json_t **ret);
/* Fails with `again` set when webhooks were asked and the object is no longer `live`. */
int request_check_unmoved(struct request *rq, const json_t *live);
