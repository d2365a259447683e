#include "e2e/devcluster/rbac_bootstrap.h"

#define RBAC_GROUP "rbac.authorization.k8s.io"

/* Rules as lines: VERBS|GROUPS|RESOURCES, or VERBS|URLS where those begin with "/" or are "*"; lists are
 * separated by commas, an empty group is the core group. */
#define READ "get,list,watch"
#define WRITE "create,delete,deletecollection,patch,update"

#define CORE_VIEWED                                                                                          \
        "configmaps,endpoints,persistentvolumeclaims,persistentvolumeclaims/status,pods,"                    \
        "replicationcontrollers,replicationcontrollers/scale,serviceaccounts,services,services/status"
#define CORE_STATUS                                                                                          \
        "bindings,events,limitranges,namespaces/status,pods/log,pods/status,replicationcontrollers/status,"  \
        "resourcequotas,resourcequotas/status"
#define APPS                                                                                                 \
        "controllerrevisions,daemonsets,daemonsets/status,deployments,deployments/scale,deployments/status," \
        "replicasets,replicasets/scale,replicasets/status,statefulsets,statefulsets/scale,statefulsets/"     \
        "status"
#define APPS_EDITED                                                                                          \
        "daemonsets,deployments,deployments/rollback,deployments/scale,replicasets,replicasets/scale,"       \
        "statefulsets,statefulsets/scale"

#define VIEW_RULES                                                                                           \
        READ "||" CORE_VIEWED "\n" READ "||" CORE_STATUS "\n" READ "||namespaces\n" READ                     \
             "|discovery.k8s.io|endpointslices\n" READ "|apps|" APPS "\n" READ                               \
             "|autoscaling|horizontalpodautoscalers,horizontalpodautoscalers/status\n" READ                  \
             "|batch|cronjobs,cronjobs/status,jobs,jobs/status\n" READ                                       \
             "|policy|poddisruptionbudgets,poddisruptionbudgets/status\n" READ                               \
             "|networking.k8s.io|ingresses,ingresses/status,networkpolicies\n"

#define EDIT_RULES_ONLY                                                                                      \
        READ "||pods/attach,pods/exec,pods/portforward,pods/proxy,secrets,services/proxy\n"                  \
             "impersonate||serviceaccounts\n" WRITE                                                          \
             "||pods,pods/attach,pods/exec,pods/portforward,pods/proxy\n"                                    \
             "create||pods/eviction\n" WRITE                                                                 \
             "||configmaps,events,persistentvolumeclaims,replicationcontrollers,"                            \
             "replicationcontrollers/scale,secrets,serviceaccounts,services,services/proxy\n"                \
             "create||serviceaccounts/token\n" WRITE "|apps|" APPS_EDITED "\n" WRITE                         \
             "|autoscaling|horizontalpodautoscalers\n" WRITE "|batch|cronjobs,jobs\n" WRITE                  \
             "|policy|poddisruptionbudgets\n" WRITE "|networking.k8s.io|ingresses,networkpolicies\n"         \
             "create,delete,deletecollection,get,list,patch,update,watch|coordination.k8s.io|leases\n"
#define EDIT_RULES EDIT_RULES_ONLY VIEW_RULES

#define ADMIN_RULES_ONLY                                                                                     \
        "create|authorization.k8s.io|localsubjectaccessreviews\n"                                            \
        "create,delete,deletecollection,get,list,patch,update,watch|" RBAC_GROUP "|rolebindings,roles\n"
#define ADMIN_RULES ADMIN_RULES_ONLY EDIT_RULES

#define AUTHENTICATED "system:authenticated"

#define AGGREGATE RBAC_GROUP "/aggregate-to-"

static const struct bootstrap {
        const char *name, *rules, *groups; /* groups: subjects of a binding of the same name; NULL = none */
        const char *aggregates;            /* this role is made of those with the label AGGREGATE and this */
        const char *label;                 /* the role's own label; NULL = none */
} bootstrap[] = {
        { "cluster-admin", "*|*|*\n*|*\n", "system:masters", NULL, NULL },
        { "admin", ADMIN_RULES, NULL, AGGREGATE "admin", NULL },
        { "edit", EDIT_RULES, NULL, AGGREGATE "edit", AGGREGATE "admin" },
        { "view", VIEW_RULES, NULL, AGGREGATE "view", AGGREGATE "edit" },
        { "system:aggregate-to-admin", ADMIN_RULES_ONLY, NULL, NULL, AGGREGATE "admin" },
        { "system:aggregate-to-edit", EDIT_RULES_ONLY, NULL, NULL, AGGREGATE "edit" },
        { "system:aggregate-to-view", VIEW_RULES, NULL, NULL, AGGREGATE "view" },
        { "system:auth-delegator",
          "create|authentication.k8s.io|tokenreviews\ncreate|authorization.k8s.io|subjectaccessreviews\n",
          NULL },
        { "system:basic-user",
          "create|authorization.k8s.io|selfsubjectaccessreviews,selfsubjectrulesreviews\n"
          "create|authentication.k8s.io|selfsubjectreviews\n",
          AUTHENTICATED },
        { "system:discovery",
          "get|/api,/api/*,/apis,/apis/*,/healthz,/livez,/openapi,/openapi/*,/readyz,/version,/version/\n",
          AUTHENTICATED },
        { "system:monitoring",
          "get|/healthz,/healthz/*,/livez,/livez/*,/metrics,/metrics/slis,/readyz,/readyz/*\n",
          "system:monitoring" },
        { "system:public-info-viewer", "get|/healthz,/livez,/readyz,/version,/version/\n",
          AUTHENTICATED ",system:unauthenticated" },
        { "system:service-account-issuer-discovery",
          "get|/.well-known/openid-configuration,/.well-known/openid-configuration/,/openid/v1/jwks,"
          "/openid/v1/jwks/\n",
          "system:serviceaccounts" },
};

