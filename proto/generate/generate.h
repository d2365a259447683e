/* The generator: reads the descriptions in proto/kinds/ and writes what is derived from them. A command-line
 * tool: a bad description or a lack of memory ends it with a sentence. The format of descriptions:
 * proto/kinds/README.md. */
#pragma once

#include <jansson.h>

#include "common/base/buf.h"
#include "proto/metrics.h"

/* A field's type as described: `string`, `list<Condition>`, ... */
enum shape { SHAPE_ONE, SHAPE_LIST, SHAPE_LIST_MAP, SHAPE_MAP };

struct type_def;

struct field_def {
        const char *name, *c_name, *doc;
        enum shape shape;
        const char *inner;           /* the scalar's or type's name */
        const struct type_def *type; /* NULL for scalars */
        bool required;
        json_t *attributes; /* object; never NULL */
};

struct type_def {
        const char *name, *c_name, *doc;
        bool atomic;
        bool builtin;                /* its struct is declared by hand in proto/object.h */
        json_t *rules;               /* array or NULL */
        const struct type_def *base; /* its fields come first, in C as member `id`; NULL = none */
        struct field_def *fields;
        size_t n_fields;
};

struct kind_def {
        const char *kind, *plural, *group, *c_name, *short_name, *doc, *cluster;
        bool namespaced, has_status, external, partial;
        const char *versions[4];
        size_t n_versions;
        json_t *categories, *columns; /* arrays or NULL */
        const struct type_def *root;  /* shared by the kinds of one family */
};

struct model {
        struct type_def *types; /* roots of families included, behind the types they use */
        size_t n_types;
        struct kind_def *kinds;
        size_t n_kinds;
};

NORETURN void fail(const char *fmt, ...) PRINTF_LIKE(1, 2);

json_t *description_load(const char *path); /* every scalar as a string, keys in order */
void model_load(struct model *m, const char *folder);

/* The value of an attribute in one version of a kind: `v1: {default: null}` beats `MemberCluster: {default:
 * x}`, and that `default: ConfigMap`. NULL if absent. */
json_t *field_attribute(const struct field_def *f, const char *name, const struct kind_def *k,
                        const char *version);
bool field_in(const struct field_def *f, const struct kind_def *k, const char *version);
bool applies_to(const json_t *attributes, const struct kind_def *k, const char *version); /* only:, kinds: */
const char *text_attribute(const json_t *o, const char *name);                            /* NULL if absent */
bool flag_attribute(const json_t *o, const char *name);
const char *storage_version(const struct kind_def *k);
bool installed_on(const struct kind_def *k, const char *cluster); /* hub, member */

json_t *crd_of(const struct kind_def *k);
char *column_path(const struct kind_def *k, const char *text); /* mem_free */

void write_types_header(const struct model *m, struct buf *b);
void write_kinds_header(const struct model *m, struct buf *b);
void write_tables(const struct model *m, struct buf *b);
void write_crd_texts(const struct model *m, struct buf *b);
void write_reference(const struct model *m, struct buf *b);
void write_metrics_page(const struct model *m, struct buf *b); /* from proto/metrics.h, not from the model */

/* From proto/alerts.h and proto/dashboards.h; name: "hub-agent". New references. */
json_t *rules_of(enum metric_of agent, const char *name);
json_t *dashboard_of(enum metric_of agent, const char *name);
void write_alerts_page(struct buf *b); /* appends to docs/metrics.md */
