/* spec/cluster-object-set.md 5.1, 16.1, 16.2 */
#include "kubectl-fleet/pack.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/limits.h"
#include "common/base/memory.h"
#include "member-agent/object-set/content.h"

static const struct pack_wish wish = {
        .owner = "web", .ns = "web-sets", .protection = PROTECTION_WORD_PREVENT, .revision = 1
};

#define CM(name) "{apiVersion: v1, kind: ConfigMap, metadata: {name: " name ", namespace: ns}}"

static json_t *manifests_of(const char *yaml)
{
        json_t *docs = NULL;
        struct error err = { 0 };

        if (yaml_parse_all(slice_of(yaml), &docs, &err) < 0)
                fail_msg("%s: %s", yaml, err.text);
        return docs;
}

static void pack(const json_t *manifests, struct packed *ret)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct error err = { 0 };

        if (pack_set(&wish, manifests, &arena, ret, &err) < 0)
                fail_msg("%s", err.text);
}

static void pack_text(const char *yaml, struct packed *ret)
{
        AUTO_JSON json_t *docs = manifests_of(yaml);

        pack(docs, ret);
}

static const json_t *phase(const struct packed *p, size_t i)
{
        return json_array_get(doc_get_array(p->set, "spec.phases"), i);
}

static const char *ref(const struct packed *p, size_t in, size_t i, const char *field)
{
        return doc_get_string(
                json_object_get(json_array_get(doc_get_array(phase(p, in), "objects"), i), "ref"), field);
}

static const json_t *secret(const struct packed *p, size_t i)
{
        return json_array_get(p->secrets, i);
}

/* A ConfigMap of about that many bytes, which compress well or not at all. */
static json_t *big(const char *name, size_t size, bool random)
{
        AUTO_FREE char *text = mem_alloc(size + 1);
        uint32_t dice = 7;

        for (size_t i = 0; i < size; i++)
                text[i] = random ? "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-"
                                           [(dice = dice * 1664525 + 1013904223) >> 26]
                                 : 'a';
        text[size] = '\0';
        return json_pack("{s:s, s:s, s:{s:s, s:s}, s:{s:s}}", "apiVersion", "v1", "kind", "ConfigMap",
                         "metadata", "name", name, "namespace", "ns", "data", "k", text);
}

/* spec/cluster-object-set.md checklist 91: the vectors of 16.1 */
static void secrets_are_named_by_what_they_hold(void **state)
{
        AUTO_FREE char *value =
                mem_printf("%s", "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":"
                                 "\"cm1\"}}");
        AUTO_JSON json_t *docs = manifests_of("{apiVersion: v1, kind: ConfigMap, metadata: {name: cm1}}");
        AUTO_JSON json_t *base64 = doc_base64(slice_of(value));
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct packed p;

        assert_int_equal(pack_set(&wish, docs, &arena, &p, NULL), 0);
        assert_string_equal(ref(&p, 0, 0, "key"), "w4zzgJPmyKutz5BfUfX6PIGAgTjDvOplerFd7zKzp70");
        assert_string_equal(ref(&p, 0, 0, "name"), "web-1-928da6cd58e6ee45");
        assert_string_equal(ref(&p, 0, 0, "namespace"), "web-sets");
        assert_string_equal(doc_get_string(secret(&p, 0), "metadata.name"), "web-1-928da6cd58e6ee45");
        assert_true(doc_equal(json_object_get(json_object_get(secret(&p, 0), "data"),
                                              "w4zzgJPmyKutz5BfUfX6PIGAgTjDvOplerFd7zKzp70"),
                              base64));
        assert_int_equal(p.n_homeless, 1);
        assert_string_equal(p.homeless, "ConfigMap \"cm1\"");
        packed_free(&p);
}

/* Computed by another program. */
static void the_name_of_a_secret_covers_its_values_in_the_order_of_keys(void **state)
{
        struct packed p;

        pack_text(CM("a") "\n---\n" CM("b") "\n---\n" CM("c") "\n---\n" CM("af"), &p);
        assert_string_equal(ref(&p, 0, 0, "key"), "jsdJV3YiH_vfHQuNqM2fxrm1sIS1cEuQjhxl6X-HcnY");
        assert_string_equal(ref(&p, 0, 1, "key"),
                            "lvFu4gw-RED2rrmb2-5jtaSsP5PwwnPZq_ohe4cU5TE"); /* of the URL's alphabet */
        assert_string_equal(ref(&p, 0, 0, "name"), "web-1-20229d79f49d662e");
        assert_int_equal(json_array_size(p.secrets), 1);
        assert_int_equal(json_object_size(json_object_get(secret(&p, 0), "data")), 4);
        packed_free(&p);
}

