#include "common/base/vec.h"

#include "common/base/error.h"

/* Sanitizers see who reads behind a list, or keeps a pointer into it while it grows, only where it has no
 * room to spare: under them short lists have none. */
static size_t room_for(size_t need, size_t cap)
{
#ifdef ARGOSY_ASAN
        if (need <= 64)
                return need;
#endif
        return MAX(need, MAX(cap + cap / 2, (size_t)4));
}

int vec_grow(void **at, size_t *cap, size_t need, size_t item_size)
{
        if (need <= *cap)
                return 0;
        size_t wanted = room_for(need, *cap);
        void *moved = mem_realloc_array(*at, wanted, item_size);
        if (!moved)
                return ERR_NO_MEMORY;
        *at = moved;
        *cap = wanted;
        return 0;
}
