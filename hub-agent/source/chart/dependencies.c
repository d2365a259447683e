#include "hub-agent/source/chart/dependencies.h"

#include "common/base/path.h"
#include "common/base/semver.h"
#include "hub-agent/source/chart/values.h"
#include "hub-agent/transfer/web_url.h"

#define FILE_SCHEME "file://"
#define PATH_BYTES 4096

/* ---- versions ---- */

static int has_version(struct arena *arena, const struct chart *c, const struct chart_dependency *d,
                       bool *ret, struct error *err)
{
        const char *wanted = text_empty(d->version) ? "*" : d->version;
        const struct semver_range *range;
        struct semver v;
        int code;

        *ret = text_equal(c->metadata.version, wanted);
        if (*ret)
                return 0;
        code = semver_range_parse(arena, slice_of(wanted), &range, err);
        if (code < 0 && code != ERR_NO_MEMORY)
                return error_wrap(err, "invalid version/constraint format '%s'", wanted), code;
        TRY(code);
        *ret = semver_parse(slice_of(c->metadata.version), &v) == 0 && semver_range_has(range, &v);
        return 0;
}

/* ---- what is missing ---- */

/* That a lock lists it is enough: a dependency of Chart.yaml may be changed without it. */
static int read_lock(struct arena *arena, const struct chart *c, const struct chart_dependency **ret,
                     size_t *ret_n, struct error *err)
{
        AUTO_JSON json_t *documents = NULL;
        struct chart_dependency *at;
        json_t *list, *one;
        size_t i;
        int code = yaml_parse_bounded(c->lock, CHART_VALUES_MAX, &documents, err);

        if (code == 0 && json_array_size(documents) != 1)
                code = error_set(err, ERR_INVALID, "yaml: %zu documents where one is expected",
                                 json_array_size(documents));
        if (code < 0)
                return error_wrap(err, "cannot load Chart.lock"), code;
        list = doc_get_array(json_array_get(documents, 0), "dependencies");
        at = ARENA_NEW_ARRAY(arena, struct chart_dependency, json_array_size(list) + 1);
        if (!at)
                return error_no_memory(err);
        json_array_foreach(list, i, one) {
                const char *name = doc_get_string(one, "name");

                if (text_empty(name))
                        return error_set(err, ERR_INVALID,
                                         "cannot load Chart.lock: dependencies[%zu]: has no name", i);
                at[i] = (struct chart_dependency){
                        .name = arena_strdup(arena, name),
                        .version = arena_strdup(arena, or_empty(doc_get_string(one, "version"))),
                        .repository = arena_strdup(arena, or_empty(doc_get_string(one, "repository"))),
                        .alias = "",
                };
                if (!at[i].name || !at[i].version || !at[i].repository)
                        return error_no_memory(err);
        }
        *ret = at;
        *ret_n = json_array_size(list);
        return 0;
}

static int is_there(struct arena *arena, const struct chart *c, const struct chart_dependency *d, bool *ret,
                    struct error *err)
{
        *ret = false;
        for (size_t i = 0; i < c->n_charts && !*ret; i++)
                if (text_equal(c->charts[i].metadata.name, d->name))
                        TRY(has_version(arena, &c->charts[i], d, ret, err));
        return 0;
}

static bool is_listed(const struct dependency_list *l, const struct chart_dependency *d)
{
        for (size_t i = 0; i < l->n; i++)
                if (text_equal(l->at[i].name, d->name) && text_equal(l->at[i].version, d->version) &&
                    text_equal(l->at[i].repository, d->repository))
                        return true;
        return false;
}

int chart_missing(struct arena *arena, const struct chart *c, struct dependency_list *ret, struct error *err)
{
        const struct chart_dependency *wanted = c->metadata.dependencies;
        size_t n = c->metadata.n_dependencies;
        bool there;

        if (c->lock.len)
                TRY(read_lock(arena, c, &wanted, &n, err));
        *ret = (struct dependency_list){ ARENA_NEW_ARRAY(arena, struct chart_dependency, n + 1), 0 };
        if (!ret->at)
                return error_no_memory(err);
        for (size_t i = 0; i < n; i++) {
                TRY(is_there(arena, c, &wanted[i], &there, err));
                if (!there && !is_listed(ret, &wanted[i]))
                        ret->at[ret->n++] = wanted[i];
        }
        return 0;
}

static int no_place(const struct chart_dependency *d, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const char *r = d->repository, *shown = strstr(r, "://") ? web_url_public(r, &arena) : r;

        if (!shown)
                return error_no_memory(err);
        return error_set(err, ERR_INVALID, "failed to add remote dependency '%s': %s: %s", d->name,
                         r[0] == '@' || text_starts_with(r, "alias:")
                                 ? "aliased repository dependency is not supported"
                                 : "invalid dependency repository URL",
                         shown);
}

