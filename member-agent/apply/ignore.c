#include "member-agent/apply/ignore.h"

#include "common/base/map.h"
#include "member-agent/apply/clean.h"
#include "proto/names.h"

/* ---- reading ---- */

static int refuse(struct slice pointer, const char *why, struct error *err)
{
        return error_set(err, ERR_INVALID, "annotation %s: \"%.*s\" %s", ANNOTATION_IGNORE_DIFFERENCES,
                         (int)MIN(pointer.len, (size_t)200), pointer.data, why);
}

/* "a~1b" -> "a/b"; NULL on no memory. */
static const char *unescape(struct slice step, struct arena *arena)
{
        char *text = arena_strndup(arena, step.data, step.len), *to = text;

        for (const char *from = text; from && *from; from++) {
                bool escaped = from[0] == '~' && (from[1] == '0' || from[1] == '1');

                *to++ = !escaped ? *from : from[1] == '0' ? '~' : '/';
                from += escaped;
        }
        if (to)
                *to = '\0';
        return text;
}

static bool is_any(const char *step)
{
        return text_equal(step, "*");
}

/* A label or annotation by its name; those of the fleet are how it knows the object. */
static bool may_ignore_metadata(const struct ignore_rule *r)
{
        return r->n == 3 && (text_equal(r->steps[1], "labels") || text_equal(r->steps[1], "annotations")) &&
               !is_any(r->steps[2]) && !text_starts_with(r->steps[2], FLEET_PREFIX);
}

static int check(const struct ignore_rule *r, struct slice pointer, struct error *err)
{
        static const char *const identity[] = { "apiVersion", "kind", "status", "*" };

        if (text_in(r->steps[0], identity, ARRAY_LEN(identity)))
                return refuse(pointer, "cannot be ignored", err);
        if (text_equal(r->steps[0], "metadata") && !may_ignore_metadata(r))
                return refuse(pointer, "cannot be ignored: of metadata it may be one label or annotation",
                              err);
        return 0;
}

static int read_rule(struct slice pointer, struct arena *arena, struct ignore_rule *ret, struct error *err)
{
        struct slice rest = pointer, step;
        size_t n = 0;

        if (!slice_starts_with(pointer, "/"))
                return refuse(pointer, "is no path: it does not begin with \"/\"", err);
        for (size_t i = 0; i < pointer.len; i++)
                n += pointer.data[i] == '/';
        *ret = (struct ignore_rule){ .steps = arena_calloc(arena, n, sizeof(char *)) };
        if (!ret->steps)
                return error_no_memory(err);
        for (slice_cut(&rest, '/', &step); ret->n < n; ret->n++) {
                slice_cut(&rest, '/', &step);
                if (step.len == 0)
                        return refuse(pointer, "is no path: it has an empty step", err);
                if (!(ret->steps[ret->n] = unescape(step, arena)))
                        return error_no_memory(err);
        }
        return check(ret, pointer, err);
}

static struct slice next_pointer(const char **text)
{
        const char *begin = *text + strspn(*text, " \t\r\n,");

        *text = begin + strcspn(begin, " \t\r\n,");
        return (struct slice){ begin, (size_t)(*text - begin) };
}

int ignore_rules_read(const json_t *manifest, struct arena *arena, struct ignore_rules *ret,
                      struct error *err)
{
        const char *text = clean_annotation(manifest, ANNOTATION_IGNORE_DIFFERENCES), *rest = text;

        *ret = (struct ignore_rules){ 0 };
        if (text_empty(text))
                return 0;
        ret->number = (uint32_t)hash_bytes(text, strlen(text), 0) | 1;
        ret->at = ARENA_NEW_ARRAY(arena, struct ignore_rule, IGNORE_RULES_MAX);
        if (!ret->at)
                return error_no_memory(err);
        for (struct slice one = next_pointer(&rest); one.len; one = next_pointer(&rest)) {
                if (ret->n == IGNORE_RULES_MAX)
                        return error_set(err, ERR_INVALID, "annotation %s has more than %d paths",
                                         ANNOTATION_IGNORE_DIFFERENCES, IGNORE_RULES_MAX);
                TRY(read_rule(one, arena, &ret->at[ret->n++], err));
        }
        return 0;
}

/* ---- applying ---- */

/* What is left of a rule. */
struct path {
        const char **steps;
        size_t n;
};

static struct path below(struct path p)
{
        return (struct path){ p.steps + 1, p.n - 1 };
}

static int take(json_t *doc, const json_t *live, struct path p);

static size_t find_named(const json_t *list, const char *name)
{
        size_t i;
        json_t *element;

        json_array_foreach(list, i, element)
                if (name && text_equal(json_string_value(json_object_get(element, "name")), name))
                        break;
        return i;
}

/* Whether a step names elements of a list that a manifest without that list leaves out: by name, or all. */
static bool leads_into(const json_t *list, const char *step)
{
        uint64_t index;

        if (is_any(step))
                return json_array_size(list) > 0;
        return !text_parse_u64(step, &index) && find_named(list, step) < json_array_size(list);
}

/* Whether the path leads to something: through objects, and at last to elements of a list. */
static bool leads(const json_t *v, struct path p)
{
        const char *key;
        json_t *child;

        if (p.n == 0 || !v)
                return v != NULL;
        if (json_is_array(v))
                return p.n == 1 && leads_into(v, p.steps[0]);
        if (!is_any(p.steps[0]))
                return leads(json_object_get(v, p.steps[0]), below(p));
        json_object_foreach((json_t *)(uintptr_t)v, key, child)
                if (leads(child, below(p)))
                        return true;
        return false;
}

