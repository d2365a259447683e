#include "e2e/chart-runner/controllers.h"

#include <stdio.h>

#include "common/base/vec.h"
#include "e2e/chart-runner/deployment_status.h"
#include "e2e/chart-runner/pod_template.h"
#include "e2e/chart-runner/rollout.h"

#define REVISION "deployment.kubernetes.io/revision"
#define HASH_LABEL "pod-template-hash"

/* One ReplicaSet and its pods. */
struct set {
        json_t *doc;
        int64_t size;                    /* spec.replicas */
        int64_t pods, available, ending; /* pods: not ending */
};

struct state {
        struct runner *runner;
        struct arena arena;
        json_t *deployments, *replica_sets, *pods;
};

struct deployment {
        struct state *state;
        json_t *doc;
        const char *name, *set_name; /* of the present template's ReplicaSet */
        char hash[TEMPLATE_HASH_SIZE];
        VEC(struct set) sets;
        struct set *now; /* of the present template; NULL = not made yet */
        struct rollout rollout;
};

static bool is_owned_by(const json_t *doc, const json_t *owner)
{
        const char *uid = doc_get_string(owner, "metadata.uid");
        json_t *reference;
        size_t i;

        json_array_foreach(doc_get_array(doc, "metadata.ownerReferences"), i, reference)
                if (uid && text_equal(doc_get_string(reference, "uid"), uid))
                        return true;
        return false;
}

static bool is_ending(const json_t *doc)
{
        return doc_get_string(doc, "metadata.deletionTimestamp") != NULL;
}

static bool is_ready(const json_t *pod)
{
        json_t *c;
        size_t i;

        json_array_foreach(doc_get_array(pod, "status.conditions"), i, c)
                if (text_equal(doc_get_string(c, "type"), "Ready"))
                        return text_equal(doc_get_string(c, "status"), "True");
        return false;
}

/* ---- what there is ---- */

static struct set count_pods(const struct state *s, json_t *replica_set)
{
        struct set ret = { .doc = replica_set, .size = doc_get_int(replica_set, "spec.replicas", 1) };
        json_t *pod;
        size_t i;

        json_array_foreach(s->pods, i, pod) {
                if (!is_owned_by(pod, replica_set))
                        continue;
                ret.ending += is_ending(pod);
                ret.pods += !is_ending(pod);
                ret.available += !is_ending(pod) && is_ready(pod);
        }
        return ret;
}

static int find_sets(struct deployment *d, struct error *err)
{
        json_t *set;
        size_t i;

        json_array_foreach(d->state->replica_sets, i, set)
                if (is_owned_by(set, d->doc) && !is_ending(set) &&
                    vec_push(&d->sets, count_pods(d->state, set)) < 0)
                        return error_no_memory(err);
        for (i = 0; i < d->sets.n; i++)
                if (text_equal(doc_get_string(d->sets.at[i].doc, "metadata.name"), d->set_name))
                        d->now = &d->sets.at[i];
        return 0;
}

static void sum_up(struct deployment *d)
{
        struct rollout *r = &d->rollout;

        for (size_t i = 0; i < d->sets.n; i++) {
                const struct set *s = &d->sets.at[i];

                if (s == d->now) {
                        r->new_size = s->size;
                        r->new_available = s->available;
                        continue;
                }
                r->old_size += s->size;
                r->old_available += MIN(s->available, s->size);
                r->old_pods += s->pods + s->ending;
        }
}

/* ---- ReplicaSets ---- */

static int64_t revision_of(const json_t *doc)
{
        const char *const keys[] = { "metadata", "annotations", REVISION };
        const char *text = json_string_value(doc_get_keys(doc, keys, 3));
        int64_t n = 0;

        return text && text_parse_i64(text, &n) ? n : 0;
}

static json_t *owner_of(const json_t *doc, const char *api_version, const char *kind)
{
        return json_pack("[{s:s, s:s, s:s, s:s, s:b, s:b}]", "apiVersion", api_version, "kind", kind, "name",
                         doc_get_string(doc, "metadata.name"), "uid", doc_get_string(doc, "metadata.uid"),
                         "controller", 1, "blockOwnerDeletion", 1);
}

static json_t *replica_set_doc(const struct deployment *d, int64_t size, int64_t revision)
{
        AUTO_JSON json_t *template = doc_copy(doc_get(d->doc, "spec.template")),
                         *selector = doc_copy(doc_get(d->doc, "spec.selector"));
        json_t *labels;

        if (!template || !selector || doc_set_string(template, "metadata.labels." HASH_LABEL, d->hash) < 0 ||
            doc_set_string(selector, "matchLabels." HASH_LABEL, d->hash) < 0)
                return NULL;
        labels = doc_get_object(template, "metadata.labels");
        return json_pack("{s:s, s:s, s:{s:s, s:O, s:{s:o}, s:o}, s:{s:I, s:O, s:O}}", "apiVersion", "apps/v1",
                         "kind", "ReplicaSet", "metadata", "name", d->set_name, "labels", labels,
                         "annotations", REVISION, json_sprintf("%lld", (long long)revision),
                         "ownerReferences", owner_of(d->doc, "apps/v1", "Deployment"), "spec", "replicas",
                         (json_int_t)size, "selector", selector, "template", template);
}

