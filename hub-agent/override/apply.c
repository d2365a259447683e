/* What overrides do to one manifest. spec/rollout-and-work.md 5. */
#include "common/base/limits.h"
#include "common/json/doc.h"
#include "common/json/patch.h"
#include "hub-agent/override/guard.h"
#include "hub-agent/override/override.h"
#include "hub-agent/override/rule.h"

#define VARIABLE_NAME "${MEMBER-CLUSTER-NAME}"

/* Others get a turn after about so many bytes were looked at; the rest is in the same coin. */
#define WORK_BETWEEN_PAUSES (64u << 10)
#define WORK_OF_SELECTOR 64
#define WORK_OF_OPERATION 4096

/* One manifest on its way through the overrides. */
struct passing {
        struct override_applier *a;
        struct arena *arena;
        struct error *err;
        json_t *doc;                                    /* owned; changed in place, as a failure drops it */
        json_t *identity;                               /* of the original, owned */
        const char *group, *version, *kind, *ns, *name; /* of the original; ns NULL: cluster-scoped */
        size_t operations, bytes;                       /* so far: bounded */
        bool changed, dropped;
};

int override_work(struct override_applier *a, size_t amount, struct error *err)
{
        a->worked += amount;
        if (a->worked < WORK_BETWEEN_PAUSES || !a->pause)
                return 0;
        a->worked = 0;
        return a->pause(a->pause_ctx) < 0 ? error_set(err, ERR_CANCELLED, "cancelled") : 0;
}

static int work(struct passing *p, size_t amount)
{
        return override_work(p->a, amount, p->err);
}

/* ---- variables ---- */

static int substitute(struct passing *p, struct slice value, struct buf *out)
{
        const char *at = value.data, *end = at + value.len;

        while (at < end) {
                size_t rest = (size_t)(end - at);

                if (rest >= strlen(VARIABLE_NAME) && memcmp(at, VARIABLE_NAME, strlen(VARIABLE_NAME)) == 0) {
                        buf_append_str(out, p->a->cluster->object.meta.name);
                        at += strlen(VARIABLE_NAME);
                } else if (rest >= strlen(OVERRIDE_LABEL_VARIABLE) &&
                           memcmp(at, OVERRIDE_LABEL_VARIABLE, strlen(OVERRIDE_LABEL_VARIABLE)) == 0) {
                        const char *key = at + strlen(OVERRIDE_LABEL_VARIABLE),
                                   *close = memchr(key, '}', (size_t)(end - key));
                        const char *name, *label;

                        if (!close)
                                return error_set(p->err, ERR_INVALID,
                                                 "input %.*s is missing the closing bracket `}`",
                                                 (int)value.len, value.data);
                        name = arena_strndup(p->arena, key, (size_t)(close - key));
                        if (!name)
                                return error_no_memory(p->err);
                        label = label_of(&p->a->cluster->object, name);
                        if (!label)
                                return error_set(p->err, ERR_INVALID, "label key %s not found on cluster %s",
                                                 name, p->a->cluster->object.meta.name);
                        buf_append_str(out, label);
                        at = close + 1;
                } else {
                        buf_append_char(out, *at++);
                }
        }
        return buf_status(out, p->err, "override value");
}

/* What the operations bring into one manifest is bounded: anybody may write an override, and all of them are
 * applied by the one thread. */
static int spend(struct passing *p, size_t bytes)
{
        p->bytes += bytes;
        if (p->bytes > LIMIT_OVERRIDE_BYTES)
                return error_set(p->err, ERR_LIMIT,
                                 "the overrides of one manifest bring more than %u bytes of paths and values "
                                 "(LIMIT_OVERRIDE_BYTES)",
                                 LIMIT_OVERRIDE_BYTES);
        return 0;
}

static int patch_value(struct passing *p, const struct json_patch_override *o, json_t **ret)
{
        AUTO_BUF struct buf text;

        buf_init(&text, LIMIT_OBJECT_BYTES);
        if (!o->value.data) {
                *ret = json_null();
                return 0;
        }
        TRY(substitute(p, o->value, &text));
        TRY(spend(p, text.len));
        return doc_parse((struct slice){ text.data, text.len }, ret, p->err);
}

