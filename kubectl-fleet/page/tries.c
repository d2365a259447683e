#include "kubectl-fleet/page/tries.h"

#include <string.h>

int page_try_begin(struct page_tries *t, const char *address, int64_t now_ms)
{
        char name[sizeof(t->at[0].address)];
        unsigned tried = 0;
        int free_one = -1;

        snprintf(name, sizeof(name), "%s", address);
        for (int i = 0; i < PAGE_TRIES_MAX; i++) {
                if (t->at[i].until_ms <= now_ms)
                        free_one = i;
                else if (strcmp(t->at[i].address, name) == 0)
                        tried++;
        }
        if (free_one < 0 || tried >= PAGE_TRIES_EACH)
                return -1;
        memcpy(t->at[free_one].address, name, sizeof(name));
        t->at[free_one].until_ms = now_ms + PAGE_TRY_MS;
        return free_one;
}

void page_try_was_good(struct page_tries *t, int number)
{
        t->at[number].until_ms = 0;
}
