/* Values: taking them over from documents, lists and maps, truth, equality and types. */
#include "common/template/value.h"

#include <math.h>

#include "common/base/limits.h"
#include "common/template/run.h"

/* ---- types ---- */

const char *value_type_name(const struct value *v)
{
        static const char *const names[] = {
                [VALUE_NONE] = "<nil>",
                [VALUE_BOOL] = "bool",
                [VALUE_INT] = "int",
                [VALUE_INT64] = "int64",
                [VALUE_UINT8] = "uint8",
                [VALUE_FLOAT64] = "float64",
                [VALUE_STRING] = "string",
                [VALUE_LIST] = "[]interface {}",
                [VALUE_STRINGS] = "[]string",
                [VALUE_INTS] = "[]int",
                [VALUE_LISTS] = "[][]interface {}",
                [VALUE_MAP] = "map[string]interface {}",
                [VALUE_STRING_MAP] = "map[string]string",
        };
        return names[v->type];
}

const char *value_static_name(const struct value *v)
{
        return v->boxed ? "interface {}" : value_type_name(v);
}

const char *value_kind_name(const struct value *v)
{
        if (v->type == VALUE_NONE)
                return "invalid";
        return value_is_list(v) ? "slice" : value_is_map(v) ? "map" : value_type_name(v);
}

/* ---- documents ---- */

static int sequence_of_doc(struct run *run, const json_t *doc, struct value *ret)
{
        TRY(run_alloc(run, 1, sizeof(struct sequence), &ret->list));
        ret->type = VALUE_LIST;
        ret->list->source = doc;
        return 0;
}

static int dict_of_doc(struct run *run, const json_t *doc, struct value *ret)
{
        TRY(run_alloc(run, 1, sizeof(struct dict), &ret->map));
        ret->type = VALUE_MAP;
        ret->map->source = doc;
        return 0;
}

int value_of_doc(struct run *run, const json_t *doc, struct value *ret)
{
        *ret = (struct value){ VALUE_NONE, .boxed = true };
        switch (doc ? json_typeof(doc) : JSON_NULL) {
        case JSON_OBJECT:
                return dict_of_doc(run, doc, ret);
        case JSON_ARRAY:
                return sequence_of_doc(run, doc, ret);
        case JSON_STRING:
                ret->type = VALUE_STRING;
                ret->string = (struct slice){ json_string_value(doc), json_string_length(doc) };
                break;
        case JSON_INTEGER:
                ret->type = VALUE_INT64;
                ret->integer = json_integer_value(doc);
                break;
        case JSON_REAL:
                ret->type = VALUE_FLOAT64;
                ret->real = json_real_value(doc);
                break;
        case JSON_TRUE:
        case JSON_FALSE:
                ret->type = VALUE_BOOL;
                ret->truth = json_is_true(doc);
                break;
        case JSON_NULL:
                break;
        }
        return 0;
}

int list_load(struct run *run, struct sequence *list)
{
        const json_t *source = list->source;
        if (!source)
                return 0;
        size_t n = json_array_size(source);
        TRY(run_spend_bytes(run, n * sizeof(struct value)));
        TRY(run_alloc(run, n, sizeof(*list->at), &list->at));
        for (size_t i = 0; i < n; i++)
                TRY(value_of_doc(run, json_array_get(source, i), &list->at[i]));
        list->n = n;
        list->source = NULL;
        return 0;
}

static int compare_members(const void *a, const void *b)
{
        return slice_compare(((const struct dict_member *)a)->key, ((const struct dict_member *)b)->key);
}

