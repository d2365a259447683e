/* Parses CEL into a tree: operators by precedence, macros as nodes of their own, names resolved to slots. */
#include "common/json/cel_lex.h"
#include "common/json/regex.h"

struct scope {
        const char *names[CEL_MAX_VARIABLES]; /* lambda variables, innermost last; the index is the slot */
        size_t n;
};

struct parser {
        struct cel_lexer lex;
        struct cel_program *program;
        struct scope scope;
        size_t nesting;
        const char *name_begin; /* of the last name taken */
};

static int parse_expression(struct parser *p, struct cel_node **ret);

static int unexpected(struct parser *p)
{
        if (p->lex.token == CEL_TOKEN_END)
                return cel_lex_error(&p->lex, "Syntax error: mismatched input '<EOF>'");
        return cel_lex_error(&p->lex, "Syntax error: unexpected '%.*s'",
                             (int)(p->lex.at - p->lex.token_begin), p->lex.token_begin);
}

static bool is_punctuation(const struct parser *p, const char *text)
{
        return p->lex.token == CEL_TOKEN_PUNCTUATION && slice_is(p->lex.text, text);
}

static int expect(struct parser *p, const char *text)
{
        return is_punctuation(p, text) ? cel_lex_next(&p->lex) : unexpected(p);
}

/* Consumes the punctuation if it is there. */
static int accept(struct parser *p, const char *text, bool *ret)
{
        *ret = is_punctuation(p, text);
        return *ret ? cel_lex_next(&p->lex) : 0;
}

/* --- Nodes
 * --------------------------------------------------------------------------------------------------- */

static int new_node(struct parser *p, enum cel_node_kind kind, struct cel_node **ret)
{
        struct cel_node *node = ARENA_NEW(p->lex.arena, struct cel_node);
        if (!node)
                return error_no_memory(p->lex.err);
        node->kind = kind;
        node->depth = 1;
        *ret = node;
        return 0;
}

static int add_argument(struct parser *p, struct cel_node *node, struct cel_node *argument)
{
        if (node->n_args == node->cap_args) {
                size_t cap = node->cap_args ? 2 * node->cap_args : 2;
                struct cel_node **args = ARENA_NEW_ARRAY(p->lex.arena, struct cel_node *, cap);
                if (!args)
                        return error_no_memory(p->lex.err);
                if (node->n_args)
                        memcpy(args, node->args, node->n_args * sizeof(*args));
                node->args = args;
                node->cap_args = cap;
        }
        node->args[node->n_args++] = argument;
        node->depth = MAX(node->depth, (uint16_t)(argument->depth + 1));
        if (node->depth > CEL_MAX_DEPTH)
                return error_set(p->lex.err, ERR_LIMIT, "expression nests deeper than %d", CEL_MAX_DEPTH);
        return 0;
}

static int constant_node(struct parser *p, struct cel_value value, struct cel_node **ret)
{
        TRY(new_node(p, CEL_NODE_CONSTANT, ret));
        (*ret)->constant = value;
        return 0;
}

static int take_name(struct parser *p, const char **ret)
{
        if (p->lex.token != CEL_TOKEN_IDENTIFIER)
                return unexpected(p);
        p->name_begin = p->lex.token_begin;
        *ret = arena_strndup(p->lex.arena, p->lex.text.data, p->lex.text.len);
        return *ret ? cel_lex_next(&p->lex) : error_no_memory(p->lex.err);
}

/* --- Names
 * --------------------------------------------------------------------------------------------------- */

static const char *const reserved_words[] = { "as",        "break",  "const",  "continue", "else",  "for",
                                              "function",  "if",     "import", "let",      "loop",  "package",
                                              "namespace", "return", "var",    "void",     "while", "true",
                                              "false",     "null",   "in" };

