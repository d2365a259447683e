#include "member-agent/object-set/assertion.h"

#include "common/base/limits.h"

bool assertion_outdated(const json_t *status_or_condition, const json_t *live)
{
        const json_t *observed = json_object_get(status_or_condition, "observedGeneration");

        return json_is_integer(observed) &&
               json_integer_value(observed) != doc_get_int(live, "metadata.generation", 0);
}

/* ---- conditions ---- */

/* The condition of that type. NULL with *ret_malformed where something in front of it is no condition. */
static const json_t *find_condition(const json_t *list, const char *type, bool *ret_malformed)
{
        *ret_malformed = !json_is_array(list);
        for (size_t i = 0; i < json_array_size(list); i++) {
                const json_t *c = json_array_get(list, i);

                if (!json_is_object(c)) {
                        *ret_malformed = true;
                        return NULL;
                }
                if (text_equal(doc_get_string(c, "type"), type))
                        return c;
        }
        return NULL;
}

enum verdict assert_condition_equal(const json_t *live, const char *type, const char *status,
                                    struct buf *words)
{
        const json_t *list = doc_get(live, "status.conditions"), *c;
        const char *found;
        bool malformed;

        if (!list) {
                buf_append_str(words, "missing .status.conditions");
                return VERDICT_UNKNOWN;
        }
        c = find_condition(list, type, &malformed);
        if (malformed)
                buf_append_str(words, "malformed .status.conditions");
        else if (!c)
                buf_printf(words, "missing .status.condition[\"%s\"]", type);
        else if (assertion_outdated(c, live))
                buf_printf(words, ".status.condition[\"%s\"] outdated", type);
        if (words->len)
                return VERDICT_UNKNOWN;
        found = or_empty(doc_get_string(c, "status"));
        buf_printf(words, ".status.condition[\"%s\"] is %s", type, found);
        return text_equal(found, status) ? VERDICT_TRUE : VERDICT_FALSE;
}

/* ---- fields ---- */

/* The value at a path; NULL if there is none. *ret_stuck: how much of the path leads to what is no object. */
static const json_t *value_at(const json_t *doc, const char *path, size_t *ret_stuck)
{
        struct slice rest = slice_of(path), key;
        bool more = true;

        *ret_stuck = 0;
        while (doc && more) {
                if (json_is_null(doc))
                        return NULL;
                if (!json_is_object(doc)) {
                        *ret_stuck = (size_t)(rest.data - path) - 1;
                        return NULL;
                }
                more = slice_cut(&rest, '.', &key);
                doc = json_object_getn(doc, key.data, key.len);
        }
        return doc;
}

static void print_json(const json_t *value, struct buf *words)
{
        doc_write_canonical(value, words);
}

enum verdict assert_fields_equal(const json_t *live, const char *a, const char *b, struct buf *words)
{
        size_t stuck;
        const json_t *first = value_at(live, a, &stuck), *second = value_at(live, b, &stuck);

        if (!first || !second) {
                buf_printf(words, "\"%s\" missing", first ? b : a);
                return VERDICT_FALSE;
        }
        if (doc_equal(first, second)) {
                buf_printf(words, "\"%s\" == \"%s\"", a, b);
                return VERDICT_TRUE;
        }
        buf_printf(words, "\"%s\" != \"%s\" expected: ", a, b);
        print_json(first, words);
        buf_append_str(words, " got: ");
        print_json(second, words);
        return VERDICT_FALSE;
}

/* Texts are equal, and numbers and booleans whose JSON is the text. */
static bool is_value(const json_t *found, const char *value)
{
        struct buf json AUTO_BUF;

        buf_init(&json, LIMIT_OBJECT_BYTES);
        if (json_is_string(found))
                return text_equal(json_string_value(found), value) &&
                       strlen(value) == json_string_length(found);
        if (!json_is_number(found) && !json_is_boolean(found))
                return false;
        print_json(found, &json);
        return text_equal(json.data, value);
}

enum verdict assert_field_value(const json_t *live, const char *path, const char *value, struct buf *words)
{
        size_t stuck;
        const json_t *found = value_at(live, path, &stuck);

        if (stuck) {
                buf_printf(words, "error locating key \"%s\"; \"%.*s\" is not an object", path, (int)stuck,
                           path);
                return VERDICT_FALSE;
        }
        if (!found) {
                buf_printf(words, "missing key: \"%s\"", path);
                return VERDICT_FALSE;
        }
        if (is_value(found, value)) {
                buf_printf(words, "value at key \"%s\" == \"%s\"", path, value);
                return VERDICT_TRUE;
        }
        buf_printf(words, "value at key \"%s\" != \"%s\"; expected: \"%s\" got: ", path, value, value);
        print_json(found, words);
        return VERDICT_FALSE;
}
