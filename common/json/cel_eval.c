/* Evaluates the tree of a CEL program over borrowed documents. */
#include "common/json/cel_internal.h"

/* --- Access
 * -------------------------------------------------------------------------------------------------- */

static int no_such_key(struct cel_run *run, const struct cel_value *key)
{
        struct cel_value text = { 0 };
        TRY(cel_to_string(run, key, &text));
        return cel_fail(run, "no such key: %.*s", (int)MIN(text.text.len, 200u), text.text.data);
}

/* Looks through optionals: selecting in an optional gives an optional. */
static int eval_select(struct cel_run *run, const struct cel_node *node, struct cel_value *ret)
{
        struct cel_value operand, found_value;
        bool found = false;
        TRY(cel_eval_node(run, node->args[0], &operand));
        bool optional = node->optional || operand.kind == CEL_OPTIONAL;
        if (operand.kind == CEL_OPTIONAL) {
                if (!operand.inner) {
                        *ret = operand;
                        return 0;
                }
                operand = *operand.inner;
        }
        if (operand.kind == CEL_ACCESS)
                return cel_access_field(run, &operand, node->name, ret);
        if (operand.kind != CEL_MAP)
                return cel_no_overload(run);
        TRY(cel_map_field(run, &operand, node->name, node->plain_name, &found, &found_value));
        if (optional)
                return cel_make_optional(run, found ? &found_value : NULL, ret);
        if (!found)
                return cel_fail(run, "no such key: %s", node->plain_name ? node->plain_name : node->name);
        *ret = found_value;
        return 0;
}

static int eval_has(struct cel_run *run, const struct cel_node *node, struct cel_value *ret)
{
        struct cel_value operand, unused;
        bool found = false;
        TRY(cel_eval_node(run, node->args[0], &operand));
        if (operand.kind == CEL_OPTIONAL) {
                if (!operand.inner) {
                        *ret = cel_bool(false);
                        return 0;
                }
                operand = *operand.inner;
        }
        if (operand.kind != CEL_MAP)
                return cel_no_overload(run);
        TRY(cel_map_field(run, &operand, node->name, node->plain_name, &found, &unused));
        *ret = cel_bool(found);
        return 0;
}

/* Whole numbers of any type index lists. */
static int list_position(struct cel_run *run, const struct cel_value *index, int64_t *ret)
{
        if (index->kind == CEL_INT)
                *ret = index->integer;
        else if (index->kind == CEL_UINT)
                *ret = index->uinteger > INT64_MAX ? INT64_MAX : (int64_t)index->uinteger;
        else if (index->kind == CEL_DOUBLE && index->real >= -0x1p53 && index->real <= 0x1p53 &&
                 index->real == (double)(int64_t)index->real)
                *ret = (int64_t)index->real;
        else
                return cel_fail(run, "unsupported index type '%s' in list", cel_kind_name(index));
        return 0;
}

static int look_up(struct cel_run *run, const struct cel_value *operand, const struct cel_value *index,
                   bool *ret_found, struct cel_value *ret)
{
        int64_t position = 0;
        if (operand->kind == CEL_MAP)
                return cel_map_get(run, operand, index, ret_found, ret);
        if (operand->kind != CEL_LIST)
                return cel_no_overload(run);
        TRY(list_position(run, index, &position));
        *ret_found = position >= 0 && (uint64_t)position < cel_list_size(operand);
        return *ret_found ? cel_list_at(run, operand, (size_t)position, ret) : 0;
}

static int eval_index(struct cel_run *run, const struct cel_node *node, struct cel_value *ret)
{
        struct cel_value operand, index, value;
        bool found = false;
        TRY(cel_eval_node(run, node->args[0], &operand));
        TRY(cel_eval_node(run, node->args[1], &index));
        bool optional = node->optional || operand.kind == CEL_OPTIONAL;
        if (operand.kind == CEL_OPTIONAL) {
                if (!operand.inner) {
                        *ret = operand;
                        return 0;
                }
                operand = *operand.inner;
        }
        TRY(look_up(run, &operand, &index, &found, &value));
        if (optional)
                return cel_make_optional(run, found ? &value : NULL, ret);
        if (!found && operand.kind == CEL_LIST)
                return cel_fail(run, "index out of bounds: %lld", (long long)index.integer);
        if (!found)
                return no_such_key(run, &index);
        *ret = value;
        return 0;
}

/* --- Literals
 * ------------------------------------------------------------------------------------------------ */

/* An element of a literal; one marked with '?' is there only if its optional has a value. */
static int eval_element(struct cel_run *run, const struct cel_node *node, bool *ret_there,
                        struct cel_value *ret)
{
        *ret_there = true;
        if (node->kind != CEL_NODE_LIST || !node->optional)
                return cel_eval_node(run, node, ret);
        TRY(cel_eval_node(run, node->args[0], ret));
        if (ret->kind != CEL_OPTIONAL)
                return cel_no_overload(run);
        *ret_there = ret->inner;
        if (ret->inner)
                *ret = *ret->inner;
        return 0;
}

