#include "hub-agent/manifest-generation/flux_config.h"

#include "common/base/limits.h"
#include "common/base/memory.h"
#include "common/base/timefmt.h"
#include "common/json/doc.h"

#define FILE_NAME ".flux.yaml"
#define PROBLEMS_MAX 20
#define PROBLEMS_BYTES (64u << 10)
#define WAY_MAX 8

/* A reading: what is wrong is collected, each with where it stands. */
struct reading {
        struct arena *arena;
        struct slice text;
        struct yaml_step way[WAY_MAX];
        size_t depth;
        struct buf problems;
        size_t n_problems;
        int code; /* no memory */
};

static void push_key(struct reading *r, const char *key)
{
        ASSERT(r->depth < WAY_MAX);
        r->way[r->depth++] = (struct yaml_step){ key, 0 };
}

static void push_index(struct reading *r, size_t index)
{
        ASSERT(r->depth < WAY_MAX);
        r->way[r->depth++] = (struct yaml_step){ NULL, index };
}

static void pop(struct reading *r)
{
        r->depth--;
}

static void complain(struct reading *r, const char *words)
{
        struct yaml_place at;

        if (r->n_problems++ >= PROBLEMS_MAX || r->code < 0)
                return;
        r->code = MIN(yaml_locate(r->text, r->way, r->depth, &at), 0);
        (void)buf_printf(&r->problems, "%sline %zu, column %zu: ", r->n_problems > 1 ? "\n" : "", at.line,
                         at.column);
        for (size_t i = 0; i < r->depth; i++)
                if (r->way[i].key)
                        (void)buf_printf(&r->problems, "%s%.100s", i ? "." : "", r->way[i].key);
                else
                        (void)buf_printf(&r->problems, "[%zu]", r->way[i].index);
        (void)buf_printf(&r->problems, "%s%s", r->depth ? ": " : "", words);
}

static void complain_of(struct reading *r, const char *key, const char *words)
{
        push_key(r, key);
        complain(r, words);
        pop(r);
}

/* ---- members ---- */

static void check_keys(struct reading *r, const json_t *object, const char *const *known, size_t n)
{
        const char *key;
        json_t *value;

        json_object_foreach((json_t *)object, key, value)
                if (!text_in(key, known, n))
                        complain_of(r, key, "unknown field");
}

/* NULL: it is not there, or is none, which is told. */
static const char *read_text(struct reading *r, const json_t *object, const char *key, bool required,
                             size_t max)
{
        const json_t *value = json_object_get(object, key);
        const char *text = json_string_value(value), *copy;

        if (!value && !required)
                return NULL;
        if (!value || !text || !*text || strlen(text) != json_string_length(value)) {
                complain_of(r, key,
                            !value           ? "required"
                            : text && !*text ? "must not be empty"
                                             : "must be a string");
                return NULL;
        }
        if (strlen(text) > max) {
                complain_of(r, key, "is too long");
                return NULL;
        }
        copy = arena_strdup(r->arena, text);
        r->code = copy ? r->code : ERR_NO_MEMORY;
        return copy;
}

static void read_timeout(struct reading *r, const json_t *object, int64_t *ret_ms)
{
        const char *text = read_text(r, object, "timeout", false, 100);
        int64_t ns;

        if (!text)
                return;
        if (duration_parse_go(slice_of(text), &ns) < 0)
                complain_of(r, "timeout", "must be a duration such as \"90s\"");
        else if (ns >= INT64_C(1000000000))
                *ret_ms = ns / 1000000;
}

/* At where the way leads. */
static void read_command(struct reading *r, const json_t *value, struct flux_command *ret)
{
        static const char *const known[] = { "command", "timeout" };

        if (!json_is_object(value)) {
                complain(r, "must be a mapping");
                return;
        }
        check_keys(r, value, known, ARRAY_LEN(known));
        ret->line = read_text(r, value, "command", true, FLUX_COMMAND_BYTES);
        read_timeout(r, value, &ret->timeout_ms);
}

/* NULL: it is no list that can be read, which is told. */
static const json_t *list_at(struct reading *r, const json_t *object, const char *key, bool required)
{
        const json_t *list = json_object_get(object, key);

        if (!list && !required)
                return NULL;
        if (json_is_array(list) && json_array_size(list) <= FLUX_COMMANDS_MAX &&
            (json_array_size(list) || !required))
                return list;
        complain_of(r, key,
                    !list                   ? "required"
                    : !json_is_array(list)  ? "must be a list"
                    : json_array_size(list) ? "has too many entries"
                                            : "must not be empty");
        return NULL;
}

static void read_generators(struct reading *r, const json_t *variant, struct flux_config *ret)
{
        const json_t *list = list_at(r, variant, "generators", true);
        size_t n = json_array_size(list);

        ret->generators = ARENA_NEW_ARRAY(r->arena, struct flux_command, n + 1);
        if (!ret->generators) {
                r->code = ERR_NO_MEMORY;
                return;
        }
        push_key(r, "generators");
        for (size_t i = 0; i < n; i++) {
                push_index(r, i);
                read_command(r, json_array_get(list, i), &ret->generators[i]);
                pop(r);
        }
        pop(r);
        ret->n_generators = n;
}

