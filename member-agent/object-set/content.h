/* Where the objects of a set come from: inline, or from Secrets: spec/cluster-object-set.md 6. Pure: Secrets
 * in, documents out. */
#pragma once

#include "member-agent/object-set/set.h"

#define CONTENT_MAX_OBJECT SET_MANIFEST_MAX_BYTES /* unzipped; reading stops there */

/* A Secret that refs name. The caller reads it and fills in what came of that. */
struct content_secret {
        const char *ns, *name;
        const json_t *doc; /* NULL: there is none, or it could not be read: `why` says what the server said */
        struct error why;
        bool is_copy; /* `doc` is what it held before it went */
};
struct content_secrets {
        struct content_secret *at;
        size_t n;
};
/* Each Secret once, in the order of first use. `system_ns` stands for a namespace that a ref leaves out. */
int content_secrets(const struct cluster_object_set *s, const char *system_ns, struct arena *arena,
                    struct content_secrets *ret, struct error *err);
/* 6.3: *ret names those that may be changed, NULL if none may. Those that were not read are passed over. */
int content_mutable(const struct content_secrets *secrets, struct arena *arena, const char **ret,
                    struct error *err);
/* One manifest as a set's object, protected as by default. `doc` is the arena's then, also on failure. */
int content_object(json_t *doc, struct arena *arena, struct set_object *ret, struct error *err);
/* 6.1, 6.2 and the digests of 6.4. ERR_INVALID: the text cannot heal by waiting for anything but a change of
 * the Secret (Blocked); other codes are those of reading the Secret (Retrying). */
int content_resolve(const struct cluster_object_set *s, const struct content_secrets *secrets,
                    const char *system_ns, struct arena *arena, struct set_phases *ret, struct error *err);
/* 6.4: what is another than was observed first, in words; NULL if nothing is, or nothing was observed yet. */
int content_changed(const struct cluster_object_set *s, const struct set_phases *now, struct arena *arena,
                    const char **ret, struct error *err);
