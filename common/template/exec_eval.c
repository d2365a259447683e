/* Values of pipelines, commands and their operands. */
#include "common/template/exec.h"

/* The node as text, for errors. Free with buf_free. */
static int node_text(struct run *run, const struct node *node, struct buf *b)
{
        buf_init(b, ERROR_TEXT_MAX);
        node_write(node, b);
        return b->failed == ERR_NO_MEMORY ? run_no_memory(run) : 0;
}

static int not_a_function(struct run *run, const struct node *what)
{
        AUTO_BUF struct buf text;
        TRY(node_text(run, what, &text));
        return run_fail(run, "can't give argument to non-function %s", text.data);
}

/* ---- fields ---- */

static int field_missing(struct run *run, struct slice name, struct value *ret)
{
        *ret = value_none();
        if (!run->template->options->missing_key_fails)
                return 0;
        return run_fail(run, "map has no entry for key \"%.*s\"", (int)name.len, name.data);
}

static int field_of_nothing(struct run *run, const struct value *of, struct slice name, struct value *ret)
{
        if (of->boxed)
                return run_fail(run, "nil pointer evaluating interface {}.%.*s", (int)name.len, name.data);
        *ret = value_none();
        if (!run->template->options->missing_key_fails)
                return 0;
        return run_fail(run, "nil data; no entry for key \"%.*s\"", (int)name.len, name.data);
}

static int eval_field(struct run *run, const struct value *of, struct slice name, bool has_arguments,
                      struct value *ret)
{
        struct value *found;
        if (of->type == VALUE_NONE)
                return field_of_nothing(run, of, name, ret);
        if (!value_is_map(of))
                return run_fail(run, "can't evaluate field %.*s in type %s", (int)name.len, name.data,
                                value_static_name(of));
        if (has_arguments)
                return run_fail(run, "%.*s is not a method but has arguments", (int)name.len, name.data);
        TRY(dict_find(run, of->map, name, &found));
        if (!found)
                return field_missing(run, name, ret);
        *ret = *found;
        return 0;
}

static int eval_fields(struct run *run, struct value of, const struct node *node, bool has_arguments,
                       struct value *ret)
{
        for (size_t i = 0; i < node->n_fields; i++) {
                struct value next = value_none();
                TRY(run_spend(run, 1));
                TRY(eval_field(run, &of, node->fields[i], has_arguments && i + 1 == node->n_fields, &next));
                of = next;
        }
        *ret = of;
        return 0;
}

/* ---- operands ---- */

static int eval_root(struct run *run, size_t root, struct value *ret)
{
        if (!run->root_taken[root]) {
                TRY(value_of_doc(run, run->data->roots[root], &run->roots[root]));
                run->roots[root].boxed = run->roots[root].type == VALUE_NONE;
                run->root_taken[root] = true;
        }
        *ret = run->roots[root];
        return 0;
}

static int eval_identifier(struct run *run, const struct value *dot, const struct node *name,
                           const struct node *command, size_t n_args, const struct value *final,
                           struct value *ret)
{
        run->at = name;
        if (name->function)
                return eval_call(run, dot, name->function, command, name, n_args ? command->items + 1 : NULL,
                                 n_args, final, ret);
        if (n_args || final)
                return run_fail(run, "wrong number of args for %.*s: want 0 got %zu", (int)name->text.len,
                                name->text.data, n_args + !!final);
        return eval_root(run, name->root, ret);
}

static int eval_number(struct run *run, const struct node *node, struct value *ret)
{
        run->at = node;
        bool looks_real = memchr(node->text.data, '.', node->text.len) != NULL;
        bool hexadecimal = node->text.len > 2 && memmem(node->text.data, node->text.len, "0x", 2);
        hexadecimal |= node->text.len > 2 && memmem(node->text.data, node->text.len, "0X", 2);
        for (size_t i = 0; i < node->text.len && node->text.data[0] != '\''; i++)
                looks_real |= strchr(hexadecimal ? "pP" : "eEpP", node->text.data[i]) != NULL;
        if (node->text.data[0] == '\'')
                looks_real = false;
        if (node->is_float && looks_real)
                *ret = value_real(node->real);
        else if (node->is_int)
                *ret = value_integer(VALUE_INT, node->integer);
        else
                return run_fail(run, "%.*s overflows int", (int)node->text.len, node->text.data);
        return 0;
}

