/* The macros over lists and maps: all, exists, exists_one, map, filter, transformList, transformMap. */
#include "common/json/cel_internal.h"

struct fold {
        const struct cel_node *node;
        size_t n_true;           /* elements the predicate held for */
        const char *error;       /* first error of all and exists, unless another element decides */
        struct cel_value *items; /* of the new list */
        struct cel_entry *entries;
        size_t n;
        bool decided;
};

static int set_variables(struct cel_run *run, const struct fold *f, const struct cel_value *key,
                         const struct cel_value *value, bool over_map)
{
        const struct cel_node *node = f->node;
        if (node->two_variables) {
                run->slots[node->slot] = *key;
                run->slots[node->slot + 1] = *value;
        } else {
                run->slots[node->slot] = over_map ? *key : *value;
        }
        return cel_spend(run, 1);
}

static int predicate(struct cel_run *run, const struct cel_node *body, bool *ret)
{
        struct cel_value v;
        TRY(cel_eval_node(run, body, &v));
        if (v.kind != CEL_BOOL)
                return cel_no_overload(run);
        *ret = v.boolean;
        return 0;
}

/* all and exists: one element that decides makes errors of others irrelevant. */
static int fold_quantifier(struct cel_run *run, struct fold *f)
{
        bool holds = false, decisive = f->node->fold == CEL_EXISTS;
        int code = predicate(run, f->node->args[1], &holds);
        if (code < 0 && code != ERR_INVALID)
                return code;
        if (code < 0) {
                if (!f->error && !(f->error = arena_strdup(&run->arena, run->err->text)))
                        return cel_no_memory(run);
                return 0;
        }
        f->decided = holds == decisive;
        return 0;
}

static int fold_transform(struct cel_run *run, struct fold *f, const struct cel_value *key)
{
        const struct cel_node *node = f->node;
        bool wanted = true;
        if (node->n_args == 3)
                TRY(predicate(run, node->args[1], &wanted));
        if (!wanted)
                return 0;
        const struct cel_node *body = node->args[node->n_args - 1];
        if (node->fold == CEL_TRANSFORM_LIST)
                return cel_eval_node(run, body, &f->items[f->n++]);
        f->entries[f->n].key = *key;
        return cel_eval_node(run, body, &f->entries[f->n++].value);
}

static int fold_element(struct cel_run *run, struct fold *f, const struct cel_value *key,
                        const struct cel_value *value, bool over_map)
{
        bool holds = false;
        TRY(set_variables(run, f, key, value, over_map));
        switch (f->node->fold) {
        case CEL_ALL:
        case CEL_EXISTS:
                return fold_quantifier(run, f);
        case CEL_EXISTS_ONE:
                TRY(predicate(run, f->node->args[1], &holds));
                f->n_true += holds;
                return 0;
        case CEL_FILTER:
                TRY(predicate(run, f->node->args[1], &holds));
                if (holds)
                        f->items[f->n++] = over_map ? *key : *value;
                return 0;
        case CEL_TRANSFORM_LIST:
        case CEL_TRANSFORM_MAP:
                return fold_transform(run, f, key);
        }
        UNREACHABLE();
}

static int finish(struct cel_run *run, const struct fold *f, struct cel_value *ret)
{
        bool any = f->node->fold == CEL_EXISTS;
        switch (f->node->fold) {
        case CEL_ALL:
        case CEL_EXISTS:
                *ret = cel_bool(f->decided == any);
                return f->error && !f->decided ? cel_fail(run, "%s", f->error) : 0;
        case CEL_EXISTS_ONE:
                *ret = cel_bool(f->n_true == 1);
                return 0;
        case CEL_FILTER:
        case CEL_TRANSFORM_LIST:
                *ret = (struct cel_value){ .kind = CEL_LIST };
                ret->list.items = f->items;
                ret->list.n = f->n;
                return 0;
        case CEL_TRANSFORM_MAP:
                *ret = (struct cel_value){ .kind = CEL_MAP };
                ret->map.entries = f->entries;
                ret->map.n = f->n;
                return 0;
        }
        UNREACHABLE();
}

int cel_eval_fold(struct cel_run *run, const struct cel_node *node, struct cel_value *ret)
{
        struct cel_value range, key, value;
        struct cel_iterator it;
        struct fold f = { .node = node };
        TRY(cel_eval_node(run, node->args[0], &range));
        TRY(cel_iterator_init(run, &it, &range));
        if (node->fold == CEL_FILTER || node->fold == CEL_TRANSFORM_LIST)
                f.items = ARENA_NEW_ARRAY(&run->arena, struct cel_value, it.n + 1);
        if (node->fold == CEL_TRANSFORM_MAP)
                f.entries = ARENA_NEW_ARRAY(&run->arena, struct cel_entry, it.n + 1);
        if (node->fold >= CEL_TRANSFORM_LIST && !f.items && !f.entries)
                return cel_no_memory(run);
        while (!f.decided) {
                int more = cel_iterator_next(run, &it, &key, &value);
                if (more < 0)
                        return more;
                if (!more)
                        break;
                TRY(fold_element(run, &f, &key, &value, range.kind == CEL_MAP));
        }
        return finish(run, &f, ret);
}
