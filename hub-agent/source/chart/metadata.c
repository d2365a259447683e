#include "hub-agent/source/chart/metadata.h"

#include "common/base/limits.h"
#include "common/base/map.h"
#include "common/base/semver.h"
#include "common/base/unicode.h"
#include "hub-agent/source/chart/values.h"

/* What stands in the place of a text: itself, or several of them. */
enum shape { TEXT, TEXTS, TEXT_MAP, BOOLEAN, PARTS, LIST };

struct field {
        const char *name;
        enum shape shape;
        const struct field *parts; /* of each element; PARTS only */
};

static const struct field maintainer_fields[] = {
        { "name", TEXT }, { "email", TEXT }, { "url", TEXT }, { 0 }
};
static const struct field dependency_fields[] = {
        { "name", TEXT },          { "version", TEXT }, { "repository", TEXT },
        { "condition", TEXT },     { "tags", TEXTS },   { "enabled", BOOLEAN },
        { "import-values", LIST }, { "alias", TEXT },   { 0 }
};
static const struct field chart_fields[] = { { "apiVersion", TEXT },
                                             { "name", TEXT },
                                             { "version", TEXT },
                                             { "kubeVersion", TEXT },
                                             { "description", TEXT },
                                             { "type", TEXT },
                                             { "keywords", TEXTS },
                                             { "home", TEXT },
                                             { "sources", TEXTS },
                                             { "dependencies", PARTS, dependency_fields },
                                             { "maintainers", PARTS, maintainer_fields },
                                             { "icon", TEXT },
                                             { "appVersion", TEXT },
                                             { "deprecated", BOOLEAN },
                                             { "annotations", TEXT_MAP },
                                             { "condition", TEXT },
                                             { "tags", TEXT },
                                             { 0 } };

/* ---- texts ---- */

static int has_type(const char *name, const char *wanted, struct error *err)
{
        return error_set(err, ERR_INVALID, "%s: must be %s", name, wanted);
}

static int put_clean(struct slice text, struct buf *b)
{
        while (text.len) {
                size_t width;
                uint32_t c = rune_decode(text.data, text.len, &width);

                if (rune_is_space(c))
                        TRY(buf_append_char(b, ' '));
                else if (rune_is_print(c))
                        TRY(buf_append(b, text.data, width));
                text = (struct slice){ text.data + width, text.len - width };
        }
        return 0;
}

/* *ret: new. NUL, which no text here can hold, cannot be printed either. */
static int read_text(const char *name, const json_t *value, bool lines, json_t **ret, struct error *err)
{
        AUTO_BUF struct buf b;

        buf_init(&b, LIMIT_YAML_BYTES);
        if (json_is_object(value) || json_is_array(value))
                return has_type(name, "a text", err);
        if (!json_is_string(value))
                doc_write(value, &b);
        else if (lines && !memchr(json_string_value(value), '\0', json_string_length(value)))
                buf_append(&b, json_string_value(value), json_string_length(value));
        else
                put_clean((struct slice){ json_string_value(value), json_string_length(value) }, &b);
        TRY(buf_status(&b, err, name));
        *ret = json_stringn(b.data, b.len);
        return *ret ? 0 : error_no_memory(err);
}

static int read_texts(const char *name, json_t *list, struct error *err)
{
        json_t *clean = NULL;

        if (!json_is_array(list))
                return has_type(name, "a list", err);
        for (size_t i = 0; i < json_array_size(list); i++) {
                TRY(read_text(name, json_array_get(list, i), false, &clean, err));
                if (json_array_set_new(list, i, clean) < 0)
                        return error_no_memory(err);
        }
        return 0;
}

static int read_text_map(const char *name, json_t *map, struct error *err)
{
        json_t *clean = NULL, *value;
        const char *key;

        if (!json_is_object(map))
                return has_type(name, "an object", err);
        json_object_foreach(map, key, value) {
                TRY(read_text(name, value, true, &clean, err));
                if (json_object_set_new_nocheck(map, key, clean) < 0)
                        return error_no_memory(err);
        }
        return 0;
}

/* ---- fields ---- */

