/* MemberClusters: spec/membership-webhooks-charts.md 5.6. */
#include "hub-agent/membership/membership.h"
#include "hub-agent/webhook/rules.h"

static void taint_faults(const struct taint *t, const char *text, struct faults *f)
{
        const char *faults[NAME_FAULTS_MAX];
        size_t n = qualified_name_faults(or_empty(t->key), faults);

        for (size_t i = 0; i < n; i++)
                FAULT(f, "invalid taint key %s: %s", text, faults[i]);
        n = label_value_faults(or_empty(t->value), faults);
        for (size_t i = 0; i < n; i++)
                FAULT(f, "invalid taint value %s: %s", text, faults[i]);
}

static int check_taints(struct admission_call *c, const struct member_cluster *m)
{
        struct faults f = { .arena = c->arena };
        struct map seen;

        map_init(&seen, MAP_BORROW_KEYS, NULL);
        for (uint32_t i = 0; m->spec && i < m->spec->taints.n && !f.no_memory; i++) {
                const char *text = taint_text(&m->spec->taints.at[i], &f);

                taint_faults(&m->spec->taints.at[i], text, &f);
                if (seen_before(&seen, text, &f))
                        FAULT(&f, "taint %s already exists, taints must be unique", text);
        }
        map_free(&seen);
        if (f.no_memory)
                return error_no_memory(c->err);
        if (f.n)
                return admission_deny_faults(c, "", &f);
        if (member_period_fault(c->arena, m, &c->answer.warning) < 0)
                return error_no_memory(c->err);
        return ADMISSION_ALLOW(c, "memberCluster has valid fields");
}

/* Exported services would be left without the cluster that serves them. */
static int check_exports(struct admission_call *c, const char *member)
{
        const char *ns = arena_printf(c->arena, NAME_MEMBER_NAMESPACE, member);
        AUTO_JSON json_t *exports = NULL;
        struct error why = { 0 };
        json_t *e;
        size_t i;

        if (!ns)
                return error_no_memory(c->err);
        if (c->world->service_exports(c->world->ctx, ns, &exports, &why) < 0)
                return admission_fail(c, 500, &why);
        json_array_foreach(exports, i, e)
                if (!doc_get_string(e, "metadata.deletionTimestamp"))
                        return ADMISSION_DENY(
                                c,
                                "Please delete serviceExport %s in the member cluster before leaving, "
                                "request is denied",
                                or_empty(doc_get_string(e, "spec.serviceReference.namespacedName")));
        return ADMISSION_ALLOW(c, "no service of the member cluster is exported");
}

static int check_leaving(struct admission_call *c, const struct member_cluster *m)
{
        const struct delete_options *options = m->spec ? m->spec->delete_options : NULL;

        if (options && text_equal(options->validation_mode, "Skip"))
                return ADMISSION_ALLOW(c, "memberCluster is deleted without a check, as it says");
        if (!c->world->flags.networking_agents)
                return ADMISSION_ALLOW(c, "no networking agents are expected");
        return check_exports(c, m->object.meta.name);
}

int member_validate(struct admission_call *c)
{
        bool deleting = c->request.operation == ADMISSION_DELETE;
        const struct object *o;
        int code;

        if (c->request.operation == ADMISSION_CONNECT || admission_keeps_spec(c))
                return admission_allow(c);
        if (admission_cannot_decode(c, &member_cluster_kind,
                                    deleting ? c->request.old_object : c->request.object, &o, &code))
                return code;
        return deleting ? check_leaving(c, (const struct member_cluster *)o)
                        : check_taints(c, (const struct member_cluster *)o);
}
