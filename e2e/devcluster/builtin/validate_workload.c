/* Deployments and their like, jobs and cron jobs. */
#include "common/base/memory.h"
#include "e2e/devcluster/builtin/checks.h"
#include "e2e/devcluster/builtin/schedule.h"

#define TEXT_MAX (64u << 10)
#define CRON_JOB_NAME_MAX 52

/* ---- selectors and templates ---- */

/* A map as kube-apiserver shows it in a message: {"a":"b"}, or null; in the order of its keys. */
static int write_labels(const json_t *labels, struct buf *b)
{
        AUTO_FREE char *text = labels ? json_dumps(labels, JSON_COMPACT | JSON_SORT_KEYS) : NULL;

        if (labels && !text)
                return ERR_NO_MEMORY;
        return buf_append_str(b, text ? text : "null");
}

static int check_template_labels(const json_t *selector, const json_t *doc, struct schema_problems *p)
{
        const json_t *labels = doc_get_object(doc, "spec.template.metadata.labels");
        AUTO_BUF struct buf text;

        buf_init(&text, TEXT_MAX);
        if (check_selects(selector, labels))
                return 0;
        TRY(write_labels(labels, &text));
        return problem_add(p, "FieldValueInvalid", "spec.template.metadata.labels",
                           "Invalid value: %s: `selector` does not match template `labels`", text.data);
}

static int refuse_selector(const json_t *selector, const char *why, struct schema_problems *p)
{
        AUTO_BUF struct buf text;

        buf_init(&text, TEXT_MAX);
        TRY(doc_write(selector, &text));
        return problem_add(p, "FieldValueInvalid", "spec.selector", "Invalid value: %s: %s", text.data, why);
}

static int check_template(const json_t *doc, struct schema_problems *p)
{
        bool claims = json_array_size(doc_get_array(doc, "spec.volumeClaimTemplates")) > 0;

        return check_pod_spec(doc_get(doc, "spec.template.spec"), "spec.template.spec", claims, p);
}

/* The selector, and, if one could select by it, the template it has to select. */
static int check_selected(const json_t *doc, const char *empty, struct schema_problems *p)
{
        const json_t *selector = doc_get_object(doc, "spec.selector");
        bool usable = true;

        if (!selector)
                TRY(problem_add(p, "FieldValueRequired", "spec.selector", "Required value"));
        else if (json_object_size(selector) == 0)
                TRY(problem_add(p, "FieldValueInvalid", "spec.selector",
                                "Invalid value: {}: empty selector is invalid for %s", empty));
        TRY(check_label_selector(selector, "spec.selector", &usable, p));
        if (!usable)
                return refuse_selector(selector, "invalid label selector", p);
        if (!selector || json_object_size(selector) > 0)
                TRY(check_template_labels(selector, doc, p));
        return check_template(doc, p);
}

/* ---- strategies ---- */

static bool is_none(const json_t *v)
{
        return (json_is_integer(v) && json_integer_value(v) == 0) || text_equal(json_string_value(v), "0%");
}

static int check_strategy(const json_t *doc, struct schema_problems *p)
{
        const json_t *rolling = doc_get_object(doc, "spec.strategy.rollingUpdate");
        const char *type = check_text(doc, "spec.strategy.type");
        bool recreate = strcmp(type, "Recreate") == 0;

        if (!recreate && strcmp(type, "RollingUpdate") != 0)
                return problem_add(p, "FieldValueNotSupported", "spec.strategy",
                                   "Unsupported value: {\"Type\":\"%s\",\"RollingUpdate\":null}: supported "
                                   "values: \"Recreate\", \"RollingUpdate\"",
                                   type);
        if (recreate && rolling)
                return problem_add(p, "FieldValueForbidden", "spec.strategy.rollingUpdate",
                                   "Forbidden: may not be specified when strategy `type` is 'Recreate'");
        if (rolling && is_none(json_object_get(rolling, "maxSurge")) &&
            is_none(json_object_get(rolling, "maxUnavailable")))
                return problem_add(p, "FieldValueInvalid", "spec.strategy.rollingUpdate.maxUnavailable",
                                   "Invalid value: 0: may not be 0 when `maxSurge` is 0");
        return 0;
}

int check_deployment(const json_t *doc, struct schema_problems *p)
{
        TRY(check_strategy(doc, p));
        return check_selected(doc, "deployment", p);
}

