#include "member-agent/object-set/content.h"

#include "common/base/digest.h"
#include "common/base/gzip.h"
#include "common/base/limits.h"
#include "common/base/memory.h"
#include "common/base/unicode.h"
#include "common/json/scan.h"

#define MUTABLE_WORDS                                                                                        \
        "the following secrets are not immutable (referenced secrets must have immutable set to true): "

/* ---- which Secrets ---- */

static const char *namespace_of(const struct object_set_ref *ref, const char *system_ns)
{
        return text_empty(ref->ns) ? or_empty(system_ns) : ref->ns;
}

static const struct content_secret *find(const struct content_secrets *secrets, const char *ns,
                                         const char *name)
{
        for (size_t i = 0; i < secrets->n; i++)
                if (text_equal(secrets->at[i].name, name) && text_equal(secrets->at[i].ns, ns))
                        return &secrets->at[i];
        return NULL;
}

static size_t count_entries(const struct object_set_phase_list *phases)
{
        size_t n = 0;

        for (size_t i = 0; i < phases->n; i++)
                n += phases->at[i].objects.n;
        return n;
}

static void note_secrets(const struct object_set_phase *phase, const char *system_ns,
                         struct content_secrets *ret)
{
        for (size_t i = 0; i < phase->objects.n; i++) {
                const struct object_set_ref *ref = phase->objects.at[i].ref;
                const char *ns = ref ? namespace_of(ref, system_ns) : NULL;

                if (ref && !find(ret, ns, ref->name))
                        ret->at[ret->n++] = (struct content_secret){ .ns = ns, .name = ref->name };
        }
}

int content_secrets(const struct cluster_object_set *s, const char *system_ns, struct arena *arena,
                    struct content_secrets *ret, struct error *err)
{
        struct content_secrets secrets = { 0 };

        if (s->spec) {
                secrets.at = ARENA_NEW_ARRAY(arena, struct content_secret, count_entries(&s->spec->phases));
                if (!secrets.at)
                        return error_no_memory(err);
                for (size_t i = 0; i < s->spec->phases.n; i++)
                        note_secrets(&s->spec->phases.at[i], system_ns, &secrets);
        }
        *ret = secrets;
        return 0;
}

int content_mutable(const struct content_secrets *secrets, struct arena *arena, const char **ret,
                    struct error *err)
{
        AUTO_BUF struct buf b;
        size_t n = 0;

        *ret = NULL;
        buf_init(&b, LIMIT_RESPONSE_BYTES);
        for (size_t i = 0; i < secrets->n; i++) {
                const struct content_secret *secret = &secrets->at[i];

                if (!secret->doc || doc_get_bool(secret->doc, "immutable", false))
                        continue;
                buf_printf(&b, "%s%s/%s", n++ ? ", " : MUTABLE_WORDS, secret->ns, secret->name);
        }
        TRY(buf_status(&b, err, "the list of Secrets"));
        if (!n)
                return 0;
        *ret = arena_strdup(arena, b.data);
        return *ret ? 0 : error_no_memory(err);
}

/* ---- one manifest ---- */

struct resolver {
        const struct content_secrets *secrets;
        const char *system_ns;
        struct arena *arena;
        size_t bytes, values; /* of all manifests so far */
};

/* As Go's %q; cut where that is longer than keys and names are. */
static const char *quoted(const char *text, char ret[600])
{
        AUTO_BUF struct buf b;

        buf_init(&b, 599);
        write_quoted(&b, slice_of(text), QUOTE_PLAIN);
        snprintf(ret, 600, "%s", b.data);
        return ret;
}

/* Before it is parsed: as a document, [0,0] takes twenty times the memory of its text, [{},{}] a hundred
 * times. */
