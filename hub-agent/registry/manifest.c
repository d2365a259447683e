/* Manifests, and what they say of what they are made of. spec/helm-chart.md 9.2 step 4. */
#include "hub-agent/registry/manifest.h"
#include "common/base/digest.h"
#include "common/base/limits.h"

#define ACCEPT OCI_INDEX ", " OCI_MANIFEST ", " DOCKER_INDEX ", " DOCKER_MANIFEST
#define DIGEST_PREFIX "sha256:"

/* ---- digests and references ---- */

static bool is_digest(const char *text)
{
        const char *hex = text + strlen(DIGEST_PREFIX);

        return text_starts_with(text, DIGEST_PREFIX) && strlen(hex) == SHA256_HEX_SIZE - 1 &&
               strspn(hex, "0123456789abcdef") == SHA256_HEX_SIZE - 1;
}

int registry_check_digest(const char *digest, struct error *err)
{
        return is_digest(digest) ? 0 : error_set(err, ERR_INVALID, "'%s' is no digest by SHA-256", digest);
}

/* "manifests/<tag or digest>". */
static int manifest_path(struct registry *r, const char *reference, const char **ret, struct error *err)
{
        AUTO_BUF struct buf path;

        buf_init(&path, LIMIT_HEADER_BYTES);
        buf_append_str(&path, "manifests/");
        if (strchr(reference, ':')) {
                TRY(registry_check_digest(reference, err));
                buf_append_str(&path, reference);
        } else {
                char *tag = arena_strdup(r->transfer->arena, reference);

                if (!tag)
                        return error_no_memory(err);
                for (char *plus = tag; (plus = strchr(plus, '+'));)
                        *plus = '_';
                http_escape(&path, tag);
        }
        TRY(buf_status(&path, err, "a tag"));
        *ret = arena_strndup(r->transfer->arena, path.data, path.len);
        return *ret ? 0 : error_no_memory(err);
}

static const char *digest_of(struct arena *arena, struct slice bytes)
{
        char hex[SHA256_HEX_SIZE];

        sha256_hex(bytes.data, bytes.len, hex);
        return arena_printf(arena, DIGEST_PREFIX "%s", hex);
}

/* What is refused without a body, where only a body says why; some registries do not know HEAD at all. A
 * password that was wrong is not tried again: there are those who count. */
static bool wants_get(const struct registry *r, const struct error *err)
{
        if (err->http_status == 401)
                return r->authorization && text_starts_with(r->authorization, "Bearer ");
        return err->http_status >= 400 && err->http_status < 500 && err->http_status != 429;
}

int registry_resolve(struct registry *r, const char *tag, const char **ret_digest, struct error *err)
{
        struct registry_question q = { .method = "HEAD",
                                       .accept = ACCEPT,
                                       .max_body = REGISTRY_MANIFEST_BYTES };
        struct error own = { 0 };
        struct http_response a;
        int code;

        registry_begin(r);
        TRY(manifest_path(r, tag, &q.path, err));
        code = registry_ask(r, &q, &a, &own);
        if (code < 0 && !wants_get(r, &own)) {
                if (err)
                        *err = own;
                return code;
        }
        *ret_digest = code < 0 ? NULL : http_header_get(&a.headers, "Docker-Content-Digest");
        if (!text_empty(*ret_digest))
                return 0;
        q.method = "GET";
        TRY(registry_ask(r, &q, &a, err));
        *ret_digest = digest_of(r->transfer->arena, a.body);
        return *ret_digest ? 0 : error_no_memory(err);
}

/* ---- one manifest ---- */

bool registry_is_index(const struct registry_manifest *m)
{
        return text_equal(m->media_type, OCI_INDEX) || text_equal(m->media_type, DOCKER_INDEX);
}