static int eval_list(struct cel_run *run, const struct cel_node *node, struct cel_value *ret)
{
        struct cel_value *items = ARENA_NEW_ARRAY(&run->arena, struct cel_value, node->n_args + 1);
        size_t n = 0;
        if (!items)
                return cel_no_memory(run);
        for (size_t i = 0; i < node->n_args; i++) {
                bool there = false;
                TRY(eval_element(run, node->args[i], &there, &items[n]));
                n += there;
        }
        *ret = (struct cel_value){ .kind = CEL_LIST };
        ret->list.items = items;
        ret->list.n = n;
        return 0;
}

static int eval_map(struct cel_run *run, const struct cel_node *node, struct cel_value *ret)
{
        struct cel_entry *entries = ARENA_NEW_ARRAY(&run->arena, struct cel_entry, node->n_args / 2 + 1);
        struct cel_value map = { .kind = CEL_MAP }, unused;
        if (!entries)
                return cel_no_memory(run);
        map.map.entries = entries;
        for (size_t i = 0; i + 1 < node->n_args; i += 2) {
                struct cel_entry *e = &entries[map.map.n];
                bool there = false, repeated = false;
                TRY(cel_eval_node(run, node->args[i], &e->key));
                TRY(eval_element(run, node->args[i + 1], &there, &e->value));
                if (e->key.kind != CEL_BOOL && e->key.kind != CEL_INT && e->key.kind != CEL_UINT &&
                    e->key.kind != CEL_STRING)
                        return cel_fail(run, "unsupported key type: %s", cel_kind_name(&e->key));
                TRY(cel_map_get(run, &map, &e->key, &repeated, &unused));
                if (repeated)
                        return cel_fail(run, "Failed with repeated key");
                map.map.n += there;
        }
        *ret = map;
        return 0;
}

/* --- Operators
 * ----------------------------------------------------------------------------------------------- */

/* && and ||: an operand that decides makes errors of the others irrelevant, on whichever side they are. */
static int eval_and_or(struct cel_run *run, const struct cel_node *node, struct cel_value *ret)
{
        bool decisive = node->kind == CEL_NODE_OR;
        const char *first_error = NULL;
        for (size_t i = 0; i < node->n_args; i++) {
                struct cel_value operand;
                int code = cel_eval_node(run, node->args[i], &operand);
                if (code == 0 && operand.kind == CEL_BOOL && operand.boolean == decisive) {
                        *ret = operand;
                        return 0;
                }
                if (code == 0 && operand.kind != CEL_BOOL)
                        code = cel_no_overload(run);
                if (code < 0 && code != ERR_INVALID)
                        return code;
                if (code < 0 && !first_error && !(first_error = arena_strdup(&run->arena, run->err->text)))
                        return cel_no_memory(run);
        }
        if (first_error)
                return cel_fail(run, "%s", first_error);
        *ret = cel_bool(!decisive);
        return 0;
}

static int eval_choice(struct cel_run *run, const struct cel_node *node, struct cel_value *ret)
{
        struct cel_value condition;
        TRY(cel_eval_node(run, node->args[0], &condition));
        if (condition.kind != CEL_BOOL)
                return cel_no_overload(run);
        return cel_eval_node(run, node->args[condition.boolean ? 1 : 2], ret);
}

static int eval_unary(struct cel_run *run, const struct cel_node *node, struct cel_value *ret)
{
        struct cel_value v;
        TRY(cel_eval_node(run, node->args[0], &v));
        if (node->kind == CEL_NODE_NOT && v.kind == CEL_BOOL)
                *ret = cel_bool(!v.boolean);
        else if (node->kind == CEL_NODE_NOT)
                return cel_no_overload(run);
        else if (v.kind == CEL_INT && v.integer != INT64_MIN)
                *ret = cel_int(-v.integer);
        else if (v.kind == CEL_INT)
                return cel_fail(run, "integer overflow");
        else if (v.kind == CEL_DOUBLE)
                *ret = cel_double(-v.real);
        else if (v.kind == CEL_DURATION && v.nanos != INT64_MIN)
                *ret = (struct cel_value){ .kind = CEL_DURATION, .nanos = -v.nanos };
        else
                return cel_no_overload(run);
        return 0;
}

static int eval_binary(struct cel_run *run, const struct cel_node *node, struct cel_value *ret)
{
        struct cel_value a, b;
        TRY(cel_eval_node(run, node->args[0], &a));
        TRY(cel_eval_node(run, node->args[1], &b));
        return cel_binary(run, node->operator, & a, &b, ret);
}

static int eval_call(struct cel_run *run, const struct cel_node *node, struct cel_value *ret)
{
        struct cel_value args[CEL_MAX_ARGUMENTS];
        for (size_t i = 0; i < node->n_args; i++)
                TRY(cel_eval_node(run, node->args[i], &args[i]));
        run->regex = node->regex;
        return node->function->call(run, args, node->n_args, ret);
}

