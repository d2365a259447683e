/* What holds for every rendering of both charts, whatever the values are. */
#include "common/base/map.h"
#include "common/base/memory.h"
#include "e2e/admission/chart_policies.h"
#include "e2e/charts/chart_cases.h"

#define MOST_NAME 63

static const char *text_of(const json_t *doc, const char *path)
{
        const char *s = doc_get_string(doc, path);

        return s ? s : "";
}

static bool is_kind(const json_t *o, const char *kind)
{
        return text_equal(doc_get_string(o, "kind"), kind);
}

/* ---- names ---- */

static void check_names(const json_t *objects, struct buf *problems)
{
        struct map seen;
        const json_t *o;
        size_t i;

        map_init(&seen, MAP_OWN_KEYS, NULL);
        json_array_foreach((json_t *)objects, i, o) {
                const char *name = text_of(o, "metadata.name");
                AUTO_FREE char *key = mem_must(
                        mem_printf("%s %s/%s", text_of(o, "kind"), text_of(o, "metadata.namespace"), name));

                if (!text_of(o, "apiVersion")[0] || !name[0])
                        buf_printf(problems, "%s: no apiVersion or name\n", key);
                if (!is_kind(o, "CustomResourceDefinition") && strlen(name) > MOST_NAME &&
                    (is_kind(o, "Deployment") || is_kind(o, "Service")))
                        buf_printf(problems, "%s: the name is too long\n", key);
                if (map_get(&seen, key))
                        buf_printf(problems, "%s is there twice\n", key);
                if (map_put(&seen, key, (void *)o) < 0)
                        buf_append_str(problems, "out of memory\n");
        }
        map_free(&seen);
}

/* ---- containers ---- */

static void check_hardened(const char *name, const json_t *c, struct buf *problems)
{
        const json_t *dropped = doc_get_array(c, "securityContext.capabilities.drop");

        if (!doc_get_bool(c, "securityContext.readOnlyRootFilesystem", false) ||
            doc_get_bool(c, "securityContext.allowPrivilegeEscalation", true) ||
            !doc_get_bool(c, "securityContext.runAsNonRoot", false) || json_array_size(dropped) != 1 ||
            !text_equal(json_string_value(json_array_get(dropped, 0)), "ALL") ||
            doc_get(c, "securityContext.capabilities.add") ||
            doc_get_bool(c, "securityContext.privileged", false))
                buf_printf(problems, "container %s is not hardened\n", name);
        if (!doc_get(c, "resources.limits.memory") || !doc_get(c, "resources.requests"))
                buf_printf(problems, "container %s has no resources\n", name);
}

static const json_t *named(const json_t *list, const char *name)
{
        const json_t *element;
        size_t i;

        json_array_foreach((json_t *)list, i, element)
                if (text_equal(doc_get_string(element, "name"), name))
                        return element;
        return NULL;
}

static void check_ports(const char *name, const json_t *c, struct buf *problems)
{
        static const char *const probes[] = { "livenessProbe", "readinessProbe" };
        const json_t *ports = doc_get_array(c, "ports"), *a, *b;
        size_t i, j;

        json_array_foreach((json_t *)ports, i, a)
                json_array_foreach((json_t *)ports, j, b)
                        if (i < j && (doc_equal(json_object_get(a, "containerPort"),
                                                json_object_get(b, "containerPort")) ||
                                      doc_equal(json_object_get(a, "name"), json_object_get(b, "name"))))
                                buf_printf(problems, "container %s has port %s twice\n", name,
                                           text_of(b, "name"));
        for (i = 0; i < ARRAY_LEN(probes); i++) {
                const json_t *probe = json_object_get(c, probes[i]);

                if (probe && !named(ports, text_of(probe, "httpGet.port")))
                        buf_printf(problems, "container %s: %s asks no port of its own\n", name, probes[i]);
                if (!probe && ports)
                        buf_printf(problems, "container %s has no %s\n", name, probes[i]);
        }
}

static void check_mounts(const json_t *pod, const json_t *c, struct buf *problems)
{
        const json_t *mount;
        size_t i;

        json_array_foreach(doc_get_array(c, "volumeMounts"), i, mount)
                if (!named(doc_get_array(pod, "volumes"), text_of(mount, "name")))
                        buf_printf(problems, "container %s mounts %s, which is no volume\n",
                                   text_of(c, "name"), text_of(mount, "name"));
}

