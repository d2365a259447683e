#include "e2e/devcluster/rbac.h"

#include "common/base/vec.h"

#define MISSING_TEXT_MAX (64u << 10)

/* ---- reading ---- */

static const char *const *read_strings(struct arena *arena, const json_t *list)
{
        size_t i, n = 0;
        json_t *item;
        const char **out = ARENA_NEW_ARRAY(arena, const char *, json_array_size(list) + 1);

        if (!out)
                return NULL;
        json_array_foreach(list, i, item) {
                if (!json_is_string(item))
                        continue;
                out[n] = arena_strdup(arena, json_string_value(item));
                if (!out[n++])
                        return NULL;
        }
        return out;
}

static int read_rule(struct arena *arena, const json_t *doc, struct rbac_rule *ret)
{
        *ret = (struct rbac_rule){
                .verbs = read_strings(arena, json_object_get(doc, "verbs")),
                .groups = read_strings(arena, json_object_get(doc, "apiGroups")),
                .resources = read_strings(arena, json_object_get(doc, "resources")),
                .names = read_strings(arena, json_object_get(doc, "resourceNames")),
                .urls = read_strings(arena, json_object_get(doc, "nonResourceURLs")),
        };
        return ret->verbs && ret->groups && ret->resources && ret->names && ret->urls ? 0 : ERR_NO_MEMORY;
}

int rbac_rules_parse(struct arena *arena, const json_t *rules, struct rbac_rules *ret)
{
        size_t i, n = json_array_size(rules);
        json_t *doc;
        struct rbac_rule *at = ARENA_NEW_ARRAY(arena, struct rbac_rule, n + 1);

        if (!at)
                return ERR_NO_MEMORY;
        json_array_foreach(rules, i, doc)
                TRY(read_rule(arena, doc, &at[i]));
        *ret = (struct rbac_rules){ at, n };
        return 0;
}

/* ---- matching ---- */

static bool has(const char *const *list, const char *s)
{
        for (; *list; list++)
                if (strcmp(*list, s) == 0)
                        return true;
        return false;
}

static bool has_or_all(const char *const *list, const char *s)
{
        return has(list, "*") || has(list, s);
}

/* "pods", "pods/log", "*" (subresources too) and "*" "/log". */
static bool resource_matches(const char *wanted, const char *resource, const char *subresource)
{
        if (strcmp(wanted, "*") == 0)
                return true;
        const char *slash = strchr(wanted, '/');
        if (text_empty(subresource))
                return !slash && strcmp(wanted, resource) == 0;
        if (!slash || strcmp(slash + 1, subresource) != 0)
                return false;
        size_t n = (size_t)(slash - wanted);
        return (n == 1 && *wanted == '*') || (n == strlen(resource) && memcmp(wanted, resource, n) == 0);
}

static bool url_matches(const char *wanted, const char *path)
{
        size_t n = strlen(wanted);
        if (strcmp(wanted, "*") == 0 || strcmp(wanted, path) == 0)
                return true;
        return n && wanted[n - 1] == '*' && strncmp(wanted, path, n - 1) == 0;
}

static bool any_url_matches(const char *const *urls, const char *path)
{
        for (; *urls; urls++)
                if (url_matches(*urls, path))
                        return true;
        return false;
}

static bool any_resource_matches(const char *const *list, const char *resource, const char *subresource)
{
        for (; *list; list++)
                if (resource_matches(*list, resource, subresource))
                        return true;
        return false;
}

bool rbac_rule_allows(const struct rbac_rule *rule, const struct rbac_question *q)
{
        if (!has_or_all(rule->verbs, q->verb))
                return false;
        if (q->path)
                return any_url_matches(rule->urls, q->path);
        return has_or_all(rule->groups, q->group ? q->group : "") &&
               any_resource_matches(rule->resources, q->resource, q->subresource) &&
               (!*rule->names || (!text_empty(q->name) && has(rule->names, q->name)));
}

/* ---- covering: does somebody hold what a role is to grant ---- */

/* One indivisible part of a rule: a verb on a resource (or on one named object), or on a URL. */
struct part {
        const char *verb, *group, *resource, *name, *url; /* name NULL = all objects */
};

