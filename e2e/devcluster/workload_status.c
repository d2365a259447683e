#include "e2e/devcluster/workload_status.h"

#include "common/base/timefmt.h"

/* ---- helpers ---- */

int workload_hash(const json_t *doc, char ret[POD_HASH_SIZE])
{
        static const char safe[] = "bcdfghjklmnpqrstvwxz2456789";
        char hex[65];
        AUTO_JSON json_t *nothing = json_object();
        TRY(doc_hash(doc ? doc : nothing, hex, NULL));
        for (size_t i = 0; i < POD_HASH_SIZE - 1; i++) {
                unsigned high = (unsigned char)hex[i * 3], low = (unsigned char)hex[i * 3 + 1];
                ret[i] = safe[(high * 7 + low * 31 + (unsigned char)hex[i * 3 + 2]) % (sizeof(safe) - 1)];
        }
        ret[POD_HASH_SIZE - 1] = '\0';
        return 0;
}

static json_t *find_condition(json_t *conditions, const char *type)
{
        size_t i;
        json_t *c;
        json_array_foreach(conditions, i, c)
                if (text_equal(doc_get_string(c, "type"), type))
                        return c;
        return NULL;
}

static bool condition_equal(const json_t *have, const struct status_condition *c)
{
        return text_equal(doc_get_string(have, "status"), c->status) &&
               text_equal(doc_get_string(have, "reason"), c->reason) &&
               text_equal(doc_get_string(have, "message"), c->message);
}

static int fill_condition(json_t *have, const struct status_condition *c, const char *now)
{
        bool moved = !text_equal(doc_get_string(have, "status"), c->status);
        TRY(doc_set_string(have, "type", c->type));
        TRY(doc_set_string(have, "status", c->status));
        if (moved || !json_object_get(have, "lastTransitionTime"))
                TRY(doc_set_string(have, "lastTransitionTime", now));
        if (c->with_update_time)
                TRY(doc_set_string(have, "lastUpdateTime", now));
        if (c->with_probe_time)
                TRY(doc_set(have, "lastProbeTime", json_null()));
        if (c->reason)
                TRY(doc_set_string(have, "reason", c->reason));
        else
                json_object_del(have, "reason");
        if (c->message)
                return doc_set_string(have, "message", c->message);
        json_object_del(have, "message");
        return 0;
}

int workload_set_condition(json_t *doc, const struct status_condition *c, int64_t now_ms)
{
        char now[RFC3339_SIZE];
        json_t *conditions = doc_get_array(doc, "status.conditions");
        if (!conditions) {
                TRY(doc_set(doc, "status.conditions", json_array()));
                conditions = doc_get_array(doc, "status.conditions");
        }
        json_t *have = find_condition(conditions, c->type);
        if (have && condition_equal(have, c))
                return 0;
        if (!have && json_array_append_new(conditions, have = json_object()) < 0)
                return ERR_NO_MEMORY;
        time_format_rfc3339(now_ms, now);
        return fill_condition(have, c, now);
}

int workload_set_count(json_t *doc, const char *path, int64_t n, bool zero)
{
        return n || zero ? doc_set_int(doc, path, n) : doc_remove(doc, path);
}

static int observe(json_t *doc)
{
        return workload_set_count(doc, "status.observedGeneration",
                                  doc_get_int(doc, "metadata.generation", 0), false);
}

/* ---- deployments ---- */

/* A new template is a new replica set, and that a new revision: known from the one the last condition named.
 */
static int set_revision(json_t *doc, const char *replica_set)
{
        static const char key[] = "deployment.kubernetes.io/revision";
        const char *const keys[] = { "metadata", "annotations", key };
        json_t *progress = find_condition(doc_get_array(doc, "status.conditions"), "Progressing");
        const char *message = doc_get_string(progress, "message"),
                   *text = json_string_value(doc_get_keys(doc, keys, 3));
        int64_t revision = 0;
        char next[24];
        if (text)
                (void)text_parse_i64(text, &revision);
        if (revision > 0 && (!message || !strstr(message, "ReplicaSet") || strstr(message, replica_set)))
                return 0;
        snprintf(next, sizeof(next), "%lld", (long long)(revision + 1));
        if (!doc_get_object(doc, "metadata.annotations"))
                TRY(doc_set(doc, "metadata.annotations", json_object()));
        return json_object_set_new(doc_get_object(doc, "metadata.annotations"), key, json_string(next)) < 0
                       ? ERR_NO_MEMORY
                       : 0;
}

