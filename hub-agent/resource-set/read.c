#include "hub-agent/resource-set/read.h"

#include "common/base/memory.h"

/* The end of the first document: where a line is "---" once something else has come. */
static struct slice first_document(struct slice text)
{
        bool any = false;

        for (size_t at = 0; at < text.len;) {
                const char *end = memchr(text.data + at, '\n', text.len - at);
                size_t len = end ? (size_t)(end - text.data) - at : text.len - at;
                struct slice line = { text.data + at, len };

                if (slice_starts_with(line, "---") && any)
                        return (struct slice){ text.data, at };
                any = any || (slice_trim(line).len && slice_trim(line).data[0] != '#' &&
                              !slice_starts_with(line, "---"));
                at += len + 1;
        }
        return text;
}

static int check(const json_t *o, size_t at, struct error *err)
{
        const char *version = doc_get_string(o, "apiVersion");

        if (!json_is_object(o))
                return error_set(err, ERR_INVALID, "document %zu is no object", at + 1);
        if (text_empty(doc_get_string(o, "kind")))
                return error_set(err, ERR_INVALID, "document %zu: Object 'Kind' is missing", at + 1);
        if (text_empty(version) || text_empty(doc_get_string(o, "metadata.name")))
                return error_set(err, ERR_INVALID, "document %zu: apiVersion and metadata.name must be set",
                                 at + 1);
        if (text_starts_with(version, "kustomize.config.k8s.io/"))
                return error_set(err, ERR_INVALID, "document %zu is a Kustomization of kustomize, no object",
                                 at + 1);
        if ((doc_get(o, "metadata.labels") && !doc_get_object(o, "metadata.labels")) ||
            (doc_get(o, "metadata.annotations") && !doc_get_object(o, "metadata.annotations")))
                return error_set(err, ERR_INVALID, "document %zu: labels and annotations must be objects",
                                 at + 1);
        return 0;
}

static bool is_list(const json_t *doc)
{
        const char *kind = doc_get_string(doc, "kind");

        return kind && text_ends_with(kind, "List") && json_is_array(json_object_get(doc, "items"));
}

static bool says_nothing(const json_t *doc)
{
        return json_is_null(doc) || (json_is_object(doc) && json_object_size(doc) == 0);
}

static int take(json_t *into, json_t *doc, size_t at, struct error *err)
{
        size_t i;
        json_t *item;

        if (!is_list(doc)) {
                TRY(check(doc, at, err));
                return json_array_append(into, doc) < 0 ? error_no_memory(err) : 0;
        }
        json_array_foreach(json_object_get(doc, "items"), i, item) {
                TRY(check(item, at, err));
                if (json_array_append(into, item) < 0)
                        return error_no_memory(err);
        }
        return 0;
}

int read_objects(struct arena *arena, struct slice text, bool documents, json_t **ret, struct error *err)
{
        json_t *all = NULL, *objects = json_array();
        size_t i;
        json_t *doc;

        TRY(doc_keep(arena, objects, err));
        TRY(yaml_parse_all(documents ? text : first_document(text), &all, err));
        TRY(doc_keep(arena, all, err));
        json_array_foreach(all, i, doc)
                if (!says_nothing(doc))
                        TRY(take(objects, doc, i, err));
        if (!documents && json_array_size(objects) == 0)
                return error_set(err, ERR_INVALID, "there is no object");
        *ret = objects;
        return 0;
}
