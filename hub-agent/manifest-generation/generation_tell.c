/* What users see of the syncs: events and the status. spec/flux-yaml.md 8. */
#include "common/base/memory.h"
#include "common/kube/event.h"
#include "hub-agent/manifest-generation/generation_agent.h"

static const struct kube_resource config_maps = { "", "v1", "configmaps", "ConfigMap", true };
static const struct kube_write written = { .field_manager = GENERATION_COMPONENT, .force = true };

#define TOLD_MAX 10000 /* then they are told anew */

bool is_told(struct generator_agent *a, const char *text)
{
        if (map_has(&a->told, text))
                return true;
        if (map_count(&a->told) >= TOLD_MAX)
                map_clear(&a->told);
        (void)!map_put(&a->told, text, a);
        return false;
}

void warn_once(struct generator_agent *a, const char *text)
{
        if (!is_told(a, text))
                log_warn(&a->log, text);
}

/* ---- events ---- */

static void record(struct generator_agent *a, const struct kind *kind, const char *ns, const char *name,
                   const char *type, const char *reason, const char *text)
{
        const struct object about = { .kind = kind, .meta = { .name = name, .ns = ns } };

        event_record_by(manager_events(a->manager), GENERATION_EVENTS, &about, type, reason, "%s", text);
}

void generation_event(struct generator_agent *a, const char *type, const char *reason, const char *text)
{
        static const struct kind pod = { .api_version = "v1", .kind = "Pod" },
                                 deployment = { .api_version = "apps/v1", .kind = "Deployment" };
        const struct generation_options *o = a->options;

        record(a, text_empty(o->pod) ? &deployment : &pod, o->agent_namespace,
               text_empty(o->pod) ? o->deployment : o->pod, type, reason, text);
}

void generation_event_about(struct generator_agent *a, const struct sync_object *o, const char *type,
                            const char *reason, const char *text)
{
        const struct kind kind = { .api_version = o->api_version, .kind = o->kind };

        record(a, &kind, o->ns, o->name, type, reason, text);
}

void generation_tell_failure(struct generator_agent *a, struct sync_item *item)
{
        const struct sync_object *o = &item->object;
        AUTO_FREE char *text = mem_printf("%s (%s): %s", o->identity, o->source, or_empty(item->problem));

        item->told = true;
        log_warn(&a->log, "an object is not applied", "resource", o->identity, "source", o->source, "error",
                 or_empty(item->problem));
        generation_event(a, "Warning", "ApplyFailed", or_empty(text));
        generation_event_about(a, o, "Warning", "ApplyFailed", or_empty(item->problem));
}

/* ---- the status ---- */

int generation_write_status(struct generator_agent *a, struct error *err)
{
        const struct generation_options *o = a->options;
        const struct sync_status s = { .repository = &a->repository,
                                       .url = o->public_url,
                                       .branch = o->branch,
                                       .head = a->head.hex,
                                       .synced = a->synced.hex,
                                       .synced_ms = a->synced_ms,
                                       .objects = a->objects,
                                       .changed = a->changed,
                                       .ignored = a->ignored,
                                       .failed = a->failed,
                                       .deleted = a->deleted,
                                       .problems = &a->problems,
                                       .paths = a->paths,
                                       .records = a->records,
                                       .n_paths = a->n_paths,
                                       .images = a->images };
        AUTO_JSON json_t *data = NULL;
        AUTO_JSON json_t *doc = NULL;
        AUTO_JSON json_t *answer = NULL;

        TRY(sync_status_write(&s, &data, err));
        if (a->status && doc_equal(a->status, data)) {
                a->records_grew = false;
                return 0;
        }
        doc = json_pack("{s:s,s:s,s:{s:s,s:s},s:O}", "apiVersion", "v1", "kind", "ConfigMap", "metadata",
                        "name", SYNC_STATUS_NAME, "namespace", o->agent_namespace, "data", data);
        if (!doc)
                return error_no_memory(err);
        TRY(kube_doc_patch(&a->kube, &config_maps, o->agent_namespace, SYNC_STATUS_NAME, KUBE_PATCH_APPLY,
                           doc, &written, &answer, err));
        json_decref(a->status);
        a->status = TAKE_PTR(data);
        a->records_grew = false;
        return 0;
}

int generation_read_status(struct generator_agent *a, struct error *err)
{
        AUTO_JSON json_t *doc = NULL;
        int code;

        if (a->read_status)
                return 0;
        code = kube_doc_get(&a->kube, &config_maps, a->options->agent_namespace, SYNC_STATUS_NAME, &doc, err);
        if (code < 0 && code != ERR_NOT_FOUND)
                return error_wrap(err, "%s", SYNC_STATUS_NAME);
        error_clear(err);
        for (size_t i = 0; i < a->n_paths; i++)
                sync_status_record(json_object_get(doc, "data"), a->paths[i], &a->records[i]);
        a->read_status = true;
        return 0;
}
