#include "e2e/devcluster/authz.h"

#include "e2e/devcluster/internal.h"
#include "e2e/devcluster/meta.h"
#include "e2e/devcluster/routes.h"

/* ---- what is kept of a cluster ---- */

struct role {
        struct arena arena;
        struct rbac_rules rules;
};

struct binding {
        struct arena arena;
        const char *kind, *name, *ns; /* ns NULL = holds everywhere */
        const char *role_kind, *role_name, *role_key;
        const char *const *users, *const *groups; /* NULL-terminated; service accounts as users */
};

struct bindings {
        VEC(struct binding *) all;
};

struct access {
        struct map roles;         /* "NS/NAME" -> struct role; "/NAME" is a ClusterRole */
        struct map bindings;      /* "NS/NAME" -> struct binding */
        struct map users, groups; /* subject -> struct bindings */
};

static void role_free(void *value)
{
        struct role *r = value;
        arena_free(&r->arena);
        mem_free(r);
}

static void binding_free(void *value)
{
        struct binding *b = value;
        arena_free(&b->arena);
        mem_free(b);
}

static void bindings_free(void *value)
{
        struct bindings *b = value;
        vec_free(&b->all);
        mem_free(b);
}

void access_free(struct cluster *c)
{
        struct access *a = c->access;
        if (!a)
                return;
        map_free(&a->roles);
        map_free(&a->users);
        map_free(&a->groups);
        map_free(&a->bindings);
        mem_free(a);
        c->access = NULL;
}

void access_forget(struct cluster *c)
{
        c->access_version++;
        access_free(c);
}

/* ---- roles ---- */

static int put_role(struct access *a, const char *key, const json_t *doc)
{
        struct role *r = NEW(struct role);
        if (!r)
                return ERR_NO_MEMORY;
        if (rbac_rules_parse(&r->arena, doc_get_array(doc, "rules"), &r->rules) < 0 ||
            map_put(&a->roles, key, r) < 0) {
                role_free(r);
                return ERR_NO_MEMORY;
        }
        return 0;
}

/* ---- bindings ---- */

static int subject_add(struct map *subjects, const char *name, struct binding *b)
{
        struct bindings *list = map_get(subjects, name);
        if (!list) {
                list = NEW(struct bindings);
                if (!list || map_put(subjects, name, list) < 0) {
                        mem_free(list);
                        return ERR_NO_MEMORY;
                }
        }
        return vec_push(&list->all, b);
}

static void subject_remove(struct map *subjects, const char *name, const struct binding *b)
{
        struct bindings *list = map_get(subjects, name);
        for (size_t i = 0; list && i < list->all.n;)
                if (list->all.at[i] == b)
                        vec_remove(&list->all, i);
                else
                        i++;
        if (list && list->all.n == 0)
                map_remove(subjects, name);
}

static void remove_binding(struct access *a, const char *key)
{
        struct binding *b = map_take(&a->bindings, key);
        if (!b)
                return;
        for (const char *const *s = b->users; *s; s++)
                subject_remove(&a->users, *s, b);
        for (const char *const *s = b->groups; *s; s++)
                subject_remove(&a->groups, *s, b);
        binding_free(b);
}

/* The name under which a subject asks: users and groups as they are, a service account by its user name. */
static const char *subject_name(struct binding *b, const json_t *subject, bool *ret_is_group)
{
        const char *kind = or_empty(doc_get_string(subject, "kind")),
                   *name = or_empty(doc_get_string(subject, "name"));
        const char *ns = doc_get_string(subject, "namespace");
        *ret_is_group = strcmp(kind, "Group") == 0;
        if (strcmp(kind, "ServiceAccount") == 0)
                return arena_printf(&b->arena, "system:serviceaccount:%s:%s", ns ? ns : or_empty(b->ns),
                                    name);
        return arena_strdup(&b->arena, name);
}

static int read_subjects(struct binding *b, const json_t *subjects)
{
        size_t i, n_users = 0, n_groups = 0, n = json_array_size(subjects);
        json_t *subject;
        const char **users = ARENA_NEW_ARRAY(&b->arena, const char *, n + 1);
        const char **groups = ARENA_NEW_ARRAY(&b->arena, const char *, n + 1);
        if (!users || !groups)
                return ERR_NO_MEMORY;
        json_array_foreach(subjects, i, subject) {
                bool is_group;
                const char *name = subject_name(b, subject, &is_group);
                if (!name)
                        return ERR_NO_MEMORY;
                *(is_group ? &groups[n_groups++] : &users[n_users++]) = name;
        }
        b->users = users;
        b->groups = groups;
        return 0;
}

