#include "member-agent/membership/membership.h"

#include "proto/names.h"

#define PLAY_MAX_MS 500

static struct agent_status *find_agent(const struct internal_member_cluster_status *s)
{
        for (uint32_t i = 0; s && i < s->agent_status.n; i++)
                if (text_equal(s->agent_status.at[i].type, AGENT_TYPE))
                        return &s->agent_status.at[i];
        return NULL;
}

const struct condition *membership_condition(const struct internal_member_cluster_status *s, const char *type)
{
        const struct agent_status *a = find_agent(s);

        return a ? condition_find(&a->conditions, type) : NULL;
}

/* A copy of the list with room for our entry, which comes last when it is new. */
static struct agent_status *own_entry(struct internal_member_cluster_status *s, struct arena *arena)
{
        struct agent_status_list *list = &s->agent_status;
        struct agent_status *at = ARENA_NEW_ARRAY(arena, struct agent_status, list->n + 1), *own;

        if (!at)
                return NULL;
        if (list->n)
                memcpy(at, list->at, list->n * sizeof(*at));
        list->at = at;
        list->set = true;
        own = find_agent(s);
        if (!own) {
                own = &list->at[list->n++];
                own->type = AGENT_TYPE;
                own->last_received_heartbeat = TIME_NONE;
        }
        if (own->conditions.n) {
                own->conditions.at = arena_memdup(arena, own->conditions.at,
                                                  own->conditions.n * sizeof(*own->conditions.at));
                if (!own->conditions.at)
                        return NULL;
        }
        own->conditions.set = true;
        return own;
}

static int put(struct agent_status *own, const char *type, const char *status, const char *reason,
               const char *message, int64_t generation, int64_t now_ms, struct arena *arena)
{
        struct condition c = { .type = type,
                               .status = status,
                               .reason = reason,
                               .message = message ? message : "",
                               .observed_generation = { .set = true, .value = generation } };

        return condition_set(&own->conditions, &c, now_ms, arena);
}

static int put_joined(struct agent_status *own, const struct membership_report *r, int64_t generation,
                      struct arena *arena)
{
        static const struct {
                const char *status, *reason;
        } words[] = {
                [AGENT_JOINED] = { CONDITION_TRUE, REASON_AGENT_JOINED },
                [AGENT_FAILED_TO_JOIN] = { CONDITION_UNKNOWN, REASON_AGENT_FAILED_TO_JOIN },
                [AGENT_LEFT] = { CONDITION_FALSE, REASON_AGENT_LEFT },
                [AGENT_FAILED_TO_LEAVE] = { CONDITION_UNKNOWN, REASON_AGENT_FAILED_TO_LEAVE },
        };

        return put(own, CONDITION_JOINED, words[r->state].status, words[r->state].reason, r->problem,
                   generation, r->now_ms, arena);
}

/* The list belongs to the cache. */
static int own_conditions(struct internal_member_cluster_status *s, struct arena *arena)
{
        if (!s->conditions.n)
                return 0;
        s->conditions.at = arena_memdup(arena, s->conditions.at, s->conditions.n * sizeof(*s->conditions.at));
        return s->conditions.at ? 0 : ERR_NO_MEMORY;
}

/* What is new is told at once, what changes with heartbeats. */
static int put_conditions(struct internal_member_cluster_status *s, const struct membership_report *r,
                          int64_t generation, struct arena *arena)
{
        const struct condition_list *told = &r->told->conditions;

        if (own_conditions(s, arena) < 0)
                return ERR_NO_MEMORY;
        for (uint32_t i = 0; i < told->n; i++) {
                struct condition c = told->at[i];

                if (!r->beat && condition_find(&s->conditions, c.type))
                        continue;
                c.observed_generation = OPT_INT(generation);
                if (condition_set(&s->conditions, &c, r->now_ms, arena) < 0)
                        return ERR_NO_MEMORY;
        }
        return 0;
}

