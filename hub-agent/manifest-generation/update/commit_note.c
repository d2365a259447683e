/* The note on a commit of ours: which job it was of, and what that did. spec/flux-yaml.md 9.4.4. */
#include "hub-agent/manifest-generation/update/commit.h"
#include "hub-agent/manifest-generation/update/words.h"

/* ---- writing ---- */

static int set_string(json_t *object, const char *key, const char *value)
{
        json_t *text = json_string(value);

        return text && json_object_set_new(object, key, text) == 0 ? 0 : ERR_NO_MEMORY;
}

/* A new member, borrowed; NULL on no memory. */
static json_t *set_new(json_t *object, const char *key, json_t *value)
{
        return value && json_object_set_new(object, key, value) == 0 ? value : NULL;
}

static int append_string(json_t *array, const char *value)
{
        json_t *text = json_string(value);

        return text && json_array_append_new(array, text) == 0 ? 0 : ERR_NO_MEMORY;
}

/* Of each workload what was set and what was taken away. */
static int put_policy_spec(json_t *into, const struct job_plan *p)
{
        for (size_t i = 0; i < p->n_changes; i++) {
                const struct job_change *c = &p->changes[i];
                json_t *of = json_object_get(into, c->object->id), *part;
                const char *key = c->value ? "add" : "remove";

                if (!of)
                        of = set_new(into, c->object->id, json_object());
                part = json_object_get(of, key);
                if (of && !part)
                        part = set_new(of, key, json_object());
                if (!part || set_string(part, c->policy, c->value ? c->value : "true") < 0)
                        return ERR_NO_MEMORY;
        }
        return 0;
}

static int put_image(const struct job_image *i, struct buf *b)
{
        if (b->len)
                buf_append_str(b, ", ");
        if (i->container)
                buf_printf(b, "%s=", i->container);
        return buf_append_str(b, *i->image.path ? i->image.text : "<all latest>");
}

static int put_image_spec(json_t *into, const struct job_request *r)
{
        json_t *workloads = set_new(into, "ServiceSpecs", json_array());
        AUTO_BUF struct buf b;

        buf_init(&b, 1u << 20);
        for (size_t i = 0; i < r->n_images; i++)
                put_image(&r->images[i], &b);
        if (!workloads || b.failed || set_string(into, "ImageSpec", b.data) < 0 ||
            set_string(into, "Kind", "execute") < 0 || !set_new(into, "Excludes", json_null()) ||
            !set_new(into, "Force", json_boolean(r->force)))
                return ERR_NO_MEMORY;
        if (r->all)
                return append_string(workloads, "<all>");
        for (size_t i = 0; i < r->n_workloads; i++)
                TRY(append_string(workloads, r->workloads[i]));
        return 0;
}

static int put_automatic_spec(json_t *into, const struct job_plan *p)
{
        json_t *changes = set_new(into, "Changes", json_array());

        for (size_t i = 0; changes && i < p->n_results; i++)
                for (size_t k = 0; k < p->results[i].n_containers; k++) {
                        const struct container_update *u = &p->results[i].containers[k];
                        json_t *change = json_object(), *container;

                        if (!change || json_array_append_new(changes, change) < 0)
                                return ERR_NO_MEMORY;
                        container = set_new(change, "Container", json_object());
                        if (!container || set_string(change, "WorkloadID", p->results[i].id) < 0 ||
                            set_string(container, "Name", u->container) < 0 ||
                            set_string(container, "Image", u->current.text) < 0 ||
                            set_string(change, "ImageID", u->target) < 0)
                                return ERR_NO_MEMORY;
                }
        return changes ? 0 : ERR_NO_MEMORY;
}

static int put_spec(json_t *note, const struct job_request *r, const struct job_plan *p)
{
        json_t *spec = set_new(note, "spec", json_object()), *cause, *inner;

        if (!spec || set_string(spec, "type", job_type_name(r->type)) < 0)
                return ERR_NO_MEMORY;
        cause = set_new(spec, "cause", json_object());
        if (!cause || set_string(cause, "Message", or_empty(r->message)) < 0 ||
            set_string(cause, "User", or_empty(r->user)) < 0)
                return ERR_NO_MEMORY;
        inner = set_new(spec, "spec", json_object());
        if (!inner)
                return ERR_NO_MEMORY;
        if (r->type == JOB_POLICY)
                return put_policy_spec(inner, p);
        return r->type == JOB_AUTO ? put_automatic_spec(inner, p) : put_image_spec(inner, r);
}

