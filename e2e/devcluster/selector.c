#include "e2e/devcluster/selector.h"

#include "common/base/vec.h"
#include "e2e/devcluster/jsonpath.h"

#define TERMS_MAX 256
#define VALUES_MAX 1024

/* ---- label selector syntax: a=b, a==b, a!=b, a in (b,c), a notin (b,c), a, !a, a>1, a<1 ---- */

struct lexer {
        const char *at;
        struct arena *arena;
        const char *token; /* text; "" at the end */
};

static bool is_special(char c)
{
        return c && strchr("=!,()<>", c);
}

static bool is_space(char c)
{
        return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static void lex(struct lexer *l)
{
        while (is_space(*l->at))
                l->at++;
        const char *start = l->at;
        if (is_special(*l->at)) {
                l->at++;
                if ((*start == '=' || *start == '!') && *l->at == '=')
                        l->at++;
        } else {
                while (*l->at && !is_special(*l->at) && !is_space(*l->at))
                        l->at++;
        }
        l->token = arena_strndup(l->arena, start, (size_t)(l->at - start));
        if (!l->token)
                l->token = "";
}

static bool take(struct lexer *l, const char *token)
{
        if (strcmp(l->token, token) != 0)
                return false;
        lex(l);
        return true;
}

/* Of the operators with one value. */
static int check_value(struct request *rq, const struct selector_term *t)
{
        const char *value = t->values[0];
        int64_t unused;
        bool compares = t->op == TERM_GREATER || t->op == TERM_LESS;
        if (compares && !text_parse_i64(value, &unused))
                return request_fail_bad(
                        rq,
                        "unable to parse requirement: values[0]: Invalid value: \"%s\": for 'Gt', "
                        "'Lt' operators, the value must be an integer",
                        value);
        if (!compares && !text_is_label_value(value))
                return request_fail_bad(
                        rq,
                        "unable to parse requirement: values[0][%s]: Invalid value: \"%s\": a valid "
                        "label must be an empty string or consist of alphanumeric characters, '-', "
                        "'_' or '.', and must start and end with an alphanumeric character (e.g. "
                        "'MyValue',  or 'my_value',  or '12345', regex used for validation is "
                        "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
                        t->key, value);
        return 0;
}

static int term_values(struct request *rq, struct lexer *l, struct selector_term *t, bool many)
{
        t->values = ARENA_NEW_ARRAY(rq->arena, const char *, many ? VALUES_MAX : 1);
        if (!t->values)
                return request_fail_memory(rq);
        if (!many) {
                t->values[0] = "";
                t->n_values = 1;
                if (*l->token && !is_special(*l->token)) {
                        t->values[0] = l->token;
                        lex(l);
                } else if (*l->token && *l->token != ',') {
                        return request_fail_bad(
                                rq, "unable to parse requirement: found '%s', expected: identifier",
                                l->token);
                }
                return check_value(rq, t);
        }
        if (!take(l, "("))
                return request_fail_bad(rq, "unable to parse requirement: found '%s' expected: '('",
                                        l->token);
        while (*l->token && strcmp(l->token, ")") != 0 && t->n_values < VALUES_MAX) {
                if (strcmp(l->token, ",") == 0) {
                        t->values[t->n_values++] = "";
                        lex(l);
                        continue;
                }
                t->values[t->n_values++] = l->token;
                lex(l);
                if (strcmp(l->token, ")") != 0 && !take(l, ","))
                        return request_fail_bad(
                                rq, "unable to parse requirement: found '%s', expected: ',' or ')'",
                                l->token);
        }
        if (!*l->token)
                return request_fail_bad(
                        rq, "unable to parse requirement: found '', expected: ',', ')' or identifier");
        return take(l, ")") ? 0
                            : request_fail_bad(rq, "unable to parse requirement: found '%s' expected: ')'",
                                               l->token);
}

static int parse_term(struct request *rq, struct lexer *l, struct selector_term *t)
{
        bool negated = take(l, "!");
        t->key = l->token;
        if (is_special(*t->key))
                return request_fail_bad(rq, "found '%s', expected: !, identifier, or 'end of string'",
                                        t->key);
        if (!text_is_label_key(t->key))
                return request_fail_bad(rq,
                                        "unable to parse requirement: <nil>: Invalid value: \"%s\": name "
                                        "part must consist of "
                                        "alphanumeric characters, '-', '_' or '.', and must start and end "
                                        "with an alphanumeric "
                                        "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used "
                                        "for validation is "
                                        "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
                                        t->key);
        lex(l);
        if (negated || *l->token == '\0' || strcmp(l->token, ",") == 0) {
                t->op = negated ? TERM_NOT_EXISTS : TERM_EXISTS;
                return 0;
        }
        static const struct {
                const char *text;
                int op;
                bool many;
        } ops[] = { { "=", TERM_IN, false },  { "==", TERM_IN, false },       { "!=", TERM_NOT_IN, false },
                    { "in", TERM_IN, true },  { "notin", TERM_NOT_IN, true }, { ">", TERM_GREATER, false },
                    { "<", TERM_LESS, false } };
        for (size_t i = 0; i < ARRAY_LEN(ops); i++)
                if (take(l, ops[i].text)) {
                        t->op = ops[i].op;
                        return term_values(rq, l, t, ops[i].many);
                }
        return request_fail_bad(
                rq, "unable to parse requirement: found '%s', expected: in, notin, =, ==, !=, gt, lt",
                l->token);
}

static int parse_labels(struct request *rq, const char *text, struct selector *s)
{
        struct lexer l = { .at = text, .arena = rq->arena };
        s->labels = ARENA_NEW_ARRAY(rq->arena, struct selector_term, TERMS_MAX);
        if (!s->labels)
                return request_fail_memory(rq);
        lex(&l);
        while (*l.token) {
                if (s->n_labels == TERMS_MAX)
                        return request_fail_bad(rq, "label selector has more than %d requirements",
                                                TERMS_MAX);
                TRY(parse_term(rq, &l, &s->labels[s->n_labels++]));
                if (*l.token && !take(&l, ","))
                        return request_fail_bad(
                                rq,
                                "unable to parse requirement: found '%s', expected: ',' or 'end of string'",
                                l.token);
        }
        return 0;
}

/* ---- field selectors: a=b, a==b, a!=b, joined by commas ---- */

static int fail_field(struct request *rq, const char *key)
{
        const struct resource_hooks *hooks = rq->resource->hooks;
        if (rq->resource->custom || (hooks && hooks->field))
                return request_fail_bad(rq, "field label not supported: %s", key);
        return request_fail_bad(
                rq, "\"%s\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"",
                key);
}

static bool field_known(const struct request *rq, const char *path)
{
        static const char *const everywhere[] = { "metadata.name", "metadata.namespace" };
        if (text_in(path, everywhere, ARRAY_LEN(everywhere)))
                return true;
        const struct resource_hooks *hooks = rq->resource->hooks;
        if (hooks && hooks->field && hooks->field(NULL, path, rq->arena))
                return true;
        const char *const *p = rq->resource_version->selectable_fields;
        for (; p && *p; p++)
                if (strcmp(*p + 1, path) == 0)
                        return true;
        return false;
}

static int parse_field(struct request *rq, const char *text, struct selector *s, struct selector_term *t)
{
        const char *eq = strchr(text, '=');
        if (!eq || eq == text)
                return request_fail_bad(rq, "invalid selector: '%s'; can't understand '%s'", text, text);
        bool unequal = eq[-1] == '!';
        t->op = unequal ? TERM_NOT_IN : TERM_IN;
        t->key = arena_strndup(rq->arena, text, (size_t)(eq - text) - (unequal ? 1 : 0));
        t->values = ARENA_NEW_ARRAY(rq->arena, const char *, 1);
        if (!t->key || !t->values)
                return request_fail_memory(rq);
        t->values[0] = eq + 1 + (!unequal && eq[1] == '=' ? 1 : 0);
        t->n_values = 1;
        if (!field_known(rq, t->key))
                return fail_field(rq, t->key);
        if (strcmp(t->key, "metadata.name") == 0) {
                if (!unequal)
                        s->only_name = t->values[0];
        } else if (strcmp(t->key, "metadata.namespace") == 0) {
                if (!unequal)
                        s->only_ns = t->values[0];
        } else {
                s->needs_document = true;
        }
        return 0;
}

static int parse_fields(struct request *rq, const char *text, struct selector *s)
{
        char *copy = arena_strdup(rq->arena, text);
        s->fields = ARENA_NEW_ARRAY(rq->arena, struct selector_term, TERMS_MAX);
        if (!copy || !s->fields)
                return request_fail_memory(rq);
        while (copy && *copy) {
                char *comma = strchr(copy, ',');
                if (comma)
                        *comma = '\0';
                if (s->n_fields == TERMS_MAX)
                        return request_fail_bad(rq, "field selector has more than %d requirements",
                                                TERMS_MAX);
                if (*copy)
                        TRY(parse_field(rq, copy, s, &s->fields[s->n_fields++]));
                copy = comma ? comma + 1 : NULL;
        }
        return 0;
}

int selector_parse(struct request *rq, const char *labels, const char *fields, struct selector *ret)
{
        *ret = (struct selector){ 0 };
        if (!text_empty(labels))
                TRY(parse_labels(rq, labels, ret));
        if (!text_empty(fields))
                TRY(parse_fields(rq, fields, ret));
        return 0;
}

/* ---- matching ---- */

static bool has_value(const struct selector_term *t, const char *value)
{
        for (size_t i = 0; i < t->n_values; i++)
                if (strcmp(t->values[i], value) == 0)
                        return true;
        return false;
}

static bool term_matches(const struct selector_term *t, const char *value)
{
        int64_t have, want;
        switch (t->op) {
        case TERM_IN:
                return value && has_value(t, value);
        case TERM_NOT_IN:
                return !value || !has_value(t, value);
        case TERM_EXISTS:
                return value;
        case TERM_NOT_EXISTS:
                return !value;
        default:
                if (!value || !text_parse_i64(value, &have) || !text_parse_i64(t->values[0], &want))
                        return false;
                return t->op == TERM_GREATER ? have > want : have < want;
        }
}

static const char *field_value(struct request *rq, const json_t *doc, const char *path)
{
        const struct resource_hooks *hooks = rq->resource->hooks;
        const char *s = hooks && hooks->field ? hooks->field(doc, path, rq->arena) : NULL;
        if (s)
                return s;
        json_t *v = doc_get(doc, path);
        if (json_is_string(v))
                return json_string_value(v);
        if (json_is_integer(v))
                return arena_printf(rq->arena, "%lld", (long long)json_integer_value(v));
        return json_is_boolean(v) ? (json_is_true(v) ? "true" : "false") : "";
}

static bool fields_match(struct request *rq, const struct selector *s, const struct blob *b)
{
        AUTO_JSON json_t *doc = NULL;
        if (s->needs_document && blob_parse(b, &doc, NULL) < 0)
                return false;
        for (size_t i = 0; i < s->n_fields; i++) {
                const struct selector_term *t = &s->fields[i];
                const char *value = strcmp(t->key, "metadata.name") == 0 ? blob_name(b)
                                    : strcmp(t->key, "metadata.namespace") == 0
                                            ? blob_ns(b)
                                            : field_value(rq, doc, t->key);
                if (!value || !term_matches(t, value))
                        return false;
        }
        return true;
}

bool selector_matches(struct request *rq, const struct selector *s, const struct blob *b)
{
        for (size_t i = 0; i < s->n_labels; i++)
                if (!term_matches(&s->labels[i], blob_label(b, s->labels[i].key)))
                        return false;
        return s->n_fields == 0 || fields_match(rq, s, b);
}
