/* Validation of a document against a schema: types, bounds, enums and the junctors. The order of checks, the
 * paths and the words are those of kube-apiserver's OpenAPI validator. */
#include <math.h>

#include "common/json/regex.h"
#include "common/json/schema_internal.h"

static const char *path_of(struct validation *v, const struct schema_path *at)
{
        return schema_path_text(v->problems->arena, at, true);
}

/* "PATH in body WORDS" as the detail of an invalid value. */
static int in_body(struct validation *v, const char *reason, const struct schema_path *at, const json_t *bad,
                   const char *words)
{
        const char *path = path_of(v, at);
        if (!path || !words)
                return error_no_memory(v->err);
        return schema_problem_invalid(v, reason, path, bad,
                                      arena_printf(v->problems->arena, "%s in body %s", path, words));
}

/* "must be of type WANTED: GOT", where the value shown is GOT too. */
static int wrong_type(struct validation *v, const struct schema_path *at, const char *wanted, const char *got)
{
        struct arena *arena = v->problems->arena;
        const char *path = path_of(v, at), *quoted = schema_quote(arena, got);
        if (!path || !quoted)
                return error_no_memory(v->err);
        return schema_problem_add(v, REASON_TYPE, path,
                                  arena_printf(arena, "Invalid value: %s: %s in body must be of type %s: %s",
                                               quoted, path, wanted, quoted));
}

/* A problem the original reports without a field. */
static int nameless(struct validation *v, const char *text)
{
        if (!text)
                return error_no_memory(v->err);
        return schema_problem_add(v, REASON_INVALID, "<nil>",
                                  arena_printf(v->problems->arena, "Invalid value: \"\": %s", text));
}

/* --- Types and formats
 * --------------------------------------------------------------------------------------- */

static bool is_whole(const json_t *doc)
{
        return json_is_integer(doc) ||
               (json_is_real(doc) && json_real_value(doc) == trunc(json_real_value(doc)));
}

static bool type_fits(const struct schema *s, const json_t *doc)
{
        if (s->int_or_string)
                return json_is_string(doc) || is_whole(doc);
        switch (s->type) {
        case SCHEMA_ANY:
                return true;
        case SCHEMA_OBJECT:
                return json_is_object(doc);
        case SCHEMA_ARRAY:
                return json_is_array(doc);
        case SCHEMA_STRING:
                return json_is_string(doc);
        case SCHEMA_INTEGER:
                return is_whole(doc);
        case SCHEMA_NUMBER:
                return json_is_number(doc);
        case SCHEMA_BOOLEAN:
                return json_is_boolean(doc);
        }
        UNREACHABLE();
}

static int check_type(struct validation *v, const struct schema *s, const json_t *doc,
                      const struct schema_path *at)
{
        if (type_fits(s, doc))
                return 0;
        bool plain = json_is_string(doc) || json_is_array(doc) || !s->format || s->int_or_string;
        if (plain)
                return wrong_type(v, at, s->int_or_string ? "integer,string" : schema_type_name(s->type),
                                  schema_value_type(doc));
        /* With a format the original names the formats instead. */
        return wrong_type(v, at, s->format,
                          json_is_integer(doc) ? "int64"
                          : json_is_real(doc)  ? "double"
                                               : "");
}

static int check_null(struct validation *v, const struct schema *s, const struct schema_path *at)
{
        if (s->nullable || (s->type == SCHEMA_ANY && !s->int_or_string))
                return 0;
        return wrong_type(v, at, s->int_or_string ? "integer,string" : schema_type_name(s->type), "null");
}

/* --- Strings
 * ------------------------------------------------------------------------------------------------- */

static int64_t count_characters(const json_t *doc)
{
        const char *s = json_string_value(doc);
        int64_t n = 0;
        for (size_t i = 0; i < json_string_length(doc); i++)
                n += ((unsigned char)s[i] & 0xc0) != 0x80;
        return n;
}

static int check_pattern(struct validation *v, const struct schema *s, const json_t *doc,
                         const struct schema_path *at)
{
        if (!s->pattern_code)
                return 0;
        struct slice text = { json_string_value(doc), json_string_length(doc) };
        int matches = regex_test(s->pattern_code, text);
        if (matches < 0)
                return error_no_memory(v->err);
        if (matches)
                return 0;
        return in_body(v, REASON_INVALID, at, doc,
                       arena_printf(v->problems->arena, "should match '%s'", s->pattern));
}

