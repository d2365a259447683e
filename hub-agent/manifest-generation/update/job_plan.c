/* From a request to what has to be done, workload by workload. */
#include "hub-agent/manifest-generation/update/plan_builder.h"
#include "hub-agent/manifest-generation/update/words.h"

const char *update_status_name(enum update_status s)
{
        static const char *const names[] = { "success", "skipped", "ignored", "failed" };

        return names[s];
}

/* ---- policies ---- */

static int names_of(struct arena *arena, const struct workload_view *w, struct policy_target *t,
                    struct error *err)
{
        const char **names = ARENA_NEW_ARRAY(arena, const char *, w->n + 1);

        if (!names)
                return error_no_memory(err);
        t->containers = names;
        for (size_t i = 0; i < w->n; i++)
                if (*w->containers[i].name)
                        names[t->n_containers++] = w->containers[i].name;
        return 0;
}

static int add_annotation(struct plan_builder *b, const struct update_object *object,
                          const struct annotation_change *a)
{
        struct doc_step *steps = ARENA_NEW_ARRAY(b->arena, struct doc_step, 3);
        struct job_change c = { .object = object,
                                .policy = a->policy,
                                .annotation = a->annotation,
                                .place = { steps, 3 },
                                .value = a->value };

        if (!steps)
                return error_no_memory(b->err);
        steps[0].key = "metadata";
        steps[1].key = "annotations";
        steps[2].key = a->annotation;
        b->sets_automated |= strcmp(a->policy, POLICY_AUTOMATED) == 0 && text_equal(a->value, "true");
        return plan_add_change(b, &c);
}

/* Updaters know policies by their names alone: each is told once. */
static bool is_told(const struct annotation_changes *c, size_t i)
{
        for (size_t k = 0; k < i; k++)
                if (strcmp(c->at[k].policy, c->at[i].policy) == 0)
                        return true;
        return false;
}

static int plan_policies(struct plan_builder *b, const struct job_request *r,
                         const struct update_object *object, const struct workload_view *w)
{
        struct policy_set have;
        struct policy_target t = { .annotations = doc_get_object(object->doc, "metadata.annotations"),
                                   .have = &have };
        struct annotation_changes changes;

        TRY(policy_set_read(b->arena, object->doc, &have, b->err));
        TRY(names_of(b->arena, w, &t, b->err));
        TRY(policy_changes_plan(b->arena, &t, &r->policies, &changes, b->err));
        for (size_t i = 0; i < changes.n; i++)
                if (object->origin != ORIGIN_COMMANDS || !is_told(&changes, i))
                        TRY(add_annotation(b, object, &changes.at[i]));
        return plan_add_result(b, object->id, changes.n ? UPDATE_SUCCESS : UPDATE_SKIPPED, "");
}

/* ---- all of them ---- */

static int fails(struct plan_builder *b, const char *id, const char *text)
{
        const char *own = arena_strdup(b->arena, text);

        return own ? plan_add_result(b, id, UPDATE_FAILED, own) : error_no_memory(b->err);
}

static int plan_object(struct plan_builder *b, const struct job_request *r,
                       const struct update_object *object, bool named, const struct image_catalog *catalog)
{
        struct error why = { 0 };
        struct workload_view w;
        int code;

        if (!named && !workload_is_kind(doc_get_string(object->doc, "kind")))
                return 0;
        code = workload_read(b->arena, object->id, object->doc, &w, &why);
        if (code == ERR_NO_MEMORY)
                return error_no_memory(b->err);
        if (code < 0)
                return fails(b, object->id, why.text);
        if (r->type == JOB_POLICY)
                return plan_policies(b, r, object, &w);
        return plan_images(b, r, object, named, catalog);
}

static int plan_missing(struct plan_builder *b, const struct job_request *r, const char *id)
{
        const char *text;

        if (r->type == JOB_IMAGE)
                return plan_add_result(b, id, UPDATE_SKIPPED, "not found in repository");
        text = arena_printf(b->arena, "resource %s not found", id);
        return text ? plan_add_result(b, id, UPDATE_FAILED, text) : error_no_memory(b->err);
}

