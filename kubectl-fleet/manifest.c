#include "kubectl-fleet/manifest.h"

#include "common/base/limits.h"
#include "common/base/memory.h"
#include "hub-agent/common.h"
#include "kubectl-fleet/manifest_rules.h"

/* Descriptors that names stand for, as in what shells put in place of <(command). -1 = it is a file. */
static int descriptor_of(const char *path)
{
        static const char folder[] = "/dev/fd/";
        int64_t n;

        if (text_equal(path, "-") || text_equal(path, "/dev/stdin"))
                return 0;
        if (!text_starts_with(path, folder) || !text_parse_i64(path + strlen(folder), &n) || n < 0 ||
            n > INT32_MAX)
                return -1;
        return (int)n;
}

int manifest_text(struct session *s, const char *path, char **ret, size_t *ret_len, struct error *err)
{
        int descriptor = descriptor_of(path);

        if (descriptor < 0)
                return s->world->files->read(s->world->ctx, path, LIMIT_YAML_BYTES, ret, ret_len, err);
        if (s->terminal->read_input(s->terminal->ctx, descriptor, ret, ret_len, err) < 0)
                return error_wrap(err, "%s", text_equal(path, "-") ? "standard input" : path);
        return 0;
}

static int add_file(struct session *s, const char *path, json_t *docs, struct error *err)
{
        AUTO_JSON json_t *read = NULL;
        AUTO_FREE char *text = NULL;
        size_t len;

        TRY(manifest_text(s, path, &text, &len, err));
        if (yaml_parse_all((struct slice){ text, len }, &read, err) < 0)
                return error_wrap(err, "%s", text_equal(path, "-") ? "standard input" : path);
        return json_array_extend(docs, read) < 0 ? error_no_memory(err) : 0;
}

static bool is_manifest(const char *name)
{
        return text_ends_with(name, ".yaml") || text_ends_with(name, ".yml") || text_ends_with(name, ".json");
}

/* As kubectl reads a folder: its manifests, not those of folders in it. */
static int add_folder(struct session *s, const char *path, const char *names, json_t *docs, struct error *err)
{
        size_t n = 0;

        for (const char *name = names; *name; name += strlen(name) + 1) {
                const char *file = is_manifest(name) ? arena_printf(s->arena, "%s/%s", path, name) : NULL;

                if (!is_manifest(name))
                        continue;
                if (!file)
                        return error_no_memory(err);
                TRY(add_file(s, file, docs, err));
                n++;
        }
        return n ? 0 : error_set(err, ERR_NOT_FOUND, "%s: holds no .yaml, .yml or .json", path);
}

int manifest_documents(struct session *s, const char *path, json_t *docs, struct error *err)
{
        const struct world_files *files = s->world->files;
        AUTO_FREE char *names = NULL;
        int code = text_equal(path, "-") || !files->list ? ERR_UNSUPPORTED
                                                         : files->list(s->world->ctx, path, &names, err);

        if (code == ERR_UNSUPPORTED)
                return add_file(s, path, docs, err);
        return code < 0 ? code : add_folder(s, path, names, docs, err);
}

/* Values left out get their defaults; what is wrong is told as the hub would. */
static int complete(struct session *s, const struct kind *kind, json_t *doc, struct error *err)
{
        const char *api_version = doc_get_string(doc, "apiVersion");
        const struct schema *schema;

        TRY(manifest_schema(s->arena, kind, strchr(api_version, '/') + 1, &schema, err));
        TRY(manifest_complete(s->arena, schema, doc, err));
        return doc_set_string(doc, "apiVersion", kind->api_version);
}

/* ---- documents ---- */

/* What is looked for in a file. */
struct sought {
        const struct kind *kinds[2];
        const char *what, *none; /* "placement", "no ClusterResourcePlacement and ..." */
};

static const struct kind *kind_of(const struct sought *w, const json_t *doc)
{
        const char *kind = doc_get_string(doc, "kind");

        for (size_t i = 0; i < ARRAY_LEN(w->kinds); i++)
                if (w->kinds[i] && text_equal(kind, w->kinds[i]->kind))
                        return w->kinds[i];
        return NULL;
}

/* The documents, with those that lists hold in place of the lists. */
static json_t *unpack(const json_t *docs)
{
        json_t *all = json_array(), *doc, *item;
        size_t i, k;

        json_array_foreach(docs, i, doc) {
                json_t *items = doc_get_array(doc, "items");

                json_array_foreach(items, k, item)
                        json_array_append(all, item);
                if (!items)
                        json_array_append(all, doc);
        }
        return all;
}

