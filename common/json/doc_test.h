/* What the tests of this folder share: documents from literals, comparisons, the walk over failing
 * allocations. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "common/json/doc.h"

/* Literals may use ' for ". Read by jansson, so that tests of doc_parse have a second opinion. */
static inline json_t *doc_of(const char *text)
{
        char *copy = mem_must(mem_strdup(text));
        for (char *p = copy; *p; p++)
                *p = *p == '\'' ? '"' : *p;
        json_error_t e;
        json_t *doc = json_loads(copy, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &e);
        if (!doc)
                print_error("bad literal: %s: %s\n", e.text, copy);
        assert_non_null(doc);
        mem_free(copy);
        return doc;
}

static inline char *text_of(const json_t *doc)
{
        struct buf b;
        buf_init(&b, 64u << 20);
        assert_int_equal(doc_write_canonical(doc, &b), 0);
        return mem_must(buf_take(&b, NULL));
}

/* `got` is taken. */
static inline void assert_doc_is(json_t *got, const char *want)
{
        json_t *wanted = doc_of(want);
        char *a = text_of(got), *b = text_of(wanted);
        assert_string_equal(a, b);
        mem_free(a);
        mem_free(b);
        json_decref(got);
        json_decref(wanted);
}

/* Runs fn with the first, second, ... allocation failing until it runs through. Each failing run must report
 * ERR_NO_MEMORY and leave nothing behind. */
static inline void walk_failing_allocations(int (*fn)(void *), void *data)
{
        size_t live = mem_live_count();
        for (uint64_t n = 1;; n++) {
                mem_fail_at(n, false);
                int code = fn(data);
                bool fired = mem_fault_fired();
                mem_fail_at(0, false);
                assert_int_equal(mem_live_count(), live);
                if (!fired) {
                        assert_int_equal(code, 0);
                        assert_true(n > 1);
                        return;
                }
                if (code != ERR_NO_MEMORY)
                        print_error("allocation %d of %s\n", (int)n, "the walk");
                assert_int_equal(code, ERR_NO_MEMORY);
        }
}