/* ---- rules ---- */

/* Operations are applied one at a time, so their place among others says nothing. */
static int without_place(struct error *err)
{
        static const char place[] = "operation 0: ";

        if (err && text_starts_with(err->text, place))
                memmove(err->text, err->text + strlen(place), strlen(err->text + strlen(place)) + 1);
        return err ? err->code : ERR_INVALID;
}

static int count_operation(struct passing *p, const struct json_patch_override *o)
{
        if (++p->operations > LIMIT_OVERRIDE_OPERATIONS)
                return error_set(p->err, ERR_LIMIT,
                                 "the overrides of one manifest have more than %d operations "
                                 "(LIMIT_OVERRIDE_OPERATIONS)",
                                 LIMIT_OVERRIDE_OPERATIONS);
        TRY(spend(p, strlen(or_empty(o->path))));
        return work(p, WORK_OF_OPERATION + o->value.len);
}

static int apply_operation(struct passing *p, const struct json_patch_override *o)
{
        AUTO_JSON json_t *operations = NULL, *value = NULL;

        TRY(count_operation(p, o));
        TRY(patch_value(p, o, &value));
        if (p->dropped)
                return 0;
        TRY(override_check_operation(o, p->err));
        operations = json_pack("[{s:s, s:s, s:O}]", "op", o->op, "path", o->path, "value", value);
        if (!operations)
                return error_no_memory(p->err);
        if (patch_json_in_place(&p->doc, operations, p->err) < 0)
                return without_place(p->err);
        p->changed = true;
        return 0;
}

static int apply_operations(struct passing *p, const struct override_rule *r, uint32_t index)
{
        for (uint32_t i = 0; i < r->json_patch_overrides.n; i++) {
                int code = apply_operation(p, &r->json_patch_overrides.at[i]);

                if (code == ERR_LIMIT)
                        return error_wrap(p->err, "rule %u, operation %u", index, i);
                if (code < 0)
                        return code;
        }
        return 0;
}

static int apply_rules(struct passing *p, const struct override_snapshot *s)
{
        const struct override_policy *policy = s->spec->override_spec->policy;

        for (uint32_t i = 0; policy && i < policy->rules.n; i++) {
                const struct override_rule *r = &policy->rules.at[i];
                int match;

                TRY(work(p, OVERRIDE_WORK_OF_RULE));
                match = override_rule_matches(r, p->a->cluster, p->err);
                if (match < 0)
                        return match;
                if (!match)
                        continue;
                if (text_equal(r->override_type, "Delete")) {
                        p->dropped = true;
                        return 0;
                }
                TRY(apply_operations(p, r, i));
        }
        return 0;
}

/* What the user can mend is told with what failed to apply; the rest is tried again. */
static int tell(struct passing *p, int code, const char *what, const char *name)
{
        struct error cause;

        if ((code != ERR_INVALID && code != ERR_LIMIT) || !p->err)
                return code;
        cause = *p->err;
        return error_set(p->err, ERR_INVALID, "%s%s%s%s failed to apply on %s \"%s\"%s%s%s: %s", what,
                         name ? " \"" : "", or_empty(name), name ? "\"" : "",
                         p->kind[0] ? p->kind : "Unknown", p->name, p->ns ? " in namespace \"" : "",
                         or_empty(p->ns), p->ns ? "\"" : "", cause.text);
}

static int apply_snapshot(struct passing *p, const struct override_snapshot *s)
{
        return tell(p, apply_rules(p, s), s->object.kind->kind, s->object.meta.name);
}

/* ---- selection ---- */

/* 1, 0, or ERR_CANCELLED. */
static int cluster_override_selects(struct passing *p, const struct override_snapshot *s)
{
        const struct resource_selector_list *l = &s->spec->override_spec->cluster_resource_selectors;

        TRY(work(p, l->n * WORK_OF_SELECTOR));
        for (uint32_t i = 0; i < l->n; i++) {
                const struct resource_selector *r = &l->at[i];
                bool by_namespace = p->ns && text_equal(r->kind, "Namespace") && text_empty(r->group) &&
                                    text_equal(r->version, "v1") && text_equal(r->name, p->ns);

                if (by_namespace || (!p->ns && text_equal(or_empty(r->group), p->group) &&
                                     text_equal(r->version, p->version) && text_equal(r->kind, p->kind) &&
                                     text_equal(r->name, p->name)))
                        return 1;
        }
        return 0;
}

