#include "hub-agent/manifest-generation/patch_file.h"

#include "common/base/map.h"
#include "common/base/memory.h"
#include "common/json/patch.h"
#include "common/kube/merge_keys.h"
#include "hub-agent/manifest-generation/commands.h"
#include "hub-agent/manifest-generation/documents.h"
#include "hub-agent/manifest-generation/patch_text.h"

/* ---- one object ---- */

/* How a kind is merged; NULL: as any JSON. */
static int merge_schema(const struct resource *r, const struct schema **ret, struct error *err)
{
        size_t n = strcspn(r->api_version, "/");
        AUTO_FREE char *group = mem_strndup(r->api_version, r->api_version[n] ? n : 0);

        if (!group)
                return error_no_memory(err);
        *ret = merge_keys_of(group, r->kind);
        return 0;
}

static int apply(const struct resource *r, const json_t *patch, json_t **ret, struct error *err)
{
        const struct schema *schema;

        TRY(merge_schema(r, &schema, err));
        return schema ? patch_strategic(r->doc, patch, schema, ret, err)
                      : patch_merge(r->doc, patch, ret, err);
}

static int diff(const struct resource *from, const struct resource *to, json_t **ret, struct error *err)
{
        const struct schema *schema;

        TRY(merge_schema(from, &schema, err));
        return schema ? patch_strategic_three_way(from->doc, to->doc, from->doc, schema, ret, err)
                      : patch_merge_diff(from->doc, to->doc, ret, err);
}

/* ---- applying ---- */

/* identity -> index + 1 of the first that has it. */
static int index_of(const struct resource_list *l, struct map *ret, struct error *err)
{
        map_init(ret, MAP_BORROW_KEYS, NULL);
        for (size_t i = 0; i < l->n; i++)
                if (!map_has(ret, l->at[i].identity) &&
                    map_put(ret, l->at[i].identity, (void *)(uintptr_t)(i + 1)) < 0)
                        return error_no_memory(err);
        return 0;
}

static const struct resource *look_up(const struct resource_list *l, const struct map *index,
                                      const char *identity)
{
        size_t at = (size_t)(uintptr_t)map_get(index, identity);

        return at ? &l->at[at - 1] : NULL;
}

static bool is_still_itself(const struct resource *r, const json_t *doc)
{
        const char *version = doc_get_string(doc, "apiVersion");

        return !text_empty(version) && text_equal(doc_get_string(doc, "kind"), r->kind) &&
               text_equal(doc_get_string(doc, "metadata.name"), r->name) &&
               text_equal(or_empty(doc_get_string(doc, "metadata.namespace")), r->namespace);
}

static int patch_one(struct resource_list *l, struct resource *r, const json_t *patch, struct error *err)
{
        json_t *patched = NULL;
        int code = apply(r, patch, &patched, err);

        if (code < 0) {
                error_wrap(err, "%s", r->identity);
                return code;
        }
        TRY(doc_keep(l->arena, patched, err));
        if (!is_still_itself(r, patched))
                return error_set(
                        err, ERR_INVALID,
                        "%s: a patch may not change apiVersion to nothing, nor kind, name or namespace",
                        r->identity);
        r->doc = patched;
        r->text = (struct slice){ 0 };
        r->api_version = doc_get_string(patched, "apiVersion");
        return 0;
}

static int apply_all(struct resource_list *l, const struct resource_list *patches, const struct map *index,
                     struct patch_missing *missing, size_t *ret_n, struct error *err)
{
        *ret_n = 0;
        for (size_t i = 0; i < patches->n; i++) {
                const struct resource *p = &patches->at[i];
                const struct resource *r = look_up(l, index, p->identity);

                if (r)
                        TRY(patch_one(l, &l->at[r - l->at], p->doc, err));
                else
                        missing[(*ret_n)++] = (struct patch_missing){ p->identity };
        }
        return 0;
}

static int apply_text(struct resource_list *l, struct slice text, const char *patch_file,
                      struct patch_missing **ret_missing, size_t *ret_n_missing, struct error *err)
{
        struct resource_list patches = { .arena = l->arena };
        struct map index = MAP_INIT;
        int code = resources_parse(&patches, text, patch_file, NULL, err);

        *ret_missing = NULL;
        *ret_n_missing = 0;
        if (code == 0)
                code = resources_sort(l, err);
        if (code == 0)
                code = index_of(l, &index, err);
        if (code == 0) {
                *ret_missing = ARENA_NEW_ARRAY(l->arena, struct patch_missing, patches.n + 1);
                code = *ret_missing ? apply_all(l, &patches, &index, *ret_missing, ret_n_missing, err)
                                    : error_no_memory(err);
        }
        map_free(&index);
        return code;
}

