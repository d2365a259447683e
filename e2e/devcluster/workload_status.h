/* What a working cluster would write into the status of the built-in kinds: pure rules, so that devcluster
 * needs no kubelets. workloads.c calls them after every write; a status that is right already is returned
 * unchanged. */
#pragma once

#include "common/json/doc.h"

/* What the rules want to know beyond the object. */
struct workload_facts {
        int64_t now_ms;
        bool ready;            /* false: it is to stay unavailable */
        int64_t n_nodes;       /* of the cluster */
        int64_t expected_pods; /* disruption budgets: pods the selector matches */
        int64_t healthy_pods;
        const char *node;             /* where a pod runs; NULL = nowhere in particular */
        const char *pod_ip, *address; /* of a pod; of a load balancer */
};

/* Changes doc in place (status, and what controllers write into metadata and spec). Kinds without rules are
 * left alone. 0 or ERR_NO_MEMORY. */
int workload_advance(const char *kind, json_t *doc, const struct workload_facts *f);
bool workload_has_rules(const char *kind);

/* ---- shared by the files of the rules ---- */

#define POD_HASH_SIZE 11
/* Ten characters that stand for a document: names of revisions and replica sets. */
int workload_hash(const json_t *doc, char ret[POD_HASH_SIZE]);

struct status_condition {
        const char *type, *status, *reason, *message; /* reason and message NULL = left out */
        bool with_update_time; /* lastUpdateTime (deployments), lastProbeTime null (pods, jobs) */
        bool with_probe_time;
};
/* Sets status.conditions[type]; lastTransitionTime moves only with the status. */
int workload_set_condition(json_t *doc, const struct status_condition *c, int64_t now_ms);
/* status.NAME = n; without `zero`, absent when n is 0 as Go's omitempty. */
int workload_set_count(json_t *doc, const char *path, int64_t n, bool zero);

typedef int (*workload_rule)(json_t *doc, const struct workload_facts *f);
workload_rule workload_rule_of_object(const char *kind); /* object_status.c; NULL if none */
