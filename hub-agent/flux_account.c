#include "hub-agent/flux_account.h"

const char *flux_account(struct reconcile *rc, const char *own)
{
        return text_empty(own) ? agent_of(rc)->options->default_service_account : own;
}

int flux_account_client(struct reconcile *rc, const char *ns, const char *own, struct kube_client *ret)
{
        const char *account = flux_account(rc, own);

        *ret = *rc->kube;
        if (text_empty(account))
                return 0;
        ret->connection = NULL;
        ret->impersonate = arena_printf(rc->arena, "system:serviceaccount:%s:%s", or_empty(ns), account);
        return ret->impersonate ? 0 : error_no_memory(rc->err);
}