/* Fields whose names CEL cannot spell are written __dot__, __dash__, __slash__, __underscores__ or __in__. */
static int unescape_field(struct parser *p, const char *name, const char **ret)
{
        static const struct {
                const char *escape, *plain;
        } escapes[] = {
                { "__dot__", "." }, { "__dash__", "-" }, { "__slash__", "/" }, { "__underscores__", "__" }
        };
        AUTO_BUF struct buf b;
        buf_init(&b, CEL_MAX_EXPRESSION);
        *ret = NULL;
        if (!strstr(name, "__"))
                return 0;
        size_t n = strlen(name);
        for (size_t i = 0; i < ARRAY_LEN(reserved_words); i++)
                if (n == strlen(reserved_words[i]) + 4 && text_starts_with(name, "__") &&
                    text_ends_with(name, "__") && !memcmp(name + 2, reserved_words[i], n - 4)) {
                        *ret = reserved_words[i];
                        return 0;
                }
        for (const char *c = name; *c;) {
                size_t e = 0;
                while (e < ARRAY_LEN(escapes) && !text_starts_with(c, escapes[e].escape))
                        e++;
                if (e < ARRAY_LEN(escapes))
                        buf_append_str(&b, escapes[e].plain);
                else
                        buf_append_char(&b, *c);
                c += e < ARRAY_LEN(escapes) ? strlen(escapes[e].escape) : 1;
        }
        if (b.failed || !(*ret = arena_strndup(p->lex.arena, b.data, b.len)))
                return error_no_memory(p->lex.err);
        return 0;
}

static bool find_local(const struct parser *p, const char *name, uint32_t *ret)
{
        for (size_t i = p->scope.n; i-- > 0;)
                if (!strcmp(p->scope.names[i], name)) {
                        *ret = (uint32_t)i;
                        return true;
                }
        return false;
}

static int global_node(struct parser *p, const char *name, struct cel_node **ret)
{
        struct cel_program *program = p->program;
        size_t i = 0;
        while (i < program->n_variables && strcmp(program->variables[i], name) != 0)
                i++;
        if (i == CEL_MAX_VARIABLES)
                return error_set(p->lex.err, ERR_LIMIT, "expression uses more than %d variables",
                                 CEL_MAX_VARIABLES);
        if (i == program->n_variables)
                program->variables[program->n_variables++] = name;
        TRY(new_node(p, CEL_NODE_GLOBAL, ret));
        (*ret)->slot = (uint32_t)i;
        (*ret)->name = name;
        (*ret)->at = (uint32_t)(p->name_begin - p->lex.source);
        return 0;
}

static int name_node(struct parser *p, const char *name, struct cel_node **ret)
{
        uint32_t slot = 0;
        struct cel_value type;
        if (find_local(p, name, &slot)) {
                TRY(new_node(p, CEL_NODE_LOCAL, ret));
                (*ret)->slot = slot;
                return 0;
        }
        if (text_in(name, reserved_words, ARRAY_LEN(reserved_words)))
                return cel_lex_error(&p->lex, "reserved identifier: %s", name);
        if (cel_type_named(name, &type))
                return constant_node(p, type, ret);
        return global_node(p, name, ret);
}

static int open_variable(struct parser *p, const char *name, uint32_t *ret_slot)
{
        if (p->scope.n == CEL_MAX_VARIABLES)
                return error_set(p->lex.err, ERR_LIMIT, "expression nests more than %d lambda variables",
                                 CEL_MAX_VARIABLES);
        *ret_slot = (uint32_t)p->scope.n;
        p->scope.names[p->scope.n++] = name;
        p->program->n_slots = MAX(p->program->n_slots, p->scope.n);
        return 0;
}

/* --- Calls and macros
 * ---------------------------------------------------------------------------------------- */

static int parse_arguments(struct parser *p, const char *close, struct cel_node *node)
{
        bool more = !is_punctuation(p, close);
        while (more) {
                struct cel_node *argument = NULL;
                TRY(parse_expression(p, &argument));
                TRY(add_argument(p, node, argument));
                TRY(accept(p, ",", &more));
                if (is_punctuation(p, close))
                        more = false; /* a comma may stand at the end */
        }
        return expect(p, close);
}

/* A pattern that is wrong is an error of the expression, not of each evaluation. */
static int compile_literal_pattern(struct parser *p, const char *function, struct cel_node *node)
{
        static const char *const takes_pattern[] = { "matches", "find", "findAll" };
        if (!text_in(function, takes_pattern, ARRAY_LEN(takes_pattern)))
                return 0;
        const struct cel_node *pattern = node->args[1];
        if (pattern->kind != CEL_NODE_CONSTANT || pattern->constant.kind != CEL_STRING)
                return 0;
        return regex_compile(p->lex.arena, pattern->constant.text, &node->regex, p->lex.err);
}

static int finish_call(struct parser *p, const char *name, bool member, struct cel_node *node)
{
        const struct cel_function *function = cel_function_find(name, member);
        if (!function)
                return cel_lex_error(&p->lex, "undeclared reference to '%s' (in container '')", name);
        if (node->n_args < function->least || node->n_args > function->most)
                return cel_lex_error(&p->lex, "found no matching overload for '%s' with %zu arguments", name,
                                     node->n_args);
        node->function = function;
        return compile_literal_pattern(p, name, node);
}