/* The hub schedules by them: it must not go by what nobody looks at any more. */
static int take_back(struct internal_member_cluster_status *s, const char *const *types, struct arena *arena)
{
        if (own_conditions(s, arena) < 0)
                return ERR_NO_MEMORY;
        for (; types && *types; types++) {
                if (!condition_find(&s->conditions, *types))
                        continue;
                if (text_equal(*types, CONDITION_NAMESPACE_COLLECTION_SUCCEEDED))
                        s->namespaces = (struct string_map){ 0 };
                condition_remove(&s->conditions, *types);
        }
        return 0;
}

static int put_told(struct internal_member_cluster_status *s, const struct membership_report *r,
                    int64_t generation, struct arena *arena)
{
        const struct property_collection *told = r->told;

        if (told && told->usage && (r->beat || !s->resource_usage)) {
                s->properties = told->properties;
                s->resource_usage = told->usage;
        }
        if (told && told->namespaces.set && (r->beat || !s->namespaces.set))
                s->namespaces = told->namespaces;
        if (told && put_conditions(s, r, generation, arena) < 0)
                return ERR_NO_MEMORY;
        return take_back(s, r->taken_back, arena);
}

int membership_status(const struct internal_member_cluster *now, const struct membership_report *r,
                      struct arena *arena, struct internal_member_cluster_status **ret, struct error *err)
{
        struct internal_member_cluster_status *s = ARENA_NEW(arena, struct internal_member_cluster_status);
        int64_t generation = now->object.meta.generation;
        struct agent_status *own;

        if (!s)
                return error_no_memory(err);
        if (now->status)
                *s = *now->status;
        own = own_entry(s, arena);
        if (!own)
                return error_no_memory(err);
        if (r->state == AGENT_JOINED) {
                if (r->beat)
                        own->last_received_heartbeat = r->now_ms;
                if (put(own, CONDITION_HEALTHY, r->healthy ? CONDITION_TRUE : CONDITION_FALSE,
                        r->healthy ? REASON_AGENT_HEALTHY : REASON_AGENT_UNHEALTHY, r->health_problem,
                        generation, r->now_ms, arena) < 0)
                        return error_no_memory(err);
        }
        if (r->state == AGENT_JOINED && put_told(s, r, generation, arena) < 0)
                return error_no_memory(err);
        if (put_joined(own, r, generation, arena) < 0)
                return error_no_memory(err);
        *ret = s;
        return 0;
}

bool membership_event_due(const struct internal_member_cluster_status *before,
                          const struct internal_member_cluster_status *after, const char *which,
                          bool generation_too)
{
        const struct condition *old = membership_condition(before, which);
        const struct condition *new = membership_condition(after, which);

        if (!new)
                return false;
        return !old || !text_equal(old->status, new->status) ||
               (generation_too && old->observed_generation.value != new->observed_generation.value);
}

const char *membership_event_text(const char *reason)
{
        static const struct {
                const char *reason, *text;
        } texts[] = {
                { REASON_AGENT_HEALTHY, "internal member cluster healthy" },
                { REASON_AGENT_UNHEALTHY, "internal member cluster unhealthy" },
                { REASON_AGENT_JOINED, "internal member cluster joined" },
                { REASON_AGENT_FAILED_TO_JOIN, "internal member cluster failed to join" },
                { REASON_AGENT_LEFT, "internal member cluster left" },
                { REASON_AGENT_FAILED_TO_LEAVE, "internal member cluster failed to leave" },
        };

        for (size_t i = 0; i < ARRAY_LEN(texts); i++)
                if (text_equal(reason, texts[i].reason))
                        return texts[i].text;
        return "";
}

bool membership_report_due(const struct internal_member_cluster *now)
{
        const struct agent_status *a = find_agent(now->status);
        const struct condition *c = membership_condition(now->status, CONDITION_JOINED);

        return !c || a->last_received_heartbeat == TIME_NONE || !text_equal(c->status, CONDITION_TRUE) ||
               c->observed_generation.value != now->object.meta.generation;
}

int64_t membership_next_ms(int64_t period_seconds, uint64_t random)
{
        int64_t ms = MAX(period_seconds, 1) * 1000, play = MIN(ms / 20, (int64_t)PLAY_MAX_MS);

        return ms - play + (int64_t)(random % (uint64_t)(2 * play));
}