/* Of length, pattern and format only the first that does not hold is told. */
static int check_string(struct validation *v, const struct schema *s, const json_t *doc,
                        const struct schema_path *at)
{
        struct arena *arena = v->problems->arena;
        size_t before = v->problems->n;
        int64_t length = s->max_length >= 0 || s->min_length >= 0 ? count_characters(doc) : 0;
        if (s->max_length >= 0 && length > s->max_length)
                return schema_problem_add(v, REASON_TOO_LONG, path_of(v, at),
                                          arena_printf(arena, "Too long: may not be more than %lld byte%s",
                                                       (long long)s->max_length,
                                                       s->max_length == 1 ? "" : "s"));
        if (s->min_length >= 0 && length < s->min_length)
                return in_body(
                        v, REASON_INVALID, at, doc,
                        arena_printf(arena, "should be at least %lld chars long", (long long)s->min_length));
        TRY(check_pattern(v, s, doc, at));
        if (v->problems->n > before || s->type != SCHEMA_STRING || !s->format ||
            schema_format_valid(s->format, json_string_value(doc), json_string_length(doc)))
                return 0;
        const char *quoted = schema_value_text(arena, doc);
        if (!quoted)
                return error_no_memory(v->err);
        return in_body(v, REASON_TYPE, at, doc,
                       arena_printf(arena, "must be of type %s: %s", s->format, quoted));
}

/* --- Numbers
 * ------------------------------------------------------------------------------------------------- */

static bool format_holds_number(const struct schema *s, const json_t *doc)
{
        if (!s->format || (s->type != SCHEMA_INTEGER && s->type != SCHEMA_NUMBER))
                return true;
        double d = json_number_value(doc);
        if (!strcmp(s->format, "int32"))
                return d >= INT32_MIN && d <= INT32_MAX;
        if (!strcmp(s->format, "uint32"))
                return d >= 0 && d <= UINT32_MAX;
        if (!strcmp(s->format, "int64"))
                return json_is_integer(doc) || (d >= -0x1p63 && d < 0x1p63);
        if (!strcmp(s->format, "uint64"))
                return d >= 0 && d < 0x1p64;
        if (!strcmp(s->format, "float"))
                return fabs(d) <= (double)__FLT_MAX__;
        return true;
}

static void bound_text(double bound, const json_t *doc, char ret[32])
{
        if (json_is_integer(doc) && fabs(bound) < 0x1p62)
                snprintf(ret, 32, "%lld", (long long)bound);
        else
                schema_number_text(bound, ret);
}

static int check_bound(struct validation *v, const json_t *doc, const struct schema_path *at, double bound,
                       const char *words)
{
        char number[32];
        bound_text(bound, doc, number);
        return in_body(v, REASON_INVALID, at, doc,
                       arena_printf(v->problems->arena, "should be %s %s", words, number));
}

static int check_number(struct validation *v, const struct schema *s, const json_t *doc,
                        const struct schema_path *at)
{
        double d = json_number_value(doc);
        const char *path;
        if (!format_holds_number(s, doc)) {
                if (!(path = path_of(v, at)))
                        return error_no_memory(v->err);
                TRY(nameless(v, arena_printf(v->problems->arena,
                                             "Checked value must be of type %s with format %s in %s",
                                             schema_type_name(s->type), s->format, path)));
        }
        if (s->has_multiple_of && s->multiple_of != 0 && d / s->multiple_of != trunc(d / s->multiple_of))
                TRY(check_bound(v, doc, at, s->multiple_of, "a multiple of"));
        if (s->has_maximum && (s->exclusive_maximum ? d >= s->maximum : d > s->maximum))
                TRY(check_bound(v, doc, at, s->maximum,
                                s->exclusive_maximum ? "less than" : "less than or equal to"));
        if (s->has_minimum && (s->exclusive_minimum ? d <= s->minimum : d < s->minimum))
                TRY(check_bound(v, doc, at, s->minimum,
                                s->exclusive_minimum ? "greater than" : "greater than or equal to"));
        return 0;
}

/* --- Counts, enums
 * ------------------------------------------------------------------------------------------- */

static int check_count(struct validation *v, const struct schema_path *at, size_t count, int64_t least,
                       int64_t most, const char *of_what)
{
        struct arena *arena = v->problems->arena;
        const char *path;
        if (least >= 0 && (int64_t)count < least) {
                if (!(path = path_of(v, at)))
                        return error_no_memory(v->err);
                TRY(schema_problem_add(
                        v, REASON_INVALID, path,
                        arena_printf(arena, "Invalid value: %zu: %s in body should have at least %lld %s",
                                     count, path, (long long)least, of_what)));
        }
        if (most >= 0 && (int64_t)count > most)
                TRY(schema_problem_add(v, REASON_TOO_MANY, path_of(v, at),
                                       arena_printf(arena, "Too many: %zu: must have at most %lld item%s",
                                                    count, (long long)most, most == 1 ? "" : "s")));
        return 0;
}