static int parse_has(struct parser *p, struct cel_node **ret)
{
        TRY(parse_expression(p, ret));
        if ((*ret)->kind != CEL_NODE_SELECT || (*ret)->optional)
                return cel_lex_error(&p->lex, "invalid argument to has() macro");
        (*ret)->kind = CEL_NODE_HAS;
        return expect(p, ")");
}

static int parse_call(struct parser *p, const char *name, struct cel_node **ret)
{
        if (!strcmp(name, "has"))
                return parse_has(p, ret);
        TRY(new_node(p, CEL_NODE_CALL, ret));
        TRY(parse_arguments(p, ")", *ret));
        return finish_call(p, name, false, *ret);
}

static const struct macro {
        const char *name;
        enum cel_fold fold;
        uint8_t variables; /* 1, 2, or 3 for either */
        bool filter;       /* another expression may stand before the last */
} macros[] = {
        { "all", CEL_ALL, 3, false },
        { "exists", CEL_EXISTS, 3, false },
        { "exists_one", CEL_EXISTS_ONE, 3, false },
        { "existsOne", CEL_EXISTS_ONE, 3, false },
        { "map", CEL_TRANSFORM_LIST, 1, true },
        { "filter", CEL_FILTER, 1, false },
        { "transformList", CEL_TRANSFORM_LIST, 2, true },
        { "transformMap", CEL_TRANSFORM_MAP, 2, true },
};

/* Looks ahead whether "name ," comes next: then it is a second lambda variable, if the macro may have one. */
static int another_variable_follows(struct parser *p, bool *ret)
{
        struct cel_lexer saved = p->lex;
        *ret = false;
        if (p->lex.token == CEL_TOKEN_IDENTIFIER) {
                TRY(cel_lex_next(&p->lex));
                *ret = is_punctuation(p, ",");
        }
        p->lex = saved;
        return 0;
}

static int parse_macro_variables(struct parser *p, const struct macro *macro, struct cel_node *node)
{
        const char *name = NULL;
        uint32_t second = 0;
        TRY(take_name(p, &name));
        TRY(open_variable(p, name, &node->slot));
        TRY(expect(p, ","));
        node->two_variables = macro->variables == 2;
        if (macro->variables == 3)
                TRY(another_variable_follows(p, &node->two_variables));
        if (!node->two_variables)
                return 0;
        TRY(take_name(p, &name));
        TRY(open_variable(p, name, &second));
        return expect(p, ",");
}

static int parse_macro(struct parser *p, const struct macro *macro, struct cel_node *target,
                       struct cel_node **ret)
{
        size_t outer = p->scope.n;
        struct cel_node *node = NULL, *body = NULL;
        bool more = false;
        TRY(new_node(p, CEL_NODE_FOLD, &node));
        node->fold = macro->fold;
        TRY(add_argument(p, node, target));
        TRY(parse_macro_variables(p, macro, node));
        TRY(parse_expression(p, &body));
        TRY(add_argument(p, node, body));
        TRY(accept(p, ",", &more));
        if (more && !macro->filter)
                return unexpected(p);
        if (more) {
                TRY(parse_expression(p, &body));
                TRY(add_argument(p, node, body));
        }
        p->scope.n = outer;
        *ret = node;
        return expect(p, ")");
}

/* cel.bind(name, value, expression); after the bracket. */
static int parse_bind(struct parser *p, struct cel_node **ret)
{
        size_t outer = p->scope.n;
        const char *name = NULL;
        struct cel_node *node = NULL, *part = NULL;
        TRY(new_node(p, CEL_NODE_BIND, &node));
        TRY(take_name(p, &name));
        TRY(expect(p, ","));
        TRY(parse_expression(p, &part));
        TRY(add_argument(p, node, part));
        TRY(expect(p, ","));
        TRY(open_variable(p, name, &node->slot));
        TRY(parse_expression(p, &part));
        TRY(add_argument(p, node, part));
        p->scope.n = outer;
        *ret = node;
        return expect(p, ")");
}

