/* LimitRanger: what a namespace's LimitRanges add to a pod and do not allow. Pods are counted per container
 * and as a whole; claims by their storage. */
#include "common/json/quantity.h"
#include "e2e/devcluster/admission_plugins.h"
#include "e2e/devcluster/internal.h"
#include "e2e/devcluster/meta.h"

#define ANNOTATION "kubernetes.io/limit-ranger"

static const char *const container_lists[] = { "spec.containers", "spec.initContainers" };

static const char *text_at(const json_t *doc, const char *path)
{
        const char *s = doc_get_string(doc, path);
        return s ? s : "";
}

/* ---- defaults ---- */

struct notes { /* what was set, for the annotation */
        struct buf text;
        bool init;
};

/* Values the container does not have, from `from` into resources.WHERE; notes "cpu, memory limit for ..." */
static int add_missing(json_t *container, const json_t *from, const char *where, const char *word,
                       struct notes *notes)
{
        const char *path = strcmp(where, "limits") == 0 ? "resources.limits" : "resources.requests", *key;
        const char *kind = notes->init ? "init container" : "container", *before = "";
        json_t *there = doc_get_object(container, path), *value;
        size_t start = notes->text.len;
        json_object_foreach((json_t *)from, key, value) {
                if (json_object_get(there, key))
                        continue;
                if (!there && doc_set(container, path, there = json_object()) < 0)
                        return ERR_NO_MEMORY;
                if (json_object_set(there, key, value) < 0)
                        return ERR_NO_MEMORY;
                TRY(buf_printf(&notes->text, "%s%s", *before ? before : start ? "; " : "", key));
                before = ", ";
        }
        if (notes->text.len == start)
                return 0;
        return buf_printf(&notes->text, " %s for %s %s", word, kind, text_at(container, "name"));
}

static int add_defaults(const json_t *limit, json_t *pod, struct notes *notes)
{
        size_t k, i;
        json_t *c;
        for (k = 0; k < ARRAY_LEN(container_lists); k++)
                json_array_foreach(doc_get_array(pod, container_lists[k]), i, c) {
                        notes->init = k == 1;
                        TRY(add_missing(c, doc_get_object(limit, "defaultRequest"), "requests", "request",
                                        notes));
                        TRY(add_missing(c, doc_get_object(limit, "default"), "limits", "limit", notes));
                }
        return 0;
}

static int write_annotation(json_t *pod, const struct notes *notes)
{
        json_t *annotations = doc_get_object(pod, "metadata.annotations");
        if (!notes->text.len)
                return 0;
        if (!annotations && doc_set(pod, "metadata.annotations", annotations = json_object()) < 0)
                return ERR_NO_MEMORY;
        return json_object_set_new(annotations, ANNOTATION,
                                   json_sprintf("LimitRanger plugin set: %s", notes->text.data)) < 0
                       ? ERR_NO_MEMORY
                       : 0;
}

/* ---- bounds ---- */

struct check {
        struct request *rq;
        const char *type; /* "Container" */
        const json_t *requests, *limits;
        struct buf *problems; /* what is wrong, joined */
        size_t n;
};

static bool read_amount(const json_t *map, const char *key, struct quantity *ret)
{
        const json_t *v = json_object_get(map, key);
        char number[32];
        const char *text = json_string_value(v);
        if (json_is_integer(v)) {
                snprintf(number, sizeof(number), "%lld", (long long)json_integer_value(v));
                text = number;
        }
        return text && quantity_parse(slice_of(text), ret, NULL) == 0;
}

static int complain(struct check *c, const char *text)
{
        c->n++;
        return text ? buf_printf(c->problems, "%s%s", c->problems->len ? ", " : "", text) : ERR_NO_MEMORY;
}

/* One bound ("minimum" or "maximum") of one resource, held against one of requests and limits. */
static int check_bound(struct check *c, const char *key, bool least, struct quantity bound, const json_t *map,
                       const char *what, bool needed)
{
        const char *word = least ? "minimum" : "maximum";
        char have[64], want[64];
        struct quantity q;
        quantity_print(bound, want);
        if (!read_amount(map, key, &q))
                return needed ? complain(c, arena_printf(c->rq->arena,
                                                         "%s %s usage per %s is %s.  No %s is "
                                                         "specified",
                                                         word, key, c->type, want, what))
                              : 0;
        int order = quantity_compare(q, bound);
        quantity_print(q, have);
        if (least ? order >= 0 : order <= 0)
                return 0;
        return complain(c, arena_printf(c->rq->arena, "%s %s usage per %s is %s, but %s is %s", word, key,
                                        c->type, want, what, have));
}