static void read_updater(struct reading *r, const json_t *value, struct flux_updater *ret)
{
        static const char *const known[] = { "containerImage", "policy" };
        struct flux_command *commands[] = { &ret->image, &ret->policy };

        if (!json_is_object(value)) {
                complain(r, "must be a mapping");
                return;
        }
        check_keys(r, value, known, ARRAY_LEN(known));
        for (size_t i = 0; i < ARRAY_LEN(known); i++) {
                const json_t *command = json_object_get(value, known[i]);

                push_key(r, known[i]);
                if (command)
                        read_command(r, command, commands[i]);
                pop(r);
        }
}

static void read_updaters(struct reading *r, const json_t *variant, struct flux_config *ret)
{
        const json_t *list = list_at(r, variant, "updaters", false);
        size_t n = json_array_size(list);

        ret->updaters = ARENA_NEW_ARRAY(r->arena, struct flux_updater, n + 1);
        if (!ret->updaters) {
                r->code = ERR_NO_MEMORY;
                return;
        }
        push_key(r, "updaters");
        for (size_t i = 0; i < n; i++) {
                push_index(r, i);
                read_updater(r, json_array_get(list, i), &ret->updaters[i]);
                pop(r);
        }
        pop(r);
        ret->n_updaters = n;
}

/* ---- variants ---- */

static void read_command_updated(struct reading *r, const json_t *variant, struct flux_config *ret)
{
        static const char *const known[] = { "generators", "updaters" };

        check_keys(r, variant, known, ARRAY_LEN(known));
        read_generators(r, variant, ret);
        read_updaters(r, variant, ret);
}

static void read_patch_updated(struct reading *r, const json_t *variant, struct flux_config *ret)
{
        static const char *const known[] = { "generators", "patchFile" };

        check_keys(r, variant, known, ARRAY_LEN(known));
        read_generators(r, variant, ret);
        ret->patch_file = read_text(r, variant, "patchFile", true, 4096);
}

static void read_scan(struct reading *r, const json_t *variant, struct flux_config *ret)
{
        check_keys(r, variant, NULL, 0);
}

static const struct {
        const char *key;
        enum flux_variant variant;
        void (*read)(struct reading *r, const json_t *variant, struct flux_config *ret);
} variants[] = { { "commandUpdated", FLUX_COMMAND_UPDATED, read_command_updated },
                 { "patchUpdated", FLUX_PATCH_UPDATED, read_patch_updated },
                 { "scanForFiles", FLUX_SCAN_FOR_FILES, read_scan } };

static void read_variants(struct reading *r, const json_t *doc, struct flux_config *ret)
{
        size_t n = 0;

        for (size_t i = 0; i < ARRAY_LEN(variants); i++) {
                const json_t *value = json_object_get(doc, variants[i].key);

                if (!value)
                        continue;
                if (n++)
                        complain_of(r, variants[i].key,
                                    "only one of commandUpdated, patchUpdated and scanForFiles may be there");
                ret->variant = variants[i].variant;
                push_key(r, variants[i].key);
                if (json_is_object(value))
                        variants[i].read(r, value, ret);
                else
                        complain(r, "must be a mapping");
                pop(r);
        }
        if (!n)
                complain(r, "one of commandUpdated, patchUpdated and scanForFiles must be there");
}

static void read_version(struct reading *r, const json_t *doc)
{
        const json_t *version = json_object_get(doc, "version");

        if (!version)
                complain_of(r, "version", "required");
        else if (!json_is_integer(version))
                complain_of(r, "version", "must be an integer");
        else if (json_integer_value(version) != 1)
                complain_of(r, "version", "must be 1");
}

static void read_config(struct reading *r, const json_t *doc, struct flux_config *ret)
{
        static const char *const known[] = { "version", "commandUpdated", "patchUpdated", "scanForFiles" };

        if (!json_is_object(doc)) {
                complain(r, "must be a mapping");
                return;
        }
        check_keys(r, doc, known, ARRAY_LEN(known));
        read_version(r, doc);
        read_variants(r, doc, ret);
}

static int judge(struct reading *r, struct error *err)
{
        if (r->code < 0)
                return error_no_memory(err);
        if (!r->n_problems)
                return 0;
        if (r->n_problems > PROBLEMS_MAX)
                (void)buf_printf(&r->problems, "\nand %zu more", r->n_problems - PROBLEMS_MAX);
        TRY(buf_status(&r->problems, err, "what is wrong with a config file"));
        return error_set(err, ERR_INVALID, "config file is not valid: %s", r->problems.data);
}

