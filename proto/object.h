/* The contract: one description per kind (proto/kinds/), from which the generator writes CRDs, C types with
 * field tables, and the reference page. This header is the run-time half: kinds, typed objects, codecs and
 * diffs driven by the generated tables.
 *
 * A typed object is one compact block: struct object, the generated fields behind it, then all its strings
 * and arrays. Blocks are reference-counted and immutable once shared; copies to change are made in an arena.
 */
#pragma once

#include "common/base/intern.h"
#include "common/base/timefmt.h"
#include "common/json/doc.h"

enum field_type {
        FIELD_STRING,   /* const char *, NULL = absent */
        FIELD_INTERNED, /* const char *, from the intern table where one is given */
        FIELD_BOOL,     /* struct opt_bool */
        FIELD_FLAG,     /* bool; false is written as absent */
        FIELD_INT,      /* struct opt_int */
        FIELD_TIME, /* int64_t wall ms, TIME_NONE = absent; 0 is written as absent too, so zeroed structs work
                     */
        FIELD_OBJECT, /* pointer to the generated struct, NULL = absent */
        FIELD_LIST,   /* { T *at; uint32_t n; bool set; } of structs, or of const char * where element is NULL
                       */
        FIELD_STRING_MAP, /* struct string_map, sorted by key */
        FIELD_MAP, /* { struct { const char *key; T value; } *at; uint32_t n; bool set; } sorted by key */
        FIELD_RAW, /* struct slice of JSON text (embed, raw, any); data NULL = absent */
        FIELD_INT_OR_STRING, /* struct int_or_string */
        FIELD_RAW_LIST,      /* { struct slice *at; uint32_t n; bool set; } */
        FIELD_RAW_MAP, /* { struct { const char *key; struct slice value; } *at; uint32_t n; bool set; } */
};
enum field_flags {
        FIELD_BULK = 1,     /* left out of projections: manifests, snapshots' resources */
        FIELD_REQUIRED = 2, /* by the CRD */
        FIELD_EMIT_EMPTY =
                4,          /* written with its empty value when nothing was set (messages, required lists) */
        FIELD_TROUBLED = 8, /* list: projections keep only elements with a condition that is not True or with
                             * a FIELD_TROUBLE field */
        FIELD_TROUBLE = 16, /* see FIELD_TROUBLED */
        FIELD_QUANTITY = 32,        /* a JSON number is taken too and kept as its text */
        FIELD_MICRO = 64,           /* time written with microseconds (Lease, Event) */
        FIELD_INTERNED_ITEMS = 128, /* list of strings: like FIELD_INTERNED */
        FIELD_SHARED = 256,         /* object: one copy in the intern table for all that have an equal one */
        FIELD_APART = 512,          /* list: the member is a pointer to it, NULL = absent: for rare ones */
        FIELD_DETAIL = 1024         /* list: not unstowed where details are not wanted (proto/stowed.h) */
};

struct opt_bool {
        bool set, value;
};
struct opt_int { /* one word, since conditions carry it by the hundred thousand; values beyond 62 bits
                    become the nearest within */
        int64_t value : 63;
        uint64_t set : 1;
};
#define OPT_INT(v) ((struct opt_int){ .value = (v), .set = 1 })
#define OPT_BOOL(v) ((struct opt_bool){ .set = true, .value = (v) })
struct int_or_string {
        const char *text; /* NULL = it is a number (if set) */
        int64_t value;
        bool set;
};
struct string_pair {
        const char *key, *value;
};
struct string_map {
        struct string_pair *at;
        uint32_t n;
        bool set;
};
struct string_list {
        const char **at;
        uint32_t n;
        bool set;
};
struct raw_list {
        struct slice *at;
        uint32_t n;
        bool set;
};
struct raw_pair {
        const char *key;
        struct slice value;
};
struct raw_map { /* sorted by key */
        struct raw_pair *at;
        uint32_t n;
        bool set;
};
/* A list or map that is absent has set == false and n == 0. When writing, n > 0 implies set. */
/* The value of a list behind a pointer (FIELD_APART), empty if there is none. */
#define LIST_OR_NONE(p)                                                                                      \
        ({                                                                                                   \
                const typeof(*(p)) *list_ = (p);                                                             \
                list_ ? *list_ : (typeof(*(p))){ 0 };                                                        \
        })
const char *string_map_get(const struct string_map *m, const char *key); /* NULL if absent */
int string_map_put(struct string_map *m, const char *key, const char *value,
                   struct arena *arena); /* strings borrowed */
void string_map_remove(struct string_map *m, const char *key);
bool string_map_equal(const struct string_map *a, const struct string_map *b); /* the same keys and values */

struct owner_reference {
        const char *api_version, *kind, *name, *uid;
        bool controller, block_owner_deletion;
};

