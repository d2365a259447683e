#include "e2e/devcluster/builtin/checks.h"

#include <stdarg.h>
#include <stdio.h>

#define PATH_MAX_BYTES 512

int problem_at(struct schema_problems *p, const char *reason, const char *message, const char *path_fmt, ...)
{
        char path[PATH_MAX_BYTES];
        va_list ap;

        va_start(ap, path_fmt);
        vsnprintf(path, sizeof(path), path_fmt, ap);
        va_end(ap);
        return message ? problem_add(p, reason, path, "%s", message) : ERR_NO_MEMORY;
}

static int invalid(struct schema_problems *p, const char *path, const char *value, const char *why)
{
        return problem_add(p, "FieldValueInvalid", path, "Invalid value: \"%s\": %s", value, why);
}

/* ---- names ---- */

int check_dns_label(const char *name, const char *path, struct schema_problems *p)
{
        return text_is_dns1123_label(name) ? 0 : invalid(p, path, name, LABEL_MESSAGE);
}

int check_port_name(const char *name, const char *path, struct schema_problems *p)
{
        size_t n = strlen(name);

        if (n > 15)
                TRY(invalid(p, path, name, "must be no more than 15 characters"));
        if (n == 0 || name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-")])
                TRY(invalid(p, path, name,
                            "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)"));
        if (!strpbrk(name, "abcdefghijklmnopqrstuvwxyz"))
                TRY(invalid(p, path, name, "must contain at least one letter (a-z)"));
        if (strstr(name, "--"))
                TRY(invalid(p, path, name, "must not contain consecutive hyphens"));
        if (n && (name[0] == '-' || name[n - 1] == '-'))
                TRY(invalid(p, path, name, "must not begin or end with a hyphen"));
        return 0;
}

const char *label_key_problem(const char *key)
{
        const char *slash = strchr(key, '/');
        if (slash == key)
                return "prefix part must be non-empty";
        if (slash) {
                char prefix[256];
                snprintf(prefix, sizeof(prefix), "%.*s", (int)MIN(slash - key, 255), key);
                if (!text_is_dns1123_subdomain(prefix))
                        return "prefix part " SUBDOMAIN_MESSAGE;
        }
        return QUALIFIED_MESSAGE;
}

static int check_label_value(const char *value, const char *path, struct schema_problems *p)
{
        if (strlen(value) > 63)
                return invalid(p, path, value, "must be no more than 63 bytes");
        return text_is_label_value(value) ? 0 : invalid(p, path, value, LABEL_VALUE_MESSAGE);
}

int check_labels(const json_t *labels, const char *path, struct schema_problems *p)
{
        const char *key;
        json_t *value;

        json_object_foreach((json_t *)labels, key, value) {
                const char *text = json_string_value(value);

                if (!text_is_label_key(key))
                        TRY(invalid(p, path, key, label_key_problem(key)));
                TRY(check_label_value(text ? text : "", path, p));
        }
        return 0;
}

/* ---- selectors ---- */

static int check_expression(const json_t *e, const char *path, size_t i, struct schema_problems *p)
{
        const char *op = check_text(e, "operator"), *key = check_text(e, "key");
        size_t n = json_array_size(doc_get_array(e, "values"));
        bool in = strcmp(op, "In") == 0 || strcmp(op, "NotIn") == 0,
             exists = strcmp(op, "Exists") == 0 || strcmp(op, "DoesNotExist") == 0;

        if (in && n == 0)
                TRY(problem_at(p, "FieldValueRequired",
                               "Required value: must be specified when `operator` is 'In' or 'NotIn'",
                               "%s.matchExpressions[%zu].values", path, i));
        if (exists && n > 0)
                TRY(problem_at(
                        p, "FieldValueForbidden",
                        "Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
                        "%s.matchExpressions[%zu].values", path, i));
        if (!in && !exists)
                TRY(problem_at(
                        p, "FieldValueInvalid",
                        arena_printf(p->arena, "Invalid value: \"%s\": not a valid selector operator", op),
                        "%s.matchExpressions[%zu].operator", path, i));
        if (text_is_label_key(key))
                return 0;
        return problem_at(p, "FieldValueInvalid",
                          arena_printf(p->arena, "Invalid value: \"%s\": %s", key, label_key_problem(key)),
                          "%s.matchExpressions[%zu].key", path, i);
}

int check_label_selector(const json_t *selector, const char *path, bool *ret_usable,
                         struct schema_problems *p)
{
        const char *labels = arena_printf(p->arena, "%s.matchLabels", path);
        size_t before = p->n, i;
        json_t *e;

        if (!labels)
                return ERR_NO_MEMORY;
        TRY(check_labels(doc_get_object(selector, "matchLabels"), labels, p));
        json_array_foreach(doc_get_array(selector, "matchExpressions"), i, e)
                TRY(check_expression(e, path, i, p));
        if (ret_usable)
                *ret_usable = p->n == before;
        return 0;
}

static bool in_values(const json_t *values, const char *s)
{
        size_t i;
        json_t *v;

        json_array_foreach((json_t *)values, i, v)
                if (text_equal(json_string_value(v), s))
                        return true;
        return false;
}

static bool expression_matches(const json_t *e, const json_t *labels)
{
        const char *op = check_text(e, "operator");
        const char *value = json_string_value(json_object_get(labels, check_text(e, "key")));
        bool in = value && in_values(json_object_get(e, "values"), value);

        if (strcmp(op, "Exists") == 0)
                return value;
        if (strcmp(op, "DoesNotExist") == 0)
                return !value;
        return strcmp(op, "NotIn") == 0 ? !in : in;
}

bool check_selects(const json_t *selector, const json_t *labels)
{
        const char *key;
        size_t i;
        json_t *v;

        json_object_foreach(doc_get_object(selector, "matchLabels"), key, v)
                if (!text_equal(json_string_value(json_object_get(labels, key)), json_string_value(v)))
                        return false;
        json_array_foreach(doc_get_array(selector, "matchExpressions"), i, v)
                if (!expression_matches(v, labels))
                        return false;
        return selector != NULL;
}

bool check_amount(const json_t *v, struct quantity *ret)
{
        char number[32];

        if (json_is_integer(v))
                snprintf(number, sizeof(number), "%lld", (long long)json_integer_value(v));
        const char *text = json_is_integer(v) ? number : json_string_value(v);
        return text && quantity_parse(slice_of(text), ret, NULL) == 0;
}