static int create_set(struct deployment *d, int64_t size, struct error *err)
{
        int64_t revision = 0;
        AUTO_JSON json_t *doc = NULL, *made = NULL;

        for (size_t i = 0; i < d->sets.n; i++)
                revision = MAX(revision, revision_of(d->sets.at[i].doc));
        doc = replica_set_doc(d, size, revision + 1);
        if (!doc)
                return error_no_memory(err);
        return kube_doc_create(&d->state->runner->kube, &replica_sets_resource, d->state->runner->options.ns,
                               doc, NULL, &made, err);
}

static int patch_object(struct runner *r, const struct kube_resource *resource, const json_t *doc,
                        json_t *patch, struct error *err)
{
        AUTO_JSON json_t *taken = patch, *made = NULL;

        if (!taken)
                return error_no_memory(err);
        return kube_doc_patch(&r->kube, resource, r->options.ns, doc_get_string(doc, "metadata.name"),
                              KUBE_PATCH_MERGE, taken, NULL, &made, err);
}

static int resize(struct deployment *d, struct set *s, int64_t size, struct error *err)
{
        if (s->size == size)
                return 0;
        TRY(patch_object(d->state->runner, &replica_sets_resource, s->doc,
                         json_pack("{s:{s:I}}", "spec", "replicas", (json_int_t)size), err));
        s->size = size;
        return doc_set_int(s->doc, "spec.replicas", size) < 0 ? error_no_memory(err) : 0;
}

/* The newest revision is the present template's: a template that comes back gets a new number. */
static int raise_revision(struct deployment *d, struct error *err)
{
        int64_t newest = 0;

        for (size_t i = 0; i < d->sets.n; i++)
                if (&d->sets.at[i] != d->now)
                        newest = MAX(newest, revision_of(d->sets.at[i].doc));
        if (revision_of(d->now->doc) > newest)
                return 0;
        return patch_object(d->state->runner, &replica_sets_resource, d->now->doc,
                            json_pack("{s:{s:{s:o}}}", "metadata", "annotations", REVISION,
                                      json_sprintf("%lld", (long long)(newest + 1))),
                            err);
}

static int resize_sets(struct deployment *d, struct error *err)
{
        int64_t now = 0, old = 0, surplus;

        rollout_next(&d->rollout, &now, &old);
        if (!d->now)
                TRY(create_set(d, now, err));
        else
                TRY(resize(d, d->now, now, err));
        if (d->now)
                TRY(raise_revision(d, err));
        surplus = d->rollout.old_size - old;
        for (size_t i = 0; surplus > 0 && i < d->sets.n; i++) {
                struct set *s = &d->sets.at[i];
                int64_t less = s == d->now ? 0 : MIN(surplus, s->size);

                TRY(resize(d, s, s->size - less, err));
                surplus -= less;
        }
        return 0;
}

/* ---- pods of a ReplicaSet ---- */

static int create_pod(struct state *s, const struct set *set, struct error *err)
{
        AUTO_JSON json_t *pod = NULL, *made = NULL;

        TRY(pod_from_template(s->runner, set->doc, owner_of(set->doc, "apps/v1", "ReplicaSet"), &pod, err));
        return kube_doc_create(&s->runner->kube, &pods_resource, s->runner->options.ns, pod, NULL, &made,
                               err);
}

/* One that does not work before one that does. */
static int delete_pod(struct state *s, const struct set *set, struct error *err)
{
        json_t *pod, *chosen = NULL;
        size_t i;

        json_array_foreach(s->pods, i, pod) {
                if (!is_owned_by(pod, set->doc) || is_ending(pod))
                        continue;
                if (!chosen || (is_ready(chosen) && !is_ready(pod)))
                        chosen = pod;
        }
        if (!chosen)
                return 0;
        int code = kube_doc_delete(&s->runner->kube, &pods_resource, s->runner->options.ns,
                                   doc_get_string(chosen, "metadata.name"),
                                   doc_get_string(chosen, "metadata.uid"), "Background", err);

        /* Not to be chosen again in this round. */
        if (doc_set_string(chosen, "metadata.deletionTimestamp", "now") < 0)
                return error_no_memory(err);
        return code == ERR_NOT_FOUND ? 0 : code;
}