static int read_fields(json_t *object, const struct field *fields, struct error *err);

/* Null elements stay, for the rule that forbids them. */
static int read_parts(const struct field *f, json_t *list, struct error *err)
{
        json_t *part;
        size_t i;

        if (!json_is_array(list))
                return has_type(f->name, "a list", err);
        json_array_foreach(list, i, part) {
                if (json_is_null(part))
                        continue;
                if (!json_is_object(part))
                        return has_type(f->name, "a list of objects", err);
                if (read_fields(part, f->parts, err) < 0)
                        return error_wrap(err, "%s", f->name);
        }
        return 0;
}

static int read_field(json_t *object, const struct field *f, struct error *err)
{
        json_t *value = json_object_get(object, f->name), *clean = NULL;

        switch (f->shape) {
        case TEXT:
                TRY(read_text(f->name, value, false, &clean, err));
                return json_object_set_new(object, f->name, clean) < 0 ? error_no_memory(err) : 0;
        case TEXTS:
                return read_texts(f->name, value, err);
        case TEXT_MAP:
                return read_text_map(f->name, value, err);
        case PARTS:
                return read_parts(f, value, err);
        case BOOLEAN:
                return json_is_boolean(value) ? 0 : has_type(f->name, "true or false", err);
        case LIST:
                return json_is_array(value) ? 0 : has_type(f->name, "a list", err);
        }
        UNREACHABLE();
}

static int read_fields(json_t *object, const struct field *fields, struct error *err)
{
        for (const struct field *f = fields; f->name; f++) {
                if (json_is_null(json_object_get(object, f->name)))
                        json_object_del(object, f->name);
                if (json_object_get(object, f->name))
                        TRY(read_field(object, f, err));
        }
        return 0;
}

/* ---- the whole ---- */

static const char *text_at(const json_t *object, const char *key)
{
        return or_empty(json_string_value(json_object_get(object, key)));
}

static int view_dependencies(struct arena *arena, struct chart_metadata *m, struct error *err)
{
        const json_t *list = json_object_get(m->doc, "dependencies");
        size_t n = json_array_size(list);
        struct chart_dependency *at = ARENA_NEW_ARRAY(arena, struct chart_dependency, n + 1);

        if (!at)
                return error_no_memory(err);
        for (size_t i = 0; i < n; i++) {
                const json_t *d = json_array_get(list, i);

                at[i] = (struct chart_dependency){ text_at(d, "name"), text_at(d, "version"),
                                                   text_at(d, "repository"), text_at(d, "alias") };
        }
        m->dependencies = at;
        m->n_dependencies = n;
        return 0;
}

/* `doc` is taken, also on failure. */
static int read_own(struct arena *arena, json_t *doc, struct chart_metadata *ret, struct error *err)
{
        struct chart_metadata m = { .doc = doc };

        TRY(doc_keep(arena, doc, err));
        TRY(read_fields(doc, chart_fields, err));
        if (!json_object_get(doc, "apiVersion") &&
            json_object_set_new(doc, "apiVersion", json_string("v1")) < 0)
                return error_no_memory(err);
        m.api_version = text_at(doc, "apiVersion");
        m.name = text_at(doc, "name");
        m.version = text_at(doc, "version");
        m.type = text_at(doc, "type");
        TRY(view_dependencies(arena, &m, err));
        *ret = m;
        return 0;
}

int chart_metadata_read(struct arena *arena, const json_t *doc, struct chart_metadata *ret, struct error *err)
{
        json_t *own;

        if (!json_is_object(doc))
                return error_set(err, ERR_INVALID, "the metadata of a chart must be an object");
        own = doc_copy(doc);
        return own ? read_own(arena, own, ret, err) : error_no_memory(err);
}

static int parse_first(const char *name, struct slice text, json_t **ret, struct error *err)
{
        AUTO_JSON json_t *all = NULL;

        if (yaml_parse_bounded(text, CHART_VALUES_MAX, &all, err) < 0)
                return error_wrap(err, "cannot load %s", name);
        *ret = json_array_size(all) ? json_incref(json_array_get(all, 0)) : json_object();
        if (!*ret)
                return error_no_memory(err);
        if (json_is_object(*ret))
                return 0;
        json_decref(TAKE_PTR(*ret));
        return error_set(err, ERR_INVALID, "cannot load %s: it must be an object", name);
}

