/* Label selectors. Typed selectors and query text become the same list of requirements. */
#include "common/kube/selector.h"

enum operator{ OP_IN, OP_NOT_IN, OP_EXISTS, OP_NOT_EXISTS, OP_UNKNOWN };

struct requirement {
        const char *key;
        enum operator op;
        const char *const *values;
        size_t n_values;
};

/* `present` with NULL value = the label is absent. */
static bool requirement_matches(const struct requirement *r, const char *value)
{
        switch (r->op) {
        case OP_IN:
                return value && text_in(value, r->values, r->n_values);
        case OP_NOT_IN:
                return !value || !text_in(value, r->values, r->n_values);
        case OP_EXISTS:
                return value != NULL;
        case OP_NOT_EXISTS:
                return value == NULL;
        default:
                return false;
        }
}

static enum operator operator_of(const char *name)
{
        static const char *const names[] = { "In", "NotIn", "Exists", "DoesNotExist" };

        for (size_t i = 0; i < ARRAY_LEN(names); i++)
                if (text_equal(name, names[i]))
                        return (enum operator)i;
        return OP_UNKNOWN;
}

static struct requirement requirement_of(const struct label_requirement *e)
{
        return (struct requirement){ e->key, operator_of(e->operator), e->values.at, e->values.n };
}

bool label_selector_matches(const struct label_selector *s, const struct string_map *labels)
{
        if (!s)
                return false;
        for (uint32_t i = 0; i < s->match_labels.n; i++)
                if (!text_equal(string_map_get(labels, s->match_labels.at[i].key),
                                s->match_labels.at[i].value))
                        return false;
        for (uint32_t i = 0; i < s->match_expressions.n; i++) {
                struct requirement r = requirement_of(&s->match_expressions.at[i]);

                if (!requirement_matches(&r, string_map_get(labels, r.key)))
                        return false;
        }
        return true;
}

static int check_values(const struct requirement *r, const char *where, struct error *err)
{
        bool needs = r->op == OP_IN || r->op == OP_NOT_IN;

        if (needs && r->n_values == 0)
                return error_set(err, ERR_INVALID,
                                 "%s: values: must be specified when operator is In or NotIn", where);
        if (!needs && r->n_values > 0)
                return error_set(err, ERR_INVALID,
                                 "%s: values: may not be specified when operator is Exists or DoesNotExist",
                                 where);
        for (size_t i = 0; i < r->n_values; i++)
                if (!text_is_label_value(r->values[i]))
                        return error_set(err, ERR_INVALID, "%s: values: \"%s\" is not a valid label value",
                                         where, r->values[i]);
        return 0;
}

int label_selector_check(const struct label_selector *s, struct error *err)
{
        for (uint32_t i = 0; s && i < s->match_labels.n; i++) {
                if (!text_is_label_key(s->match_labels.at[i].key))
                        return error_set(err, ERR_INVALID, "matchLabels: \"%s\" is not a valid label key",
                                         s->match_labels.at[i].key);
                if (!text_is_label_value(s->match_labels.at[i].value))
                        return error_set(err, ERR_INVALID, "matchLabels: \"%s\" is not a valid label value",
                                         s->match_labels.at[i].value);
        }
        for (uint32_t i = 0; s && i < s->match_expressions.n; i++) {
                struct requirement r = requirement_of(&s->match_expressions.at[i]);
                char where[48];

                snprintf(where, sizeof(where), "matchExpressions[%u]", i);
                if (!text_is_label_key(r.key))
                        return error_set(err, ERR_INVALID, "%s: \"%s\" is not a valid label key", where,
                                         r.key ? r.key : "");
                if (r.op == OP_UNKNOWN)
                        return error_set(err, ERR_INVALID,
                                         "%s: \"%s\" is not a valid label selector operator", where,
                                         s->match_expressions.at[i].operator);
                TRY(check_values(&r, where, err));
        }
        return 0;
}

static void print_values(struct buf *b, const struct requirement *r)
{
        buf_printf(b, "%s %s (", r->key, r->op == OP_IN ? "in" : "notin");
        for (size_t i = 0; i < r->n_values; i++)
                buf_printf(b, "%s%s", i ? "," : "", r->values[i]);
        buf_append_char(b, ')');
}

int label_selector_print(const struct label_selector *s, struct buf *b)
{
        const char *comma = "";

        for (uint32_t i = 0; s && i < s->match_labels.n; i++) {
                buf_printf(b, "%s%s=%s", comma, s->match_labels.at[i].key, s->match_labels.at[i].value);
                comma = ",";
        }
        for (uint32_t i = 0; s && i < s->match_expressions.n; i++) {
                struct requirement r = requirement_of(&s->match_expressions.at[i]);

                buf_append_str(b, comma);
                comma = ",";
                if (r.op == OP_IN || r.op == OP_NOT_IN)
                        print_values(b, &r);
                else
                        buf_printf(b, "%s%s", r.op == OP_NOT_EXISTS ? "!" : "", r.key);
        }
        return b->failed;
}

