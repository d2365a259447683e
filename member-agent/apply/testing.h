/* For the tests of this folder: documents written with single quotes. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "common/json/doc.h"

static inline json_t *quoted(const char *text)
{
        size_t n = strlen(text);
        AUTO_FREE char *copy = mem_strdup(text);
        json_t *doc = NULL;
        struct error err = { 0 };

        for (size_t i = 0; i < n; i++)
                if (copy[i] == '\'')
                        copy[i] = '"';
        if (doc_parse((struct slice){ copy, n }, &doc, &err) < 0)
                fail_msg("%s: %s", text, err.text);
        return doc;
}

static inline void assert_doc_equal(const json_t *is, const char *wanted)
{
        AUTO_JSON json_t *doc = quoted(wanted);
        AUTO_BUF struct buf text;

        buf_init(&text, 1 << 20);
        if (doc_equal(is, doc))
                return;
        doc_write_canonical(is, &text);
        fail_msg("is %s", text.data);
}