static int plan_excluded(struct plan_builder *b, const struct job_request *r,
                         const struct update_object *object)
{
        if (r->type != JOB_IMAGE || !workload_is_kind(doc_get_string(object->doc, "kind")))
                return 0;
        return plan_add_result(b, object->id, UPDATE_IGNORED, "not included");
}

/* Identities of the request and of the objects, both sorted, side by side. */
static int plan_both(struct plan_builder *b, const struct job_request *r,
                     const struct update_object *const *objects, size_t n,
                     const struct image_catalog *catalog)
{
        size_t i = 0, k = 0;

        while (i < n || k < r->n_workloads) {
                int order = i == n ? 1 : k == r->n_workloads ? -1 : strcmp(objects[i]->id, r->workloads[k]);

                if (order > 0)
                        TRY(plan_missing(b, r, r->workloads[k++]));
                else if (order == 0)
                        TRY(plan_object(b, r, objects[i++], true, catalog));
                else if (r->all)
                        TRY(plan_object(b, r, objects[i++], false, catalog));
                else
                        TRY(plan_excluded(b, r, objects[i++]));
                k += order == 0;
        }
        return 0;
}

int job_plan_make(struct arena *arena, const struct job_request *r, const struct update_objects *objects,
                  const struct image_catalog *catalog, struct job_plan *ret, struct error *err)
{
        struct plan_builder b = { .arena = arena, .err = err };
        const struct update_object *const *sorted;

        TRY(plan_sort_objects(arena, objects, &sorted, err));
        TRY(plan_both(&b, r, sorted, objects->n, catalog));
        *ret = plan_of(&b);
        return 0;
}

/* ---- for people ---- */

static void describe_one(const struct update_result *r, struct buf *b)
{
        buf_printf(b, "%s%s: %s", b->len ? "\n" : "", r->id, update_status_name(r->status));
        if (*r->text)
                buf_printf(b, ": %s", r->text);
        for (size_t i = 0; i < r->n_containers; i++)
                buf_printf(b, "%s%s: %s -> %s", i ? ", " : ": ", r->containers[i].container,
                           r->containers[i].current.text, r->containers[i].target);
}

int job_plan_describe(const struct job_plan *p, struct buf *b)
{
        for (size_t i = 0; i < p->n_results; i++)
                if (p->results[i].status != UPDATE_IGNORED)
                        describe_one(&p->results[i], b);
        if (p->n_of[UPDATE_IGNORED])
                buf_printf(b, "%s%zu ignored", b->len ? "\n" : "", p->n_of[UPDATE_IGNORED]);
        return b->failed;
}

/* ---- doing it ---- */

int job_change_document(const struct job_change *c, json_t *doc, struct error *err)
{
        return c->value ? doc_set_at(doc, &c->place, json_string(c->value), err)
                        : doc_remove_at(doc, &c->place, err);
}

static struct yaml_edit edit_of(const struct job_change *c)
{
        const json_t *doc = c->object->doc;
        struct yaml_object object = { or_empty(doc_get_string(doc, "kind")),
                                      doc_get_string(doc, "metadata.namespace"),
                                      or_empty(doc_get_string(doc, "metadata.name")) };

        return (struct yaml_edit){ object, c->place, c->value };
}

int job_edit_file(const struct job_plan *p, const char *source, struct slice text, struct buf *ret,
                  struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct yaml_edit *edits = ARENA_NEW_ARRAY(&arena, struct yaml_edit, p->n_changes + 1);
        size_t n = 0;
        int code;

        if (!edits)
                return error_no_memory(err);
        for (size_t i = 0; i < p->n_changes; i++) {
                const struct update_object *o = p->changes[i].object;

                if (o->origin == ORIGIN_RAW && strcmp(o->source, source) == 0)
                        edits[n++] = edit_of(&p->changes[i]);
        }
        code = yaml_edit_all(text, edits, n, ret, err);
        return code < 0 && code != ERR_NO_MEMORY ? error_wrap(err, "cannot change %s", source) : code;
}
