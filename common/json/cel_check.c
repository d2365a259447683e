/* What can be told of a rule before it runs: names that its schema does not have. Types are left to the
 * evaluation. */
#include "common/json/cel_internal.h"

struct check {
        const struct cel_program *program;
        const struct schema *self;
        const struct schema *slots[2 * CEL_MAX_VARIABLES]; /* of lambda variables; NULL = unknown */
        struct error *err;
};

static int check(struct check *c, const struct cel_node *node, const struct schema **ret);

static bool is_implicit(const struct check *c, const struct schema *s, const char *name)
{
        bool resource = s == c->self || s->embedded_resource;
        return resource &&
               (!strcmp(name, "apiVersion") || !strcmp(name, "kind") || !strcmp(name, "metadata"));
}

static bool is_open(const struct schema *s)
{
        return s->type != SCHEMA_OBJECT || s->preserve_unknown || s->additional_allowed || s->additional ||
               (!s->n_properties && !s->embedded_resource);
}

static int check_select(struct check *c, const struct cel_node *node, const struct schema **ret)
{
        const struct schema *s = NULL, *found = NULL;
        TRY(check(c, node->args[0], &s));
        if (!s)
                return 0;
        found = schema_property(s, node->name);
        if (!found && node->plain_name)
                found = schema_property(s, node->plain_name);
        if (!found && !is_open(s) && !is_implicit(c, s, node->name))
                return error_set(c->err, ERR_INVALID, "undefined field '%s'", node->name);
        *ret = found;
        return 0;
}

static int check_global(struct check *c, const struct cel_node *node, const struct schema **ret)
{
        if (strcmp(node->name, "self") != 0 && strcmp(node->name, "oldSelf") != 0)
                return error_set(c->err, ERR_INVALID, "undeclared reference to '%s' (in container '')",
                                 node->name);
        *ret = c->self;
        return 0;
}

static int check_fold(struct check *c, const struct cel_node *node, const struct schema **ret)
{
        const struct schema *range = NULL, *ignored = NULL;
        TRY(check(c, node->args[0], &range));
        const struct schema *item = range && range->type == SCHEMA_ARRAY ? range->items
                                    : range && node->two_variables       ? range->additional
                                                                         : NULL;
        c->slots[node->slot] = node->two_variables ? NULL : item;
        if (node->two_variables)
                c->slots[node->slot + 1] = item;
        for (size_t i = 1; i < node->n_args; i++)
                TRY(check(c, node->args[i], &ignored));
        *ret = node->fold == CEL_FILTER ? range : NULL;
        return 0;
}

static int check_bind(struct check *c, const struct cel_node *node, const struct schema **ret)
{
        const struct schema *value = NULL;
        TRY(check(c, node->args[0], &value));
        c->slots[node->slot] = value;
        return check(c, node->args[1], ret);
}

/* *ret is the schema of the node's value, left alone where it is not known. */
static int check(struct check *c, const struct cel_node *node, const struct schema **ret)
{
        const struct schema *first = NULL, *ignored = NULL;
        switch (node->kind) {
        case CEL_NODE_SELECT:
        case CEL_NODE_HAS:
                return check_select(c, node, ret);
        case CEL_NODE_GLOBAL:
                return check_global(c, node, ret);
        case CEL_NODE_LOCAL:
                *ret = c->slots[node->slot];
                return 0;
        case CEL_NODE_FOLD:
                return check_fold(c, node, ret);
        case CEL_NODE_BIND:
                return check_bind(c, node, ret);
        default:
                break;
        }
        for (size_t i = 0; i < node->n_args; i++)
                TRY(check(c, node->args[i], i ? &ignored : &first));
        if (node->kind == CEL_NODE_INDEX && first)
                *ret = first->type == SCHEMA_ARRAY ? first->items : first->additional;
        return 0;
}

int cel_check_fields(const struct cel_program *p, const struct schema *self, struct error *err)
{
        struct check c = { .program = p, .self = self, .err = err };
        const struct schema *ignored = NULL;
        return check(&c, p->root, &ignored);
}

int cel_result_kind(const struct cel_program *p)
{
        const struct cel_node *node = p->root;
        while (node->kind == CEL_NODE_BIND && !node->optional)
                node = node->args[1];
        switch (node->kind) {
        case CEL_NODE_CONSTANT:
                return (int)node->constant.kind;
        case CEL_NODE_HAS:
        case CEL_NODE_NOT:
        case CEL_NODE_AND:
        case CEL_NODE_OR:
                return CEL_BOOL;
        case CEL_NODE_BINARY:
                return node->operator<= CEL_IN ? CEL_BOOL : - 1;
        case CEL_NODE_LIST:
                return CEL_LIST;
        case CEL_NODE_MAP:
                return CEL_MAP;
        case CEL_NODE_FOLD:
                return node->fold <= CEL_EXISTS_ONE      ? CEL_BOOL
                       : node->fold == CEL_TRANSFORM_MAP ? CEL_MAP
                                                         : CEL_LIST;
        default:
                return -1;
        }
}
