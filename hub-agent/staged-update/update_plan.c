#include <stdlib.h>

#include "common/base/digest.h"
#include "common/base/limits.h"
#include "common/json/patch.h"
#include "hub-agent/staged-update/update_plan.h"

#define OBJECT_OVERHEAD 160 /* bytes of what is around the names and values of an object, and of a field */
#define FIELD_OVERHEAD 40

/* ---- manifests ---- */

struct manifest {
        json_t *doc;
        const char *api_version, *kind, *ns, *name;
};
struct manifests {
        struct manifest *at;
        size_t n;
};

static int by_identity(const void *a, const void *b)
{
        const struct manifest *x = a, *y = b;
        int order = strcmp(x->api_version, y->api_version);

        order = order ? order : strcmp(x->kind, y->kind);
        order = order ? order : strcmp(x->ns, y->ns);
        return order ? order : strcmp(x->name, y->name);
}

static int read_manifests(struct arena *arena, const struct raw_list *l, struct manifests *ret,
                          struct error *err)
{
        *ret = (struct manifests){ ARENA_NEW_ARRAY(arena, struct manifest, l->n + 1u), 0 };
        if (!ret->at)
                return error_no_memory(err);
        for (uint32_t i = 0; i < l->n; i++) {
                struct manifest *m = &ret->at[ret->n++];

                TRY(doc_parse(l->at[i], &m->doc, err));
                TRY(doc_keep(arena, m->doc, err));
                m->api_version = or_empty(doc_get_string(m->doc, "apiVersion"));
                m->kind = or_empty(doc_get_string(m->doc, "kind"));
                m->ns = or_empty(doc_get_string(m->doc, "metadata.namespace"));
                m->name = or_empty(doc_get_string(m->doc, "metadata.name"));
        }
        qsort(ret->at, ret->n, sizeof(ret->at[0]), by_identity);
        return 0;
}

/* ---- fields ---- */

/* RFC 6901; NULL if there is none. */
static const json_t *value_at(const json_t *doc, const char *pointer)
{
        char token[512];

        while (doc && *pointer == '/') {
                size_t n = 0;
                int64_t index;

                for (pointer++; *pointer && *pointer != '/'; pointer++) {
                        char c = *pointer;

                        if (c == '~') {
                                pointer++;
                                c = *pointer == '1' ? '/' : '~';
                        }
                        if (n == sizeof(token) - 1)
                                return NULL;
                        token[n++] = c;
                }
                token[n] = '\0';
                if (json_is_array(doc))
                        doc = text_parse_i64(token, &index) && index >= 0 ? json_array_get(doc, (size_t)index)
                                                                          : NULL;
                else
                        doc = json_object_get(doc, token);
        }
        return doc;
}

static int print_value(struct arena *arena, const json_t *value, const char **ret)
{
        char cut[UPDATE_PLAN_VALUE_MAX];
        AUTO_BUF struct buf b;

        buf_init(&b, LIMIT_OBJECT_BYTES * 2);
        *ret = NULL;
        if (!value)
                return 0;
        if (doc_write_canonical(value, &b) < 0)
                return ERR_NO_MEMORY;
        text_shorten(b.data, cut, sizeof(cut));
        *ret = arena_strdup(arena, cut);
        return *ret ? 0 : ERR_NO_MEMORY;
}

static int add_field(struct arena *arena, const json_t *before, const json_t *operation, bool hidden,
                     struct planned_field *ret)
{
        const char *path = doc_get_string(operation, "path");

        *ret = (struct planned_field){ .path = path ? arena_strdup(arena, path[0] ? path : "/") : NULL };
        if (!ret->path)
                return ERR_NO_MEMORY;
        if (hidden)
                return 0;
        TRY(print_value(arena, value_at(before, path), &ret->from));
        return print_value(arena, json_object_get(operation, "value"), &ret->to);
}

static bool is_secret(const json_t *doc)
{
        return text_equal(doc_get_string(doc, "kind"), "Secret") &&
               text_equal(doc_get_string(doc, "apiVersion"), "v1");
}

static int add_fields(struct arena *arena, const json_t *before, const json_t *operations,
                      struct planned_object *o)
{
        size_t n = json_array_size(operations), shown = MIN(n, UPDATE_PLAN_FIELDS_MAX);

        o->fields.at = ARENA_NEW_ARRAY(arena, struct planned_field, shown + 1);
        if (!o->fields.at)
                return ERR_NO_MEMORY;
        for (size_t i = 0; i < shown; i++)
                TRY(add_field(arena, before, json_array_get(operations, i), is_secret(before),
                              &o->fields.at[i]));
        o->fields.n = (uint32_t)shown;
        o->fields.set = true;
        if (n > shown)
                o->omitted_fields = OPT_INT((int64_t)(n - shown));
        return 0;
}

int plan_fields(struct arena *arena, const json_t *before, const json_t *after, struct planned_object *o,
                struct error *err)
{
        AUTO_JSON json_t *operations = NULL;

        TRY(patch_json_diff(before, after, &operations, err));
        return add_fields(arena, before, operations, o) < 0 ? error_no_memory(err) : 0;
}

/* ---- objects ---- */

static int name_object(struct arena *arena, const struct manifest *m, const char *change,
                       struct planned_object *o)
{
        const char *slash = strchr(m->api_version, '/');