int check_replica_set(const json_t *doc, struct schema_problems *p)
{
        return check_selected(doc, "deployment", p);
}

int check_replication_controller(const json_t *doc, struct schema_problems *p)
{
        return check_template(doc, p);
}

int check_stateful_set(const json_t *doc, struct schema_problems *p)
{
        const char *policy = check_text(doc, "spec.podManagementPolicy"),
                   *type = check_text(doc, "spec.updateStrategy.type");

        if (strcmp(policy, "OrderedReady") != 0 && strcmp(policy, "Parallel") != 0)
                TRY(problem_add(p, "FieldValueInvalid", "spec.podManagementPolicy",
                                "Invalid value: \"%s\": must be 'OrderedReady' or 'Parallel'", policy));
        if (strcmp(type, "RollingUpdate") != 0 && strcmp(type, "OnDelete") != 0)
                TRY(problem_add(p, "FieldValueInvalid", "spec.updateStrategy",
                                "Invalid value: {\"Type\":\"%s\",\"RollingUpdate\":null}: must be "
                                "'RollingUpdate' or 'OnDelete'",
                                type));
        return check_selected(doc, "statefulset", p);
}

int check_daemon_set(const json_t *doc, struct schema_problems *p)
{
        const char *type = check_text(doc, "spec.updateStrategy.type");

        if (strcmp(type, "RollingUpdate") != 0 && strcmp(type, "OnDelete") != 0)
                TRY(problem_add(p, "FieldValueNotSupported", "spec.updateStrategy",
                                "Unsupported value: {\"Type\":\"%s\",\"RollingUpdate\":null}: supported "
                                "values: \"RollingUpdate\", \"OnDelete\"",
                                type));
        return check_selected(doc, "daemonset", p);
}

/* ---- jobs ---- */

static int check_restart_policy(const json_t *spec, const char *path, struct schema_problems *p)
{
        const char *policy = check_text(spec, "restartPolicy");

        if (!spec || strcmp(policy, "OnFailure") == 0 || strcmp(policy, "Never") == 0)
                return 0;
        if (strcmp(policy, "Always") == 0 || !*policy)
                return problem_add(p, "FieldValueRequired", path,
                                   "Required value: valid values: \"OnFailure\", \"Never\"");
        return problem_add(p, "FieldValueNotSupported", path,
                           "Unsupported value: \"%s\": supported values: \"OnFailure\", \"Never\"", policy);
}

/* Unless a user wants to choose it, the selector is the one the server made, and nothing else. */
static int check_job_selector(const json_t *doc, struct schema_problems *p)
{
        const json_t *selector = doc_get_object(doc, "spec.selector");

        if (!doc_get_bool(doc, "spec.manualSelector", false) &&
            (json_object_size(doc_get_object(selector, "matchLabels")) != 1 ||
             json_array_size(doc_get_array(selector, "matchExpressions")) > 0))
                TRY(refuse_selector(selector, "`selector` not auto-generated", p));
        return selector ? check_template_labels(selector, doc, p) : 0;
}

int check_job(const json_t *doc, struct schema_problems *p)
{
        const json_t *spec = doc_get_object(doc, "spec.template.spec");

        TRY(check_job_selector(doc, p));
        TRY(check_restart_policy(spec, "spec.template.spec.restartPolicy", p));
        return check_template(doc, p);
}

int check_cron_job(const json_t *doc, struct schema_problems *p)
{
        static const char path[] = "spec.jobTemplate.spec.template.spec";
        const json_t *spec = doc_get_object(doc, path);
        const char *schedule = check_text(doc, "spec.schedule"), *name = check_text(doc, "metadata.name");
        char why[SCHEDULE_PROBLEM_MAX];

        if (!*schedule)
                TRY(problem_add(p, "FieldValueRequired", "spec.schedule", "Required value"));
        else if (!schedule_is_valid(schedule, why))
                TRY(problem_add(p, "FieldValueInvalid", "spec.schedule", "Invalid value: \"%s\": %s",
                                schedule, why));
        if (strlen(name) > CRON_JOB_NAME_MAX)
                TRY(problem_add(p, "FieldValueInvalid", "metadata.name",
                                "Invalid value: \"%s\": must be no more than %d characters", name,
                                CRON_JOB_NAME_MAX));
        TRY(check_restart_policy(spec, "spec.jobTemplate.spec.template.spec.restartPolicy", p));
        return check_pod_spec(spec, path, false, p);
}