/* cel.bind(), and optMap() and optFlatMap(), which bind the content of an optional. */
static int eval_bind(struct cel_run *run, const struct cel_node *node, struct cel_value *ret)
{
        struct cel_value value;
        TRY(cel_eval_node(run, node->args[0], &value));
        if (node->optional) {
                if (value.kind != CEL_OPTIONAL)
                        return cel_no_overload(run);
                if (!value.inner) {
                        *ret = value;
                        return 0;
                }
                value = *value.inner;
        }
        run->slots[node->slot] = value;
        TRY(cel_eval_node(run, node->args[1], &value));
        if (node->optional && !node->two_variables)
                return cel_make_optional(run, &value, ret);
        *ret = value;
        return 0;
}

static int eval_global(struct cel_run *run, const struct cel_node *node, struct cel_value *ret)
{
        if (!run->has_global[node->slot])
                return cel_fail(run, "undeclared reference to '%s' (in container '')", node->name);
        *ret = run->globals[node->slot];
        return 0;
}

int cel_eval_node(struct cel_run *run, const struct cel_node *node, struct cel_value *ret)
{
        TRY(cel_spend(run, 1));
        switch (node->kind) {
        case CEL_NODE_CONSTANT:
                *ret = node->constant;
                return 0;
        case CEL_NODE_LOCAL:
                *ret = run->slots[node->slot];
                return 0;
        case CEL_NODE_GLOBAL:
                return eval_global(run, node, ret);
        case CEL_NODE_SELECT:
                return eval_select(run, node, ret);
        case CEL_NODE_HAS:
                return eval_has(run, node, ret);
        case CEL_NODE_INDEX:
                return eval_index(run, node, ret);
        case CEL_NODE_CALL:
                return eval_call(run, node, ret);
        case CEL_NODE_NOT:
        case CEL_NODE_NEGATE:
                return eval_unary(run, node, ret);
        case CEL_NODE_BINARY:
                return eval_binary(run, node, ret);
        case CEL_NODE_AND:
        case CEL_NODE_OR:
                return eval_and_or(run, node, ret);
        case CEL_NODE_CHOICE:
                return eval_choice(run, node, ret);
        case CEL_NODE_LIST:
                return eval_list(run, node, ret);
        case CEL_NODE_MAP:
                return eval_map(run, node, ret);
        case CEL_NODE_FOLD:
                return cel_eval_fold(run, node, ret);
        case CEL_NODE_BIND:
                return eval_bind(run, node, ret);
        }
        UNREACHABLE();
}

/* --- Programs
 * ------------------------------------------------------------------------------------------------ */

int cel_run_bind(struct cel_run *run, const char *name, const json_t *value, const struct schema *schema,
                 bool optional)
{
        for (size_t i = 0; i < run->program->n_variables; i++) {
                if (strcmp(run->program->variables[i], name) != 0)
                        continue;
                struct cel_value v = { .kind = CEL_NULL };
                if (value)
                        TRY(cel_from_json(run, value, schema, &v));
                if (optional)
                        TRY(cel_make_optional(run, value ? &v : NULL, &v));
                run->globals[i] = v;
                run->has_global[i] = true;
        }
        return 0;
}

void cel_run_bind_value(struct cel_run *run, const char *name, const struct cel_value *value)
{
        for (size_t i = 0; i < run->program->n_variables; i++) {
                if (strcmp(run->program->variables[i], name) != 0)
                        continue;
                run->globals[i] = *value;
                run->has_global[i] = true;
        }
}

int cel_run_program(struct cel_run *run, struct cel_value *ret)
{
        return cel_eval_node(run, run->program->root, ret);
}

static int start(struct cel_run *run, const struct cel_program *p, const struct cel_variable *vars, size_t n,
                 struct cel_value *ret)
{
        run->program = p;
        run->limit = CEL_COST_LIMIT;
        run->arena.limit = CEL_MEMORY_LIMIT;
        for (size_t i = 0; i < n; i++)
                TRY(cel_run_bind(run, vars[i].name, vars[i].value, vars[i].schema, false));
        return cel_run_program(run, ret);
}

int cel_eval(const struct cel_program *p, const struct cel_variable *vars, size_t n, json_t **ret,
             struct error *err)
{
        struct error ignored = { 0 };
        struct cel_run run = { .err = err ? err : &ignored };
        struct cel_value value;
        int code = start(&run, p, vars, n, &value);
        if (code == 0)
                code = cel_to_json(&run, &value, ret);
        arena_free(&run.arena);
        return code;
}

int cel_eval_bool(const struct cel_program *p, const struct cel_variable *vars, size_t n, bool *ret,
                  struct error *err)
{
        struct error ignored = { 0 };
        struct cel_run run = { .err = err ? err : &ignored };
        struct cel_value value;
        int code = start(&run, p, vars, n, &value);
        if (code == 0 && value.kind != CEL_BOOL)
                code = cel_fail(&run, "cel expression result type is %s, not bool", cel_kind_name(&value));
        if (code == 0)
                *ret = value.boolean;
        arena_free(&run.arena);
        return code;
}