        *o = (struct planned_object){ .group = slash ? arena_strndup(arena, m->api_version,
                                                                     (size_t)(slash - m->api_version))
                                                     : NULL,
                                      .version = arena_strdup(arena, slash ? slash + 1 : m->api_version),
                                      .kind = arena_strdup(arena, m->kind),
                                      .ns = m->ns[0] ? arena_strdup(arena, m->ns) : NULL,
                                      .name = arena_strdup(arena, m->name),
                                      .change = change };
        return o->version && o->kind && o->name && (!slash || o->group) && (!m->ns[0] || o->ns)
                       ? 0
                       : ERR_NO_MEMORY;
}

static int add_object(struct arena *arena, const struct manifest *m, const char *change,
                      struct cluster_plan *ret)
{
        return name_object(arena, m, change, &ret->objects.at[ret->objects.n++]);
}

static int compare_object(struct arena *arena, const struct manifest *before, const struct manifest *after,
                          struct cluster_plan *ret, struct error *err)
{
        struct planned_object *o;

        if (doc_equal(before->doc, after->doc))
                return 0;
        ret->changed.value++;
        o = &ret->objects.at[ret->objects.n];
        TRY(add_object(arena, after, PLANNED_CHANGED, ret));
        return plan_fields(arena, before->doc, after->doc, o, err);
}

static int merge(struct arena *arena, const struct manifests *before, const struct manifests *after,
                 struct cluster_plan *ret, struct error *err)
{
        for (size_t i = 0, k = 0; i < before->n || k < after->n;) {
                int order = i == before->n  ? 1
                            : k == after->n ? -1
                                            : by_identity(&before->at[i], &after->at[k]);

                if (order < 0) {
                        TRY(add_object(arena, &before->at[i++], PLANNED_REMOVED, ret));
                        ret->removed.value++;
                } else if (order > 0) {
                        TRY(add_object(arena, &after->at[k++], PLANNED_ADDED, ret));
                        ret->added.value++;
                } else {
                        TRY(compare_object(arena, &before->at[i++], &after->at[k++], ret, err));
                }
        }
        return 0;
}

int plan_cluster(struct arena *arena, struct arena *scratch, const struct raw_list *before,
                 const struct raw_list *after, struct cluster_plan *ret, struct error *err)
{
        struct manifests old, new;
        int code;

        *ret = (struct cluster_plan){ .added = OPT_INT(0), .changed = OPT_INT(0), .removed = OPT_INT(0) };
        TRY(read_manifests(scratch, before, &old, err));
        TRY(read_manifests(scratch, after, &new, err));
        ret->objects.at = ARENA_NEW_ARRAY(arena, struct planned_object, old.n + new.n + 1);
        if (!ret->objects.at)
                return error_no_memory(err);
        code = merge(arena, &old, &new, ret, err);
        ret->objects.set = ret->objects.n > 0;
        return code == ERR_NO_MEMORY ? error_no_memory(err) : code;
}

/* ---- the whole ---- */

static void hash_text(struct sha256 *sha, const char *s)
{
        sha256_update(sha, or_empty(s), strlen(or_empty(s)) + 1); /* the NUL parts it from the next */
}

static void hash_object(struct sha256 *sha, const struct planned_object *o)
{
        const char *texts[] = { o->change, o->group, o->version, o->kind, o->ns, o->name };

        for (size_t i = 0; i < ARRAY_LEN(texts); i++)
                hash_text(sha, texts[i]);
        for (uint32_t i = 0; i < o->fields.n; i++) {
                hash_text(sha, o->fields.at[i].path);
                hash_text(sha, o->fields.at[i].from);
                hash_text(sha, o->fields.at[i].to);
        }
}

const char *update_plan_hash(struct arena *arena, const struct update_plan *p, const char *basis)
{
        uint8_t raw[SHA256_SIZE];
        char hex[SHA256_HEX_SIZE];
        struct sha256 sha;

        sha256_init(&sha);
        hash_text(&sha, basis);
        hash_text(&sha, p->resource_snapshot_index);
        for (uint32_t i = 0; i < p->clusters.n; i++) {
                hash_text(&sha, p->clusters.at[i].cluster_name);
                hash_text(&sha, p->clusters.at[i].problem);
                for (uint32_t k = 0; k < p->clusters.at[i].objects.n; k++)
                        hash_object(&sha, &p->clusters.at[i].objects.at[k]);
        }
        sha256_final(&sha, raw);
        text_hex_encode(raw, sizeof(raw), hex);
        return arena_strdup(arena, hex);
}

static size_t length(const char *s)
{
        return s ? strlen(s) : 0;
}

static size_t bytes_of(const struct planned_object *o)
{
        size_t n = OBJECT_OVERHEAD + length(o->group) + length(o->kind) + length(o->ns) + length(o->name);

        for (uint32_t i = 0; i < o->fields.n; i++)
                n += FIELD_OVERHEAD + length(o->fields.at[i].path) + 2 * length(o->fields.at[i].from) +
                     2 * length(o->fields.at[i].to);
        return n;
}

void update_plan_fit(struct update_plan *p, size_t max)
{
        size_t used = 0;
        int64_t omitted = 0;

        for (uint32_t i = 0; i < p->clusters.n; i++) {
                struct planned_object_list *l = &p->clusters.at[i].objects;
                uint32_t kept = 0;

                while (kept < l->n && used + bytes_of(&l->at[kept]) <= max)
                        used += bytes_of(&l->at[kept++]);
                omitted += l->n - kept;
                if (kept < l->n)
                        used = max; /* what follows is left out too: the list ends at one place */
                l->n = kept;
                l->set = kept > 0;
        }
        if (omitted > 0)
                p->omitted_objects = OPT_INT(omitted);
}
