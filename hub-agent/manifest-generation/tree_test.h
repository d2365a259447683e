/* What the tests of this folder share: a checkout in memory. */
#pragma once

#include "common/json/doc_test.h"
#include "hub-agent/manifest-generation/tree.h"

struct checkout {
        struct loop *loop;
        struct tree tree;
};

static inline void checkout_put(struct checkout *c, const char *path, const char *text)
{
        struct volume_writer *w = NULL;

        assert_int_equal(volume_create(c->tree.volume, path, &w, NULL), 0);
        assert_int_equal(volume_append(w, text, strlen(text), NULL), 0);
        assert_int_equal(volume_commit(w, NULL), 0);
}

/* Paths and texts by turns, a NULL behind the last. */
static inline void checkout_open(struct checkout *c, const char *const *files)
{
        c->loop = loop_new_simulated(1, 0, NULL);
        c->tree = (struct tree){ volume_new_in_memory(c->loop), "/work" };
        assert_non_null(c->tree.volume);
        for (; *files; files += 2)
                checkout_put(c, files[0], files[1]);
}

static inline void checkout_close(struct checkout *c)
{
        volume_close(c->tree.volume);
        loop_free(c->loop);
}