static int check_item(struct check *c, const json_t *limit)
{
        struct quantity bound;
        const char *key;
        json_t *v;
        json_object_foreach(doc_get_object(limit, "min"), key, v)
                if (read_amount(doc_get_object(limit, "min"), key, &bound)) {
                        TRY(check_bound(c, key, true, bound, c->requests, "request", true));
                        TRY(check_bound(c, key, true, bound, c->limits, "limit", false));
                }
        json_object_foreach(doc_get_object(limit, "max"), key, v)
                if (read_amount(doc_get_object(limit, "max"), key, &bound)) {
                        TRY(check_bound(c, key, false, bound, c->limits, "limit", true));
                        TRY(check_bound(c, key, false, bound, c->requests, "request", false));
                }
        return 0;
}

static int check_containers(struct check *c, const json_t *limit, const json_t *pod)
{
        size_t k, i;
        json_t *container;
        for (k = 0; k < ARRAY_LEN(container_lists); k++)
                json_array_foreach(doc_get_array(pod, container_lists[k]), i, container) {
                        c->requests = doc_get_object(container, "resources.requests");
                        c->limits = doc_get_object(container, "resources.limits");
                        TRY(check_item(c, limit));
                }
        return 0;
}

/* What all containers want together. */
static int add_amounts(json_t *sum, const json_t *amounts)
{
        const char *key;
        json_t *v;
        json_object_foreach((json_t *)amounts, key, v) {
                struct quantity one, all = { 0 };
                char text[64];
                if (!read_amount(amounts, key, &one))
                        continue;
                (void)read_amount(sum, key, &all);
                quantity_print(quantity_add(all, one), text);
                if (json_object_set_new(sum, key, json_string(text)) < 0)
                        return ERR_NO_MEMORY;
        }
        return 0;
}

static int check_whole_pod(struct check *c, const json_t *limit, const json_t *pod)
{
        AUTO_JSON json_t *requests = json_object(), *limits = json_object();
        size_t i;
        json_t *container;
        if (!requests || !limits)
                return ERR_NO_MEMORY;
        json_array_foreach(doc_get_array(pod, "spec.containers"), i, container) {
                TRY(add_amounts(requests, doc_get_object(container, "resources.requests")));
                TRY(add_amounts(limits, doc_get_object(container, "resources.limits")));
        }
        c->requests = requests;
        c->limits = limits;
        return check_item(c, limit);
}

static int check_limit(struct check *c, const json_t *limit, const json_t *doc, bool pod)
{
        const char *type = text_at(limit, "type");
        c->type = type;
        if (pod && strcmp(type, "Container") == 0)
                return check_containers(c, limit, doc);
        if (pod && strcmp(type, "Pod") == 0)
                return check_whole_pod(c, limit, doc);
        if (pod || strcmp(type, "PersistentVolumeClaim") != 0)
                return 0;
        c->requests = doc_get_object(doc, "spec.resources.requests");
        c->limits = c->requests;
        return check_item(c, limit);
}

/* ---- all ranges of the namespace ---- */

typedef int (*visitor)(void *ctx, const json_t *limit);

static int for_each_limit(struct request *rq, visitor visit, void *ctx)
{
        const struct table *t = api_store_table(rq->cluster, "/limitranges", false);
        for (size_t i = t ? api_store_lower_bound(t, rq->ns, "") : 0;
             t && i < t->items.n && strcmp(blob_ns(t->items.at[i]), rq->ns) == 0; i++) {
                AUTO_JSON json_t *range = NULL;
                size_t k;
                json_t *limit;
                if (blob_parse(t->items.at[i], &range, NULL) < 0)
                        return ERR_NO_MEMORY;
                json_array_foreach(doc_get_array(range, "spec.limits"), k, limit)
                        TRY(visit(ctx, limit));
        }
        return 0;
}

struct visit {
        json_t *doc;
        bool pod;
        struct notes notes;
        struct check check;
};

static int visit_defaults(void *ctx, const json_t *limit)
{
        struct visit *v = ctx;
        return strcmp(text_at(limit, "type"), "Container") == 0 ? add_defaults(limit, v->doc, &v->notes) : 0;
}

static int visit_bounds(void *ctx, const json_t *limit)
{
        struct visit *v = ctx;
        return check_limit(&v->check, limit, v->doc, v->pod);
}

int limit_ranger_admit(struct request *rq, json_t *doc)
{
        AUTO_BUF struct buf problems;
        bool pod = strcmp(rq->resource->kind, "Pod") == 0;
        struct visit v = { .doc = doc, .pod = pod, .check = { .rq = rq, .problems = &problems } };
        buf_init(&problems, 64u << 10);
        buf_init(&v.notes.text, 64u << 10);
        int r = pod ? for_each_limit(rq, visit_defaults, &v) : 0;
        if (r == 0)
                r = write_annotation(doc, &v.notes);
        if (r == 0)
                r = for_each_limit(rq, visit_bounds, &v);
        buf_free(&v.notes.text);
        if (r < 0)
                return request_fail_memory(rq);
        if (!v.check.n)
                return 0;
        return v.check.n == 1 ? request_fail_forbidden(rq, meta_name(doc), "%s", problems.data)
                              : request_fail_forbidden(rq, meta_name(doc), "[%s]", problems.data);
}
