#include "hub-agent/manifest-generation/sync_marks.h"

#include <openssl/sha.h>

#include "common/base/digest.h"

/* The alphabet of addresses, without padding. */
static void base64url(const uint8_t sum[SHA256_SIZE], char ret[SYNC_SET_SIZE])
{
        char padded[SYNC_SET_SIZE + 1];

        text_base64_encode(sum, SHA256_SIZE, padded);
        for (size_t i = 0; i < SYNC_SET_SIZE - 1; i++)
                ret[i] = padded[i] == '+' ? '-' : padded[i] == '/' ? '_' : padded[i];
        ret[SYNC_SET_SIZE - 1] = '\0';
}

static void add(struct sha256 *s, const char *text)
{
        sha256_update(s, text, strlen(text));
}

void sync_set_name(struct slice url, const char *branch, const char *const *paths, size_t n_paths,
                   char ret[SYNC_SET_SIZE])
{
        uint8_t sum[SHA256_SIZE];
        struct sha256 s;

        sha256_init(&s);
        sha256_update(&s, url.data, url.len);
        add(&s, branch);
        for (size_t i = 0; i < n_paths; i++)
                add(&s, paths[i]);
        sha256_final(&s, sum);
        base64url(sum, ret);
}

void sync_mark(const char *set_name, const char *identity, char ret[SYNC_MARK_SIZE])
{
        static const char prefix[] = "sha256.";
        uint8_t sum[SHA256_SIZE];
        struct sha256 s;

        sha256_init(&s);
        add(&s, set_name);
        add(&s, identity);
        sha256_final(&s, sum);
        memcpy(ret, prefix, sizeof(prefix) - 1);
        base64url(sum, ret + sizeof(prefix) - 1);
}

int sync_checksum(struct slice text, char ret[SYNC_CHECKSUM_SIZE])
{
        uint8_t sum[SHA_DIGEST_LENGTH];

        if (!SHA1((const unsigned char *)(text.data ? text.data : ""), text.len, sum))
                return ERR_NO_MEMORY;
        text_hex_encode(sum, sizeof(sum), ret);
        return 0;
}

/* ---- addresses ---- */

int sync_url_without_password(const char *url, struct buf *b)
{
        const char *scheme = strstr(url, "://"), *host = scheme ? scheme + 3 : NULL;
        const char *at = host ? memrchr(host, '@', strcspn(host, "/?#")) : NULL;
        const char *colon = at ? memchr(host, ':', (size_t)(at - host)) : NULL;

        if (!colon)
                return buf_append_str(b, url);
        (void)buf_append(b, url, (size_t)(colon - url));
        return buf_append_str(b, at);
}

/* ---- documents ---- */

static const char *text_below(const json_t *doc, const char *map, const char *key)
{
        const char *const path[] = { "metadata", map, key };

        return json_string_value(doc_get_keys(doc, path, ARRAY_LEN(path)));
}

const char *sync_annotation(const json_t *doc, const char *key)
{
        return text_below(doc, "annotations", key);
}

const char *sync_label(const json_t *doc, const char *key)
{
        return text_below(doc, "labels", key);
}

const char *sync_ignore_of(const json_t *doc)
{
        const char *value = sync_annotation(doc, FLUX_IGNORE);

        return value ? value : sync_annotation(doc, FLUX_IGNORE_OLD);
}

/* A map that is null in the manifest is none. */
static int put(json_t *metadata, const char *map, const char *key, const char *value)
{
        json_t *at = json_object_get(metadata, map);

        if (!json_is_object(at)) {
                at = json_object();
                if (!at || json_object_set_new(metadata, map, at) < 0)
                        return ERR_NO_MEMORY;
        }
        return json_object_set_new(at, key, json_string(value)) < 0 ? ERR_NO_MEMORY : 0;
}

int sync_dress(const json_t *doc, const char *ns, const char *mark, const char *checksum, json_t **ret,
               struct error *err)
{
        AUTO_JSON json_t *dressed = doc_copy(doc);
        json_t *metadata = json_object_get(dressed, "metadata");

        if (!dressed)
                return error_no_memory(err);
        if (!json_is_object(metadata))
                return error_set(err, ERR_INVALID, "metadata: must be an object");
        json_object_del(metadata, "namespace");
        if ((ns && json_object_set_new(metadata, "namespace", json_string(ns)) < 0) ||
            put(metadata, "labels", FLUX_SYNC_MARK, mark) < 0 ||
            put(metadata, "annotations", FLUX_SYNC_CHECKSUM, checksum) < 0)
                return error_no_memory(err);
        *ret = TAKE_PTR(dressed);
        return 0;
}