struct object_meta {
        const char *name, *ns /* NULL if cluster-scoped */, *uid, *resource_version, *generate_name;
        int64_t generation;
        int64_t creation_ms, deletion_ms; /* wall ms, TIME_NONE if absent */
        struct string_map labels, annotations;
        const char **finalizers;
        struct owner_reference *owners;
        uint16_t n_finalizers, n_owners;
};

struct kind;

/* Header of every typed object; the generated struct starts with it:
 *     struct work { struct object object; struct work_spec *spec; struct work_status *status; }; */
struct object {
        const struct kind *kind;
        uint32_t refs : 31;    /* 0 = lives in an arena */
        uint32_t outlined : 1; /* the block ends with an outline: DECODE_OUTLINED */
        uint32_t block_size;   /* bytes of the whole block; 0 = lives in an arena */
        struct object_meta meta;
};

/* Field tables, written by the generator, read by the codec. */
struct type;
struct field {
        const char *name; /* JSON key */
        uint8_t type;     /* enum field_type */
        uint16_t flags;   /* enum field_flags */
        uint16_t offset;
        const struct type *element; /* of OBJECT, LIST, MAP; NULL element of LIST = strings */
};
struct type {
        const char *name;
        const struct field *fields; /* sorted by JSON key */
        uint16_t n_fields;
        uint16_t size; /* of the C struct */
};
/* One per kind, for the version the agents use. Generated: proto/gen/kinds.h declares them as
 * member_cluster_kind, cluster_resource_placement_kind, work_kind, ... Twins share their struct: struct
 * placement (ClusterResourcePlacement and ResourcePlacement), policy_snapshot, resource_snapshot, binding,
 * resource_override, override_snapshot, update_run, update_strategy, approval_request, resource_envelope.
 * partial_object_kind takes any object: its api_version is "", and struct partial_object holds the object's
 * own. */
struct kind {
        const char *group, *version, *api_version, *kind, *plural, *list_kind;
        bool namespaced, has_status;
        const struct type *root; /* fields behind struct object: usually spec and status */
};

/* A projection leaves out bulk fields, healthy elements of FIELD_TROUBLED lists and annotations with values
 * longer than PROJECTION_ANNOTATION_MAX. metadata.managedFields is never kept. A merge patch between a
 * projection and its changed copy leaves what was left out alone, but a FIELD_TROUBLED list must not be
 * written from one. */
enum decode_flags {
        DECODE_FULL = 0,
        DECODE_PROJECTION = 1,
        DECODE_OUTLINED = 2 /* object_decode() and object_decode_watch_event(): see object_decode_moved() */
};
#define PROJECTION_ANNOTATION_MAX 512

/* From bytes into one compact block (one reference, the caller's). Unknown fields are passed over; null
 * counts as absent; U+0000 in a string becomes U+FFFD; times are read as leniently as API servers do; wrong
 * types are ERR_INVALID naming the field ("spec.taints[3].key: must be a string, is a number"). A wrong
 * apiVersion or kind is ERR_INVALID too; both may be missing, as in items of lists. `interns` may be NULL;
 * the table must outlive the object. */
int object_decode(const struct kind *kind, struct slice json, enum decode_flags flags,
                  struct intern_table *interns, struct object **ret, struct error *err);
int object_decode_arena(const struct kind *kind, struct slice json, struct arena *arena, struct object **ret,
                        struct error *err);
int object_from_doc(const struct kind *kind, const json_t *doc, struct arena *arena, struct object **ret,
                    struct error *err);
int object_to_doc(const struct object *o, json_t **ret, struct error *err);
int object_encode(const struct object *o, struct buf *b); /* JSON text with apiVersion and kind */
struct object *object_copy(const struct object *o,
                           struct arena *arena); /* deep, for changing; NULL on no memory */
/* A block of its own, one reference, of `o`: `from`, a block that was decoded with `interns` (may be NULL),
 * with other structs and arrays in it. Strings are those of `from`, or live as long as the table. NULL on no
 * memory.
 */
struct object *object_block(const struct object *o, const struct object *from,
                            const struct intern_table *interns);
struct object *object_new(const struct kind *kind, const char *ns, const char *name, struct arena *arena);

/* Lists and watches, for informers: one page or one event line is scanned item by item, without a document.
 */

/* Who takes the items of a list. A negative result ends the walk and is returned. */
struct object_sink {
        /* `o` is the callee's for the call only: it keeps it with object_ref(). */
        int (*each)(void *ctx, struct object *o);
        /* An item that cannot be decoded, and why: `o` has nothing but kind, name, namespace, uid and
         * resourceVersion. NULL: such an item ends the walk with its error, which names its index. */
        int (*undecodable)(void *ctx, struct object *o, const struct error *why);
        void *ctx;
};
/* Every item of a list answer. The strings are the caller's (mem_free); *ret_continue is NULL on the last
 * page. Either may be asked for with NULL. A Status in place of a list is the error it tells. */
