/* Builds the tree of a template from its tokens. */
#include <stdarg.h>

#include "common/base/limits.h"
#include "common/template/functions.h"
#include "common/template/tree.h"

struct parser {
        struct arena *arena;
        struct template *template;
        struct lexer lexer;
        struct token token[3]; /* looked at and given back */
        int n_peeked;
        struct slice *vars; /* in scope; $ first */
        size_t n_vars, cap_vars;
        unsigned range_depth;
        uint32_t action_line; /* of the action being parsed; 0: none */
        unsigned nesting;
        struct error why; /* here, since each level of a text has its frame on the stack */
        struct error *err;
};

/* ---- errors ---- */

static int complain(struct parser *p, const char *fmt, ...) PRINTF_LIKE(2, 3);
static int complain(struct parser *p, const char *fmt, ...)
{
        char text[ERROR_TEXT_MAX];
        va_list args;
        va_start(args, fmt);
        vsnprintf(text, sizeof(text), fmt, args);
        va_end(args);
        error_set(p->err, ERR_INVALID, "template: %s:%u: %s", p->template->options->name, p->token[0].line,
                  text);
        return ERR_INVALID;
}

static int no_memory(struct parser *p)
{
        error_no_memory(p->err);
        return ERR_NO_MEMORY;
}

static int too_deep(struct parser *p)
{
        error_set(p->err, ERR_LIMIT, "template: %s:%u: nested deeper than %d levels",
                  p->template->options->name, p->token[0].line, LIMIT_TEMPLATE_NESTING);
        return ERR_LIMIT;
}

static int bad_lexing(struct parser *p, struct token t)
{
        if (!p->action_line || p->action_line == t.line)
                return complain(p, "%.*s", (int)t.text.len, t.text.data);
        bool says_action = t.text.len >= 7 && memcmp(t.text.data + t.text.len - 7, " action", 7) == 0;
        return complain(p, "%.*s%s started at %s:%u", (int)t.text.len, t.text.data,
                        says_action ? "" : " in action", p->template->options->name, p->action_line);
}

/* The first ten characters of a token, as Go's %q has them. */
static int unexpected_text(struct parser *p, struct token t, const char *context)
{
        AUTO_BUF struct buf quoted;
        buf_init(&quoted, 256);
        size_t n = 0, width;
        for (size_t i = 0; i < 10 && n < t.text.len; i++, n += width)
                rune_decode(t.text.data + n, t.text.len - n, &width);
        write_quoted(&quoted, (struct slice){ t.text.data, t.text.len > 10 ? n : t.text.len }, QUOTE_PLAIN);
        if (quoted.failed)
                return no_memory(p);
        return complain(p, "unexpected %s%s in %s", quoted.data, t.text.len > 10 ? "..." : "", context);
}

static int unexpected(struct parser *p, struct token t, const char *context)
{
        if (t.type == TOKEN_ERROR)
                return bad_lexing(p, t);
        if (t.type == TOKEN_EOF)
                return complain(p, "unexpected EOF in %s", context);
        if (t.type >= TOKEN_DOT)
                return complain(p, "unexpected <%.*s> in %s", (int)t.text.len, t.text.data, context);
        return unexpected_text(p, t, context);
}

/* ---- tokens, three of which can be given back ---- */

static struct token next(struct parser *p)
{
        if (p->n_peeked)
                p->n_peeked--;
        else
                p->token[0] = lexer_next(&p->lexer);
        return p->token[p->n_peeked];
}

static void back(struct parser *p)
{
        p->n_peeked++;
}

static void back_two(struct parser *p, struct token earlier)
{
        p->token[1] = earlier;
        p->n_peeked = 2;
}

static void back_three(struct parser *p, struct token second, struct token first)
{
        p->token[1] = first;
        p->token[2] = second;
        p->n_peeked = 3;
}

static struct token peek(struct parser *p)
{
        if (p->n_peeked)
                return p->token[p->n_peeked - 1];
        p->n_peeked = 1;
        p->token[0] = lexer_next(&p->lexer);
        return p->token[0];
}

static struct token next_word(struct parser *p)
{
        struct token t;
        do
                t = next(p);
        while (t.type == TOKEN_SPACE);
        return t;
}

static struct token peek_word(struct parser *p)
{
        struct token t = next_word(p);
        back(p);
        return t;
}

