/* CEL values: reading them from documents and writing them back, size, access, iteration. */
#include <math.h>
#include <stdarg.h>

#include "common/base/limits.h"
#include "common/base/timefmt.h"
#include "common/json/cel_internal.h"
#include "common/json/quantity.h"

/* --- Errors and cost
 * ----------------------------------------------------------------------------------------- */

int cel_fail(struct cel_run *run, const char *fmt, ...)
{
        char text[512];
        va_list args;
        va_start(args, fmt);
        vsnprintf(text, sizeof(text), fmt, args);
        va_end(args);
        return error_set(run->err, ERR_INVALID, "%s", text);
}

int cel_no_overload(struct cel_run *run)
{
        return cel_fail(run, "no such overload");
}

int cel_no_memory(struct cel_run *run)
{
        if (run->arena.used > CEL_MEMORY_LIMIT / 2)
                return error_set(run->err, ERR_LIMIT,
                                 "operation cancelled: memory limit of %u bytes exceeded", CEL_MEMORY_LIMIT);
        return error_no_memory(run->err);
}

int cel_spend(struct cel_run *run, uint64_t steps)
{
        run->cost += steps;
        if (run->cost <= run->limit)
                return 0;
        return error_set(run->err, ERR_LIMIT, "operation cancelled: actual cost limit exceeded");
}

/* --- Documents
 * ----------------------------------------------------------------------------------------------- */

static int bytes_from_base64(struct cel_run *run, struct slice text, struct cel_value *ret)
{
        char *bytes = arena_alloc(&run->arena, text.len + 1);
        size_t n = 0;
        if (!bytes)
                return cel_no_memory(run);
        if (text_base64_decode(text, bytes, text.len + 1, &n, false) < 0)
                return cel_fail(run, "invalid base64 value");
        *ret = cel_text(CEL_BYTES, bytes, n);
        return 0;
}

static int string_from_json(struct cel_run *run, const json_t *node, const char *format,
                            struct cel_value *ret)
{
        struct slice text = { json_string_value(node), json_string_length(node) };
        if (format && !strcmp(format, "byte"))
                return bytes_from_base64(run, text, ret);
        if (format && !strcmp(format, "date-time"))
                return cel_parse_timestamp(run, text, ret);
        if (format && !strcmp(format, "duration"))
                return cel_parse_duration(run, text, ret);
        if (format && !strcmp(format, "date")) {
                char whole[64];
                int n = snprintf(whole, sizeof(whole), "%.*sT00:00:00Z", (int)MIN(text.len, 32u), text.data);
                return cel_parse_timestamp(run, (struct slice){ whole, (size_t)n }, ret);
        }
        *ret = cel_text(CEL_STRING, text.data, text.len);
        return 0;
}

int cel_from_json(struct cel_run *run, const json_t *node, const struct schema *schema, struct cel_value *ret)
{
        bool typed = schema && !schema->int_or_string;
        switch (json_typeof(node)) {
        case JSON_NULL:
                *ret = (struct cel_value){ .kind = CEL_NULL };
                return 0;
        case JSON_TRUE:
        case JSON_FALSE:
                *ret = cel_bool(json_is_true(node));
                return 0;
        case JSON_INTEGER:
                *ret = cel_int(json_integer_value(node));
                if (typed && schema->type == SCHEMA_NUMBER)
                        *ret = cel_double((double)json_integer_value(node));
                return 0;
        case JSON_REAL:
                *ret = cel_double(json_real_value(node));
                if (typed && schema->type == SCHEMA_INTEGER && fabs(json_real_value(node)) < 0x1p63)
                        *ret = cel_int((int64_t)json_real_value(node));
                return 0;
        case JSON_STRING:
                return string_from_json(run, node,
                                        typed && schema->type == SCHEMA_STRING ? schema->format : NULL, ret);
        case JSON_ARRAY:
        case JSON_OBJECT:
                *ret = (struct cel_value){ .kind = json_is_array(node) ? CEL_LIST : CEL_MAP, .is_doc = true };
                ret->doc.node = node;
                ret->doc.schema = schema;
                return 0;
        }
        UNREACHABLE();
}

