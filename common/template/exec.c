/* Renders a template: walks its tree and writes. */
#include "common/template/exec.h"

#include "common/base/limits.h"
#include "common/base/memory.h"

enum walked { GO_ON = 0, BREAKS, CONTINUES }; /* or an error */

static int walk(struct run *run, const struct value *dot, const struct node *node);
static int walk_list(struct run *run, const struct value *dot, const struct node *list);

/* ---- variables ---- */

int run_push(struct run *run, struct slice name, struct value value)
{
        if (run->n_vars == run->cap_vars) {
                size_t cap = run->cap_vars ? 2 * run->cap_vars : 16;
                struct variable *larger;
                TRY(run_alloc(run, cap, sizeof(*larger), &larger));
                if (run->n_vars)
                        memcpy(larger, run->vars, run->n_vars * sizeof(*larger));
                run->vars = larger;
                run->cap_vars = cap;
        }
        run->vars[run->n_vars++] = (struct variable){ name, value };
        return 0;
}

static struct variable *variable_named(struct run *run, struct slice name)
{
        for (size_t i = run->n_vars; i-- > 0;)
                if (slice_equal(run->vars[i].name, name))
                        return &run->vars[i];
        return NULL;
}

int run_assign(struct run *run, struct slice name, struct value value)
{
        struct variable *v = variable_named(run, name);
        if (!v)
                return run_fail(run, "undefined variable: %.*s", (int)name.len, name.data);
        v->value = value;
        return 0;
}

int run_variable(struct run *run, struct slice name, struct value *ret)
{
        const struct variable *v = variable_named(run, name);
        if (!v)
                return run_fail(run, "undefined variable: %.*s", (int)name.len, name.data);
        *ret = v->value;
        return 0;
}

int run_enter(struct run *run)
{
        if (run->nesting >= LIMIT_TEMPLATE_CALLS)
                return run_limit(run, "nested deeper than %d levels", LIMIT_TEMPLATE_CALLS);
        run->nesting++;
        return 0;
}

/* ---- output ---- */

static int check_output(struct run *run)
{
        if (run->out->failed == ERR_NO_MEMORY)
                return run_no_memory(run);
        if (!run->out->failed && run->out->len - run->out_begin <= LIMIT_TEMPLATE_OUTPUT_BYTES)
                return 0;
        return run_limit(run, "output of more than %zu bytes",
                         MIN(run->out->max - run->out_begin, (size_t)LIMIT_TEMPLATE_OUTPUT_BYTES));
}

static int write_text(struct run *run, struct slice text)
{
        buf_append(run->out, text.data, text.len);
        return check_output(run);
}

static int write_value(struct run *run, const struct node *node, const struct value *v)
{
        run->at = node;
        if (v->type == VALUE_STRING)
                return write_text(run, v->string);
        if (v->type == VALUE_NONE)
                return write_text(run, v->boxed ? SLICE("<nil>") : SLICE("<no value>"));
        TRY(value_print(run, v, run->out));
        return check_output(run);
}

static int walk_action(struct run *run, const struct value *dot, const struct node *node)
{
        struct value value;
        TRY(eval_pipeline(run, dot, node->pipe, &value));
        return node->pipe->n_decls ? 0 : write_value(run, node, &value);
}

/* ---- control ---- */

static int walk_condition(struct run *run, const struct value *dot, const struct node *node)
{
        struct value value;
        size_t n_vars = run->n_vars;
        TRY(eval_pipeline(run, dot, node->pipe, &value));
        const struct node *list = value_truth(&value) ? node->body : node->otherwise;
        int walked =
                list ? walk_list(run, list == node->body && node->type == NODE_WITH ? &value : dot, list) : 0;
        run->n_vars = n_vars;
        return walked;
}

/* Variables declared by the range hold the key and the element: the element alone where there is but one. */
static int set_range_variables(struct run *run, const struct node *pipe, size_t n_vars, struct value key,
                               struct value element)
{
        size_t n = pipe->n_decls;
        if (n && pipe->assign) {
                TRY(run_assign(run, pipe->decls[0]->text, n > 1 ? key : element));
                return n > 1 ? run_assign(run, pipe->decls[1]->text, element) : 0;
        }
        if (n)
                run->vars[n_vars - 1].value = element;
        if (n > 1)
                run->vars[n_vars - 2].value = key;
        return 0;
}

static int iterate(struct run *run, const struct node *node, struct value key, struct value element)
{
        size_t n_vars = run->n_vars;
        TRY(run_spend(run, 1));
        TRY(set_range_variables(run, node->pipe, n_vars, key, element));
        int walked = walk_list(run, &element, node->body);
        run->n_vars = n_vars;
        return walked == CONTINUES ? GO_ON : walked;
}

static int range_over_list(struct run *run, const struct node *node, struct sequence *list)
{
        TRY(list_load(run, list));
        for (size_t i = 0; i < list->n; i++) {
                int walked = iterate(run, node, value_integer(VALUE_INT, (int64_t)i), list->at[i]);
                if (walked != GO_ON)
                        return walked;
        }
        return 0;
}

/* Over the map as it is now: what the body changes in it does not change the walk. */
static int range_over_map(struct run *run, const struct node *node, struct dict *dict)
{
        struct dict_member *at;
        TRY(dict_load(run, dict));
        size_t n = dict->n;
        TRY(run_spend_bytes(run, n * sizeof(*at)));
        TRY(run_alloc(run, n, sizeof(*at), &at));
        if (n)
                memcpy(at, dict->at, n * sizeof(*at));
        for (size_t i = 0; i < n; i++) {
                int walked = iterate(run, node, value_string(at[i].key), at[i].value);
                if (walked != GO_ON)
                        return walked;
        }
        return 0;
}

