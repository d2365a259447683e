/* What of a chart's folder is left out, as .helmignore says it. Pure. spec/helm-chart.md 6.2. */
#pragma once

#include "common/base/arena.h"
#include "common/base/text.h"

struct helmignore_rule {
        struct slice pattern; /* without its marks */
        bool negated;         /* what does not match is left out */
        bool folders_only, whole_path;
};
struct helmignore {
        struct helmignore_rule *at;
        size_t n;
};

/* The rules of a text (empty if there is no such file), with the one that always holds behind them. The
 * patterns borrow from the text. ERR_INVALID: what is not understood; ERR_NO_MEMORY. */
int helmignore_parse(struct arena *arena, struct slice text, struct helmignore *ret, struct error *err);
/* Of a file's path, relative to the chart: for itself, or with a folder it is in. */
bool helmignore_has(const struct helmignore *h, const char *path);