static int read_binding(struct binding *b, const json_t *doc)
{
        const char *ns = meta_ns(doc);
        b->kind = *ns ? "RoleBinding" : "ClusterRoleBinding";
        b->name = arena_strdup(&b->arena, meta_name(doc));
        b->ns = *ns ? arena_strdup(&b->arena, ns) : NULL;
        b->role_kind = arena_strdup(&b->arena, or_empty(doc_get_string(doc, "roleRef.kind")));
        b->role_name = arena_strdup(&b->arena, or_empty(doc_get_string(doc, "roleRef.name")));
        if (!b->name || (*ns && !b->ns) || !b->role_kind || !b->role_name)
                return ERR_NO_MEMORY;
        b->role_key =
                arena_printf(&b->arena, "%s/%s", strcmp(b->role_kind, "Role") == 0 ? ns : "", b->role_name);
        return b->role_key ? read_subjects(b, doc_get_array(doc, "subjects")) : ERR_NO_MEMORY;
}

static int put_binding(struct access *a, const char *key, const json_t *doc)
{
        remove_binding(a, key);
        struct binding *b = NEW(struct binding);
        if (!b)
                return ERR_NO_MEMORY;
        if (read_binding(b, doc) < 0 || map_put(&a->bindings, key, b) < 0) {
                binding_free(b);
                return ERR_NO_MEMORY;
        }
        for (const char *const *s = b->users; *s; s++)
                TRY(subject_add(&a->users, *s, b));
        for (const char *const *s = b->groups; *s; s++)
                TRY(subject_add(&a->groups, *s, b));
        return 0;
}

/* ---- reading a cluster, following its writes ---- */

#define ROLES "rbac.authorization.k8s.io/roles"
#define CLUSTER_ROLES "rbac.authorization.k8s.io/clusterroles"
#define BINDINGS "rbac.authorization.k8s.io/rolebindings"
#define CLUSTER_BINDINGS "rbac.authorization.k8s.io/clusterrolebindings"

static bool is_role_table(const char *table_key)
{
        return strcmp(table_key, ROLES) == 0 || strcmp(table_key, CLUSTER_ROLES) == 0;
}

static int take_object(struct access *a, const char *table_key, const json_t *doc, bool deleted)
{
        AUTO_FREE char *key = mem_printf("%s/%s", meta_ns(doc), meta_name(doc));
        if (!key)
                return ERR_NO_MEMORY;
        if (!is_role_table(table_key))
                return deleted ? (remove_binding(a, key), 0) : put_binding(a, key, doc);
        return deleted ? (map_remove(&a->roles, key), 0) : put_role(a, key, doc);
}

static int read_table(struct access *a, struct cluster *c, const char *table_key)
{
        struct table *t = api_store_table(c, table_key, false);
        for (size_t i = 0; t && i < t->items.n; i++) {
                AUTO_JSON json_t *doc = NULL;
                TRY(blob_parse(t->items.at[i], &doc, NULL));
                TRY(take_object(a, table_key, doc, false));
        }
        return 0;
}

static struct access *access_of(struct cluster *c)
{
        static const char *const tables[] = { ROLES, CLUSTER_ROLES, BINDINGS, CLUSTER_BINDINGS };
        if (c->access)
                return c->access;
        struct access *a = NEW(struct access);
        if (!a)
                return NULL;
        map_init(&a->roles, MAP_OWN_KEYS, role_free);
        map_init(&a->bindings, MAP_OWN_KEYS, binding_free);
        map_init(&a->users, MAP_OWN_KEYS, bindings_free);
        map_init(&a->groups, MAP_OWN_KEYS, bindings_free);
        c->access = a;
        for (size_t i = 0; i < ARRAY_LEN(tables); i++)
                if (read_table(a, c, tables[i]) < 0)
                        return access_free(c), NULL;
        return a;
}

void access_changed(struct cluster *c, const struct resource *r, const json_t *live, const json_t *doc)
{
        c->access_version++;
        if (c->access && take_object(c->access, r->table_key, doc ? doc : live, !doc) < 0)
                access_forget(c);
}

const struct rbac_rules *access_role_rules(struct cluster *c, const char *kind, const char *ns,
                                           const char *name)
{
        struct access *a = access_of(c);
        AUTO_FREE char *key = mem_printf("%s/%s", strcmp(kind, "Role") == 0 ? or_empty(ns) : "", name);
        struct role *r = a && key ? map_get(&a->roles, key) : NULL;
        return r ? &r->rules : NULL;
}

/* ---- deciding ---- */

bool access_is_master(const struct identity *who)
{
        for (const char *const *g = who->groups; g && *g; g++)
                if (strcmp(*g, "system:masters") == 0)
                        return true;
        return false;
}

/* Calls visit for every rule of every binding that holds for a subject in a namespace; stops when it returns
 * non-zero, and returns that. */
