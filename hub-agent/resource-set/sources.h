/* What the objects of a set take from ConfigMaps and Secrets: spec/resource-set.md 6. */
#pragma once

#include "common/kube/client.h"
#include "hub-agent/resource-set/build.h"

#define SOURCES_NAMES_MAX (4u << 20)

struct sources {
        struct kube_client *kube; /* as whom they are read */
        struct arena *arena;
        const struct build *build;
        struct buf names;            /* " Kind/ns/name " of each that was asked for, one after the other */
        struct string_list external; /* "Kind/ns/name" of those of the cluster whose sums were taken */
        bool stopped;                /* something failed: names are noted, and nothing is read any more */
};

/* Fills the objects of the build with copies, then those that follow kubeconfigs, then sums. `names` is the
 * caller's, begun and freed by it. The first failure is returned, with all names noted. */
int sources_fill(struct sources *s, struct error *err);
/* What an object lacks before, in words for "without ...": "the data of Secret ns/name"; NULL = nothing. */
int sources_words(struct arena *arena, const json_t *doc, const char **ret, struct error *err);

/* ---- of this folder ---- */

/* The source, in the arena; also one that is not there is noted: it may come. */
int sources_read(struct sources *s, bool secret, const char *ns, const char *name, json_t **ret,
                 struct error *err);
/* The value of an annotation; NULL if there is none. */
const char *annotation_of_doc(const json_t *doc, const char *key);
/* "namespace/name"; false: it is none. Strings of the arena. */
bool sources_parse(struct arena *arena, struct slice text, const char **ret_ns, const char **ret_name);
/* Bytes of one value: as they are, or from base64; of the arena. ERR_INVALID: it is no base64. */
int sources_value(struct arena *arena, const json_t *value, bool encoded, struct slice *ret,
                  struct error *err);

const char *copied_from(const json_t *doc);    /* the annotation where it counts, or NULL */
const char *converted_from(const json_t *doc); /* so */
const char *checksum_from(const json_t *doc);  /* so: the first, at any depth */
int convert_kubeconfig(struct sources *s, json_t *doc, struct error *err); /* 6.2 */
/* 6.3, of all objects, once what they copy is there. Notes those of others in `external`. */
int add_checksums(struct sources *s, struct error *err);
