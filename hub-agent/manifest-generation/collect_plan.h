/* What is deleted because it is not in the repository any more. spec/flux-yaml.md 7.3. Pure. */
#pragma once

#include "common/base/map.h"
#include "common/base/timefmt.h"
#include "hub-agent/manifest-generation/sync_plan.h"

/* An object of the hub that carries a mark; borrowed. */
struct collect_object {
        const char *identity;
        const char *ns, *kind, *name;         /* ns NULL = cluster scope */
        const char *mark, *checksum, *ignore; /* NULL = none */
        bool owned;                           /* it has owners, which take it with them */
};

enum collect_fate {
        COLLECT_DELETE,
        COLLECT_FOREIGN,  /* another set's, or the mark came with a copy of somebody's labels */
        COLLECT_OUTSIDE,  /* of the namespaces that are allowed */
        COLLECT_OWNED,    /* its owner goes first */
        COLLECT_WANTED,   /* it is in the repository */
        COLLECT_OUTDATED, /* so, but what is there is another version */
        COLLECT_IGNORED,  /* it says so itself */
};
/* `wanted`: of each identity in the repository the checksum (const char *); "" where it was not applied. */
enum collect_fate collect_fate_of(const char *set_name, const struct map *wanted, const struct sync_rules *r,
                                  const struct collect_object *o);
/* In reverse order of applying. */
void collect_sort(const struct collect_object **objects, size_t n);

/* ---- holds ---- */

/* A pipeline whose first part failed succeeds with nothing: what a target path suddenly lacks is not deleted
 * before somebody says so. */
#define COLLECT_FEWER 10 /* fewer than half, and at least so many fewer */

struct path_record {
        bool known, held;
        size_t objects;    /* at the last sync */
        size_t before;     /* held: before that */
        char revision[41]; /* held: the commit that made them so few */
        int64_t since_ms;  /* held: wall time since when they are so few, or fewer than that; 0 = not known */
};
/* What a sync found. */
struct path_found {
        size_t objects;
        const char *revision; /* of what commit */
        int64_t now_ms;       /* wall time */
        int64_t confirmed_ms; /* when somebody asked to go on; TIME_NONE = nobody did */
};
/* Takes it. Whether collection is held. A hold ends when the objects are back, when another commit makes them
 * others, or when somebody confirms: who asked before they were so few meant something else. */
bool path_record_take(struct path_record *p, const struct path_found *f);
/* {"objects", "held", "before", "revision", "since"}; what is no record is not known. */
json_t *path_record_write(const struct path_record *p); /* new; NULL on no memory */
void path_record_read(const json_t *doc, struct path_record *ret);
