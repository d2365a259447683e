#include "common/base/digits.h"
#include "common/base/limits.h"
#include "e2e/devcluster/store_internal.h"

#include <inttypes.h>

struct blob *blob_ref(struct blob *b)
{
        b->refs++;
        return b;
}

void blob_unref(struct blob *b)
{
        if (!b || --b->refs > 0)
                return;
        blob_forget_doc(b);
        mem_free(b);
}

const char *blob_label(const struct blob *b, const char *key)
{
        const char *s = b->data + b->labels_at;
        for (uint16_t i = 0; i < b->n_labels; i++) {
                const char *value = blob_string_next(s);
                if (strcmp(s, key) == 0)
                        return value;
                s = blob_string_next(value);
        }
        return NULL;
}

/* `extra` holds namespace, name, uid, labels and owners, each with its NUL. */
struct blob *blob_new(struct slice text, uint32_t rest_at, struct slice extra, uint16_t n_labels,
                      uint16_t n_owners)
{
        struct blob *b = mem_alloc(sizeof(*b) + text.len + 1 + extra.len);
        if (!b)
                return NULL;
        *b = (struct blob){ .refs = 1,
                            .len = (uint32_t)text.len,
                            .rest_at = rest_at,
                            .n_labels = n_labels,
                            .n_owners = n_owners };
        memcpy(b->data, text.data, text.len);
        b->data[text.len] = '\0';
        memcpy(b->data + text.len + 1, extra.data, extra.len);

        const char *s = b->data + text.len + 1;
        s = blob_string_next(s);
        b->name_at = (uint32_t)(s - b->data);
        s = blob_string_next(s);
        b->uid_at = (uint32_t)(s - b->data);
        s = blob_string_next(s);
        b->labels_at = (uint32_t)(s - b->data);
        for (uint16_t i = 0; i < n_labels; i++)
                s = blob_string_next(blob_string_next(s));
        b->owners_at = (uint32_t)(s - b->data);
        b->end = (uint32_t)(text.len + 1 + extra.len);
        return b;
}

struct blob *blob_copy(const struct blob *b)
{
        struct blob *copy = mem_alloc(sizeof(*b) + b->end);
        if (!copy)
                return NULL;
        memcpy(copy, b, sizeof(*b) + b->end);
        copy->refs = 1;
        copy->kept = NULL;
        copy->told_len = 0;
        copy->often = copy->repeated = false;
        return copy;
}

struct blob *blob_copy_as(const struct blob *b, uint32_t version_at, uint64_t rv)
{
        char room[2][24], *const was_end = room[0] + 24, *const is_end = room[1] + 24;
        const char *was = digits_unsigned(was_end, b->rv), *is = digits_unsigned(is_end, rv);
        uint32_t n_was = (uint32_t)(was_end - was), n_is = (uint32_t)(is_end - is), more = n_is - n_was,
                 rest_at = version_at + n_was;
        ASSERT(memcmp(b->data + version_at, was, n_was) == 0);
        struct blob *copy = mem_alloc(sizeof(*b) + b->end + more);
        if (!copy)
                return NULL;
        *copy = *b;
        copy->refs = 1;
        copy->kept = NULL;
        copy->rv = rv;
        uint32_t *const moved[] = { &copy->len,       &copy->name_at,   &copy->uid_at,
                                    &copy->labels_at, &copy->owners_at, &copy->end };
        for (size_t i = 0; i < ARRAY_LEN(moved); i++)
                *moved[i] += more;
        memcpy(copy->data, b->data, version_at);
        memcpy(copy->data + version_at, is, n_is);
        memcpy(copy->data + version_at + n_is, b->data + rest_at, b->end - rest_at);
        return copy;
}

static int append_key(struct buf *b, const char *key)
{
        TRY(buf_append_json_string(b, key, strlen(key)));
        return buf_append_char(b, ':');
}

/* The text of a document that is being written. */
struct text {
        struct buf *b;
        const struct doc_known_text *known; /* NULL: not of any part */
        struct doc_spans *into;
};

static int append_value(struct text *t, const json_t *value)
{
        return t->known ? doc_write_beside(value, t->known, t->b, t->into) : doc_write(value, t->b);
}

