/* From a ResourceSet and its sets of inputs to the objects that are wanted. Pure. spec/resource-set.md 4.1,
 * 5. */
#pragma once

#include "hub-agent/common.h"

struct built_object {
        json_t *doc; /* of the arena */
        unsigned step;
        const char *set_id, *provider; /* "Kind/name"; "" if there are no sets */
};

struct build {
        struct built_object *at;
        size_t n;
        size_t n_sets;
        size_t n_steps;     /* 1 without steps */
        size_t n_different; /* left out for an object of the same name that differs */
};

#define BUILD_DIGEST_SIZE 72 /* "sha256:" and the sum */

/* What is wrong with the set itself: ERR_INVALID. */
int build_check(const struct resource_set *set, struct error *err);
/* `sets`: as inputs_collect() gave them, NULL: rendered once with none. Everything lives in the arena.
 * Objects have owner labels and common metadata; nothing is copied yet. ERR_INVALID, ERR_LIMIT: nothing can
 * be built, and why. */
int build_objects(struct arena *arena, const struct resource_set *set, const json_t *sets, struct build *ret,
                  struct error *err);
/* Over all objects as they are by now, in their order. */
int build_digest(const struct build *b, char ret[BUILD_DIGEST_SIZE], struct error *err);
/* Over the set's spec, for what cannot be built. */
int build_spec_digest(const struct resource_set *set, char ret[BUILD_DIGEST_SIZE], struct error *err);

/* "Kind/namespace/name" of a document, or "Kind/name". NULL on no memory. */
const char *object_words(struct arena *arena, const json_t *doc);
/* Whether an annotation or label says so, in any case of letters. */
bool says(const json_t *doc, const char *key, const char *value);
struct slice group_of_doc(const json_t *doc); /* "" = core */

/* 5.5 step 4: a Secret's stringData becomes data; without status but for definitions. In place. */
int build_normalize(json_t *doc, struct error *err);