/* optMap and optFlatMap: the lambda runs on the content of an optional. */
static int parse_optional_macro(struct parser *p, bool flat, struct cel_node *target, struct cel_node **ret)
{
        size_t outer = p->scope.n;
        const char *name = NULL;
        struct cel_node *node = NULL, *body = NULL;
        TRY(new_node(p, CEL_NODE_BIND, &node));
        node->optional = true;
        node->two_variables = flat;
        TRY(add_argument(p, node, target));
        TRY(take_name(p, &name));
        TRY(open_variable(p, name, &node->slot));
        TRY(expect(p, ","));
        TRY(parse_expression(p, &body));
        TRY(add_argument(p, node, body));
        p->scope.n = outer;
        *ret = node;
        return expect(p, ")");
}

static int parse_member_call(struct parser *p, const char *name, struct cel_node *target,
                             struct cel_node **ret)
{
        char qualified[64];
        for (size_t i = 0; i < ARRAY_LEN(macros); i++)
                if (!strcmp(name, macros[i].name))
                        return parse_macro(p, &macros[i], target, ret);
        if (!strcmp(name, "optMap") || !strcmp(name, "optFlatMap"))
                return parse_optional_macro(p, !strcmp(name, "optFlatMap"), target, ret);
        bool in_namespace = target->kind == CEL_NODE_GLOBAL && cel_namespace_known(target->name);
        if (in_namespace && !strcmp(target->name, "cel") && !strcmp(name, "bind"))
                return parse_bind(p, ret);
        TRY(new_node(p, CEL_NODE_CALL, ret));
        if (!in_namespace)
                TRY(add_argument(p, *ret, target));
        TRY(parse_arguments(p, ")", *ret));
        if (!in_namespace)
                return finish_call(p, name, true, *ret);
        snprintf(qualified, sizeof(qualified), "%s.%s", target->name, name);
        return finish_call(p, qualified, false, *ret);
}

/* --- Members
 * ------------------------------------------------------------------------------------------------- */

static int parse_select(struct parser *p, const char *dot, struct cel_node *target, struct cel_node **ret)
{
        bool optional = false, call = false;
        const char *name = NULL;
        TRY(accept(p, "?", &optional));
        bool backticks = p->lex.token == CEL_TOKEN_QUOTED;
        if (backticks)
                p->lex.token = CEL_TOKEN_IDENTIFIER;
        TRY(take_name(p, &name));
        if (!optional && !backticks)
                TRY(accept(p, "(", &call));
        if (call)
                return parse_member_call(p, name, target, ret);
        TRY(new_node(p, CEL_NODE_SELECT, ret));
        (*ret)->name = name;
        (*ret)->at = (uint32_t)(dot - p->lex.source);
        (*ret)->optional = optional;
        if (!backticks)
                TRY(unescape_field(p, name, &(*ret)->plain_name));
        return add_argument(p, *ret, target);
}

static int parse_index(struct parser *p, struct cel_node *target, struct cel_node **ret)
{
        struct cel_node *index = NULL;
        TRY(new_node(p, CEL_NODE_INDEX, ret));
        TRY(accept(p, "?", &(*ret)->optional));
        TRY(parse_expression(p, &index));
        TRY(add_argument(p, *ret, target));
        TRY(add_argument(p, *ret, index));
        return expect(p, "]");
}

static int parse_list(struct parser *p, struct cel_node **ret)
{
        TRY(new_node(p, CEL_NODE_LIST, ret));
        bool more = !is_punctuation(p, "]");
        while (more) {
                struct cel_node *item = NULL;
                bool optional = false;
                TRY(accept(p, "?", &optional));
                TRY(parse_expression(p, &item));
                if (optional) { /* [?x]: there if the optional has a value */
                        struct cel_node *marker = NULL;
                        TRY(new_node(p, CEL_NODE_LIST, &marker));
                        marker->optional = true;
                        TRY(add_argument(p, marker, item));
                        item = marker;
                }
                TRY(add_argument(p, *ret, item));
                TRY(accept(p, ",", &more));
                more = more && !is_punctuation(p, "]");
        }
        return expect(p, "]");
}

static int parse_map(struct parser *p, struct cel_node **ret)
{
        TRY(new_node(p, CEL_NODE_MAP, ret));
        bool more = !is_punctuation(p, "}");
        while (more) {
                struct cel_node *key = NULL, *value = NULL;
                bool optional = false;
                TRY(accept(p, "?", &optional));
                TRY(parse_expression(p, &key));
                TRY(expect(p, ":"));
                TRY(parse_expression(p, &value));
                if (optional) {
                        struct cel_node *marker = NULL;
                        TRY(new_node(p, CEL_NODE_LIST, &marker));
                        marker->optional = true;
                        TRY(add_argument(p, marker, value));
                        value = marker;
                }
                TRY(add_argument(p, *ret, key));
                TRY(add_argument(p, *ret, value));
                TRY(accept(p, ",", &more));
                more = more && !is_punctuation(p, "}");
        }
        return expect(p, "}");
}

