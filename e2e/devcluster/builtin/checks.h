/* What checks of the built-in kinds share: names, selectors, and kube-apiserver's words for what is wrong
 * with them. Functions that add problems return 0 or ERR_NO_MEMORY. */
#pragma once

#include "common/json/quantity.h"
#include "e2e/devcluster/request.h"

#define LABEL_MESSAGE                                                                                        \
        "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must "    \
        "start and end "                                                                                     \
        "with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "       \
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
#define SUBDOMAIN_MESSAGE                                                                                    \
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "    \
        "and must start "                                                                                    \
        "and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "          \
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
#define DNS1035_MESSAGE                                                                                      \
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "         \
        "alphabetic character, "                                                                             \
        "and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation "  \
        "is "                                                                                                \
        "'[a-z]([-a-z0-9]*[a-z0-9])?')"
#define LABEL_VALUE_MESSAGE                                                                                  \
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and " \
        "must start and "                                                                                    \
        "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for "   \
        "validation is "                                                                                     \
        "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
#define QUALIFIED_MESSAGE                                                                                    \
        "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with "   \
        "an alphanumeric "                                                                                   \
        "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "              \
        "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"

/* One problem with a path made by printf. */
int problem_at(struct schema_problems *p, const char *reason, const char *message, const char *path_fmt, ...)
        PRINTF_LIKE(4, 5);

static inline const char *check_text(const json_t *doc, const char *path)
{
        const char *s = doc_get_string(doc, path);
        return s ? s : "";
}

/* A quantity, written as text or as a number. */
bool check_amount(const json_t *v, struct quantity *ret);
/* What is wrong with a label's key that is no good. */
const char *label_key_problem(const char *key);
/* A map of labels: bad keys and values are problems of `path`. */
int check_labels(const json_t *labels, const char *path, struct schema_problems *p);
/* A LabelSelector; *ret_usable is false when no server could select by it. */
int check_label_selector(const json_t *selector, const char *path, bool *ret_usable,
                         struct schema_problems *p);
bool check_selects(const json_t *selector, const json_t *labels);
/* The name of a port, as containers declare it and services refer to it. */
int check_port_name(const char *name, const char *path, struct schema_problems *p);
int check_dns_label(const char *name, const char *path, struct schema_problems *p);

/* ---- by kind: called from validate.c ---- */
int check_pod_spec(const json_t *spec, const char *path, bool has_claims, struct schema_problems *p);
int check_pod(const json_t *doc, struct schema_problems *p);
int check_deployment(const json_t *doc, struct schema_problems *p);
int check_stateful_set(const json_t *doc, struct schema_problems *p);
int check_daemon_set(const json_t *doc, struct schema_problems *p);
int check_replica_set(const json_t *doc, struct schema_problems *p);
int check_replication_controller(const json_t *doc, struct schema_problems *p);
int check_job(const json_t *doc, struct schema_problems *p);
int check_cron_job(const json_t *doc, struct schema_problems *p);
int check_ingress(const json_t *doc, struct schema_problems *p);
int check_network_policy(const json_t *doc, struct schema_problems *p);
int check_budget(const json_t *doc, struct schema_problems *p);
int check_autoscaler(const json_t *doc, struct schema_problems *p);
int check_quota(const json_t *doc, struct schema_problems *p);
int check_limit_range(const json_t *doc, struct schema_problems *p);
int check_volume(const json_t *doc, struct schema_problems *p);
int check_webhooks(const json_t *doc, struct schema_problems *p);
int check_new_event(const json_t *doc, struct schema_problems *p);
