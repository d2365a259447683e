#include "kubectl-fleet/pack.h"

#include <stdlib.h>

#include "common/base/digest.h"
#include "common/base/gzip.h"
#include "common/base/limits.h"
#include "common/base/memory.h"
#include "common/json/scan.h"

/* ---- one object ---- */

#define KEY_SIZE 44 /* base64url of a SHA-256, without padding */
#define SET_OBJECTS_MAX (SET_PHASES_MAX * SET_PHASE_OBJECTS_MAX)

struct item {
        const char *group, *version, *kind, *ns, *name; /* ns "" = none */
        size_t phase;
        char *value; /* as it is stored; the arena's */
        size_t len, secret;
        char key[KEY_SIZE];
};
struct packing {
        const struct pack_wish *wish;
        const char *name; /* of the set */
        struct arena *arena;
        struct item *items; /* in the order of phases once they are sorted */
        size_t n, bytes, values;
        const char **secrets; /* their names */
        const char *homeless;
        size_t n_homeless;
};

static int object_error(struct error *err, const struct item *it, const char *text)
{
        return error_set(err, ERR_INVALID, "%s \"%s%s%s\": %s", it->kind, it->ns, *it->ns ? "/" : "",
                         it->name, text);
}

/* The manifest without what a server fills in; new. */
static json_t *stripped(const json_t *manifest)
{
        static const char *const kept[] = { "annotations", "labels", "name", "namespace" };
        const json_t *from = json_object_get(manifest, "metadata");
        AUTO_JSON json_t *doc = doc_copy_members(manifest), *meta = json_object();

        if (!doc || !meta)
                return NULL;
        for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
                json_t *value = json_object_get(from, kept[i]);

                if (value && json_object_set(meta, kept[i], value) < 0)
                        return NULL;
        }
        json_object_del(doc, "status");
        return json_object_set(doc, "metadata", meta) < 0 ? NULL : TAKE_PTR(doc);
}

static int name_parts(struct packing *p, const json_t *doc, struct item *ret, struct error *err)
{
        const char *api_version, *slash;

        if (doc_need_string(doc, "kind", &ret->kind, err) < 0 ||
            doc_need_string(doc, "apiVersion", &api_version, err) < 0 ||
            doc_need_string(doc, "metadata.name", &ret->name, err) < 0 ||
            doc_want_string(doc, "metadata.namespace", &ret->ns, err) < 0)
                return error_wrap(err, "%s", ret->kind ? ret->kind : "a manifest");
        if (text_empty(ret->kind) || text_empty(api_version) || text_empty(ret->name))
                return error_set(err, ERR_INVALID,
                                 "%s \"%s\": apiVersion, kind and metadata.name must not be empty", ret->kind,
                                 ret->name);
        slash = strchr(api_version, '/');
        ret->ns = or_empty(ret->ns);
        ret->version = slash ? slash + 1 : api_version;
        ret->group = slash ? arena_strndup(p->arena, api_version, (size_t)(slash - api_version)) : "";
        return ret->group ? 0 : error_no_memory(err);
}

/* Such a set is applied, but not that object: its phase is refused until the set is made anew. */
static void note_namespace(struct packing *p, const struct item *it)
{
        if (!pack_place_of(it->group, it->kind).namespaced || !text_empty(it->ns))
                return;
        if (p->n_homeless++ == 0)
                p->homeless = arena_printf(p->arena, "%s \"%s\"", it->kind, it->name);
}

/* What all hold together may be no more than a member takes. */
static int check_sum(struct packing *p, const struct item *it, struct error *err)
{
        p->bytes += it->len;
        p->values += scan_count_values((struct slice){ it->value, it->len });
        if (p->bytes > LIMIT_OBJECT_SET_BYTES)
                return object_error(err, it, "with it the manifests are larger than a set may be");
        if (p->values > LIMIT_OBJECT_SET_VALUES)
                return error_set(
                        err, ERR_INVALID,
                        "%s \"%s%s%s\": with it the manifests hold more than the %u values that a set may",
                        it->kind, it->ns, *it->ns ? "/" : "", it->name, LIMIT_OBJECT_SET_VALUES);
        return 0;
}