static int append_member(struct text *t, const char *key, const json_t *value)
{
        TRY(buf_append_char(t->b, ','));
        TRY(append_key(t->b, key));
        return append_value(t, value);
}

/* kind, apiVersion and metadata come first, so that lists and other versions can splice the rest. */
static int write_text(json_t *doc, struct text *t, uint32_t *ret_rest_at)
{
        struct buf *b = t->b;
        TRY(buf_append_str(b, "{\"kind\":"));
        TRY(append_value(t, json_object_get(doc, "kind")));
        TRY(append_member(t, "apiVersion", json_object_get(doc, "apiVersion")));
        *ret_rest_at = (uint32_t)b->len + 1;
        TRY(append_member(t, "metadata", json_object_get(doc, "metadata")));

        const char *key;
        json_t *value;
        json_object_foreach(doc, key, value) {
                if (strcmp(key, "kind") == 0 || strcmp(key, "apiVersion") == 0 ||
                    strcmp(key, "metadata") == 0)
                        continue;
                TRY(append_member(t, key, value));
        }
        return buf_append_char(b, '}');
}

static int append_string(struct buf *b, const char *s)
{
        return buf_append(b, s ? s : "", s ? strlen(s) + 1 : 1);
}

static int write_extra(const json_t *meta, struct buf *b, uint16_t *ret_labels, uint16_t *ret_owners)
{
        TRY(append_string(b, json_string_value(json_object_get(meta, "namespace"))));
        TRY(append_string(b, json_string_value(json_object_get(meta, "name"))));
        TRY(append_string(b, json_string_value(json_object_get(meta, "uid"))));

        const char *key;
        json_t *value;
        uint16_t n = 0;
        json_object_foreach(json_object_get(meta, "labels"), key, value) {
                if (!json_is_string(value) || n == UINT16_MAX)
                        continue;
                TRY(append_string(b, key));
                TRY(append_string(b, json_string_value(value)));
                n++;
        }
        *ret_labels = n;

        size_t i;
        n = 0;
        json_array_foreach(json_object_get(meta, "ownerReferences"), i, value) {
                const char *uid = json_string_value(json_object_get(value, "uid"));
                if (!uid || n == UINT16_MAX)
                        continue;
                TRY(append_string(b, uid));
                n++;
        }
        *ret_owners = n;
        return 0;
}

int blob_from_doc(json_t *doc, uint64_t rv, struct blob **ret, struct error *err)
{
        return blob_from_doc_beside(doc, rv, NULL, NULL, ret, err);
}

int blob_from_doc_beside(json_t *doc, uint64_t rv, const struct doc_known_text *known, struct doc_spans *into,
                         struct blob **ret, struct error *err)
{
        char text_rv[24];
        snprintf(text_rv, sizeof(text_rv), "%" PRIu64, rv);
        json_t *meta = json_object_get(doc, "metadata");
        ASSERT(json_is_object(meta));
        if (json_object_set_new(meta, "resourceVersion", json_string(text_rv)) < 0)
                return error_no_memory(err);

        AUTO_BUF struct buf text, extra;
        buf_init(&text, LIMIT_OBJECT_BYTES * 2);
        buf_init(&extra, LIMIT_OBJECT_BYTES);
        if (buf_reserve(&text, known ? known->len + 64 : 0) < 0 || buf_reserve(&extra, 240) < 0)
                return error_no_memory(err);
        uint32_t rest_at = 0;
        uint16_t n_labels = 0, n_owners = 0;
        struct text t = { &text, known, into };
        if (write_text(doc, &t, &rest_at) < 0 || write_extra(meta, &extra, &n_labels, &n_owners) < 0)
                return buf_status(text.failed ? &text : &extra, err, "object");

        struct blob *b = blob_new((struct slice){ text.data, text.len }, rest_at,
                                  (struct slice){ extra.data, extra.len }, n_labels, n_owners);
        if (!b)
                return error_no_memory(err);
        b->rv = rv;
        *ret = b;
        return 0;
}

int blob_parse(const struct blob *b, json_t **ret, struct error *err)
{
        return doc_parse((struct slice){ b->data, b->len }, ret, err);
}