static void check_volumes_used(const json_t *pod, struct buf *problems)
{
        const json_t *volume, *c;
        size_t i, j;

        json_array_foreach(doc_get_array(pod, "volumes"), i, volume) {
                bool used = false;

                json_array_foreach(doc_get_array(pod, "containers"), j, c)
                        used |= named(doc_get_array(c, "volumeMounts"), text_of(volume, "name")) != NULL;
                if (!used)
                        buf_printf(problems, "nobody mounts volume %s\n", text_of(volume, "name"));
        }
}

static void check_pod(const json_t *objects, const json_t *pod, struct buf *problems)
{
        AUTO_FREE char *account =
                mem_must(mem_printf("ServiceAccount/%s", text_of(pod, "serviceAccountName")));
        const json_t *c;
        size_t i;

        if (!doc_get_bool(pod, "securityContext.runAsNonRoot", false) ||
            doc_get_int(pod, "securityContext.runAsUser", 0) != 65532 ||
            !text_equal(doc_get_string(pod, "securityContext.seccompProfile.type"), "RuntimeDefault") ||
            doc_get(pod, "hostNetwork") || doc_get(pod, "hostPID"))
                buf_append_str(problems, "the pod is not hardened\n");
        if (!rendered_find(objects, account))
                buf_printf(problems, "the pod's %s is not there\n", account);
        json_array_foreach(doc_get_array(pod, "containers"), i, c) {
                check_hardened(text_of(c, "name"), c, problems);
                check_ports(text_of(c, "name"), c, problems);
                check_mounts(pod, c, problems);
        }
        check_volumes_used(pod, problems);
}

/* ---- who refers to whom ---- */

static bool is_subset(const json_t *part, const json_t *whole)
{
        const char *key;
        json_t *value;

        json_object_foreach((json_t *)part, key, value)
                if (!doc_equal(json_object_get(whole, key), value))
                        return false;
        return json_object_size(part) > 0;
}

/* `pods`: the labels of each Deployment's. */
static void check_selector(const json_t *o, const char *path, const json_t *pods, struct buf *problems)
{
        size_t selected = 0, i;
        const json_t *labels;

        json_array_foreach((json_t *)pods, i, labels)
                selected += is_subset(doc_get_object(o, path), labels);
        if (selected != 1)
                buf_printf(problems, "%s %s selects %s of the chart\n", text_of(o, "kind"),
                           text_of(o, "metadata.name"), selected ? "pods of several Deployments" : "no pod");
}

static void check_binding(const json_t *objects, const json_t *o, struct buf *problems)
{
        AUTO_FREE char *role =
                mem_must(mem_printf("%s/%s", text_of(o, "roleRef.kind"), text_of(o, "roleRef.name")));
        const json_t *subject;
        size_t i;

        if (!rendered_find(objects, role))
                buf_printf(problems, "%s is bound and not there\n", role);
        json_array_foreach(doc_get_array(o, "subjects"), i, subject) {
                AUTO_FREE char *account =
                        mem_must(mem_printf("%s/%s", text_of(subject, "kind"), text_of(subject, "name")));
                const json_t *found = rendered_find(objects, account);

                if (!found ||
                    !text_equal(text_of(found, "metadata.namespace"), text_of(subject, "namespace")))
                        buf_printf(problems, "%s is bound and not there\n", account);
        }
}

/* The right to act as any service account is worth what all of them may do: it stands in a role of its own,
 * which says so by its name. */
static bool is_for_any_account(const json_t *role)
{
        const char *name = text_of(role, "metadata.name"), *end = strstr(name, "-impersonate");

        return end && !strcmp(end, "-impersonate") && json_array_size(doc_get_array(role, "rules")) == 1;
}

/* A named account's right to be impersonated is worth what that account may do; any other's, everything. */
static bool is_unbounded(const json_t *role, const json_t *rule, const char *verb)
{
        const json_t *resources = doc_get_array(rule, "resources");

        if (text_equal(verb, "*"))
                return true;
        return text_equal(verb, "impersonate") &&
               ((json_array_size(doc_get_array(rule, "resourceNames")) == 0 && !is_for_any_account(role)) ||
                json_array_size(resources) != 1 ||
                !text_equal(json_string_value(json_array_get(resources, 0)), "serviceaccounts"));
}