static int set_deployment_conditions(json_t *doc, const char *replica_set, bool complete, int64_t now_ms)
{
        char message[512];
        snprintf(message, sizeof(message), "ReplicaSet \"%s\" %s", replica_set,
                 complete ? "has successfully progressed." : "is progressing.");
        const struct status_condition available = {
                .type = "Available",
                .status = complete ? "True" : "False",
                .reason = complete ? "MinimumReplicasAvailable" : "MinimumReplicasUnavailable",
                .message = complete ? "Deployment has minimum availability."
                                    : "Deployment does not have minimum availability.",
                .with_update_time = true,
        };
        const struct status_condition progressing = {
                .type = "Progressing",
                .status = "True",
                .reason = complete ? "NewReplicaSetAvailable" : "ReplicaSetUpdated",
                .message = message,
                .with_update_time = true,
        };
        TRY(workload_set_condition(doc, &available, now_ms));
        return workload_set_condition(doc, &progressing, now_ms);
}

static int advance_deployment(json_t *doc, const struct workload_facts *f)
{
        int64_t want = doc_get_int(doc, "spec.replicas", 1);
        char hash[POD_HASH_SIZE], replica_set[300];
        const char *name = doc_get_string(doc, "metadata.name");
        TRY(workload_hash(doc_get(doc, "spec.template"), hash));
        snprintf(replica_set, sizeof(replica_set), "%s-%s", name ? name : "", hash);
        bool complete = f->ready || want == 0;
        int64_t available = complete ? want : 0;
        TRY(set_revision(doc, replica_set));
        TRY(observe(doc));
        TRY(workload_set_count(doc, "status.replicas", want, false));
        TRY(workload_set_count(doc, "status.updatedReplicas", want, false));
        TRY(workload_set_count(doc, "status.readyReplicas", available, false));
        TRY(workload_set_count(doc, "status.availableReplicas", available, false));
        TRY(workload_set_count(doc, "status.unavailableReplicas", want - available, false));
        return set_deployment_conditions(doc, replica_set, complete, f->now_ms);
}

/* ---- replica sets, replication controllers, stateful sets, daemon sets ---- */

static int advance_replica_set(json_t *doc, const struct workload_facts *f)
{
        int64_t want = doc_get_int(doc, "spec.replicas", 1), available = f->ready ? want : 0;
        TRY(observe(doc));
        TRY(workload_set_count(doc, "status.replicas", want, true));
        TRY(workload_set_count(doc, "status.fullyLabeledReplicas", want, false));
        TRY(workload_set_count(doc, "status.readyReplicas", available, false));
        return workload_set_count(doc, "status.availableReplicas", available, false);
}

static int advance_stateful_set(json_t *doc, const struct workload_facts *f)
{
        int64_t want = doc_get_int(doc, "spec.replicas", 1), available = f->ready ? want : 0;
        int64_t made = f->ready ? want : MIN(want, 1); /* ordered: the second waits for the first */
        char hash[POD_HASH_SIZE], revision[300];
        const char *name = doc_get_string(doc, "metadata.name");
        TRY(workload_hash(doc_get(doc, "spec.template"), hash));
        snprintf(revision, sizeof(revision), "%s-%s", name ? name : "", hash);
        bool current = f->ready || !doc_get_string(doc, "status.currentRevision");
        TRY(observe(doc));
        TRY(workload_set_count(doc, "status.replicas", made, true));
        TRY(workload_set_count(doc, "status.readyReplicas", available, false));
        TRY(workload_set_count(doc, "status.availableReplicas", available, true));
        TRY(workload_set_count(doc, "status.currentReplicas", made, false));
        TRY(workload_set_count(doc, "status.updatedReplicas", made, false));
        TRY(workload_set_count(doc, "status.collisionCount", 0, true));
        if (current)
                TRY(doc_set_string(doc, "status.currentRevision", revision));
        return doc_set_string(doc, "status.updateRevision", revision);
}

static int advance_daemon_set(json_t *doc, const struct workload_facts *f)
{
        int64_t want = f->n_nodes, available = f->ready ? want : 0;
        TRY(observe(doc));
        TRY(workload_set_count(doc, "status.currentNumberScheduled", want, true));
        TRY(workload_set_count(doc, "status.desiredNumberScheduled", want, true));
        TRY(workload_set_count(doc, "status.numberMisscheduled", 0, true));
        TRY(workload_set_count(doc, "status.numberReady", available, true));
        TRY(workload_set_count(doc, "status.numberAvailable", available, false));
        TRY(workload_set_count(doc, "status.numberUnavailable", want - available, false));
        return workload_set_count(doc, "status.updatedNumberScheduled", want, false);
}

