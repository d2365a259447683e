/* Intrusive doubly linked lists. A node is on no list when it points to itself (list_init) or is zeroed. */
#pragma once

#include "common/base/base.h"

struct list {
        struct list *next, *prev;
};

static inline void list_init(struct list *l)
{
        l->next = l->prev = l;
}
static inline bool list_empty(const struct list *l)
{
        return !l->next || l->next == l;
}
static inline void list_append(struct list *head, struct list *node)
{
        node->prev = head->prev;
        node->next = head;
        head->prev->next = node;
        head->prev = node;
}
static inline void list_prepend(struct list *head, struct list *node)
{
        list_append(head->next, node);
}
static inline void list_remove(struct list *node)
{
        if (!node->next)
                return;
        node->prev->next = node->next;
        node->next->prev = node->prev;
        list_init(node);
}
#define list_first(head, type, member) container_of((head)->next, type, member)
#define list_for_each(it, head, type, member)                                                                \
        for (type *it = container_of((head)->next, type, member); &it->member != (head);                     \
             it = container_of(it->member.next, type, member))
#define list_for_each_safe(it, tmp, head, type, member)                                                      \
        for (type *it = container_of((head)->next, type, member),                                            \
                  *tmp = container_of(it->member.next, type, member);                                        \
             &it->member != (head); it = tmp, tmp = container_of(it->member.next, type, member))
