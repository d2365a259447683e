/* Failed Jobs that are to be made anew: spec/resource-set.md 9.5. */
#include "hub-agent/resource-set/health.h"
#include "hub-agent/resource-set/pass.h"

#define GONE_POLL_MS 5000
#define GONE_WAIT_MS 60000

static const struct kube_resource jobs = { "batch", "v1", "jobs", "Job", true };

static bool is_to_be_made_anew(const json_t *doc)
{
        const char *const path[] = { "metadata", "annotations", ANNOTATION_FLUX_RECREATE };

        return text_equal(doc_get_string(doc, "apiVersion"), "batch/v1") &&
               text_equal(doc_get_string(doc, "kind"), "Job") &&
               text_equal(json_string_value(doc_get_keys(doc, path, 3)), FLUX_ENABLED);
}

/* gone->uid is set of one that was deleted. */
static int delete_if_failed(struct set_pass *p, const json_t *doc, struct gone *ret_gone, struct error *err)
{
        const char *ns = doc_get_string(doc, "metadata.namespace"),
                   *name = doc_get_string(doc, "metadata.name");
        const char *words = object_words(p->rc->arena, doc);
        json_t *live;
        int code;

        if (!words)
                return error_no_memory(err);
        if (!ns || !name)
                return 0; /* applying it tells what it lacks */
        words += strlen("Job/");
        if (pass_read(p, &p->kube, &jobs, ns, name, &live, err) < 0)
                return error_wrap(err, "failed to read Job %s status", words);
        if (!live || !is_made_by(p->set, live) ||
            !text_equal(doc_condition(live, "Failed", "status"), CONDITION_TRUE))
                return 0;
        *ret_gone = (struct gone){ &jobs, ns, name, or_empty(doc_get_string(live, "metadata.uid")) };
        code = kube_doc_delete(&p->kube, &jobs, ns, name, ret_gone->uid, "Foreground", err);
        if (code < 0 && code != ERR_NOT_FOUND)
                return error_wrap(err, "failed to delete failed Job %s", words);
        error_clear(err);
        return 0;
}

int pass_replace_failed_jobs(struct set_pass *p, const struct set_item *items, size_t n, struct error *err)
{
        struct gone *gone = ARENA_NEW_ARRAY(p->rc->arena, struct gone, n + 1);
        int64_t deadline_ms;

        if (!gone)
                return error_no_memory(err);
        for (size_t i = 0; i < n; i++)
                if (is_to_be_made_anew(items[i].object->doc))
                        TRY(delete_if_failed(p, items[i].object->doc, &gone[i], err));
        deadline_ms = loop_now_ms(agent_of(p->rc)->world->loop) + GONE_WAIT_MS;
        for (size_t i = 0; i < n; i++)
                if (gone[i].uid && pass_await_gone(p, &gone[i], GONE_POLL_MS, deadline_ms, err) < 0)
                        return error_wrap(err, "failed to wait for Jobs termination");
        return 0;
}
