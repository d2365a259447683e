/* What can be told of a rule before it runs: names that its schema does not have. Types are left to the
 * evaluation. */
#include "common/json/cel_internal.h"

struct check {
        const struct cel_program *program;
        const struct cel_declaration *declared;
        size_t n_declared;
        const struct schema *slots[2 * CEL_MAX_VARIABLES]; /* of lambda variables; NULL = unknown */
        struct error *err;
};

const struct schema cel_anything = { .type = SCHEMA_ANY };

static int check(struct check *c, const struct cel_node *node, const struct schema **ret);

static bool is_implicit(const struct check *c, const struct schema *s, const char *name)
{
        bool resource = s->embedded_resource;

        for (size_t i = 0; i < c->n_declared; i++)
                resource |= c->declared[i].is_object && s == c->declared[i].schema;
        return resource &&
               (!strcmp(name, "apiVersion") || !strcmp(name, "kind") || !strcmp(name, "metadata"));
}

static bool is_open(const struct schema *s)
{
        return s->type != SCHEMA_OBJECT || s->preserve_unknown || s->additional_allowed || s->additional ||
               (!s->n_properties && !s->embedded_resource);
}

static int complain(struct check *c, const struct cel_node *node, const char *what, const char *where)
{
        char text[256];
        snprintf(text, sizeof(text), "%s '%s'%s", what, node->name, where);
        return cel_source_error(c->err, c->program->expression, node->at, text);
}

static int check_select(struct check *c, const struct cel_node *node, const struct schema **ret)
{
        const struct schema *s = NULL, *found = NULL;
        TRY(check(c, node->args[0], &s));
        if (!s || s == &cel_anything) {
                *ret = node->optional ? NULL : s;
                return 0;
        }
        found = schema_property(s, node->name);
        if (!found && node->plain_name)
                found = schema_property(s, node->plain_name);
        if (!found && !is_open(s) && !is_implicit(c, s, node->name))
                return complain(c, node, "undefined field", "");
        *ret = node->kind == CEL_NODE_HAS || node->optional ? NULL : found;
        return 0;
}

static int check_global(struct check *c, const struct cel_node *node, const struct schema **ret)
{
        for (size_t i = 0; i < c->n_declared; i++)
                if (strcmp(c->declared[i].name, node->name) == 0) {
                        *ret = c->declared[i].schema;
                        return 0;
                }
        return complain(c, node, "undeclared reference to", " (in container '')");
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
        if (node->kind != CEL_NODE_INDEX || !first || node->optional)
                return 0;
        *ret = first == &cel_anything        ? first
               : first->type == SCHEMA_ARRAY ? first->items
                                             : first->additional;
        return 0;
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

static const struct schema *type_of_kind(int kind)
{
        static const struct schema boolean = { .type = SCHEMA_BOOLEAN }, text = { .type = SCHEMA_STRING },
                                   integer = { .type = SCHEMA_INTEGER }, number = { .type = SCHEMA_NUMBER },
                                   list = { .type = SCHEMA_ARRAY }, map = { .type = SCHEMA_OBJECT };
        switch (kind) {
        case CEL_BOOL:
                return &boolean;
        case CEL_STRING:
                return &text;
        case CEL_INT:
                return &integer;
        case CEL_DOUBLE:
                return &number;
        case CEL_LIST:
                return &list;
        case CEL_MAP:
                return &map;
        default:
                return NULL;
        }
}

int cel_check(const struct cel_program *p, const struct cel_declaration *declared, size_t n,
              const struct schema **ret_type, struct error *err)
{
        struct check c = { .program = p, .declared = declared, .n_declared = n, .err = err };
        const struct schema *type = NULL;
        TRY(check(&c, p->root, &type));
        if (ret_type)
                *ret_type = type ? type : type_of_kind(cel_result_kind(p));
        return 0;
}

int cel_check_fields(const struct cel_program *p, const struct schema *self, struct error *err)
{
        const struct cel_declaration both[] = { { "self", self, true }, { "oldSelf", self, true } };
        return cel_check(p, both, ARRAY_LEN(both), NULL, err);
}
