/* gzip: nothing unpacks to more than is allowed, and what unpacked at all packs and unpacks to itself. */
#include "common/base/gzip.h"
#include "e2e/fuzz/fuzz.h"

#define MOST (256u << 10)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        AUTO_BUF struct buf text, small, again;
        buf_init(&text, MOST);
        buf_init(&small, 2 * MOST);
        buf_init(&again, MOST);
        int code = gzip_unpack(input_of(data, size), &text, NULL);
        ASSERT(text.len <= MOST);
        ASSERT(code == 0 || code == ERR_INVALID || code == ERR_LIMIT);
        if (code < 0)
                return 0;
        ASSERT(gzip_pack((struct slice){ text.data, text.len }, &small, NULL) == 0);
        ASSERT(gzip_unpack((struct slice){ small.data, small.len }, &again, NULL) == 0);
        ASSERT(again.len == text.len && memcmp(again.data, text.data, text.len) == 0);
        return 0;
}