int dict_load(struct run *run, struct dict *dict)
{
        json_t *source = (json_t *)dict->source, *value;
        const char *key;
        size_t len, n = 0;
        if (!source)
                return 0;
        TRY(run_spend_bytes(run, json_object_size(source) * sizeof(struct dict_member)));
        TRY(run_alloc(run, json_object_size(source), sizeof(*dict->at), &dict->at));
        json_object_keylen_foreach(source, key, len, value)
        {
                dict->at[n].key = (struct slice){ key, len };
                TRY(value_of_doc(run, value, &dict->at[n++].value));
        }
        if (n)
                qsort(dict->at, n, sizeof(*dict->at), compare_members);
        dict->n = dict->cap = n;
        dict->source = NULL;
        return 0;
}

size_t list_length(const struct sequence *list)
{
        return list->source ? json_array_size(list->source) : list->n;
}

size_t dict_length(const struct dict *dict)
{
        return dict->source ? json_object_size(dict->source) : dict->n;
}

static int member_to_doc(struct run *run, const struct dict_member *m, json_t *to)
{
        json_t *value = NULL;
        TRY(value_to_doc(run, &m->value, &value));
        return json_object_setn_new_nocheck(to, m->key.data, m->key.len, value) < 0 ? run_no_memory(run) : 0;
}

static int fill_doc(struct run *run, const struct value *v, json_t *to)
{
        if (value_is_map(v)) {
                TRY(dict_load(run, v->map));
                for (size_t i = 0; i < v->map->n; i++)
                        TRY(member_to_doc(run, &v->map->at[i], to));
                return 0;
        }
        TRY(list_load(run, v->list));
        for (size_t i = 0; i < v->list->n; i++) {
                json_t *item = NULL;
                TRY(value_to_doc(run, &v->list->at[i], &item));
                if (json_array_append_new(to, item) < 0)
                        return run_no_memory(run);
        }
        return 0;
}

static json_t *scalar_doc(const struct value *v)
{
        switch (v->type) {
        case VALUE_BOOL:
                return json_boolean(v->truth);
        case VALUE_INT:
        case VALUE_INT64:
        case VALUE_UINT8:
                return json_integer(v->integer);
        case VALUE_FLOAT64:
                return json_real(v->real);
        case VALUE_STRING:
                return json_stringn_nocheck(v->string.data, v->string.len);
        default:
                return json_null();
        }
}

int value_to_doc(struct run *run, const struct value *v, json_t **ret)
{
        bool container = !value_is_nil(v) && (value_is_list(v) || value_is_map(v));
        TRY(run_spend(run, 1));
        if (v->type == VALUE_FLOAT64 && !isfinite(v->real))
                return call_fail(run, "json: unsupported value: %s",
                                 isnan(v->real) ? "NaN"
                                 : v->real < 0  ? "-Inf"
                                                : "+Inf");
        AUTO_JSON json_t *doc = !container ? scalar_doc(v) : value_is_list(v) ? json_array() : json_object();
        if (!doc)
                return run_no_memory(run);
        if (container && ++run->nesting > LIMIT_JSON_DEPTH + LIMIT_TEMPLATE_NESTING)
                return run_limit(run, "value nested deeper than %d levels", LIMIT_JSON_DEPTH);
        if (container)
                TRY(fill_doc(run, v, doc));
        run->nesting -= container;
        *ret = TAKE_PTR(doc);
        return 0;
}

/* ---- maps ---- */

