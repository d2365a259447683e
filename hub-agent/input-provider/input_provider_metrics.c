/* flux_resourcesetinputprovider_info: spec/resource-set.md 16.2. */
#include "common/base/memory.h"
#include "hub-agent/flux_info.h"
#include "hub-agent/input-provider/input_provider_agent.h"
#include "hub-agent/transfer/web_url.h"

enum { UID, KIND, NAME, NAMESPACE, READY, REASON, SUSPENDED, URL, N_SHOWN };

struct shown {
        struct memory base;
        struct flux_info info;
};

static void clear(void *record)
{
        flux_info_clear(&((struct shown *)record)->info);
}

static const struct memory_kind shown_kind = { sizeof(struct shown), clear };

struct input_providers *input_providers_new(void)
{
        struct input_providers *p = NEW(struct input_providers);

        if (!p)
                return NULL;
        source_memory_init(&p->sources);
        memories_init(&p->shown, &shown_kind);
        return p;
}

struct input_providers *input_providers_free(struct input_providers *p)
{
        if (!p)
                return NULL;
        source_memory_free(&p->sources);
        memories_free(&p->shown);
        mem_free(p);
        return NULL;
}

void input_provider_show(struct reconcile *rc, const struct input_provider *p)
{
        struct shown *s = memory_of(&agent_of(rc)->input_providers->shown, &p->object, rc->arena);
        const struct condition *ready =
                p->status ? condition_find(&p->status->conditions, CONDITION_FLUX_READY) : NULL;
        const char *url = p->spec ? web_url_public(or_empty(p->spec->url), rc->arena) : "";
        const char *labels[N_SHOWN] = {
                [UID] = p->object.meta.uid,
                [KIND] = KIND_INPUT_PROVIDER,
                [NAME] = p->object.meta.name,
                [NAMESPACE] = p->object.meta.ns,
                [READY] = ready ? ready->status : CONDITION_UNKNOWN,
                [REASON] = ready ? ready->reason : "",
                [SUSPENDED] = flux_is_suspended(&p->object) ? CONDITION_TRUE : CONDITION_FALSE,
                [URL] = url,
        };

        if (s)
                flux_info_show(&s->info, agent_of(rc)->metrics, METRIC_INPUT_PROVIDER, labels, N_SHOWN);
}