static void a_set_and_its_secrets_say_whose_they_are(void **state)
{
        struct packed p;
        AUTO_FREE char *set = NULL, *data = NULL;

        pack_text(CM("a"), &p);
        assert_string_equal(doc_get_string(secret(&p, 0), "apiVersion"), "v1");
        assert_string_equal(doc_get_string(secret(&p, 0), "kind"), "Secret");
        assert_string_equal(doc_get_string(secret(&p, 0), "type"), "olm.operatorframework.io/object-data");
        assert_true(doc_get_bool(secret(&p, 0), "immutable", false));
        assert_string_equal(doc_get_string(secret(&p, 0), "metadata.namespace"), "web-sets");
        data = json_dumps(doc_get(secret(&p, 0), "metadata.labels"), JSON_COMPACT | JSON_SORT_KEYS);
        assert_string_equal(data, "{\"olm.operatorframework.io/owner-name\":\"web\","
                                  "\"olm.operatorframework.io/revision-name\":\"web-1\"}");
        json_object_del(json_object_get(p.set, "spec"), "phases");
        set = json_dumps(p.set, JSON_COMPACT | JSON_SORT_KEYS);
        assert_string_equal(
                set, "{\"apiVersion\":\"olm.operatorframework.io/v1\",\"kind\":\"ClusterObjectSet\","
                     "\"metadata\":{\"labels\":{\"olm.operatorframework.io/owner-name\":\"web\"},\"name\":"
                     "\"web-1\"},\"spec\":{\"collisionProtection\":\"Prevent\",\"lifecycleState\":"
                     "\"Active\",\"revision\":1}}");
        assert_int_equal(p.n_homeless, 0);
        packed_free(&p);
}

/* spec/cluster-object-set.md checklist 92 */
static void each_kind_has_its_phase(void **state)
{
        static const char *const table[][3] = {
                { "", "Namespace", "namespaces" },
                { "networking.k8s.io", "NetworkPolicy", "policies" },
                { "policy", "PodDisruptionBudget", "policies" },
                { "scheduling.k8s.io", "PriorityClass", "policies" },
                { "", "ServiceAccount", "identity" },
                { "", "Secret", "configuration" },
                { "", "ConfigMap", "configuration" },
                { "", "PersistentVolume", "storage" },
                { "", "PersistentVolumeClaim", "storage" },
                { "storage.k8s.io", "StorageClass", "storage" },
                { "apiextensions.k8s.io", "CustomResourceDefinition", "crds" },
                { "rbac.authorization.k8s.io", "ClusterRole", "roles" },
                { "rbac.authorization.k8s.io", "Role", "roles" },
                { "rbac.authorization.k8s.io", "ClusterRoleBinding", "bindings" },
                { "rbac.authorization.k8s.io", "RoleBinding", "bindings" },
                { "", "Service", "infrastructure" },
                { "cert-manager.io", "Issuer", "infrastructure" },
                { "cert-manager.io", "Certificate", "deploy" },
                { "apps", "Deployment", "deploy" },
                { "apps", "StatefulSet", "deploy" },
                { "apps", "DaemonSet", "deploy" },
                { "batch", "Job", "deploy" },
                { "example.com", "Widget", "deploy" },
                { "example.com", "Namespace", "deploy" },
                { "autoscaling.k8s.io", "VerticalPodAutoscaler", "scaling" },
                { "monitoring.coreos.com", "PrometheusRule", "publish" },
                { "monitoring.coreos.com", "ServiceMonitor", "publish" },
                { "monitoring.coreos.com", "PodMonitor", "publish" },
                { "networking.k8s.io", "Ingress", "publish" },
                { "route.openshift.io", "Route", "publish" },
                { "console.openshift.io", "ConsoleYAMLSample", "publish" },
                { "console.openshift.io", "ConsoleQuickStart", "publish" },
                { "console.openshift.io", "ConsoleCLIDownload", "publish" },
                { "console.openshift.io", "ConsoleLink", "publish" },
                { "console.openshift.io", "ConsolePlugin", "publish" },
                { "admissionregistration.k8s.io", "ValidatingWebhookConfiguration", "admission" },
                { "admissionregistration.k8s.io", "MutatingWebhookConfiguration", "admission" },
        };

        for (size_t i = 0; i < ARRAY_LEN(table); i++)
                assert_string_equal(pack_phase_names[pack_place_of(table[i][0], table[i][1]).phase],
                                    table[i][2]);
}