typedef int (*visit_fn)(void *ctx, const struct binding *b, const char *subject,
                        const struct rbac_rule *rule);

static int visit_bindings(struct access *a, const struct bindings *list, const char *ns, const char *subject,
                          visit_fn visit, void *ctx)
{
        for (size_t i = 0; list && i < list->all.n; i++) {
                const struct binding *b = list->all.at[i];
                if (b->ns && !text_equal(b->ns, ns))
                        continue;
                const struct role *role = map_get(&a->roles, b->role_key);
                for (size_t k = 0; role && k < role->rules.n; k++) {
                        int r = visit(ctx, b, subject, &role->rules.at[k]);
                        if (r != 0)
                                return r;
                }
        }
        return 0;
}

static int visit_rules(struct access *a, const struct identity *who, const char *ns, visit_fn visit,
                       void *ctx)
{
        int r = visit_bindings(a, map_get(&a->users, who->name), ns, who->name, visit, ctx);
        for (const char *const *g = who->groups; r == 0 && g && *g; g++)
                r = visit_bindings(a, map_get(&a->groups, *g), ns, *g, visit, ctx);
        return r;
}

struct decision {
        struct rbac_question q;
        const struct binding *by;
        const char *subject;
};

static int visit_decide(void *ctx, const struct binding *b, const char *subject, const struct rbac_rule *rule)
{
        struct decision *d = ctx;
        if (!rbac_rule_allows(rule, &d->q))
                return 0;
        d->by = b;
        d->subject = subject;
        return 1;
}

static const char *subject_words(struct arena *arena, const struct identity *who, const char *subject)
{
        if (subject != who->name)
                return arena_printf(arena, "Group \"%s\"", subject);
        static const char prefix[] = "system:serviceaccount:";
        if (!text_starts_with(subject, prefix))
                return arena_printf(arena, "User \"%s\"", subject);
        const char *ns = subject + strlen(prefix), *colon = strchr(ns, ':');
        return colon ? arena_printf(arena, "ServiceAccount \"%s/%.*s\"", colon + 1, (int)(colon - ns), ns)
                     : "";
}

/* RBAC: allowed by RoleBinding "b/ns" of Role "r" to User "u" */
static const char *reason_words(struct arena *arena, const struct identity *who, const struct decision *d)
{
        const char *slash = d->by->ns ? "/" : "";
        const char *s = arena_printf(arena, "RBAC: allowed by %s \"%s%s%s\" of %s \"%s\" to %s", d->by->kind,
                                     d->by->name, slash, or_empty(d->by->ns), d->by->role_kind,
                                     d->by->role_name, or_empty(subject_words(arena, who, d->subject)));
        return or_empty(s);
}

bool access_allowed(struct devcluster *d, struct cluster *c, const struct access_question *q,
                    struct arena *arena, const char **ret_reason)
{
        if (ret_reason)
                *ret_reason = "";
        if (access_is_master(q->who))
                return true;
        struct access *a = access_of(c);
        struct decision decision = { .q = { .verb = q->verb,
                                            .group = q->group,
                                            .resource = or_empty(q->resource),
                                            .subresource = q->subresource,
                                            .name = q->name,
                                            .path = q->path } };
        const char *ns = q->path || text_empty(q->ns) ? NULL : q->ns;
        if (!a || visit_rules(a, q->who, ns, visit_decide, &decision) == 0)
                return false;
        if (ret_reason)
                *ret_reason = reason_words(arena, q->who, &decision);
        return true;
}

/* ---- all rules of somebody ---- */

struct collected {
        VEC(const struct rbac_rule *) rules;
};

static int visit_collect(void *ctx, const struct binding *b, const char *subject,
                         const struct rbac_rule *rule)
{
        struct collected *all = ctx;
        for (size_t i = 0; i < all->rules.n; i++)
                if (all->rules.at[i] == rule)
                        return 0;
        return vec_push(&all->rules, rule);
}

static const char *const everything[] = { "*", NULL }, *const nothing[] = { NULL };
static const struct rbac_rule master_rules[] = {
        { everything, everything, everything, nothing, nothing },
        { everything, nothing, nothing, nothing, everything },
};

/* Masters may do everything, whether or not a binding says so too. */
static int add_master_rules(struct collected *all)
{
        static const struct rbac_question any[] = { { "*", "*", "*", NULL, NULL, NULL },
                                                    { "*", .path = "*" } };
        for (size_t i = 0; i < ARRAY_LEN(master_rules); i++) {
                bool bound = false;
                for (size_t k = 0; k < all->rules.n && !bound; k++)
                        bound = rbac_rule_allows(all->rules.at[k], &any[i]);
                if (!bound)
                        TRY(vec_push(&all->rules, &master_rules[i]));
        }
        return 0;
}

