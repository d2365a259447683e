#include "hub-agent/manifest-generation/request.h"

#include "common/base/map.h"
#include "common/base/memory.h"

bool request_is_open(const struct object_meta *m)
{
        const char *status = string_map_get(&m->annotations, REQUEST_STATUS);

        return m->deletion_ms == TIME_NONE && !text_equal(status, REQUEST_SUCCEEDED) &&
               !text_equal(status, REQUEST_FAILED);
}

bool request_waits(const struct object_meta *m, const struct map *without)
{
        return request_is_open(m) && string_map_get(&m->annotations, REQUEST_STATUS) &&
               !map_has(without, or_empty(m->uid));
}

static bool comes_before(const struct object_meta *a, const struct object_meta *b)
{
        if (a->creation_ms != b->creation_ms)
                return a->creation_ms < b->creation_ms;
        return strcmp(a->name, b->name) < 0;
}

const struct object *request_first(const struct object_list *all, const struct map *without)
{
        const struct object *first = NULL;

        for (size_t i = 0; i < all->n; i++) {
                const struct object_meta *m = &all->at[i]->meta;

                if (request_waits(m, without) && (!first || comes_before(m, &first->meta)))
                        first = all->at[i];
        }
        return first;
}

static int put(json_t *annotations, const char *key, const char *value)
{
        if (!value)
                return 0;
        return json_object_set_new(annotations, key, json_string(value)) < 0 ? ERR_NO_MEMORY : 0;
}

json_t *request_answer(const char *status, const char *commit, const char *result)
{
        size_t room = result ? MIN(strlen(result) + 16, (size_t)REQUEST_RESULT_BYTES) : 16;
        AUTO_FREE char *shortened = mem_alloc(room);
        AUTO_JSON json_t *patch = json_pack("{s:{s:{}}}", "metadata", "annotations");
        json_t *annotations = doc_get_object(patch, "metadata.annotations");

        if (!shortened || !annotations)
                return NULL;
        if (result)
                text_shorten(result, shortened, room);
        if (put(annotations, REQUEST_STATUS, status) < 0 || put(annotations, REQUEST_COMMIT, commit) < 0 ||
            put(annotations, REQUEST_RESULT, result ? shortened : NULL) < 0)
                return NULL;
        return TAKE_PTR(patch);
}
