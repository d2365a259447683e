/* Differences between a manifest and the live object, as users see them: spec/member-agent.md 2.11. */
#pragma once

#include "common/json/doc.h"

#define COMPARE_MAX_DETAILS 100
#define COMPARE_REDACTED "(redacted for security reasons)"

/* One operation from hub to member; values are "" where the path is missing on that side. */
struct difference {
        const char *path, *hub, *member;
};
struct differences {
        struct difference at[COMPARE_MAX_DETAILS];
        size_t n;     /* kept */
        size_t total; /* found */
};

/* Compares cleaned copies of both documents. Objects depth first with keys in byte order; arrays by index:
 * surplus elements of the source first, then common indexes, then additions. Strings live in the arena. */
int compare_documents(const json_t *source, const json_t *target, struct arena *arena,
                      struct differences *ret, struct error *err);
/* The value as Go's %v prints it; whole numbers always as plain decimals. */
int compare_render_value(const json_t *value, struct buf *b);
