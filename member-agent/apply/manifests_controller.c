/* A Work's manifests, decoded and found their resources, and as whom they are applied:
 * spec/member-agent.md 2.3. */
#include "member-agent/apply/decode.h"
#include "member-agent/apply/pass.h"

int pass_choose_account(struct pass *p, struct error *err)
{
        const char *account = p->agent->options->namespace_account, *ns = work_only_namespace(p->work);

        p->objects = p->agent->member;
        if (text_empty(account) || !ns)
                return 0;
        p->objects.connection = NULL;
        p->objects.impersonate = arena_printf(p->arena, "system:serviceaccount:%s:%s", ns, account);
        return p->objects.impersonate ? 0 : error_no_memory(err);
}

int pass_map_manifest(struct pass *p, struct manifest *m, struct error *err)
{
        return manifest_map(m, p->agent->mapper, work_only_namespace(p->work), p->arena, err);
}

int pass_decode_manifests(struct pass *p, struct error *err)
{
        return manifests_of_work(p->work, p->agent->mapper, p->arena, &p->manifests, &p->n, err);
}
