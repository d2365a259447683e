#include "e2e/devcluster/crd.h"

#include "e2e/devcluster/internal.h"

/* ---- life ---- */

struct custom_resource *custom_resource_ref(struct custom_resource *r)
{
        r->refs++;
        return r;
}

void custom_resource_unref(struct custom_resource *r)
{
        if (!r || --r->refs > 0)
                return;
        if (r->devcluster && map_get(&r->devcluster->compiled, r->hash) == r)
                map_remove(&r->devcluster->compiled, r->hash);
        arena_free(&r->arena);
        json_decref(r->spec);
        mem_free(r);
}

static void unref_held(void *r)
{
        custom_resource_unref(r);
}

int resource_hold(const struct resource *r, struct arena *arena)
{
        if (!r->custom)
                return 0;
        struct custom_resource *c = container_of(r, struct custom_resource, resource);
        return arena_defer(arena, unref_held, custom_resource_ref(c));
}

/* ---- compiling ---- */

static const char *string_of(const json_t *doc, const char *key)
{
        const char *s = json_string_value(json_object_get(doc, key));
        return s ? s : "";
}

static int string_list(struct arena *a, const json_t *list, const char *const **ret)
{
        size_t n = json_array_size(list), k = 0;
        const char **all = ARENA_NEW_ARRAY(a, const char *, n + 1);
        if (!all)
                return ERR_NO_MEMORY;
        for (size_t i = 0; i < n; i++) {
                const char *s = json_string_value(json_array_get(list, i));
                if (s)
                        all[k++] = s;
        }
        *ret = k ? all : NULL;
        return 0;
}

static const struct printer_column default_columns[] = {
        { "Age", "date", "",
          "CreationTimestamp is a timestamp representing the server time when this object was created. It is "
          "not guaranteed to be set in happens-before order across separate operations. Clients may not set "
          "this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. "
          "Read-only. Null for lists. More info: "
          "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata",
          ".metadata.creationTimestamp", 0 },
};

static int compile_columns(struct arena *a, const json_t *list, struct resource_version *v)
{
        size_t n = json_array_size(list);
        if (n == 0) {
                v->columns = default_columns;
                v->n_columns = ARRAY_LEN(default_columns);
                return 0;
        }
        struct printer_column *columns = ARENA_NEW_ARRAY(a, struct printer_column, n);
        if (!columns)
                return ERR_NO_MEMORY;
        for (size_t i = 0; i < n; i++) {
                const json_t *c = json_array_get(list, i);
                columns[i] = (struct printer_column){ .name = string_of(c, "name"),
                                                      .type = string_of(c, "type"),
                                                      .format = string_of(c, "format"),
                                                      .description = string_of(c, "description"),
                                                      .json_path = string_of(c, "jsonPath"),
                                                      .priority = (int)doc_get_int(c, "priority", 0) };
        }
        v->columns = columns;
        v->n_columns = n;
        return 0;
}

static int compile_selectable(struct arena *a, const json_t *list, struct resource_version *v)
{
        size_t n = json_array_size(list);
        const char **paths = ARENA_NEW_ARRAY(a, const char *, n + 1);
        if (!paths)
                return ERR_NO_MEMORY;
        for (size_t i = 0; i < n; i++)
                paths[i] = string_of(json_array_get(list, i), "jsonPath");
        v->selectable_fields = n ? paths : NULL;
        return 0;
}

static int compile_version(struct arena *a, const json_t *from, struct resource_version *v, struct error *err)
{
        v->version = string_of(from, "name");
        v->served = doc_get_bool(from, "served", false);
        v->storage = doc_get_bool(from, "storage", false);
        v->deprecated = doc_get_bool(from, "deprecated", false);
        v->deprecation_warning = doc_get_string(from, "deprecationWarning");
        if (doc_get_object(from, "subresources.status"))
                v->flags |= RESOURCE_STATUS;
        const json_t *scale = doc_get_object(from, "subresources.scale");
        if (scale) {
                v->flags |= RESOURCE_SCALE;
                v->scale_spec_path = string_of(scale, "specReplicasPath");
                v->scale_status_path = string_of(scale, "statusReplicasPath");
                v->scale_selector_path = string_of(scale, "labelSelectorPath");
        }
        if (compile_columns(a, json_object_get(from, "additionalPrinterColumns"), v) < 0 ||
            compile_selectable(a, json_object_get(from, "selectableFields"), v) < 0)
                return error_no_memory(err);
        v->openapi = doc_get_object(from, "schema.openAPIV3Schema");
        if (!v->openapi)
                return error_set(err, ERR_INVALID, "openAPIV3Schema: Required value");
        return schema_from_crd(a, v->openapi, &v->schema, err);
}

/* "openAPIV3Schema.type: Required value" becomes "spec.versions[0].schema.openAPIV3Schema.type: ...". A
 * schema that is that of all versions counts as the definition's own. */
static int put_path_before(struct error *err, const json_t *versions, size_t version)
{
        const json_t *schema = doc_get(json_array_get(versions, version), "schema.openAPIV3Schema");
        bool common = schema;
        size_t i;
        json_t *v;
        char text[ERROR_TEXT_MAX];
        snprintf(text, sizeof(text), "%s", err->text);
        json_array_foreach((json_t *)versions, i, v) {
                const json_t *other = doc_get(v, "schema.openAPIV3Schema");
                common = common && other && doc_equal(other, schema);
        }
        if (common)
                return error_set(err, err->code, "spec.validation.%.960s", text);
        return error_set(err, err->code, "spec.versions[%zu].schema.%.960s", version, text);
}

