/* Whole documents: paths of every resource, then the definitions they refer to. */
#include "common/base/limits.h"
#include "e2e/devcluster/openapi.h"

#define PIECE_MAX (8u << 20)

#define INFO "{\"title\":\"Kubernetes\",\"version\":\"v1.34.0\"}"

static int piece_to_proto(struct openapi_document *d, const char *name, struct error *err)
{
        AUTO_JSON json_t *doc = NULL;
        TRY(doc_parse((struct slice){ d->piece.data, d->piece.len }, &doc, err));
        int r = d->in_definitions ? openapi_proto_definition(&d->section, name, doc)
                                  : openapi_proto_path(&d->section, name, doc);
        return r < 0 ? error_set(err, (enum error_code)r, "OpenAPI document: %s cannot be encoded", name) : 0;
}

int openapi_piece_done(struct openapi_document *d, const char *name, struct error *err)
{
        TRY(buf_status(&d->piece, err, name));
        if (d->form == OPENAPI_V2_PROTO) {
                TRY(piece_to_proto(d, name, err));
        } else {
                out_key(&d->section, name);
                (void)buf_append(&d->section, d->piece.data, d->piece.len);
        }
        buf_clear(&d->piece);
        return buf_status(&d->section, err, "OpenAPI document");
}

/* ---- names ---- */

/* "placement.kubernetes-fleet.io" -> "io.kubernetes-fleet.placement" */
static const char *reversed(struct arena *a, const char *group)
{
        const char *all = "";
        struct slice rest = slice_of(group), label;
        bool more = true;
        while (more && all) {
                more = slice_cut(&rest, '.', &label);
                all = arena_printf(a, "%.*s%s%s", (int)label.len, label.data, *all ? "." : "", all);
        }
        return all;
}

const char *openapi_definition_name(struct openapi_document *d, const struct resource *r,
                                    const struct resource_version *v)
{
        struct arena *a = d->rq->arena;
        if (!r->custom) {
                const struct schema *s = builtin_schema(d->rq->devcluster, r, v);
                return s ? s->ref : NULL;
        }
        const char *group = reversed(a, r->group);
        return group ? arena_printf(a, "%s.%s.%s", group, v->version, r->kind) : NULL;
}

static bool wanted(const struct openapi_document *d, const struct resource *r,
                   const struct resource_version *v)
{
        return v->served &&
               (!d->group || (strcmp(r->group, d->group) == 0 && strcmp(v->version, d->version) == 0));
}

typedef int (*resource_writer)(struct openapi_document *d, const struct resource *r,
                               const struct resource_version *v, struct error *err);

static int for_each_wanted(struct openapi_document *d, resource_writer write, struct error *err)
{
        for (size_t i = 0; i < d->n_resources; i++)
                for (size_t k = 0; k < d->resources[i]->n_versions; k++)
                        if (wanted(d, d->resources[i], &d->resources[i]->versions[k]))
                                TRY(write(d, d->resources[i], &d->resources[i]->versions[k], err));
        return 0;
}

/* ---- definitions ---- */

static int define(struct openapi_document *d, const char *name, struct error *err)
{
        TRY(openapi_piece_done(d, name, err));
        return map_put(&d->done, name, d) < 0 ? error_no_memory(err) : 0;
}

static void write_text_property(struct buf *b, const char *name)
{
        out_key(b, name);
        out_open(b, '{');
        out_member(b, "type", "string");
        out_close(b, '}');
}

static int write_list(struct openapi_document *d, const struct resource *r, const struct resource_version *v,
                      const char *item, struct error *err)
{
        struct kind_name kind = { r->group, v->version, r->list_kind };
        const char *name = arena_printf(d->rq->arena, "%sList", item);
        static const char *const required[] = { "items" };
        struct buf *b = &d->piece;
        if (!name)
                return error_no_memory(err);
        out_open(b, '{');
        out_key(b, "description");
        (void)buf_printf(b, "\"A list of %s objects.\"", r->kind);
        out_member(b, "type", "object");
        out_key(b, "properties");
        out_open(b, '{');
        write_text_property(b, "apiVersion");
        out_key(b, "items");
        out_open(b, '{');
        out_member(b, "type", "array");
        out_key(b, "items");
        openapi_reference_write(d, item);
        out_close(b, '}');
        write_text_property(b, "kind");
        out_key(b, "metadata");
        openapi_reference_write(d, OPENAPI_LIST_META);
        out_close(b, '}');
        out_member_strings(b, "required", required, 1);
        openapi_kinds_write(b, &kind);
        out_close(b, '}');
        return define(d, name, err);
}

