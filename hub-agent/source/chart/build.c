#include "hub-agent/source/chart/build.h"

#include "common/base/path.h"
#include "common/base/semver.h"
#include "hub-agent/source/chart/package.h"
#include "hub-agent/source/chart/values.h"

static int fails(struct chart_build *b, const struct source_failing *how, int code)
{
        if (code < 0 && code != ERR_NO_MEMORY && !b->failing)
                b->failing = how;
        return code;
}

/* ---- paths ---- */

/* NULL on no memory. */
static const char *clean(struct arena *arena, const char *path)
{
        AUTO_BUF struct buf b;

        buf_init(&b, 1 << 20);
        path_clean(slice_of(path), &b);
        return b.failed ? NULL : arena_strndup(arena, b.data, b.len);
}

static int inner_path(struct chart_build *b, const char *path, const char **ret, struct error *err)
{
        *ret = clean(b->arena, path);
        if (!*ret)
                return error_no_memory(err);
        if (**ret != '/' && !text_equal(*ret, "..") && !text_starts_with(*ret, "../"))
                return 0;
        return fails(b, &failing_path,
                     error_set(err, ERR_INVALID, "path '%s' leads outside of the source", path));
}

int chart_values_count(struct arena *arena, const char *const *paths, size_t n, bool *ret, struct error *err)
{
        const char *only;

        *ret = n > 0;
        if (n != 1)
                return 0;
        only = clean(arena, paths[0]);
        *ret = !text_equal(only, "values.yaml");
        return only ? 0 : error_no_memory(err);
}

/* ---- versions ---- */

int chart_version_with(struct arena *arena, const char *version, const char *revision_part,
                       int64_t generation, const char **ret, struct error *err)
{
        struct semver parsed;
        int bare = (int)strcspn(version, "+");

        *ret = version;
        if (text_empty(revision_part) && generation == 0)
                return 0;
        if (semver_parse(slice_of(version), &parsed) < 0)
                return error_set(err, ERR_INVALID,
                                 "failed to parse version from chart metadata as SemVer: '%s'", version);
        if (generation == 0)
                *ret = arena_printf(arena, "%.*s+%s", bare, version, revision_part);
        else
                *ret = arena_printf(arena, "%.*s+%s%s%lld", bare, version, or_empty(revision_part),
                                    text_empty(revision_part) ? "" : ".", (long long)generation);
        return *ret ? 0 : error_no_memory(err);
}

/* ---- the chart ---- */

static int read_metadata(struct chart_build *b, struct slice archive, struct error *err)
{
        struct file_set files;
        const struct set_file *chart, *requirements;

        TRY(file_set_of_chart(b->arena, archive, b->file_bytes, &files, err));
        chart = file_set_find(&files, "Chart.yaml");
        requirements = file_set_find(&files, "requirements.yaml");
        if (!chart)
                return error_set(err, ERR_INVALID, "no 'Chart.yaml' found");
        return chart_metadata_parse(b->arena, chart->data,
                                    requirements ? requirements->data : (struct slice){ 0 }, &b->metadata,
                                    err);
}

static int open_pulled(struct chart_build *b, struct error *err)
{
        int code = read_metadata(b, b->archive, err);

        if (code < 0) {
                error_wrap(err, "failed to load chart metadata from written chart");
                return fails(b, &failing_pull, code);
        }
        code = chart_metadata_check(&b->metadata, CHECK_CHART, err);
        if (code < 0) {
                error_wrap(err, "failed to validate metadata of written chart");
                return fails(b, &failing_pull, code);
        }
        b->chart_archive = b->archive;
        return 0;
}

static int find_in_source(struct chart_build *b, const char *path, struct error *err)
{
        const struct set_file *archive = file_set_find(&b->source, path);

        if (archive && !archive->data.data)
                return error_set(err, ERR_LIMIT, "'%s' is too large for a chart (%llu bytes)", path,
                                 (unsigned long long)archive->size);
        if (archive) {
                b->chart_archive = archive->data;
                return read_metadata(b, archive->data, err);
        }
        b->folder = text_equal(path, ".") ? "" : path;
        if (file_set_below(&b->source, b->folder).n == 0)
                return error_set(err, ERR_INVALID, "there is no chart at path '%s'", path);
        TRY(chart_of_folder(b->arena, &b->source, b->folder, b->file_bytes, &b->chart, err));
        b->is_read = true;
        b->metadata = b->chart.metadata;
        return 0;
}

