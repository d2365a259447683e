#include "e2e/devcluster/crd_names.h"

#include "common/base/timefmt.h"
#include "e2e/devcluster/crd.h"
#include "e2e/devcluster/internal.h"
#include "e2e/devcluster/meta.h"

#define CRDS "apiextensions.k8s.io/customresourcedefinitions"

static const char *text_at(const json_t *doc, const char *path)
{
        const char *s = doc_get_string(doc, path);
        return s ? s : "";
}

static int set_condition(json_t *conditions, const char *now, const char *type, const char *status,
                         const char *reason, const char *message)
{
        size_t i;
        json_t *c, *found = NULL;
        json_array_foreach(conditions, i, c)
                if (text_equal(json_string_value(json_object_get(c, "type")), type))
                        found = c;
        if (found && strcmp(text_at(found, "status"), status) == 0 &&
            strcmp(text_at(found, "reason"), reason) == 0)
                return 0;
        json_t *fresh = json_pack("{s:s,s:s,s:s,s:s,s:s}", "lastTransitionTime", now, "message", message,
                                  "reason", reason, "status", status, "type", type);
        if (!fresh)
                return ERR_NO_MEMORY;
        if (found) {
                int r = json_object_update(found, fresh);
                json_decref(fresh);
                return r < 0 ? ERR_NO_MEMORY : 0;
        }
        return json_array_append_new(conditions, fresh) < 0 ? ERR_NO_MEMORY : 0;
}

/* ---- which names are free ---- */

static bool has_text(const char *const *list, const char *text)
{
        for (; list && *list; list++)
                if (strcmp(*list, text) == 0)
                        return true;
        return false;
}

/* Whether another definition of the group has it: as a resource's name (plural, singular, short), or a
 * kind's. */
static bool is_taken(struct cluster *c, const json_t *doc, const char *name, bool kind)
{
        const char *group = text_at(doc, "spec.group"), *plural = text_at(doc, "spec.names.plural");
        map_for_each(&c->custom, e) {
                const struct resource *r = &((const struct custom_resource *)e->value)->resource;
                if (strcmp(r->group, group) != 0 || strcmp(r->plural, plural) == 0)
                        continue;
                if (kind ? strcmp(r->kind, name) == 0 || strcmp(r->list_kind, name) == 0
                         : strcmp(r->plural, name) == 0 || strcmp(r->singular, name) == 0 ||
                                    has_text(r->short_names, name))
                        return true;
        }
        return false;
}

struct names {
        struct cluster *cluster;
        const json_t *doc;
        json_t *accepted;
        const char *reason, *taken; /* of the last name that is not free */
};

static int accept(struct names *n, const char *key, bool kind, const char *reason)
{
        const char *name = json_string_value(json_object_get(doc_get_object(n->doc, "spec.names"), key));
        if (text_empty(name))
                return 0;
        if (!is_taken(n->cluster, n->doc, name, kind))
                return json_object_set_new(n->accepted, key, json_string(name));
        n->reason = reason;
        n->taken = name;
        return 0;
}

/* All short names, or none. */
static int accept_short_names(struct names *n)
{
        json_t *all = doc_get_array(n->doc, "spec.names.shortNames"), *name;
        bool free = true;
        size_t i;
        json_array_foreach(all, i, name) {
                const char *text = json_string_value(name);
                if (!text || !is_taken(n->cluster, n->doc, text, false))
                        continue;
                n->reason = "ShortNamesConflict";
                n->taken = text;
                free = false;
        }
        return free && json_array_size(all) ? json_object_set_new(n->accepted, "shortNames", doc_copy(all))
                                            : 0;
}

static int accept_all(struct names *n)
{
        json_t *categories = doc_get_array(n->doc, "spec.names.categories");
        TRY(json_object_set_new(n->accepted, "kind", json_string("")));
        TRY(accept(n, "plural", false, "PluralConflict"));
        TRY(accept(n, "singular", false, "SingularConflict"));
        TRY(accept_short_names(n));
        TRY(accept(n, "kind", true, "KindConflict"));
        TRY(accept(n, "listKind", true, "ListKindConflict"));
        return categories ? json_object_set_new(n->accepted, "categories", doc_copy(categories)) : 0;
}