static int parse_name(struct parser *p, struct cel_node **ret)
{
        const char *name = NULL;
        bool call = false;
        TRY(take_name(p, &name));
        if (!strcmp(name, "true") || !strcmp(name, "false"))
                return constant_node(p, cel_bool(*name == 't'), ret);
        if (!strcmp(name, "null"))
                return constant_node(p, (struct cel_value){ .kind = CEL_NULL }, ret);
        TRY(accept(p, "(", &call));
        return call ? parse_call(p, name, ret) : name_node(p, name, ret);
}

static int parse_primary(struct parser *p, struct cel_node **ret)
{
        bool found = false;
        if (p->lex.token == CEL_TOKEN_CONSTANT) {
                TRY(constant_node(p, p->lex.constant, ret));
                return cel_lex_next(&p->lex);
        }
        TRY(accept(p, "(", &found));
        if (found) {
                TRY(parse_expression(p, ret));
                return expect(p, ")");
        }
        TRY(accept(p, "[", &found));
        if (found)
                return parse_list(p, ret);
        TRY(accept(p, "{", &found));
        if (found)
                return parse_map(p, ret);
        TRY(accept(p, ".", &found)); /* a leading dot names the root scope, the only one there is */
        return parse_name(p, ret);
}

static int parse_member(struct parser *p, struct cel_node **ret)
{
        TRY(parse_primary(p, ret));
        for (;;) {
                const char *dot = p->lex.token_begin;
                bool found = false;
                TRY(accept(p, ".", &found));
                if (found) {
                        TRY(parse_select(p, dot, *ret, ret));
                        continue;
                }
                TRY(accept(p, "[", &found));
                if (!found)
                        return 0;
                TRY(parse_index(p, *ret, ret));
        }
}

/* --- Operators
 * ----------------------------------------------------------------------------------------------- */

/* A run of '!' or of '-': pairs of them cancel out only in their effect, so each makes a node. */
static int parse_unary(struct parser *p, struct cel_node **ret)
{
        size_t n = 0;
        const char *sign = is_punctuation(p, "!") ? "!" : "-";
        for (bool found = true; found; n += found)
                TRY(accept(p, sign, &found));
        bool negative = n && *sign == '-';
        if (negative && p->lex.token == CEL_TOKEN_INT_MIN) {
                p->lex.token = CEL_TOKEN_CONSTANT;
                p->lex.constant = cel_int(INT64_MIN);
                n--;
        } else if (negative && p->lex.token == CEL_TOKEN_CONSTANT && p->lex.constant.kind == CEL_INT) {
                p->lex.constant.integer = -p->lex.constant.integer;
                n--;
        } else if (p->lex.token == CEL_TOKEN_INT_MIN) {
                return cel_lex_error(&p->lex, "invalid int literal");
        }
        TRY(parse_member(p, ret));
        for (; n > 0; n--) {
                struct cel_node *node = NULL;
                TRY(new_node(p, *sign == '!' ? CEL_NODE_NOT : CEL_NODE_NEGATE, &node));
                TRY(add_argument(p, node, *ret));
                *ret = node;
        }
        return 0;
}

static const struct operator_entry {
        const char *text;
        uint8_t level;
        enum cel_node_kind kind;
        enum cel_operator operator;
} operators[] = {
        { "||", 1, CEL_NODE_OR, 0 },
        { "&&", 2, CEL_NODE_AND, 0 },
        { "==", 3, CEL_NODE_BINARY, CEL_EQUAL },
        { "!=", 3, CEL_NODE_BINARY, CEL_NOT_EQUAL },
        { "<", 3, CEL_NODE_BINARY, CEL_LESS },
        { "<=", 3, CEL_NODE_BINARY, CEL_LESS_EQUAL },
        { ">", 3, CEL_NODE_BINARY, CEL_GREATER },
        { ">=", 3, CEL_NODE_BINARY, CEL_GREATER_EQUAL },
        { "in", 3, CEL_NODE_BINARY, CEL_IN },
        { "+", 4, CEL_NODE_BINARY, CEL_ADD },
        { "-", 4, CEL_NODE_BINARY, CEL_SUBTRACT },
        { "*", 5, CEL_NODE_BINARY, CEL_MULTIPLY },
        { "/", 5, CEL_NODE_BINARY, CEL_DIVIDE },
        { "%", 5, CEL_NODE_BINARY, CEL_MODULO },
};

