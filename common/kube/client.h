/* REST verbs of the Kubernetes API, typed and on documents. Every call parks the fiber, carries a deadline
 * (KUBE_CALL_DEADLINE_MS unless the client was told otherwise) and turns a Status answer into a struct error
 * with code, reason and text ("placements \"x\" not found"). 409 on create is ERR_EXISTS, other 409s
 * ERR_CONFLICT. */
#pragma once

#include "common/net/http.h"
#include "proto/object.h"

#define KUBE_CALL_DEADLINE_MS 30000
#define KUBE_GROUPS_MAX 16

/* A request that was answered, or given up. */
struct kube_counted {
        const char *verb, *resource; /* a raw path stands for the resource */
        const char *method;          /* GET for a watch */
        const struct http_endpoint *endpoint;
        int status; /* 0 = there was no answer */
        int64_t took_us;
};

struct kube_client {
        struct world *world;
        const struct http_endpoint *endpoint;
        const struct log *log;
        int64_t call_deadline_ms; /* 0 = KUBE_CALL_DEADLINE_MS */
        size_t max_answer;  /* bytes of one answer, where a call has no limit of its own; 0 = as usual */
        unsigned page_most; /* objects that a page of a list is asked for with at most; 0 = LIMIT_LIST_PAGE */
        const char *field_manager; /* added to every write */
        const char *impersonate;   /* user as whom all is done; NULL = as who the endpoint's credential is */
        const char *impersonate_uid;           /* NULL = none */
        const char *const *impersonate_groups; /* KUBE_GROUPS_MAX at most, NULL behind them; NULL = none */
        void (*count)(void *ctx, const struct kube_counted *c); /* NULL = requests are not counted */
        void *count_ctx;
        /* Asked of each request that is no GET in the moment in which it leaves: below 0, with the error, it
         * does not. Must not park. NULL = all leave. */
        int (*may_write)(void *ctx, struct error *err);
        void *may_write_ctx;
        struct kube_connection *connection; /* kube/connection.h: told how calls went; NULL = nobody is */
};

/* A resource as the API server serves it. Strings are borrowed. */
struct kube_resource {
        const char *group; /* "" = core */
        const char *version;
        const char *plural;
        const char *kind;
        bool namespaced;
};
struct kube_resource kube_resource_of(const struct kind *kind);

/* ---- typed ---- */
int kube_get(struct kube_client *k, const struct kind *kind, const char *ns, const char *name,
             struct arena *arena, struct object **ret, struct error *err);
/* Creates; *ret (may be NULL) is what the server stored. */
int kube_create(struct kube_client *k, const struct object *o, struct arena *arena, struct object **ret,
                struct error *err);
/* Writes the difference of one part as a merge patch bound to now's resourceVersion; no difference, no
 * request (then *ret = now). Status goes to the status subresource. *ret may be NULL. */
int kube_patch_diff(struct kube_client *k, const struct object *now, const struct object *wanted,
                    enum object_part part, struct arena *arena, struct object **ret, struct error *err);
/* The same three with the answer as a block of its own (one reference, the caller's), as an informer would
 * hold it. A patch that was not sent leaves *ret_block NULL; with DECODE_OUTLINED a `now` that has an outline
 * was decoded with the same options. */
struct kube_block_options {
        enum decode_flags flags;
        struct intern_table *interns;
};
int kube_get_block(struct kube_client *k, const struct kind *kind, const char *ns, const char *name,
                   const struct kube_block_options *b, struct object **ret_block, struct error *err);
int kube_create_block(struct kube_client *k, const struct object *o, const struct kube_block_options *b,
                      struct object **ret_block, struct error *err);
int kube_patch_diff_block(struct kube_client *k, const struct object *now, const struct object *wanted,
                          enum object_part part, const struct kube_block_options *b,
                          struct object **ret_block, struct error *err);
/* Deletes with preconditions of o (uid always; resourceVersion if `bound`). Not found counts as done. */
int kube_delete(struct kube_client *k, const struct object *o, bool bound, struct error *err);
int kube_delete_named(struct kube_client *k, const struct kind *kind, const char *ns, const char *name,
                      const char *uid, struct error *err);
/* Pages through a list, in smaller pages where objects are large; `each` sees every object (borrowed for the
 * call; object_ref to keep). label_selector may be NULL. */
int kube_list(struct kube_client *k, const struct kind *kind, const char *ns, const char *label_selector,
              enum decode_flags flags, struct intern_table *interns, int (*each)(void *ctx, struct object *o),
              void *ctx, char **ret_resource_version, struct error *err);

/* The general form: any resource (NULL = the kind's own), metadata only (kind = partial_object_kind) or
 * whole. */