int patch_file_apply(struct resource_list *l, struct slice text, const char *patch_file,
                     struct patch_missing **ret_missing, size_t *ret_n_missing, struct error *err)
{
        const char *name = command_quote(l->arena, patch_file);
        int code = name ? apply_text(l, text, patch_file, ret_missing, ret_n_missing, err)
                        : error_no_memory(err);

        if (code < 0 && code != ERR_NO_MEMORY)
                error_wrap(err, "cannot apply patchFile %s to generated resources", name);
        return code;
}

/* ---- creating ---- */

/* What tells whom the patch is for. */
static int identify(json_t *patch, const struct resource *r, struct error *err)
{
        if (doc_set_string(patch, "apiVersion", r->api_version) < 0 ||
            doc_set_string(patch, "kind", r->kind) < 0 ||
            doc_set_string(patch, "metadata.name", r->name) < 0 ||
            (*r->namespace && doc_set_string(patch, "metadata.namespace", r->namespace) < 0))
                return error_no_memory(err);
        return 0;
}

/* *ret stays NULL where nothing differs. */
static int create_one(const struct resource *from, const struct resource *to, json_t **ret, struct error *err)
{
        AUTO_JSON json_t *patch = NULL;
        AUTO_JSON json_t *again = NULL;

        if (doc_equal(from->doc, to->doc))
                return 0;
        if (!json_is_object(doc_get(from->doc, "metadata")) ||
            !text_equal(from->api_version, to->api_version))
                return error_set(err, ERR_INVALID, "%s: a patch cannot change apiVersion", from->identity);
        TRY(diff(from, to, &patch, err));
        TRY(identify(patch, from, err));
        TRY(apply(from, patch, &again, err));
        if (!doc_equal(again, to->doc))
                return error_set(err, ERR_INVALID, "%s: its change cannot be written as a patch",
                                 from->identity);
        *ret = TAKE_PTR(patch);
        return 0;
}

static int write_all(const struct resource_list *generated, const struct resource_list *changed,
                     const struct map *index, struct patch_text *text, struct buf *ret, struct error *err)
{
        for (size_t i = 0; i < generated->n; i++) {
                const struct resource *from = &generated->at[i],
                                      *to = look_up(changed, index, from->identity);
                AUTO_JSON json_t *patch = NULL;

                if (to)
                        TRY(create_one(from, to, &patch, err));
                if (patch)
                        TRY(patch_text_write(text, from->identity, patch, ret, err));
        }
        return 0;
}

static int copy_sorted(struct arena *arena, const struct resource_list *l, struct resource_list *ret,
                       struct error *err)
{
        *ret = (struct resource_list){ .arena = arena };
        for (size_t i = 0; i < l->n; i++)
                TRY(resources_add(ret, &l->at[i], err));
        return resources_sort(ret, err);
}

int patch_file_create(struct arena *arena, const struct resource_list *generated,
                      const struct resource_list *changed, struct slice before, struct buf *ret,
                      struct error *err)
{
        struct resource_list sorted;
        struct map index = MAP_INIT;
        struct patch_text text;
        int code = copy_sorted(arena, generated, &sorted, err);

        if (code == 0)
                code = patch_text_read(arena, before, &text, err);
        if (code == 0)
                code = index_of(changed, &index, err);
        if (code == 0)
                code = patch_text_begin(&text, ret, err);
        if (code == 0)
                code = write_all(&sorted, changed, &index, &text, ret, err);
        map_free(&index);
        return code < 0 ? code : buf_status(ret, err, "a patch file");
}

/* ---- where it is ---- */

int patch_file_check_folder(const struct tree *t, struct arena *arena, const struct flux_config *config,
                            struct error *err)
{
        const char *slash = strrchr(config->patch_path, '/');
        const char *folder =
                arena_strndup(arena, config->patch_path, slash ? (size_t)(slash - config->patch_path) : 0);
        const char *name = command_quote(arena, config->patch_file), *base;
        enum volume_kind kind = VOLUME_FILE;
        int code;

        base = folder ? command_quote(arena, *folder ? folder : ".") : NULL;
        if (!base || !name)
                return error_no_memory(err);
        code = tree_look(t, arena, folder, &kind, err);
        if (code == ERR_NOT_FOUND || (code == 0 && kind != VOLUME_FOLDER))
                return error_set(err, ERR_NOT_FOUND, "base directory (%s) of patchFile (%s) does not exist",
                                 base, name);
        TRY(code);
        code = tree_look(t, arena, config->patch_path, &kind, err); /* a link must not lead out */
        if (code == 0 && kind != VOLUME_FILE)
                return error_set(err, ERR_INVALID, "patchFile (%s) is no file", name);
        if (code == ERR_NOT_FOUND)
                error_clear(err);
        return code == ERR_NOT_FOUND ? 0 : code;
}