static int choose(const struct sought *w, const json_t *docs, const char *name, json_t **ret,
                  struct error *err)
{
        AUTO_JSON json_t *all = unpack(docs);
        json_t *doc, *found = NULL;
        size_t i;

        if (!all)
                return error_no_memory(err);
        json_array_foreach(all, i, doc) {
                if (!kind_of(w, doc) || (name && !text_equal(doc_get_string(doc, "metadata.name"), name)))
                        continue;
                if (found)
                        return error_set(err, ERR_INVALID, "holds several %ss: name the one that is meant",
                                         w->what);
                found = doc;
        }
        if (!found && name)
                return error_set(err, ERR_NOT_FOUND, "holds no %s \"%s\"", w->what, name);
        if (!found)
                return error_set(err, ERR_NOT_FOUND, "holds %s", w->none);
        *ret = found;
        return 0;
}

static int take(struct session *s, const struct sought *w, json_t *doc, const struct object **ret,
                struct error *err)
{
        const struct kind *kind = kind_of(w, doc);
        const char *name = doc_get_string(doc, "metadata.name");
        const char *api_version = or_empty(doc_get_string(doc, "apiVersion"));
        struct object *o;

        if (text_empty(name))
                return error_set(err, ERR_INVALID, "%s: metadata.name: is required", kind->kind);
        if (!text_starts_with(api_version, kind->group) || api_version[strlen(kind->group)] != '/')
                return error_set(err, ERR_INVALID, "%s \"%s\": apiVersion: must begin with %s/, is \"%s\"",
                                 kind->kind, name, kind->group, api_version);
        if (kind->namespaced && !doc_get(doc, "metadata.namespace"))
                TRY(doc_set_string(doc, "metadata.namespace", session_namespace(s)));
        if (complete(s, kind, doc, err) < 0 || object_from_doc(kind, doc, s->arena, &o, err) < 0)
                return error_wrap(err, "%s \"%s\"", kind->kind, name);
        *ret = o;
        return 0;
}

static int read_sought(struct session *s, const struct sought *w, const char *path, const char *name,
                       const struct object **ret, struct error *err)
{
        AUTO_JSON json_t *docs = NULL;
        AUTO_FREE char *text = NULL;
        json_t *doc = NULL;
        size_t len;

        TRY(manifest_text(s, path, &text, &len, err));
        if (yaml_parse_all((struct slice){ text, len }, &docs, err) < 0 ||
            choose(w, docs, name, &doc, err) < 0 || take(s, w, doc, ret, err) < 0)
                return error_wrap(err, "%s", text_equal(path, "-") ? "standard input" : path);
        return 0;
}

int manifest_read(struct session *s, const char *path, const char *name, const struct placement **ret,
                  struct error *err)
{
        static const struct sought placements = { { &cluster_resource_placement_kind,
                                                    &resource_placement_kind },
                                                  "placement",
                                                  "no ClusterResourcePlacement and no ResourcePlacement" };
        const struct object *o;

        TRY(read_sought(s, &placements, path, name, &o, err));
        *ret = (const struct placement *)(const void *)o;
        return 0;
}

int manifest_read_work(struct session *s, const char *path, const char *name, const struct work **ret,
                       struct error *err)
{
        static const struct sought works = { { &work_kind }, "Work", "no Work" };
        const struct object *o;

        TRY(read_sought(s, &works, path, name, &o, err));
        *ret = (const struct work *)(const void *)o;
        return 0;
}

int manifest_each(struct session *s, const char *path, const struct kind *const kinds[2],
                  int (*each)(void *ctx, const struct object *o, struct error *err), void *ctx,
                  size_t *ret_others, struct error *err)
{
        const struct sought w = { .kinds = { kinds[0], kinds[1] } };
        AUTO_JSON json_t *docs = json_array();
        AUTO_JSON json_t *all = NULL;
        json_t *doc;
        size_t i;

        if (!docs)
                return error_no_memory(err);
        TRY(manifest_documents(s, path, docs, err));
        all = unpack(docs);
        if (!all)
                return error_no_memory(err);
        json_array_foreach(all, i, doc) {
                const struct object *o = NULL;

                if (!kind_of(&w, doc)) {
                        (*ret_others)++;
                        continue;
                }
                if (take(s, &w, doc, &o, err) < 0)
                        return error_wrap(err, "%s", text_equal(path, "-") ? "standard input" : path);
                TRY(each(ctx, o, err));
        }
        return 0;
}