/* An operand alone: no arguments follow it, nothing is piped into it. */
int eval_operand(struct run *run, const struct value *dot, const struct node *node, struct value *ret)
{
        run->at = node;
        *ret = value_none();
        TRY(run_spend(run, 1));
        switch (node->type) {
        case NODE_DOT:
                *ret = *dot;
                return 0;
        case NODE_FIELD:
                return eval_fields(run, *dot, node, false, ret);
        case NODE_VARIABLE:
                TRY(run_variable(run, node->text, ret));
                return eval_fields(run, *ret, node, false, ret);
        case NODE_PIPE:
                return eval_pipeline(run, dot, node, ret);
        case NODE_IDENTIFIER:
                return eval_identifier(run, dot, node, node, 0, NO_FINAL, ret);
        case NODE_CHAIN:
                TRY(eval_operand(run, dot, node->base, ret));
                return eval_fields(run, *ret, node, false, ret);
        case NODE_BOOL:
                *ret = value_bool(node->truth);
                return 0;
        case NODE_NUMBER:
                return eval_number(run, node, ret);
        case NODE_STRING:
                *ret = value_string(node->string);
                return 0;
        default:
                return 0; /* nil */
        }
}

/* ---- commands ---- */

static int eval_variable(struct run *run, const struct node *command, const struct value *final,
                         struct value *ret)
{
        const struct node *variable = command->items[0];
        bool has_arguments = command->n > 1 || final;
        run->at = variable;
        TRY(run_variable(run, variable->text, ret));
        if (!variable->n_fields && has_arguments)
                return not_a_function(run, variable);
        return eval_fields(run, *ret, variable, has_arguments, ret);
}

static int eval_chain(struct run *run, const struct value *dot, const struct node *command,
                      const struct value *final, struct value *ret)
{
        const struct node *chain = command->items[0];
        run->at = chain;
        TRY(eval_operand(run, dot, chain->base, ret));
        return eval_fields(run, *ret, chain, command->n > 1 || final, ret);
}

static int eval_constant(struct run *run, const struct value *dot, const struct node *command,
                         const struct value *final, struct value *ret)
{
        const struct node *first = command->items[0];
        run->at = first;
        if (command->n > 1 || final)
                return not_a_function(run, first);
        if (first->type == NODE_NIL)
                return run_fail(run, "nil is not a command");
        return eval_operand(run, dot, first, ret);
}

static int eval_command(struct run *run, const struct value *dot, const struct node *command,
                        const struct value *final, struct value *ret)
{
        const struct node *first = command->items[0];
        TRY(run_spend(run, 1));
        switch (first->type) {
        case NODE_FIELD:
                run->at = first;
                return eval_fields(run, *dot, first, command->n > 1 || final, ret);
        case NODE_CHAIN:
                return eval_chain(run, dot, command, final, ret);
        case NODE_IDENTIFIER:
                return eval_identifier(run, dot, first, command, command->n - 1, final, ret);
        case NODE_PIPE:
                if (command->n > 1 || final)
                        return not_a_function(run, first);
                return eval_pipeline(run, dot, first, ret);
        case NODE_VARIABLE:
                return eval_variable(run, command, final, ret);
        default:
                return eval_constant(run, dot, command, final, ret);
        }
}

static int set_variables(struct run *run, const struct node *pipe, struct value value)
{
        for (size_t i = 0; i < pipe->n_decls; i++)
                TRY(pipe->assign ? run_assign(run, pipe->decls[i]->text, value)
                                 : run_push(run, pipe->decls[i]->text, value));
        return 0;
}

int eval_pipeline(struct run *run, const struct value *dot, const struct node *pipe, struct value *ret)
{
        struct value value = value_none();
        *ret = value;
        if (!pipe)
                return 0;
        run->at = pipe;
        TRY(run_enter(run));
        for (size_t i = 0; i < pipe->n; i++) {
                struct value next = value_none();
                TRY(eval_command(run, dot, pipe->items[i], i ? &value : NO_FINAL, &next));
                value = value_unboxed(next);
        }
        run_leave(run);
        TRY(set_variables(run, pipe, value));
        *ret = value;
        return 0;
}
