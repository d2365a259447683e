/* Documents: written in any form they read back equal, and the canonical form is a fixed point. jansson,
 * which is laxer in nothing here, must accept what doc_parse accepts, numbers beyond 64 bits aside. */
#include "e2e/fuzz/fuzz.h"

static void assert_reads_back(const json_t *doc, int (*write)(const json_t *, struct buf *))
{
        AUTO_BUF struct buf b;
        buf_init(&b, LIMIT_RESPONSE_BYTES);
        ASSERT(write(doc, &b) == 0);
        AUTO_JSON json_t *again = parsed((struct slice){ b.data, b.len });
        ASSERT(again && doc_equal(doc, again));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        AUTO_JSON json_t *first = parsed(input_of(data, size));
        if (!first)
                return 0;
        AUTO_JSON json_t *doc = settled(first);
        assert_reads_back(doc, doc_write);
        assert_reads_back(doc, doc_write_canonical);
        assert_reads_back(doc, doc_write_pretty);
        AUTO_JSON json_t *copy = doc_copy(doc);
        ASSERT(doc_equal(doc, copy));
        json_error_t e;
        AUTO_JSON json_t *other = json_loadb((const char *)data, size,
                                             JSON_DECODE_ANY | JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL, &e);
        ASSERT(other);
        return 0;
}