static int not_supported(struct validation *v, const struct schema *s, const json_t *doc,
                         const struct schema_path *at)
{
        struct arena *arena = v->problems->arena;
        const char *bad = schema_value_text(arena, doc), *choices = "";
        for (size_t i = 0; bad && choices && i < json_array_size(s->enum_values); i++) {
                const json_t *choice = json_array_get(s->enum_values, i);
                const char *text = schema_value_text(arena, choice);
                if (text && !json_is_string(choice))
                        text = schema_quote(arena, text);
                choices = text ? arena_printf(arena, "%s%s%s", choices, i ? ", " : "", text) : NULL;
        }
        if (!bad || !choices)
                return error_no_memory(v->err);
        return schema_problem_add(
                v, REASON_NOT_SUPPORTED, path_of(v, at),
                arena_printf(arena, "Unsupported value: %s: supported values: %s", bad, choices));
}

static int check_enum(struct validation *v, const struct schema *s, const json_t *doc,
                      const struct schema_path *at)
{
        for (size_t i = 0; i < json_array_size(s->enum_values); i++)
                if (doc_equal(doc, json_array_get(s->enum_values, i)))
                        return 0;
        return json_array_size(s->enum_values) ? not_supported(v, s, doc, at) : 0;
}

/* --- Lists and objects
 * --------------------------------------------------------------------------------------- */

static bool has_duplicates(const json_t *list)
{
        for (size_t i = 0; i < json_array_size(list); i++)
                for (size_t k = 0; k < i; k++)
                        if (doc_equal(json_array_get(list, i), json_array_get(list, k)))
                                return true;
        return false;
}

static int check_list(struct validation *v, const struct schema *s, const json_t *doc,
                      const struct schema_past *past, const struct schema_path *at)
{
        for (size_t i = 0; s->items && i < json_array_size(doc); i++) {
                const json_t *item = json_array_get(doc, i), *sound = json_array_get(past->sound, i);
                struct schema_path here = PATH_INDEX_OF(at, i);
                struct schema_past then = { .sound = sound };
                if (item != sound)
                        then.old = schema_old_item(s, past->old, item);
                TRY(schema_check_value(v, s->items, item, &then, &here));
        }
        TRY(check_count(v, at, json_array_size(doc), s->min_items, s->max_items, "items"));
        if (s->unique_items && has_duplicates(doc))
                return in_body(v, REASON_INVALID, at, json_null(), "shouldn't contain duplicates");
        return 0;
}

/* A value that Go writes for a field nobody has set. */
static bool is_unset(const struct schema_property *p, const json_t *value)
{
        if (p->presence == SCHEMA_ALWAYS_NULL)
                return json_is_null(value);
        return p->presence == SCHEMA_ALWAYS_ZERO && json_is_string(value) && json_string_length(value) == 0;
}

static bool has_required(const struct schema *s, const json_t *doc, const char *name)
{
        const json_t *value = json_object_get(doc, name);
        for (size_t i = 0; value && i < s->n_properties; i++)
                if (strcmp(s->properties[i].name, name) == 0)
                        return !is_unset(&s->properties[i], value);
        return value != NULL;
}

/* A member that may be wrong: declared, or one of a map (p NULL). */
struct member {
        const struct schema_property *p;
        const char *key;
        const json_t *value, *sound;
};

static int check_member(struct validation *v, const struct schema *s, const struct member *m,
                        const struct schema_past *past, const struct schema_path *at)
{
        struct schema_path here = m->p ? PATH_CHILD_OF(at, m->key) : PATH_KEY_OF(at, m->key);
        struct schema_past then = { .sound = m->sound };
        if (m->p && is_unset(m->p, m->value))
                return 0;
        if (!s->map_atomic)
                then.old = past->old == past->sound ? m->sound : json_object_get(past->old, m->key);
        return schema_check_value(v, m->p ? m->p->schema : s->additional, m->value, &then, &here);
}

