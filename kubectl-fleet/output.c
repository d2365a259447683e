#include "kubectl-fleet/output.h"

#include <ctype.h>
#include <strings.h>

#include "common/base/timefmt.h"
#include "proto/gen/kinds.h"

#define FLUSH_BYTES (64u << 10) /* of a long stream: it is not kept whole */

struct screen session_screen(struct session *s)
{
        const char *colour = s->options.colour;
        struct screen screen = { .out = &s->out };
        unsigned rows;

        screen.colours =
                text_equal(colour, "always") || (!text_equal(colour, "never") && s->terminal->colours);
        screen.drawn = screen.colours;
        if (s->terminal->size)
                s->terminal->size(s->terminal->ctx, &screen.columns, &rows);
        return screen;
}

bool output_is(const struct session *s, const char *format)
{
        return text_equal(s->options.output ? s->options.output : "", format);
}

bool output_is_document(const struct session *s)
{
        return output_is(s, "json") || output_is(s, "yaml");
}

int output_document(struct session *s, json_t *taken, struct error *err)
{
        AUTO_JSON json_t *doc = taken;

        if (!doc)
                return error_no_memory(err);
        if (output_is(s, "yaml"))
                return yaml_write(doc, &s->out);
        TRY(doc_write_pretty(doc, &s->out));
        return s->out.len && s->out.data[s->out.len - 1] == '\n' ? 0 : buf_append_char(&s->out, '\n');
}

static void write_kind(struct buf *b, struct slice group, const char *kind)
{
        for (const char *c = kind; *c; c++)
                buf_append_char(b, (char)tolower((unsigned char)*c));
        if (group.len)
                buf_printf(b, ".%.*s", (int)group.len, group.data);
}

void output_kind(struct buf *b, const struct kind *kind)
{
        write_kind(b, slice_of(kind->group), kind->kind);
}

void output_object(struct buf *b, struct slice group, const char *kind, const char *name)
{
        write_kind(b, group, kind);
        buf_printf(b, "/%s\n", name);
}

static int write_manifest(struct session *s, json_t *doc, bool first, struct error *err)
{
        struct slice version = slice_of(or_empty(doc_get_string(doc, "apiVersion"))), group;

        if (output_is(s, "name")) {
                if (!slice_cut(&version, '/', &group))
                        group = (struct slice){ 0 };
                output_object(&s->out, group, or_empty(doc_get_string(doc, "kind")),
                              or_empty(doc_get_string(doc, "metadata.name")));
        } else {
                if (!first)
                        buf_append_str(&s->out, "---\n");
                yaml_write(doc, &s->out);
        }
        TRY(buf_status(&s->out, err, "the output"));
        if (s->out.len > FLUSH_BYTES)
                session_flush(s);
        return 0;
}

int output_manifests(struct session *s, json_t *taken, struct error *err)
{
        AUTO_JSON json_t *all = taken;
        json_t *doc;
        size_t i;

        if (!all)
                return error_no_memory(err);
        if (output_is(s, "json"))
                return output_document(
                        s, json_pack("{s:s, s:s, s:O}", "apiVersion", "v1", "kind", "List", "items", all),
                        err);
        json_array_foreach(all, i, doc)
                TRY(write_manifest(s, doc, i == 0, err));
        return 0;
}

void output_name(struct session *s, const struct object *o)
{
        output_kind(&s->out, o->kind);
        buf_printf(&s->out, "/%s\n", o->meta.name);
}

const char *age_of(const struct session *s, int64_t since_ms, char ret[AGE_SIZE])
{
        ret[0] = '\0';
        if (since_ms != TIME_NONE && since_ms != 0)
                duration_format_human(MAX(0, loop_wall_ms(s->world->loop) - since_ms), ret, AGE_SIZE);
        return ret;
}

/* ---- names ---- */

const struct kind_names placement_names = { &cluster_resource_placement_kind,
                                            &resource_placement_kind,
                                            { "crp", "clusterresourceplacements", "rp",
                                              "resourceplacements" } };
const struct kind_names run_names = { &cluster_staged_update_run_kind,
                                      &staged_update_run_kind,
                                      { "csur", "clusterstagedupdateruns", "sur", "stagedupdateruns" } };

static bool is_kind(struct slice word, const struct kind *kind, const char *const names[2])
{
        struct slice bare;

        slice_cut(&word, '.', &bare); /* "crp.placement.kubernetes-fleet.io" */
        return (bare.len == strlen(kind->kind) && strncasecmp(bare.data, kind->kind, bare.len) == 0) ||
               slice_is(bare, names[0]) || slice_is(bare, names[1]);
}

int named_of(const struct session *s, const char *word, const struct kind_names *names, struct named *ret,
             struct error *err)
{
        struct slice rest = slice_of(word), kind;
        bool namespaced = !text_empty(s->options.namespace);

        *ret = (struct named){ .name = word };
        if (slice_cut(&rest, '/', &kind)) {
                ret->name = rest.data;
                if (is_kind(kind, names->cluster, names->names))
                        namespaced = false;
                else if (is_kind(kind, names->namespaced, names->names + 2))
                        namespaced = true;
                else
                        return error_set(err, ERR_INVALID, "\"%.*s\" is neither %s (%s) nor %s (%s)",
                                         (int)kind.len, kind.data, names->cluster->kind, names->names[0],
                                         names->namespaced->kind, names->names[2]);
        }
        if (text_empty(ret->name))
                return error_set(err, ERR_INVALID, "a name is missing in \"%s\"", word);
        ret->kind = namespaced ? names->namespaced : names->cluster;
        ret->ns = namespaced ? session_namespace(s) : NULL;
        return 0;
}

int explain_missing(const struct session *s, const struct named *n, struct error *err)
{
        if (n->ns)
                return error_set(err, ERR_NOT_FOUND, "%s \"%s\" not found in namespace \"%s\"", n->kind->kind,
                                 n->name, n->ns);
        return error_set(err, ERR_NOT_FOUND, "%s \"%s\" not found; -n NAMESPACE looks for a namespaced one",
                         n->kind->kind, n->name);
}
