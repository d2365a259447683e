#include "common/base/vec.h"

#include "common/base/error.h"

int vec_grow(void **at, size_t *cap, size_t need, size_t item_size)
{
        if (need <= *cap)
                return 0;
        size_t wanted = MAX(need, MAX(*cap + *cap / 2, (size_t)4));
        void *moved = mem_realloc_array(*at, wanted, item_size);
        if (!moved)
                return ERR_NO_MEMORY;
        *at = moved;
        *cap = wanted;
        return 0;
}