static size_t place_of(const struct dict *dict, struct slice key, bool *ret_found)
{
        size_t low = 0, high = dict->n;
        while (low < high) {
                size_t middle = (low + high) / 2;
                if (slice_compare(dict->at[middle].key, key) < 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        *ret_found = low < dict->n && slice_equal(dict->at[low].key, key);
        return low;
}

int dict_find(struct run *run, struct dict *dict, struct slice key, struct value **ret)
{
        bool found;
        TRY(dict_load(run, dict));
        size_t at = place_of(dict, key, &found);
        *ret = found ? &dict->at[at].value : NULL;
        return 0;
}

static int make_room(struct run *run, struct dict *dict)
{
        struct dict_member *larger;
        if (dict->n < dict->cap)
                return 0;
        size_t cap = dict->cap ? 2 * dict->cap : 8;
        TRY(run_alloc(run, cap, sizeof(*larger), &larger));
        if (dict->n)
                memcpy(larger, dict->at, dict->n * sizeof(*larger));
        dict->at = larger;
        dict->cap = cap;
        return 0;
}

int dict_set(struct run *run, struct dict *dict, struct slice key, struct value value)
{
        bool found;
        TRY(dict_load(run, dict));
        size_t at = place_of(dict, key, &found);
        if (!found) {
                size_t behind = (dict->n - at) * sizeof(*dict->at);
                TRY(run_spend_bytes(run, behind));
                TRY(make_room(run, dict));
                memmove(&dict->at[at + 1], &dict->at[at], behind);
                dict->n++;
        }
        dict->at[at] = (struct dict_member){ key, value };
        return 0;
}

int dict_remove(struct run *run, struct dict *dict, struct slice key)
{
        bool found;
        TRY(dict_load(run, dict));
        size_t at = place_of(dict, key, &found);
        if (!found)
                return 0;
        size_t behind = (dict->n - at - 1) * sizeof(*dict->at);
        TRY(run_spend_bytes(run, behind));
        memmove(&dict->at[at], &dict->at[at + 1], behind);
        dict->n--;
        return 0;
}

/* ---- truth and equality ---- */

bool value_truth(const struct value *v)
{
        switch (v->type) {
        case VALUE_BOOL:
                return v->truth;
        case VALUE_INT:
        case VALUE_INT64:
        case VALUE_UINT8:
                return v->integer != 0;
        case VALUE_FLOAT64:
                return v->real != 0;
        case VALUE_STRING:
                return v->string.len != 0;
        case VALUE_LIST:
        case VALUE_STRINGS:
        case VALUE_LISTS:
        case VALUE_INTS:
                return list_length(v->list) != 0;
        case VALUE_MAP:
        case VALUE_STRING_MAP:
                return dict_length(v->map) != 0;
        default:
                return false;
        }
}

static int lists_equal(struct run *run, struct sequence *a, struct sequence *b)
{
        TRY(list_load(run, a));
        TRY(list_load(run, b));
        if (a->n != b->n)
                return 0;
        for (size_t i = 0; i < a->n; i++) {
                int equal = value_equal(run, &a->at[i], &b->at[i]);
                if (equal != 1)
                        return equal;
        }
        return 1;
}

static int dicts_equal(struct run *run, struct dict *a, struct dict *b)
{
        TRY(dict_load(run, a));
        TRY(dict_load(run, b));
        if (a->n != b->n)
                return 0;
        for (size_t i = 0; i < a->n; i++) {
                if (!slice_equal(a->at[i].key, b->at[i].key))
                        return 0;
                int equal = value_equal(run, &a->at[i].value, &b->at[i].value);
                if (equal != 1)
                        return equal;
        }
        return 1;
}

static int containers_equal(struct run *run, const struct value *a, const struct value *b)
{
        if (a->list == b->list)
                return 1;
        if (value_is_nil(a) != value_is_nil(b))
                return 0;
        if (run->nesting >= LIMIT_TEMPLATE_CALLS)
                return run_limit(run, "value nested too deeply to be compared");
        run->nesting++;
        int equal = value_is_list(a) ? lists_equal(run, a->list, b->list) : dicts_equal(run, a->map, b->map);
        run->nesting--;
        return equal;
}

int value_equal(struct run *run, const struct value *a, const struct value *b)
{
        TRY(run_spend(run, 1));
        if (value_is_integer(a) && value_is_integer(b))
                return a->integer == b->integer;
        if (a->type != b->type)
                return 0;
        switch (a->type) {
        case VALUE_NONE:
                return 1;
        case VALUE_BOOL:
                return a->truth == b->truth;
        case VALUE_FLOAT64:
                return a->real == b->real;
        case VALUE_STRING:
                return slice_equal(a->string, b->string);
        default:
                return containers_equal(run, a, b);
        }
}