static int expect(struct parser *p, enum token_type type, const char *context, struct token *ret)
{
        *ret = next_word(p);
        return ret->type == type ? 0 : unexpected(p, *ret, context);
}

/* ---- making nodes ---- */

static int new_node(struct parser *p, enum node_type type, uint32_t at, struct node **ret)
{
        struct node *node = ARENA_NEW(p->arena, struct node);
        if (!node)
                return no_memory(p);
        node->type = type;
        node->at = at;
        *ret = node;
        return 0;
}

static int grow(struct parser *p, void **at, size_t n, size_t size)
{
        if (n && (n < 4 || (n & (n - 1))))
                return 0;
        void *larger = arena_calloc(p->arena, n ? 2 * n : 4, size);
        if (!larger)
                return no_memory(p);
        if (n)
                memcpy(larger, *at, n * size);
        *at = larger;
        return 0;
}

static int add_item(struct parser *p, struct node *to, struct node *item)
{
        TRY(grow(p, (void **)&to->items, to->n, sizeof(struct node *)));
        to->items[to->n++] = item;
        return 0;
}

static int add_field(struct parser *p, struct node *to, struct slice field)
{
        TRY(grow(p, (void **)&to->fields, to->n_fields, sizeof(struct slice)));
        to->fields[to->n_fields++] = (struct slice){ field.data + 1, field.len - 1 };
        return 0;
}

static int declare(struct parser *p, struct slice name)
{
        if (p->n_vars == p->cap_vars) {
                struct slice *larger = ARENA_NEW_ARRAY(p->arena, struct slice, 2 * p->cap_vars + 8);
                if (!larger)
                        return no_memory(p);
                if (p->n_vars)
                        memcpy(larger, p->vars, p->n_vars * sizeof(*larger));
                p->vars = larger;
                p->cap_vars = 2 * p->cap_vars + 8;
        }
        p->vars[p->n_vars++] = name;
        return 0;
}

/* ---- operands ---- */

static int parse_pipeline(struct parser *p, const char *context, enum token_type end, struct node **ret);

static int parse_variable(struct parser *p, struct token t, struct node **ret)
{
        for (size_t i = p->n_vars; i-- > 0;)
                if (slice_equal(p->vars[i], t.text)) {
                        TRY(new_node(p, NODE_VARIABLE, t.at, ret));
                        (*ret)->text = t.text;
                        return 0;
                }
        return complain(p, "undefined variable \"%.*s\"", (int)t.text.len, t.text.data);
}

static int parse_identifier(struct parser *p, struct token t, struct node **ret)
{
        const struct template_options *o = p->template->options;
        TRY(new_node(p, NODE_IDENTIFIER, t.at, ret));
        (*ret)->text = t.text;
        for (size_t i = 0; i < o->n_roots; i++)
                if (slice_is(t.text, o->roots[i])) {
                        (*ret)->root = i;
                        return 0;
                }
        (*ret)->function = function_named(t.text);
        if ((*ret)->function)
                return 0;
        if (function_is_unrepeatable(t.text))
                return complain(p, "function \"%.*s\" is not repeatable", (int)t.text.len, t.text.data);
        return complain(p, "function \"%.*s\" not defined", (int)t.text.len, t.text.data);
}

static int parse_constant(struct parser *p, struct token t, struct node **ret)
{
        TRY(new_node(p, NODE_NUMBER, t.at, ret));
        (*ret)->text = t.text;
        if (literal_number(t.text, t.type == TOKEN_CHAR_CONSTANT, *ret, &p->why) < 0)
                return complain(p, "%s", p->why.text);
        return 0;
}

static int unquote(struct parser *p, struct slice quoted, struct slice *ret)
{
        int code = literal_string(p->arena, quoted, ret);
        if (code == ERR_INVALID)
                return complain(p, "invalid syntax");
        return code < 0 ? no_memory(p) : 0;
}

static int parse_string(struct parser *p, struct token t, struct node **ret)
{
        TRY(new_node(p, NODE_STRING, t.at, ret));
        (*ret)->text = t.text;
        return unquote(p, t.text, &(*ret)->string);
}

static int parse_simple(struct parser *p, struct token t, enum node_type type, struct node **ret)
{
        TRY(new_node(p, type, t.at, ret));
        (*ret)->text = t.text;
        if (type == NODE_BOOL)
                (*ret)->truth = slice_is(t.text, "true");
        return type == NODE_FIELD ? add_field(p, *ret, t.text) : 0;
}