static int count(struct resolver *r, struct slice manifest, struct error *err)
{
        r->bytes += manifest.len;
        if (r->bytes > LIMIT_OBJECT_SET_BYTES)
                return error_set(err, ERR_INVALID, "the manifests of the set exceed %u bytes together",
                                 LIMIT_OBJECT_SET_BYTES);
        r->values += scan_count_values(manifest);
        if (r->values > LIMIT_OBJECT_SET_VALUES)
                return error_set(err, ERR_INVALID,
                                 "the manifests of the set hold more than %u values together",
                                 LIMIT_OBJECT_SET_VALUES);
        return 0;
}

/* What is no object is no manifest; JSON's null is one of which all is missing. */
static int parse(struct slice text, json_t **ret, struct error *err)
{
        AUTO_JSON json_t *doc = NULL;

        /* Of duplicates the last one counts, as for API servers. */
        TRY(doc_parse_loose(text, &doc, NULL, err));
        if (!json_is_object(doc) && !json_is_null(doc))
                return error_set(err, ERR_INVALID, "a manifest must be a JSON object");
        *ret = TAKE_PTR(doc);
        return 0;
}

/* Adds where it was. All but a lack of memory is the Secret's fault, which cannot change. */
static int at_key(int code, const char *what, const struct object_set_ref *ref, const char *ns,
                  struct error *err)
{
        char key[600];

        if (code == 0 || code == ERR_NO_MEMORY)
                return code;
        error_wrap(err, "%s key %s in Secret %s/%s", what, quoted(ref->key, key), ns, ref->name);
        if (err)
                err->code = ERR_INVALID;
        return ERR_INVALID;
}

static int unpack(struct slice value, const struct object_set_ref *ref, const char *ns, struct buf *ret,
                  struct error *err)
{
        char key[600];
        int code;

        TRY(at_key(gzip_check_header(value, err), "creating gzip reader for", ref, ns, err));
        code = gzip_unpack(value, ret, err);
        if (code == ERR_LIMIT)
                return error_set(
                        err, ERR_INVALID,
                        "decompressed data for key %s in Secret %s/%s exceeds maximum size (%d bytes)",
                        quoted(ref->key, key), ns, ref->name, CONTENT_MAX_OBJECT);
        return at_key(code, "decompressing", ref, ns, err);
}

/* The bytes under the key (mem_free). */
static int read_key(const json_t *secret, const struct object_set_ref *ref, const char *ns, char **ret,
                    size_t *ret_len, struct error *err)
{
        const json_t *value = json_object_get(json_object_get(secret, "data"), ref->key);
        struct slice text = slice_of(json_string_value(value));
        size_t cap = text.len / 4 * 3 + 3;
        char key[600];

        if (!json_is_string(value))
                return error_set(err, ERR_INVALID, "key %s not found in Secret %s/%s", quoted(ref->key, key),
                                 ns, ref->name);
        *ret = mem_alloc(cap);
        if (!*ret)
                return error_no_memory(err);
        if (text_base64_decode(text, *ret, cap, ret_len, false) < 0)
                return at_key(error_set(err, ERR_INVALID, "not base64"), "decoding", ref, ns, err);
        return 0;
}

static int resolve_value(struct resolver *r, const json_t *secret, const struct object_set_ref *ref,
                         const char *ns, json_t **ret, struct error *err)
{
        AUTO_FREE char *value = NULL;
        AUTO_BUF struct buf text;
        struct slice manifest = { 0 };

        buf_init(&text, CONTENT_MAX_OBJECT);
        TRY(read_key(secret, ref, ns, &value, &manifest.len, err));
        manifest.data = value;
        if (gzip_begins(manifest)) {
                TRY(unpack(manifest, ref, ns, &text, err));
                manifest = (struct slice){ text.data, text.len };
        }
        TRY(count(r, manifest, err));
        return at_key(parse(manifest, ret, err), "unmarshaling object from", ref, ns, err);
}

/* The server's answer is none of ours: what it calls invalid may be read another time. */
static int unreadable(const struct content_secret *secret, const struct object_set_ref *ref, const char *ns,
                      struct error *err)
{
        struct error why = { 0 };

