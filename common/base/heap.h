/* An intrusive binary min-heap; the node remembers its place, so removal is O(log n). */
#pragma once

#include "common/base/error.h"

struct heap_node {
        size_t place; /* 0 = on no heap, else index + 1 */
};

struct heap {
        struct heap_node **at;
        size_t n, cap;
        bool (*before)(const struct heap_node *a, const struct heap_node *b);
};

void heap_init(struct heap *h, bool (*before)(const struct heap_node *, const struct heap_node *));
void heap_free(struct heap *h);
int heap_reserve(struct heap *h, size_t n) MUST_CHECK; /* pushes up to n nodes in all cannot fail then */
int heap_push(struct heap *h, struct heap_node *node) MUST_CHECK;
struct heap_node *heap_top(const struct heap *h); /* NULL if empty */
struct heap_node *heap_pop(struct heap *h);
void heap_remove(struct heap *h, struct heap_node *node); /* no-op if on no heap */
void heap_update(struct heap *h, struct heap_node *node); /* the node's key changed */