static int parse_parens(struct parser *p, struct node **ret)
{
        if (++p->nesting > LIMIT_TEMPLATE_NESTING)
                return too_deep(p);
        TRY(parse_pipeline(p, "parenthesized pipeline", TOKEN_CLOSE, ret));
        p->nesting--;
        return 0;
}

/* *ret stays NULL where no operand stands. */
static int parse_term(struct parser *p, struct node **ret)
{
        struct token t = next_word(p);
        switch (t.type) {
        case TOKEN_IDENTIFIER:
                return parse_identifier(p, t, ret);
        case TOKEN_DOT:
                return parse_simple(p, t, NODE_DOT, ret);
        case TOKEN_NIL:
                return parse_simple(p, t, NODE_NIL, ret);
        case TOKEN_BOOL:
                return parse_simple(p, t, NODE_BOOL, ret);
        case TOKEN_FIELD:
                return parse_simple(p, t, NODE_FIELD, ret);
        case TOKEN_VARIABLE:
                return parse_variable(p, t, ret);
        case TOKEN_CHAR_CONSTANT:
        case TOKEN_NUMBER:
                return parse_constant(p, t, ret);
        case TOKEN_OPEN:
                return parse_parens(p, ret);
        case TOKEN_STRING:
        case TOKEN_RAW_STRING:
                return parse_string(p, t, ret);
        default:
                back(p);
                return 0;
        }
}

/* A field behind a literal can have no meaning. */
static int check_base(struct parser *p, const struct node *base)
{
        if (base->type < NODE_DOT)
                return 0;
        AUTO_BUF struct buf quoted;
        buf_init(&quoted, ERROR_TEXT_MAX);
        write_quoted(&quoted, base->text, QUOTE_PLAIN);
        if (quoted.failed == ERR_NO_MEMORY)
                return no_memory(p);
        return complain(p, "unexpected . after term %s", quoted.data);
}

/* A term and the fields behind it. */
static int parse_operand(struct parser *p, struct node **ret)
{
        struct node *term = NULL;
        TRY(parse_term(p, &term));
        *ret = term;
        if (!term || peek(p).type != TOKEN_FIELD)
                return 0;
        uint32_t at = peek(p).at;
        if (term->type != NODE_FIELD && term->type != NODE_VARIABLE) {
                TRY(new_node(p, NODE_CHAIN, at, ret));
                (*ret)->base = term;
        }
        while (peek(p).type == TOKEN_FIELD)
                TRY(add_field(p, *ret, next(p).text));
        (*ret)->at = at;
        return *ret == term ? 0 : check_base(p, term);
}

static int parse_command(struct parser *p, struct node **ret)
{
        TRY(new_node(p, NODE_COMMAND, peek_word(p).at, ret));
        for (;;) {
                struct node *operand = NULL;
                peek_word(p);
                TRY(parse_operand(p, &operand));
                if (operand)
                        TRY(add_item(p, *ret, operand));
                struct token t = next(p);
                if (t.type == TOKEN_SPACE)
                        continue;
                if (t.type == TOKEN_RIGHT || t.type == TOKEN_CLOSE)
                        back(p);
                else if (t.type != TOKEN_PIPE)
                        return unexpected(p, t, "operand");
                break;
        }
        return (*ret)->n ? 0 : complain(p, "empty command");
}

/* ---- pipelines ---- */

static int add_declaration(struct parser *p, struct node *pipe, struct token variable)
{
        struct node *node;
        TRY(new_node(p, NODE_VARIABLE, variable.at, &node));
        node->text = variable.text;
        TRY(grow(p, (void **)&pipe->decls, pipe->n_decls, sizeof(struct node *)));
        pipe->decls[pipe->n_decls++] = node;
        return declare(p, variable.text);
}

/* Behind `$x,`: only a range may declare a second variable. */
static int check_comma(struct parser *p, const struct node *pipe, const char *context)
{
        if (strcmp(context, "range") != 0 || pipe->n_decls >= 2)
                return complain(p, "too many declarations in %s", context);
        enum token_type type = peek_word(p).type;
        if (type != TOKEN_VARIABLE && type != TOKEN_RIGHT && type != TOKEN_CLOSE)
                return complain(p, "range can only initialize variables");
        return 0;
}