int object_decode_list(const struct kind *kind, struct slice json, enum decode_flags flags,
                       struct intern_table *interns, const struct object_sink *sink,
                       char **ret_resource_version, char **ret_continue, struct error *err);

enum watch_type { WATCH_ADDED, WATCH_MODIFIED, WATCH_DELETED, WATCH_BOOKMARK };
/* One line of a watch. BOOKMARK gives an object with nothing but meta.resource_version (and annotations). An
 * ERROR event is returned as the error its Status tells: ERR_GONE for 410. *ret: one reference, the caller's.
 */
int object_decode_watch_event(const struct kind *kind, struct slice line, enum decode_flags flags,
                              struct intern_table *interns, enum watch_type *ret_type, struct object **ret,
                              struct error *err);
/* The same event when its object could not be decoded: *ret has nothing but kind, name, namespace, uid and
 * resourceVersion. Fails where even those cannot be told. */
int object_decode_watch_identity(const struct kind *kind, struct slice line, enum watch_type *ret_type,
                                 struct object **ret, struct error *err);
/* By its beginning, as API servers write it: for who glances at bookmarks alone. */
bool object_is_bookmark(struct slice line);
/* What a line of a watch is about: slices of it. `ns` is empty where there is none. */
struct watch_glance {
        enum watch_type type;
        struct slice ns, name, version;
};
/* Reads no more of the line than tells that; of a BOOKMARK, that is its version alone. The rest is not
 * checked. False: it has to be decoded, as an ERROR has, or what is not written as API servers write it. */
bool object_glance_watch_event(struct slice line, struct watch_glance *ret);
/* Error of a Kubernetes Status given as JSON text: code by its `code` and `reason`, text from its `message`.
 */
int object_decode_status(struct slice json, struct error *err);

/* ---- outlines ----
 * From one text of an object to the next often nothing changes but times and the version: heartbeats. A block
 * of DECODE_OUTLINED remembers a keyed hash of its text without those, and where they are (50 bytes or so).
 */
enum outline_fit {
        OUTLINE_OTHER, /* the text has to be decoded */
        OUTLINE_SAME,  /* it is the version that `old` is */
        OUTLINE_MOVED  /* only times moved */
};
/* What a text of an object as API servers write it says, beside an older state of the same object: where only
 * resourceVersion and times moved, but for those of conditions and of its creation, *ret is what decoding the
 * text would make with old's flags and interns, one reference, the caller's. All else of the text is compared
 * byte by byte, by its hash. An enum outline_fit or ERR_NO_MEMORY. */
int object_decode_moved(const struct object *old, struct slice text, struct object **ret);
/* The parts of a watch event that says what an object has become, as API servers write it: its text, and in
 * it what it is called. False: it is another event, or cannot be told. Nothing else is checked. */
bool object_glance_modified(struct slice line, bool namespaced, struct slice *ret_object,
                            struct slice *ret_ns, struct slice *ret_name);

struct object *object_ref(const struct object *o);
void object_unref(const struct object *o); /* NULL is fine; no-op on arena objects */
size_t object_bytes(const struct object *o);

/* Finalizers. What is changed is a copy in an arena: an object that others hold shares its list with them. */
bool object_has_finalizer(const struct object *o, const char *finalizer);
int object_add_finalizer(struct object *o, const char *finalizer /* borrowed */,
                         struct arena *arena); /* once; 0 or ERR_NO_MEMORY */
void object_remove_finalizer(struct object *o, const char *finalizer);

enum object_part { OBJECT_META_SPEC /* metadata and everything but status */, OBJECT_STATUS };
/* JSON merge patch that turns `now` into `wanted` for one part, by the kind's field table. Appends nothing to
 * b when they are equal. With `bound`, carries metadata.resourceVersion of `now`. */
int object_merge_patch(const struct object *now, const struct object *wanted, enum object_part part,
                       bool bound, struct buf *b, struct error *err);
bool object_equal_part(const struct object *a, const struct object *b, enum object_part part);

/* Conditions. Every generated field that is a list of Kubernetes conditions has this type. Generation 0, of
 * objects that have none, and no generation are the same; it is written by leaving it out. */
struct condition {
        const char *type, *status, *reason, *message;
        int64_t last_transition_ms;
        struct opt_int observed_generation;
};
struct condition_list {
        struct condition *at;
        uint32_t n;
        bool set;
};
const struct condition *condition_find(const struct condition_list *l, const char *type);
bool condition_is_true(const struct condition_list *l, const char *type,
                       int64_t generation); /* True and current */
bool condition_is_false(const struct condition_list *l, const char *type,
                        int64_t generation); /* False and current */
/* Replaces or adds, keeping last_transition_ms unless the status changes; grows in the arena; strings are
 * borrowed. Returns 1 if anything but the time differs, 0 if equal (nothing is changed), ERR_NO_MEMORY. */
int condition_set(struct condition_list *l, const struct condition *c, int64_t now_ms, struct arena *arena);
void condition_remove(struct condition_list *l, const char *type);