int dependency_place(const struct chart_dependency *d, enum dependency_place *ret, struct error *err)
{
        const char *r = d->repository;

        *ret = DEPENDENCY_LOCAL;
        if (text_empty(r) || text_starts_with(r, FILE_SCHEME))
                return 0;
        *ret = text_starts_with(r, "oci://") ? DEPENDENCY_OCI : DEPENDENCY_HTTP;
        if (*ret == DEPENDENCY_OCI || text_starts_with(r, "http://") || text_starts_with(r, "https://"))
                return 0;
        return no_place(d, err);
}

/* ---- adding ---- */

static int add(struct arena *arena, struct chart *c, const struct chart *sub, struct error *err)
{
        struct chart *all = ARENA_NEW_ARRAY(arena, struct chart, c->n_charts + 1);

        if (!all)
                return error_no_memory(err);
        if (c->n_charts)
                memcpy(all, c->charts, c->n_charts * sizeof(*all));
        all[c->n_charts++] = *sub;
        c->charts = all;
        qsort(all, c->n_charts, sizeof(*all), chart_order);
        return 0;
}

static int check_version(struct arena *arena, const struct chart *sub, const struct chart_dependency *d,
                         struct error *err)
{
        bool good;

        TRY(has_version(arena, sub, d, &good, err));
        return good ? 0
                    : error_set(err, ERR_INVALID, "can't get a valid version for constraint '%s'",
                                text_empty(d->version) ? "*" : d->version);
}

static int find_path(struct arena *arena, const char *folder, const struct chart_dependency *d,
                     const char **ret, struct error *err)
{
        AUTO_BUF struct buf joined, clean;
        bool is_file = text_starts_with(d->repository, FILE_SCHEME);

        buf_init(&joined, PATH_BYTES);
        buf_init(&clean, PATH_BYTES);
        buf_printf(&joined, "%s/%s%s", *folder ? folder : ".",
                   is_file ? d->repository + strlen(FILE_SCHEME) : "charts/", is_file ? "" : d->name);
        TRY(buf_status(&joined, err, "the path of a dependency"));
        path_clean((struct slice){ joined.data, joined.len }, &clean);
        TRY(buf_status(&clean, err, "the path of a dependency"));
        *ret = arena_strndup(arena, clean.data, clean.len);
        return *ret ? 0 : error_no_memory(err);
}

static int load_local(struct arena *arena, const struct file_set *source, const char *path,
                      uint64_t file_bytes, bool *ret_found, struct chart *ret, struct error *err)
{
        const struct set_file *file = file_set_find(source, path);
        const char *folder = text_equal(path, ".") ? "" : path;

        *ret_found = true;
        if (file && file->data.data)
                return chart_of_archive(arena, file->data, file_bytes, ret, err);
        *ret_found = !text_starts_with(path, "..") && file_set_below(source, folder).n > 0;
        return *ret_found ? chart_of_folder(arena, source, folder, file_bytes, ret, err) : 0;
}

static int add_local(struct arena *arena, const struct file_set *source, const char *folder,
                     const struct chart_dependency *d, uint64_t file_bytes, struct chart *c,
                     struct error *err)
{
        struct chart sub;
        const char *path;
        bool found;

        TRY(find_path(arena, folder, d, &path, err));
        TRY(load_local(arena, source, path, file_bytes, &found, &sub, err));
        if (!found)
                return error_set(err, ERR_INVALID, "no chart found at '%s' (reference '%s')", path,
                                 d->repository);
        TRY(check_version(arena, &sub, d, err));
        return add(arena, c, &sub, err);
}

int chart_add_local(struct arena *arena, const struct file_set *source, const char *folder,
                    const struct chart_dependency *d, uint64_t file_bytes, struct chart *c, struct error *err)
{
        int code = add_local(arena, source, folder, d, file_bytes, c, err);

        if (code < 0 && code != ERR_NO_MEMORY)
                error_wrap(err, "failed to add local dependency '%s'", d->name);
        return code;
}

static int add_remote(struct arena *arena, struct slice archive, const struct chart_dependency *d,
                      uint64_t file_bytes, struct chart *c, struct error *err)
{
        struct chart sub;

        TRY(chart_of_archive(arena, archive, file_bytes, &sub, err));
        if (!text_equal(sub.metadata.name, d->name))
                return error_set(err, ERR_INVALID, "the archive holds chart '%s'", sub.metadata.name);
        TRY(check_version(arena, &sub, d, err));
        return add(arena, c, &sub, err);
}

int chart_add_remote(struct arena *arena, struct slice archive, const struct chart_dependency *d,
                     uint64_t file_bytes, struct chart *c, struct error *err)
{
        int code = add_remote(arena, archive, d, file_bytes, c, err);

        if (code < 0 && code != ERR_NO_MEMORY)
                error_wrap(err, "failed to add remote dependency '%s'", d->name);
        return code;
}