static int open_in_source(struct chart_build *b, struct error *err)
{
        const char *path;
        int code;

        if (*b->path == '/')
                return fails(
                        b, &failing_reference,
                        error_set(err, ERR_INVALID, "local chart reference path is expected to be relative"));
        TRY(inner_path(b, b->path, &path, err));
        code = file_set_of_source(b->arena, b->archive, &b->source, err);
        if (code < 0) {
                error_wrap(err, "artifact untar error");
                return fails(b, &failing_read, code);
        }
        code = find_in_source(b, path, err);
        if (code == 0)
                code = chart_metadata_check(&b->metadata, CHECK_CHART, err);
        return fails(b, &failing_reference, code);
}

int chart_build_open(struct chart_build *b, struct error *err)
{
        buf_init(&b->packed, FILE_SET_CHART_BYTES);
        TRY(chart_values_count(b->arena, b->values, b->n_values, &b->has_values, err));
        TRY(b->of_source ? open_in_source(b, err) : open_pulled(b, err));
        return fails(b, &failing_patch,
                     chart_version_with(b->arena, b->of_source ? b->metadata.version : b->version,
                                        b->revision_part, b->has_values ? b->generation : 0, &b->version,
                                        err));
}

static bool is_stored_as_found(const struct chart_build *b)
{
        return !b->folder && !b->has_values && text_empty(b->revision_part);
}

int chart_build_read(struct chart_build *b, struct dependency_list *ret, struct error *err)
{
        *ret = (struct dependency_list){ 0 };
        if (!is_stored_as_found(b) && !b->is_read)
                TRY(fails(b, &failing_package,
                          chart_of_archive(b->arena, b->chart_archive, b->file_bytes, &b->chart, err)));
        b->is_read = true;
        if (!b->folder)
                return 0;
        TRY(fails(b, &failing_dependency, chart_missing(b->arena, &b->chart, ret, err)));
        b->n_missing = ret->n;
        for (size_t i = 0, n = ret->n; i < n; i++) {
                struct chart_dependency d = ret->at[i];
                enum dependency_place place;

                if (i == 0)
                        ret->n = 0;
                TRY(fails(b, &failing_dependency, dependency_place(&d, &place, err)));
                if (place != DEPENDENCY_LOCAL)
                        ret->at[ret->n++] = d;
                else
                        TRY(fails(b, &failing_dependency,
                                  chart_add_local(b->arena, &b->source, b->folder, &d, b->file_bytes,
                                                  &b->chart, err)));
        }
        return 0;
}

/* ---- values ---- */

static int find_values(struct chart_build *b, const char *given, struct slice *ret, struct error *err)
{
        const char *path;
        const struct set_file *f;

        *ret = (struct slice){ 0 };
        TRY(inner_path(b, given, &path, err));
        if (!b->of_source && text_equal(path, "values.yaml")) {
                *ret = b->chart.values;
        } else {
                f = file_set_find(b->of_source ? &b->source : &b->chart.files, path);
                if (f)
                        *ret = f->data;
        }
        if (ret->data || b->skips_missing)
                return 0;
        if (b->of_source)
                return error_set(err, ERR_INVALID, "no values file found at path '%s' (reference '%s')", path,
                                 given);
        return error_set(err, ERR_INVALID, "failed to merge chart values: no values file found at path '%s'",
                         given);
}

static int merge_one(struct chart_build *b, const char *path, json_t *into, struct error *err)
{
        AUTO_JSON json_t *values = NULL;
        struct slice text;

        TRY(find_values(b, path, &text, err));
        if (!text.data)
                return 0;
        TRY(values_parse(path, text, &values, err));
        TRY(values_merge(into, values, err));
        return vec_push(&b->merged, path) < 0 ? error_no_memory(err) : 0;
}

static int merge_values(struct chart_build *b, struct error *err)
{
        AUTO_JSON json_t *merged = json_object();
        bool changed;

        if (!merged)
                return error_no_memory(err);
        for (size_t i = 0; i < b->n_values; i++)
                TRY(merge_one(b, b->values[i], merged, err));
        if (b->merged.n == 0)
                return 0;
        TRY(chart_set_values(b->arena, &b->chart, merged, &changed, err));
        if (!changed)
                b->merged.n = 0;
        return 0;
}

/* ---- the end ---- */

int chart_build_end(struct chart_build *b, struct error *err)
{
        if (is_stored_as_found(b)) {
                b->bytes = b->chart_archive;
                return 0;
        }
        b->is_packaged = true;
        if (b->has_values)
                TRY(fails(b, &failing_values, merge_values(b, err)));
        if (!b->keeps_version && !text_equal(b->version, b->chart.metadata.version) &&
            chart_set_version(b->arena, &b->chart, b->version) < 0)
                return error_no_memory(err);
        TRY(fails(b, &failing_package, chart_package(b->arena, &b->chart, &b->packed, err)));
        b->bytes = (struct slice){ b->packed.data, b->packed.len };
        return 0;
}

void chart_build_free(struct chart_build *b)
{
        buf_free(&b->packed);
        vec_free(&b->merged);
}
