#include "hub-agent/agent.h"
#include "hub-agent/webhook/keep.h"
#include "hub-agent/webhook/policies.h"
#include "hub-agent/webhook/policies_agent.h"
#include "hub-agent/webhook/registration.h"

#define KEY_ALL "all"

static const char *name_of(const json_t *doc)
{
        return or_empty(doc_get_string(doc, "metadata.name"));
}

/* ---- what is not wanted any more ---- */

static bool is_wanted(const json_t *wanted, const struct kube_resource *r, const char *name)
{
        json_t *w;
        size_t i;

        json_array_foreach(wanted, i, w)
                if (admission_policy_resource(w) == r && text_equal(name_of(w), name))
                        return true;
        return false;
}

static int remove_one(struct reconcile *rc, const struct kube_resource *r, const json_t *live)
{
        int code = kube_doc_delete(rc->kube, r, NULL, name_of(live),
                                   or_empty(doc_get_string(live, "metadata.uid")), NULL, rc->err);

        if (code < 0 && code != ERR_NOT_FOUND)
                return code;
        error_clear(rc->err);
        log_info(&rc->log, "an admission policy that is not wanted any more is removed", "kind", r->kind,
                 "name", name_of(live));
        return 0;
}

/* A server without such policies has none to remove. */
static int remove_others(struct reconcile *rc, const struct kube_resource *r, const json_t *wanted)
{
        AUTO_JSON json_t *items = NULL;
        json_t *live;
        size_t i;
        int code = kube_doc_list(rc->kube, r, NULL, ADMISSION_POLICY_SELECTOR, &items, rc->err);

        if (code == ERR_NOT_FOUND) {
                error_clear(rc->err);
                return 0;
        }
        TRY(code);
        json_array_foreach(items, i, live)
                if (admission_policy_is_named(name_of(live)) && !is_wanted(wanted, r, name_of(live)))
                        TRY(remove_one(rc, r, live));
        return 0;
}

/* A binding comes after its policy and goes before it. */
static int bring_about(struct reconcile *rc, const json_t *wanted)
{
        json_t *w;
        size_t i;

        json_array_foreach(wanted, i, w)
                TRY(keep_object(rc, admission_policy_resource(w), w, "an admission policy", NULL));
        TRY(remove_others(rc, &admission_policy_bindings, wanted));
        return remove_others(rc, &admission_policies, wanted);
}

/* An agent that is to install nothing may have no rights for it either. */
static struct outcome reconcile(struct reconcile *rc)
{
        static const struct admission_policies none;
        const struct admission_policies *p = agent_of(rc)->options->admission_policies;
        AUTO_JSON json_t *wanted = NULL;
        int code = admission_policies_make(p ? p : &none, &wanted, rc->err);

        if (code == 0)
                code = bring_about(rc, wanted);
        if (code < 0 && !(code == ERR_FORBIDDEN && !p))
                return failed(rc->err);
        error_clear(rc->err);
        return done();
}

const struct controller admission_policies_controller = {
        .name = "admission-policies",
        .reconcile = reconcile,
        .standing_key = KEY_ALL,
        .concurrency = 1,
};

/* ---- edits ---- */

static void changed(void *manager, const struct informer_event *e)
{
        manager_enqueue(manager, &admission_policies_controller, KEY_ALL, QUEUE_HIGH);
}

static int follow_edits(struct manager *m, const struct kube_resource *r)
{
        const struct informer_options o = { .kind = &partial_object_kind,
                                            .resource = r,
                                            .label_selector = ADMISSION_POLICY_SELECTOR,
                                            .flags = DECODE_PROJECTION };
        struct informer *i;

        TRY(manager_add_informer(m, &o, &i));
        return informer_add_handler(i, changed, m);
}

int admission_policies_start(struct manager *m, bool follow, struct error *err)
{
        manager_enqueue(m, &admission_policies_controller, KEY_ALL, QUEUE_NORMAL);
        if (follow &&
            (follow_edits(m, &admission_policies) < 0 || follow_edits(m, &admission_policy_bindings) < 0))
                return error_no_memory(err);
        return 0;
}
