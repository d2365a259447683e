#include "kubectl-fleet/page/policy_try.h"

#include "kubectl-fleet/manifest_rules.h"

#define STEPS_MAX 32 /* of a field's path */
#define FIELD "spec.policy"

/* ---- from text ---- */

static int read_text(const char *text, json_t **ret, struct error *err)
{
        AUTO_JSON json_t *all = NULL;
        size_t n = strlen(text);

        if (n > PAGE_POLICY_BYTES)
                return error_set(err, ERR_LIMIT, FIELD ": has %zu bytes, at most %u are taken", n,
                                 PAGE_POLICY_BYTES);
        TRY(yaml_parse_bounded((struct slice){ text, n }, PAGE_POLICY_VALUES, &all, err));
        if (json_array_size(all) > 1)
                return error_set(err, ERR_INVALID, FIELD ": must be one document, there are %zu",
                                 json_array_size(all));
        if (!json_is_object(json_array_get(all, 0)))
                return error_set(err, ERR_INVALID,
                                 FIELD ": must be a mapping, as \"placementType: PickAll\"");
        *ret = json_incref(json_array_get(all, 0));
        return 0;
}

/* ---- the placement around it ---- */

/* With a selector that no rule minds: that of now is not in question. `policy` NULL: none. Taken. */
static int document_around(const struct placement *now, json_t *policy, json_t **ret, struct error *err)
{
        const struct object *o = &now->object;
        json_t *doc =
                json_pack("{s:s, s:s, s:{s:s, s:s*}, s:{s:[{s:s, s:s, s:s, s:s}], s:o*}}", "apiVersion",
                          o->kind->api_version, "kind", o->kind->kind, "metadata", "name", o->meta.name,
                          "namespace", o->meta.ns, "spec", "resourceSelectors", "group", "", "version", "v1",
                          "kind", o->meta.ns ? "ConfigMap" : "Namespace", "name", "x", "policy", policy);

        if (!doc)
                return error_no_memory(err);
        *ret = doc;
        return 0;
}

/* As a document; *ret stays NULL where there is none. */
static int policy_of(const struct placement *now, json_t **ret, struct error *err)
{
        struct placement bare = { .object = { .kind = now->object.kind } };
        struct placement_spec spec = { .policy = now->spec ? now->spec->policy : NULL };
        AUTO_JSON json_t *doc = NULL;

        if (!spec.policy)
                return 0;
        bare.object.meta.name = now->object.meta.name;
        bare.spec = &spec;
        TRY(object_to_doc(&bare.object, &doc, err));
        *ret = json_incref(doc_get(doc, FIELD));
        return 0;
}

static int change_problem(struct arena *arena, const struct schema *schema, const struct placement *now,
                          const json_t *doc, const char **ret, struct error *err)
{
        AUTO_JSON json_t *policy = NULL;
        AUTO_JSON json_t *old = NULL;

        TRY(policy_of(now, &policy, err));
        TRY(document_around(now, json_incref(policy), &old, err));
        TRY(schema_apply_defaults(schema, old, err));
        return manifest_change_problem(arena, schema, old, doc, ret, err);
}

/* The placement of now with that policy. */
static int with_policy(struct arena *arena, const struct placement *now, const json_t *doc,
                       const struct placement **ret, struct error *err)
{
        struct placement *p = arena_memdup(arena, now, sizeof(*now));
        struct placement_spec *spec = ARENA_NEW(arena, struct placement_spec);
        struct object *read;

        if (!p || !spec)
                return error_no_memory(err);
        TRY(object_from_doc(now->object.kind, doc, arena, &read, err));
        if (now->spec)
                *spec = *now->spec;
        spec->policy = ((const struct placement *)read)->spec->policy;
        p->spec = spec;
        *ret = p;
        return 0;
}

static int make(struct arena *arena, const struct placement *now, const char *text,
                struct page_policy_try *ret, struct error *err)
{
        const struct kind *kind = now->object.kind;
        const struct placement *made = NULL;
        const struct schema *schema;
        json_t *policy = NULL;
        AUTO_JSON json_t *doc = NULL;