static bool holds_resource(const struct rbac_rule *rule, const char *resource)
{
        if (has_or_all(rule->resources, resource))
                return true;
        const char *slash = strchr(resource, '/');
        for (const char *const *r = rule->resources; slash && *r; r++)
                if (strncmp(*r, "*/", 2) == 0 && strcmp(*r + 1, slash) == 0)
                        return true;
        return false;
}

static bool rule_covers(const struct rbac_rule *rule, const struct part *p)
{
        if (!has_or_all(rule->verbs, p->verb))
                return false;
        if (p->url)
                return any_url_matches(rule->urls, p->url);
        return has_or_all(rule->groups, p->group) && holds_resource(rule, p->resource) &&
               (!*rule->names || (p->name && has(rule->names, p->name)));
}

struct covering {
        const struct rbac_rule *const *held;
        size_t n_held;
        struct arena *arena;
        VEC(const char *) lines;
};

static bool is_held(const struct covering *c, const struct part *p)
{
        for (size_t i = 0; i < c->n_held; i++)
                if (rule_covers(c->held[i], p))
                        return true;
        return false;
}

static int write_missing(const struct part *p, const char *verbs, struct buf *b)
{
        if (p->url)
                return buf_printf(b, "{NonResourceURLs:[\"%s\"], Verbs:[%s]}", p->url, verbs);
        TRY(buf_printf(b, "{APIGroups:[\"%s\"], Resources:[\"%s\"], ", p->group, p->resource));
        if (p->name)
                TRY(buf_printf(b, "ResourceNames:[\"%s\"], ", p->name));
        return buf_printf(b, "Verbs:[%s]}", verbs);
}

/* Adds a line with those verbs of the part that are not held. */
static int check_part(struct covering *c, const char *const *verbs, struct part p)
{
        AUTO_BUF struct buf missing, line;
        buf_init(&missing, MISSING_TEXT_MAX);
        buf_init(&line, MISSING_TEXT_MAX);
        for (; *verbs; verbs++) {
                p.verb = *verbs;
                if (!is_held(c, &p))
                        TRY(buf_printf(&missing, "%s\"%s\"", missing.len ? " " : "", *verbs));
        }
        if (missing.len == 0)
                return 0;
        TRY(write_missing(&p, missing.data, &line));
        const char *copy = arena_strdup(c->arena, line.data);
        return copy ? vec_push(&c->lines, copy) : ERR_NO_MEMORY;
}

static int check_resources(struct covering *c, const struct rbac_rule *rule)
{
        for (const char *const *g = rule->groups; *g; g++)
                for (const char *const *r = rule->resources; *r; r++) {
                        struct part p = { .group = *g, .resource = *r };
                        if (!*rule->names)
                                TRY(check_part(c, rule->verbs, p));
                        for (const char *const *n = rule->names; *n; n++) {
                                p.name = *n;
                                TRY(check_part(c, rule->verbs, p));
                        }
                }
        return 0;
}

static int check_rules(struct covering *c, const struct rbac_rules *wanted)
{
        for (size_t i = 0; i < wanted->n; i++) {
                TRY(check_resources(c, &wanted->at[i]));
                for (const char *const *u = wanted->at[i].urls; *u; u++)
                        TRY(check_part(c, wanted->at[i].verbs, (struct part){ .url = *u }));
        }
        return 0;
}

static int compare_lines(const void *a, const void *b)
{
        return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int join_lines(struct covering *c, const char **ret)
{
        AUTO_BUF struct buf text;
        buf_init(&text, MISSING_TEXT_MAX);
        qsort(c->lines.at, c->lines.n, sizeof(char *), compare_lines);
        for (size_t i = 0; i < c->lines.n && text.len < MISSING_TEXT_MAX / 2; i++)
                if (i == 0 || strcmp(c->lines.at[i], c->lines.at[i - 1]) != 0)
                        TRY(buf_printf(&text, "%s%s", i ? "\n" : "", c->lines.at[i]));
        *ret = arena_strdup(c->arena, text.data);
        return *ret ? 0 : ERR_NO_MEMORY;
}

int rbac_find_missing(struct arena *arena, const struct rbac_rule *const *held, size_t n_held,
                      const struct rbac_rules *wanted, const char **ret_missing)
{
        struct covering c = { .held = held, .n_held = n_held, .arena = arena };
        int r = check_rules(&c, wanted);
        *ret_missing = NULL;
        if (r == 0 && c.lines.n)
                r = join_lines(&c, ret_missing);
        vec_free(&c.lines);
        return r;
}
