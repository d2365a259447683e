#include "hub-agent/resource-set/account.h"

#include <string.h>

#include "common/base/text.h"

bool set_account_is_named(const char *text)
{
        const char *slash = text ? strchr(text, '/') : NULL;

        return slash && slash != text && slash[1] && !strchr(slash + 1, '/');
}

static int account_of_all(struct arena *arena, const char *text, struct set_account *ret)
{
        const char *slash = strchr(text, '/');

        ASSERT(set_account_is_named(text));
        *ret = (struct set_account){ arena_strndup(arena, text, (size_t)(slash - text)),
                                     arena_strdup(arena, slash + 1), false };
        return ret->ns && ret->name ? 0 : ERR_NO_MEMORY;
}

int set_account_of(struct arena *arena, const struct resource_set *set, const struct hub_agent_options *o,
                   struct set_account *ret)
{
        const char *name = set->spec ? set->spec->service_account_name : NULL;

        if (text_empty(name))
                name = o->default_service_account;
        *ret = (struct set_account){ 0 };
        if (!text_empty(name))
                *ret = (struct set_account){ or_empty(set->object.meta.ns), name, true };
        else if (!text_empty(o->resource_set_account))
                return account_of_all(arena, o->resource_set_account, ret);
        return 0;
}

const char *set_account_user(struct arena *arena, const struct set_account *account)
{
        return arena_printf(arena, "system:serviceaccount:%s:%s", account->ns, account->name);
}
