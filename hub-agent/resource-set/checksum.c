/* Checksums of ConfigMaps and Secrets beside who is to change with them: spec/resource-set.md 6.3. */
#include "common/base/digest.h"
#include "hub-agent/resource-set/sources.h"

#define DEPTH_MAX 64

struct reference {
        const char *kind, *ns, *name;
        const char *words; /* "Kind/ns/name" */
        const json_t *doc; /* what it is by now */
        bool external;     /* of the cluster, not of this build */
};

struct checksums {
        struct sources *s;
        struct reference *known; /* each read once */
        size_t n, room;
};

static struct arena *arena_of(struct checksums *c)
{
        return c->s->arena;
}

/* ---- references ---- */

static int parse(struct checksums *c, struct slice text, struct reference *ret, struct error *err)
{
        const char *words = arena_strndup(arena_of(c), text.data, text.len);
        const char *slash = words ? strchr(words, '/') : NULL;

        if (!words)
                return error_no_memory(err);
        if (!slash || slash == words ||
            !sources_parse(arena_of(c), slice_of(slash + 1), &ret->ns, &ret->name))
                return error_set(err, ERR_INVALID,
                                 "invalid " ANNOTATION_FLUX_CHECKSUM_FROM
                                 " reference '%s' must be in the format 'Kind/namespace/name'",
                                 words);
        ret->words = words;
        ret->kind = arena_strndup(arena_of(c), words, (size_t)(slash - words));
        if (!ret->kind)
                return error_no_memory(err);
        if (!text_equal(ret->kind, "ConfigMap") && !text_equal(ret->kind, "Secret"))
                return error_set(err, ERR_INVALID,
                                 "unsupported kind '%s' in " ANNOTATION_FLUX_CHECKSUM_FROM
                                 ", only ConfigMap and Secret are allowed",
                                 ret->kind);
        return 0;
}

static const json_t *find_built(struct checksums *c, const struct reference *r)
{
        const struct build *b = c->s->build;

        for (size_t i = 0; i < b->n; i++)
                if (text_equal(doc_get_string(b->at[i].doc, "apiVersion"), "v1") &&
                    text_equal(doc_get_string(b->at[i].doc, "kind"), r->kind) &&
                    text_equal(doc_get_string(b->at[i].doc, "metadata.namespace"), r->ns) &&
                    text_equal(doc_get_string(b->at[i].doc, "metadata.name"), r->name))
                        return b->at[i].doc;
        return NULL;
}

static int add(struct checksums *c, const struct reference *r, struct error *err)
{
        if (c->n == c->room) {
                size_t room = c->room ? 2 * c->room : 16;
                struct reference *more = ARENA_NEW_ARRAY(arena_of(c), struct reference, room);

                if (!more)
                        return error_no_memory(err);
                if (c->n)
                        memcpy(more, c->known, c->n * sizeof(*more));
                c->known = more;
                c->room = room;
        }
        c->known[c->n++] = *r;
        return 0;
}

static int resolve(struct checksums *c, struct slice text, const struct reference **ret, struct error *err)
{
        struct reference r = { 0 };
        json_t *live;

        TRY(parse(c, text, &r, err));
        for (size_t i = 0; i < c->n; i++)
                if (text_equal(c->known[i].words, r.words)) {
                        *ret = &c->known[i];
                        return 0;
                }
        r.doc = find_built(c, &r);
        if (!r.doc) {
                if (sources_read(c->s, text_equal(r.kind, "Secret"), r.ns, r.name, &live, err) < 0)
                        return error_wrap(err,
                                          "failed to resolve " ANNOTATION_FLUX_CHECKSUM_FROM " reference %s",
                                          r.words);
                r.doc = live;
                r.external = true;
        }
        TRY(add(c, &r, err));
        *ret = &c->known[c->n - 1];
        return 0;
}

/* ---- sums ---- */

struct part {
        const char *key;
        const json_t *value;
        bool encoded;
};

static int by_key(const void *a, const void *b)
{
        return strcmp(((const struct part *)a)->key, ((const struct part *)b)->key);
}

static size_t gather(const json_t *fields, bool encoded, struct part *parts, size_t n)
{
        const char *key;
        json_t *value;

        json_object_foreach((json_t *)fields, key, value)
                parts[n++] = (struct part){ key, value, encoded };
        return n;
}