struct kube_list_options {
        const char *ns, *label_selector, *field_selector; /* NULL = all */
        enum decode_flags flags;
        struct intern_table *interns;
        bool metadata_only;
        unsigned first_page; /* objects of the first page; 0 = as many as of the others */
        /* Told of each page behind whose objects there are more, with the list's resourceVersion; it may
         * park. A negative result ends the list. NULL = nobody. */
        int (*page)(void *ctx, const char *resource_version);
        /* As object_sink's; NULL: an object that cannot be decoded ends the list with ERR_INVALID. */
        int (*undecodable)(void *ctx, struct object *o, const struct error *why);
};
#define KUBE_ACCEPT_METADATA_LIST                                                                            \
        "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
#define KUBE_ACCEPT_METADATA "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
int kube_list_resource(struct kube_client *k, const struct kind *kind, const struct kube_resource *resource,
                       const struct kube_list_options *o, int (*each)(void *ctx, struct object *o), void *ctx,
                       char **ret_resource_version, struct error *err);

/* ---- documents ---- */
enum kube_patch_type { KUBE_PATCH_MERGE, KUBE_PATCH_JSON, KUBE_PATCH_STRATEGIC, KUBE_PATCH_APPLY };
struct kube_write {
        const char *subresource;   /* NULL, "status", ... */
        const char *field_manager; /* NULL = the client's */
        bool force;                /* apply */
        bool dry_run;
};
int kube_doc_get(struct kube_client *k, const struct kube_resource *r, const char *ns, const char *name,
                 json_t **ret, struct error *err);
int kube_doc_list(struct kube_client *k, const struct kube_resource *r, const char *ns,
                  const char *label_selector, json_t **ret_items, struct error *err);
int kube_doc_create(struct kube_client *k, const struct kube_resource *r, const char *ns, const json_t *doc,
                    const struct kube_write *o, json_t **ret, struct error *err);
int kube_doc_update(struct kube_client *k, const struct kube_resource *r, const char *ns, const char *name,
                    const json_t *doc, const struct kube_write *o, json_t **ret, struct error *err);
int kube_doc_patch(struct kube_client *k, const struct kube_resource *r, const char *ns, const char *name,
                   enum kube_patch_type type, const json_t *patch, const struct kube_write *o, json_t **ret,
                   struct error *err);
/* propagation: "Background", "Foreground", "Orphan" or NULL; uid NULL = no precondition. Not found:
 * ERR_NOT_FOUND. */
int kube_doc_delete(struct kube_client *k, const struct kube_resource *r, const char *ns, const char *name,
                    const char *uid, const char *propagation, struct error *err);

/* Deletes exactly what was read: bound to the uid and resourceVersion of `live`. Changed or made anew since:
 * ERR_CONFLICT; not found: ERR_NOT_FOUND. With dry_run the server says so and keeps it. */
int kube_doc_delete_read(struct kube_client *k, const struct kube_resource *r, const json_t *live,
                         const char *propagation, bool dry_run, struct error *err);

/* Anything else: raw path. The response is checked for a Status error. */
int kube_raw(struct kube_client *k, const char *method, const char *path, const char *content_type,
             struct slice body, struct arena *arena, struct http_response *ret, struct error *err);

/* A GET-like call with an Accept header of its own (NULL = application/json). */
int kube_raw_accept(struct kube_client *k, const char *method, const char *path, const char *accept,
                    struct arena *arena, struct http_response *ret, struct error *err);

/* Path of a resource: "/apis/g/v/namespaces/ns/plural/name/sub" appended to b. ns, name, sub may be NULL. A
 * namespace on a cluster-scoped resource, and a name in no namespace on a namespaced one, would be the path
 * of another object: b fails with ERR_INVALID. */
int kube_path(struct buf *b, const struct kube_resource *r, const char *ns, const char *name,
              const char *sub);
bool kube_answer_is_html(const struct http_response *r); /* whatever its status */
/* Turns a non-2xx answer into an error; HTML and other strangers get a sentence of their own. */
int kube_status_error(const struct http_response *r, const char *what, struct error *err);
struct kube_watch {
        const char *plural;
        const char *path; /* with its query */
        bool metadata_only;
        bool unhurried; /* HTTP_WATCH_UNHURRIED */
};
/* For how long to ask for a watch: 30 to 60 minutes at random, which a kube-apiserver takes where nobody
 * asks. Each that begins anew is a request with all its checks, and a thousand members have ten thousand of
 * them; that a stream is dead is seen by its bookmarks, a minute apart. */
uint64_t kube_watch_seconds(struct loop *l);
/* A watch that says nothing for so long is taken for dead. Bookmarks come about once a minute, so two are
 * missing by then, and three minutes, after which a member counts as silent, are not over. Nobody promises
 * them: an API server sends none of a kind of which it has not seen an event since it started, but for those
 * of its store's progress, which may be ten minutes apart. To open the watch anew where it was is the
 * question whether it lives, asked the way it goes itself: a wrong guess costs that one request and no list,
 * and nothing is lost by it. */
#define KUBE_WATCH_SILENCE_MS 130000
/* Opens a watch. A refusal is an error in the server's words, and reported and counted as that of any other
 * request. */
int kube_watch_open(struct kube_client *k, const struct kube_watch *w, struct http_stream **ret,
                    struct error *err);
