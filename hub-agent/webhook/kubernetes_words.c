/* Names and selectors that Kubernetes would not take, in its words: clients and tests know them. */
#include "hub-agent/webhook/rules.h"

#define QUALIFIED                                                                                            \
        "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "          \
        "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is " \
        "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
#define SUBDOMAIN                                                                                            \
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "    \
        "and must start and end with an alphanumeric character (e.g. 'example.com', regex used for "         \
        "validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
#define LABEL_VALUE                                                                                          \
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and " \
        "must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', "   \
        "regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"

enum { PART_MAX = 63, SUBDOMAIN_MAX = 253 };

static bool is_lower_alnum(char c)
{
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool is_alnum(char c)
{
        return is_lower_alnum(c) || (c >= 'A' && c <= 'Z');
}

/* The characters alone, whatever the length. */
static bool reads_as_part(struct slice s)
{
        if (s.len == 0 || !is_alnum(s.data[0]) || !is_alnum(s.data[s.len - 1]))
                return false;
        for (size_t i = 0; i < s.len; i++)
                if (!is_alnum(s.data[i]) && !strchr("-_.", s.data[i]))
                        return false;
        return true;
}

static bool reads_as_subdomain(struct slice rest)
{
        struct slice part;
        bool more;

        do {
                more = slice_cut(&rest, '.', &part);
                if (!part.len || part.data[0] == '-' || part.data[part.len - 1] == '-')
                        return false;
                for (size_t i = 0; i < part.len; i++)
                        if (part.data[i] != '-' && !is_lower_alnum(part.data[i]))
                                return false;
        } while (more);
        return true;
}

static size_t prefix_faults(struct slice prefix, const char **ret)
{
        size_t n = 0;

        if (!prefix.len) {
                ret[n++] = "prefix part must be non-empty";
                return n;
        }
        if (prefix.len > SUBDOMAIN_MAX)
                ret[n++] = "prefix part must be no more than 253 characters";
        if (!reads_as_subdomain(prefix))
                ret[n++] = "prefix part " SUBDOMAIN;
        return n;
}

size_t qualified_name_faults(const char *s, const char *ret[NAME_FAULTS_MAX])
{
        struct slice rest = slice_of(s), head;
        size_t n = 0;

        if (slice_cut(&rest, '/', &head)) {
                if (memchr(rest.data, '/', rest.len)) {
                        ret[0] = "a qualified name " QUALIFIED
                                 " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
                        return 1;
                }
                n = prefix_faults(head, ret);
                head = rest;
        }
        if (!head.len)
                ret[n++] = "name part must be non-empty";
        else if (head.len > PART_MAX)
                ret[n++] = "name part must be no more than 63 bytes";
        if (!reads_as_part(head))
                ret[n++] = "name part " QUALIFIED;
        return n;
}

size_t subdomain_faults(const char *s, const char *ret[NAME_FAULTS_MAX])
{
        size_t n = 0;

        if (strlen(s) > SUBDOMAIN_MAX)
                ret[n++] = "must be no more than 253 characters";
        if (!reads_as_subdomain(slice_of(s)))
                ret[n++] = SUBDOMAIN;
        return n;
}

size_t label_value_faults(const char *s, const char *ret[NAME_FAULTS_MAX])
{
        size_t n = 0;

        if (strlen(s) > PART_MAX)
                ret[n++] = "must be no more than 63 bytes";
        if (*s && !reads_as_part(slice_of(s)))
                ret[n++] = LABEL_VALUE;
        return n;
}

/* ---- label selectors ---- */

static void key_faults(const char *key, struct faults *f)
{
        const char *faults[NAME_FAULTS_MAX];
        size_t n = qualified_name_faults(key, faults);

        if (n)
                FAULT(f, "key: Invalid value: \"%s\": %s", key, texts_joined(faults, n, f));
}

static void value_faults(const char *key, size_t i, const char *value, struct faults *f)
{
        const char *faults[NAME_FAULTS_MAX];
        size_t n = label_value_faults(value, faults);

        if (n)
                FAULT(f, "values[%zu][%s]: Invalid value: \"%s\": %s", i, key, value,
                      texts_joined(faults, n, f));
}

static void requirement_faults(const struct label_requirement *r, struct faults *f)
{
        const char *key = or_empty(r->key);
        bool wants = text_equal(r->operator, "In") || text_equal(r->operator, "NotIn");

        if (!wants && !text_equal(r->operator, "Exists") && !text_equal(r->operator, "DoesNotExist")) {
                FAULT(f, "\"%s\" is not a valid label selector operator", or_empty(r->operator));
                return;
        }
        key_faults(key, f);
        if (wants && !r->values.n)
                FAULT(f, "values: Invalid value: []string(nil): for 'in', 'notin' operators, values set "
                         "can't be empty");
        if (!wants && r->values.n)
                FAULT(f, "values: Invalid value: values set must be empty for exists and does not exist");
        for (uint32_t i = 0; i < r->values.n; i++)
                value_faults(key, i, or_empty(r->values.at[i]), f);
}

/* The first requirement that is no good, as the whole is given up with it. */
const char *label_selector_fault(const struct label_selector *s, struct faults *f)
{
        struct faults own = { .arena = f->arena };

        for (uint32_t i = 0; s && i < s->match_labels.n && !own.n; i++) {
                key_faults(s->match_labels.at[i].key, &own);
                value_faults(s->match_labels.at[i].key, 0, or_empty(s->match_labels.at[i].value), &own);
        }
        for (uint32_t i = 0; s && i < s->match_expressions.n && !own.n; i++)
                requirement_faults(&s->match_expressions.at[i], &own);
        return own.n || own.no_memory ? text_made(faults_text(&own), f) : NULL;
}

void label_selector_faults(const struct label_selector *s, const char *where, struct faults *f)
{
        const char *why = label_selector_fault(s, f);

        if (why)
                FAULT(f, "the labelSelector in %s %s is invalid: %s", where, label_selector_text(s, f), why);
}
