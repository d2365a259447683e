#include "hub-agent/source/chart/package.h"

#include "common/base/gzip.h"
#include "hub-agent/source/chart/tar.h"
#include "hub-agent/source/chart/values.h"

#define TAR_BYTES (2 * FILE_SET_CHART_BYTES) /* with its headers */

struct packing {
        struct arena *arena;
        struct buf tar;
};

static int add(struct packing *p, const char *folder, const char *path, struct slice data, int64_t modified_s,
               struct error *err)
{
        const struct tar_entry e = { arena_printf(p->arena, "%s/%s", folder, path), data, 0644, modified_s,
                                     false };

        return e.name ? tar_append(&p->tar, &e, err) : error_no_memory(err);
}

static int add_known(struct packing *p, const char *folder, const char *path, struct slice data,
                     struct error *err)
{
        return data.data ? add(p, folder, path, data, CHART_TIME_S, err) : 0;
}

static int add_set(struct packing *p, const char *folder, const struct file_set *s, struct error *err)
{
        for (size_t i = 0; i < s->n; i++)
                TRY(add(p, folder, s->at[i].path, s->at[i].data, s->at[i].modified_s, err));
        return 0;
}

static int add_metadata(struct packing *p, const char *folder, const struct chart *c, struct error *err)
{
        AUTO_JSON json_t *doc = doc_copy_members(c->metadata.doc);
        AUTO_BUF struct buf text;

        buf_init(&text, FILE_SET_FILE_BYTES);
        if (!doc)
                return error_no_memory(err);
        if (chart_is_of_first_format(c))
                json_object_del(doc, "dependencies"); /* they stand in requirements.yaml */
        if (yaml_write_unfolded(doc, &text) < 0)
                return error_no_memory(err);
        TRY(buf_status(&text, err, "Chart.yaml"));
        return add(p, folder, "Chart.yaml", (struct slice){ text.data, text.len }, CHART_TIME_S, err);
}

static int check_schema(const struct chart *c, struct error *err)
{
        AUTO_JSON json_t *doc = NULL;
        bool is_large = c->schema.data && doc_count_values(c->schema) > CHART_VALUES_MAX;

        if (is_large)
                return error_set(err, ERR_LIMIT, "values.schema.json has more than %d values",
                                 CHART_VALUES_MAX);
        int code = c->schema.data ? doc_parse(c->schema, &doc, NULL) : 0;

        if (code == ERR_NO_MEMORY)
                return error_no_memory(err);
        return code < 0 ? error_set(err, ERR_INVALID, "invalid JSON in values.schema.json") : 0;
}

static int add_chart(struct packing *p, const char *folder, const struct chart *c, struct error *err);

/* Two of one name, as aliases need, get folders of their own. */
static int add_sub_charts(struct packing *p, const char *folder, const struct chart *c, struct error *err)
{
        const char *last = NULL;

        for (size_t i = 0; i < c->n_charts; i++) {
                const struct chart_metadata *m = &c->charts[i].metadata;
                bool again = last && text_equal(last, m->name);
                const char *below = arena_printf(p->arena, "%s/charts/%s%s%s", folder, m->name,
                                                 again ? "-" : "", again ? m->version : "");

                last = m->name;
                if (!below)
                        return error_no_memory(err);
                TRY(add_chart(p, below, &c->charts[i], err));
        }
        return 0;
}

static int add_chart(struct packing *p, const char *folder, const struct chart *c, struct error *err)
{
        TRY(check_schema(c, err));
        TRY(add_metadata(p, folder, c, err));
        if (!chart_is_of_first_format(c))
                TRY(add_known(p, folder, "Chart.lock", c->lock, err));
        TRY(add_known(p, folder, "values.yaml", c->values, err));
        TRY(add_known(p, folder, "values.schema.json", c->schema, err));
        TRY(add_set(p, folder, &c->templates, err));
        TRY(add_set(p, folder, &c->files, err));
        return add_sub_charts(p, folder, c, err);
}

int chart_package(struct arena *arena, const struct chart *c, struct buf *ret, struct error *err)
{
        struct packing p = { .arena = arena };
        int code;

        buf_init(&p.tar, TAR_BYTES);
        code = add_chart(&p, c->metadata.name, c, err);
        if (code == 0)
                code = tar_end(&p.tar, err);
        if (code == 0)
                code = gzip_pack((struct slice){ p.tar.data, p.tar.len }, ret, err);
        buf_free(&p.tar);
        return code;
}

/* ---- changes ---- */

int chart_set_version(struct arena *arena, struct chart *c, const char *version)
{
        c->metadata.version = arena_strdup(arena, version);
        return c->metadata.version && doc_set_string(c->metadata.doc, "version", version) == 0
                       ? 0
                       : ERR_NO_MEMORY;
}

int chart_set_values(struct arena *arena, struct chart *c, const json_t *values, bool *ret_changed,
                     struct error *err)
{
        AUTO_BUF struct buf text;
        char *copy;

        buf_init(&text, FILE_SET_FILE_BYTES);
        *ret_changed = false;
        if (!c->values.data)
                return error_set(err, ERR_INVALID, "failed to locate values file: values.yaml");
        TRY(values_write(values, &text, err));
        copy = arena_strndup(arena, text.len ? text.data : "", text.len);
        if (!copy)
                return error_no_memory(err);
        *ret_changed = !slice_equal(c->values, (struct slice){ copy, text.len });
        c->values = (struct slice){ copy, text.len };
        return 0;
}
