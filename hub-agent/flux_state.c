#include "hub-agent/flux_state.h"

#include <strings.h>

bool flux_is_suspended(const struct object *o)
{
        const char *said = annotation_of(o, ANNOTATION_FLUX_RECONCILE);

        return said && strcasecmp(said, FLUX_DISABLED) == 0;
}

int64_t flux_annotated_ms(const struct object *o, const char *key, int64_t fallback_ms)
{
        const char *said = annotation_of(o, key);
        int64_t ns;

        if (!said || duration_parse_go(slice_of(said), &ns) < 0)
                return fallback_ms;
        return ns > 0 && ns < 1000000 ? 1 : ns / 1000000;
}

void flux_took_text(int64_t ms, char ret[FLUX_TOOK_SIZE])
{
        int64_t rounded = ms < 1000 ? ms : (ms + 500) / 1000 * 1000;

        duration_format_go(rounded * 1000000, ret, FLUX_TOOK_SIZE);
}

/* ---- conditions ---- */

static const char *cut(const char *message, struct arena *arena)
{
        size_t n = strlen(message);

        if (n <= FLUX_MESSAGE_MAX)
                return message;
        n = text_utf8_cut(message, FLUX_MESSAGE_MAX - 3);
        return arena_printf(arena, "%.*s...", (int)n, message);
}

int flux_condition_put(struct condition_list *l, const struct condition *c, int64_t now_ms,
                       struct arena *arena)
{
        const struct condition *old = condition_find(l, c->type);

        if (old && text_equal(old->status, c->status) &&
            (!text_equal(old->reason, c->reason) || !text_equal(old->message, c->message)))
                condition_remove(l, c->type);
        return condition_set(l, c, now_ms, arena);
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

static const char *ready_status(enum flux_state state)
{
        if (state == FLUX_RUNNING)
                return CONDITION_UNKNOWN;
        return state == FLUX_DONE || state == FLUX_SUSPENDED ? CONDITION_TRUE : CONDITION_FALSE;
}

/* Reconciling and Stalled, as they stand beside this Ready. */
static int settle(struct condition_list *l, const struct condition *ready, enum flux_state state,
                  int64_t now_ms, struct arena *arena)
{
        const struct condition *reconciling = condition_find(l, CONDITION_FLUX_RECONCILING);
        struct condition c = *ready;

        condition_remove(l, CONDITION_FLUX_STALLED);
        c.status = CONDITION_TRUE;
        c.type = CONDITION_FLUX_RECONCILING;
        if (state == FLUX_RUNNING)
                return flux_condition_put(l, &c, now_ms, arena);
        if (state == FLUX_FAILED || (state == FLUX_WAITING && reconciling)) {
                c.reason = REASON_FLUX_RETRYING;
                if (reconciling)
                        c.message = reconciling->message;
                return flux_condition_put(l, &c, now_ms, arena);
        }
        condition_remove(l, CONDITION_FLUX_RECONCILING);
        c.type = CONDITION_FLUX_STALLED;
        return state == FLUX_STALLED ? flux_condition_put(l, &c, now_ms, arena) : 0;
}

int flux_state_set(struct condition_list *l, int64_t generation, enum flux_state state, const char *reason,
                   const char *message, int64_t now_ms, struct arena *arena)
{
        struct condition ready;

        if (state == FLUX_RUNNING) {
                reason = reason ? reason : REASON_FLUX_PROGRESSING;
                message = message ? message : "Reconciliation in progress";
        }
        message = cut(message, arena);
        if (!message)
                return ERR_NO_MEMORY;
        ready = make_condition(CONDITION_FLUX_READY, ready_status(state), reason, message, generation);
        if (flux_condition_put(l, &ready, now_ms, arena) < 0 || settle(l, &ready, state, now_ms, arena) < 0)
                return ERR_NO_MEMORY;
        sort(l);
        return 0;
}