/* ---- jobs ---- */

static int start_job(json_t *doc, const struct workload_facts *f)
{
        char now[RFC3339_SIZE];
        int64_t parallel = doc_get_int(doc, "spec.parallelism", 1),
                want = doc_get_int(doc, "spec.completions", parallel);
        int64_t active = MIN(parallel, want);
        if (!doc_get_string(doc, "status.startTime")) {
                time_format_rfc3339(f->now_ms, now);
                TRY(doc_set_string(doc, "status.startTime", now));
        }
        TRY(workload_set_count(doc, "status.active", active, false));
        TRY(workload_set_count(doc, "status.ready", f->ready ? active : 0, true));
        TRY(workload_set_count(doc, "status.terminating", 0, true));
        return doc_set(doc, "status.uncountedTerminatedPods", json_object());
}

static int suspend_job(json_t *doc, const struct workload_facts *f)
{
        const struct status_condition suspended = { .type = "Suspended",
                                                    .status = "True",
                                                    .reason = "JobSuspended",
                                                    .message = "Job suspended",
                                                    .with_probe_time = true };
        TRY(workload_set_condition(doc, &suspended, f->now_ms));
        TRY(doc_remove(doc, "status.startTime"));
        TRY(workload_set_count(doc, "status.active", 0, false));
        return workload_set_count(doc, "status.ready", 0, true);
}

static int complete_job(json_t *doc, const struct workload_facts *f)
{
        static const char *const types[] = { "SuccessCriteriaMet", "Complete" };
        char now[RFC3339_SIZE];
        int64_t parallel = doc_get_int(doc, "spec.parallelism", 1);
        for (size_t i = 0; i < ARRAY_LEN(types); i++) {
                const struct status_condition c = { .type = types[i],
                                                    .status = "True",
                                                    .reason = "CompletionsReached",
                                                    .message = "Reached expected number of succeeded pods",
                                                    .with_probe_time = true };
                TRY(workload_set_condition(doc, &c, f->now_ms));
        }
        time_format_rfc3339(f->now_ms, now);
        TRY(doc_set_string(doc, "status.completionTime", now));
        TRY(workload_set_count(doc, "status.succeeded", doc_get_int(doc, "spec.completions", parallel),
                               false));
        TRY(workload_set_count(doc, "status.active", 0, false));
        return workload_set_count(doc, "status.ready", 0, true);
}

/* Two steps, so that who watches sees it run; the write of the first brings the second. */
static int advance_job(json_t *doc, const struct workload_facts *f)
{
        if (doc_get_string(doc, "status.completionTime"))
                return 0;
        if (doc_get_bool(doc, "spec.suspend", false))
                return suspend_job(doc, f);
        if (doc_get_string(doc, "status.startTime") && f->ready)
                return complete_job(doc, f);
        json_t *suspended = find_condition(doc_get_array(doc, "status.conditions"), "Suspended");
        if (suspended) {
                const struct status_condition resumed = { .type = "Suspended",
                                                          .status = "False",
                                                          .reason = "JobResumed",
                                                          .message = "Job resumed",
                                                          .with_probe_time = true };
                TRY(workload_set_condition(doc, &resumed, f->now_ms));
        }
        return start_job(doc, f);
}

/* ---- all ---- */

static const struct {
        const char *kind;
        workload_rule rule;
} rules[] = {
        { "Deployment", advance_deployment },    { "ReplicaSet", advance_replica_set },
        { "StatefulSet", advance_stateful_set }, { "ReplicationController", advance_replica_set },
        { "DaemonSet", advance_daemon_set },     { "Job", advance_job },
};

static workload_rule rule_of(const char *kind)
{
        for (size_t i = 0; i < ARRAY_LEN(rules); i++)
                if (strcmp(rules[i].kind, kind) == 0)
                        return rules[i].rule;
        return workload_rule_of_object(kind);
}

bool workload_has_rules(const char *kind)
{
        return rule_of(kind) != NULL;
}

int workload_advance(const char *kind, json_t *doc, const struct workload_facts *f)
{
        workload_rule rule = rule_of(kind);
        return rule ? rule(doc, f) : 0;
}
