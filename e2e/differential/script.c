#include <dirent.h>

#include "common/base/limits.h"
#include "common/base/memory.h"
#include "e2e/differential/differential.h"

static const char *const script_keys[] = { "script", "about", "namespace", "certificate",
                                           "files",  "each",  "steps" };
static const char *const step_keys[] = { "do",    "name",   "body",   "text",   "type",  "accept", "headers",
                                         "as",    "keep",   "only",   "ignore", "until", "count",  "quiet",
                                         "watch", "events", "marker", "run",    "stdin", "big" };
#define KINDS_OF_STEP 4
static const char *const step_verbs[KINDS_OF_STEP] = { "do", "watch", "events", "run" };

static int check_keys(const json_t *o, const char *const *keys, size_t n, const char *what, struct error *err)
{
        const char *key;
        json_t *value;

        json_object_foreach((json_t *)o, key, value)
                if (!text_in(key, keys, n))
                        return error_set(err, ERR_INVALID, "%s: unknown key %s", what, key);
        return 0;
}

static int check_step(const char *script, size_t i, const json_t *step, struct error *err)
{
        AUTO_FREE char *what = mem_printf("%s #%zu", script, i + 1);
        size_t verbs = 0;

        if (!what)
                return error_no_memory(err);
        if (!json_is_object(step))
                return error_set(err, ERR_INVALID, "%s: must be a mapping", what);
        for (size_t k = 0; k < KINDS_OF_STEP; k++)
                verbs += json_object_get(step, step_verbs[k]) != NULL;
        if (verbs != 1)
                return error_set(err, ERR_INVALID, "%s: needs one of do, watch, events, run", what);
        return check_keys(step, step_keys, ARRAY_LEN(step_keys), what, err);
}

static int check_script(const struct scripts *all, const char *path, const json_t *doc, struct error *err)
{
        const char *name = doc_get_string(doc, "script");
        json_t *steps = doc_get_array(doc, "steps"), *step;
        size_t i;

        if (!name || !text_is_dns1123_label(name) || strlen(name) > 40)
                return error_set(err, ERR_INVALID, "%s: a script needs a name like a DNS label", path);
        vec_for_each(&all->at, s)
                if (text_equal(s->name, name))
                        return error_set(err, ERR_INVALID, "%s: there is another script %s", path, name);
        if (!steps)
                return error_set(err, ERR_INVALID, "%s: %s: steps must be a list", path, name);
        TRY(check_keys(doc, script_keys, ARRAY_LEN(script_keys), name, err));
        json_array_foreach(steps, i, step)
                TRY(check_step(name, i, step, err));
        return 0;
}

/* "scripts/core.yaml" -> "core" */
static const char *area_of(const char *path, struct arena *arena)
{
        const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;

        return arena_strndup(arena, base, strcspn(base, "."));
}

/* ---- one script for several kinds ---- */

/* A copy of a document with "$key" replaced: a whole value by what the item has, whatever its type; a part of
 * a text by the item's text. New; NULL on no memory or a bad item. */
static json_t *fill_in(const json_t *doc, const json_t *item, const struct variables *texts)
{
        json_t *out, *value;
        const char *key, *text = json_string_value(doc);
        size_t i;

        if (text) {
                value = *text == '$' ? json_object_get(item, text + 1) : NULL;
                text = value ? NULL : variables_expand(texts, text);
                return value ? doc_copy(value) : text ? json_string(text) : NULL;
        }
        if (!json_is_object(doc) && !json_is_array(doc))
                return doc_copy(doc);
        out = json_is_object(doc) ? json_object() : json_array();
        json_object_foreach((json_t *)doc, key, value)
                if (json_object_set_new(out, key, fill_in(value, item, texts)) < 0)
                        goto fail;
        json_array_foreach((json_t *)doc, i, value)
                if (json_array_append_new(out, fill_in(value, item, texts)) < 0)
                        goto fail;
        return out;
fail:
        json_decref(out);
        return NULL;
}

static int add_script(struct scripts *ret, const char *path, const char *area, json_t *doc, struct error *err)
{
        struct script s = { area, doc_get_string(doc, "script"), doc };

        if (!doc)
                return error_set(err, ERR_INVALID, "%s: each: cannot be filled in", path);
        TRY(check_script(ret, path, doc, err));
        if (!area || json_array_append(ret->docs, doc) < 0 || vec_push(&ret->at, s) < 0)
                return error_no_memory(err);
        return 0;
}

/* The script of one item of `each`, named SCRIPT-NAME. */
static int add_item(struct scripts *ret, const char *path, const char *area, const json_t *doc,
                    const json_t *item, struct error *err)
{
        struct variables texts = { .arena = &ret->arena };
        AUTO_JSON json_t *filled = NULL;
        AUTO_FREE char *name =
                mem_printf("%s-%s", doc_get_string(doc, "script"), doc_get_string(item, "name"));
        const char *key;
        json_t *value;
        int code = 0;

        map_init(&texts.values, MAP_OWN_KEYS, NULL);
        json_object_foreach((json_t *)item, key, value)
                if (code == 0 && json_is_string(value))
                        code = variable_set(&texts, key, json_string_value(value), err);
        if (code == 0) {
                filled = fill_in(doc, item, &texts);
                json_object_del(filled, "each");
                code = doc_set_string(filled, "script", name) < 0 ? error_no_memory(err)
                                                                  : add_script(ret, path, area, filled, err);
        }
        map_free(&texts.values);
        return code;
}

static int add_document(struct scripts *ret, const char *path, const char *area, json_t *doc,
                        struct error *err)
{
        json_t *each = doc_get_array(doc, "each"), *item;
        size_t i;