/* The last resort of RBAC is nobody's: no rule may name everything that can be done. */
static void check_role(const json_t *o, struct buf *problems)
{
        const json_t *rule, *verb;
        size_t i, j;

        if (json_array_size(doc_get_array(o, "rules")) == 0)
                buf_printf(problems, "%s has no rules\n", text_of(o, "metadata.name"));
        json_array_foreach(doc_get_array(o, "rules"), i, rule)
                json_array_foreach(doc_get_array(rule, "verbs"), j, verb)
                        if (is_unbounded(o, rule, json_string_value(verb)))
                                buf_printf(problems, "%s may do everything\n", text_of(o, "metadata.name"));
}

/* Without what the values say: the two variables that come first in the guard rail. */
static json_t *policy_spec(const json_t *policy, bool of_guard)
{
        json_t *spec = doc_copy(doc_get_object(policy, "spec")),
               *variables = doc_get_array(spec, "variables");

        for (int i = 0; of_guard && i < 2; i++)
                json_array_remove(variables, 0);
        return spec;
}

static const struct chart_policy *policy_called(const struct chart_policy *all, size_t n, const char *part,
                                                const char *what)
{
        for (size_t i = 0; what && i < n; i++)
                if (strcmp(strstr(all[i].name, part), what) == 0)
                        return &all[i];
        return NULL;
}

/* Tests that have no helm install the same. */
static void check_policy(const json_t *o, struct buf *problems)
{
        static const struct chart_policy_options nobody = { 0 };
        const char *name = text_of(o, "metadata.name"), *guard = strstr(name, "-guard-");
        const char *what = guard ? guard : strstr(name, "-webhook-");
        const struct chart_policy *p =
                guard ? policy_called(guard_policies, n_guard_policies, "-guard-", what)
                      : policy_called(rule_policies, n_rule_policies, "-webhook-", what);
        AUTO_JSON json_t *made = NULL, *wanted = NULL, *is = NULL;
        struct error err = { 0 };

        if (!what)
                return;
        if (!p) {
                buf_printf(problems, "%s is unknown to e2e/admission/chart_policies.c\n", name);
                return;
        }
        if (chart_policy_make(p, &nobody, &made, &err) < 0)
                buf_printf(problems, "%s: %s\n", name, err.text);
        wanted = policy_spec(made, guard != NULL);
        is = policy_spec(o, guard != NULL);
        if (!doc_equal(is, wanted))
                buf_printf(problems, "%s is not what e2e/admission/chart_policies.c makes\n", name);
}

static void check_reference(const json_t *objects, const json_t *o, const json_t *pods, struct buf *problems)
{
        if (is_kind(o, "Service"))
                check_selector(o, "spec.selector", pods, problems);
        else if (is_kind(o, "PodDisruptionBudget") || is_kind(o, "Deployment"))
                check_selector(o, "spec.selector.matchLabels", pods, problems);
        else if (is_kind(o, "NetworkPolicy"))
                check_selector(o, "spec.podSelector.matchLabels", pods, problems);
        else if (is_kind(o, "ClusterRoleBinding") || is_kind(o, "RoleBinding"))
                check_binding(objects, o, problems);
        else if (is_kind(o, "ClusterRole") || is_kind(o, "Role"))
                check_role(o, problems);
        else if (is_kind(o, "ValidatingAdmissionPolicy"))
                check_policy(o, problems);
}

void chart_rules(const json_t *objects, struct buf *problems)
{
        AUTO_JSON json_t *pods = json_array();
        const json_t *o;
        size_t i;

        check_names(objects, problems);
        json_array_foreach((json_t *)objects, i, o) {
                if (is_kind(o, "Deployment") &&
                    json_array_append(pods, doc_get_object(o, "spec.template.metadata.labels")) < 0)
                        buf_append_str(problems, "a Deployment's pods have no labels\n");
                if (is_kind(o, "Deployment") || is_kind(o, "Job"))
                        check_pod(objects, doc_get_object(o, "spec.template.spec"), problems);
        }
        if (json_array_size(pods) == 0)
                buf_append_str(problems, "there is no Deployment\n");
        json_array_foreach((json_t *)objects, i, o)
                check_reference(objects, o, pods, problems);
}
