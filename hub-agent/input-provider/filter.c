#include "hub-agent/input-provider/filter.h"

#include <stdlib.h>

#include "common/base/memory.h"

/* ---- making ---- */

static int compile(const char *pattern, const char *field, struct arena *arena, const struct regex **ret,
                   struct error *err)
{
        if (text_empty(pattern))
                return 0;
        int code = regex_compile(arena, slice_of(pattern), ret, err);

        if (code < 0)
                error_wrap(err, "invalid %s regex", field);
        return code;
}

/* The most particular one that is written is in force. */
static int compile_one(const char *const pattern[3], const char *const field[3], struct arena *arena,
                       const struct regex **ret, struct error *err)
{
        for (size_t i = 0; i < 3; i++)
                if (!text_empty(pattern[i]))
                        return compile(pattern[i], field[i], arena, ret, err);
        return 0;
}

int filter_make(const struct filter_texts *t, struct arena *arena, struct filter *ret, struct error *err)
{
        const char *const include[] = { t->include_environment, t->include_tag, t->include_branch };
        const char *const exclude[] = { t->exclude_environment, t->exclude_tag, t->exclude_branch };
        struct filter f = { .labels = t->labels,
                            .n_labels = t->n_labels,
                            .limit = t->limit > 0 ? (size_t)MIN(t->limit, FILTER_LIMIT_MAX)
                                                  : FILTER_LIMIT_DEFAULT };

        TRY(compile_one(include, (const char *[]){ "includeEnvironment", "includeTag", "includeBranch" },
                        arena, &f.include, err));
        TRY(compile_one(exclude, (const char *[]){ "excludeEnvironment", "excludeTag", "excludeBranch" },
                        arena, &f.exclude, err));
        if (!text_empty(t->semver)) {
                int code = semver_range_parse(arena, slice_of(t->semver), &f.range, err);

                if (code < 0) {
                        error_wrap(err, "invalid semver expression");
                        return code;
                }
        }
        *ret = f;
        return 0;
}

/* ---- asking ---- */

int filter_takes_name(const struct filter *f, const char *name)
{
        int included = f->include ? regex_test(f->include, slice_of(name)) : 1;

        if (included <= 0 || !f->exclude)
                return included;
        int excluded = regex_test(f->exclude, slice_of(name));

        return excluded < 0 ? excluded : !excluded;
}

bool filter_takes_labels(const struct filter *f, const struct input_ref *r)
{
        for (size_t i = 0; i < f->n_labels; i++)
                if (!input_ref_has_label(r, f->labels[i]))
                        return false;
        return true;
}

bool filter_skips(const char *const *skip, size_t n_skip, const struct input_ref *r)
{
        for (size_t i = 0; i < n_skip; i++) {
                bool negated = skip[i][0] == '!';

                if (input_ref_has_label(r, skip[i] + negated) != negated)
                        return true;
        }
        return false;
}

/* ---- tags ---- */

struct tag {
        struct input_ref ref;
        struct semver version;
        size_t place; /* in the service's order */
};

static bool has_two_dots(const char *text)
{
        const char *dot = strchr(text, '.');

        return dot && strchr(dot + 1, '.');
}

static bool version_of(const struct filter *f, const char *name, struct semver *ret)
{
        return has_two_dots(name) && semver_parse(slice_of(name), ret) == 0 &&
               semver_range_has(f->range, ret);
}

static int by_version(const void *a, const void *b)
{
        const struct tag *x = a, *y = b;
        int c = semver_compare(&y->version, &x->version);

        return c != 0 ? c : (x->place > y->place) - (x->place < y->place);
}

static int by_bytes(const void *a, const void *b)
{
        const struct tag *x = a, *y = b;
        int c = strcmp(y->ref.tag, x->ref.tag);

        return c != 0 ? c : (x->place > y->place) - (x->place < y->place);
}

int filter_best_tags(const struct filter *f, struct input_ref *at, size_t *n)
{
        AUTO_FREE struct tag *tags = mem_calloc(*n + 1, sizeof(*tags));
        size_t kept = 0;

        if (!tags)
                return ERR_NO_MEMORY;
        for (size_t i = 0; i < *n; i++) {
                struct tag *t = &tags[kept];

                t->ref = at[i];
                t->place = i;
                kept += !f->range || version_of(f, at[i].tag, &t->version);
        }
        qsort(tags, kept, sizeof(*tags), f->range ? by_version : by_bytes);
        *n = MIN(kept, f->limit);
        for (size_t i = 0; i < *n; i++)
                at[i] = tags[i].ref;
        return 0;
}