static const char *title(const struct packed *p, size_t in, size_t i, char ret[64])
{
        const char *key = ref(p, in, i, "key");

        ret[0] = '\0';
        for (size_t k = 0; k < json_array_size(p->secrets); k++) {
                const char *value =
                        json_string_value(json_object_get(json_object_get(secret(p, k), "data"), key));
                char text[512] = "";
                size_t n = 0;

                if (!value)
                        continue;
                assert_int_equal(text_base64_decode(slice_of(value), text, sizeof(text) - 1, &n, false), 0);
                AUTO_JSON json_t *doc = NULL;
                assert_int_equal(doc_parse((struct slice){ text, n }, &doc, NULL), 0);
                snprintf(ret, 64, "%s %s/%s", doc_get_string(doc, "kind"),
                         or_empty(doc_get_string(doc, "metadata.namespace")),
                         doc_get_string(doc, "metadata.name"));
        }
        return ret;
}

static void phases_stand_in_their_order_and_objects_in_theirs(void **state)
{
        static const char *const want[][5] = {
                { "namespaces", "Namespace /ns" },
                { "configuration", "ConfigMap m/b", "ConfigMap ns/a", "Secret ns/a" },
                { "deploy", "Deployment ns/d", "Widget ns/w", "Anvil ns/w", "Gadget ns/w" },
        };
        struct packed p;
        char text[64];

        pack_text("{apiVersion: v1, kind: Secret, metadata: {name: a, namespace: ns}}\n---\n"
                  "{apiVersion: z.example.com/v1, kind: Gadget, metadata: {name: w, namespace: ns}}\n---\n"
                  "{apiVersion: example.com/v1beta1, kind: Anvil, metadata: {name: w, namespace: ns}}\n---\n"
                  "{apiVersion: example.com/v1, kind: Widget, metadata: {name: w, namespace: ns}}\n---\n"
                  "{apiVersion: v1, kind: List, items: [" CM(
                          "a") ", {apiVersion: v1, kind: ConfigMap, metadata: {name: b, "
                               "namespace: m}}]}\n---\n"
                               "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d, namespace: "
                               "ns}}\n---\n"
                               "{apiVersion: v1, kind: Namespace, metadata: {name: ns}}\n",
                  &p);
        assert_int_equal(json_array_size(doc_get_array(p.set, "spec.phases")), ARRAY_LEN(want));
        for (size_t i = 0; i < ARRAY_LEN(want); i++) {
                assert_string_equal(doc_get_string(phase(&p, i), "name"), want[i][0]);
                for (size_t k = 1; k < ARRAY_LEN(want[i]) && want[i][k]; k++)
                        assert_string_equal(title(&p, i, k - 1, text), want[i][k]);
        }
        packed_free(&p);
}

static void the_order_of_manifests_changes_nothing(void **state)
{
        struct packed a, b;

        pack_text(
                CM("a") "\n---\n" CM("b") "\n---\n{apiVersion: v1, kind: Namespace, metadata: {name: ns}}\n",
                &a);
        pack_text("{kind: Namespace, apiVersion: v1, metadata: {name: ns}}\n---\n" CM("b") "\n---\n" CM("a"),
                  &b);
        assert_true(doc_equal(a.set, b.set) && doc_equal(a.secrets, b.secrets) && pack_equal(a.set, &b));
        packed_free(&b);
        pack_text(CM("a") "\n---\n" CM("c"), &b);
        assert_false(pack_equal(a.set, &b));
        assert_true(pack_equal(b.set, &b));
        doc_set_string(a.set, "spec.collisionProtection", "None");
        json_object_set(json_object_get(b.set, "spec"), "phases", doc_get(a.set, "spec.phases"));
        assert_false(pack_equal(a.set, &b)); /* what cannot change is another */
        packed_free(&a);
        packed_free(&b);
}

