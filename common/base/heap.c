#include "common/base/heap.h"

#include "common/base/memory.h"
#include "common/base/vec.h"

void heap_init(struct heap *h, bool (*before)(const struct heap_node *, const struct heap_node *))
{
        *h = (struct heap){ .before = before };
}

void heap_free(struct heap *h)
{
        for (size_t i = 0; i < h->n; i++)
                h->at[i]->place = 0;
        mem_free(h->at);
        heap_init(h, h->before);
}

static void set(struct heap *h, size_t i, struct heap_node *node)
{
        h->at[i] = node;
        node->place = i + 1;
}

static void sift_up(struct heap *h, size_t i, struct heap_node *node)
{
        while (i > 0) {
                size_t parent = (i - 1) / 2;
                if (!h->before(node, h->at[parent]))
                        break;
                set(h, i, h->at[parent]);
                i = parent;
        }
        set(h, i, node);
}

static void sift_down(struct heap *h, size_t i, struct heap_node *node)
{
        for (;;) {
                size_t child = 2 * i + 1;
                if (child >= h->n)
                        break;
                if (child + 1 < h->n && h->before(h->at[child + 1], h->at[child]))
                        child++;
                if (!h->before(h->at[child], node))
                        break;
                set(h, i, h->at[child]);
                i = child;
        }
        set(h, i, node);
}

static void settle(struct heap *h, size_t i, struct heap_node *node)
{
        if (i > 0 && h->before(node, h->at[(i - 1) / 2]))
                sift_up(h, i, node);
        else
                sift_down(h, i, node);
}

int heap_reserve(struct heap *h, size_t n)
{
        return vec_grow((void **)&h->at, &h->cap, n, sizeof(*h->at));
}

int heap_push(struct heap *h, struct heap_node *node)
{
        ASSERT(!node->place);
        TRY(heap_reserve(h, h->n + 1));
        h->n++;
        sift_up(h, h->n - 1, node);
        return 0;
}

struct heap_node *heap_top(const struct heap *h)
{
        return h->n ? h->at[0] : NULL;
}

struct heap_node *heap_pop(struct heap *h)
{
        struct heap_node *top = heap_top(h);
        if (top)
                heap_remove(h, top);
        return top;
}

void heap_remove(struct heap *h, struct heap_node *node)
{
        if (!node->place)
                return;
        size_t i = node->place - 1;
        ASSERT(i < h->n && h->at[i] == node);
        node->place = 0;
        struct heap_node *last = h->at[--h->n];
        if (last != node)
                settle(h, i, last);
}

void heap_update(struct heap *h, struct heap_node *node)
{
        ASSERT(node->place && node->place <= h->n);
        settle(h, node->place - 1, node);
}