static int check_members(struct validation *v, const struct schema *s, const json_t *doc,
                         const struct schema_past *past, const struct schema_path *at)
{
        for (size_t i = 0; i < s->n_properties; i++) {
                const char *name = s->properties[i].name;
                struct member m = { &s->properties[i], name, json_object_get(doc, name),
                                    json_object_get(past->sound, name) };
                if (m.value)
                        TRY(check_member(v, s, &m, past, at));
        }
        const char *key;
        json_t *value;
        json_object_foreach((json_t *)doc, key, value) {
                struct member m = { NULL, key, value, json_object_get(past->sound, key) };
                if (s->additional && schema_property(s, key) == s->additional)
                        TRY(check_member(v, s, &m, past, at));
        }
        return 0;
}

static int check_required(struct validation *v, const struct schema *s, const json_t *doc,
                          const struct schema_path *at)
{
        for (size_t i = 0; i < s->n_required; i++)
                if (!has_required(s, doc, s->required[i]))
                        TRY(schema_problem_required(v, at, s->required[i]));
        return 0;
}

#define CHANGED_MOST 16

/* Members that are not those of the sound document, in the order in which check_members() takes them. */
struct changed_members {
        struct member at[CHANGED_MOST];
        size_t n;
        bool same_keys; /* and none of them may count as absent */
};

/* Declared ones by name, then the others as they come. */
static void add_changed(struct changed_members *c, const struct member *m)
{
        size_t i = c->n++;
        for (; m->p && i > 0 && (!c->at[i - 1].p || c->at[i - 1].p > m->p); i--)
                c->at[i] = c->at[i - 1];
        c->at[i] = *m;
}

/* False: too many. */
static bool find_changed(const struct schema *s, const json_t *doc, const json_t *sound,
                         struct changed_members *ret)
{
        struct doc_pairs p = DOC_PAIRS(doc, sound);
        ret->n = 0;
        ret->same_keys = json_object_size(doc) == json_object_size(sound);
        while (doc_pairs_next(&p)) {
                struct member m = { NULL, p.key, p.value, p.other };
                if (p.value == p.other)
                        continue;
                m.p = schema_declared_property(s, p.key);
                ret->same_keys &= p.other && (!m.p || m.p->presence == SCHEMA_WHEN_SET);
                if (ret->n == CHANGED_MOST)
                        return false;
                if (m.p || s->additional)
                        add_changed(ret, &m);
        }
        return true;
}

static int check_object(struct validation *v, const struct schema *s, const json_t *doc,
                        const struct schema_past *past, const struct schema_path *at)
{
        struct changed_members changed;
        TRY(check_count(v, at, json_object_size(doc), s->min_properties, s->max_properties, "properties"));
        if (!json_is_object(past->sound) || !find_changed(s, doc, past->sound, &changed)) {
                TRY(check_members(v, s, doc, past, at));
                return check_required(v, s, doc, at);
        }
        for (size_t i = 0; i < changed.n; i++)
                TRY(check_member(v, s, &changed.at[i], past, at));
        return changed.same_keys ? 0 : check_required(v, s, doc, at);
}

/* --- allOf, anyOf, oneOf, not
 * -------------------------------------------------------------------------------- */

static const struct schema_past without_past;

struct choice {
        size_t n_valid;
        struct schema_problems best; /* of the alternative with the fewest problems, if none is valid */
};

static int try_choices(struct validation *v, const struct schema *const *schemas, size_t n, const json_t *doc,
                       const struct schema_path *at, struct choice *ret)
{
        for (size_t i = 0; i < n; i++) {
                struct schema_problems found = { .arena = v->problems->arena };
                struct validation inner = { .problems = &found, .err = v->err };
                TRY(schema_check_value(&inner, schemas[i], doc, &without_past, at));
                if (!found.n)
                        ret->n_valid++;
                else if (!ret->best.n || found.n < ret->best.n)
                        ret->best = found;
        }
        return 0;
}

static int report_choice(struct validation *v, const struct choice *choice, const struct schema_path *at,
                         const char *words)
{
        const char *path = path_of(v, at);
        if (!path)
                return error_no_memory(v->err);
        TRY(nameless(v, arena_printf(v->problems->arena, "\"%s\" must %s", path, words)));
        for (size_t i = 0; choice && i < choice->best.n; i++)
                TRY(schema_problem_add(v, choice->best.at[i].reason, choice->best.at[i].field,
                                       choice->best.at[i].message));
        return 0;
}

static int check_one_of(struct validation *v, const struct schema *s, const json_t *doc,
                        const struct schema_path *at)
{
        struct choice choice = { 0 };
        TRY(try_choices(v, s->one_of, s->n_one_of, doc, at, &choice));
        if (choice.n_valid == 1)
                return 0;
        if (!choice.n_valid)
                return report_choice(v, &choice, at,
                                     "validate one and only one schema (oneOf). Found none valid");
        const char *words = arena_printf(
                v->problems->arena, "validate one and only one schema (oneOf). Found %zu valid alternatives",
                choice.n_valid);
        return words ? report_choice(v, NULL, at, words) : error_no_memory(v->err);
}

