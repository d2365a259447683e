#include "hub-agent/registry/challenge.h"

#include <strings.h>

static bool is_token_letter(char c)
{
        return c > ' ' && c < 0x7f && !strchr("()<>@,;:\\\"/[]?={}", c);
}

static struct slice take_word(const char **at)
{
        struct slice word = { *at, 0 };

        while (is_token_letter(word.data[word.len]))
                word.len++;
        *at += word.len;
        return word;
}

static bool is_word(struct slice word, const char *wanted)
{
        return word.len == strlen(wanted) && strncasecmp(word.data, wanted, word.len) == 0;
}

/* A text in quotes, in which a backslash stands before what is meant as it is; NULL in *ret: it has no end.
 */
static int take_quoted(const char **at, struct arena *arena, const char **ret, struct error *err)
{
        char *text = arena_alloc(arena, strlen(*at) + 1);
        const char *p = *at + 1;
        size_t n = 0;

        *ret = NULL;
        if (!text)
                return error_no_memory(err);
        for (; *p && *p != '"'; p++) {
                if (*p == '\\' && p[1])
                        p++;
                text[n++] = *p;
        }
        text[n] = 0;
        if (*p)
                *ret = text;
        *at = *p ? p + 1 : p;
        return 0;
}

static int take_value(const char **at, struct arena *arena, const char **ret, struct error *err)
{
        const char *begin = *at;

        if (*begin == '"')
                return take_quoted(at, arena, ret, err);
        *at += strcspn(begin, " \t,");
        *ret = arena_strndup(arena, begin, (size_t)(*at - begin));
        return *ret ? 0 : error_no_memory(err);
}

static void put(struct challenge *c, struct slice key, const char *value)
{
        if (is_word(key, "realm"))
                c->realm = value;
        else if (is_word(key, "service"))
                c->service = value;
        else if (is_word(key, "scope"))
                c->scope = value;
}

/* A word with "=" behind it is a parameter of the scheme before, any other the next scheme. */
static int look_into(const char *at, const char *scheme, struct arena *arena, struct challenge *ret,
                     bool *ret_found, struct error *err)
{
        for (;;) {
                struct slice word;
                const char *value;

                at += strspn(at, " \t,");
                word = take_word(&at);
                if (word.len == 0)
                        return 0;
                if (*at != '=') {
                        if (*ret_found)
                                return 0;
                        *ret_found = is_word(word, scheme);
                        continue;
                }
                at++;
                TRY(take_value(&at, arena, &value, err));
                if (!value)
                        return 0;
                if (*ret_found)
                        put(ret, word, value);
        }
}

int challenge_find(const struct http_headers *h, const char *scheme, struct arena *arena,
                   struct challenge *ret, bool *ret_found, struct error *err)
{
        *ret = (struct challenge){ 0 };
        *ret_found = false;
        for (size_t i = 0; i < h->n && !*ret_found; i++)
                if (strcasecmp(h->at[i].name, "WWW-Authenticate") == 0)
                        TRY(look_into(h->at[i].value, scheme, arena, ret, ret_found, err));
        return 0;
}