        if (secret && secret->why.code)
                why = secret->why;
        else
                error_set(&why, ERR_NOT_FOUND, "Secret \"%s\" not found", ref->name);
        if (why.code == ERR_INVALID)
                why.code = ERR_RETRY;
        error_wrap(&why, "getting Secret %s/%s", ns, ref->name);
        if (err)
                *err = why;
        return why.code;
}

static int resolve_ref(struct resolver *r, const struct object_set_ref *ref, json_t **ret, struct error *err)
{
        const char *ns = namespace_of(ref, r->system_ns);
        const struct content_secret *secret = find(r->secrets, ns, ref->name);

        if (!secret || !secret->doc)
                return unreadable(secret, ref, ns, err);
        return resolve_value(r, secret->doc, ref, ns, ret, err);
}

static int resolve_inline(struct resolver *r, struct slice manifest, json_t **ret, struct error *err)
{
        TRY(count(r, manifest, err));
        return parse(manifest, ret, err);
}

static enum protection protection_of(const char *word)
{
        if (text_equal(word, PROTECTION_WORD_PREVENT))
                return PROTECTION_PREVENT;
        if (text_equal(word, PROTECTION_WORD_IF_NO_CONTROLLER))
                return PROTECTION_IF_NO_CONTROLLER;
        return text_equal(word, PROTECTION_WORD_NONE) ? PROTECTION_NONE : PROTECTION_UNSET;
}

/* The most specific one that is set (9). */
static enum protection effective(const char *object, const char *phase, const char *set)
{
        const char *const words[] = { object, phase, set };

        for (size_t i = 0; i < ARRAY_LEN(words); i++)
                if (protection_of(words[i]) != PROTECTION_UNSET)
                        return protection_of(words[i]);
        return PROTECTION_PREVENT;
}

int content_object(json_t *doc, struct arena *arena, struct set_object *ret, struct error *err)
{
        const char *api_version = or_empty(doc_get_string(doc, "apiVersion")),
                   *slash = strchr(api_version, '/');
        const char *group = slash ? arena_strndup(arena, api_version, (size_t)(slash - api_version)) : "";

        TRY(doc_keep(arena, doc, err));
        if (!group)
                return error_no_memory(err);
        *ret = (struct set_object){ .doc = json_is_object(doc) ? doc : NULL,
                                    .group = group,
                                    .version = slash ? slash + 1 : api_version,
                                    .kind = or_empty(doc_get_string(doc, "kind")),
                                    .ns = or_empty(doc_get_string(doc, "metadata.namespace")),
                                    .name = or_empty(doc_get_string(doc, "metadata.name")),
                                    .protection = PROTECTION_PREVENT };
        return 0;
}

/* ---- all of them ---- */

static void digest_text(struct sha256 *sha, const char *text)
{
        sha256_update(sha, text, strlen(text));
}

static int digest_phase(struct set_phase *phase, struct error *err)
{
        AUTO_BUF struct buf b;
        struct sha256 sha;
        uint8_t raw[SHA256_SIZE];

        buf_init(&b, LIMIT_RESPONSE_BYTES);
        sha256_init(&sha);
        digest_text(&sha, "{\"name\":");
        doc_append_string(&b, or_empty(phase->name), strlen(or_empty(phase->name)));
        sha256_update(&sha, b.data, b.len);
        digest_text(&sha, ",\"objects\":[");
        for (size_t i = 0; i < phase->n; i++) {
                buf_truncate(&b, 0);
                buf_append_str(&b, i ? "," : "");
                if (phase->at[i].doc)
                        doc_write_canonical(phase->at[i].doc, &b);
                else
                        buf_append_str(&b, "null");
                TRY(buf_status(&b, err, "the manifest to hash"));
                sha256_update(&sha, b.data, b.len);
        }
        digest_text(&sha, "]}");
        sha256_final(&sha, raw);
        snprintf(phase->digest, sizeof(phase->digest), "sha256:");
        text_hex_encode(raw, sizeof(raw), phase->digest + strlen("sha256:"));
        return 0;
}

