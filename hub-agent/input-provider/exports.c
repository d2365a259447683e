#include "hub-agent/input-provider/exports.h"

#include "common/base/digest.h"
#include "common/base/limits.h"

static int check_size(const json_t *exports, struct error *err)
{
        struct doc_measure m;

        doc_measure(exports, &m);
        if (m.bytes <= LIMIT_EXPORTED_INPUTS_BYTES)
                return 0;
        return error_set(
                err, ERR_LIMIT,
                "%zu inputs of about %zu bytes are more than the %u bytes that may be exported: lower "
                "spec.filter.limit",
                json_array_size(exports), m.bytes, LIMIT_EXPORTED_INPUTS_BYTES);
}

/* Takes the set. */
static int add(json_t *exports, const json_t *defaults, json_t *set)
{
        AUTO_JSON json_t *taken = set;
        const char *key;
        json_t *value;

        if (!taken)
                return ERR_NO_MEMORY;
        json_object_foreach((json_t *)(uintptr_t)defaults, key, value) {
                if (json_object_get(taken, key))
                        continue;
                json_t *copy = doc_copy(value);

                if (!copy || json_object_set_new(taken, key, copy) < 0)
                        return ERR_NO_MEMORY;
        }
        return json_array_append(exports, taken) < 0 ? ERR_NO_MEMORY : 0;
}

static const json_t *find_former(const json_t *former, const char *id)
{
        size_t i;
        json_t *set;

        json_array_foreach(former, i, set)
                if (text_equal(doc_get_string(set, "id"), id))
                        return set;
        return NULL;
}

static int add_ref(json_t *exports, const struct export_rules *rules, const struct input_ref *r)
{
        const json_t *as_it_was;

        if (!filter_skips(rules->skip, rules->n_skip, r))
                return add(exports, rules->defaults, input_ref_export(r));
        as_it_was = find_former(rules->former, r->id);
        return as_it_was ? add(exports, NULL, doc_copy(as_it_was)) : 0;
}

int exports_of_refs(const struct export_rules *rules, const struct input_ref *refs, size_t n, json_t **ret,
                    struct error *err)
{
        AUTO_JSON json_t *exports = json_array();

        for (size_t i = 0; i < n; i++)
                if (!exports || add_ref(exports, rules, &refs[i]) < 0)
                        return error_no_memory(err);
        if (!exports)
                return error_no_memory(err);
        TRY(check_size(exports, err));
        *ret = TAKE_PTR(exports);
        return 0;
}

int exports_of_sets(const struct export_rules *rules, const json_t *sets, json_t **ret, struct error *err)
{
        AUTO_JSON json_t *exports = json_array();
        json_t *set;
        size_t i;

        json_array_foreach(sets, i, set)
                if (!exports || add(exports, rules->defaults, doc_copy(set)) < 0)
                        return error_no_memory(err);
        if (!exports)
                return error_no_memory(err);
        TRY(check_size(exports, err));
        *ret = TAKE_PTR(exports);
        return 0;
}

int exports_defaults(struct slice text, struct arena *arena, json_t **ret, struct error *err)
{
        json_t *doc = NULL;

        *ret = NULL;
        if (!text.data || slice_is(slice_trim(text), "null"))
                return 0;
        TRY(doc_parse(text, &doc, err));
        TRY(doc_keep(arena, doc, err));
        if (!json_is_object(doc))
                return error_set(err, ERR_INVALID, "spec.defaultValues: must be an object");
        *ret = doc;
        return 0;
}

int exports_static(const json_t *defaults, const char *uid, json_t **ret, struct error *err)
{
        char id[INPUT_ID_SIZE];
        AUTO_JSON json_t *exports = json_array();

        input_id(uid, id);
        if (!exports || add(exports, defaults, json_pack("{s:s}", "id", id)) < 0)
                return error_no_memory(err);
        TRY(check_size(exports, err));
        *ret = TAKE_PTR(exports);
        return 0;
}

int exports_revision(const json_t *exports, char ret[EXPORTS_REVISION_SIZE], struct error *err)
{
        AUTO_BUF struct buf text;

        buf_init(&text, LIMIT_YAML_BYTES);
        yaml_write(exports, &text);
        TRY(buf_status(&text, err, "exported inputs"));
        memcpy(ret, "sha256:", 7);
        sha256_hex(text.data, text.len, ret + 7);
        return 0;
}

int exports_store(const json_t *exports, struct input_provider_status *into, struct arena *arena,
                  struct error *err)
{
        char *revision = arena_alloc(arena, EXPORTS_REVISION_SIZE);
        size_t n = json_array_size(exports), i;
        struct slice *at = ARENA_NEW_ARRAY(arena, struct slice, n + 1);
        json_t *set;

        if (!revision || !at)
                return error_no_memory(err);
        TRY(exports_revision(exports, revision, err));
        json_array_foreach(exports, i, set) {
                AUTO_BUF struct buf text;

                buf_init(&text, LIMIT_OBJECT_BYTES);
                doc_write_canonical(set, &text);
                TRY(buf_status(&text, err, "an input"));
                at[i] = (struct slice){ arena_strndup(arena, text.data, text.len), text.len };
                if (!at[i].data)
                        return error_no_memory(err);
        }
        into->exported_inputs = (struct raw_list){ at, (uint32_t)n, n > 0 };
        into->last_exported_revision = revision;
        return 0;
}