static size_t size_of(const json_t *v)
{
        return json_is_array(v) ? json_array_size(v) : json_object_size(v);
}

/* The member `key`, which the first step names. */
static int take_member(json_t *doc, const json_t *live, const char *key, struct path p)
{
        const json_t *theirs = json_object_get(live, key);
        json_t *ours = json_object_get(doc, key);
        bool had = size_of(ours) > 0;

        if (p.n == 1 && theirs)
                return json_object_set_new(doc, key, doc_copy(theirs));
        if (p.n == 1)
                return ours ? json_object_del(doc, key) : 0;
        if (!ours && leads(theirs, below(p))) {
                if (json_object_set_new(doc, key, json_is_array(theirs) ? json_array() : json_object()) < 0)
                        return -1;
                ours = json_object_get(doc, key);
        }
        if (!ours)
                return 0;
        if (take(ours, theirs, below(p)) < 0)
                return -1;
        /* The member has nothing there once the last of it was taken away. */
        return !theirs && had && size_of(ours) == 0 ? json_object_del(doc, key) : 0;
}

static int take_members(json_t *doc, const json_t *live, struct path p)
{
        const char *key;
        json_t *value;
        void *next;

        if (!is_any(p.steps[0]))
                return take_member(doc, live, p.steps[0], p);
        json_object_foreach((json_t *)(uintptr_t)live, key, value)
                if (take_member(doc, live, key, p) < 0)
                        return -1;
        json_object_foreach_safe(doc, next, key, value)
                if (!json_object_get(live, key) && take_member(doc, live, key, p) < 0)
                        return -1;
        return 0;
}

/* Where the elements that have a name are, from 1; of equal ones the first. */
static int index_names(const json_t *list, struct map *ret)
{
        size_t i;
        json_t *element;

        map_init(ret, MAP_BORROW_KEYS, NULL);
        json_array_foreach(list, i, element) {
                const char *name = json_string_value(json_object_get(element, "name"));

                if (name && !map_has(ret, name) && map_put(ret, name, (void *)(uintptr_t)(i + 1)) < 0)
                        return -1;
        }
        return 0;
}

/* Where the element of one list is in another, SIZE_MAX if nowhere: that of its name, if it has one. It is
 * the counterpart of no other then, so that all of a list is done in one go. */
static size_t counterpart(const json_t *list, size_t i, struct map *others)
{
        const char *name = json_string_value(json_object_get(json_array_get(list, i), "name"));

        return name ? (size_t)(uintptr_t)map_take(others, name) - 1 : i;
}

/* The element of the cluster goes behind that which it follows there: order is a difference, too. */
static int insert_element(json_t *doc, const json_t *live, size_t theirs)
{
        struct map named CLEANUP(map_free) = MAP_INIT;
        size_t at = 0;

        if (index_names(doc, &named) < 0)
                return -1;
        for (size_t i = theirs; i > 0 && at == 0; i--) {
                const char *name = json_string_value(json_object_get(json_array_get(live, i - 1), "name"));

                at = name ? (size_t)(uintptr_t)map_get(&named, name) : 0;
        }
        return json_array_insert_new(doc, at, doc_copy(json_array_get(live, theirs)));
}

static int take_element(json_t *doc, const json_t *live, size_t i, size_t theirs, struct path p)
{
        const json_t *element = json_array_get(live, theirs);

        if (p.n > 1)
                return element ? take(json_array_get(doc, i), element, below(p)) : 0;
        if (i >= json_array_size(doc))
                return element ? insert_element(doc, live, theirs) : 0;
        return element ? json_array_set_new(doc, i, doc_copy(element)) : json_array_remove(doc, i);
}

static int take_whole_list(json_t *doc, const json_t *live)
{
        AUTO_JSON json_t *copy = live ? doc_copy(live) : json_array();

        return copy && json_array_clear(doc) == 0 ? json_array_extend(doc, copy) : -1;
}

static int take_each_element(json_t *doc, const json_t *live, struct path p)
{
        struct map named CLEANUP(map_free) = MAP_INIT;

        if (index_names(live, &named) < 0)
                return -1;
        for (size_t i = 0; i < json_array_size(doc); i++)
                if (take_element(doc, live, i, counterpart(doc, i, &named), p) < 0)
                        return -1;
        return 0;
}

static int take_elements(json_t *doc, const json_t *live, struct path p)
{
        uint64_t index;

        if (is_any(p.steps[0]) && p.n == 1)
                return take_whole_list(doc, live);
        if (is_any(p.steps[0]))
                return take_each_element(doc, live, p);
        if (text_parse_u64(p.steps[0], &index))
                return index < json_array_size(doc) ? take_element(doc, live, index, index, p) : 0;
        return take_element(doc, live, find_named(doc, p.steps[0]), find_named(live, p.steps[0]), p);
}

/* 0 or -1 for no memory. `live` NULL: it has nothing there. */
static int take(json_t *doc, const json_t *live, struct path p)
{
        if (json_is_object(doc) && (!live || json_is_object(live)))
                return take_members(doc, live, p);
        return json_is_array(doc) && (!live || json_is_array(live)) ? take_elements(doc, live, p) : 0;
}

int ignore_rules_apply(const struct ignore_rules *rules, json_t *doc, const json_t *live, struct error *err)
{
        for (size_t i = 0; live && i < rules->n; i++)
                if (take(doc, live, (struct path){ rules->at[i].steps, rules->at[i].n }) < 0)
                        return error_no_memory(err);
        return 0;
}