static int parse_declarations(struct parser *p, struct node *pipe, const char *context)
{
        while (peek_word(p).type == TOKEN_VARIABLE) {
                struct token variable = next(p), adjacent = peek(p), behind = peek_word(p);
                bool comma = behind.type == TOKEN_CHAR && slice_is(behind.text, ",");
                if (behind.type != TOKEN_ASSIGN && behind.type != TOKEN_DECLARE && !comma) {
                        if (adjacent.type == TOKEN_SPACE)
                                back_three(p, variable, adjacent);
                        else
                                back_two(p, variable);
                        return 0;
                }
                next_word(p);
                TRY(add_declaration(p, pipe, variable));
                pipe->assign = behind.type == TOKEN_ASSIGN;
                if (!comma)
                        return 0;
                TRY(check_comma(p, pipe, context));
        }
        return 0;
}

static int check_pipeline(struct parser *p, const struct node *pipe, const char *context)
{
        if (!pipe->n)
                return complain(p, "missing value for %s", context);
        for (size_t i = 1; i < pipe->n; i++)
                if (pipe->items[i]->items[0]->type >= NODE_DOT)
                        return complain(p, "non executable command in pipeline stage %zu", i + 1);
        return 0;
}

static bool begins_command(enum token_type type)
{
        return type == TOKEN_OPEN || (type >= TOKEN_BOOL && type <= TOKEN_NIL);
}

static int parse_pipeline(struct parser *p, const char *context, enum token_type end, struct node **ret)
{
        struct node *pipe, *command;
        TRY(new_node(p, NODE_PIPE, peek_word(p).at, &pipe));
        TRY(parse_declarations(p, pipe, context));
        for (;;) {
                struct token t = next_word(p);
                if (t.type == end)
                        break;
                if (!begins_command(t.type))
                        return unexpected(p, t, context);
                back(p);
                TRY(parse_command(p, &command));
                TRY(add_item(p, pipe, command));
        }
        *ret = pipe;
        return check_pipeline(p, pipe, context);
}

/* ---- actions ---- */

static int parse_item(struct parser *p, struct node **ret);
static int parse_action(struct parser *p, struct node **ret);

/* Until {{end}} or {{else}}, which is *ret_end. */
static int parse_list(struct parser *p, struct node **ret, struct node **ret_end)
{
        TRY(new_node(p, NODE_LIST, peek_word(p).at, ret));
        while (peek_word(p).type != TOKEN_EOF) {
                struct node *item;
                TRY(parse_item(p, &item));
                if (item->type == NODE_END || item->type == NODE_ELSE) {
                        *ret_end = item;
                        return 0;
                }
                TRY(add_item(p, *ret, item));
        }
        return complain(p, "unexpected EOF");
}

static int parse_control(struct parser *p, enum node_type type, uint32_t at, struct node **ret);

/* {{else}}, {{else if}} behind an if, {{else with}} behind a with. */
static int parse_else(struct parser *p, struct node *control, const struct node *at)
{
        enum token_type again = control->type == NODE_IF     ? TOKEN_IF
                                : control->type == NODE_WITH ? TOKEN_WITH
                                                             : TOKEN_ERROR;
        struct token t = peek(p);
        if (again != TOKEN_ERROR && t.type == again) {
                struct node *inner;
                next(p);
                TRY(new_node(p, NODE_LIST, at->at, &control->otherwise));
                TRY(parse_control(p, control->type, 0, &inner));
                return add_item(p, control->otherwise, inner);
        }
        struct node *end;
        TRY(parse_list(p, &control->otherwise, &end));
        return end->type == NODE_END ? 0 : complain(p, "expected end; found {{else}}");
}

static const char *keyword(enum node_type type)
{
        return type == NODE_IF ? "if" : type == NODE_WITH ? "with" : "range";
}

static int parse_control(struct parser *p, enum node_type type, uint32_t at, struct node **ret)
{
        struct node *control, *end;
        size_t n_vars = p->n_vars;
        if (++p->nesting > LIMIT_TEMPLATE_NESTING)
                return too_deep(p);
        TRY(new_node(p, type, 0, &control));
        TRY(parse_pipeline(p, keyword(type), TOKEN_RIGHT, &control->pipe));
        control->at = control->pipe->at;
        p->range_depth += type == NODE_RANGE;
        TRY(parse_list(p, &control->body, &end));
        p->range_depth -= type == NODE_RANGE;
        if (end->type == NODE_ELSE)
                TRY(parse_else(p, control, end));
        p->nesting--;
        p->n_vars = n_vars;
        *ret = control;
        return 0;
}

