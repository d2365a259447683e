#include "hub-agent/manifest-generation/resources.h"

#include <stdlib.h>

#include "common/base/map.h"
#include "common/base/memory.h"
#include "hub-agent/manifest-generation/documents.h"

#define LISTS_MAX 8 /* in lists */

/* ---- the list ---- */

static const char *lower_case(struct arena *arena, const char *text)
{
        char *copy = arena_strdup(arena, text);

        for (char *c = copy; c && *c; c++)
                *c = *c >= 'A' && *c <= 'Z' ? (char)(*c | 0x20) : *c;
        return copy;
}

const char *resource_identity(struct arena *arena, const char *namespace, const char *kind, const char *name)
{
        const char *lower = lower_case(arena, kind);

        return lower ? arena_printf(arena, "%s:%s/%s", *namespace ? namespace : "<cluster>", lower, name)
                     : NULL;
}

int resources_add(struct resource_list *l, const struct resource *r, struct error *err)
{
        if (l->n >= RESOURCES_MAX)
                return error_set(err, ERR_LIMIT, "more than %d objects (RESOURCES_MAX)", RESOURCES_MAX);
        if (l->n == l->cap) {
                size_t cap = l->cap ? 2 * l->cap : 64;
                struct resource *more = ARENA_NEW_ARRAY(l->arena, struct resource, cap);

                if (!more)
                        return error_no_memory(err);
                if (l->n)
                        memcpy(more, l->at, l->n * sizeof(*more));
                l->at = more;
                l->cap = cap;
        }
        l->at[l->n++] = *r;
        return 0;
}

struct ranked {
        struct resource resource;
        size_t order;
};

static int compare_ranked(const void *a, const void *b)
{
        const struct ranked *x = a, *y = b;
        int by_identity = strcmp(x->resource.identity, y->resource.identity);

        return by_identity ? by_identity : x->order < y->order ? -1 : 1;
}

int resources_sort(struct resource_list *l, struct error *err)
{
        AUTO_FREE struct ranked *ranked = mem_calloc(l->n, sizeof(*ranked));

        if (!ranked)
                return error_no_memory(err);
        for (size_t i = 0; i < l->n; i++)
                ranked[i] = (struct ranked){ l->at[i], i };
        if (l->n)
                qsort(ranked, l->n, sizeof(*ranked), compare_ranked);
        for (size_t i = 0; i < l->n; i++)
                l->at[i] = ranked[i].resource;
        return 0;
}

/* ---- objects ---- */

struct reading {
        struct resource_list *into;
        const char *source;
        const struct flux_target *target;
        struct slice text; /* of the only object of the part; data NULL: it has others */
        size_t line;       /* at which the part begins */
};

static int lacks(const struct reading *r, const char *kind, const char *what, struct error *err)
{
        return error_set(err, ERR_INVALID, "line %zu: %s: %s", r->line, kind, what);
}

static bool is_text_or_nothing(const json_t *v)
{
        return !v || json_is_null(v) || json_is_string(v);
}

/* `kind` and `version`: those of its list, for objects that do not tell theirs. */
static int take_object(struct reading *r, const json_t *doc, const char *version, const char *kind,
                       struct error *err)
{
        const char *name = doc_get_string(doc, "metadata.name"), *namespace;
        const char *own = doc_get_string(doc, "apiVersion");
        struct resource new = { .doc = doc, .text = r->text, .source = r->source, .target = r->target };

        if (text_empty(own ? own : version))
                return lacks(r, kind, "apiVersion must be there", err);
        if (text_empty(name))
                return lacks(r, kind, "metadata.name must be there", err);
        if (!is_text_or_nothing(doc_get(doc, "metadata.namespace")))
                return lacks(r, kind, "metadata.namespace must be a string", err);
        namespace = or_empty(doc_get_string(doc, "metadata.namespace"));
        new.api_version = arena_strdup(r->into->arena, own ? own : version);
        new.kind = arena_strdup(r->into->arena, kind);
        new.name = arena_strdup(r->into->arena, name);
        new.namespace = arena_strdup(r->into->arena, namespace);
        new.identity = resource_identity(r->into->arena, namespace, kind, name);
        if (!new.api_version || !new.kind || !new.name || !new.namespace || !new.identity)
                return error_no_memory(err);
        return resources_add(r->into, &new, err);
}

/* An item of a list of one kind need not tell its own. */
static int complete_item(struct reading *r, json_t *item, const char *version, const char *kind,
                         struct error *err)
{
        AUTO_FREE char *own = mem_strndup(kind, strlen(kind) - strlen("List"));

        if (!own)
                return error_no_memory(err);
        if (doc_get(item, "kind") || !*own)
                return 0;
        if (doc_set_string(item, "kind", own) < 0 ||
            (!doc_get(item, "apiVersion") && version && doc_set_string(item, "apiVersion", version) < 0))
                return error_no_memory(err);
        return 0;
}

static int take_document(struct reading *r, json_t *doc, size_t depth, struct error *err);

