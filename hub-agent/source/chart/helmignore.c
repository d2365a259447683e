#include "hub-agent/source/chart/helmignore.h"

#include "hub-agent/source/glob.h"

#define HIDDEN_TEMPLATES "templates/.?*"

static size_t count_lines(struct slice text)
{
        size_t n = 1;

        for (size_t i = 0; i < text.len; i++)
                n += text.data[i] == '\n';
        return n;
}

static int add_rule(struct helmignore *h, struct slice line, struct error *err)
{
        struct helmignore_rule r = { 0 };

        if (line.len == 0 || line.data[0] == '#')
                return 0;
        if (memmem(line.data, line.len, "**", 2))
                return error_set(err, ERR_INVALID, "double-star (**) syntax is not supported");
        r.negated = line.data[0] == '!';
        if (r.negated)
                line = (struct slice){ line.data + 1, line.len - 1 };
        r.folders_only = line.len && line.data[line.len - 1] == '/';
        if (r.folders_only)
                line.len--;
        if (line.len && line.data[0] == '/') {
                r.whole_path = true;
                line = (struct slice){ line.data + 1, line.len - 1 };
        }
        r.whole_path |= memchr(line.data, '/', line.len) != NULL;
        r.pattern = line;
        h->at[h->n++] = r;
        return 0;
}

int helmignore_parse(struct arena *arena, struct slice text, struct helmignore *ret, struct error *err)
{
        struct slice line;

        *ret = (struct helmignore){ ARENA_NEW_ARRAY(arena, struct helmignore_rule, count_lines(text) + 1),
                                    0 };
        if (!ret->at)
                return error_no_memory(err);
        while (text.len) {
                slice_cut(&text, '\n', &line);
                TRY(add_rule(ret, slice_trim(line), err));
        }
        return add_rule(ret, SLICE(HIDDEN_TEMPLATES), err);
}

/* No star, question mark or bracket is a slash: paths are compared element by element. */
static bool path_matches(struct slice pattern, struct slice path)
{
        struct slice p, e;

        while (pattern.len && path.len) {
                bool more_pattern = slice_cut(&pattern, '/', &p), more_path = slice_cut(&path, '/', &e);

                if (!glob_matches(p, e) || more_pattern != more_path)
                        return false;
        }
        return !pattern.len && !path.len;
}

static bool rule_matches(const struct helmignore_rule *r, struct slice path)
{
        const char *slash;

        if (r->whole_path)
                return path_matches(r->pattern, path);
        slash = memrchr(path.data, '/', path.len);
        if (slash)
                path = (struct slice){ slash + 1, path.len - (size_t)(slash + 1 - path.data) };
        return glob_matches(r->pattern, path);
}

/* The first rule that decides does. */
static bool is_ignored(const struct helmignore *h, struct slice path, bool is_folder)
{
        for (size_t i = 0; i < h->n; i++) {
                const struct helmignore_rule *r = &h->at[i];

                if (r->negated) {
                        if ((r->folders_only && !is_folder) || !rule_matches(r, path))
                                return true;
                } else if ((!r->folders_only || is_folder) && rule_matches(r, path)) {
                        return true;
                }
        }
        return false;
}

bool helmignore_has(const struct helmignore *h, const char *path)
{
        for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/'))
                if (is_ignored(h, (struct slice){ path, (size_t)(slash - path) }, true))
                        return true;
        return is_ignored(h, slice_of(path), false);
}