        if (!each)
                return add_script(ret, path, area, doc, err);
        json_array_foreach(each, i, item)
                TRY(add_item(ret, path, area, doc, item, err));
        return 0;
}

static int read_file(struct world *w, const char *path, struct scripts *ret, struct error *err)
{
        AUTO_FREE char *text = NULL;
        AUTO_JSON json_t *docs = NULL;
        const char *area = area_of(path, &ret->arena);
        json_t *doc;
        size_t n, i;
        int code;

        TRY(w->files->read(w->ctx, path, LIMIT_YAML_BYTES, &text, &n, err));
        code = yaml_parse_all((struct slice){ text, n }, &docs, err);
        if (code < 0)
                return error_wrap(err, "%s", path);
        json_array_foreach(docs, i, doc)
                TRY(add_document(ret, path, area, doc, err));
        return 0;
}

static int read_folder(struct world *w, const char *path, DIR *d, struct scripts *ret, struct error *err)
{
        struct map names;
        struct dirent *e;
        const char **sorted;
        size_t n;
        int code = 0;

        map_init(&names, MAP_OWN_KEYS, NULL);
        while ((e = readdir(d)))
                if (text_ends_with(e->d_name, ".yaml") && map_put(&names, e->d_name, ret) < 0)
                        break;
        sorted = mem_must(map_sorted_keys(&names, &n));
        for (size_t i = 0; i < n && code == 0; i++) {
                AUTO_FREE char *file = mem_must(mem_printf("%s/%s", path, sorted[i]));

                code = read_file(w, file, ret, err);
        }
        mem_free(sorted);
        map_free(&names);
        return code;
}

int scripts_read(struct world *w, const char *const *paths, size_t n, struct scripts *ret, struct error *err)
{
        *ret = (struct scripts){ .docs = json_array() };
        if (!ret->docs)
                return error_no_memory(err);
        for (size_t i = 0; i < n; i++) {
                DIR *d = opendir(paths[i]);
                int code = d ? read_folder(w, paths[i], d, ret, err) : read_file(w, paths[i], ret, err);

                if (d)
                        closedir(d);
                if (code < 0)
                        return code;
        }
        return 0;
}

void scripts_free(struct scripts *s)
{
        vec_free(&s->at);
        json_decref(s->docs);
        arena_free(&s->arena);
}

const char *step_title(const json_t *step, size_t index, struct arena *arena)
{
        const char *name = doc_get_string(step, "name"), *text = NULL;

        for (size_t i = 0; i < KINDS_OF_STEP && !text; i++)
                text = json_string_value(json_object_get(step, step_verbs[i]));
        return arena_printf(arena, "#%zu %s%s%s", index + 1, name ? name : "", name ? ": " : "",
                            text ? text : "");
}

bool script_needs_kubectl(const struct script *s)
{
        return script_requests(s, true) > 0;
}

size_t script_requests(const struct script *s, bool commands)
{
        size_t i, n = 0;
        json_t *step;

        json_array_foreach(doc_get_array(s->doc, "steps"), i, step)
                n += commands ? json_object_get(step, "run") != NULL
                              : json_object_get(step, "do") || json_object_get(step, "watch");
        return n;
}

/* ---- variables ---- */

int variable_set(struct variables *v, const char *name, const char *value, struct error *err)
{
        char *copy = arena_strdup(v->arena, value);

        return copy && map_put(&v->values, name, copy) == 0 ? 0 : error_no_memory(err);
}

/* "$x300": that many times x. */
static bool append_filler(struct buf *b, const char **at)
{
        const char *p = *at + 1;
        int64_t n;
        size_t digits = *p == 'x' ? strspn(p + 1, "0123456789") : 0;

        if (!digits || !slice_parse_i64((struct slice){ p + 1, digits }, &n) || n > (8 << 20) ||
            buf_reserve(b, (size_t)n) < 0)
                return false;
        for (int64_t i = 0; i < n; i++)
                (void)buf_append_char(b, 'x');
        *at = p + 1 + digits;
        return true;
}

static bool append_variable(const struct variables *v, struct buf *b, const char **at)
{
        bool braces = (*at)[1] == '{';
        const char *name = *at + 1 + braces, *value;
        size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz_0123456789");

        value = map_get_n(&v->values, name, n);
        if (!value || (braces && name[n] != '}'))
                return !braces && append_filler(b, at);
        (void)buf_append_str(b, value);
        *at = name + n + braces;
        return true;
}

const char *variables_expand(const struct variables *v, const char *text)
{
        AUTO_BUF struct buf b;

        buf_init(&b, 16u << 20);
        if (!strchr(text, '$'))
                return text;
        while (*text)
                if (*text != '$' || !append_variable(v, &b, &text))
                        (void)buf_append_char(&b, *text++);
        return b.failed ? NULL : arena_strndup(v->arena, b.data, b.len);
}

json_t *variables_expand_doc(const struct variables *v, const json_t *doc)
{
        json_t *out = NULL, *value;
        const char *key, *text;
        size_t i;

        if (json_is_string(doc)) {
                text = variables_expand(v, json_string_value(doc));
                return text ? json_string(text) : NULL;
        }
        if (json_is_object(doc)) {
                out = json_object();
                json_object_foreach((json_t *)doc, key, value) {
                        text = variables_expand(v, key);
                        if (!text || json_object_set_new(out, text, variables_expand_doc(v, value)) < 0)
                                goto fail;
                }
                return out;
        }
        if (json_is_array(doc)) {
                out = json_array();
                json_array_foreach((json_t *)doc, i, value)
                        if (json_array_append_new(out, variables_expand_doc(v, value)) < 0)
                                goto fail;
                return out;
        }
        return doc_copy(doc);
fail:
        json_decref(out);
        return NULL;
}
