#include "hub-agent/resource-set/state.h"

#include <strings.h>

static bool annotation_says(const struct object *o, const char *key, const char *value)
{
        const char *said = annotation_of(o, key);

        return said && strcasecmp(said, value) == 0;
}

bool is_suspended(const struct object *o)
{
        return annotation_says(o, ANNOTATION_FLUX_RECONCILE, FLUX_DISABLED);
}

bool is_forced(const struct object *o)
{
        return annotation_says(o, ANNOTATION_FLUX_FORCE, FLUX_ENABLED);
}

int64_t annotated_ms(const struct object *o, const char *key, int64_t fallback_ms)
{
        const char *said = annotation_of(o, key);
        int64_t ns;

        if (!said || duration_parse_go(slice_of(said), &ns) < 0)
                return fallback_ms;
        return ns > 0 && ns < 1000000 ? 1 : ns / 1000000;
}

struct resource_set_inventory_entry_list inventory_of(const struct resource_set *set)
{
        return set->status && set->status->inventory ? set->status->inventory->entries
                                                     : (struct resource_set_inventory_entry_list){ 0 };
}

struct resource_set_status *status_of(struct resource_set *set, struct arena *arena)
{
        if (!set->status)
                set->status = ARENA_NEW(arena, struct resource_set_status);
        return set->status;
}

void took_text(int64_t ms, char ret[TOOK_SIZE])
{
        int64_t rounded = ms < 1000 ? ms : (ms + 500) / 1000 * 1000;

        duration_format_go(rounded * 1000000, ret, TOOK_SIZE);
}

/* ---- conditions ---- */

static const char *cut(const char *message, struct arena *arena)
{
        size_t n = strlen(message);

        if (n <= STATE_MESSAGE_MAX)
                return message;
        n = text_utf8_cut(message, STATE_MESSAGE_MAX - 3);
        return arena_printf(arena, "%.*s...", (int)n, message);
}

/* The time moves also when reason or message change. */
static int put(struct resource_set *set, const char *type, const char *status, const char *reason,
               const char *message, int64_t now_ms, struct arena *arena)
{
        struct condition_list *l = &set->status->conditions;
        const struct condition *old = condition_find(l, type);
        struct condition c = make_condition(type, status, reason, message, set->object.meta.generation);

        if (old && text_equal(old->status, status) &&
            (!text_equal(old->reason, reason) || !text_equal(old->message, message)))
                condition_remove(l, type);
        return condition_set(l, &c, now_ms, arena);
}

static int place_of_type(const char *type)
{
        static const char *const order[] = { CONDITION_FLUX_STALLED, CONDITION_FLUX_RECONCILING,
                                             CONDITION_FLUX_READY };

        for (int i = 0; i < (int)ARRAY_LEN(order); i++)
                if (text_equal(order[i], type))
                        return i;
        return ARRAY_LEN(order);
}

static void sort(struct condition_list *l)
{
        for (uint32_t i = 1; i < l->n; i++)
                for (uint32_t k = i; k > 0 && place_of_type(l->at[k - 1].type) > place_of_type(l->at[k].type);
                     k--) {
                        struct condition c = l->at[k];

                        l->at[k] = l->at[k - 1];
                        l->at[k - 1] = c;
                }
}

static const char *ready_status(enum state state)
{
        if (state == STATE_RUNNING)
                return "Unknown";
        return state == STATE_READY || state == STATE_SUSPENDED ? "True" : "False";
}

static int settle(struct resource_set *set, enum state state, const char *reason, const char *message,
                  int64_t now_ms, struct arena *arena)
{
        struct condition_list *l = &set->status->conditions;
        bool reconciling = condition_find(l, CONDITION_FLUX_RECONCILING) != NULL;

        condition_remove(l, CONDITION_FLUX_STALLED);
        if (state == STATE_RUNNING)
                return put(set, CONDITION_FLUX_RECONCILING, "True", reason, message, now_ms, arena);
        if (state == STATE_FAILED || (state == STATE_WAITING && reconciling)) {
                const struct condition *c = condition_find(l, CONDITION_FLUX_RECONCILING);

                return put(set, CONDITION_FLUX_RECONCILING, "True", REASON_FLUX_RETRYING,
                           c ? c->message : message, now_ms, arena);
        }
        condition_remove(l, CONDITION_FLUX_RECONCILING);
        return state == STATE_STALLED
                       ? put(set, CONDITION_FLUX_STALLED, "True", reason, message, now_ms, arena)
                       : 0;
}

int state_set(struct resource_set *set, enum state state, const char *reason, const char *message,
              int64_t now_ms, struct arena *arena)
{
        if (!status_of(set, arena))
                return ERR_NO_MEMORY;
        if (state == STATE_RUNNING) {
                reason = reason ? reason : REASON_FLUX_PROGRESSING;
                message = message ? message : "Reconciliation in progress";
        }
        message = cut(message, arena);
        if (!message ||
            put(set, CONDITION_FLUX_READY, ready_status(state), reason, message, now_ms, arena) < 0 ||
            settle(set, state, reason, message, now_ms, arena) < 0)
                return ERR_NO_MEMORY;
        sort(&set->status->conditions);
        return 0;
}
