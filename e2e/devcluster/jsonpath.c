#include "e2e/devcluster/jsonpath.h"

#define KEY_MAX 256

struct path {
        const char *at;
        bool bad;
};

/* Reads a name up to . or [; a backslash takes the next byte as it is. */
static void read_name(struct path *p, char *key)
{
        size_t n = 0;
        while (*p->at && *p->at != '.' && *p->at != '[' && *p->at != '=' && *p->at != '!' && *p->at != ' ' &&
               *p->at != ')' && *p->at != '<' && *p->at != '>') {
                if (*p->at == '\\' && p->at[1])
                        p->at++;
                if (n + 1 < KEY_MAX)
                        key[n++] = *p->at;
                p->at++;
        }
        key[n] = '\0';
}

static void read_quoted(struct path *p, char *key)
{
        char quote = *p->at++;
        size_t n = 0;
        while (*p->at && *p->at != quote) {
                if (*p->at == '\\' && p->at[1])
                        p->at++;
                if (n + 1 < KEY_MAX)
                        key[n++] = *p->at;
                p->at++;
        }
        key[n] = '\0';
        p->bad |= *p->at != quote;
        if (*p->at)
                p->at++;
}

static void skip_spaces(struct path *p)
{
        while (*p->at == ' ')
                p->at++;
}

static bool literal_equals(const json_t *v, const char *literal)
{
        char text[64];
        if (json_is_string(v))
                return strcmp(json_string_value(v), literal) == 0;
        if (json_is_boolean(v))
                return strcmp(json_is_true(v) ? "true" : "false", literal) == 0;
        if (!json_is_integer(v))
                return false;
        snprintf(text, sizeof(text), "%lld", (long long)json_integer_value(v));
        return strcmp(text, literal) == 0;
}

static const json_t *walk(const json_t *doc, struct path *p);

struct filter {
        const char *path; /* behind @ */
        char literal[KEY_MAX];
        bool compare, negate;
};

/* [?(@.a.b=="c")]: p stands behind "[?(". */
static void read_filter(struct path *p, struct filter *f)
{
        p->bad |= *p->at != '@';
        f->path = ++p->at;
        char key[KEY_MAX];
        while (*p->at == '.') {
                p->at++;
                read_name(p, key);
        }
        skip_spaces(p);
        if (p->at[0] && p->at[1] == '=' && (p->at[0] == '=' || p->at[0] == '!')) {
                f->compare = true;
                f->negate = p->at[0] == '!';
                p->at += 2;
                skip_spaces(p);
                if (*p->at == '"' || *p->at == '\'')
                        read_quoted(p, f->literal);
                else
                        read_name(p, f->literal);
        }
        skip_spaces(p);
        p->bad |= p->at[0] != ')' || p->at[1] != ']';
        if (!p->bad)
                p->at += 2;
}

static bool filter_takes(const struct filter *f, const json_t *item)
{
        struct path p = { .at = f->path };
        char key[KEY_MAX];
        while (*p.at == '.' && item) {
                p.at++;
                read_name(&p, key);
                item = json_object_get(item, key);
        }
        if (!item)
                return false;
        return !f->compare || literal_equals(item, f->literal) != f->negate;
}

/* Continues behind each item that a bracket selects, until one leads to a value. */
static const json_t *walk_items(const json_t *list, struct path *p, const struct filter *f)
{
        size_t i;
        json_t *item;
        const json_t *found = NULL;
        struct path behind = *p;
        json_array_foreach((json_t *)list, i, item) {
                struct path q = *p;
                if (!found && (!f || filter_takes(f, item)))
                        found = walk(item, &q);
        }
        while (*behind.at) /* the rest was walked by the items */
                behind.at++;
        *p = behind;
        return found;
}

static const json_t *walk_bracket(const json_t *doc, struct path *p)
{
        char key[KEY_MAX];
        if (*p->at == '\'' || *p->at == '"') {
                read_quoted(p, key);
                p->bad |= *p->at != ']';
                p->at += *p->at == ']';
                return json_object_get(doc, key);
        }
        if (strncmp(p->at, "?(", 2) == 0) {
                struct filter f = { 0 };
                p->at += 2;
                read_filter(p, &f);
                return p->bad ? NULL : walk_items(doc, p, &f);
        }
        if (strncmp(p->at, "*]", 2) == 0) {
                p->at += 2;
                return walk_items(doc, p, NULL);
        }
        size_t n = 0;
        while (n + 1 < KEY_MAX && ((*p->at >= '0' && *p->at <= '9') || *p->at == '-'))
                key[n++] = *p->at++;
        key[n] = '\0';
        int64_t i;
        p->bad |= *p->at != ']' || !text_parse_i64(key, &i);
        if (p->bad)
                return NULL;
        p->at++;
        if (i < 0)
                i += (int64_t)json_array_size(doc);
        return i < 0 ? NULL : json_array_get(doc, (size_t)i);
}

static const json_t *walk(const json_t *doc, struct path *p)
{
        char key[KEY_MAX];
        while (*p->at && !p->bad) {
                if (*p->at == '[') {
                        p->at++;
                        doc = walk_bracket(doc, p);
                } else if (*p->at == '.') {
                        p->at++;
                        read_name(p, key);
                        if (*key && strcmp(key, "*") != 0)
                                doc = json_object_get(doc, key);
                } else {
                        p->bad = true;
                }
        }
        return doc;
}

int jsonpath_first(const json_t *doc, const char *path, const json_t **ret)
{
        struct path p = { .at = path };
        const json_t *v = walk(doc, &p);
        if (p.bad)
                return ERR_INVALID;
        *ret = v;
        return 0;
}

int jsonpath_check(const char *path, struct error *err)
{
        const json_t *unused;
        if (jsonpath_first(NULL, path, &unused) < 0)
                return error_set(err, ERR_INVALID, "\"%s\" is not a JSON path this server can read", path);
        return 0;
}