static int check_all_of(struct validation *v, const struct schema *s, const json_t *doc,
                        const struct schema_path *at)
{
        size_t n_valid = 0;
        for (size_t i = 0; i < s->n_all_of; i++) {
                size_t before = v->problems->n;
                TRY(schema_check_value(v, s->all_of[i], doc, &without_past, at));
                n_valid += v->problems->n == before;
        }
        if (n_valid == s->n_all_of)
                return 0;
        return report_choice(v, NULL, at,
                             n_valid ? "validate all the schemas (allOf)"
                                     : "validate all the schemas (allOf). None validated");
}

static int check_junctors(struct validation *v, const struct schema *s, const json_t *doc,
                          const struct schema_path *at)
{
        struct choice any = { 0 }, not = { 0 };
        TRY(try_choices(v, s->any_of, s->n_any_of, doc, at, &any));
        if (s->n_any_of && !any.n_valid)
                TRY(report_choice(v, &any, at, "validate at least one schema (anyOf)"));
        if (s->n_one_of)
                TRY(check_one_of(v, s, doc, at));
        if (s->n_all_of)
                TRY(check_all_of(v, s, doc, at));
        TRY(try_choices(v, &s->not_, s->not_ ? 1 : 0, doc, at, &not ));
        return not .n_valid ? report_choice(v, NULL, at, "not validate the schema (not)") : 0;
}

/* --- One value
 * ----------------------------------------------------------------------------------------------- */

static int check_all(struct validation *v, const struct schema *s, const json_t *doc,
                     const struct schema_past *past, const struct schema_path *at)
{
        if (json_is_null(doc)) {
                TRY(check_null(v, s, at));
                return s->nullable ? 0 : check_enum(v, s, doc, at);
        }
        TRY(check_type(v, s, doc, at));
        TRY(check_junctors(v, s, doc, at));
        if (json_is_string(doc))
                TRY(check_string(v, s, doc, at));
        else if (json_is_number(doc))
                TRY(check_number(v, s, doc, at));
        else if (json_is_array(doc))
                TRY(check_list(v, s, doc, past, at));
        TRY(check_enum(v, s, doc, at));
        return json_is_object(doc) ? check_object(v, s, doc, past, at) : 0;
}

/* What an update leaves as it is does not count against it, even if the schema has become stricter. */
int schema_check_value(struct validation *v, const struct schema *s, const json_t *doc,
                       const struct schema_past *past, const struct schema_path *at)
{
        if (doc == past->sound)
                return 0;
        /* What was valid is so again without being compared. */
        if (past->old && past->old != past->sound && doc_equal(doc, past->old))
                return 0;
        return check_all(v, s, doc, past, at);
}

static bool blocks_rules(const struct schema_problems *problems)
{
        static const char *const reasons[] = { REASON_NOT_SUPPORTED, REASON_REQUIRED, REASON_TOO_LONG,
                                               REASON_TOO_MANY, REASON_TYPE };
        for (size_t i = 0; i < problems->n; i++)
                if (text_in(problems->at[i].reason, reasons, ARRAY_LEN(reasons)))
                        return true;
        return false;
}

int schema_validate(const struct schema *s, const json_t *doc, const json_t *old,
                    struct schema_problems *problems, struct error *err)
{
        return schema_validate_update(s, doc, old, NULL, problems, err);
}

int schema_validate_update(const struct schema *s, const json_t *doc, const json_t *old, const json_t *sound,
                           struct schema_problems *problems, struct error *err)
{
        struct validation v = { .problems = problems, .err = err };
        struct schema_past past = { old, sound };
        struct schema_path root = { 0 };
        uint64_t budget = SCHEMA_COST_BUDGET;
        TRY(schema_check_value(&v, s, doc, &past, &root));
        problems->n_values = problems->n;
        TRY(schema_check_embedded(&v, s, doc, sound, &root));
        TRY(schema_check_lists(&v, s, doc, sound, &root));
        if (!s->has_rules)
                return 0;
        if (blocks_rules(problems))
                return schema_problem_add(
                        &v, REASON_INVALID, "<nil>",
                        "Invalid value: null: some validation rules were not checked because the "
                        "object was invalid; correct the existing errors to complete validation");
        return schema_check_rules(&v, s, doc, old, &root, &budget);
}