static int own_override_selects(struct passing *p, const struct override_snapshot *s)
{
        const struct override_target_list *l = &s->spec->override_spec->resource_selectors;

        TRY(work(p, l->n * WORK_OF_SELECTOR));
        if (!text_equal(p->ns, s->object.meta.ns)) /* nor is what belongs to no namespace */
                return 0;
        for (uint32_t i = 0; i < l->n; i++)
                if (text_equal(or_empty(l->at[i].group), p->group) &&
                    text_equal(l->at[i].version, p->version) && text_equal(l->at[i].kind, p->kind) &&
                    text_equal(l->at[i].name, p->name))
                        return 1;
        return 0;
}

static int identify(struct passing *p)
{
        char *api = arena_strdup(p->arena, or_empty(doc_get_string(p->doc, "apiVersion")));
        char *slash = api ? strchr(api, '/') : NULL;
        const char *ns = doc_get_string(p->doc, "metadata.namespace");

        if (slash)
                *slash = 0;
        p->group = slash ? api : "";
        p->version = slash ? slash + 1 : api;
        p->kind = arena_strdup(p->arena, or_empty(doc_get_string(p->doc, "kind")));
        p->name = arena_strdup(p->arena, or_empty(doc_get_string(p->doc, "metadata.name")));
        if (!api || !p->kind || !p->name)
                return error_no_memory(p->err);
        if (!p->a->scopes.is_cluster_scoped(p->a->scopes.ctx, p->group, p->version, p->kind))
                p->ns = arena_strdup(p->arena, or_empty(ns));
        return 0;
}

static int apply_all(struct passing *p)
{
        for (size_t i = 0; i < p->a->set.cluster.n; i++) {
                const struct override_snapshot *s = (const struct override_snapshot *)p->a->set.cluster.at[i];
                int selected = cluster_override_selects(p, s);

                if (selected < 0)
                        return selected;
                if (selected)
                        TRY(apply_snapshot(p, s));
        }
        for (size_t i = 0; i < p->a->set.own.n; i++) {
                const struct override_snapshot *s = (const struct override_snapshot *)p->a->set.own.at[i];
                int selected = own_override_selects(p, s);

                if (selected < 0)
                        return selected;
                if (selected)
                        TRY(apply_snapshot(p, s));
        }
        return 0;
}

static int print(struct passing *p, struct slice *text)
{
        AUTO_BUF struct buf b;
        char *copy;

        buf_init(&b, LIMIT_OBJECT_BYTES);
        doc_write(p->doc, &b);
        TRY(buf_status(&b, p->err, "manifest"));
        copy = arena_strndup(p->arena, b.data, b.len);
        if (!copy)
                return error_no_memory(p->err);
        *text = (struct slice){ copy, b.len };
        return 1;
}

/* Each operation was looked at; that the whole made no other object of it is looked at too. */
static int finish(struct passing *p, struct slice *text)
{
        TRY(override_check_identity(p->identity, p->doc, p->err));
        return print(p, text);
}

static int pass_through(struct passing *p, struct slice *text)
{
        TRY(work(p, text->len));
        TRY(identify(p));
        p->identity = override_identity(p->doc);
        if (!p->identity)
                return error_no_memory(p->err);
        TRY(apply_all(p));
        if (p->dropped)
                return 2;
        return p->changed ? tell(p, finish(p, text), "overrides", NULL) : 0;
}

int override_apply(void *applier, struct arena *arena, struct slice *text, struct error *err)
{
        struct passing p = { .a = applier, .arena = arena, .err = err };
        int code;

        if (p.a->set.cluster.n + p.a->set.own.n == 0)
                return 0;
        TRY(doc_parse(*text, &p.doc, err));
        code = pass_through(&p, text);
        json_decref(p.doc);
        json_decref(p.identity);
        return code;
}