/* What it is has to be clear: with members of both kinds, who verifies and who uses it may see two things. */
static int find_media_type(struct arena *arena, struct registry_manifest *m, const char *content_type,
                           struct error *err)
{
        const char *said = doc_get_string(m->doc, "mediaType");
        bool has_manifests = json_object_get(m->doc, "manifests") != NULL,
             has_parts = json_object_get(m->doc, "layers") || json_object_get(m->doc, "config");
        size_t n = strcspn(or_empty(content_type), "; ");

        m->media_type = said ? said : arena_strndup(arena, or_empty(content_type), n);
        if (!m->media_type)
                return error_no_memory(err);
        if (has_manifests && has_parts)
                return error_set(err, ERR_INVALID, "%s is a manifest and an index at once", m->digest);
        if (!said && text_empty(m->media_type))
                m->media_type = has_manifests ? OCI_INDEX : OCI_MANIFEST;
        if (registry_is_index(m) ? !has_parts
                                 : !has_manifests && (text_equal(m->media_type, OCI_MANIFEST) ||
                                                      text_equal(m->media_type, DOCKER_MANIFEST)))
                return 0;
        return error_set(err, ERR_INVALID, "%s is no manifest: its media type is '%s'", m->digest,
                         m->media_type);
}

static int check_digests(const char *reference, const struct http_response *a, const char *digest,
                         struct error *err)
{
        const char *said = http_header_get(&a->headers, "Docker-Content-Digest");

        if (!text_empty(said) && !text_equal(said, digest))
                return error_set(err, ERR_INVALID, "the manifest has digest %s, its registry says %s", digest,
                                 said);
        if (strchr(reference, ':') && !text_equal(reference, digest))
                return error_set(err, ERR_INVALID, "the manifest has digest %s, asked for was %s", digest,
                                 reference);
        return 0;
}

int registry_fetch_manifest(struct registry *r, const char *reference, struct registry_manifest *ret,
                            struct error *err)
{
        struct registry_question q = { .accept = ACCEPT, .max_body = REGISTRY_MANIFEST_BYTES };
        struct arena *arena = r->transfer->arena;
        struct http_response a;
        json_t *doc = NULL;

        TRY(manifest_path(r, reference, &q.path, err));
        int code = registry_ask(r, &q, &a, err);

        if (code == ERR_LIMIT)
                return error_wrap(err, "the manifest of '%s'", reference), code;
        TRY(code);
        *ret = (struct registry_manifest){ .bytes = a.body, .digest = digest_of(arena, a.body) };
        if (!ret->digest)
                return error_no_memory(err);
        ret->asked = ret->digest;
        TRY(check_digests(reference, &a, ret->digest, err));
        code = doc_parse(a.body, &doc, err);
        if (code < 0)
                return error_wrap(err, "the manifest of '%s'", reference), code;
        TRY(doc_keep(arena, doc, err));
        ret->doc = doc;
        if (!json_is_object(doc))
                return error_set(err, ERR_INVALID, "the manifest of '%s' is no object", reference);
        return find_media_type(arena, ret, http_header_get(&a.headers, "Content-Type"), err);
}

/* ---- descriptors ---- */

int registry_descriptor_read(const json_t *doc, struct registry_descriptor *ret, struct error *err)
{
        const char *media_type, *digest, *artifact_type = "";
        json_t *annotations = NULL;
        int64_t size = -1;

        if (!json_is_object(doc))
                return error_set(err, ERR_INVALID, "a descriptor is no object");
        TRY(doc_need_string(doc, "mediaType", &media_type, err));
        TRY(doc_need_string(doc, "digest", &digest, err));
        TRY(doc_want_int(doc, "size", &size, err));
        TRY(doc_want_string(doc, "artifactType", &artifact_type, err));
        TRY(doc_want_object(doc, "annotations", &annotations, err));
        TRY(registry_check_digest(digest, err));
        if (size < 0)
                return error_set(err, ERR_INVALID, "%s: no size is said of it", digest);
        *ret = (struct registry_descriptor){ media_type, digest, artifact_type, (uint64_t)size, annotations };
        return 0;
}
