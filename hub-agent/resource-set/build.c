#include "hub-agent/resource-set/build.h"

#include "common/base/limits.h"
#include "common/base/map.h"
#include "common/base/memory.h"
#include "common/base/vec.h"
#include "common/template/template.h"
#include "hub-agent/resource-set/inputs.h"
#include "hub-agent/resource-set/read.h"

struct builder {
        struct arena *arena;
        const struct resource_set *set;
        const json_t *sets; /* NULL = rendered once */
        const char *step;   /* the name of the one that is built; NULL = there are no steps */
        unsigned step_index;
        struct map *known; /* "group/Kind/ns/name" -> struct built_object */
        VEC(struct built_object *) all;
        size_t bytes, n_different;
        struct error *err;
};

int build_check(const struct resource_set *set, struct error *err)
{
        const struct resource_set_spec *spec = set->spec;

        if (strlen(set->object.meta.name) > LABEL_VALUE_MAX)
                return error_set(err, ERR_INVALID,
                                 "name must be no more than 63 characters, it becomes a label value");
        if (spec->steps.n && (spec->resources.set || spec->resources_template))
                return error_set(err, ERR_INVALID,
                                 "spec.steps is mutually exclusive with spec.resources and "
                                 "spec.resourcesTemplate");
        for (uint32_t i = 0; i < spec->steps.n; i++)
                if (!spec->steps.at[i].resources.set && !spec->steps.at[i].resources_template)
                        return error_set(err, ERR_INVALID,
                                         "step \"%s\": at least one of resources or resourcesTemplate must "
                                         "be set",
                                         or_empty(spec->steps.at[i].name));
        return 0;
}

/* ---- rendering ---- */

static int parse_template(struct builder *b, struct slice text, const struct template **ret)
{
        static const char *const roots[] = { "inputs" };
        static const struct template_options options = { .name = "resourceset",
                                                         .left = "<<",
                                                         .right = ">>",
                                                         .roots = roots,
                                                         .n_roots = 1,
                                                         .missing_key_fails = true };

        return template_parse(b->arena, &options, text, ret, b->err);
}

/* The set without which the message would not tell whose fault it is. */
static int blame(struct builder *b, const json_t *set)
{
        if (set && b->err->code < 0) {
                AUTO_FREE char *text = mem_strdup(b->err->text);

                if (text)
                        snprintf(b->err->text, sizeof(b->err->text), "%.900s (input set id %.60s)", text,
                                 input_set_id(b->arena, set));
        }
        return b->err->code;
}

static int render(struct builder *b, const struct template *t, const json_t *set, struct buf *out)
{
        AUTO_JSON json_t *none = set ? NULL : json_object();
        const json_t *root = set ? set : none;
        struct template_data data = { .roots = &root };

        if (!root)
                return error_no_memory(b->err);
        TRY(template_render(t, &data, out, b->err));
        b->bytes += out->len;
        if (b->bytes > LIMIT_RESOURCE_SET_BYTES)
                return error_set(b->err, ERR_LIMIT, "the rendered objects are more than %u bytes",
                                 LIMIT_RESOURCE_SET_BYTES);
        return 0;
}

/* ---- one object ---- */

static const char *key_of(struct builder *b, const json_t *doc)
{
        struct slice group = group_of_doc(doc);

        return arena_printf(b->arena, "%.*s/%s/%s/%s", (int)group.len, group.data,
                            doc_get_string(doc, "kind"), or_empty(doc_get_string(doc, "metadata.namespace")),
                            doc_get_string(doc, "metadata.name"));
}

static int put_all(json_t *doc, const char *field, const struct string_map *m)
{
        json_t *metadata = json_object_get(doc, "metadata");
        json_t *map = json_object_get(metadata, field);

        if (m->n == 0)
                return 0;
        if (!json_is_object(map)) {
                map = json_object();
                if (json_object_set_new(metadata, field, map) < 0)
                        return ERR_NO_MEMORY;
        }
        for (uint32_t i = 0; i < m->n; i++)
                if (json_object_set_new(map, m->at[i].key, json_string(m->at[i].value)) < 0)
                        return ERR_NO_MEMORY;
        return 0;
}

static int dress(struct builder *b, json_t *doc)
{
        struct string_pair owner[] = { { LABEL_SET_NAME, b->set->object.meta.name },
                                       { LABEL_SET_NAMESPACE, or_empty(b->set->object.meta.ns) } };
        const struct resource_set_common_metadata *common = b->set->spec->common_metadata;

        if (put_all(doc, "labels", &(struct string_map){ owner, 2, true }) < 0 ||
            (common && (put_all(doc, "labels", &common->labels) < 0 ||
                        put_all(doc, "annotations", &common->annotations) < 0)))
                return error_no_memory(b->err);
        return build_normalize(doc, b->err);
}

static bool is_excluded(const json_t *doc)
{
        const char *const path[] = { "metadata", "annotations", ANNOTATION_FLUX_RECONCILE };

        return text_equal(json_string_value(doc_get_keys(doc, path, 3)), FLUX_DISABLED);
}

/* 5.2 and 5.4: the first one wins, in one step. */
static int meet_again(struct builder *b, const struct built_object *first, json_t *doc)
{
        if (first->step != b->step_index)
                return error_set(b->err, ERR_INVALID,
                                 "duplicate resource %s in step \"%s\", already defined in step \"%s\"",
                                 or_empty(object_words(b->arena, doc)), or_empty(b->step),
                                 or_empty(b->set->spec->steps.at[first->step].name));
        TRY(dress(b, doc));
        b->n_different += !doc_equal(first->doc, doc);
        return 0;
}

