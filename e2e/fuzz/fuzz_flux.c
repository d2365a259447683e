/* .flux.yaml and streams of manifests. The first letter picks: f a configuration, else streams, the second
 * behind a line "===", a patch file as it is behind another: what is read as objects has names; what is
 * created from the first to the second patches the one into the other, and a second writing changes nothing.
 */
#include "e2e/fuzz/fuzz.h"
#include "hub-agent/manifest-generation/patch_file.h"

static void try_config(struct slice text)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct flux_config c;
        struct error err = { 0 };
        int code = flux_config_parse(&arena, text, &c, &err);

        ASSERT((code == 0) == !*err.text);
        if (code < 0 || c.variant == FLUX_SCAN_FOR_FILES)
                return;
        ASSERT(c.n_generators);
        for (size_t i = 0; i < c.n_generators; i++)
                ASSERT(*c.generators[i].line);
        ASSERT((c.patch_file != NULL) == (c.variant == FLUX_PATCH_UPDATED));
}

/* Up to a line "===". */
static struct slice next_text(struct slice *rest)
{
        const char *end = rest->len ? memmem(rest->data, rest->len, "\n===\n", 5) : NULL;
        struct slice head = *rest;

        if (!end) {
                *rest = (struct slice){ "", 0 };
                return head;
        }
        head.len = (size_t)(end - head.data) + 1;
        *rest = (struct slice){ end + 5, rest->len - head.len - 4 };
        return head;
}

static bool read_stream(struct arena *arena, struct slice text, struct resource_list *ret)
{
        struct error err = { 0 };
        int code;

        *ret = (struct resource_list){ .arena = arena };
        code = resources_parse(ret, text, "x.yaml", NULL, &err);
        ASSERT((code == 0) == !*err.text);
        for (size_t i = 0; i < ret->n; i++)
                ASSERT(*ret->at[i].name && *ret->at[i].kind && *ret->at[i].api_version &&
                       *ret->at[i].identity);
        return code == 0 && resources_sort(ret, NULL) == 0;
}

static const struct resource *first_of(const struct resource_list *l, const char *identity)
{
        for (size_t i = 0; i < l->n; i++)
                if (text_equal(l->at[i].identity, identity))
                        return &l->at[i];
        return NULL;
}

/* Equal identities are refused later; patches are about the first. */
static bool has_twins(const struct resource_list *l)
{
        for (size_t i = 1; i < l->n; i++)
                if (text_equal(l->at[i].identity, l->at[i - 1].identity))
                        return true;
        return false;
}

static void check_patch(struct arena *arena, struct resource_list *from, const struct resource_list *to,
                        struct slice text)
{
        struct patch_missing *missing;
        struct error err = { 0 };
        AUTO_BUF struct buf again;
        size_t n;

        buf_init(&again, PATCH_FILE_BYTES);
        ASSERT(patch_file_create(arena, from, to, text, &again, NULL) == 0);
        ASSERT(again.len == text.len && memcmp(again.data, text.data, text.len) == 0);
        ASSERT(patch_file_apply(from, text, "p", &missing, &n, &err) == 0);
        ASSERT(n == 0);
        for (size_t i = 0; i < from->n; i++) {
                const struct resource *wanted = first_of(to, from->at[i].identity);

                ASSERT(!wanted || doc_equal(wanted->doc, from->at[i].doc));
        }
}

static void try_streams(struct slice text)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct slice first = next_text(&text), second = next_text(&text);
        struct resource_list from, to;
        struct patch_missing *missing;
        AUTO_BUF struct buf patch;
        size_t n;

        buf_init(&patch, PATCH_FILE_BYTES);
        if (!read_stream(&arena, first, &from) || !read_stream(&arena, second, &to) || has_twins(&from) ||
            has_twins(&to))
                return;
        if (patch_file_create(&arena, &from, &to, text, &patch, NULL) == 0)
                check_patch(&arena, &from, &to, (struct slice){ patch.data, patch.len });
        (void)patch_file_apply(&to, text, "p", &missing, &n, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static bool hooked;

        if (!hooked)
                mem_hook_libraries();
        hooked = true;
        if (size && *data == 'f')
                try_config(input_of(data + 1, size - 1));
        else if (size)
                try_streams(input_of(data + 1, size - 1));
        return 0;
}
