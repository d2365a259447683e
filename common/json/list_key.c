#include "common/json/list_key.h"

#include "common/base/limits.h"
#include "common/base/memory.h"

int list_key_of(const json_t *element, const char *merge_key, char **ret)
{
        const json_t *key = merge_key ? json_object_get(element, merge_key) : element;
        if (!key)
                return ERR_NOT_FOUND;
        AUTO_BUF struct buf b;
        buf_init(&b, LIMIT_OBJECT_BYTES * 6u); /* as long as an object of escapes may get */
        TRY(doc_write_canonical(key, &b));
        *ret = buf_take(&b, NULL);
        return *ret ? 0 : ERR_NO_MEMORY;
}

/* The error for an element that lacks its key, with the words of kube-apiserver. */
static int key_failed(const json_t *element, const char *merge_key, int code, struct error *err)
{
        if (code == ERR_NO_MEMORY)
                return error_no_memory(err);
        if (code != ERR_NOT_FOUND)
                return error_set(err, code, "a list element is too large");
        AUTO_BUF struct buf b;
        buf_init(&b, 300);
        (void)doc_write_go(element, &b);
        return error_set(err, ERR_INVALID, "map: %s does not contain declared merge key: %s", b.data,
                         merge_key);
}

int list_index_add(struct list_index *index, const char *key, size_t position)
{
        /* Positions are stored from 1, since a NULL value means absent. */
        return map_has(&index->positions, key)
                       ? 0
                       : map_put(&index->positions, key, (void *)(uintptr_t)(position + 1));
}

int list_index_build(const json_t *list, const char *merge_key, struct list_index *ret, struct error *err)
{
        map_init(&ret->positions, MAP_OWN_KEYS, NULL);
        for (size_t i = 0; i < json_array_size(list); i++) {
                AUTO_FREE char *key = NULL;
                const json_t *element = json_array_get(list, i);
                int code = list_key_of(element, merge_key, &key);
                if (code < 0)
                        return key_failed(element, merge_key, code, err);
                if (list_index_add(ret, key, i) < 0)
                        return error_no_memory(err);
        }
        return 0;
}

void list_index_free(struct list_index *index)
{
        map_free(&index->positions);
}

size_t list_index_find(const struct list_index *index, const char *key)
{
        return (size_t)(uintptr_t)map_get(&index->positions, key) - 1;
}

int list_index_find_like(const struct list_index *index, const json_t *element, const char *merge_key,
                         size_t *ret, struct error *err)
{
        AUTO_FREE char *key = NULL;
        int code = list_key_of(element, merge_key, &key);
        if (code < 0)
                return key_failed(element, merge_key, code, err);
        *ret = list_index_find(index, key);
        return 0;
}
