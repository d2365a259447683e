#include "hub-agent/git/git.h"

bool git_hash_is_none(const struct git_hash *h)
{
        return !h->hex[0];
}

bool git_hash_equal(const struct git_hash *a, const struct git_hash *b)
{
        return text_equal(a->hex, b->hex);
}

int git_hash_parse(const char *text, struct git_hash *ret, struct error *err)
{
        size_t n = strspn(text, "0123456789abcdefABCDEF");

        if (n != 40 || text[n])
                return error_set(err, ERR_INVALID, "'%.60s' is no hash of a commit: 40 hexadecimal digits",
                                 text);
        for (size_t i = 0; i <= n; i++)
                ret->hex[i] = (char)(text[i] >= 'A' && text[i] <= 'F' ? text[i] + 32 : text[i]);
        return 0;
}

const struct git_ref *git_refs_find(const struct git_refs *refs, const char *name)
{
        size_t low = 0, high = refs->n;

        while (low < high) {
                size_t middle = low + (high - low) / 2;
                int order = strcmp(refs->at[middle].name, name);

                if (order == 0)
                        return &refs->at[middle];
                if (order < 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        return NULL;
}

struct git_hash git_ref_commit(const struct git_ref *ref)
{
        return git_hash_is_none(&ref->peeled) ? ref->at : ref->peeled;
}