/* As compact JSON. */
static int encode(struct packing *p, const json_t *doc, struct item *it, struct error *err)
{
        AUTO_BUF struct buf text;

        buf_init(&text, SET_MANIFEST_MAX_BYTES);
        if (doc_write_canonical(doc, &text) == ERR_LIMIT)
                return object_error(err, it, "is longer than the 10485760 bytes that are ever unpacked");
        it->value = text.failed ? NULL : arena_memdup(p->arena, text.data, text.len);
        if (!it->value)
                return error_no_memory(err);
        it->len = text.len;
        return check_sum(p, it, err);
}

static int take_manifest(struct packing *p, const json_t *manifest, struct error *err)
{
        json_t *doc;
        struct item *it;

        if (!json_is_object(manifest))
                return error_set(err, ERR_INVALID, "a manifest must be an object");
        if (p->n == SET_OBJECTS_MAX)
                return error_set(err, ERR_INVALID, "more than %d objects: a set holds no more",
                                 SET_OBJECTS_MAX);
        doc = stripped(manifest);
        if (!doc)
                return error_no_memory(err);
        TRY(doc_keep(p->arena, doc, err));
        it = &p->items[p->n++];
        TRY(name_parts(p, doc, it, err));
        note_namespace(p, it);
        it->phase = pack_place_of(it->group, it->kind).phase;
        return encode(p, doc, it, err);
}

static int take_all(struct packing *p, const json_t *manifests, struct error *err)
{
        json_t *doc, *item;
        size_t i, k;

        p->items = ARENA_NEW_ARRAY(p->arena, struct item, SET_OBJECTS_MAX);
        p->secrets = ARENA_NEW_ARRAY(p->arena, const char *, SET_OBJECTS_MAX);
        if (!p->items || !p->secrets)
                return error_no_memory(err);
        json_array_foreach(manifests, i, doc) {
                json_t *items = text_ends_with(or_empty(doc_get_string(doc, "kind")), "List")
                                        ? doc_get_array(doc, "items")
                                        : NULL;

                if (!items)
                        TRY(take_manifest(p, doc, err));
                json_array_foreach(items, k, item)
                        TRY(take_manifest(p, item, err));
        }
        return p->n ? 0 : error_set(err, ERR_INVALID, "there are no manifests");
}

/* ---- order ---- */

static int compare_texts(const struct item *a, const struct item *b, bool with_version)
{
        const char *const pairs[][2] = { { a->group, b->group },
                                         { with_version ? a->version : "", with_version ? b->version : "" },
                                         { a->kind, b->kind },
                                         { a->ns, b->ns },
                                         { a->name, b->name } };

        for (size_t i = 0; i < ARRAY_LEN(pairs); i++)
                if (strcmp(pairs[i][0], pairs[i][1]) != 0)
                        return strcmp(pairs[i][0], pairs[i][1]);
        return 0;
}

static int compare_items(const void *a, const void *b)
{
        const struct item *x = a, *y = b;

        return x->phase == y->phase ? compare_texts(x, y, true) : x->phase < y->phase ? -1 : 1;
}

static int compare_identities(const void *a, const void *b)
{
        return compare_texts(a, b, false);
}

static int sort(struct packing *p, struct error *err)
{
        qsort(p->items, p->n, sizeof(p->items[0]), compare_identities);
        for (size_t i = 1; i < p->n; i++)
                if (compare_identities(&p->items[i - 1], &p->items[i]) == 0)
                        return object_error(err, &p->items[i], "is there twice");
        qsort(p->items, p->n, sizeof(p->items[0]), compare_items);
        return 0;
}

/* ---- what is stored ---- */

static int zip(struct packing *p, struct item *it, struct error *err)
{
        AUTO_BUF struct buf small;

        buf_init(&small, SET_MANIFEST_MAX_BYTES);
        TRY(gzip_pack((struct slice){ it->value, it->len }, &small, err));
        it->len = small.len;
        it->value = arena_memdup(p->arena, small.data, small.len);
        return it->value ? 0 : error_no_memory(err);
}

static void make_key(struct item *it)
{
        struct sha256 sha;
        uint8_t raw[SHA256_SIZE];
        char text[KEY_SIZE + 1];

        sha256_init(&sha);
        sha256_update(&sha, it->value, it->len);
        sha256_final(&sha, raw);
        text_base64_encode(raw, sizeof(raw), text);
        for (size_t i = 0; i < KEY_SIZE - 1; i++)
                it->key[i] = text[i] == '+' ? '-' : text[i] == '/' ? '_' : text[i];
        it->key[KEY_SIZE - 1] = '\0';
}

