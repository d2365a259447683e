#include "hub-agent/source/index/select.h"

static bool is_better(const struct chart_version *a, const struct semver *v, const struct chart_version *best,
                      const struct semver *best_v)
{
        int c = best ? semver_compare(v, best_v) : 1;

        return c > 0 || (c == 0 && a->created_ms > best->created_ms);
}

int select_version(const struct chart_version *at, size_t n, const char *wanted,
                   const struct chart_version **ret, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const char *text = *wanted ? wanted : "*";
        const struct chart_version *best = NULL;
        const struct semver_range *range;
        struct semver v, best_v = { 0 };

        for (size_t i = 0; i < n; i++)
                if (text_equal(at[i].version, text)) {
                        *ret = &at[i];
                        return 0;
                }
        TRY(semver_range_parse(&arena, slice_of(text), &range, err));
        for (size_t i = 0; i < n; i++)
                if (semver_parse(slice_of(at[i].version), &v) == 0 && v.n_written == ARRAY_LEN(v.number) &&
                    semver_range_has(range, &v) && is_better(&at[i], &v, best, &best_v)) {
                        best = &at[i];
                        best_v = v;
                }
        if (!best)
                return error_set(err, ERR_NOT_FOUND, "no version matching '%s'", text);
        *ret = best;
        return 0;
}
