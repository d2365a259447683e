/* One ClusterObjectSet as its rules see it: spec/cluster-object-set.md. Everything lives in the arena of a
 * pass; documents of objects are never changed, what is applied is a copy (want.h). */
#pragma once

#include "common/json/doc.h"
#include "proto/gen/kinds.h"
#include "proto/names.h"

/* How an object that exists already is treated: section 9. Absent and "" are unset. */
enum protection { PROTECTION_UNSET, PROTECTION_PREVENT, PROTECTION_IF_NO_CONTROLLER, PROTECTION_NONE };

struct set_object {
        json_t *doc;                           /* as resolved; NULL if it is JSON's null */
        const char *group, *version, *kind;    /* "" where the manifest says nothing */
        const char *ns /* "" = none */, *name; /* likewise */
        enum protection protection;            /* effective; never unset */
};
struct set_phase {
        const char *name;
        struct set_object *at;
        size_t n;
        char digest[72]; /* "sha256:<hex>": section 6.4; over the documents alone */
};
struct set_phases {
        struct set_phase *at;
        size_t n;
};

/* Who a set is, to its objects and to other sets. */
struct set_identity {
        const char *name, *uid;
        int64_t revision;
        const char *owner, *owner_kind; /* labels; NULL = none */
};
void set_identify(const struct cluster_object_set *s, struct set_identity *ret);

bool set_is_archived(const struct cluster_object_set *s); /* as its spec wishes */
/* What its status says; NULL where it says nothing. */
const struct condition *set_find_condition(const struct cluster_object_set *s, const char *type);
bool set_has_succeeded(const struct cluster_object_set *s); /* once, at least */
/* What messages call this revision: the bundle's version (annotation, then label), else the number. */
const char *set_version_words(const struct cluster_object_set *s, struct arena *arena);

/* "<group>/<version>, Kind=<kind> <ns>/<name>" (7.1), and "<Kind>.<group>/<version> <ns>/<name>" (10.4), core
 * kinds without the group and its slash in the second. NULL on no memory. */
const char *set_object_identity(const struct set_object *o, struct arena *arena);
const char *set_object_title(const struct set_object *o, struct arena *arena);

/* ---- siblings: section 4.2 ---- */

/* Of one owner: the same label, which both have, and the same owner-kind where both say it. */
bool set_have_one_owner(const struct set_identity *a, const struct set_identity *b);
/* Both Active, neither being deleted, of one owner, and not the same. */
bool set_are_siblings(const struct cluster_object_set *a, const struct cluster_object_set *b);
