/* What came of the last runs: spec/resource-set.md 15.2. */
#include "hub-agent/resource-set/state.h"

static uint32_t place_of_entry(const struct resource_set_snapshot_list *l, const struct history_note *note)
{
        uint32_t i = 0;

        while (i < l->n && (!text_equal(l->at[i].digest, note->digest) ||
                            !text_equal(l->at[i].last_reconciled_status, note->status)))
                i++;
        return i;
}

static int put_number(struct string_map *m, const char *key, size_t n, struct arena *arena)
{
        const char *text = number_text(arena, (int64_t)n);

        return text ? string_map_put(m, key, text, arena) : ERR_NO_MEMORY;
}

static int fill(struct resource_set_snapshot *s, const struct history_note *note, struct arena *arena)
{
        char took[FLUX_TOOK_SIZE];

        duration_format_go(note->took_ms * 1000000, took, sizeof(took));
        s->last_reconciled = note->now_ms;
        s->last_reconciled_duration = arena_strdup(arena, took);
        s->total_reconciliations = OPT_INT(s->total_reconciliations.value + 1);
        s->metadata = (struct string_map){ 0 };
        if (!s->last_reconciled_duration)
                return ERR_NO_MEMORY;
        if (!note->counted)
                return 0;
        TRY(put_number(&s->metadata, "inputs", note->n_inputs, arena));
        TRY(put_number(&s->metadata, "resources", note->n_resources, arena));
        return note->n_different ? put_number(&s->metadata, "duplicates", note->n_different, arena) : 0;
}

int history_note(struct resource_set *set, const struct history_note *note, struct arena *arena)
{
        struct resource_set_status *status = status_of(set, arena);
        struct resource_set_snapshot *all = ARENA_NEW_ARRAY(arena, struct resource_set_snapshot, HISTORY_MAX);
        struct resource_set_snapshot_list *l;
        uint32_t at, n = 1;

        if (!status || !all)
                return ERR_NO_MEMORY;
        l = &status->history;
        at = place_of_entry(l, note);
        if (at < l->n) {
                all[0] = l->at[at];
        } else {
                all[0].digest = arena_strdup(arena, note->digest);
                all[0].last_reconciled_status = note->status;
                all[0].first_reconciled = note->now_ms;
        }
        if (!all[0].digest || fill(&all[0], note, arena) < 0)
                return ERR_NO_MEMORY;
        for (uint32_t i = 0; i < l->n && n < HISTORY_MAX; i++)
                if (i != at)
                        all[n++] = l->at[i];
        *l = (struct resource_set_snapshot_list){ .at = all, .n = n, .set = true };
        return 0;
}
