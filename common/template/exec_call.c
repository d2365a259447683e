/* Calls of functions: counting, typing and evaluating their arguments. */
#include "common/template/exec.h"

#define MOST_ON_STACK 4

static const char *parameter_name(enum parameter p)
{
        static const char *const names[] = {
                [TAKES_NONE] = "",
                [TAKES_ANY] = "interface {}",
                [TAKES_VALUE] = "reflect.Value",
                [TAKES_STRING] = "string",
                [TAKES_INT] = "int",
                [TAKES_FLOAT] = "float64",
                [TAKES_BOOL] = "bool",
                [TAKES_MAP] = "map[string]interface {}",
                [TAKES_LIST] = "[]interface {}",
        };
        return names[p];
}

static enum value_type type_taken(enum parameter p)
{
        static const uint8_t types[] = {
                [TAKES_STRING] = VALUE_STRING, [TAKES_INT] = VALUE_INT, [TAKES_FLOAT] = VALUE_FLOAT64,
                [TAKES_BOOL] = VALUE_BOOL,     [TAKES_MAP] = VALUE_MAP, [TAKES_LIST] = VALUE_LIST,
        };
        return types[p];
}

static bool may_be_nil(enum parameter p)
{
        return p == TAKES_ANY || p == TAKES_VALUE || p == TAKES_MAP || p == TAKES_LIST;
}

/* What a nil of the parameter's type is. */
static int nil_of(struct run *run, enum parameter p, struct value *ret)
{
        *ret = value_none();
        if (p == TAKES_MAP) {
                TRY(run_dict(run, VALUE_MAP, ret));
                ret->map->absent = true;
        }
        if (p == TAKES_LIST)
                return run_list(run, VALUE_LIST, 0, ret);
        return 0;
}

/* Whether the value may stand for the parameter. */
static int check_type(struct run *run, enum parameter p, struct value *v)
{
        if (v->type == VALUE_NONE && !v->boxed) {
                if (may_be_nil(p))
                        return nil_of(run, p, v);
                return run_fail(run, "invalid value; expected %s", parameter_name(p));
        }
        if (p == TAKES_ANY)
                *v = value_unboxed(*v);
        if (p == TAKES_ANY || p == TAKES_VALUE)
                return 0;
        if (v->type == type_taken(p)) {
                *v = value_unboxed(*v);
                return 0;
        }
        const char *got = v->type == VALUE_NONE ? "interface {}" : value_type_name(v);
        return run_fail(run, "wrong type for value; expected %s; got %s", parameter_name(p), got);
}

static int wrong_literal(struct run *run, enum parameter p, const struct node *node)
{
        static const char *const wanted[] = {
                [TAKES_STRING] = "string", [TAKES_INT] = "integer", [TAKES_FLOAT] = "float",
                [TAKES_BOOL] = "bool",     [TAKES_MAP] = NULL,      [TAKES_LIST] = NULL
        };
        AUTO_BUF struct buf text;
        run->at = node;
        buf_init(&text, ERROR_TEXT_MAX);
        node_write(node, &text);
        if (text.failed == ERR_NO_MEMORY)
                return run_no_memory(run);
        if (wanted[p])
                return run_fail(run, "expected %s; found %s", wanted[p], text.data);
        return run_fail(run, "can't handle %s for arg of type %s", text.data, parameter_name(p));
}

/* A number, string or bool that is written where a parameter of a type is wanted. */
static int eval_literal(struct run *run, enum parameter p, const struct node *node, struct value *ret)
{
        if (node->type == NODE_NUMBER && p == TAKES_INT && node->is_int)
                *ret = value_integer(VALUE_INT, node->integer);
        else if (node->type == NODE_NUMBER && p == TAKES_FLOAT && (node->is_int || node->is_float))
                *ret = value_real(node->real);
        else if (node->type == NODE_STRING && p == TAKES_STRING)
                *ret = value_string(node->string);
        else if (node->type == NODE_BOOL && p == TAKES_BOOL)
                *ret = value_bool(node->truth);
        else
                return wrong_literal(run, p, node);
        return 0;
}

static int eval_argument(struct run *run, const struct value *dot, enum parameter p, const struct node *node,
                         struct value *ret)
{
        bool literal = node->type == NODE_NUMBER || node->type == NODE_STRING || node->type == NODE_BOOL;
        run->at = node;
        if (node->type == NODE_NIL) {
                if (may_be_nil(p))
                        return nil_of(run, p, ret);
                return run_fail(run, "cannot assign nil to %s", parameter_name(p));
        }
        if (literal && p != TAKES_ANY && p != TAKES_VALUE)
                return eval_literal(run, p, node, ret);
        TRY(eval_operand(run, dot, node, ret));
        return literal ? 0 : check_type(run, p, ret);
}

static enum parameter parameter_at(const struct function *f, size_t fixed, size_t i)
{
        return (enum parameter)(i < fixed ? f->fixed[i] : f->rest);
}

static int check_count(struct run *run, const struct function *f, size_t fixed, size_t n_args, size_t n)
{
        if (f->rest ? n >= fixed : n == fixed)
                return 0;
        return run_fail(run, "wrong number of args for %s: want %s%zu got %zu", f->name,
                        f->rest ? "at least " : "", fixed, f->rest ? n_args : n);
}

/* and, or: the first argument that decides, else the last. */
static int eval_until_decided(struct run *run, const struct value *dot, const struct function *f,
                              struct node *const *args, size_t n_args, const struct value *final,
                              struct value *ret)
{
        for (size_t i = 0; i < n_args; i++) {
                TRY(eval_argument(run, dot, TAKES_VALUE, args[i], ret));
                if (value_truth(ret) == (f->variant != 0))
                        return 0;
        }
        if (final)
                *ret = *final;
        return 0;
}

static int call(struct run *run, const struct function *f, const struct node *at, const struct value *args,
                size_t n, struct value *ret)
{
        run->variant = f->variant;
        *ret = value_none();
        int code = f->call(run, args, n, ret);
        if (code == ERR_INVALID) {
                error_wrap(&run->error, "error calling %s", f->name);
                run->at = at;
                return run_error(run, ERR_INVALID, run->error.text);
        }
        TRY(code);
        if (f->gives_any)
                ret->boxed = true;
        return 0;
}

int eval_call(struct run *run, const struct value *dot, const struct function *f, const struct node *at,
              const struct node *name, struct node *const *args, size_t n_args, const struct value *final,
              struct value *ret)
{
        struct value few[MOST_ON_STACK], *values = few;
        size_t fixed = function_fixed(f), n = n_args + !!final;
        TRY(check_count(run, f, fixed, n_args, n));
        TRY(run_enter(run));
        if (f->stops_early) {
                TRY(eval_until_decided(run, dot, f, args, n_args, final, ret));
                run_leave(run);
                return 0;
        }
        if (n > MOST_ON_STACK)
                TRY(run_alloc(run, n, sizeof(*values), &values));
        for (size_t i = 0; i < n_args; i++)
                TRY(eval_argument(run, dot, parameter_at(f, fixed, i), args[i], &values[i]));
        if (final) {
                values[n_args] = *final;
                TRY(check_type(run, parameter_at(f, fixed, n_args), &values[n_args]));
        }
        run_leave(run);
        run->callee = n_args ? args[0] : NULL;
        return call(run, f, at, values, n, ret);
}