static int take_list(struct reading *r, const json_t *items, const char *version, const char *kind,
                     size_t depth, struct error *err)
{
        size_t i;
        json_t *item;

        if (depth >= LISTS_MAX)
                return error_set(err, ERR_LIMIT, "line %zu: more than %d lists in lists", r->line, LISTS_MAX);
        r->text = (struct slice){ 0 };
        json_array_foreach((json_t *)items, i, item) {
                if (!json_is_object(item))
                        return lacks(r, kind, "items must be objects", err);
                TRY(complete_item(r, item, version, kind, err));
                if (!doc_get(item, "kind"))
                        return lacks(r, kind, "kind must be there in each item", err);
                TRY(take_document(r, item, depth + 1, err));
        }
        return 0;
}

static int take_document(struct reading *r, json_t *doc, size_t depth, struct error *err)
{
        const json_t *kind = json_object_get(doc, "kind"), *items = json_object_get(doc, "items");
        const char *text = json_string_value(kind), *version = doc_get_string(doc, "apiVersion");

        if (!json_is_object(doc))
                return error_set(err, ERR_INVALID, "line %zu: not a mapping", r->line);
        if (!kind || json_is_null(kind) || (text && !*text))
                return 0; /* values of something else, a comment */
        if (!text)
                return error_set(err, ERR_INVALID, "line %zu: kind must be a string", r->line);
        if (text_ends_with(text, "List") && items) {
                if (!json_is_array(items) && !json_is_null(items))
                        return lacks(r, text, "items must be a list", err);
                return take_list(r, items, version, text, depth, err);
        }
        return take_object(r, doc, NULL, text, err);
}

/* ---- streams ---- */

static int read_part(struct reading *r, struct slice part, size_t lines_before, struct error *err)
{
        json_t *docs = NULL, *doc;
        size_t i;

        r->line = lines_before + 1;
        TRY(yaml_parse_part(part, lines_before, &docs, err));
        TRY(doc_keep(r->into->arena, docs, err));
        r->text = json_array_size(docs) == 1 ? part : (struct slice){ 0 };
        json_array_foreach(docs, i, doc)
                TRY(take_document(r, doc, 0, err));
        return 0;
}

int resources_parse(struct resource_list *into, struct slice text, const char *source,
                    const struct flux_target *target, struct error *err)
{
        struct reading r = { .into = into, .source = source, .target = target };
        struct document_cutter s = { .rest = text };
        size_t before = into->n, line;
        struct slice part;
        int code = 0;

        while (code == 0 && document_next(&s, &part, &line))
                code = read_part(&r, part, line, err);
        if (code == 0)
                return 0;
        into->n = before;
        if (code != ERR_NO_MEMORY)
                error_wrap(err,
                           code == ERR_LIMIT ? "scanning multidoc from \"%s\""
                                             : "parsing YAML doc from \"%s\"",
                           source);
        return code;
}

/* ---- scopes ---- */

struct settling {
        struct resource_list *list;
        const struct resource_rules *rules;
        struct map crds; /* "group/kind" -> scope, as a word */
        struct map seen; /* identity -> index + 1 */
};

static int note_crd(struct settling *s, const struct resource *r, struct error *err)
{
        const char *group = doc_get_string(r->doc, "spec.group"),
                   *kind = doc_get_string(r->doc, "spec.names.kind");
        const char *scope = doc_get_string(r->doc, "spec.scope");
        AUTO_FREE char *key = NULL;

        if (!text_equal(r->kind, "CustomResourceDefinition") || !group || !kind || !scope)
                return 0;
        key = mem_printf("%s/%s", group, kind);
        return !key || map_put(&s->crds, key, (void *)scope) < 0 ? error_no_memory(err) : 0;
}

static int scope_of_crd(struct settling *s, const struct resource *r, enum resource_scope *ret,
                        struct error *err)
{
        size_t n = strcspn(r->api_version, "/");
        AUTO_FREE char *key = mem_printf("%.*s/%s", r->api_version[n] ? (int)n : 0, r->api_version, r->kind);
        const char *scope = key ? map_get(&s->crds, key) : NULL;

        if (!key)
                return error_no_memory(err);
        if (scope)
                *ret = text_equal(scope, "Cluster") ? SCOPE_CLUSTER : SCOPE_NAMESPACED;
        return 0;
}

/* Copies as far as it changes: the list may share its documents with another one. */
static int set_namespace(struct settling *s, struct resource *r, struct error *err)
{
        json_t *doc, *metadata;
        const char *now = doc_get_string(r->doc, "metadata.namespace");

        if (text_equal(now ? now : "", r->namespace) && (now || !doc_get(r->doc, "metadata.namespace")))
                return 0;
        doc = doc_copy_members(r->doc);
        TRY(doc_keep(s->list->arena, doc, err));
        metadata = doc_copy_members(json_object_get(doc, "metadata"));
        if (!metadata || json_object_set_new_nocheck(doc, "metadata", metadata) < 0)
                return error_no_memory(err);
        if (!*r->namespace)
                json_object_del(metadata, "namespace");
        else if (doc_set_string(metadata, "namespace", r->namespace) < 0)
                return error_no_memory(err);
        r->doc = doc;
        return 0;
}