/* Name and bytes of each key, sorted, each ended by NUL. */
static int add_bytes(struct arena *arena, const struct reference *r, struct sha256 *sum, struct error *err)
{
        bool secret = text_equal(r->kind, "Secret");
        const json_t *data = json_object_get(r->doc, "data"), *binary = json_object_get(r->doc, "binaryData");
        struct part *parts =
                ARENA_NEW_ARRAY(arena, struct part, json_object_size(data) + json_object_size(binary) + 1);
        size_t n = 0;

        if (!parts)
                return error_no_memory(err);
        n = gather(data, secret, parts, n);
        n = secret ? n : gather(binary, true, parts, n);
        qsort(parts, n, sizeof(*parts), by_key);
        sha256_update(sum, r->words, strlen(r->words) + 1);
        for (size_t i = 0; i < n; i++) {
                struct slice bytes;

                if (sources_value(arena, parts[i].value, parts[i].encoded, &bytes, err) < 0)
                        return error_wrap(err,
                                          "failed to resolve " ANNOTATION_FLUX_CHECKSUM_FROM
                                          " reference %s: key '%s'",
                                          r->words, parts[i].key);
                sha256_update(sum, parts[i].key, strlen(parts[i].key) + 1);
                sha256_update(sum, or_empty(bytes.data), bytes.len);
                sha256_update(sum, "", 1);
        }
        return 0;
}

static int add_sum(struct checksums *c, json_t *annotations, const char *list, struct error *err)
{
        uint8_t sum[SHA256_SIZE];
        char text[sizeof("sha256:") + SHA256_HEX_SIZE] = "sha256:";
        struct slice rest = slice_of(list), one;
        struct sha256 all;
        const struct reference *r = NULL;
        size_t n = 0;

        sha256_init(&all);
        while (rest.len) {
                const char *comma = memchr(rest.data, ',', rest.len);

                one = slice_trim((struct slice){ rest.data, comma ? (size_t)(comma - rest.data) : rest.len });
                rest = comma ? slice_of(comma + 1) : (struct slice){ NULL, 0 };
                if (one.len == 0)
                        continue;
                TRY(resolve(c, one, &r, err));
                TRY(add_bytes(arena_of(c), r, &all, err));
                n++;
        }
        if (n == 0)
                return 0;
        sha256_final(&all, sum);
        text_hex_encode(sum, sizeof(sum), text + strlen("sha256:"));
        return json_object_set_new(annotations, ANNOTATION_FLUX_CHECKSUM, json_string(text)) < 0
                       ? error_no_memory(err)
                       : 0;
}

static const char *list_of(const json_t *doc)
{
        const json_t *annotations = json_object_get(json_object_get(doc, "metadata"), "annotations");
        const char *list = json_string_value(json_object_get(annotations, ANNOTATION_FLUX_CHECKSUM_FROM));

        return text_empty(list) ? NULL : list;
}

/* Every map named metadata, at any depth: those of pod templates, too. */
static int walk(struct checksums *c, json_t *doc, unsigned depth, struct error *err)
{
        json_t *annotations = json_object_get(json_object_get(doc, "metadata"), "annotations"), *value;
        const char *list = list_of(doc), *key;
        size_t i;

        if (depth > DEPTH_MAX)
                return 0;
        if (list)
                TRY(add_sum(c, annotations, list, err));
        if (json_is_object(doc))
                json_object_foreach(doc, key, value)
                        TRY(walk(c, value, depth + 1, err));
        if (json_is_array(doc))
                json_array_foreach(doc, i, value)
                        TRY(walk(c, value, depth + 1, err));
        return 0;
}

static const char *find_list(const json_t *doc, unsigned depth)
{
        const char *found = list_of(doc), *key;
        json_t *value;
        size_t i;

        if (depth > DEPTH_MAX)
                return NULL;
        if (json_is_object(doc))
                json_object_foreach((json_t *)doc, key, value)
                        found = found ? found : find_list(value, depth + 1);
        if (json_is_array(doc))
                json_array_foreach(doc, i, value)
                        found = found ? found : find_list(value, depth + 1);
        return found;
}

const char *checksum_from(const json_t *doc)
{
        return find_list(doc, 0);
}

/* ---- all ---- */

static int by_text(const void *a, const void *b)
{
        return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int note_external(struct checksums *c, struct error *err)
{
        struct string_list *l = &c->s->external;
        const char **at = ARENA_NEW_ARRAY(arena_of(c), const char *, c->n + 1);

        if (!at)
                return error_no_memory(err);
        *l = (struct string_list){ .at = at };
        for (size_t i = 0; i < c->n; i++)
                if (c->known[i].external)
                        at[l->n++] = c->known[i].words;
        qsort(at, l->n, sizeof(*at), by_text);
        l->set = l->n > 0;
        return 0;
}

int add_checksums(struct sources *s, struct error *err)
{
        struct checksums c = { .s = s };

        for (size_t i = 0; i < s->build->n; i++)
                TRY(walk(&c, s->build->at[i].doc, 0, err));
        return note_external(&c, err);
}
