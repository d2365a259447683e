#include "hub-agent/source/chart/chart.h"

#include "hub-agent/source/chart/helmignore.h"
#include "hub-agent/source/chart/values.h"

#define CHARTS "charts"
#define NESTING_MAX 16 /* of sub-charts */

struct loading {
        struct arena *arena;
        uint64_t file_bytes;
        int depth;
};

static int load(struct loading *l, const struct file_set *files, struct chart *ret, struct error *err);

static struct slice text_of(const struct file_set *files, const char *path)
{
        const struct set_file *f = file_set_find(files, path);

        return f ? f->data : (struct slice){ 0 };
}

/* ---- sub-charts ---- */

static int load_archive(struct loading *l, struct slice data, struct chart *ret, struct error *err)
{
        struct file_set files;

        TRY(file_set_of_chart(l->arena, data, l->file_bytes, &files, err));
        return load(l, &files, ret, err);
}

static int load_below(struct loading *l, const struct file_set *all, struct slice name, struct chart *ret,
                      struct error *err)
{
        const char *folder = arena_printf(l->arena, CHARTS "/%.*s", (int)name.len, name.data);
        const struct set_file *file = folder ? file_set_find(all, folder) : NULL;
        struct file_set files;

        if (!folder)
                return error_no_memory(err);
        if (file && text_ends_with(folder, ".tgz"))
                return load_archive(l, file->data, ret, err);
        if (file_set_take(l->arena, all, folder, &files) < 0)
                return error_no_memory(err);
        return load(l, &files, ret, err);
}

/* The element behind "charts/"; false: it is of no sub-chart. */
static bool sub_chart_of(const struct set_file *f, struct slice *ret)
{
        struct slice rest = slice_of(f->path + strlen(CHARTS "/"));
        bool in_folder = slice_cut(&rest, '/', ret);

        return ret->data[0] != '_' && ret->data[0] != '.' && (in_folder || !text_ends_with(f->path, ".prov"));
}

static int load_sub_charts(struct loading *l, const struct file_set *files, struct chart *ret,
                           struct error *err)
{
        struct file_set below = file_set_below(files, CHARTS);
        struct slice last = { 0 }, name;

        ret->charts = ARENA_NEW_ARRAY(l->arena, struct chart, below.n + 1);
        if (!ret->charts)
                return error_no_memory(err);
        for (size_t i = 0; i < below.n; i++) {
                if (!sub_chart_of(&below.at[i], &name) || (last.data && slice_equal(name, last)))
                        continue;
                last = name;
                int code = load_below(l, files, name, &ret->charts[ret->n_charts++], err);

                if (code < 0)
                        return error_wrap(err, "sub-chart \"%.*s\"", (int)name.len, name.data), code;
        }
        qsort(ret->charts, ret->n_charts, sizeof(*ret->charts), chart_order);
        return 0;
}

/* ---- one chart ---- */

static bool is_known(const char *path)
{
        static const char *const known[] = { "Chart.yaml", "Chart.lock", "values.yaml",
                                             "values.schema.json" };

        return text_in(path, known, ARRAY_LEN(known));
}

/* Plain: also what in charts/ is no sub-chart's, but for what is passed over there; and what came to stand in
 * Chart.yaml and Chart.lock only with the format after the first. */
static bool is_plain(const struct set_file *f, bool first_format)
{
        struct slice name;

        if (text_equal(f->path, "requirements.yaml") || text_equal(f->path, "requirements.lock"))
                return first_format;

        if (text_starts_with(f->path, CHARTS "/"))
                return !sub_chart_of(f, &name) && name.data[0] != '_' && name.data[0] != '.';
        return !is_known(f->path) && !text_starts_with(f->path, "templates/");
}

static int take_plain(struct loading *l, const struct file_set *files, struct chart *ret, struct error *err)
{
        struct file_set *plain = &ret->files;

        plain->at = ARENA_NEW_ARRAY(l->arena, struct set_file, files->n + 1);
        if (!plain->at)
                return error_no_memory(err);
        for (size_t i = 0; i < files->n; i++)
                if (is_plain(&files->at[i], chart_is_of_first_format(ret)))
                        plain->at[plain->n++] = files->at[i];
        return 0;
}

static int load_own(struct loading *l, const struct file_set *files, struct chart *ret, struct error *err)
{
        *ret = (struct chart){ .lock = text_of(files, "Chart.lock"),
                               .values = text_of(files, "values.yaml"),
                               .schema = text_of(files, "values.schema.json"),
                               .templates = file_set_below(files, "templates") };
        if (!file_set_find(files, "Chart.yaml"))
                return error_set(err, ERR_INVALID, "Chart.yaml file is missing");
        if (!ret->lock.data)
                ret->lock = text_of(files, "requirements.lock");
        TRY(chart_metadata_parse(l->arena, text_of(files, "Chart.yaml"), text_of(files, "requirements.yaml"),
                                 &ret->metadata, err));
        TRY(chart_metadata_check(&ret->metadata, CHECK_CHART, err));
        return take_plain(l, files, ret, err);
}

static int load(struct loading *l, const struct file_set *files, struct chart *ret, struct error *err)
{
        int code;

        if (l->depth >= NESTING_MAX)
                return error_set(err, ERR_LIMIT, "more than %d charts within each other", NESTING_MAX);
        TRY(load_own(l, files, ret, err));
        l->depth++;
        code = load_sub_charts(l, files, ret, err);
        l->depth--;
        return code;
}

/* ---- where it is from ---- */

int chart_of_archive(struct arena *arena, struct slice archive, uint64_t file_bytes, struct chart *ret,
                     struct error *err)
{
        struct loading l = { arena, file_bytes, 0 };

        return load_archive(&l, archive, ret, err);
}

static int check_size(const struct set_file *f, const char *folder, uint64_t most, struct error *err)
{
        if (f->data.data && f->size <= most)
                return 0;
        return error_set(err, ERR_LIMIT, "cannot load file %s%s%s as file size (%llu) exceeds limit (%llu)",
                         folder, *folder ? "/" : "", f->path, (unsigned long long)f->size,
                         (unsigned long long)most);
}

int chart_of_folder(struct arena *arena, const struct file_set *source, const char *folder,
                    uint64_t file_bytes, struct chart *ret, struct error *err)
{
        struct loading l = { arena, file_bytes, 0 };
        struct file_set files;
        struct helmignore ignore;
        size_t n = 0;

        if (file_set_take(arena, source, folder, &files) < 0)
                return error_no_memory(err);
        TRY(helmignore_parse(arena, text_of(&files, ".helmignore"), &ignore, err));
        for (size_t i = 0; i < files.n; i++) {
                if (helmignore_has(&ignore, files.at[i].path))
                        continue;
                TRY(check_size(&files.at[i], folder, file_bytes, err));
                files.at[n] = files.at[i];
                files.at[n].modified_s = CHART_TIME_S;
                if (slice_starts_with(files.at[n].data, "\xef\xbb\xbf"))
                        files.at[n].data =
                                (struct slice){ files.at[n].data.data + 3, files.at[n].data.len - 3 };
                n++;
        }
        files.n = n;
        return load(&l, &files, ret, err);
}

int chart_order(const void *a, const void *b)
{
        const struct chart *x = a, *y = b;
        int order = strcmp(x->metadata.name, y->metadata.name);

        return order ? order : strcmp(x->metadata.version, y->metadata.version);
}

bool chart_is_of_first_format(const struct chart *c)
{
        return text_equal(c->metadata.api_version, "v1");
}

int chart_values(const struct chart *c, json_t **ret, struct error *err)
{
        return values_parse("values.yaml", c->values, ret, err);
}
