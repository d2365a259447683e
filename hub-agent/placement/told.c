#include "hub-agent/placement/told.h"

#include <stdlib.h>

#include "common/base/map.h"

uint64_t told_where(char kind, const char *cluster)
{
        return hash_bytes(cluster, strlen(cluster), (unsigned char)kind);
}

static int compare(const void *a, const void *b)
{
        const struct told_trouble *x = a, *y = b;

        if (x->where != y->where)
                return x->where < y->where ? -1 : 1;
        return (x->what > y->what) - (x->what < y->what);
}

static int compare_where(const void *a, const void *b)
{
        const struct told_trouble *x = a, *y = b;

        return (x->where > y->where) - (x->where < y->where);
}

bool told_has(const struct told_list *l, uint64_t where, uint64_t what)
{
        struct told_trouble t = { where, what };

        return l->all.n && bsearch(&t, l->all.at, l->all.n, sizeof(t), compare);
}

int told_add(struct told_list *next, uint64_t where, uint64_t what)
{
        struct told_trouble t = { where, what };

        return vec_push(&next->all, t);
}

int told_keep(struct told_list *next, const struct told_list *l, uint64_t where)
{
        struct told_trouble key = { where, 0 };
        const struct told_trouble *end = l->all.at + l->all.n;
        const struct told_trouble *t =
                l->all.n ? bsearch(&key, l->all.at, l->all.n, sizeof(key), compare_where) : NULL;

        if (!t)
                return 0;
        while (t > l->all.at && t[-1].where == where)
                t--;
        for (; t < end && t->where == where; t++)
                TRY(told_add(next, where, t->what));
        return 0;
}

void told_replace(struct told_list *l, struct told_list *next)
{
        if (next->all.n)
                qsort(next->all.at, next->all.n, sizeof(next->all.at[0]), compare);
        told_free(l);
        *l = *next;
        *next = (struct told_list){ 0 };
}

void told_free(struct told_list *l)
{
        vec_free(&l->all);
}
