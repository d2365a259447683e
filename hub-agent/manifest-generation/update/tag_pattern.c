/* Which tags count, and which of two is newer by what. */
#include "common/base/semver.h"
#include "common/json/regex.h"
#include "hub-agent/manifest-generation/update/policy.h"
#include "hub-agent/manifest-generation/update/words.h"

struct tag_pattern {
        const char *text; /* as written */
        const char *glob; /* one of the three */
        const struct semver_range *range;
        const struct regex *regex;
};

const struct tag_pattern tag_pattern_any = { .text = "glob:*", .glob = "*" };

/* A star that took too little takes one byte more: only the last one needs to be tried again. */
bool star_glob_matches(const char *pattern, const char *text)
{
        const char *behind_star = NULL, *at_star = NULL;

        while (*text || *pattern) {
                if (*pattern == '*') {
                        behind_star = ++pattern;
                        at_star = text;
                } else if (*pattern && *pattern == *text) {
                        pattern++;
                        text++;
                } else if (behind_star && *at_star) {
                        pattern = behind_star;
                        text = ++at_star;
                } else {
                        return false;
                }
        }
        return true;
}

static bool cut_prefix(const char *text, const char *prefix, const char **ret)
{
        if (!text_starts_with(text, prefix))
                return false;
        *ret = text + strlen(prefix);
        return true;
}

static int read_into(struct arena *arena, const char *text, struct tag_pattern *p, struct error *err)
{
        const char *rest;

        if (cut_prefix(text, "semver:", &rest))
                return semver_range_parse(arena, slice_of(rest), &p->range, err);
        if (cut_prefix(text, "regexp:", &rest) || cut_prefix(text, "regex:", &rest))
                return regex_compile(arena, slice_of(rest), &p->regex, err);
        p->glob = cut_prefix(text, "glob:", &rest) ? rest : text;
        return 0;
}

static int is_none(struct arena *arena, const char *text, struct error *err)
{
        const char *quoted = words_quote(arena, text);

        return quoted ? error_set(err, ERR_INVALID, "invalid tag pattern: %s", quoted) : error_no_memory(err);
}

int tag_pattern_parse(struct arena *arena, const char *text, const struct tag_pattern **ret,
                      struct error *err)
{
        struct tag_pattern *p = ARENA_NEW(arena, struct tag_pattern);
        const char *own = arena_strdup(arena, text); /* what is parsed borrows it */
        int code;

        if (!p || !own)
                return error_no_memory(err);
        if (strlen(text) > POLICY_VALUE_MAX)
                return error_set(err, ERR_LIMIT, "a tag pattern has more than %d bytes", POLICY_VALUE_MAX);
        p->text = own;
        code = read_into(arena, own, p, err);
        if (code == ERR_NO_MEMORY)
                return code;
        if (code < 0)
                return is_none(arena, text, err);
        *ret = p;
        return 0;
}

int tag_pattern_has(const struct tag_pattern *p, const char *tag)
{
        struct semver v;

        if (strcasecmp(tag, "latest") == 0)
                return p->glob && strcmp(p->glob, "latest") == 0 && strcmp(tag, "latest") == 0;
        if (p->glob)
                return star_glob_matches(p->glob, tag);
        if (p->range)
                return semver_parse(slice_of(tag), &v) == 0 && semver_range_has(p->range, &v);
        return regex_test(p->regex, slice_of(tag));
}

enum tag_order tag_pattern_order(const struct tag_pattern *p)
{
        return p->range ? TAG_BY_VERSION : TAG_BY_TIME;
}

const char *tag_pattern_text(const struct tag_pattern *p)
{
        return p->text;
}
