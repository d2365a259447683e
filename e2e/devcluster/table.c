#include "e2e/devcluster/table.h"

#include <inttypes.h>

#include "common/base/limits.h"
#include "common/base/timefmt.h"
#include "e2e/devcluster/builtin/cells.h"
#include "e2e/devcluster/convert.h"
#include "e2e/devcluster/internal.h"
#include "e2e/devcluster/jsonpath.h"

/* ---- splicing stored text ---- */

/* End of the JSON value that begins at text; the text is our own, so it is well-formed. */
static const char *value_end(const char *text)
{
        int depth = 0;
        bool in_string = false;
        for (const char *p = text; *p; p++) {
                if (in_string) {
                        if (*p == '\\')
                                p++;
                        else if (*p == '"')
                                in_string = false;
                } else if (*p == '"') {
                        in_string = true;
                } else if (*p == '{' || *p == '[') {
                        depth++;
                } else if ((*p == '}' || *p == ']') && --depth == 0) {
                        return p + 1;
                }
        }
        return text + strlen(text);
}

static struct slice metadata_text(const struct blob *b)
{
        const char *begin = b->data + b->rest_at + strlen("\"metadata\":");
        return (struct slice){ begin, (size_t)(value_end(begin) - begin) };
}

static int append_partial(struct request *rq, struct slice metadata, struct buf *out)
{
        TRY(buf_printf(out,
                       "{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/%s\",\"metadata\":",
                       rq->form_version ? rq->form_version : "v1"));
        TRY(buf_append(out, metadata.data, metadata.len));
        return buf_append_char(out, '}');
}

static int append_partial_doc(struct request *rq, const json_t *doc, struct buf *out)
{
        AUTO_BUF struct buf meta;
        buf_init(&meta, LIMIT_OBJECT_BYTES);
        TRY(doc_write(json_object_get(doc, "metadata"), &meta));
        return append_partial(rq, (struct slice){ meta.data, meta.len }, out);
}

/* ---- columns ---- */

static const char name_description[] =
        "Name must be unique within a namespace. Is required when creating resources, although some "
        "resources may allow a "
        "client to request the generation of an appropriate name automatically. Name is primarily intended "
        "for creation "
        "idempotence and configuration definition. Cannot be updated. More info: "
        "https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names";

static int append_column(struct buf *out, const char *name, const char *type, const char *format,
                         const char *description, int priority)
{
        TRY(buf_append_str(out, "{\"name\":"));
        TRY(buf_append_json_string(out, name, strlen(name)));
        TRY(buf_printf(out, ",\"type\":\"%s\",\"format\":\"%s\",\"description\":", type, format));
        TRY(buf_append_json_string(out, description, strlen(description)));
        return buf_printf(out, ",\"priority\":%d}", priority);
}

static int append_custom_columns(struct request *rq, struct buf *out)
{
        const struct resource_version *v = rq->resource_version;
        TRY(append_column(out, "Name", "string", "name", name_description, 0));
        for (size_t i = 0; i < v->n_columns; i++) {
                const struct printer_column *c = &v->columns[i];
                TRY(buf_append_char(out, ','));
                const char *description =
                        *c->description ? c->description
                                        : "Custom resource definition column (in JSONPath format): ";
                AUTO_BUF struct buf text;
                buf_init(&text, 64u << 10);
                TRY(buf_printf(&text, "%s%s", description, *c->description ? "" : c->json_path));
                TRY(append_column(out, c->name, c->type, c->format, text.data, c->priority));
        }
        return 0;
}

static int append_columns(struct request *rq, struct buf *out)
{
        TRY(buf_append_str(out, "\"columnDefinitions\":["));
        if (rq->resource->custom) {
                TRY(append_custom_columns(rq, out));
                return buf_append_char(out, ']');
        }
        struct cell_column columns[BUILTIN_COLUMNS_MAX];
        size_t n = builtin_columns(rq->resource->group, rq->resource->kind, columns);
        for (size_t i = 0; i < n; i++) {
                if (i)
                        TRY(buf_append_char(out, ','));
                TRY(append_column(out, columns[i].name, columns[i].type, columns[i].format,
                                  i == 0 ? name_description : "", columns[i].priority));
        }
        return buf_append_char(out, ']');
}

/* ---- cells ---- */

static json_t *date_cell(const char *text, int64_t now_ms)
{
        int64_t at;
        char age[32];
        if (time_parse_rfc3339(slice_of(text), &at) < 0)
                return json_string("<invalid>");
        duration_format_human(now_ms - at, age, sizeof(age));
        return json_string(age);
}

/* A value that is neither text nor number is shown as JSON. */
static json_t *text_cell(const json_t *v)
{
        if (json_is_string(v))
                return json_incref((json_t *)v);
        AUTO_BUF struct buf b;
        buf_init(&b, 64u << 10);
        if (doc_write(v, &b) < 0)
                return json_null();
        return json_string(b.data);
}

