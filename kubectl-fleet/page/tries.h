/* How often strangers may try tokens: each try is a request to the API server, which must not be flooded from
 * here. Tries that have not ended count, too. Pure. */
#pragma once

#include "common/base/base.h"

#define PAGE_TRIES_MAX 120 /* in PAGE_TRY_MS, of all addresses together */
#define PAGE_TRIES_EACH 10 /* of one address */
#define PAGE_TRY_MS 60000

struct page_tries {
        struct {
                char address[48];
                int64_t until_ms; /* it counts so long */
        } at[PAGE_TRIES_MAX];
};

/* The number of the try, or -1: not now. */
int page_try_begin(struct page_tries *t, const char *address, int64_t now_ms);
/* The token was good: it does not count. */
void page_try_was_good(struct page_tries *t, int number);