static int write_status(struct runner *r, const struct kube_resource *resource, const json_t *live,
                        const json_t *wanted, struct error *err)
{
        const struct kube_write to_status = { .subresource = "status" };
        AUTO_JSON json_t *made = NULL;

        if (doc_equal(doc_get(live, "status"), doc_get(wanted, "status")))
                return 0;
        int code = kube_doc_update(&r->kube, resource, r->options.ns, doc_get_string(live, "metadata.name"),
                                   wanted, &to_status, &made, err);

        return code == ERR_CONFLICT || code == ERR_NOT_FOUND ? 0 : code; /* the next round reads it anew */
}

static int report_set(struct state *s, const struct set *set, struct error *err)
{
        AUTO_JSON json_t *doc = doc_copy(set->doc);

        if (!doc || replica_set_status(doc, set->pods, set->available) < 0)
                return error_no_memory(err);
        return write_status(s->runner, &replica_sets_resource, set->doc, doc, err);
}

static int sync_set(struct state *s, struct set *set, struct error *err)
{
        int64_t more = set->size - set->pods;

        for (; more > 0; more--)
                TRY(create_pod(s, set, err));
        for (; more < 0; more++)
                TRY(delete_pod(s, set, err));
        return report_set(s, set, err);
}

/* ---- the Deployment's status ---- */

static int report(struct deployment *d, struct error *err)
{
        AUTO_JSON json_t *doc = doc_copy(d->doc);
        struct deployment_counts c = { .want = d->rollout.want,
                                       .least = d->rollout.want - d->rollout.reserve,
                                       .updated = d->now ? d->now->pods : 0,
                                       .set_name = d->set_name,
                                       .set_made = d->now != NULL,
                                       .now_ms = loop_wall_ms(d->state->runner->loop) };

        for (size_t i = 0; i < d->sets.n; i++) {
                c.pods += d->sets.at[i].pods;
                c.available += d->sets.at[i].available;
        }
        if (!doc || deployment_status(doc, &c) < 0)
                return error_no_memory(err);
        return write_status(d->state->runner, &deployments_resource, d->doc, doc, err);
}

static int copy_revision(struct deployment *d, struct error *err)
{
        int64_t revision = d->now ? revision_of(d->now->doc) : 0;

        if (revision == 0 || revision == revision_of(d->doc))
                return 0;
        return patch_object(d->state->runner, &deployments_resource, d->doc,
                            json_pack("{s:{s:{s:o}}}", "metadata", "annotations", REVISION,
                                      json_sprintf("%lld", (long long)revision)),
                            err);
}

/* ---- one Deployment ---- */

static int work_on(struct deployment *d, struct error *err)
{
        TRY(template_hash(d->doc, d->hash));
        d->set_name = arena_printf(&d->state->arena, "%s-%s", d->name, d->hash);
        if (!d->set_name)
                return error_no_memory(err);
        TRY(rollout_read(d->doc, &d->rollout, err));
        TRY(find_sets(d, err));
        sum_up(d);
        TRY(resize_sets(d, err));
        for (size_t i = 0; i < d->sets.n; i++)
                TRY(sync_set(d->state, &d->sets.at[i], err));
        TRY(copy_revision(d, err));
        return report(d, err);
}

static int sync_deployment(struct state *s, json_t *doc, struct error *err)
{
        struct deployment d = { .state = s, .doc = doc, .name = doc_get_string(doc, "metadata.name") };
        int code;

        if (is_ending(doc))
                return 0;
        code = work_on(&d, err);
        vec_free(&d.sets);
        return code < 0 ? error_wrap(err, "Deployment %s", d.name) : 0;
}

static int read_all(struct state *s, struct error *err)
{
        struct kube_client *k = &s->runner->kube;
        const char *ns = s->runner->options.ns;

        TRY(kube_doc_list(k, &deployments_resource, ns, NULL, &s->deployments, err));
        TRY(kube_doc_list(k, &replica_sets_resource, ns, NULL, &s->replica_sets, err));
        return kube_doc_list(k, &pods_resource, ns, NULL, &s->pods, err);
}

int controllers_sync(struct runner *r, struct error *err)
{
        struct state s = { .runner = r };
        struct error one = { 0 };
        json_t *doc;
        size_t i;
        int code = read_all(&s, err);

        /* A Deployment that cannot be served must not hold up the others. */
        json_array_foreach(code == 0 ? s.deployments : NULL, i, doc)
                if (sync_deployment(&s, doc, &one) < 0)
                        code = error_set(err, one.code, "%s", one.text);
        json_decref(s.deployments);
        json_decref(s.replica_sets);
        json_decref(s.pods);
        arena_free(&s.arena);
        return code;
}