static json_t *words(struct slice text)
{
        json_t *list = json_array();
        bool more = true;
        while (list && more) {
                struct slice word;
                more = slice_cut(&text, ',', &word);
                if (json_array_append_new(list, json_stringn(word.data, word.len)) < 0)
                        return json_decref(list), NULL;
        }
        return list;
}

static json_t *rule_of(struct slice line)
{
        struct slice verbs, second;
        (void)slice_cut(&line, '|', &verbs);
        if (!slice_cut(&line, '|', &second))
                return json_pack("{s:o,s:o}", "nonResourceURLs", words(second), "verbs", words(verbs));
        return json_pack("{s:o,s:o,s:o}", "apiGroups", words(second), "resources", words(line), "verbs",
                         words(verbs));
}

static json_t *rules_of(const char *text)
{
        struct slice rest = slice_of(text), line;
        json_t *rules = json_array();
        while (rules && rest.len) {
                (void)slice_cut(&rest, '\n', &line);
                if (json_array_append_new(rules, rule_of(line)) < 0)
                        return json_decref(rules), NULL;
        }
        return rules;
}

static json_t *metadata_of(const char *name)
{
        return json_pack("{s:s,s:{s:s},s:{s:s}}", "name", name, "labels", "kubernetes.io/bootstrapping",
                         "rbac-defaults", "annotations", RBAC_GROUP "/autoupdate", "true");
}

static json_t *role_of(const struct bootstrap *b)
{
        json_t *role = json_pack("{s:s,s:s,s:o,s:o}", "kind", "ClusterRole", "apiVersion", RBAC_GROUP "/v1",
                                 "metadata", metadata_of(b->name), "rules", rules_of(b->rules));
        json_t *labels = doc_get_object(role, "metadata.labels");
        int r = role ? 0 : ERR_NO_MEMORY;
        if (r == 0 && b->label)
                r = json_object_set_new(labels, b->label, json_string("true"));
        if (r == 0 && b->aggregates)
                r = doc_set(role, "aggregationRule",
                            json_pack("{s:[{s:{s:s}}]}", "clusterRoleSelectors", "matchLabels", b->aggregates,
                                      "true"));
        if (r == 0)
                return role;
        json_decref(role);
        return NULL;
}

static json_t *subjects_of(const char *groups)
{
        struct slice rest = slice_of(groups), name;
        json_t *subjects = json_array();
        while (subjects && rest.len) {
                (void)slice_cut(&rest, ',', &name);
                json_t *subject = json_pack("{s:s,s:s,s:s%}", "apiGroup", RBAC_GROUP, "kind", "Group", "name",
                                            name.data, name.len);
                if (json_array_append_new(subjects, subject) < 0)
                        return json_decref(subjects), NULL;
        }
        return subjects;
}

static json_t *binding_of(const struct bootstrap *b)
{
        return json_pack("{s:s,s:s,s:o,s:{s:s,s:s,s:s},s:o}", "kind", "ClusterRoleBinding", "apiVersion",
                         RBAC_GROUP "/v1", "metadata", metadata_of(b->name), "roleRef", "apiGroup",
                         RBAC_GROUP, "kind", "ClusterRole", "name", b->name, "subjects",
                         subjects_of(b->groups));
}

int rbac_bootstrap_object(size_t i, json_t **ret)
{
        for (size_t k = 0; k < ARRAY_LEN(bootstrap); k++) {
                const struct bootstrap *b = &bootstrap[k];
                if (i-- == 0)
                        return (*ret = role_of(b)) ? 0 : ERR_NO_MEMORY;
                if (b->groups && i-- == 0)
                        return (*ret = binding_of(b)) ? 0 : ERR_NO_MEMORY;
        }
        return ERR_NOT_FOUND;
}