static int compile_versions(struct custom_resource *c, struct error *err)
{
        const json_t *list = json_object_get(c->spec, "versions");
        size_t n = json_array_size(list), k = 0;
        struct resource_version *versions = ARENA_NEW_ARRAY(&c->arena, struct resource_version, n ? n : 1);
        if (!versions)
                return error_no_memory(err);
        for (size_t i = 0; i < n; i++) {
                struct resource_version v = { 0 };
                int r = compile_version(&c->arena, json_array_get(list, i), &v, err);
                if (r < 0)
                        return put_path_before(err, list, i);
                size_t at = k++;
                while (at > 0 && version_compare(versions[at - 1].version, v.version) > 0) {
                        versions[at] = versions[at - 1];
                        at--;
                }
                versions[at] = v;
        }
        c->resource.versions = versions;
        c->resource.n_versions = n;
        return 0;
}

static int compile(struct custom_resource *c, struct error *err)
{
        const json_t *names = json_object_get(c->spec, "names");
        struct resource *r = &c->resource;
        *r = (struct resource){ .custom = true,
                                .group = string_of(c->spec, "group"),
                                .plural = string_of(names, "plural"),
                                .singular = string_of(names, "singular"),
                                .kind = string_of(names, "kind"),
                                .list_kind = string_of(names, "listKind"),
                                .verbs = VERBS_ALL };
        if (strcmp(string_of(c->spec, "scope"), "Namespaced") == 0)
                r->flags |= RESOURCE_NAMESPACED;
        r->table_key = arena_printf(&c->arena, "%s/%s", r->group, r->plural);
        if (!r->table_key ||
            string_list(&c->arena, json_object_get(names, "shortNames"), &r->short_names) < 0 ||
            string_list(&c->arena, json_object_get(names, "categories"), &r->categories) < 0)
                return error_no_memory(err);
        return compile_versions(c, err);
}

int crd_compile(struct devcluster *d, const json_t *spec, struct custom_resource **ret, struct error *err)
{
        char hash[65];
        TRY(doc_hash(spec, hash, err));
        struct custom_resource *known = map_get(&d->compiled, hash);
        if (known) {
                *ret = custom_resource_ref(known);
                return 0;
        }
        struct custom_resource *c = NEW(struct custom_resource);
        if (!c)
                return error_no_memory(err);
        c->refs = 1;
        c->devcluster = d;
        memcpy(c->hash, hash, sizeof(hash));
        c->spec = doc_copy(spec);
        int r = c->spec ? compile(c, err) : error_no_memory(err);
        if (r == 0 && map_put(&d->compiled, hash, c) < 0)
                r = error_no_memory(err);
        if (r < 0) {
                custom_resource_unref(c);
                return r;
        }
        *ret = c;
        return 0;
}

/* ---- serving ---- */

static void unref_entry(void *value)
{
        custom_resource_unref(value);
}

static bool is_established(const json_t *crd)
{
        size_t i;
        json_t *c;
        json_array_foreach(doc_get_array(crd, "status.conditions"), i, c)
                if (strcmp(string_of(c, "type"), "Established") == 0)
                        return strcmp(string_of(c, "status"), "True") == 0;
        return false;
}

/* Takes r. */
static int serve(struct cluster *c, struct custom_resource *r, struct error *err)
{
        c->custom.destroy = unref_entry;
        struct custom_resource *old = map_get(&c->custom, r->resource.table_key);
        if (old == r) {
                custom_resource_unref(r);
                return 0;
        }
        struct table *t = old ? api_store_table(c, r->resource.table_key, false) : NULL;
        if (t)
                t->stale_rv = c->rv;
        if (map_put(&c->custom, r->resource.table_key, r) < 0) {
                custom_resource_unref(r);
                return error_no_memory(err);
        }
        c->schema_version++;
        return 0;
}

int crd_install(struct devcluster *d, struct cluster *c, const json_t *crd, struct error *err)
{
        if (!is_established(crd))
                return 0;
        struct custom_resource *r;
        TRY(crd_compile(d, json_object_get(crd, "spec"), &r, err));
        return serve(c, r, err);
}

int crd_serve_kept(struct devcluster *d, struct cluster *c, struct custom_resource *r, struct error *err)
{
        ASSERT(!r->devcluster);
        if (map_put(&d->compiled, r->hash, r) < 0)
                return error_no_memory(err);
        return serve(c, custom_resource_ref(r), err);
}

struct custom_resource *crd_keep(struct custom_resource *r)
{
        r->devcluster = NULL;
        return custom_resource_ref(r);
}

void crd_uninstall(struct cluster *c, const json_t *crd)
{
        char key[600];
        snprintf(key, sizeof(key), "%s/%s", string_of(json_object_get(crd, "spec"), "group"),
                 string_of(doc_get_object(crd, "spec.names"), "plural"));
        map_remove(&c->custom, key);
        c->schema_version++;
}

int crd_load_all(struct devcluster *d, struct cluster *c, struct error *err)
{
        const struct table *t = api_store_table(c, "apiextensions.k8s.io/customresourcedefinitions", false);
        for (size_t i = 0; t && i < t->items.n; i++) {
                AUTO_JSON json_t *crd = NULL;
                TRY(blob_parse(t->items.at[i], &crd, err));
                TRY(crd_install(d, c, crd, err));
        }
        return 0;
}