static json_t *custom_cell(const struct printer_column *c, const json_t *doc, int64_t now_ms)
{
        const json_t *v = NULL;
        if (jsonpath_first(doc, c->json_path, &v) < 0 || !v || json_is_null(v))
                return json_null();
        if (strcmp(c->type, "date") == 0)
                return json_is_string(v) ? date_cell(json_string_value(v), now_ms) : json_string("<unknown>");
        if (strcmp(c->type, "integer") == 0 || strcmp(c->type, "number") == 0)
                return json_is_number(v) ? json_incref((json_t *)v) : json_null();
        if (strcmp(c->type, "boolean") == 0)
                return json_is_boolean(v) ? json_incref((json_t *)v) : json_null();
        return text_cell(v);
}

static int custom_cells(struct request *rq, const json_t *doc, json_t *cells)
{
        const char *name = doc_get_string(doc, "metadata.name");
        if (json_array_append_new(cells, json_string(name ? name : "")) < 0)
                return ERR_NO_MEMORY;
        for (size_t i = 0; i < rq->resource_version->n_columns; i++)
                if (json_array_append_new(
                            cells, custom_cell(&rq->resource_version->columns[i], doc, rq->now_ms)) < 0)
                        return ERR_NO_MEMORY;
        return 0;
}

static int append_row(struct request *rq, const json_t *doc, struct buf *out)
{
        AUTO_JSON json_t *cells = json_array();
        if (!cells)
                return ERR_NO_MEMORY;
        const struct resource *r = rq->resource;
        TRY(r->custom ? custom_cells(rq, doc, cells)
                      : builtin_cells(r->group, r->kind, doc, rq->now_ms, cells));
        TRY(buf_append_str(out, "{\"cells\":"));
        TRY(doc_write(cells, out));
        const char *include = rq->x ? http_query_get(rq->x, "includeObject") : NULL;
        if (text_equal(include, "None"))
                return buf_append_str(out, ",\"object\":null}");
        TRY(buf_append_str(out, ",\"object\":"));
        if (text_equal(include, "Object"))
                TRY(doc_write(doc, out));
        else
                TRY(append_partial_doc(rq, doc, out));
        return buf_append_char(out, '}');
}

static int append_table_head(struct request *rq, const char *rv, const char *continue_token,
                             int64_t remaining, bool columns, struct buf *out)
{
        TRY(buf_printf(out,
                       "{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/"
                       "%s\",\"metadata\":{\"resourceVersion\":\"%s\"",
                       rq->form_version ? rq->form_version : "v1", rv));
        if (!text_empty(continue_token))
                TRY(buf_printf(out, ",\"continue\":\"%s\"", continue_token));
        if (remaining > 0)
                TRY(buf_printf(out, ",\"remainingItemCount\":%" PRId64, remaining));
        TRY(buf_append_str(out, "},"));
        if (columns)
                TRY(append_columns(rq, out));
        else
                TRY(buf_append_str(out, "\"columnDefinitions\":null"));
        return buf_append_str(out, ",\"rows\":[");
}

static int append_table_of(struct request *rq, const json_t *doc, bool columns, struct buf *out)
{
        const char *rv = doc_get_string(doc, "metadata.resourceVersion");
        TRY(append_table_head(rq, rv ? rv : "", NULL, 0, columns, out));
        TRY(append_row(rq, doc, out));
        return buf_append_str(out, "]}");
}

/* ---- objects ---- */

static bool is_identity(struct request *rq, const struct blob *b)
{
        const struct table *t = request_table(rq, false);
        return t && convert_is_identity(rq, t, b);
}

int render_doc(struct request *rq, const json_t *doc, struct buf *out)
{
        const char *kind = doc_get_string(doc, "kind");
        bool own = rq->resource && text_equal(kind, rq->resource->kind);
        if (rq->form == FORM_TABLE && own)
                return append_table_of(rq, doc, true, out);
        if (rq->form == FORM_PARTIAL && own)
                return append_partial_doc(rq, doc, out);
        return doc_write(doc, out);
}

static int render(struct request *rq, const struct blob *b, bool columns, struct buf *out)
{
        if (rq->form == FORM_PARTIAL)
                return append_partial(rq, metadata_text(b), out);
        if (rq->form == FORM_OBJECT && is_identity(rq, b))
                return buf_append(out, b->data, b->len);
        AUTO_JSON json_t *doc = NULL;
        TRY(convert_blob(rq, b, &doc, NULL));
        if (rq->form == FORM_TABLE)
                return append_table_of(rq, doc, columns, out);
        return doc_write(doc, out);
}

int render_blob(struct request *rq, const struct blob *b, struct buf *out)
{
        return render(rq, b, true, out);
}

int render_event_object(struct request *rq, const struct blob *b, bool first, struct buf *out)
{
        return render(rq, b, first, out);
}

/* ---- lists ---- */