/* How many phases of its own name a phase's objects fill before this one, and its place in its phase. */
struct place {
        size_t phase, part, index;
};

static struct place place_of(const struct packing *p, size_t i, struct place before)
{
        if (i == 0)
                return (struct place){ 0 };
        if (p->items[i].phase != p->items[i - 1].phase)
                return (struct place){ before.phase + 1, 0, 0 };
        if (before.index + 1 == SET_PHASE_OBJECTS_MAX)
                return (struct place){ before.phase + 1, before.part + 1, 0 };
        return (struct place){ before.phase, before.part, before.index + 1 };
}

static int store(struct packing *p, struct error *err)
{
        struct place at = { 0 };

        for (size_t i = 0; i < p->n; i++) {
                struct item *it = &p->items[i];

                at = place_of(p, i, at);
                if (it->len > PACK_SECRET_BYTES)
                        TRY(zip(p, it, err));
                if (it->len > PACK_SECRET_BYTES) {
                        error_set(err, ERR_INVALID,
                                  "object in phase %zu index %zu exceeds maximum Secret data size (%zu bytes "
                                  "> %d "
                                  "bytes) even after compression",
                                  at.phase, at.index, it->len, PACK_SECRET_BYTES);
                        error_wrap(err, "%s \"%s\"", it->kind, it->name);
                        return ERR_INVALID;
                }
                make_key(it);
        }
        return at.phase < SET_PHASES_MAX ? 0
                                         : error_set(err, ERR_INVALID, "%zu phases: a set has %d at most",
                                                     at.phase + 1, SET_PHASES_MAX);
}

/* ---- Secrets ---- */

/* Gives each object its Secret, the next one when the last is full. No two values are equal, since no two
 * objects are. */
static void distribute(struct packing *p)
{
        size_t sum = 0, secret = 0;

        for (size_t i = 0; i < p->n; i++) {
                sum += p->items[i].len;
                if (i && sum > PACK_SECRET_BYTES) {
                        secret++;
                        sum = p->items[i].len;
                }
                p->items[i].secret = secret;
        }
}

static int compare_keys(const void *a, const void *b)
{
        return strcmp((*(const struct item *const *)a)->key, (*(const struct item *const *)b)->key);
}

/* "<set>-<16 hex>": over each key and value, in the order of keys. */
static const char *secret_name(const struct packing *p, const struct item *items, size_t n)
{
        const struct item **sorted = ARENA_NEW_ARRAY(p->arena, const struct item *, n);
        struct sha256 sha;
        uint8_t raw[SHA256_SIZE];
        char hex[17];

        if (!sorted)
                return NULL;
        for (size_t i = 0; i < n; i++)
                sorted[i] = &items[i];
        qsort(sorted, n, sizeof(const struct item *), compare_keys);
        sha256_init(&sha);
        for (size_t i = 0; i < n; i++) {
                sha256_update(&sha, sorted[i]->key, strlen(sorted[i]->key));
                sha256_update(&sha, sorted[i]->value, sorted[i]->len);
        }
        sha256_final(&sha, raw);
        text_hex_encode(raw, 8, hex);
        return arena_printf(p->arena, "%s-%s", p->name, hex);
}

static json_t *secret_doc(const struct packing *p, const char *name, const struct item *items, size_t n)
{
        AUTO_JSON json_t *data = json_object();

        for (size_t i = 0; i < n; i++)
                if (json_object_set_new(data, items[i].key,
                                        doc_base64((struct slice){ items[i].value, items[i].len })) < 0)
                        return NULL;
        return json_pack("{s:s, s:s, s:{s:s, s:s, s:{s:s, s:s}}, s:s, s:b, s:O}", "apiVersion", "v1", "kind",
                         "Secret", "metadata", "name", name, "namespace", p->wish->ns, "labels",
                         LABEL_SET_REVISION_NAME, p->name, LABEL_SET_OWNER_NAME, p->wish->owner, "type",
                         SECRET_TYPE_OBJECT_DATA, "immutable", 1, "data", data);
}