/* ---- query text ---- */

struct label_query {
        struct requirement *at;
        size_t n;
};

struct parser {
        struct arena *arena;
        const char *text, *at;
        struct error *err;
};

static void skip_spaces(struct parser *p)
{
        while (*p->at == ' ' || *p->at == '\t')
                p->at++;
}

static int parse_failed(struct parser *p, const char *expected)
{
        return error_set(p->err, ERR_INVALID,
                         "unable to parse requirement in \"%s\" at position %zu: expected %s", p->text,
                         (size_t)(p->at - p->text), expected);
}

static int take_word(struct parser *p, const char **ret)
{
        size_t n;

        skip_spaces(p);
        n = strcspn(p->at, " \t,()=!<>");
        *ret = arena_strndup(p->arena, p->at, n);
        p->at += n;
        return *ret ? 0 : error_no_memory(p->err);
}

static bool take(struct parser *p, const char *token)
{
        skip_spaces(p);
        if (!text_starts_with(p->at, token))
                return false;
        p->at += strlen(token);
        return true;
}

/* "(a,b)" */
static int take_set(struct parser *p, struct requirement *r)
{
        const char **values = ARENA_NEW_ARRAY(p->arena, const char *, strlen(p->at) + 1);

        if (!values)
                return error_no_memory(p->err);
        if (!take(p, "("))
                return parse_failed(p, "'('");
        do {
                TRY(take_word(p, &values[r->n_values++]));
        } while (take(p, ","));
        if (!take(p, ")"))
                return parse_failed(p, "',' or ')'");
        r->values = values;
        return 0;
}

static int take_equal(struct parser *p, struct requirement *r, enum operator op)
{
        const char **value = ARENA_NEW_ARRAY(p->arena, const char *, 1);

        if (!value)
                return error_no_memory(p->err);
        TRY(take_word(p, value));
        r->op = op;
        r->values = value;
        r->n_values = 1;
        return 0;
}

static int take_requirement(struct parser *p, struct requirement *r)
{
        const char *word;

        r->op = take(p, "!") ? OP_NOT_EXISTS : OP_EXISTS;
        TRY(take_word(p, &r->key));
        if (!text_is_label_key(r->key))
                return error_set(p->err, ERR_INVALID,
                                 "unable to parse requirement: \"%s\" is not a valid label key", r->key);
        skip_spaces(p);
        if (r->op == OP_NOT_EXISTS || *p->at == '\0' || *p->at == ',')
                return 0;
        if (take(p, "!="))
                return take_equal(p, r, OP_NOT_IN);
        if (take(p, "==") || take(p, "="))
                return take_equal(p, r, OP_IN);
        TRY(take_word(p, &word));
        if (!text_equal(word, "in") && !text_equal(word, "notin"))
                return parse_failed(p, "one of =, ==, !=, in, notin");
        r->op = text_equal(word, "in") ? OP_IN : OP_NOT_IN;
        return take_set(p, r);
}

static int check_query_values(struct parser *p, const struct requirement *r)
{
        for (size_t i = 0; i < r->n_values; i++)
                if (!text_is_label_value(r->values[i]))
                        return error_set(p->err, ERR_INVALID,
                                         "unable to parse requirement: \"%s\" is not a valid label value",
                                         r->values[i]);
        return 0;
}

int label_query_parse(struct arena *arena, const char *text, struct label_query **ret, struct error *err)
{
        struct parser p = { .arena = arena, .text = text, .at = text, .err = err };
        struct label_query *q = ARENA_NEW(arena, struct label_query);
        size_t most = 1;

        for (const char *c = text; *c; c++)
                most += *c == ',';
        if (!q || !(q->at = ARENA_NEW_ARRAY(arena, struct requirement, most)))
                return error_no_memory(err);
        skip_spaces(&p);
        while (*p.at) {
                TRY(take_requirement(&p, &q->at[q->n]));
                TRY(check_query_values(&p, &q->at[q->n]));
                q->n++;
                skip_spaces(&p);
                if (*p.at && !take(&p, ","))
                        return parse_failed(&p, "','");
        }
        *ret = q;
        return 0;
}

bool label_query_matches(const struct label_query *q, const json_t *labels)
{
        for (size_t i = 0; i < q->n; i++)
                if (!requirement_matches(&q->at[i], json_string_value(json_object_get(labels, q->at[i].key))))
                        return false;
        return true;
}

bool label_query_matches_map(const struct label_query *q, const struct string_map *labels)
{
        for (size_t i = 0; i < q->n; i++)
                if (!requirement_matches(&q->at[i], string_map_get(labels, q->at[i].key)))
                        return false;
        return true;
}
