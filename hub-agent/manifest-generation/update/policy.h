/* Policies of workloads: annotations that say which images may be released, and by whom. spec/flux-yaml.md
 * 9.1. Pure; all results live in the arena and may borrow from what was given.
 *
 * An annotation is read under three prefixes: fluxcd.io/automated, flux.weave.works/automated, and for tag
 * patterns filter.fluxcd.io/CONTAINER, the same as fluxcd.io/tag.CONTAINER. Where several are there the first
 * of them counts. A change goes to the one that is there, a removal to all of them. */
#pragma once

#include "common/json/doc.h"

#define POLICY_AUTOMATED "automated"
#define POLICY_LOCKED "locked"
#define POLICY_LOCKED_USER "locked_user"
#define POLICY_LOCKED_MESSAGE "locked_msg"
#define POLICY_IGNORE "ignore"
#define POLICY_TAG_PREFIX "tag."
#define POLICY_TAG_ALL "tag_all"

#define POLICIES_MAX 1000 /* of one workload, of one request */
#define POLICY_VALUE_MAX 4096

/* ---- tag patterns ---- */

struct tag_pattern;
enum tag_order { TAG_BY_TIME, TAG_BY_VERSION };

/* "glob:*", "semver:~1.2", "regexp:^v\d", "regex:..."; without prefix a glob. ERR_INVALID `invalid tag
 * pattern: "..."`. */
int tag_pattern_parse(struct arena *arena, const char *text, const struct tag_pattern **ret,
                      struct error *err);
extern const struct tag_pattern tag_pattern_any; /* glob:* */
/* 1, 0 or ERR_NO_MEMORY. "latest", in any case, only by the pattern glob:latest. */
int tag_pattern_has(const struct tag_pattern *p, const char *tag);
enum tag_order tag_pattern_order(const struct tag_pattern *p);
const char *tag_pattern_text(const struct tag_pattern *p); /* as written */
/* A star is any run of bytes, everything else is itself. */
bool star_glob_matches(const char *pattern, const char *text);

/* ---- what a workload has ---- */

struct sync_policy {
        const char *name;       /* "automated", "tag.app" */
        const char *value;      /* as written */
        const char *annotation; /* the key it was read from */
};

struct policy_set {
        const struct sync_policy *at; /* in byte order of names */
        size_t n;
        /* What could not be taken as it stands, to be told as a warning: an annotation that is no string.
         * NULL = nothing. */
        const char *problem;
};

/* Of an object's annotations; ERR_LIMIT. */
int policy_set_read(struct arena *arena, const json_t *object, struct policy_set *ret, struct error *err);
const struct sync_policy *policy_set_find(const struct policy_set *s, const char *name); /* NULL = absent */
bool policy_set_is(const struct policy_set *s, const char *name); /* a boolean policy that is "true" */
/* The pattern of a container: that of its tag policy, else glob:*. One that is none matches nothing:
 * ERR_INVALID. */
int policy_set_pattern(struct arena *arena, const struct policy_set *s, const char *container,
                       const struct tag_pattern **ret, struct error *err);

/* ---- changes ---- */

struct policy_change {
        const char *name;
        const char *value; /* NULL = removed */
};
struct policy_changes {
        const struct policy_change *at;
        size_t n;
};

/* The lines of a request's `add` ("name=value", "name" alone is "true") and `remove` ("name", "name=value").
 * ERR_INVALID names the field: `data.add: line 2: ...`: an unknown policy, a value that is none, a pattern
 * that is none (`invalid tag pattern: "..."`), a name that is in both. */
int policy_changes_read(struct arena *arena, const char *add, const char *remove, struct policy_changes *ret,
                        struct error *err);
/* A request that locks says who and why, as locked_user and locked_msg, unless it names them itself: a new
 * lock replaces what an older one said, and unlocking takes both back. */
int policy_changes_complete(struct arena *arena, const char *user, const char *message,
                            struct policy_changes *c, struct error *err);

struct annotation_change {
        const char *policy;     /* as updaters are told: "tag.app" */
        const char *annotation; /* the whole key */
        const char *value;      /* NULL = removed */
};
struct annotation_changes {
        const struct annotation_change *at;
        size_t n;
};

struct policy_target {             /* what is to be changed */
        const json_t *annotations; /* of the object; NULL = none */
        const struct policy_set *have;
        const char *const *containers;
        size_t n_containers;
};
/* What has to change, in order of the request; what is so already is left out. tag_all becomes one of each
 * container that the request does not name by itself. */
int policy_changes_plan(struct arena *arena, const struct policy_target *t, const struct policy_changes *want,
                        struct annotation_changes *ret, struct error *err);