static int make_secrets(struct packing *p, json_t *ret, struct error *err)
{
        for (size_t i = 0, n; i < p->n; i += n) {
                size_t secret = p->items[i].secret;

                for (n = 1; i + n < p->n && p->items[i + n].secret == secret;)
                        n++;
                p->secrets[secret] = secret_name(p, &p->items[i], n);
                if (!p->secrets[secret] ||
                    json_array_append_new(ret, secret_doc(p, p->secrets[secret], &p->items[i], n)) < 0)
                        return error_no_memory(err);
        }
        return 0;
}

/* ---- the set ---- */

static json_t *phase_doc(const char *name, size_t part)
{
        char numbered[32];

        snprintf(numbered, sizeof(numbered), part ? "%s-%zu" : "%s", name, part + 1);
        return json_pack("{s:s, s:[]}", "name", numbered, "objects");
}

static int add_phases(const struct packing *p, json_t *phases)
{
        struct place at = { 0 };
        json_t *objects = NULL;

        for (size_t i = 0; i < p->n; i++) {
                const struct item *it = &p->items[i];

                at = place_of(p, i, at);
                if (at.index == 0 &&
                    json_array_append_new(phases, phase_doc(pack_phase_names[it->phase], at.part)) < 0)
                        return ERR_NO_MEMORY;
                objects = json_object_get(json_array_get(phases, at.phase), "objects");
                if (json_array_append_new(objects, json_pack("{s:{s:s, s:s, s:s}}", "ref", "name",
                                                             p->secrets[it->secret], "namespace", p->wish->ns,
                                                             "key", it->key)) < 0)
                        return ERR_NO_MEMORY;
        }
        return 0;
}

static json_t *set_doc(const struct packing *p)
{
        AUTO_JSON json_t *phases = json_array(), *doc = NULL;

        if (!phases || add_phases(p, phases) < 0)
                return NULL;
        doc = json_pack("{s:s, s:s, s:{s:s, s:{s:s}}, s:{s:s, s:I, s:s, s:O}}", "apiVersion", API_VERSION_OLM,
                        "kind", KIND_CLUSTER_OBJECT_SET, "metadata", "name", p->name, "labels",
                        LABEL_SET_OWNER_NAME, p->wish->owner, "spec", "lifecycleState", SET_ACTIVE,
                        "revision", (json_int_t)p->wish->revision, "collisionProtection", p->wish->protection,
                        "phases", phases);
        if (doc && p->wish->deadline_minutes &&
            doc_set_int(doc, "spec.progressDeadlineMinutes", p->wish->deadline_minutes) < 0)
                return NULL;
        return TAKE_PTR(doc);
}

static int name_set(struct packing *p, struct error *err)
{
        p->name = arena_printf(p->arena, "%s-%lld", p->wish->owner, (long long)p->wish->revision);
        if (!p->name)
                return error_no_memory(err);
        if (!text_is_dns1123_subdomain(p->name) || !text_is_label_value(p->name))
                return error_set(
                        err, ERR_INVALID,
                        "\"%s\": the set's name must consist of lower-case letters, digits, '-' and '.', "
                        "and have %d characters at most",
                        p->name, LABEL_VALUE_MAX);
        return 0;
}

int pack_set(const struct pack_wish *wish, const json_t *manifests, struct arena *arena, struct packed *ret,
             struct error *err)
{
        struct packing p = { .wish = wish, .arena = arena };
        AUTO_JSON json_t *secrets = json_array(), *set = NULL;

        if (!secrets)
                return error_no_memory(err);
        TRY(name_set(&p, err));
        TRY(take_all(&p, manifests, err));
        TRY(sort(&p, err));
        TRY(store(&p, err));
        distribute(&p);
        TRY(make_secrets(&p, secrets, err));
        set = set_doc(&p);
        if (!set)
                return error_no_memory(err);
        *ret = (struct packed){ TAKE_PTR(secrets), TAKE_PTR(set), p.homeless, p.n_homeless };
        return 0;
}

void packed_free(struct packed *p)
{
        json_decref(p->secrets);
        json_decref(p->set);
        *p = (struct packed){ 0 };
}

bool pack_equal(const json_t *set, const struct packed *p)
{
        static const char *const fixed[] = { "spec.revision", "spec.collisionProtection", "spec.phases" };

        for (size_t i = 0; i < ARRAY_LEN(fixed); i++) {
                const json_t *a = doc_get(set, fixed[i]), *b = doc_get(p->set, fixed[i]);

                if (!a || !b || !doc_equal(a, b))
                        return false;
        }
        return true;
}
