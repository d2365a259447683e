/* What of a source is left out, as .gitignore says it. Pure. spec/helm-chart.md 12.1 step 5. */
#pragma once

#include "common/base/arena.h"
#include "common/base/text.h"

struct ignore_rules {
        struct arena *arena;
        struct ignore_rule *first, *last;
        size_t n;
};

#define IGNORE_RULES_MAX 10000

/* Lines of a file, of the folder it stands in ("" = the topmost): what they name is below it. Blank lines and
 * those that begin with # are passed over. ERR_LIMIT, ERR_NO_MEMORY. */
int ignore_add(struct ignore_rules *r, const char *folder, struct slice text, struct error *err);
/* What is never in an archive of a Git repository; `more`: and what is not, unless somebody says what is. */
int ignore_add_defaults(struct ignore_rules *r, bool more, struct error *err);
/* Those of `more` stand behind, of the same arena. */
void ignore_join(struct ignore_rules *r, const struct ignore_rules *more);
/* Of a path below the topmost folder. The last rule that is about it, or about a folder it is in, decides: so
 * what is in a folder that is left out may be kept, which Git itself does not do. */
bool ignore_has(const struct ignore_rules *r, const char *path, bool is_folder);
