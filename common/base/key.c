#include "common/base/key.h"

#include <string.h>

#include "common/base/memory.h"
#include "common/base/text.h"

int key_join(struct key *k, const char *a, char between, const char *b)
{
        size_t before = text_empty(a) ? 0 : strlen(a) + 1, n = strlen(b) + 1;
        char *at = k->own;

        key_free(k);
        if (before + n > sizeof(k->own))
                at = k->grown = mem_alloc(before + n);
        if (!at)
                return ERR_NO_MEMORY;
        if (before) {
                memcpy(at, a, before - 1);
                at[before - 1] = between;
        }
        memcpy(at + before, b, n);
        k->text = at;
        return 0;
}

void key_free(struct key *k)
{
        mem_free(k->grown);
        k->grown = NULL;
        k->text = NULL;
}