/* The reader tells the line; the column is found out. */
static int cannot_parse(struct slice text, int code, struct error *err)
{
        struct yaml_place at;

        if (code == ERR_INVALID && yaml_locate(text, NULL, 0, &at) == 1)
                error_wrap(err, "cannot parse: line %zu, column %zu", at.line, at.column);
        else if (code != ERR_NO_MEMORY)
                error_wrap(err, "cannot parse");
        return code;
}

int flux_config_parse(struct arena *arena, struct slice text, struct flux_config *ret, struct error *err)
{
        struct reading r = { .arena = arena, .text = text };
        struct flux_config config = { 0 };
        AUTO_JSON json_t *doc = NULL;
        int code = ERR_LIMIT;

        if (text.len > FLUX_CONFIG_BYTES)
                error_set(err, ERR_LIMIT, "larger than %u bytes (FLUX_CONFIG_BYTES)", FLUX_CONFIG_BYTES);
        else
                code = yaml_parse(text, &doc, err);
        if (code < 0)
                return cannot_parse(text, code, err);
        buf_init(&r.problems, PROBLEMS_BYTES);
        read_config(&r, doc, &config);
        code = judge(&r, err);
        buf_free(&r.problems);
        if (code == 0)
                *ret = config;
        return code;
}

/* ---- finding it ---- */

static const char *parent_of(struct arena *arena, const char *path)
{
        const char *slash = strrchr(path, '/');

        return slash ? arena_strndup(arena, path, (size_t)(slash - path)) : "";
}

/* The file in a folder or the nearest above it: *ret_file, and as seen from the folder. NULL: there is none.
 */
static int search(struct arena *arena, const struct tree *t, const char *folder, const char **ret_file,
                  const char **ret_relative, struct error *err)
{
        const char *relative = FILE_NAME;

        *ret_file = NULL;
        for (;;) {
                const char *file = arena_printf(arena, "%s%s" FILE_NAME, folder, *folder ? "/" : "");
                bool there = false;

                if (!file || !relative)
                        return error_no_memory(err);
                TRY(tree_has_file(t, arena, file, &there, err));
                if (there) {
                        *ret_file = file;
                        *ret_relative = relative;
                        return 0;
                }
                if (!*folder)
                        return 0;
                folder = parent_of(arena, folder);
                relative = arena_printf(arena, "../%s", relative);
                if (!folder)
                        return error_no_memory(err);
        }
}

static int read_file(struct arena *arena, const struct tree *t, const char *file, struct flux_config *ret,
                     struct error *err)
{
        struct slice text;
        int code = tree_read(t, arena, file, &text, err);

        if (code < 0) {
                error_wrap(err, "cannot parse config file: cannot read");
                return code;
        }
        code = flux_config_parse(arena, text, ret, err);
        if (code < 0)
                error_wrap(err, "cannot parse config file");
        return code;
}

/* Where the target's folder is; `file`: the path names a configuration. */
static int find_folder(struct arena *arena, const struct tree *t, struct flux_target *ret, bool *ret_file,
                       bool *ret_config, struct error *err)
{
        const char *slash = strrchr(ret->path, '/');
        enum volume_kind kind;
        int code = tree_look(t, arena, ret->path, &kind, err);

        if (code == ERR_NOT_FOUND)
                return tree_refuse(err, ERR_NOT_FOUND, "unable to read root path ", ret->path, "");
        if (code < 0)
                return code;
        *ret_file = kind != VOLUME_FOLDER;
        *ret_config = *ret_file && text_equal(slash ? slash + 1 : ret->path, FILE_NAME);
        ret->folder = *ret_file ? parent_of(arena, ret->path) : ret->path;
        return ret->folder ? 0 : error_no_memory(err);
}

static int load(struct arena *arena, const struct tree *t, const char *file, const char *relative,
                struct flux_target *ret, struct error *err)
{
        struct flux_config *config = ARENA_NEW(arena, struct flux_config);

        if (!config)
                return error_no_memory(err);
        TRY(read_file(arena, t, file, config, err));
        config->file = file;
        config->relative = relative;
        if (config->patch_file)
                TRY(tree_join(t, arena, ret->folder, config->patch_file, &config->patch_path, err));
        ret->config = config->variant == FLUX_SCAN_FOR_FILES ? NULL : config;
        return 0;
}

int flux_target_find(struct arena *arena, const struct tree *t, const char *path, bool generation,
                     struct flux_target *ret, struct error *err)
{
        struct flux_target target = { 0 };
        const char *file = NULL, *relative = FILE_NAME;
        bool is_file = false, is_config = false;
        int code;

        TRY(tree_join(t, arena, "", path, &target.path, err));
        TRY(find_folder(arena, t, &target, &is_file, &is_config, err));
        if (generation && is_config)
                file = target.path;
        if (generation && !is_file) {
                code = search(arena, t, target.folder, &file, &relative, err);
                if (code < 0)
                        return tree_wrap(err, code, "error finding a config file starting at path ", path);
        }
        if (file)
                TRY(load(arena, t, file, relative, &target, err));
        *ret = target;
        return 0;
}
