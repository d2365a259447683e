/* ExternalArtifacts of the hub as inputs: spec/resource-set.md 19.9. */
#include "common/base/vec.h"
#include "common/kube/selector.h"
#include "hub-agent/flux_account.h"
#include "hub-agent/input-provider/input_provider_agent.h"

#define ALL_NAMESPACES "*"
#define SELECTOR_BYTES (16u << 10)

static const struct kube_resource artifacts = { "source.toolkit.fluxcd.io", "v1", "externalartifacts",
                                                "ExternalArtifact", true };

struct found {
        const char *ns, *name;
        const json_t *doc;
};

struct search {
        struct reconcile *rc;
        struct kube_client kube; /* as whom artifacts are read */
        VEC(struct found) found;
};

static int note(struct search *s, json_t *doc)
{
        const struct found one = { or_empty(doc_get_string(doc, "metadata.namespace")),
                                   or_empty(doc_get_string(doc, "metadata.name")), doc };

        return vec_push(&s->found, one) < 0 ? error_no_memory(s->rc->err) : 0;
}

/* One that is not there is passed over. */
static int take_named(struct search *s, const char *ns, const char *name)
{
        json_t *doc;

        if (kube_doc_get(&s->kube, &artifacts, ns, name, &doc, s->rc->err) < 0) {
                if (s->rc->err->code != ERR_NOT_FOUND)
                        return s->rc->err->code;
                error_clear(s->rc->err);
                return 0;
        }
        TRY(doc_keep(s->rc->arena, doc, s->rc->err));
        return note(s, doc);
}

static int take_labelled(struct search *s, const char *ns, const struct artifact_selector *wanted)
{
        const struct label_selector labels = { .match_labels = wanted->match_labels,
                                               .match_expressions = wanted->match_expressions };
        AUTO_BUF struct buf text;
        json_t *items, *one;
        size_t i;

        buf_init(&text, SELECTOR_BYTES);
        TRY(label_selector_check(&labels, s->rc->err));
        label_selector_print(&labels, &text);
        TRY(buf_status(&text, s->rc->err, "selector"));
        TRY(kube_doc_list(&s->kube, &artifacts, text_equal(ns, ALL_NAMESPACES) ? NULL : ns,
                          text.len ? text.data : NULL, &items, s->rc->err));
        TRY(doc_keep(s->rc->arena, items, s->rc->err));
        json_array_foreach(items, i, one)
                TRY(note(s, one));
        return 0;
}

static int by_place(const void *a, const void *b)
{
        const struct found *x = a, *y = b;
        int ns = strcmp(x->ns, y->ns);

        return ns ? ns : strcmp(x->name, y->name);
}

/* Labels first: what names the artifact wins over them. */
static int add_set(const struct found *f, struct arena *arena, json_t *sets)
{
        json_t *labels = doc_get_object(f->doc, "metadata.labels");
        const char *revision = doc_get_string(f->doc, "status.artifact.revision");
        const char *place = arena_printf(arena, "%s/%s", f->ns, f->name);
        json_t *set = labels ? doc_copy(labels) : json_object();
        char id[INPUT_ID_SIZE];

        if (!set || json_array_append_new(sets, set) < 0 || !place)
                return ERR_NO_MEMORY;
        input_id(place, id);
        if (doc_set_string(set, "id", id) < 0 || doc_set_string(set, "name", f->name) < 0 ||
            doc_set_string(set, "namespace", f->ns) < 0)
                return ERR_NO_MEMORY;
        return text_empty(revision) ? 0 : doc_set_string(set, "revision", revision);
}

static int add_sets(struct search *s, size_t limit, json_t *sets)
{
        const struct found *last = NULL;

        qsort(s->found.at, s->found.n, sizeof(*s->found.at), by_place);
        for (size_t i = 0; i < s->found.n && json_array_size(sets) < limit; i++) {
                const struct found *one = &s->found.at[i];

                if (last && by_place(last, one) == 0)
                        continue;
                if (add_set(one, s->rc->arena, sets) < 0)
                        return error_no_memory(s->rc->err);
                last = one;
        }
        return 0;
}

static int search(struct search *s, const struct input_provider *p)
{
        const struct artifact_selector_list *l = &p->spec->selectors;

        for (uint32_t i = 0; i < l->n; i++) {
                const struct artifact_selector *one = &l->at[i];
                const char *ns = text_empty(one->ns) ? p->object.meta.ns : one->ns;

                TRY(text_empty(one->name) ? take_labelled(s, ns, one) : take_named(s, ns, one->name));
        }
        return 0;
}

int input_provider_find_artifacts(struct reconcile *rc, const struct input_provider *p, size_t limit,
                                  json_t **ret)
{
        struct search s = { .rc = rc };
        AUTO_JSON json_t *sets = json_array();
        struct flux_account account;
        int code = sets ? 0 : error_no_memory(rc->err);

        if (code == 0 && flux_account_of(rc->arena, p->object.meta.ns, p->spec->service_account_name,
                                         agent_of(rc)->options, &account) < 0)
                code = error_no_memory(rc->err);
        if (code == 0)
                code = flux_account_client(rc, &account, &s.kube);
        if (code == 0)
                code = search(&s, p);
        if (code == 0)
                code = add_sets(&s, limit, sets);
        vec_free(&s.found);
        if (code < 0)
                return error_wrap(rc->err, "failed to call ExternalArtifact provider");
        *ret = TAKE_PTR(sets);
        return 0;
}
