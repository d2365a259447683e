/* Edits of YAML: of the first line the first byte picks what is set, added or taken away, the rest is the
 * value; then comes the text. What is handed out means what it should, and nothing is left to be done. */
#include "e2e/fuzz/fuzz.h"
#include "hub-agent/manifest-generation/update/yaml_edit.h"

static const struct doc_step annotation[] = { { "metadata", 0 },
                                              { "annotations", 0 },
                                              { "fluxcd.io/automated", 0 } },
                             image[] = { { "spec", 0 }, { "containers", 0 }, { NULL, 0 }, { "image", 0 } },
                             member[] = { { "x", 0 } }, below[] = { { "x", 0 }, { "y", 0 } };
static const struct doc_place places[] = { { annotation, 3 }, { image, 4 }, { member, 1 }, { below, 2 } };

/* The object's value in the documents; those that have it twice are refused before. */
static const json_t *value_in(const json_t *doc, const struct doc_place *place)
{
        const char *kind = or_empty(doc_get_string(doc, "kind"));
        json_t *items = doc_get_array(doc, "items"), *item;
        const json_t *value = NULL;
        size_t i;

        if (!text_ends_with(kind, "List") || !items)
                return strcasecmp(kind, "deployment") == 0 &&
                                       text_equal(doc_get_string(doc, "metadata.name"), "a")
                               ? doc_at(doc, place)
                               : NULL;
        json_array_foreach(items, i, item)
                if (!value)
                        value = value_in(item, place);
        return value;
}

static void check(struct slice text, const struct yaml_edit *e)
{
        AUTO_JSON json_t *docs = NULL;
        const json_t *value = NULL, *doc;
        AUTO_BUF struct buf again;
        size_t i;

        buf_init(&again, LIMIT_YAML_BYTES);
        ASSERT(yaml_parse_all(text, &docs, NULL) == 0);
        json_array_foreach(docs, i, doc)
                if (!value)
                        value = value_in(doc, &e->place);
        ASSERT(e->value ? text_equal(json_string_value(value), e->value) : !value);
        ASSERT(yaml_edit(text, e, &again, NULL) == 0);
        ASSERT(again.len == text.len && memcmp(again.data, text.data, text.len) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct slice text = input_of(data, size), line = first_line(&text);
        AUTO_FREE char *value = line.len > 1 ? mem_must(mem_strndup(line.data + 1, line.len - 1)) : NULL;
        struct yaml_edit e = { { "deployment", NULL, "a" }, { NULL, 0 }, value };
        struct error err = { 0 };
        AUTO_BUF struct buf b;
        int code;

        buf_init(&b, LIMIT_YAML_BYTES);
        if (!line.len)
                return 0;
        e.place = places[(uint8_t)line.data[0] % ARRAY_LEN(places)];
        code = yaml_edit(text, &e, &b, &err);
        ASSERT((code == 0) == !*err.text);
        if (code == 0)
                check((struct slice){ b.data, b.len }, &e);
        return 0;
}
