/* Fuzz targets: each file is one program of clang's libFuzzer, built and run by `make fuzz`. A target aborts
 * (ASSERT) when a law is broken: what was accepted must survive writing and reading. */
#pragma once

#include "common/base/limits.h"
#include "common/base/memory.h"
#include "common/json/doc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline struct slice input_of(const uint8_t *data, size_t size)
{
        return (struct slice){ (const char *)data, size };
}

/* Cuts the input at its first newline: a way to have two texts. */
static inline struct slice first_line(struct slice *rest)
{
        struct slice head;
        slice_cut(rest, '\n', &head);
        return head;
}

static inline json_t *parsed(struct slice text)
{
        json_t *doc = NULL;
        return doc_parse(text, &doc, NULL) == 0 ? doc : NULL;
}

/* The document as its own text reads back. Reals that are whole numbers from 2^53 on print with fewer digits
 * than their exact value has (as Go prints them) and read back as integers; from then on nothing changes any
 * more. */
static inline json_t *settled(const json_t *doc)
{
        AUTO_BUF struct buf b;
        buf_init(&b, LIMIT_RESPONSE_BYTES);
        ASSERT(doc_write_canonical(doc, &b) == 0);
        json_t *again = parsed((struct slice){ b.data, b.len });
        ASSERT(again);
        return again;
}