        TRY(read_text(text, &policy, err));
        TRY(document_around(now, policy, &doc, err));
        TRY(manifest_schema(arena, kind, kind->version, &schema, err));
        TRY(manifest_complete(arena, schema, doc, err));
        TRY(with_policy(arena, now, doc, &made, err));
        TRY(change_problem(arena, schema, now, doc, &ret->refused, err));
        ret->placement = made;
        return 0;
}

/* ---- where the mistake is ---- */

static const char *step_from(struct arena *arena, const char *at, struct yaml_step *ret)
{
        bool item = *at == '[';
        size_t n = strcspn(at + 1, item ? "]" : ".[:\"");
        const char *word = arena_strndup(arena, at + 1, n);
        int64_t index = 0;

        if (!word || n == 0 || (item && !text_parse_i64(word, &index)))
                return NULL;
        *ret = item ? (struct yaml_step){ NULL, (size_t)index } : (struct yaml_step){ .key = word };
        return at + 1 + n + item;
}

/* The field that a message names, as steps below the policy. */
static size_t steps_of(struct arena *arena, const char *message, struct yaml_step ret[STEPS_MAX])
{
        const char *at = strstr(message, FIELD);
        size_t n = 0;

        at = at ? at + strlen(FIELD) : "";
        while (at && (*at == '.' || *at == '[') && n < STEPS_MAX)
                if ((at = step_from(arena, at, &ret[n])))
                        n++;
        return n;
}

/* What is YAML, but none that is taken, says its line: "yaml: line 2: key ...". */
static size_t line_told(const char *message)
{
        static const char begin[] = "yaml: line ";
        size_t line = 0;

        if (text_starts_with(message, begin))
                for (const char *at = message + strlen(begin); *at >= '0' && *at <= '9' && line < 100000;
                     at++)
                        line = line * 10 + (size_t)(*at - '0');
        return line;
}

static int locate(struct arena *arena, const char *text, struct page_policy_try *ret)
{
        struct yaml_step steps[STEPS_MAX];
        size_t n = steps_of(arena, ret->error, steps);
        struct yaml_place place = { 0 };
        int code = yaml_locate(slice_of(text), steps, n, &place);

        if (code == ERR_NO_MEMORY)
                return code;
        if (code == 1 || (code == 0 && n)) {
                ret->line = place.line;
                ret->column = place.column;
        } else {
                ret->line = line_told(ret->error);
        }
        return 0;
}

int page_policy_try(struct arena *arena, const struct placement *now, const char *text,
                    struct page_policy_try *ret)
{
        struct error err = { 0 };
        int code;

        *ret = (struct page_policy_try){ 0 };
        code = make(arena, now, text, ret, &err);
        if (code == 0 || code == ERR_NO_MEMORY)
                return code;
        ret->error = arena_strdup(arena, *err.text ? err.text : error_code_name(code));
        if (!ret->error)
                return ERR_NO_MEMORY;
        return strlen(text) > PAGE_POLICY_BYTES ? 0 : locate(arena, text, ret);
}

/* ---- to begin from ---- */

static json_t *lines_of(const char *text)
{
        json_t *lines = json_array();

        while (lines && *text) {
                size_t n = strcspn(text, "\n");

                if (json_array_append_new(lines, json_stringn(text, n)) < 0) {
                        json_decref(lines);
                        return NULL;
                }
                text += n + (text[n] == '\n');
        }
        return lines;
}

json_t *page_policy_lines(const struct placement *now)
{
        AUTO_JSON json_t *policy = NULL;
        AUTO_BUF struct buf b;

        buf_init(&b, 4u << 20);
        if (policy_of(now, &policy, NULL) < 0)
                return NULL;
        if (!policy)
                return lines_of("placementType: PickAll\n");
        if (yaml_write_unfolded(policy, &b) < 0)
                return NULL;
        return lines_of(b.data);
}
