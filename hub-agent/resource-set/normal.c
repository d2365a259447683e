/* What is done to an object that was built, and what is told of it. */
#include <strings.h>

#include "common/base/digest.h"
#include "common/base/limits.h"
#include "hub-agent/resource-set/build.h"

struct slice group_of_doc(const json_t *doc)
{
        const char *version = or_empty(doc_get_string(doc, "apiVersion"));
        const char *slash = strchr(version, '/');

        return (struct slice){ version, slash ? (size_t)(slash - version) : 0 };
}

const char *object_words(struct arena *arena, const json_t *doc)
{
        const char *ns = doc_get_string(doc, "metadata.namespace");

        return arena_printf(arena, "%s/%s%s%s", or_empty(doc_get_string(doc, "kind")), or_empty(ns),
                            text_empty(ns) ? "" : "/", or_empty(doc_get_string(doc, "metadata.name")));
}

bool says(const json_t *doc, const char *key, const char *value)
{
        static const char *const fields[] = { "annotations", "labels" };

        for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
                const char *const path[] = { "metadata", fields[i], key };
                const char *said = json_string_value(doc_get_keys(doc, path, 3));

                if (said && strcasecmp(said, value) == 0)
                        return true;
        }
        return false;
}

static int encode_strings(json_t *doc)
{
        json_t *strings = json_object_get(doc, "stringData"), *data, *value;
        const char *key;

        if (!json_is_object(strings))
                return 0;
        data = json_object_get(doc, "data");
        if (!json_is_object(data)) {
                data = json_object();
                if (json_object_set_new(doc, "data", data) < 0)
                        return ERR_NO_MEMORY;
        }
        json_object_foreach(strings, key, value) {
                struct slice s = { json_string_value(value), json_string_length(value) };

                if (json_is_string(value) && json_object_set_new(data, key, doc_base64(s)) < 0)
                        return ERR_NO_MEMORY;
        }
        json_object_del(doc, "stringData");
        return 0;
}

int build_normalize(json_t *doc, struct error *err)
{
        const char *kind = doc_get_string(doc, "kind");

        json_object_del(json_object_get(doc, "metadata"), "creationTimestamp");
        json_object_del(json_object_get(doc, "metadata"), "managedFields");
        if (!text_equal(kind, "CustomResourceDefinition"))
                json_object_del(doc, "status");
        if (text_equal(kind, "Secret") && group_of_doc(doc).len == 0 && encode_strings(doc) < 0)
                return error_no_memory(err);
        return 0;
}

static void print_sum(struct sha256 *s, char ret[BUILD_DIGEST_SIZE])
{
        uint8_t sum[SHA256_SIZE];

        sha256_final(s, sum);
        memcpy(ret, "sha256:", 7);
        text_hex_encode(sum, sizeof(sum), ret + 7);
}

int build_digest(const struct build *b, char ret[BUILD_DIGEST_SIZE], struct error *err)
{
        AUTO_BUF struct buf text;
        struct sha256 s;

        buf_init(&text, LIMIT_TEMPLATE_OUTPUT_BYTES);
        sha256_init(&s);
        for (size_t i = 0; i < b->n; i++) {
                buf_clear(&text);
                yaml_write(b->at[i].doc, &text);
                buf_append_str(&text, "---\n");
                TRY(buf_status(&text, err, "object"));
                sha256_update(&s, text.data, text.len);
        }
        print_sum(&s, ret);
        return 0;
}

int build_spec_digest(const struct resource_set *set, char ret[BUILD_DIGEST_SIZE], struct error *err)
{
        AUTO_JSON json_t *doc = NULL;
        AUTO_BUF struct buf text;
        struct sha256 s;

        buf_init(&text, LIMIT_RESPONSE_BYTES);
        TRY(object_to_doc(&set->object, &doc, err));
        doc_write_canonical(doc_get(doc, "spec"), &text);
        TRY(buf_status(&text, err, "spec"));
        sha256_init(&s);
        sha256_update(&s, text.data, text.len);
        print_sum(&s, ret);
        return 0;
}