static void what_a_server_fills_in_is_left_out(void **state)
{
        struct packed a, b;

        pack_text("{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: ns, labels: {l: m}, "
                  "annotations: {n: "
                  "o}}, data: {k: v}}",
                  &a);
        pack_text("{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: ns, labels: {l: m}, "
                  "annotations: {n: "
                  "o}, uid: '1', resourceVersion: '2', generation: 3, creationTimestamp: null, finalizers: "
                  "[f], "
                  "ownerReferences: [{}], managedFields: [], generateName: x, selfLink: s, "
                  "deletionTimestamp: d}, data: "
                  "{k: v}, status: {a: b}}",
                  &b);
        assert_true(doc_equal(a.secrets, b.secrets));
        packed_free(&b);
        pack_text("{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: ns, labels: {l: x}, "
                  "annotations: {n: "
                  "o}}, data: {k: v}}",
                  &b);
        assert_false(doc_equal(a.secrets, b.secrets));
        packed_free(&a);
        packed_free(&b);
}

/* spec/cluster-object-set.md checklist 91 */
static void a_secret_takes_900_kibibytes(void **state)
{
        AUTO_JSON json_t *docs = json_array();
        struct packed p;

        json_array_append_new(docs, big("a", 500000, true));
        json_array_append_new(docs, big("b", 400000, true));
        json_array_append_new(docs, big("c", 500000, true));
        json_array_append_new(docs, big("d", 450000, true));
        pack(docs, &p);
        assert_int_equal(json_array_size(p.secrets), 3);
        assert_string_equal(ref(&p, 0, 0, "name"), ref(&p, 0, 1, "name"));
        assert_string_not_equal(ref(&p, 0, 1, "name"), ref(&p, 0, 2, "name"));
        assert_string_equal(ref(&p, 0, 2, "name"), doc_get_string(secret(&p, 1), "metadata.name"));
        packed_free(&p);
}

/* A value's text is a little longer than what it holds: these many bytes around it. */
#define AROUND                                                                                               \
        (strlen("{\"apiVersion\":\"v1\",\"data\":{\"k\":\"\"},\"kind\":\"ConfigMap\",\"metadata\":{"         \
                "\"name\":\"a\",\"namespace\":\"ns\"}}"))

/* spec/cluster-object-set.md checklist 91 */
static void what_is_longer_than_a_secret_is_gzipped(void **state)
{
        static const struct {
                size_t size;
                bool gzipped;
        } cases[] = { { PACK_SECRET_BYTES, false }, { PACK_SECRET_BYTES + 1, true }, { 5000000, true } };

        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                AUTO_JSON json_t *docs = json_array();
                const char *value;
                struct packed p;

                json_array_append_new(docs, big("a", cases[i].size - AROUND, false));
                pack(docs, &p);
                value = json_string_value(
                        json_object_get(json_object_get(secret(&p, 0), "data"), ref(&p, 0, 0, "key")));
                assert_int_equal(text_starts_with(value, "H4sI"), cases[i].gzipped); /* 1f 8b 08 */
                assert_true(strlen(value) < PACK_SECRET_BYTES / 3 * 4 + 8);
                packed_free(&p);
        }
}

struct refusal_case {
        const char *yaml, *says;
};

static const char *refused(const json_t *docs, const struct pack_wish *w, struct arena *arena)
{
        struct packed p;
        struct error err = { 0 };

        assert_int_equal(pack_set(w, docs, arena, &p, &err), ERR_INVALID);
        return arena_strdup(arena, err.text);
}

