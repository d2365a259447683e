#include "hub-agent/source/s3/objects.h"

#include "common/base/map.h"

void s3_objects_free(struct s3_objects *o)
{
        vec_free(&o->all);
        arena_free(&o->arena);
}

/* ---- keys ---- */

static const char *part_problem(struct slice part)
{
        if (part.len == 0)
                return "has an empty part";
        if (slice_is(part, ".") || slice_is(part, ".."))
                return "has a part '.' or '..', which leads elsewhere";
        return NULL;
}

const char *s3_key_problem(struct slice key)
{
        struct slice part;
        size_t depth = 0;
        bool more = true;

        if (key.len == 0)
                return "is empty";
        if (key.len > S3_KEY_BYTES)
                return "is longer than 1024 bytes";
        if (key.data[0] == '/')
                return "is an absolute path";
        if (memchr(key.data, 0, key.len))
                return "has a NUL";
        if (memchr(key.data, '\\', key.len))
                return "has a backslash";
        if (!text_is_utf8(key.data, key.len))
                return "is no UTF-8";
        while (more) {
                const char *problem;

                more = slice_cut(&key, '/', &part);
                problem = part_problem(part);
                if (problem)
                        return problem;
                if (++depth > S3_DEPTH)
                        return "is too deep: more than 64 folders";
        }
        return NULL;
}

/* ---- a listing ---- */

static int check(struct s3_objects *o, const struct s3_object *one, struct slice key, struct error *err)
{
        const char *problem = s3_key_problem(key);

        if (problem && !text_is_utf8(one->key, strlen(one->key))) /* nor may a message be none */
                return error_set(err, ERR_INVALID, "the key that begins with '%.*s' %s",
                                 (int)text_utf8_cut(one->key, S3_KEY_BYTES), one->key, problem);
        if (problem)
                return error_set(err, ERR_INVALID, "key '%s' %s", one->key, problem);
        if (o->all.n >= S3_OBJECTS_MAX)
                return error_set(err, ERR_LIMIT,
                                 "there are more than %d objects: a prefix or ignored paths "
                                 "make them fewer",
                                 S3_OBJECTS_MAX);
        if (one->size > S3_TOTAL_BYTES || o->bytes + one->size > S3_TOTAL_BYTES)
                return error_set(err, ERR_LIMIT, "all objects together are larger than %u bytes, at '%s'",
                                 S3_TOTAL_BYTES, one->key);
        return 0;
}

int s3_objects_add(struct s3_objects *o, struct slice key, struct slice tag, uint64_t size, struct error *err)
{
        struct s3_object one = { .size = size };

        if (key.len > 0 && key.data[key.len - 1] == '/')
                return 0;
        o->names += key.len + tag.len;
        if (o->names > S3_NAMES_BYTES)
                return error_set(err, ERR_LIMIT, "the keys are longer than %u bytes in all", S3_NAMES_BYTES);
        one.key = arena_strndup(&o->arena, key.data, key.len);
        one.tag = arena_strndup(&o->arena, tag.data, tag.len);
        if (!one.key || !one.tag)
                return error_no_memory(err);
        if (text_equal(one.key, S3_IGNORE_FILE) || (o->ignored && ignore_has(o->ignored, one.key, false)))
                return 0;
        TRY(check(o, &one, key, err));
        if (vec_push(&o->all, one) < 0)
                return error_no_memory(err);
        o->bytes += size;
        return 0;
}

/* ---- order ---- */

static int by_key(const void *a, const void *b)
{
        return strcmp(((const struct s3_object *)a)->key, ((const struct s3_object *)b)->key);
}

/* The folders that a key is in are none of the keys. */
static int check_folders(const struct map *files, const struct s3_object *one, struct error *err)
{
        AUTO_FREE char *folder = mem_strdup(one->key);

        if (!folder)
                return error_no_memory(err);
        for (char *slash = strrchr(folder, '/'); slash; slash = strrchr(folder, '/')) {
                *slash = '\0';
                if (map_get(files, folder))
                        return error_set(err, ERR_INVALID, "key '%s' is a file, and a folder in key '%s'",
                                         folder, one->key);
        }
        return 0;
}

static int check_all(const struct s3_objects *o, struct map *files, struct error *err)
{
        for (size_t i = 0; i < o->all.n; i++)
                if (map_put(files, o->all.at[i].key, &o->all.at[i]) < 0)
                        return error_no_memory(err);
        for (size_t i = 0; i < o->all.n; i++) {
                if (i > 0 && text_equal(o->all.at[i - 1].key, o->all.at[i].key))
                        return error_set(err, ERR_INVALID, "key '%s' was listed twice", o->all.at[i].key);
                TRY(check_folders(files, &o->all.at[i], err));
        }
        return 0;
}

int s3_objects_sort(struct s3_objects *o, struct error *err)
{
        struct map files;
        int code;

        if (o->all.n > 1)
                qsort(o->all.at, o->all.n, sizeof(*o->all.at), by_key);
        map_init(&files, MAP_BORROW_KEYS, NULL);
        code = check_all(o, &files, err);
        map_free(&files);
        return code;
}

void s3_objects_revision(const struct s3_objects *o, char ret[S3_REVISION_SIZE])
{
        struct sha256 hash;
        uint8_t bytes[SHA256_SIZE];

        memcpy(ret, "sha256:", 7);
        sha256_init(&hash);
        for (size_t i = 0; i < o->all.n; i++) {
                const struct s3_object *one = &o->all.at[i];

                sha256_update(&hash, one->key, strlen(one->key));
                sha256_update(&hash, " ", 1);
                sha256_update(&hash, one->tag, strlen(one->tag));
                sha256_update(&hash, "\n", 1);
        }
        sha256_final(&hash, bytes);
        text_hex_encode(bytes, sizeof(bytes), ret + 7);
}
