/* YAML: what was read is written and reads back equal. */
#include "e2e/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        AUTO_JSON json_t *docs = NULL;
        if (yaml_parse_all(input_of(data, size), &docs, NULL) < 0)
                return 0;
        for (size_t i = 0; i < json_array_size(docs); i++) {
                AUTO_JSON json_t *doc = settled(json_array_get(docs, i));
                AUTO_BUF struct buf b;
                AUTO_JSON json_t *again = NULL;
                struct error e;
                buf_init(&b, LIMIT_RESPONSE_BYTES);
                ASSERT(yaml_write(doc, &b) == 0);
                int code = yaml_parse((struct slice){ b.data, b.len }, &again, &e);
                if (code < 0 || !doc_equal(doc, again))
                        fprintf(stderr, "%s\n%s\n", code < 0 ? e.text : "differs", b.data);
                ASSERT(code == 0 && doc_equal(doc, again));
        }
        return 0;
}
