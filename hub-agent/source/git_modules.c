#include "hub-agent/source/git_modules.h"

#include <strings.h>

static int cannot_be_read(struct error *err)
{
        return error_set(err, ERR_INVALID, ".gitmodules cannot be read");
}

static bool key_is(struct slice key, const char *name)
{
        return key.len == strlen(name) && strncasecmp(key.data, name, key.len) == 0;
}

/* Quotes go, a backslash takes the next character as it is, a comment ends it. */
static const char *value_of(struct slice text, struct arena *arena)
{
        char *value = arena_alloc(arena, text.len + 1);
        bool quoted = false;
        size_t n = 0, kept = 0; /* kept: blanks at the end are none, unless quoted */

        for (size_t i = 0; value && i < text.len; i++) {
                char c = text.data[i];

                if (!quoted && (c == '#' || c == ';'))
                        break;
                if (c == '"') {
                        quoted = !quoted;
                        continue;
                }
                if (c == '\\' && i + 1 < text.len)
                        c = text.data[++i];
                value[n++] = c;
                if (quoted || (c != ' ' && c != '\t'))
                        kept = n;
        }
        if (value)
                value[kept] = '\0';
        return value;
}

static int take_value(struct git_module *m, struct slice line, struct arena *arena, struct error *err)
{
        struct slice key;

        if (!slice_cut(&line, '=', &key))
                return 0; /* a key alone is true, which none of these is */
        key = slice_trim(key);
        const char **into = key_is(key, "path") ? &m->path : key_is(key, "url") ? &m->url : NULL;

        if (!into)
                return 0;
        *into = value_of(slice_trim(line), arena);
        return *into ? 0 : error_no_memory(err);
}

int git_modules_parse(struct slice text, struct arena *arena, struct git_modules *ret, struct error *err)
{
        struct git_modules m = { .at = ARENA_NEW_ARRAY(arena, struct git_module, GIT_MODULES_MAX) };
        struct git_module *now = NULL;
        struct slice line;
        bool more = true;

        if (!m.at)
                return error_no_memory(err);
        if (memchr(text.data, '\0', text.len))
                return cannot_be_read(err);
        while (more) {
                more = slice_cut(&text, '\n', &line);
                line = slice_trim(line);
                if (line.len == 0 || *line.data == '#' || *line.data == ';')
                        continue;
                if (*line.data == '[') {
                        bool is = slice_starts_with(line, "[submodule ");

                        if (is && m.n == GIT_MODULES_MAX)
                                return error_set(err, ERR_LIMIT, "more than %d submodules", GIT_MODULES_MAX);
                        now = is ? &m.at[m.n++] : NULL;
                } else if (now) {
                        TRY(take_value(now, line, arena, err));
                }
        }
        *ret = m;
        return 0;
}

const char *git_modules_url(const struct git_modules *m, const char *path)
{
        for (size_t i = 0; i < m->n; i++)
                if (text_equal(m->at[i].path, path))
                        return text_empty(m->at[i].url) ? NULL : m->at[i].url;
        return NULL;
}