static int write_kind(struct openapi_document *d, const struct resource *r, const struct resource_version *v,
                      struct error *err)
{
        struct kind_name kind = { r->group, v->version, r->kind };
        const char *name = openapi_definition_name(d, r, v);
        if (!name) /* every kind has one */
                return error_no_memory(err);
        if (map_has(&d->done, name))
                return 0;
        if (r->custom) {
                openapi_custom_write(d, v->openapi, &kind);
        } else {
                const struct schema *s = builtin_schema(d->rq->devcluster, r, v);
                if (openapi_schema_collect(d, s) < 0)
                        return error_no_memory(err);
                openapi_schema_write(d, s, &kind);
        }
        TRY(define(d, name, err));
        return r->verbs & VERB_LIST ? write_list(d, r, v, name, err) : 0;
}

static int collect_named(struct openapi_document *d, const char *type, struct error *err)
{
        const struct schema *s = NULL;
        TRY(builtin_types_named(d->rq->devcluster->types, type, &s, err));
        return openapi_schema_collect(d, s) < 0 ? error_no_memory(err) : 0;
}

/* What paths refer to by name alone, and all that the kinds refer to. */
static int write_shared(struct openapi_document *d, struct error *err)
{
        static const char *const always[] = { "m:apis.meta.v1.ObjectMeta", "m:apis.meta.v1.ListMeta",
                                              "m:apis.meta.v1.Status", "m:apis.meta.v1.DeleteOptions" };
        size_t n = 0;
        for (size_t i = 0; i < ARRAY_LEN(always); i++)
                TRY(collect_named(d, always[i], err));
        AUTO_FREE const char **names = map_sorted_keys(&d->types, &n);
        if (!names)
                return error_no_memory(err);
        for (size_t i = 0; i < n; i++) {
                if (map_has(&d->done, names[i]))
                        continue;
                openapi_schema_write(d, map_get(&d->types, names[i]), NULL);
                TRY(define(d, names[i], err));
        }
        out_open(&d->piece, '{');
        out_member(&d->piece, "description",
                   "A change to an object, in the form that the request's media type names.");
        out_member(&d->piece, "type", "object");
        out_close(&d->piece, '}');
        return define(d, OPENAPI_PATCH, err);
}

/* ---- the whole ---- */

static void flush_section(struct openapi_document *d)
{
        if (d->form == OPENAPI_V2_PROTO) {
                (void)openapi_proto_section(d->out, d->in_definitions,
                                            (struct slice){ d->section.data, d->section.len });
        } else {
                (void)buf_append_char(d->out, '{');
                (void)buf_append(d->out, d->section.data, d->section.len);
                (void)buf_append_char(d->out, '}');
        }
        buf_clear(&d->section);
}

/* What stands around the two sections. */
static const struct frame {
        const char *head, *between, *tail;
} frames[] = {
        [OPENAPI_V3] = { "{\"openapi\":\"3.0.0\",\"info\":" INFO ",\"paths\":",
                         ",\"components\":{\"schemas\":", "}}" },
        [OPENAPI_V2] = { "{\"swagger\":\"2.0\",\"info\":" INFO ",\"paths\":", ",\"definitions\":", "}" },
        [OPENAPI_V2_PROTO] = { "", "", "" },
};

static int write_all(struct openapi_document *d, struct error *err)
{
        const struct frame *f = &frames[d->form];
        if (d->form == OPENAPI_V2_PROTO)
                (void)openapi_proto_head(d->out, SLICE(INFO));
        (void)buf_append_str(d->out, f->head);
        TRY(for_each_wanted(d, openapi_paths_write, err));
        flush_section(d);
        d->in_definitions = true;
        (void)buf_append_str(d->out, f->between);
        TRY(for_each_wanted(d, write_kind, err));
        TRY(write_shared(d, err));
        flush_section(d);
        (void)buf_append_str(d->out, f->tail);
        return buf_status(d->out, err, "OpenAPI document");
}

int openapi_document_write(struct request *rq, enum openapi_form form, const char *group, const char *version,
                           struct buf *out, struct error *err)
{
        struct openapi_document d = {
                .rq = rq, .form = form, .group = group, .version = version, .out = out
        };
        if (registry_all(rq->cluster, rq->arena, &d.resources, &d.n_resources) < 0)
                return error_no_memory(err);
        buf_init(&d.section, LIMIT_RESPONSE_BYTES);
        buf_init(&d.piece, PIECE_MAX);
        map_init(&d.types, MAP_BORROW_KEYS, NULL);
        map_init(&d.done, MAP_OWN_KEYS, NULL);
        int r = write_all(&d, err);
        buf_free(&d.section);
        buf_free(&d.piece);
        map_free(&d.types);
        map_free(&d.done);
        return r;
}