int render_item(struct request *rq, const struct blob *b, struct buf *out)
{
        if (rq->form == FORM_PARTIAL)
                return append_partial(rq, metadata_text(b), out);
        if (rq->form == FORM_OBJECT && is_identity(rq, b)) {
                if (rq->resource->custom)
                        return buf_append(out, b->data, b->len);
                TRY(buf_append_char(out, '{'));
                return buf_append(out, b->data + b->rest_at, b->len - b->rest_at);
        }
        AUTO_JSON json_t *doc = NULL;
        TRY(convert_blob(rq, b, &doc, NULL));
        if (rq->form == FORM_TABLE)
                return append_row(rq, doc, out);
        if (!rq->resource->custom) { /* the list says it for all */
                json_object_del(doc, "kind");
                json_object_del(doc, "apiVersion");
        }
        return doc_write(doc, out);
}

int render_list_begin(struct request *rq, const char *rv, const char *continue_token, int64_t remaining,
                      struct buf *out)
{
        if (rq->form == FORM_TABLE)
                return append_table_head(rq, rv, continue_token, remaining, true, out);
        if (rq->form == FORM_PARTIAL)
                TRY(buf_printf(out,
                               "{\"kind\":\"PartialObjectMetadataList\",\"apiVersion\":\"meta.k8s.io/%s\"",
                               rq->form_version ? rq->form_version : "v1"));
        else
                TRY(buf_printf(out, "{\"kind\":\"%s\",\"apiVersion\":\"%s\"", rq->resource->list_kind,
                               request_api_version(rq)));
        TRY(buf_printf(out, ",\"metadata\":{\"resourceVersion\":\"%s\"", rv));
        if (!text_empty(continue_token) || (rq->resource->custom && rq->form == FORM_OBJECT))
                TRY(buf_printf(out, ",\"continue\":\"%s\"", continue_token ? continue_token : ""));
        if (remaining > 0)
                TRY(buf_printf(out, ",\"remainingItemCount\":%" PRId64, remaining));
        return buf_append_str(out, "},\"items\":[");
}

/* Kinds without columns of their own: the API server leaves the rows of an empty list null. */
static bool has_default_columns(const struct request *rq)
{
        struct cell_column columns[BUILTIN_COLUMNS_MAX];
        return !rq->resource->custom &&
               builtin_columns(rq->resource->group, rq->resource->kind, columns) == 2 &&
               strcmp(columns[1].name, "Created At") == 0;
}

int render_list_end(struct request *rq, struct buf *out)
{
        static const char empty[] = "\"rows\":[";
        if (rq->form == FORM_TABLE && out->len && text_ends_with(out->data, empty) &&
            has_default_columns(rq)) {
                out->data[--out->len] = '\0';
                return buf_append_str(out, "null}\n");
        }
        return buf_append_str(out, "]}\n");
}

/* The row that a Table shows for an object in which nothing is set. */
static int append_empty_cells(struct request *rq, struct buf *out)
{
        const struct resource *r = rq->resource;
        AUTO_JSON json_t *nothing = json_object(), *cells = json_array();
        if (!nothing || !cells)
                return ERR_NO_MEMORY;
        TRY(r->custom ? custom_cells(rq, nothing, cells)
                      : builtin_cells(r->group, r->kind, nothing, rq->now_ms, cells));
        return doc_write(cells, out);
}

static void append_api_version(const char *group, const char *version, struct buf *out)
{
        (void)buf_append_str(out, group);
        if (*group)
                (void)buf_append_char(out, '/');
        (void)buf_append_str(out, version);
}

/* Of each watch once a minute: nothing is kept of it in the request's arena. */
int render_bookmark(struct request *rq, uint64_t rv, bool initial_end, struct buf *out)
{
        const char *annotations =
                initial_end ? ",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}" : "";
        if (rq->form == FORM_TABLE) {
                TRY(buf_printf(out,
                               "{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/"
                               "v1\",\"metadata\":{\"resourceVersion\":\"%" PRIu64
                               "\"},\"columnDefinitions\":null,\"rows\":[{\"cells\":",
                               rv));
                TRY(append_empty_cells(rq, out));
                return buf_printf(
                        out,
                        ",\"object\":{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/"
                        "v1\",\"metadata\":{\"resourceVersion\":\"%" PRIu64 "\"%s}}}]}",
                        rv, annotations);
        }
        bool partial = rq->form == FORM_PARTIAL;
        (void)buf_append_str(out, "{\"kind\":\"");
        (void)buf_append_str(out, partial ? "PartialObjectMetadata" : rq->resource->kind);
        (void)buf_append_str(out, "\",\"apiVersion\":\"");
        append_api_version(partial ? "meta.k8s.io" : rq->resource->group,
                           partial ? "v1" : rq->resource_version->version, out);
        (void)buf_append_str(out, "\",\"metadata\":{\"resourceVersion\":\"");
        (void)buf_append_uint(out, rv);
        (void)buf_append_char(out, '"');
        (void)buf_append_str(out, annotations);
        return buf_append_str(out, "}}");
}
