/* Admission on the hub: which webhooks there are, and what they answer. Pure but for what rules ask of the
 * world they are given. spec/membership-webhooks-charts.md 4.3, 5. */
#pragma once

#include "common/ctrl/informer.h"

/* ---- which webhooks there are ---- */

enum webhook_configuration_id { WEBHOOKS_MUTATING, WEBHOOKS_VALIDATING, WEBHOOKS_GUARD_RAIL };
#define N_WEBHOOK_CONFIGURATIONS 3

enum admission_operation {
        ADMISSION_CREATE = 1,
        ADMISSION_UPDATE = 2,
        ADMISSION_DELETE = 4,
        ADMISSION_CONNECT = 8
};

/* The flags that decide which webhooks are registered, and what rules do. */
struct admission_flags {
        bool workload;                 /* --enable-workload: Pods and ReplicaSets run on the hub */
        bool pdbs;                     /* --enable-pdbs */
        bool guard_rail;               /* --enable-guard-rail */
        bool networking_agents;        /* --networking-agents-enabled */
        bool fixed_member_labels;      /* --deny-modify-member-cluster-labels */
        bool resource_placements;      /* ResourcePlacements are checked as ClusterResourcePlacements are */
        const char *whitelisted_users; /* --whitelisted-users: names separated by commas; may be NULL */
};

/* One entry of `rules`; the lists are separated by blanks, and "" is the core group. */
struct webhook_rule {
        unsigned operations; /* of enum admission_operation */
        const char *groups, *versions, *resources;
        const char *scope; /* "Cluster", "Namespaced"; NULL = "*" */
};

struct admission_call;

struct webhook {
        const char *name, *path;
        enum webhook_configuration_id configuration;
        const struct webhook_rule *rules;
        size_t n_rules;
        bool ignore_failures; /* failurePolicy Ignore instead of Fail */
        int timeout_seconds;
        /* The label a namespace must have, and its values, separated by blanks; NULL = any namespace. */
        const char *namespace_label, *namespace_values;
        bool elsewhere;                                      /* turned round: any other namespace */
        bool (*registered)(const struct admission_flags *f); /* NULL = always */
        int (*answer)(
                struct admission_call *c); /* 0 with c->answer filled, or ERR_NO_MEMORY, ERR_CANCELLED */
};
/* All, in the order in which they stand in their configuration. Several may share a path, and then a rule.
 * All have sideEffects None, review versions v1 and v1beta1, and no matchConditions. */
extern const struct webhook webhooks[];
extern const size_t n_webhooks;

/* How the API server reaches the webhooks. */
struct webhook_client {
        const char *ns, *service; /* of the agent's service */
        int port;
        bool url;                /* by URL of the service's name instead of by reference */
        const char *inject_from; /* annotation cert-manager.io/inject-ca-from; NULL: none */
        struct slice ca_bundle;  /* PEM; empty: left for cert-manager to fill */
};
const char *webhook_configuration_name(enum webhook_configuration_id id);
/* The configuration as it is to be, without an owner. *ret is new; NULL when the flags want none. */
int webhook_configuration_make(enum webhook_configuration_id id, const struct admission_flags *f,
                               const struct webhook_client *client, json_t **ret, struct error *err);

/* ---- what a rule sees and says ---- */

struct admission_gvk {
        const char *group, *version, *kind; /* never NULL */
};

/* Strings are borrowed from the review, and "" where it has none. */
struct admission_request {
        const char *uid;
        enum admission_operation operation;
        struct admission_gvk kind;
        const char *resource, *subresource, *ns, *name;
        const char *user, *user_uid;
        struct string_list groups;
        const json_t *object, *old_object, *options; /* NULL if the review has none */
        bool dry_run;
};

struct admission_answer {
        bool allowed;
        int code;            /* 200, 403, or what kept the rule from an answer: 400, 500 */
        const char *reason;  /* of the status: "Forbidden" with 403; may be NULL */
        const char *message; /* may be NULL */
        const char *warning; /* shown to whoever asks, allowed or not; NULL = none */
        json_t *patch;       /* JSON patch, an array; NULL = none. The answer's, dropped with it */
};

/* What is known of a kind when its scope is asked for. */
enum admission_scope {
        ADMISSION_SCOPE_UNTOLD, /* served, but not among what can be placed */
        ADMISSION_SCOPE_CLUSTER,
        ADMISSION_SCOPE_NAMESPACED
};

/* What rules may ask. What is handed out lives as long as `arena`; every call may park. */
struct admission_world {
        void *ctx;
        struct admission_flags flags;
        /* MemberClusters and placements, from the caches. ERR_NOT_FOUND: there is none of the name. */
        int (*find)(void *ctx, struct arena *arena, const struct kind *kind, const char *ns, const char *name,
                    const struct object **ret, struct error *err);
        /* Overrides, as the server has them now: a limit and uniqueness are judged by them. */
        int (*list)(void *ctx, struct arena *arena, const struct kind *kind, const char *ns,
                    struct object_list *ret, struct error *err);
        /* The InternalServiceExports (networking.fleet.azure.com/v1alpha1) of a namespace: *ret is a new
         * array of documents. */
        int (*service_exports)(void *ctx, const char *ns, json_t **ret, struct error *err);
        /* ERR_NOT_FOUND: no such kind is served, and the text says so as the API machinery does (`no matches
         * for kind "k" in version "gv"`). Otherwise failed: it cannot be told at present. */
        int (*scope)(void *ctx, const struct admission_gvk *gvk, enum admission_scope *ret,
                     struct error *err);
};

/* ---- serving ---- */

/* Whether some webhook answers at the path. */
bool webhook_serves(const char *path);
/* What to answer to a POST at the path, as an AdmissionReview, new. A body that is no review is answered too,
 * with code 400 and what is wrong with it. ERR_NOT_FOUND: nothing answers there; ERR_NO_MEMORY,
 * ERR_CANCELLED. */
int webhook_answer(const struct admission_world *w, const char *path, struct slice body, struct arena *arena,
                   json_t **ret, struct error *err);