static const struct operator_entry *current_operator(const struct parser *p)
{
        bool word = p->lex.token == CEL_TOKEN_IDENTIFIER;
        if (!word && p->lex.token != CEL_TOKEN_PUNCTUATION)
                return NULL;
        for (size_t i = 0; i < ARRAY_LEN(operators); i++)
                if (slice_is(p->lex.text, operators[i].text))
                        return &operators[i];
        return NULL;
}

static int parse_binary(struct parser *p, unsigned level, struct cel_node **ret)
{
        TRY(parse_unary(p, ret));
        for (;;) {
                const struct operator_entry *op = current_operator(p);
                struct cel_node *node = *ret, *right = NULL;
                if (!op || op->level < level)
                        return 0;
                TRY(cel_lex_next(&p->lex));
                TRY(parse_binary(p, op->level + 1u, &right));
                /* a && b && c is one node, so that long chains are not deep. */
                bool joins = op->kind != CEL_NODE_BINARY && node->kind == op->kind;
                if (!joins) {
                        TRY(new_node(p, op->kind, &node));
                        node->operator= op->operator;
                        TRY(add_argument(p, node, *ret));
                }
                TRY(add_argument(p, node, right));
                *ret = node;
        }
}

static int parse_choice(struct parser *p, struct cel_node **ret)
{
        bool found = false;
        struct cel_node *node = NULL, *branch = NULL;
        TRY(parse_binary(p, 1, ret));
        TRY(accept(p, "?", &found));
        if (!found)
                return 0;
        TRY(new_node(p, CEL_NODE_CHOICE, &node));
        TRY(add_argument(p, node, *ret));
        TRY(parse_binary(p, 1, &branch));
        TRY(add_argument(p, node, branch));
        TRY(expect(p, ":"));
        TRY(parse_expression(p, &branch));
        TRY(add_argument(p, node, branch));
        *ret = node;
        return 0;
}

static int parse_expression(struct parser *p, struct cel_node **ret)
{
        if (++p->nesting > CEL_MAX_NESTING)
                return error_set(p->lex.err, ERR_LIMIT, "expression nests deeper than %d", CEL_MAX_NESTING);
        TRY(parse_choice(p, ret));
        p->nesting--;
        return 0;
}

int cel_compile(struct arena *arena, const char *expression, struct cel_program **ret, struct error *err)
{
        size_t n = strlen(expression);
        if (n > CEL_MAX_EXPRESSION)
                return error_set(err, ERR_LIMIT, "expression is longer than %u bytes", CEL_MAX_EXPRESSION);
        struct cel_program *program = ARENA_NEW(arena, struct cel_program);
        if (!program || !(program->expression = arena_strdup(arena, expression)))
                return error_no_memory(err);
        struct parser p = {
                .lex = { .arena = arena,
                         .err = err,
                         .source = program->expression,
                         .at = program->expression,
                         .end = program->expression + n },
                .program = program,
        };
        TRY(cel_lex_next(&p.lex));
        TRY(parse_expression(&p, &program->root));
        if (p.lex.token != CEL_TOKEN_END)
                return unexpected(&p);
        *ret = program;
        return 0;
}

bool cel_uses_variable(const struct cel_program *p, const char *name)
{
        return text_in(name, p->variables, p->n_variables);
}

static bool is_variable(const struct cel_program *p, const struct cel_node *n, const char *name)
{
        return n->kind == CEL_NODE_GLOBAL && strcmp(p->variables[n->slot], name) == 0;
}

static bool reads_member(const struct cel_program *p, const struct cel_node *n, const char *variable,
                         const char *member)
{
        bool names = n->kind == CEL_NODE_SELECT || n->kind == CEL_NODE_HAS;
        if (is_variable(p, n, variable))
                return true;
        if (names && is_variable(p, n->args[0], variable))
                return text_equal(n->name, member) || text_equal(n->plain_name, member);
        for (size_t i = 0; i < n->n_args; i++)
                if (reads_member(p, n->args[i], variable, member))
                        return true;
        return false;
}

bool cel_reads_member(const struct cel_program *p, const char *variable, const char *member)
{
        return reads_member(p, p->root, variable, member);
}
