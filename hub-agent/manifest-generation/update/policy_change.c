/* What a request wants of policies. */
#include "hub-agent/manifest-generation/update/policy.h"
#include "hub-agent/manifest-generation/update/words.h"

#define KNOWN_POLICIES                                                                                       \
        "must be automated, locked, ignore, locked_user, locked_msg, tag_all or tag.<container>"

struct reading {
        struct arena *arena;
        struct policy_change *at;
        size_t n, n_added;
        const char *field;
        size_t line;
        struct error *err;
};

static bool is_boolean(const char *name)
{
        static const char *const booleans[] = { POLICY_AUTOMATED, POLICY_LOCKED, POLICY_IGNORE };

        return text_in(name, booleans, ARRAY_LEN(booleans));
}

static bool is_tag(const char *name)
{
        return text_starts_with(name, POLICY_TAG_PREFIX) || strcmp(name, POLICY_TAG_ALL) == 0;
}

static bool is_policy(const char *name)
{
        static const char *const others[] = { POLICY_LOCKED_USER, POLICY_LOCKED_MESSAGE, POLICY_TAG_ALL };

        if (is_boolean(name) || text_in(name, others, ARRAY_LEN(others)))
                return true;
        return text_starts_with(name, POLICY_TAG_PREFIX) && text_is_label_key(name) && !strchr(name, '/');
}

/* The error is of this line. */
static int wrong(const struct reading *r, int code)
{
        return code == ERR_NO_MEMORY ? code : error_wrap(r->err, "data.%s: line %zu", r->field, r->line);
}

static int check_value(const struct reading *r, const struct policy_change *c)
{
        const struct tag_pattern *pattern;

        if (is_tag(c->name))
                return tag_pattern_parse(r->arena, c->value, &pattern, r->err);
        if (strlen(c->value) > POLICY_VALUE_MAX)
                return error_set(r->err, ERR_LIMIT, "the value of %s has more than %d bytes", c->name,
                                 POLICY_VALUE_MAX);
        if (!is_boolean(c->name) || strcmp(c->value, "true") == 0 || strcmp(c->value, "false") == 0)
                return 0;
        if (strcmp(c->name, POLICY_IGNORE) != 0)
                return error_set(r->err, ERR_INVALID, "the value of %s must be true or false", c->name);
        if (strcmp(c->value, "sync_only") == 0)
                return 0;
        return error_set(r->err, ERR_INVALID, "the value of %s must be true, sync_only or false", c->name);
}

static int check_name(const struct reading *r, const char *name)
{
        const char *quoted = words_quote(r->arena, name);

        if (!quoted)
                return error_no_memory(r->err);
        if (!is_policy(name))
                return error_set(r->err, ERR_INVALID, "unknown policy %s: " KNOWN_POLICIES, quoted);
        for (size_t i = 0; i < r->n; i++)
                if (strcmp(r->at[i].name, name) == 0)
                        return error_set(r->err, ERR_INVALID, "policy %s is named before%s", quoted,
                                         i < r->n_added && r->n_added != r->n ? ", in data.add" : "");
        return 0;
}

static int take_added(struct reading *r, struct slice line)
{
        struct slice rest = line, name;
        bool has_value = slice_cut(&rest, '=', &name);
        struct policy_change c = { words_slice(r->arena, slice_trim(name)), "true" };

        if (has_value)
                c.value = words_slice(r->arena, slice_trim(rest));
        if (!c.name || !c.value)
                return error_no_memory(r->err);
        TRY(check_name(r, c.name));
        if (!has_value && !is_boolean(c.name))
                return error_set(r->err, ERR_INVALID, "policy %s needs a value: %s=...", c.name, c.name);
        TRY(check_value(r, &c));
        r->at[r->n++] = c;
        return 0;
}

static int take_removed(struct reading *r, struct slice line)
{
        struct slice rest = line, name;
        const char *text;

        slice_cut(&rest, '=', &name);
        text = words_slice(r->arena, slice_trim(name));
        if (!text)
                return error_no_memory(r->err);
        TRY(check_name(r, text));
        r->at[r->n++] = (struct policy_change){ text, NULL };
        return 0;
}

static int take_lines(struct reading *r, const char *field, const char *text,
                      int (*take)(struct reading *, struct slice))
{
        struct words_lines lines = words_lines_of(text);
        struct slice line;

        r->field = field;
        while (words_next_line(&lines, &line)) {
                int code;

                r->line = lines.line;
                code = take(r, line);
                if (code < 0)
                        return wrong(r, code);
        }
        return 0;
}

int policy_changes_read(struct arena *arena, const char *add, const char *remove, struct policy_changes *ret,
                        struct error *err)
{
        size_t most = words_count_lines(add) + words_count_lines(remove);
        struct reading r = { .arena = arena, .err = err };

        if (most > POLICIES_MAX)
                return error_set(err, ERR_LIMIT, "data.add and data.remove have more than %d lines",
                                 POLICIES_MAX);
        r.at = ARENA_NEW_ARRAY(arena, struct policy_change, most + 1);
        if (!r.at)
                return error_no_memory(err);
        TRY(take_lines(&r, "add", add, take_added));
        r.n_added = r.n;
        TRY(take_lines(&r, "remove", remove, take_removed));
        *ret = (struct policy_changes){ r.at, r.n };
        return 0;
}

static const struct policy_change *find(const struct policy_changes *c, const char *name)
{
        for (size_t i = 0; i < c->n; i++)
                if (strcmp(c->at[i].name, name) == 0)
                        return &c->at[i];
        return NULL;
}

static bool is_true(const struct policy_change *c)
{
        return c->value && strcmp(c->value, "true") == 0;
}

int policy_changes_complete(struct arena *arena, const char *user, const char *message,
                            struct policy_changes *c, struct error *err)
{
        const struct policy_change *lock = find(c, POLICY_LOCKED);
        struct policy_change more[] = { { POLICY_LOCKED_USER, text_empty(user) ? NULL : user },
                                        { POLICY_LOCKED_MESSAGE, text_empty(message) ? NULL : message } };
        struct policy_change *at;
        size_t n = c->n;

        if (!lock)
                return 0;
        at = ARENA_NEW_ARRAY(arena, struct policy_change, n + ARRAY_LEN(more));
        if (!at)
                return error_no_memory(err);
        memcpy(at, c->at, n * sizeof(*at));
        for (size_t i = 0; i < ARRAY_LEN(more); i++) {
                if (!is_true(lock))
                        more[i].value = NULL;
                if (!find(c, more[i].name))
                        at[n++] = more[i];
        }
        *c = (struct policy_changes){ at, n };
        return 0;
}