static int resolve_entry(struct resolver *r, const struct object_set_entry *entry, struct set_object *ret,
                         struct error *err)
{
        json_t *doc = NULL;

        TRY(entry->ref ? resolve_ref(r, entry->ref, &doc, err) : resolve_inline(r, entry->object, &doc, err));
        return content_object(doc, r->arena, ret, err);
}

static int resolve_phase(struct resolver *r, const struct cluster_object_set_spec *spec,
                         const struct object_set_phase *phase, struct set_phase *ret, struct error *err)
{
        *ret = (struct set_phase){ .name = phase->name, .n = phase->objects.n };
        ret->at = ARENA_NEW_ARRAY(r->arena, struct set_object, ret->n);
        if (!ret->at)
                return error_no_memory(err);
        for (size_t i = 0; i < ret->n; i++) {
                const struct object_set_entry *entry = &phase->objects.at[i];
                int code = resolve_entry(r, entry, &ret->at[i], err);

                if (code < 0)
                        return error_wrap(err,
                                          entry->ref ? "resolving ref in phase \"%s\""
                                                     : "reading object in phase \"%s\"",
                                          or_empty(phase->name)),
                               code;
                ret->at[i].protection = effective(entry->collision_protection, phase->collision_protection,
                                                  spec->collision_protection);
        }
        return digest_phase(ret, err);
}

int content_resolve(const struct cluster_object_set *s, const struct content_secrets *secrets,
                    const char *system_ns, struct arena *arena, struct set_phases *ret, struct error *err)
{
        struct resolver r = { .secrets = secrets, .system_ns = system_ns, .arena = arena };
        struct set_phases phases = { .n = s->spec ? s->spec->phases.n : 0 };

        phases.at = ARENA_NEW_ARRAY(arena, struct set_phase, phases.n);
        if (!phases.at)
                return error_no_memory(err);
        for (size_t i = 0; i < phases.n; i++)
                TRY(resolve_phase(&r, s->spec, &s->spec->phases.at[i], &phases.at[i], err));
        *ret = phases;
        return 0;
}

/* ---- what changed ---- */

static const char *digest_now(const struct set_phases *now, const char *name)
{
        for (size_t i = 0; i < now->n; i++)
                if (text_equal(now->at[i].name, name))
                        return now->at[i].digest;
        return "";
}

int content_changed(const struct cluster_object_set *s, const struct set_phases *now, struct arena *arena,
                    const char **ret, struct error *err)
{
        const struct observed_phase_list observed =
                s->status ? s->status->observed_phases : (struct observed_phase_list){ 0 };
        const char *parts = "";
        size_t n = 0;

        *ret = NULL;
        if (observed.n == 0)
                return 0;
        if (observed.n != now->n) {
                *ret = arena_printf(arena, "number of phases has changed (expected %u phases, got %zu)",
                                    observed.n, now->n);
                return *ret ? 0 : error_no_memory(err);
        }
        for (size_t i = 0; i < observed.n; i++) {
                const struct observed_phase *then = &observed.at[i];
                const char *digest = digest_now(now, then->name);

                if (text_equal(then->digest, digest))
                        continue;
                parts = arena_printf(arena, "%sphase \"%s\" (expected digest %s, got %s); ", parts,
                                     or_empty(then->name), or_empty(then->digest), digest);
                n++;
                if (!parts)
                        return error_no_memory(err);
        }
        if (n)
                *ret = arena_printf(
                        arena,
                        "resolved content of %zu phase(s) has changed: %sa referenced object source "
                        "may have been deleted and recreated with different content",
                        n, parts);
        return n && !*ret ? error_no_memory(err) : 0;
}