static int list_to_json(struct cel_run *run, const struct cel_value *v, json_t **ret)
{
        AUTO_JSON json_t *array = json_array();
        for (size_t i = 0; array && i < v->list.n; i++) {
                json_t *item = NULL;
                TRY(cel_to_json(run, &v->list.items[i], &item));
                if (json_array_append_new(array, item) < 0)
                        return cel_no_memory(run);
        }
        if (!array)
                return cel_no_memory(run);
        *ret = TAKE_PTR(array);
        return 0;
}

static int map_to_json(struct cel_run *run, const struct cel_value *v, json_t **ret)
{
        AUTO_JSON json_t *object = json_object();
        for (size_t i = 0; object && i < v->map.n; i++) {
                json_t *item = NULL;
                struct cel_value key = { 0 };
                TRY(cel_to_string(run, &v->map.entries[i].key, &key));
                TRY(cel_to_json(run, &v->map.entries[i].value, &item));
                if (json_object_setn_new(object, key.text.data, key.text.len, item) < 0)
                        return cel_no_memory(run);
        }
        if (!object)
                return cel_no_memory(run);
        *ret = TAKE_PTR(object);
        return 0;
}

static int bytes_to_json(struct cel_run *run, struct slice bytes, json_t **ret)
{
        char *text = arena_alloc(&run->arena, text_base64_size(bytes.len));
        if (!text)
                return cel_no_memory(run);
        text_base64_encode(bytes.data, bytes.len, text);
        *ret = json_string(text);
        return 0;
}

int cel_to_json(struct cel_run *run, const struct cel_value *v, json_t **ret)
{
        struct cel_value text = { 0 };
        json_t *made = NULL;
        switch (v->kind) {
        case CEL_NULL:
                made = json_null();
                break;
        case CEL_BOOL:
                made = json_boolean(v->boolean);
                break;
        case CEL_INT:
                made = json_integer(v->integer);
                break;
        case CEL_UINT:
                made = v->uinteger <= INT64_MAX ? json_integer((int64_t)v->uinteger)
                                                : json_real((double)v->uinteger);
                break;
        case CEL_DOUBLE:
                if (!isfinite(v->real))
                        return cel_fail(run, "a number that is not finite has no JSON form");
                made = json_real(v->real);
                break;
        case CEL_BYTES:
                TRY(bytes_to_json(run, v->text, &made));
                break;
        case CEL_LIST:
        case CEL_MAP:
                if (!v->is_doc)
                        return v->kind == CEL_LIST ? list_to_json(run, v, ret) : map_to_json(run, v, ret);
                made = doc_copy(v->doc.node);
                break;
        case CEL_OPTIONAL:
                if (v->inner)
                        return cel_to_json(run, v->inner, ret);
                made = json_null();
                break;
        default:
                TRY(cel_to_string(run, v, &text));
                made = json_stringn(text.text.data, text.text.len);
        }
        if (!made)
                return cel_no_memory(run);
        *ret = made;
        return 0;
}

const char *cel_kind_name(const struct cel_value *v)
{
        static const char *const names[] = {
                [CEL_NULL] = "null_type",
                [CEL_BOOL] = "bool",
                [CEL_INT] = "int",
                [CEL_UINT] = "uint",
                [CEL_DOUBLE] = "double",
                [CEL_STRING] = "string",
                [CEL_BYTES] = "bytes",
                [CEL_LIST] = "list",
                [CEL_MAP] = "map",
                [CEL_TIMESTAMP] = "google.protobuf.Timestamp",
                [CEL_DURATION] = "google.protobuf.Duration",
                [CEL_TYPE] = "type",
                [CEL_OPTIONAL] = "optional_type",
                [CEL_QUANTITY] = "kubernetes.Quantity",
                [CEL_URL] = "kubernetes.URL",
                [CEL_IP] = "net.IP",
                [CEL_CIDR] = "net.CIDR",
                [CEL_FORMAT] = "kubernetes.NamedFormat",
                [CEL_FAILED] = "error",
        };
        return v->kind == CEL_ACCESS ? cel_access_name(v->access) : names[v->kind];
}

/* --- Lists and maps
 * ------------------------------------------------------------------------------------------ */