static int collect_rules(struct cluster *c, const struct identity *who, const char *ns, struct collected *all)
{
        struct access *a = access_of(c);
        if (!a)
                return ERR_NO_MEMORY;
        TRY(visit_rules(a, who, text_empty(ns) ? NULL : ns, visit_collect, all));
        return access_is_master(who) ? add_master_rules(all) : 0;
}

int access_rules(struct devcluster *d, struct cluster *c, const struct identity *who, const char *ns,
                 struct arena *arena, const struct rbac_rule *const **ret, size_t *ret_n)
{
        struct collected all = { 0 };
        int r = collect_rules(c, who, ns, &all);
        const struct rbac_rule **copy = ARENA_NEW_ARRAY(arena, const struct rbac_rule *, all.rules.n + 1);
        for (size_t i = 0; copy && i < all.rules.n; i++)
                copy[i] = all.rules.at[i];
        *ret_n = all.rules.n;
        *ret = copy;
        vec_free(&all.rules);
        return r == 0 && copy ? 0 : ERR_NO_MEMORY;
}

/* ---- requests ---- */

static int fail_path(struct request *rq, const struct access_question *q)
{
        int r = request_fail(rq, 403, "Forbidden", "forbidden: User \"%s\" cannot %s path \"%s\"",
                             q->who->name, q->verb, q->path);
        rq->status.details = true;
        return r;
}

static int fail_resource(struct request *rq, const struct access_question *q)
{
        const char *group = or_empty(q->group), *sub = or_empty(q->subresource), *name = or_empty(q->name);
        const char *where = text_empty(q->ns) ? " at the cluster scope"
                                              : arena_printf(rq->arena, " in the namespace \"%s\"", q->ns);
        (void)request_fail(
                rq, 403, "Forbidden",
                "%s%s%s%s%s%s is forbidden: User \"%s\" cannot %s resource \"%s%s%s\" in API group \"%s\"%s",
                q->resource, *group ? "." : "", group, *name ? " \"" : "", name, *name ? "\"" : "",
                q->who->name, q->verb, q->resource, *sub ? "/" : "", sub, group, or_empty(where));
        rq->status.name = name;
        rq->status.group = group;
        rq->status.kind = q->resource;
        return ERR_FORBIDDEN;
}

int authorize_question(struct request *rq, const struct access_question *q)
{
        if (access_allowed(rq->devcluster, rq->cluster, q, rq->arena, NULL))
                return 0;
        return q->path ? fail_path(rq, q) : fail_resource(rq, q);
}

/* A list of metadata.name=x alone may be allowed by resourceNames. */
static const char *selected_name(struct request *rq)
{
        static const char key[] = "metadata.name=";
        if (rq->name || !rq->x ||
            (strcmp(rq->verb, "list") != 0 && strcmp(rq->verb, "watch") != 0 &&
             strcmp(rq->verb, "deletecollection") != 0))
                return rq->name;
        struct slice rest = slice_of(http_query_get(rq->x, "fieldSelector")), term;
        while (rest.len) {
                (void)slice_cut(&rest, ',', &term);
                if (!slice_starts_with(term, key))
                        continue;
                size_t skip = strlen(key) + (term.len > strlen(key) && term.data[strlen(key)] == '=');
                return arena_strndup(rq->arena, term.data + skip, term.len - skip);
        }
        return NULL;
}

/* A namespace is asked for as an object in itself. */
static struct access_question question_of(struct request *rq, const char *verb)
{
        bool is_namespace = rq->plural && strcmp(rq->plural, "namespaces") == 0 && text_equal(rq->group, "");
        return (struct access_question){ .who = rq->user,
                                         .verb = verb,
                                         .group = rq->group,
                                         .version = rq->version,
                                         .resource = rq->plural,
                                         .subresource = rq->subresource,
                                         .ns = is_namespace && !rq->ns ? rq->name : rq->ns,
                                         .name = rq->plural ? selected_name(rq) : NULL,
                                         .path = rq->plural ? NULL : rq->path };
}

int authorize_verb(struct request *rq, const char *verb)
{
        const struct access_question q = question_of(rq, verb);
        return authorize_question(rq, &q);
}

/* Who was allowed the same before is allowed it until a role or binding is written. What is allowed without a
 * name is so with one, not the other way round. */
int authorize(struct request *rq)
{
        struct route_verb *known = route_verb(rq);
        const uint64_t user = rq->user->number, version = rq->cluster->access_version;
        if (user && known && known->user == user && known->access_version == version)
                return 0;
        const struct access_question q = question_of(rq, rq->verb);
        TRY(authorize_question(rq, &q));
        if (known && (q.path || q.name == rq->name)) {
                known->user = user;
                known->access_version = version;
        }
        return 0;
}
