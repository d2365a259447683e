/* What the files of OpenAPI share. A document is written piece by piece: one path item or definition goes as
 * JSON into a scratch buffer and from there, as it is or turned into protobuf, behind the others. Only CRD
 * schemas are JSON trees, and those are there anyway. The handlers are in discovery.h. */
#pragma once

#include "e2e/devcluster/internal.h"

/* ---- JSON into a buffer (openapi_json.c); commas are put where they belong ---- */
void out_open(struct buf *b, char bracket);
void out_close(struct buf *b, char bracket);
void out_key(struct buf *b, const char *key);
void out_string(struct buf *b, const char *value);
void out_value(struct buf *b, const json_t *value);
void out_member(struct buf *b, const char *key, const char *value); /* string; NULL is left out */
void out_member_true(struct buf *b, const char *key);
void out_member_strings(struct buf *b, const char *key, const char *const *list, size_t n);

/* ---- documents (openapi_document.c) ---- */
enum openapi_form { OPENAPI_V3, OPENAPI_V2, OPENAPI_V2_PROTO };

struct openapi_document {
        struct request *rq;
        enum openapi_form form;
        const char *group, *version; /* v3: of which group-version; v2: NULL, all */
        const struct resource *const *resources;
        size_t n_resources;
        struct buf *out;
        struct buf section, piece; /* what paths or definitions are so far; scratch of one */
        bool in_definitions;       /* which of the two the section is */
        struct map types;          /* definition name -> const struct schema *: what others refer to */
        struct map done;           /* definitions written */
};
struct kind_name {
        const char *group, *version, *kind;
};
static inline bool openapi_is_v2(const struct openapi_document *d)
{
        return d->form != OPENAPI_V3;
}
/* 0, ERR_NO_MEMORY, ERR_LIMIT. */
int openapi_document_write(struct request *rq, enum openapi_form form, const char *group, const char *version,
                           struct buf *out, struct error *err);
/* Puts the scratch piece into the section under a name. */
int openapi_piece_done(struct openapi_document *d, const char *name, struct error *err);
/* Name of a kind's definition, in the request's arena; NULL when it has none. */
const char *openapi_definition_name(struct openapi_document *d, const struct resource *r,
                                    const struct resource_version *v);

/* ---- definitions ---- */
/* openapi_schema.c: from struct schema (built-ins). kind NULL for what is not a kind. */
void openapi_schema_write(struct openapi_document *d, const struct schema *s, const struct kind_name *kind);
int openapi_schema_collect(struct openapi_document *d, const struct schema *s); /* into d->types */
void openapi_reference_write(struct openapi_document *d, const char *definition);
void openapi_kind_write(struct buf *b,
                        const struct kind_name *kind); /* {"group":..,"kind":..,"version":..} */
void openapi_kinds_write(struct buf *b,
                         const struct kind_name *kind); /* the member that lists just this one */
/* openapi_custom.c: a CRD's schema, with what every object has put in. */
void openapi_custom_write(struct openapi_document *d, const json_t *schema, const struct kind_name *kind);

#define OPENAPI_OBJECT_META "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
#define OPENAPI_LIST_META "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta"
#define OPENAPI_STATUS "io.k8s.apimachinery.pkg.apis.meta.v1.Status"
#define OPENAPI_DELETE_OPTIONS "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions"
#define OPENAPI_PATCH "io.k8s.apimachinery.pkg.apis.meta.v1.Patch"

/* ---- paths (openapi_paths.c) ---- */
int openapi_paths_write(struct openapi_document *d, const struct resource *r,
                        const struct resource_version *v, struct error *err);

/* ---- openapi_describe.c: what explain prints for built-ins, NULL where nothing is written ---- */
const char *openapi_describe_type(const char *definition);
const char *openapi_describe_field(const char *definition, const char *field);

/* ---- openapi_proto.c: openapi.v2.Document of gnostic, in pieces; 0, ERR_NO_MEMORY, ERR_LIMIT ---- */
int openapi_proto_path(struct buf *paths, const char *name, const json_t *item);
int openapi_proto_definition(struct buf *definitions, const char *name, const json_t *schema);
int openapi_proto_head(struct buf *out, struct slice info);
int openapi_proto_section(struct buf *out, bool definitions, struct slice section);

/* ---- openapi_cache.c: documents by what they were made from, so that equal clusters share them ---- */
struct openapi_cache;
void openapi_cache_free(struct devcluster *d);
/* Finds or writes; *ret is borrowed and good until the next call. key: openapi_document_key(). */
int openapi_cache_get(struct request *rq, enum openapi_form form, const char *group, const char *version,
                      const char *key, struct slice *ret, struct error *err);
/* A hash of all that goes into a document, in the request's arena; NULL on no memory. group NULL: v2. */
const char *openapi_document_key(struct request *rq, enum openapi_form form, const char *group,
                                 const char *version);
