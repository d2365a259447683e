#include "hub-agent/source/chart/values.h"

#define DEPTH_MAX 200 /* as documents may be deep */

static int merge(json_t *into, const json_t *over, int depth, struct error *err)
{
        const char *key;
        json_t *value;

        if (depth > DEPTH_MAX)
                return error_set(err, ERR_LIMIT, "values are more than %d levels deep", DEPTH_MAX);
        json_object_foreach((json_t *)(uintptr_t)over, key, value) {
                json_t *there = json_object_get(into, key), *copy;

                if (json_is_object(there) && json_is_object(value)) {
                        TRY(merge(there, value, depth + 1, err));
                        continue;
                }
                copy = doc_copy(value);
                if (!copy || json_object_set_new_nocheck(into, key, copy) < 0)
                        return error_no_memory(err);
        }
        return 0;
}

int values_merge(json_t *into, const json_t *over, struct error *err)
{
        return merge(into, over, 0, err);
}

static int parse(struct slice text, json_t **ret, struct error *err)
{
        AUTO_JSON json_t *documents = NULL, *all = json_object();
        json_t *doc;
        size_t i;

        if (!all)
                return error_no_memory(err);
        if (text.len)
                TRY(yaml_parse_bounded(text, CHART_VALUES_MAX, &documents, err));
        json_array_foreach(documents, i, doc) {
                if (json_is_null(doc))
                        continue;
                if (!json_is_object(doc))
                        return error_set(err, ERR_INVALID, "not a mapping");
                TRY(values_merge(all, doc, err));
        }
        *ret = TAKE_PTR(all);
        return 0;
}

int values_parse(const char *path, struct slice text, json_t **ret, struct error *err)
{
        int code = parse(text, ret, err);

        return code < 0 && code != ERR_NO_MEMORY
               ? error_wrap(err, "unmarshaling values from '%s' failed", path),
               code : code;
}

int values_write(const json_t *values, struct buf *b, struct error *err)
{
        if (json_object_size(values) == 0)
                return 0;
        if (yaml_write_unfolded(values, b) < 0)
                return error_no_memory(err);
        return buf_status(b, err, "values");
}