static void what_cannot_be_packed_is_refused_by_name(void **state)
{
        static const struct refusal_case cases[] = {
                { "# nothing\n", "there are no manifests" },
                { "[]", "a manifest must be an object" },
                { "{apiVersion: v1, metadata: {name: a}}", "a manifest: kind: is required" },
                { "{kind: A, metadata: {name: a}}", "A: apiVersion: is required" },
                { "{apiVersion: v1, kind: A, metadata: {generateName: a}}", "A: metadata.name: is required" },
                { "{apiVersion: v1, kind: A, metadata: {name: ''}}",
                  "A \"\": apiVersion, kind and metadata.name must not be empty" },
                { CM("a") "\n---\n" CM("a"), "ConfigMap \"ns/a\": is there twice" },
                { "{apiVersion: a.b/v1, kind: A, metadata: {name: a}}\n---\n{apiVersion: a.b/v2, kind: A, "
                  "metadata: {name: "
                  "a}}",
                  "A \"a\": is there twice" },
        };
        AUTO_ARENA struct arena arena = ARENA_INIT;

        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                AUTO_JSON json_t *docs = manifests_of(cases[i].yaml);
                const char *says = refused(docs, &wish, &arena);

                if (!text_starts_with(says, cases[i].says))
                        fail_msg("%s: %s", cases[i].says, says);
        }
        AUTO_JSON json_t *docs = json_array();
        json_array_append_new(docs, big("a", 2000000, true));
        assert_non_null(
                strstr(refused(docs, &wish, &arena),
                       "ConfigMap \"a\": object in phase 0 index 0 exceeds maximum Secret data size ("));
        assert_non_null(
                strstr(refused(docs, &wish, &arena), " bytes > 921600 bytes) even after compression"));
        json_array_clear(docs);
        json_array_append_new(docs, big("a", SET_MANIFEST_MAX_BYTES, false));
        assert_non_null(strstr(refused(docs, &wish, &arena), "is longer than the 10485760 bytes"));
        json_array_clear(docs);
        for (size_t i = 0; i < 7; i++) {
                char name[2] = { (char)('a' + i) };
                json_array_append_new(docs, big(name, SET_MANIFEST_MAX_BYTES - 200, false));
        }
        assert_non_null(strstr(refused(docs, &wish, &arena), "larger than a set may be"));
}

/* A custom resource with so many zeros. */
static json_t *zeros(const char *name, size_t n)
{
        json_t *list = json_array();

        for (size_t i = 0; i < n; i++)
                json_array_append_new(list, json_integer(0));
        return json_pack("{s:s, s:s, s:{s:s}, s:o}", "apiVersion", "example.com/v1", "kind", "Many",
                         "metadata", "name", name, "spec", list);
}

/* A member would not take such a set. Twelve are no zeros: six of each object. */
static void more_values_than_a_set_may_hold_are_refused(void **state)
{
        AUTO_JSON json_t *docs = json_array();
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct packed p;

        json_array_append_new(docs, zeros("a", LIMIT_OBJECT_SET_VALUES / 2));
        json_array_append_new(docs, zeros("b", LIMIT_OBJECT_SET_VALUES / 2 - 12));
        assert_int_equal(pack_set(&wish, docs, &arena, &p, NULL), 0);
        packed_free(&p);
        json_array_append_new(doc_get(json_array_get(docs, 1), "spec"), json_integer(0));
        assert_string_equal(
                refused(docs, &wish, &arena),
                "Many \"b\": with it the manifests hold more than the 1000000 values that a set may");
}

static void names_that_are_no_names_are_refused(void **state)
{
        static const char *const owners[] = {
                "Web", "-web", "a_b", "a-name-of-more-characters-than-the-value-of-a-label-may-have-at-most"
        };
        AUTO_JSON json_t *docs = manifests_of(CM("a"));
        AUTO_ARENA struct arena arena = ARENA_INIT;

        for (size_t i = 0; i < ARRAY_LEN(owners); i++) {
                struct pack_wish w = wish;

                w.owner = owners[i];
                assert_non_null(strstr(refused(docs, &w, &arena), "the set's name must consist of"));
        }
}

static json_t *many(size_t n)
{
        json_t *docs = json_array();

        for (size_t i = 0; i < n; i++) {
                char name[32];

                snprintf(name, sizeof(name), "c%04zu", i);
                json_array_append_new(docs,
                                      json_pack("{s:s, s:s, s:{s:s, s:s}}", "apiVersion", "v1", "kind",
                                                "ConfigMap", "metadata", "name", name, "namespace", "ns"));
        }
        return docs;
}

static void a_phase_that_is_too_full_becomes_several(void **state)
{
        AUTO_JSON json_t *docs = many(120), *more = many(1001);
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct packed p;

        pack(docs, &p);
        assert_int_equal(json_array_size(doc_get_array(p.set, "spec.phases")), 3);
        assert_string_equal(doc_get_string(phase(&p, 0), "name"), "configuration");
        assert_string_equal(doc_get_string(phase(&p, 1), "name"), "configuration-2");
        assert_string_equal(doc_get_string(phase(&p, 2), "name"), "configuration-3");
        assert_int_equal(json_array_size(doc_get_array(phase(&p, 0), "objects")), 50);
        assert_int_equal(json_array_size(doc_get_array(phase(&p, 2), "objects")), 20);
        packed_free(&p);
        assert_non_null(strstr(refused(more, &wish, &arena), "more than 1000 objects"));
        json_array_remove(more, 1000);
        pack(more, &p);
        assert_int_equal(json_array_size(doc_get_array(p.set, "spec.phases")), 20);
        packed_free(&p);
        json_array_set_new(more, 0,
                           json_pack("{s:s, s:s, s:{s:s}}", "apiVersion", "v1", "kind", "Namespace",
                                     "metadata", "name", "ns"));
        assert_non_null(strstr(refused(more, &wish, &arena), "21 phases: a set has 20 at most"));
}