size_t cel_list_size(const struct cel_value *list)
{
        return list->is_doc ? json_array_size(list->doc.node) : list->list.n;
}

int cel_list_at(struct cel_run *run, const struct cel_value *list, size_t i, struct cel_value *ret)
{
        if (list->is_doc)
                return cel_from_json(run, json_array_get(list->doc.node, i),
                                     list->doc.schema ? list->doc.schema->items : NULL, ret);
        *ret = list->list.items[i];
        return 0;
}

size_t cel_map_size(const struct cel_value *map)
{
        return map->is_doc ? json_object_size(map->doc.node) : map->map.n;
}

static int document_field(struct cel_run *run, const struct cel_value *map, const char *name, bool *ret_found,
                          struct cel_value *ret)
{
        const json_t *value = json_object_get(map->doc.node, name);
        *ret_found = value;
        return value ? cel_from_json(run, value, schema_property(map->doc.schema, name), ret) : 0;
}

int cel_map_get(struct cel_run *run, const struct cel_value *map, const struct cel_value *key,
                bool *ret_found, struct cel_value *ret)
{
        *ret_found = false;
        if (map->is_doc) {
                if (key->kind != CEL_STRING || memchr(key->text.data, '\0', key->text.len))
                        return 0;
                char *name = arena_strndup(&run->arena, key->text.data, key->text.len);
                return name ? document_field(run, map, name, ret_found, ret) : cel_no_memory(run);
        }
        TRY(cel_spend(run, map->map.n / 8));
        for (size_t i = 0; i < map->map.n && !*ret_found; i++) {
                TRY(cel_equal(run, &map->map.entries[i].key, key, ret_found));
                if (*ret_found)
                        *ret = map->map.entries[i].value;
        }
        if (*ret_found && ret->kind == CEL_FAILED)
                return cel_fail(run, "%.*s", (int)ret->text.len, ret->text.data);
        return 0;
}

int cel_map_field(struct cel_run *run, const struct cel_value *map, const char *name, const char *plain_name,
                  bool *ret_found, struct cel_value *ret)
{
        struct cel_value key = cel_text(CEL_STRING, name, strlen(name));
        if (!map->is_doc)
                return cel_map_get(run, map, &key, ret_found, ret);
        TRY(document_field(run, map, name, ret_found, ret));
        return *ret_found || !plain_name ? 0 : document_field(run, map, plain_name, ret_found, ret);
}

int cel_iterator_init(struct cel_run *run, struct cel_iterator *it, const struct cel_value *over)
{
        if (over->kind != CEL_LIST && over->kind != CEL_MAP)
                return cel_no_overload(run);
        *it = (struct cel_iterator){ .over = over };
        it->n = over->kind == CEL_LIST ? cel_list_size(over) : cel_map_size(over);
        if (over->kind == CEL_MAP && over->is_doc)
                it->at = json_object_iter((json_t *)over->doc.node);
        return 0;
}

int cel_iterator_next(struct cel_run *run, struct cel_iterator *it, struct cel_value *key,
                      struct cel_value *value)
{
        const struct cel_value *over = it->over;
        if (it->i == it->n)
                return 0;
        size_t i = it->i++;
        if (over->kind == CEL_LIST) {
                *key = cel_int((int64_t)i);
                TRY(cel_list_at(run, over, i, value));
        } else if (over->is_doc) {
                const char *name = json_object_iter_key(it->at);
                *key = cel_text(CEL_STRING, name, strlen(name));
                TRY(cel_from_json(run, json_object_iter_value(it->at),
                                  schema_property(over->doc.schema, name), value));
                it->at = json_object_iter_next((json_t *)over->doc.node, it->at);
        } else {
                *key = over->map.entries[i].key;
                *value = over->map.entries[i].value;
        }
        return 1;
}

int cel_make_optional(struct cel_run *run, const struct cel_value *inner, struct cel_value *ret)
{
        struct cel_value *copy = NULL;
        if (inner && !(copy = arena_memdup(&run->arena, inner, sizeof(*inner))))
                return cel_no_memory(run);
        *ret = (struct cel_value){ .kind = CEL_OPTIONAL, .inner = copy };
        return 0;
}