/* {{else}} is left to who parses the list. */
static int parse_else_mark(struct parser *p, struct node **ret)
{
        struct token t = peek_word(p);
        if (t.type != TOKEN_IF && t.type != TOKEN_WITH)
                TRY(expect(p, TOKEN_RIGHT, "else", &t));
        return new_node(p, NODE_ELSE, t.at, ret);
}

static int parse_end_mark(struct parser *p, struct node **ret)
{
        struct token t;
        TRY(expect(p, TOKEN_RIGHT, "end", &t));
        return new_node(p, NODE_END, t.at, ret);
}

static int parse_jump(struct parser *p, struct token word, enum node_type type, struct node **ret)
{
        const char *text = type == NODE_BREAK ? "{{break}}" : "{{continue}}";
        struct token t;
        TRY(expect(p, TOKEN_RIGHT, text, &t));
        if (!p->range_depth)
                return complain(p, "%s outside {{range}}", text);
        return new_node(p, type, word.at, ret);
}

static int parse_name(struct parser *p, struct token t, const char *context, struct slice *ret)
{
        if (t.type != TOKEN_STRING && t.type != TOKEN_RAW_STRING)
                return unexpected(p, t, context);
        return unquote(p, t.text, ret);
}

static int parse_invocation(struct parser *p, struct node **ret)
{
        struct token t = next_word(p);
        struct slice name;
        TRY(parse_name(p, t, "template clause", &name));
        TRY(new_node(p, NODE_TEMPLATE, t.at, ret));
        (*ret)->name = name;
        if (next_word(p).type == TOKEN_RIGHT)
                return 0;
        back(p);
        return parse_pipeline(p, "template clause", TOKEN_RIGHT, &(*ret)->pipe);
}

/* ---- definitions ---- */

/* What a definition of its own has of the parser. */
struct scope {
        struct slice *vars;
        size_t n_vars, cap_vars;
        unsigned range_depth;
        uint32_t action_line;
};

static int enter_scope(struct parser *p, struct scope *outer)
{
        *outer = (struct scope){ p->vars, p->n_vars, p->cap_vars, p->range_depth, p->action_line };
        p->vars = NULL;
        p->n_vars = p->cap_vars = 0;
        p->range_depth = p->action_line = 0;
        if (++p->nesting > LIMIT_TEMPLATE_NESTING)
                return too_deep(p);
        return declare(p, SLICE("$"));
}

static void leave_scope(struct parser *p, const struct scope *outer)
{
        p->vars = outer->vars;
        p->n_vars = outer->n_vars;
        p->cap_vars = outer->cap_vars;
        p->range_depth = outer->range_depth;
        p->action_line = outer->action_line;
        p->nesting--;
}

/* A definition of blanks gives way to any other of its name. */
static int add_tree(struct parser *p, struct slice name, struct node *root)
{
        struct tree **at = &p->template->trees;
        while (*at && !slice_equal((*at)->name, name))
                at = &(*at)->next;
        if (*at && node_is_empty((*at)->root))
                (*at)->root = root;
        else if (*at && !node_is_empty(root))
                return complain(p, "template: multiple definition of template \"%.*s\"", (int)name.len,
                                name.data);
        if (*at)
                return 0;
        struct tree *tree = ARENA_NEW(p->arena, struct tree);
        if (!tree)
                return no_memory(p);
        *tree = (struct tree){ .name = name, .root = root };
        *at = tree;
        return 0;
}

static int parse_body(struct parser *p, struct slice name, const char *context)
{
        struct node *root, *end;
        TRY(parse_list(p, &root, &end));
        if (end->type != NODE_END)
                return complain(p, "unexpected {{else}} in %s", context);
        return add_tree(p, name, root);
}

static int parse_define(struct parser *p)
{
        struct scope outer;
        struct slice name;
        struct token t;
        TRY(enter_scope(p, &outer));
        TRY(parse_name(p, next_word(p), "define clause", &name));
        TRY(expect(p, TOKEN_RIGHT, "define clause", &t));
        TRY(parse_body(p, name, "define clause"));
        leave_scope(p, &outer);
        return 0;
}