static int range_over_integer(struct run *run, const struct node *node, const struct value *v)
{
        if (node->pipe->n_decls > 1)
                return run_fail(run, "can't use %lld to iterate over more than one variable",
                                (long long)v->integer);
        for (int64_t i = 0; i < v->integer; i++) {
                int walked = iterate(run, node, value_none(), value_integer((enum value_type)v->type, i));
                if (walked != GO_ON)
                        return walked;
        }
        return 0;
}

static int cannot_range(struct run *run, const struct value *v)
{
        struct buf *text = run_scratch(run);
        TRY(value_print(run, v, text));
        return run_fail(run, "range can't iterate over %s", text->data);
}

static int range_over(struct run *run, const struct node *node, struct value *v)
{
        if (value_is_list(v))
                return range_over_list(run, node, v->list);
        if (value_is_map(v))
                return range_over_map(run, node, v->map);
        return value_is_integer(v) ? range_over_integer(run, node, v) : cannot_range(run, v);
}

static bool has_elements(const struct value *v)
{
        return value_is_integer(v) ? v->integer > 0 : v->type != VALUE_NONE && value_truth(v);
}

static bool may_be_empty(const struct value *v)
{
        return v->type == VALUE_NONE || value_is_integer(v) || value_is_list(v) || value_is_map(v);
}

static int walk_range(struct run *run, const struct value *dot, const struct node *node)
{
        struct value value;
        size_t n_vars = run->n_vars;
        int walked = GO_ON;
        TRY(eval_pipeline(run, dot, node->pipe, &value));
        if (has_elements(&value) || !may_be_empty(&value) || value_is_integer(&value))
                walked = range_over(run, node, &value);
        if (walked == GO_ON && node->otherwise && may_be_empty(&value) && !has_elements(&value))
                walked = walk_list(run, dot, node->otherwise);
        run->n_vars = n_vars;
        return walked == BREAKS ? GO_ON : walked;
}

/* ---- templates ---- */

static int walk_template(struct run *run, const struct value *dot, const struct node *node)
{
        const struct tree *tree = template_lookup(run->template, node->name), *outer = run->tree;
        if (!tree)
                return run_fail(run, "template \"%.*s\" not defined", (int)node->name.len, node->name.data);
        if (run->depth == LIMIT_TEMPLATE_DEPTH)
                return run_limit(run, "exceeded maximum template depth (%d)", LIMIT_TEMPLATE_DEPTH);
        struct value value;
        TRY(eval_pipeline(run, dot, node->pipe, &value));
        /* It sees none of the variables here. */
        struct variable *vars = TAKE_PTR(run->vars);
        size_t n_vars = run->n_vars, cap_vars = run->cap_vars;
        run->n_vars = run->cap_vars = 0;
        TRY(run_push(run, SLICE("$"), value));
        run->tree = tree;
        run->depth++;
        TRY(walk_list(run, &value, tree->root));
        run->depth--;
        run->tree = outer;
        run->vars = vars;
        run->n_vars = n_vars;
        run->cap_vars = cap_vars;
        return 0;
}

static int walk_list(struct run *run, const struct value *dot, const struct node *list)
{
        for (size_t i = 0; i < list->n; i++) {
                int walked = walk(run, dot, list->items[i]);
                if (walked != GO_ON)
                        return walked;
        }
        return 0;
}

static int walk_node(struct run *run, const struct value *dot, const struct node *node)
{
        switch (node->type) {
        case NODE_TEXT:
                return write_text(run, node->text);
        case NODE_ACTION:
                return walk_action(run, dot, node);
        case NODE_IF:
        case NODE_WITH:
                return walk_condition(run, dot, node);
        case NODE_RANGE:
                return walk_range(run, dot, node);
        case NODE_TEMPLATE:
                return walk_template(run, dot, node);
        case NODE_BREAK:
                return BREAKS;
        case NODE_CONTINUE:
                return CONTINUES;
        default:
                UNREACHABLE();
        }
}

static int walk(struct run *run, const struct value *dot, const struct node *node)
{
        run->at = node;
        TRY(run_spend(run, 1));
        TRY(run_enter(run));
        int walked = walk_node(run, dot, node);
        run_leave(run);
        return walked;
}

/* ---- all ---- */

static int render(struct run *run)
{
        size_t n = run->template->options->n_roots;
        struct value dot = value_none();
        TRY(run_alloc(run, n, sizeof(*run->roots), &run->roots));
        TRY(run_alloc(run, n, sizeof(*run->root_taken), &run->root_taken));
        if (run->data->dot)
                TRY(value_of_doc(run, run->data->dot, &dot));
        dot.boxed = false;
        TRY(run_push(run, SLICE("$"), dot));
        return walk_list(run, &dot, run->tree->root);
}

int template_render(const struct template *t, const struct template_data *data, struct buf *out,
                    struct error *err)
{
        struct run *run = NEW(struct run);
        if (!run)
                return error_no_memory(err);
        *run = (struct run){ .template = t,
                             .data = data,
                             .tree = t->top,
                             .at = t->top->root,
                             .out = out,
                             .out_begin = out->len };
        run->arena.limit = 2 * LIMIT_TEMPLATE_MEMORY_BYTES;
        buf_init(&run->scratch, LIMIT_TEMPLATE_MEMORY_BYTES);
        int code = render(run);
        if (code < 0 && err)
                *err = run->error;
        arena_free(&run->arena);
        buf_free(&run->scratch);
        mem_free(run);
        return code < 0 ? code : 0;
}
