/* Templates: whatever is written, rendering ends within its bounds, and gives the same twice. The first line
 * is the inputs, where it is a JSON object. */
#include "common/template/template.h"
#include "e2e/fuzz/fuzz.h"

static const char *const roots[] = { "inputs" };
static const struct template_options options = {
        .name = "fuzz", .left = "<<", .right = ">>", .roots = roots, .n_roots = 1, .missing_key_fails = true
};

static int render(const struct template *t, const json_t *inputs, struct buf *out, struct error *err)
{
        struct template_data data = { .roots = &inputs };
        buf_init(out, LIMIT_RESPONSE_BYTES);
        return template_render(t, &data, out, err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct slice all = input_of(data, size), text = all;
        AUTO_JSON json_t *inputs = parsed(first_line(&text));
        AUTO_ARENA struct arena arena = ARENA_INIT;
        AUTO_BUF struct buf first, second;
        const struct template *t;
        struct error one = { 0 }, two = { 0 };
        buf_init(&first, 0);
        buf_init(&second, 0);
        if (template_parse(&arena, &options, inputs ? text : all, &t, &one) < 0) {
                ASSERT(text_starts_with(one.text, "template: fuzz:"));
                return 0;
        }
        int code = render(t, inputs, &first, &one);
        ASSERT(render(t, inputs, &second, &two) == code);
        ASSERT(slice_equal((struct slice){ first.data, first.len },
                           (struct slice){ second.data, second.len }));
        ASSERT(strcmp(one.text, two.text) == 0);
        ASSERT(code == 0 || code == ERR_INVALID || code == ERR_LIMIT);
        ASSERT(code == 0 || text_starts_with(one.text, "template: fuzz:"));
        return 0;
}