int chart_metadata_parse(struct arena *arena, struct slice chart, struct slice requirements,
                         struct chart_metadata *ret, struct error *err)
{
        AUTO_JSON json_t *doc = NULL, *over = NULL;
        json_t *value;
        const char *key;
        int code;

        TRY(parse_first("Chart.yaml", chart, &doc, err));
        TRY(parse_first("requirements.yaml", requirements, &over, err));
        json_object_foreach(over, key, value)
                if (json_object_set_nocheck(doc, key, value) < 0)
                        return error_no_memory(err);
        code = read_own(arena, TAKE_PTR(doc), ret, err);
        return code < 0 && code != ERR_NO_MEMORY ? error_wrap(err, "cannot load Chart.yaml") : code;
}

/* ---- rules ---- */

#define RULE "validation: "

/* `before` "the text, quoted" `behind`. */
static int invalid_text(const char *before, const char *text, const char *behind, struct error *err)
{
        AUTO_BUF struct buf b;

        buf_init(&b, 8 * ERROR_TEXT_MAX);
        write_quoted(&b, (struct slice){ text, text_utf8_cut(text, ERROR_TEXT_MAX) }, QUOTE_PLAIN);
        TRY(buf_status(&b, err, "a text of a chart"));
        return error_set(err, ERR_INVALID, RULE "%s%s%s", before, b.data, behind);
}

static int check_name(const char *name, struct error *err)
{
        if (text_empty(name))
                return error_set(err, ERR_INVALID, RULE "chart.metadata.name is required");
        if (text_equal(name, ".") || text_equal(name, ".."))
                return invalid_text("chart.metadata.name ", name, " is not allowed", err);
        return strchr(name, '/') ? invalid_text("chart.metadata.name ", name, " is invalid", err) : 0;
}

static int check_version(const char *version, struct error *err)
{
        struct semver v;

        if (text_empty(version))
                return error_set(err, ERR_INVALID, RULE "chart.metadata.version is required");
        return semver_parse(slice_of(version), &v) < 0
                       ? invalid_text("chart.metadata.version ", version, " is invalid", err)
                       : 0;
}

static int check_no_null(const struct chart_metadata *m, const char *field, struct error *err)
{
        const json_t *value;
        size_t i;

        json_array_foreach(json_object_get(m->doc, field), i, value)
                if (json_is_null(value))
                        return error_set(err, ERR_INVALID, RULE "%s must not contain empty or null nodes",
                                         field);
        return 0;
}

static bool is_alias(const char *s)
{
        return s[strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")] == '\0';
}

static int check_dependencies(const struct chart_metadata *m, bool unique, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct map *known = map_of_arena(&arena);

        if (!known)
                return error_no_memory(err);
        TRY(check_no_null(m, "dependencies", err));
        for (size_t i = 0; i < m->n_dependencies; i++) {
                const struct chart_dependency *d = &m->dependencies[i];
                const char *key = *d->alias ? d->alias : d->name;

                if (!is_alias(d->alias))
                        return invalid_text("dependency ", d->name, " has disallowed characters in the alias",
                                            err);
                if (unique && map_has(known, key))
                        return invalid_text("more than one dependency with name or alias ", key, "", err);
                if (map_put(known, key, (void *)d) < 0)
                        return error_no_memory(err);
        }
        return 0;
}

int chart_metadata_check(const struct chart_metadata *m, enum metadata_check how, struct error *err)
{
        if (text_empty(m->api_version))
                return error_set(err, ERR_INVALID, RULE "chart.metadata.apiVersion is required");
        TRY(check_name(m->name, err));
        TRY(check_version(m->version, err));
        if (*m->type && !text_equal(m->type, "application") && !text_equal(m->type, "library"))
                return error_set(err, ERR_INVALID, RULE "chart.metadata.type must be application or library");
        TRY(check_no_null(m, "maintainers", err));
        return check_dependencies(m, how == CHECK_CHART, err);
}