static int add_object(struct builder *b, json_t *doc, const json_t *set)
{
        const char *key = key_of(b, doc);
        struct built_object *o = ARENA_NEW(b->arena, struct built_object), *first;

        if (!key || !o)
                return error_no_memory(b->err);
        first = map_get(b->known, key);
        if (is_excluded(doc))
                return 0;
        if (first)
                return meet_again(b, first, doc);
        if (b->all.n == LIMIT_RESOURCE_SET_OBJECTS)
                return error_set(b->err, ERR_LIMIT, "more than %d objects", LIMIT_RESOURCE_SET_OBJECTS);
        *o = (struct built_object){ .doc = doc, .step = b->step_index, .set_id = "", .provider = "" };
        if (set) {
                o->set_id = input_set_id(b->arena, set);
                o->provider = or_empty(arena_printf(b->arena, "%s/%s",
                                                    or_empty(doc_get_string(set, "provider.kind")),
                                                    or_empty(doc_get_string(set, "provider.name"))));
        }
        TRY(dress(b, doc));
        return map_put(b->known, key, o) < 0 || vec_push(&b->all, o) < 0 ? error_no_memory(b->err) : 0;
}

/* ---- all of them ---- */

static int build_one(struct builder *b, const struct template *t, const json_t *set, bool documents)
{
        AUTO_BUF struct buf out;
        json_t *docs;
        size_t i;
        json_t *doc;

        buf_init(&out, LIMIT_TEMPLATE_OUTPUT_BYTES);
        if (render(b, t, set, &out) < 0)
                return error_wrap(b->err, documents ? "failed to execute multi-doc YAML template"
                                                    : "failed to execute template");
        if (read_objects(b->arena, (struct slice){ out.data, out.len }, documents, &docs, b->err) < 0)
                return error_wrap(b->err, documents ? "failed to read objects from multi-doc YAML"
                                                    : "failed to read object");
        json_array_foreach(docs, i, doc)
                TRY(add_object(b, doc, set));
        return 0;
}

static int for_each_set(struct builder *b, const struct template *t, bool documents)
{
        size_t i;
        json_t *set;

        if (!b->sets)
                return build_one(b, t, NULL, documents);
        json_array_foreach(b->sets, i, set)
                if (build_one(b, t, set, documents) < 0)
                        return blame(b, set);
        return 0;
}

static int build_resource(struct builder *b, struct slice raw)
{
        AUTO_JSON json_t *doc = NULL;
        AUTO_BUF struct buf text;
        const struct template *t;
        const char *kept;

        buf_init(&text, LIMIT_TEMPLATE_BYTES);
        TRY(doc_parse(raw, &doc, b->err));
        yaml_write_unfolded(doc, &text);
        TRY(buf_status(&text, b->err, "template"));
        kept = arena_strndup(b->arena, text.data, text.len);
        if (!kept)
                return error_no_memory(b->err);
        if (parse_template(b, (struct slice){ kept, text.len }, &t) < 0)
                return error_wrap(b->err, "failed to parse template");
        return for_each_set(b, t, false);
}

static int build_documents(struct builder *b, const char *text)
{
        const struct template *t;

        if (parse_template(b, slice_of(text), &t) < 0)
                return error_wrap(b->err, "failed to parse multi-doc YAML template");
        return for_each_set(b, t, true);
}

static int build_step(struct builder *b, const struct raw_list *resources, const char *documents)
{
        for (uint32_t i = 0; i < resources->n; i++) {
                if (build_resource(b, resources->at[i]) == 0)
                        continue;
                return b->sets ? error_wrap(b->err, "failed to build resources[%u]", i)
                               : error_wrap(b->err, "failed to build resource");
        }
        if (!text_empty(documents) && build_documents(b, documents) < 0)
                return error_wrap(b->err, "failed to build resources");
        return 0;
}

static int build_steps(struct builder *b)
{
        const struct resource_set_spec *spec = b->set->spec;

        if (spec->steps.n == 0)
                return build_step(b, &spec->resources, spec->resources_template);
        for (uint32_t i = 0; i < spec->steps.n; i++) {
                const struct resource_set_step *s = &spec->steps.at[i];

                b->step = s->name;
                b->step_index = i;
                if (build_step(b, &s->resources, s->resources_template) < 0)
                        return text_starts_with(b->err->text, "duplicate resource")
                                       ? b->err->code
                                       : error_wrap(b->err, "step \"%s\"", or_empty(s->name));
        }
        return 0;
}

int build_objects(struct arena *arena, const struct resource_set *set, const json_t *sets, struct build *ret,
                  struct error *err)
{
        struct error own = { 0 };
        struct builder b = { .arena = arena, .set = set, .sets = sets, .err = err ? err : &own };
        int code;

        *ret = (struct build){ .n_sets = json_array_size(sets), .n_steps = MAX(set->spec->steps.n, 1u) };
        b.known = map_of_arena(arena);
        code = b.known ? build_steps(&b) : error_no_memory(b.err);
        ret->at = ARENA_NEW_ARRAY(arena, struct built_object, b.all.n + 1);
        for (size_t i = 0; ret->at && i < b.all.n; i++)
                ret->at[ret->n++] = *b.all.at[i];
        ret->n_different = b.n_different;
        vec_free(&b.all);
        return code == 0 && !ret->at ? error_no_memory(err) : code;
}
