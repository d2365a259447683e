#include "hub-agent/placement/finding.h"

#include <stdio.h>

#include "common/base/memory.h"
#include "hub-agent/agent.h"

/* ---- what is selected ---- */

static const char *copy_text(struct arena *arena, const char *text, bool *failed)
{
        const char *copy = text ? arena_strdup(arena, text) : NULL;

        *failed = *failed || (text && !copy);
        return copy;
}

/* Neighbours are mostly of one kind and namespace: they share the text. */
static const char *copy_or_share(struct arena *arena, const char *text, const char *neighbour, bool *failed)
{
        return text && neighbour && text_equal(text, neighbour) ? neighbour : copy_text(arena, text, failed);
}

static bool copy_ids(struct arena *arena, const struct resource_identifier_list *ids,
                     struct resource_identifier_list *ret)
{
        struct resource_identifier *copy = ARENA_NEW_ARRAY(arena, struct resource_identifier, ids->n + 1);
        bool failed = !copy;

        for (uint32_t i = 0; i < ids->n && !failed; i++) {
                const struct resource_identifier none = { 0 }, *of = &ids->at[i],
                                                 *last = i ? &copy[i - 1] : &none;

                copy[i].group = copy_or_share(arena, of->group, last->group, &failed);
                copy[i].version = copy_or_share(arena, of->version, last->version, &failed);
                copy[i].kind = copy_or_share(arena, of->kind, last->kind, &failed);
                copy[i].ns = copy_or_share(arena, of->ns, last->ns, &failed);
                copy[i].name = copy_text(arena, of->name, &failed);
        }
        *ret = (struct resource_identifier_list){ copy, ids->n, true };
        return !failed;
}

struct selected *selected_new(const struct resource_identifier_list *ids, const char *hash)
{
        struct selected *s = NEW(struct selected);

        if (!s)
                return NULL;
        s->refs = 1;
        snprintf(s->hash, sizeof(s->hash), "%s", hash);
        if (copy_ids(&s->arena, ids, &s->ids))
                return s;
        selected_unref(s);
        return NULL;
}

struct selected *selected_ref(struct selected *s)
{
        if (s)
                s->refs++;
        return s;
}

void selected_unref(void *selected)
{
        struct selected *s = selected;

        if (!s || --s->refs > 0)
                return;
        arena_free(&s->arena);
        mem_free(s);
}

/* ---- findings ---- */

struct kept_finding {
        unsigned refs;
        struct finding finding;
        char *message, *head; /* owned */
};

static void finding_unref(void *kept)
{
        struct kept_finding *k = kept;

        if (!k || --k->refs > 0)
                return;
        selected_unref(k->finding.selected);
        mem_free(k->message);
        mem_free(k->head);
        mem_free(k);
}

int finding_put(struct intake_memory *m, const struct finding *f)
{
        struct kept_finding *k = NEW(struct kept_finding);

        if (!k)
                return ERR_NO_MEMORY;
        k->refs = 1;
        k->finding = *f;
        k->finding.selected = selected_ref(f->selected);
        k->finding.message = k->message = f->message ? mem_strdup(f->message) : NULL;
        k->finding.head = k->head = f->head ? mem_strdup(f->head) : NULL;
        if ((f->message && !k->message) || (f->head && !k->head)) {
                finding_unref(k);
                return ERR_NO_MEMORY;
        }
        finding_unref(m->finding);
        m->finding = k;
        return 0;
}

int finding_put_passing(struct intake_memory *m, int64_t generation, const char *reason, const char *message)
{
        struct finding f = { .kind = FINDING_REFUSED, .generation = generation };

        if (m->finding && m->finding->finding.generation == generation)
                f = m->finding->finding;
        f.reason = reason;
        f.message = message;
        return finding_put(m, &f);
}

int finding_get(struct intake_memory *m, const struct object *placement, struct arena *arena,
                const struct finding **ret)
{
        struct kept_finding *k = m->finding;

        *ret = NULL;
        if (!k || k->finding.generation != placement->meta.generation)
                return 0;
        k->refs++;
        if (arena_defer(arena, finding_unref, k) < 0)
                return ERR_NO_MEMORY;
        *ret = &k->finding;
        return 0;
}

static void clear_memory(void *record)
{
        struct intake_memory *m = record;

        selected_unref(m->known);
        finding_unref(m->finding);
}
const struct memory_kind intake_memory_kind = { sizeof(struct intake_memory), clear_memory };