static void a_deadline_is_told_in_minutes(void **state)
{
        AUTO_JSON json_t *docs = manifests_of(CM("a"));
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct pack_wish w = wish;
        struct packed p;

        w.deadline_minutes = 30;
        assert_int_equal(pack_set(&w, docs, &arena, &p, NULL), 0);
        assert_int_equal(doc_get_int(p.set, "spec.progressDeadlineMinutes", 0), 30);
        packed_free(&p);
}

/* What the member-agent makes of it again. */
static void what_was_packed_is_read_again(void **state)
{
        AUTO_JSON json_t *docs = many(3);
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct content_secrets secrets;
        struct set_phases phases;
        struct object *set = NULL;
        const char *words = "";
        struct packed p;
        struct error err = { 0 };

        json_array_append_new(docs, big("long", 3000000, false));
        json_array_append_new(docs, big("b", 800000, true));
        json_array_append_new(docs, big("bb", 800000, true));
        pack(docs, &p);
        assert_int_equal(object_from_doc(&cluster_object_set_kind, p.set, &arena, &set, &err), 0);
        assert_int_equal(content_secrets((struct cluster_object_set *)set, "other", &arena, &secrets, &err),
                         0);
        assert_int_equal(secrets.n, 2);
        for (size_t i = 0; i < secrets.n; i++)
                secrets.at[i].doc = secret(&p, i);
        assert_int_equal(content_mutable(&secrets, &arena, &words, &err), 0);
        assert_null(words);
        if (content_resolve((struct cluster_object_set *)set, &secrets, "other", &arena, &phases, &err) < 0)
                fail_msg("%s", err.text);
        assert_int_equal(phases.n, 1);
        assert_int_equal(phases.at[0].n, 6);
        assert_string_equal(phases.at[0].at[0].name, "b");
        assert_true(doc_equal(phases.at[0].at[5].doc, json_array_get(docs, 3)));
        packed_free(&p);
}

static void running_out_of_memory_leaks_nothing(void **state)
{
        AUTO_JSON json_t *docs = many(2);
        size_t live = mem_live_count();

        for (uint64_t n = 1, fired = 1; fired; n++) {
                struct arena arena = ARENA_INIT;
                struct packed p = { 0 };
                int code;

                mem_fail_at(n, true);
                code = pack_set(&wish, docs, &arena, &p, NULL);
                fired = mem_fault_fired();
                mem_fail_at(0, false);
                packed_free(&p);
                arena_free(&arena);
                assert_int_equal(code, fired ? ERR_NO_MEMORY : 0);
                assert_int_equal(mem_live_count(), live);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(secrets_are_named_by_what_they_hold),
                cmocka_unit_test(the_name_of_a_secret_covers_its_values_in_the_order_of_keys),
                cmocka_unit_test(a_set_and_its_secrets_say_whose_they_are),
                cmocka_unit_test(each_kind_has_its_phase),
                cmocka_unit_test(phases_stand_in_their_order_and_objects_in_theirs),
                cmocka_unit_test(the_order_of_manifests_changes_nothing),
                cmocka_unit_test(what_a_server_fills_in_is_left_out),
                cmocka_unit_test(a_secret_takes_900_kibibytes),
                cmocka_unit_test(what_is_longer_than_a_secret_is_gzipped),
                cmocka_unit_test(what_cannot_be_packed_is_refused_by_name),
                cmocka_unit_test(more_values_than_a_set_may_hold_are_refused),
                cmocka_unit_test(names_that_are_no_names_are_refused),
                cmocka_unit_test(a_phase_that_is_too_full_becomes_several),
                cmocka_unit_test(a_deadline_is_told_in_minutes),
                cmocka_unit_test(what_was_packed_is_read_again),
                cmocka_unit_test(running_out_of_memory_leaks_nothing),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