static int parse_block(struct parser *p, struct node **ret)
{
        struct scope outer;
        struct token t = next_word(p);
        TRY(new_node(p, NODE_TEMPLATE, t.at, ret));
        TRY(parse_name(p, t, "block clause", &(*ret)->name));
        TRY(parse_pipeline(p, "block clause", TOKEN_RIGHT, &(*ret)->pipe));
        TRY(enter_scope(p, &outer));
        TRY(parse_body(p, (*ret)->name, "block clause"));
        leave_scope(p, &outer);
        return 0;
}

/* ---- all ---- */

static int parse_output(struct parser *p, struct node **ret)
{
        back(p);
        TRY(new_node(p, NODE_ACTION, peek(p).at, ret));
        return parse_pipeline(p, "command", TOKEN_RIGHT, &(*ret)->pipe);
}

static int parse_action(struct parser *p, struct node **ret)
{
        struct token t = next_word(p);
        switch (t.type) {
        case TOKEN_BLOCK:
                return parse_block(p, ret);
        case TOKEN_BREAK:
                return parse_jump(p, t, NODE_BREAK, ret);
        case TOKEN_CONTINUE:
                return parse_jump(p, t, NODE_CONTINUE, ret);
        case TOKEN_ELSE:
                return parse_else_mark(p, ret);
        case TOKEN_END:
                return parse_end_mark(p, ret);
        case TOKEN_IF:
                return parse_control(p, NODE_IF, t.at, ret);
        case TOKEN_RANGE:
                return parse_control(p, NODE_RANGE, t.at, ret);
        case TOKEN_WITH:
                return parse_control(p, NODE_WITH, t.at, ret);
        case TOKEN_TEMPLATE:
                return parse_invocation(p, ret);
        default:
                return parse_output(p, ret);
        }
}

/* Text or an action. */
static int parse_item(struct parser *p, struct node **ret)
{
        struct token t = next_word(p);
        if (t.type == TOKEN_TEXT) {
                TRY(new_node(p, NODE_TEXT, t.at, ret));
                (*ret)->text = t.text;
                return 0;
        }
        if (t.type != TOKEN_LEFT)
                return unexpected(p, t, "input");
        p->action_line = t.line;
        TRY(parse_action(p, ret));
        p->action_line = 0;
        return 0;
}

static int parse_top_item(struct parser *p, struct node *root)
{
        struct node *item;
        if (peek(p).type == TOKEN_LEFT) {
                struct token left = next(p);
                if (next_word(p).type == TOKEN_DEFINE)
                        return parse_define(p);
                back_two(p, left);
        }
        TRY(parse_item(p, &item));
        if (item->type == NODE_END || item->type == NODE_ELSE)
                return complain(p, "unexpected {{%s}}", item->type == NODE_END ? "end" : "else");
        return add_item(p, root, item);
}

static int parse_all(struct parser *p)
{
        struct node *root;
        TRY(declare(p, SLICE("$")));
        TRY(new_node(p, NODE_LIST, 0, &root));
        while (peek(p).type != TOKEN_EOF)
                TRY(parse_top_item(p, root));
        TRY(add_tree(p, slice_of(p->template->options->name), root));
        p->template->top = template_lookup(p->template, slice_of(p->template->options->name));
        return 0;
}

static struct slice delimiter(const char *given, const char *usual)
{
        return slice_of(text_empty(given) ? usual : given);
}

int template_parse(struct arena *arena, const struct template_options *options, struct slice text,
                   const struct template **ret, struct error *err)
{
        if (text.len > LIMIT_TEMPLATE_BYTES)
                return error_set(err, ERR_LIMIT, "template: %s: longer than %u bytes", options->name,
                                 LIMIT_TEMPLATE_BYTES);
        struct template *t = ARENA_NEW(arena, struct template);
        if (!t)
                return error_no_memory(err);
        t->options = options;
        t->text = text;
        struct parser p = { .arena = arena, .template = t, .err = err };
        lexer_init(&p.lexer, text, delimiter(options->left, "{{"), delimiter(options->right, "}}"));
        TRY(parse_all(&p));
        *ret = t;
        return 0;
}
