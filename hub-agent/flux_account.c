#include "hub-agent/flux_account.h"

bool flux_account_is_named(const char *text)
{
        const char *slash = text ? strchr(text, '/') : NULL;

        return slash && slash != text && slash[1] && !strchr(slash + 1, '/');
}

static int account_of_all(struct arena *arena, const char *text, struct flux_account *ret)
{
        const char *slash = strchr(text, '/');

        ASSERT(flux_account_is_named(text));
        *ret = (struct flux_account){ arena_strndup(arena, text, (size_t)(slash - text)),
                                      arena_strdup(arena, slash + 1), false };
        return ret->ns && ret->name ? 0 : ERR_NO_MEMORY;
}

int flux_account_of(struct arena *arena, const char *ns, const char *named, const struct hub_agent_options *o,
                    struct flux_account *ret)
{
        const char *name = text_empty(named) ? o->default_service_account : named;

        *ret = (struct flux_account){ 0 };
        if (!text_empty(name))
                *ret = (struct flux_account){ or_empty(ns), name, true };
        else if (!text_empty(o->resource_set_account))
                return account_of_all(arena, o->resource_set_account, ret);
        return 0;
}

const char *flux_account_user(struct arena *arena, const struct flux_account *account)
{
        return arena_printf(arena, "system:serviceaccount:%s:%s", account->ns, account->name);
}

int flux_account_client(struct reconcile *rc, const struct flux_account *account, struct kube_client *ret)
{
        *ret = *rc->kube;
        if (!account->name)
                return 0;
        ret->connection = NULL; /* what it may not says nothing of the agent's own way */
        ret->impersonate = flux_account_user(rc->arena, account);
        return ret->impersonate ? 0 : error_no_memory(rc->err);
}