static int put_containers(json_t *into, const struct update_result *r)
{
        json_t *list = set_new(into, "PerContainer", json_array());

        for (size_t i = 0; list && i < r->n_containers; i++) {
                const struct container_update *u = &r->containers[i];
                json_t *one = json_object();

                if (!one || json_array_append_new(list, one) < 0 ||
                    set_string(one, "Container", u->container) < 0 ||
                    set_string(one, "Current", u->current.text) < 0 ||
                    set_string(one, "Target", u->target) < 0)
                        return ERR_NO_MEMORY;
        }
        return list ? 0 : ERR_NO_MEMORY;
}

static int put_results(json_t *note, const struct job_plan *p)
{
        json_t *results = set_new(note, "result", json_object());

        for (size_t i = 0; results && i < p->n_results; i++) {
                const struct update_result *r = &p->results[i];
                json_t *one;

                if (r->status == UPDATE_IGNORED)
                        continue;
                one = set_new(results, r->id, json_object());
                if (!one || set_string(one, "Status", update_status_name(r->status)) < 0 ||
                    (*r->text && set_string(one, "Error", r->text) < 0) ||
                    (r->n_containers && put_containers(one, r) < 0))
                        return ERR_NO_MEMORY;
        }
        return results ? 0 : ERR_NO_MEMORY;
}

int commit_note_write(const char *job_id, const struct job_request *r, const struct job_plan *p,
                      struct buf *ret, struct error *err)
{
        AUTO_JSON json_t *note = json_object();

        if (!note || set_string(note, "jobID", job_id) < 0 || put_spec(note, r, p) < 0 ||
            put_results(note, p) < 0)
                return error_no_memory(err);
        doc_write(note, ret);
        return buf_status(ret, err, "the note on a commit");
}

/* ---- reading ---- */

static int read_type(const json_t *note, enum job_type *ret, struct error *err)
{
        const char *type = or_empty(doc_get_string(note, "spec.type"));

        for (enum job_type t = JOB_SYNC; t <= JOB_AUTO; t++)
                if (strcmp(type, job_type_name(t)) == 0) {
                        *ret = t;
                        return 0;
                }
        return error_set(err, ERR_INVALID, "spec.type is none that is known");
}

static int copy(struct arena *arena, const char *text, const char **ret)
{
        *ret = arena_strdup(arena, or_empty(text));
        return *ret ? 0 : ERR_NO_MEMORY;
}

static int read_workloads(struct arena *arena, json_t *results, struct commit_note *n)
{
        const char **at = ARENA_NEW_ARRAY(arena, const char *, json_object_size(results) + 1), *id;
        json_t *result;

        if (!at)
                return ERR_NO_MEMORY;
        json_object_foreach(results, id, result) {
                if (!text_equal(doc_get_string(result, "Status"), "success"))
                        continue;
                TRY(copy(arena, id, &at[n->n_workloads]));
                n->n_workloads++;
        }
        qsort(at, n->n_workloads, sizeof(*at), words_compare);
        n->workloads = at;
        return 0;
}

static int read_note(struct arena *arena, const json_t *note, struct commit_note *ret, struct error *err)
{
        struct commit_note n = { .n_workloads = 0 };

        if (text_empty(doc_get_string(note, "jobID")))
                return error_set(err, ERR_INVALID, "there is no jobID");
        TRY(read_type(note, &n.type, err));
        if (copy(arena, doc_get_string(note, "jobID"), &n.job_id) < 0 ||
            copy(arena, doc_get_string(note, "spec.cause.User"), &n.user) < 0 ||
            copy(arena, doc_get_string(note, "spec.cause.Message"), &n.message) < 0 ||
            read_workloads(arena, doc_get_object(note, "result"), &n) < 0)
                return error_no_memory(err);
        *ret = n;
        return 0;
}

int commit_note_read(struct arena *arena, struct slice text, struct commit_note *ret, struct error *err)
{
        AUTO_JSON json_t *note = NULL;
        int code;

        if (text.len > COMMIT_NOTE_BYTES_MAX)
                return error_set(err, ERR_LIMIT, "a note on a commit has more than %u bytes",
                                 COMMIT_NOTE_BYTES_MAX);
        code = doc_parse(text, &note, err);
        if (code == 0)
                code = read_note(arena, note, ret, err);
        return code < 0 && code != ERR_NO_MEMORY ? error_wrap(err, "no note of ours") : code;
}
