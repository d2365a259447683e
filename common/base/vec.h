/* Typed growing arrays:
 *     VEC(struct taint) taints = VEC_INIT;
 *     if (vec_push(&taints, taint) < 0) return error_no_memory(err);
 *     vec_free(&taints);                                                                                   */
#pragma once

#include "common/base/memory.h"

#define VEC(type)                                                                                            \
        struct {                                                                                             \
                type *at;                                                                                    \
                size_t n, cap;                                                                               \
        }
#define VEC_INIT                                                                                             \
        {                                                                                                    \
                0                                                                                            \
        }

int vec_grow(void **at, size_t *cap, size_t need, size_t item_size); /* 0 or ERR_NO_MEMORY */

#define vec_reserve(v, need) vec_grow((void **)&(v)->at, &(v)->cap, (need), sizeof(*(v)->at))
#define vec_push(v, item) (vec_reserve((v), (v)->n + 1) < 0 ? -11 : ((v)->at[(v)->n++] = (item), 0))
#define vec_free(v) (mem_free((v)->at), (v)->at = NULL, (v)->n = (v)->cap = 0)
#define vec_remove(v, i)                                                                                     \
        (memmove(&(v)->at[i], &(v)->at[(i) + 1], ((v)->n - (i)-1) * sizeof(*(v)->at)), (void)(v)->n--)
#define vec_for_each(v, it) for (__typeof__((v)->at + 0) it = (v)->at; it && it < (v)->at + (v)->n; it++)
