#include "e2e/charts/chart_cases.h"

#include "common/base/memory.h"

/* One step of a path: a key, an index of a list, or "name=x" for the element of a list with that name. */
static const json_t *step_into(const json_t *at, struct slice step)
{
        AUTO_FREE char *key = mem_must(mem_strndup(step.data, step.len));
        const json_t *element;
        int64_t index;
        size_t i;

        if (!json_is_array(at))
                return json_object_get(at, key);
        if (slice_parse_i64(step, &index))
                return json_array_get(at, (size_t)index);
        json_array_foreach((json_t *)at, i, element)
                if (text_starts_with(key, "name=") && text_equal(doc_get_string(element, "name"), key + 5))
                        return element;
        return NULL;
}

static const json_t *look_up(const json_t *at, const char *path)
{
        struct slice rest = slice_of(path), step;

        while (at && rest.len > 0) {
                slice_cut(&rest, '.', &step);
                at = step_into(at, step);
        }
        return at;
}

/* Lists: one element equals `part`, or each element of `part` is there; objects: every member of `part` is
 * there and holds it; texts: `part` is in it; else equality. */
static bool holds(const json_t *whole, const json_t *part)
{
        const char *key;
        json_t *value;
        size_t i;

        if (json_is_array(whole) && !json_is_array(part)) {
                json_array_foreach((json_t *)whole, i, value)
                        if (json_is_object(part) ? holds(value, part) : doc_equal(value, part))
                                return true;
                return false;
        }
        if (json_is_array(whole)) {
                json_array_foreach((json_t *)part, i, value)
                        if (!holds(whole, value))
                                return false;
                return true;
        }
        if (json_is_object(whole) && json_is_object(part)) {
                json_object_foreach((json_t *)part, key, value)
                        if (!holds(json_object_get(whole, key), value))
                                return false;
                return true;
        }
        if (json_is_string(whole) && json_is_string(part))
                return strstr(json_string_value(whole), json_string_value(part)) != NULL;
        return whole && doc_equal(whole, part);
}

static void tell(struct buf *problems, const char *what, const char *path, const json_t *is)
{
        AUTO_BUF struct buf text;

        buf_init(&text, 1u << 20);
        if (is)
                (void)doc_write(is, &text);
        buf_printf(problems, "%s %s: is %.600s\n", what, path, is ? text.data : "absent");
}

static void check_one(const json_t *expectation, const json_t *objects, struct buf *problems)
{
        const char *in = doc_get_string(expectation, "in"), *path = doc_get_string(expectation, "at");
        const json_t *object = rendered_find(objects, in ? in : "");
        const json_t *at = look_up(object, path ? path : "");
        const json_t *is = json_object_get(expectation, "is"), *has = json_object_get(expectation, "has");
        const json_t *lacks = json_object_get(expectation, "lacks"), *value;
        size_t i;

        if (!in || (!is && !has && !lacks)) {
                tell(problems, "the case is wrong:", "an expectation needs in, and is, has or lacks",
                     expectation);
                return;
        }
        path = path ? path : "";
        if (!object)
                buf_printf(problems, "there is no %s\n", in);
        else if (is && (json_is_null(is) ? at != NULL : !at || !doc_equal(at, is)))
                tell(problems, in, path, at);
        else if (has && !holds(at, has))
                tell(problems, in, path, at);
        json_array_foreach((json_t *)lacks, i, value)
                if (holds(at, value))
                        tell(problems, in, path, at);
}

static void check_objects(const json_t *wanted, const json_t *objects, struct buf *problems)
{
        size_t i, n = 0;
        const json_t *o;

        json_array_foreach((json_t *)wanted, i, o)
                if (!rendered_find(objects, json_string_value(o)))
                        buf_printf(problems, "there is no %s\n", json_string_value(o));
        json_array_foreach((json_t *)objects, i, o)
                n += !text_equal(doc_get_string(o, "kind"), "CustomResourceDefinition");
        if (n == json_array_size(wanted))
                return;
        buf_printf(problems, "%zu objects instead of %zu:", n, json_array_size(wanted));
        json_array_foreach((json_t *)objects, i, o)
                if (!text_equal(doc_get_string(o, "kind"), "CustomResourceDefinition"))
                        buf_printf(problems, " %s/%s", doc_get_string(o, "kind"),
                                   doc_get_string(o, "metadata.name"));
        buf_append_char(problems, '\n');
}

void case_expect(const json_t *one, const json_t *objects, struct buf *problems)
{
        const json_t *wanted = json_object_get(one, "objects"), *expectation;
        size_t i;

        if (wanted)
                check_objects(wanted, objects, problems);
        json_array_foreach(json_object_get(one, "expect"), i, expectation)
                check_one(expectation, objects, problems);
}
