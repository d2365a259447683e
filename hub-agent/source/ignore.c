#include "hub-agent/source/ignore.h"

#include "hub-agent/source/glob.h"

struct ignore_rule {
        struct ignore_rule *next;
        const char *folder;   /* it is about what is in there; "" = all */
        struct slice pattern; /* without what the next three say */
        bool kept;            /* written with !: not left out after all */
        bool folders;         /* written with / behind: folders, and what is in them */
        bool anchored;        /* written with / in it: a path from the folder on, else a name at any depth */
};

/* ---- reading ---- */

static int add(struct ignore_rules *r, struct ignore_rule rule, struct error *err)
{
        struct ignore_rule *new = ARENA_NEW(r->arena, struct ignore_rule);
        const char *text = arena_strndup(r->arena, rule.pattern.data, rule.pattern.len);

        if (!new || !text)
                return error_no_memory(err);
        if (++r->n > IGNORE_RULES_MAX)
                return error_set(err, ERR_LIMIT, "more than %d patterns of what is left out",
                                 IGNORE_RULES_MAX);
        rule.pattern.data = text;
        *new = rule;
        if (r->last)
                r->last->next = new;
        else
                r->first = new;
        r->last = new;
        return 0;
}

/* Blanks at the end do not count, unless a backslash stands before them. */
static struct slice trim_end(struct slice s)
{
        while (s.len &&
               (s.data[s.len - 1] == '\r' || s.data[s.len - 1] == '\t' || s.data[s.len - 1] == ' ')) {
                if (s.len > 1 && s.data[s.len - 1] == ' ' && s.data[s.len - 2] == '\\')
                        break;
                s.len--;
        }
        return s;
}

static int add_line(struct ignore_rules *r, const char *folder, struct slice line, struct error *err)
{
        struct ignore_rule rule = { .folder = folder, .pattern = trim_end(line) };
        struct slice *p = &rule.pattern;

        if (p->len == 0 || *p->data == '#')
                return 0;
        rule.kept = *p->data == '!';
        if (rule.kept)
                *p = (struct slice){ p->data + 1, p->len - 1 };
        rule.folders = p->len && p->data[p->len - 1] == '/';
        if (rule.folders)
                p->len--;
        rule.anchored = p->len && memchr(p->data, '/', p->len) != NULL;
        if (p->len && *p->data == '/')
                *p = (struct slice){ p->data + 1, p->len - 1 };
        return p->len ? add(r, rule, err) : 0;
}

int ignore_add(struct ignore_rules *r, const char *folder, struct slice text, struct error *err)
{
        const char *of = arena_strdup(r->arena, folder);
        struct slice line;
        bool more = true;

        if (!of)
                return error_no_memory(err);
        while (more) {
                more = slice_cut(&text, '\n', &line);
                TRY(add_line(r, of, line, err));
        }
        return 0;
}

int ignore_add_defaults(struct ignore_rules *r, bool more, struct error *err)
{
        static const char always[] = ".git/\n.gitignore\n.gitmodules\n.gitattributes\n";
        static const char unless_said[] =
                "*.jpg\n*.jpeg\n*.gif\n*.png\n*.wmv\n*.flv\n*.tar.gz\n*.zip\n"
                ".github/\n.circleci/"
                "\n.travis.yml\n.gitlab-ci.yml\nappveyor.yml\n.drone.yml\ncloudbuild.yaml\n"
                "codeship-services.yml\ncodeship-steps.yml\n**/.goreleaser.yml\n**/.sops.yaml\n**/"
                ".flux.yaml\n";

        TRY(ignore_add(r, "", slice_of(always), err));
        return more ? ignore_add(r, "", slice_of(unless_said), err) : 0;
}

void ignore_join(struct ignore_rules *r, const struct ignore_rules *more)
{
        if (!more->first)
                return;
        if (r->last)
                r->last->next = more->first;
        else
                r->first = more->first;
        r->last = more->last;
        r->n += more->n;
}

/* ---- judging ---- */

/* What of the path is in the folder; NULL data: it is not in there. */
static struct slice within(const char *folder, const char *path)
{
        size_t n = strlen(folder);

        if (n == 0)
                return slice_of(path);
        return strncmp(path, folder, n) == 0 && path[n] == '/' ? slice_of(path + n + 1) : (struct slice){ 0 };
}

/* A pattern of parts against the first parts of a path: how many it took is any number that fits, so each is
 * tried. `whole`: to its end; else to a folder on the way. */
static bool path_matches(struct slice pattern, struct slice path, bool whole, unsigned depth)
{
        struct slice head, name, rest = path;
        bool more = slice_cut(&pattern, '/', &head);

        if (slice_is(head, "**") && depth < 64) {
                if (!more)
                        return path.len > 0; /* whatever is below */
                for (bool parts = true; parts; parts = slice_cut(&rest, '/', &name))
                        if (path_matches(pattern, rest, whole, depth + 1))
                                return true;
                return false;
        }
        if (path.len == 0)
                return false;
        bool deeper = slice_cut(&rest, '/', &name);

        if (!glob_matches(head, name))
                return false;
        if (more)
                return deeper && path_matches(pattern, rest, whole, depth);
        return whole ? !deeper : deeper;
}

/* Whether a part of the path has the name: the last one, or a folder on the way. */
static bool name_matches(struct slice pattern, struct slice path, bool last_too)
{
        struct slice name;
        bool more = true;

        while (more) {
                more = slice_cut(&path, '/', &name);
                if ((more || last_too) && glob_matches(pattern, name))
                        return true;
        }
        return false;
}

static bool is_about(const struct ignore_rule *rule, const char *path, bool is_folder)
{
        struct slice below = within(rule->folder, path);
        bool last_too = is_folder || !rule->folders;

        if (!below.data)
                return false;
        if (!rule->anchored)
                return name_matches(rule->pattern, below, last_too);
        return path_matches(rule->pattern, below, false, 0) ||
               (last_too && path_matches(rule->pattern, below, true, 0));
}

bool ignore_has(const struct ignore_rules *r, const char *path, bool is_folder)
{
        bool has = false;

        for (const struct ignore_rule *rule = r->first; rule; rule = rule->next)
                if (is_about(rule, path, is_folder))
                        has = !rule->kept;
        return has;
}
