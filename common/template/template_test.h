/* What tests of templates share: rendering as resource sets do. */
#pragma once

#include "common/json/doc_test.h"

#include "common/base/limits.h"
#include "common/template/template.h"

static const char *const test_roots[] = { "inputs" };
static const struct template_options test_options = {
        .name = "resourceset",
        .left = "<<",
        .right = ">>",
        .roots = test_roots,
        .n_roots = 1,
        .missing_key_fails = true,
};

static inline int render(struct slice text, const json_t *inputs, struct buf *out, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const struct template *t;
        TRY(template_parse(&arena, &test_options, text, &t, err));
        struct template_data data = { .roots = &inputs };
        return template_render(t, &data, out, err);
}