static int settle_one(struct settling *s, struct resource *r, enum resource_scope scope, struct error *err)
{
        r->cluster_scoped = scope == SCOPE_CLUSTER;
        if (r->cluster_scoped)
                r->namespace = "";
        else if (!*r->namespace)
                r->namespace = s->rules->default_namespace;
        r->identity = resource_identity(s->list->arena, r->namespace, r->kind, r->name);
        if (!r->identity)
                return error_no_memory(err);
        return set_namespace(s, r, err);
}

/* ---- duplicates ---- */

static int duplicate(const struct resource *a, const struct resource *b, struct error *err)
{
        bool a_generated = a->target->config != NULL, b_generated = b->target->config != NULL;

        if (text_equal(a->source, b->source))
                return error_set(err, ERR_INVALID, "duplicate definition of '%s' (in %s)", a->identity,
                                 a->source);
        if (a_generated && b_generated)
                return error_set(err, ERR_INVALID, "duplicate definition of '%s' (generated by %s and by %s)",
                                 a->identity, a->source, b->source);
        if (a_generated || b_generated)
                return error_set(err, ERR_INVALID, "duplicate definition of '%s' (generated by %s and in %s)",
                                 a->identity, (a_generated ? a : b)->source, (a_generated ? b : a)->source);
        return error_set(err, ERR_INVALID, "duplicate definition of '%s' (in %s and %s)", a->identity,
                         a->source, b->source);
}

/* Whether the resource is to be left out, as one that is there already. */
static int check_seen(struct settling *s, const struct resource *r, size_t n, bool *ret_again,
                      struct error *err)
{
        size_t at = (size_t)(uintptr_t)map_get(&s->seen, r->identity);
        const struct resource *other = at ? &s->list->at[at - 1] : NULL;

        *ret_again = false;
        if (!other)
                return map_put(&s->seen, r->identity, (void *)(uintptr_t)(n + 1)) < 0 ? error_no_memory(err)
                                                                                      : 0;
        *ret_again = text_equal(r->kind, "Namespace") && text_equal(r->api_version, other->api_version) &&
                     doc_equal(r->doc, other->doc);
        return *ret_again ? 0 : duplicate(other, r, err);
}

/* ---- settling ---- */

struct unknowns {
        struct resource_unknown *at;
        struct resource *resources; /* what they point to */
        size_t n;
};

static void add_unknown(struct unknowns *u, const struct resource *r, const char *why)
{
        u->resources[u->n] = *r;
        u->at[u->n] = (struct resource_unknown){ &u->resources[u->n], why ? why : "the kind is not served" };
        u->n++;
}

static int settle(struct settling *s, struct unknowns *unknown, const struct resource **ret_bad,
                  struct error *err)
{
        size_t n = 0;

        for (size_t i = 0; i < s->list->n; i++) {
                struct resource *r = &s->list->at[i];
                const char *why = NULL;
                enum resource_scope scope = s->rules->scope_of(s->rules->ctx, r->api_version, r->kind, &why);
                bool again = false;

                if (scope == SCOPE_UNKNOWN)
                        TRY(scope_of_crd(s, r, &scope, err));
                *ret_bad = r;
                if (s->rules->is_refused && s->rules->is_refused(s->rules->ctx, r))
                        return error_set(err, ERR_INVALID, "not allowed: %s", r->identity);
                if (scope == SCOPE_UNKNOWN) {
                        add_unknown(unknown, r, why);
                        continue;
                }
                TRY(settle_one(s, r, scope, err));
                TRY(check_seen(s, r, n, &again, err));
                if (!again)
                        s->list->at[n++] = *r;
        }
        s->list->n = n;
        return 0;
}

int resources_settle(struct resource_list *l, const struct resource_rules *rules,
                     struct resource_unknown **ret_unknown, size_t *ret_n_unknown,
                     const struct resource **ret_bad, struct error *err)
{
        struct settling s = { .list = l, .rules = rules };
        const struct resource *bad = NULL;
        struct unknowns unknown = { ARENA_NEW_ARRAY(l->arena, struct resource_unknown, l->n + 1),
                                    ARENA_NEW_ARRAY(l->arena, struct resource, l->n + 1), 0 };
        int code = unknown.at && unknown.resources ? 0 : error_no_memory(err);

        map_init(&s.crds, MAP_OWN_KEYS, NULL);
        map_init(&s.seen, MAP_BORROW_KEYS, NULL);
        for (size_t i = 0; i < l->n && code == 0; i++)
                code = note_crd(&s, &l->at[i], err);
        if (code == 0)
                code = settle(&s, &unknown, &bad, err);
        map_free(&s.crds);
        map_free(&s.seen);
        if (ret_bad)
                *ret_bad = code == ERR_INVALID ? bad : NULL;
        *ret_unknown = unknown.at;
        *ret_n_unknown = unknown.n;
        return code;
}