/* ---- the status ---- */

/* The object's status with an array of conditions, from the live one; borrowed. */
static json_t *begin_status(const json_t *live, json_t *doc)
{
        json_t *status = live ? doc_copy(json_object_get(live, "status")) : json_object();
        if (!json_is_object(status)) {
                json_decref(status);
                status = json_object();
        }
        if (json_object_set_new(doc, "status", status) < 0)
                return NULL;
        if (!json_is_array(json_object_get(status, "conditions")) &&
            json_object_set_new(status, "conditions", json_array()) < 0)
                return NULL;
        return status;
}

static int tell_conflict(struct request *rq, const struct names *n, json_t *conditions, const char *now)
{
        TRY(set_condition(conditions, now, "NamesAccepted", "False", n->reason,
                          arena_printf(rq->arena, "\"%s\" is already in use", n->taken)));
        return set_condition(conditions, now, "Established", "False", "NotAccepted",
                             "not all names are accepted");
}

int crd_set_names_status(struct request *rq, const json_t *live, json_t *doc)
{
        struct names n = { .cluster = rq->cluster, .doc = doc, .accepted = json_object() };
        json_t *status = begin_status(live, doc), *conditions = json_object_get(status, "conditions");
        char now[RFC3339_SIZE];
        if (!status || !n.accepted || json_object_set_new(status, "acceptedNames", n.accepted) < 0 ||
            accept_all(&n) < 0)
                return ERR_NO_MEMORY;
        time_format_rfc3339(rq->now_ms, now);
        if (n.reason)
                return tell_conflict(rq, &n, conditions, now);
        TRY(doc_set(doc, "status.acceptedNames", doc_copy(doc_get_object(doc, "spec.names"))));
        TRY(set_condition(conditions, now, "NamesAccepted", "True", "NoConflicts", "no conflicts found"));
        return set_condition(conditions, now, "Established", "True", "InitialNamesAccepted",
                             "the initial names have been accepted");
}

/* ---- names that become free ---- */

static bool waits_for_names(const json_t *crd, const char *group)
{
        size_t i;
        json_t *c;
        if (strcmp(text_at(crd, "spec.group"), group) != 0)
                return false;
        json_array_foreach(doc_get_array(crd, "status.conditions"), i, c)
                if (strcmp(text_at(c, "type"), "NamesAccepted") == 0)
                        return strcmp(text_at(c, "status"), "False") == 0;
        return false;
}

static int try_again(struct devcluster *d, struct cluster *c, const json_t *crd, struct error *err)
{
        AUTO_ARENA struct arena arena = { 0 };
        AUTO_JSON json_t *doc = doc_copy(crd);
        struct request rq;
        if (!doc)
                return error_no_memory(err);
        TRY(request_internal(&rq, d, c, CRDS, NULL, meta_name(crd), &arena));
        if (crd_set_names_status(&rq, crd, doc) < 0)
                return error_no_memory(err);
        if (doc_equal(crd, doc))
                return 0;
        TRY(api_store_put(api_store_table(c, CRDS, true), doc, NULL, err));
        return crd_install(d, c, doc, err);
}

void crd_names_freed(struct devcluster *d, struct cluster *c, const char *group)
{
        const struct table *t = api_store_table(c, CRDS, false);
        struct error err = { 0 };
        for (size_t i = 0; t && i < t->items.n; i++) { /* what is tried again keeps its place in the table */
                AUTO_JSON json_t *crd = NULL;
                if (blob_parse(t->items.at[i], &crd, &err) < 0 || !waits_for_names(crd, group))
                        continue;
                if (try_again(d, c, crd, &err) < 0)
                        log_error(d->log, "names are not given to the definition that waited", "cluster",
                                  c->name, "crd", meta_name(crd), "error", err.text);
        }
}
