#include "member-agent/object-set/succession.h"

#include "member-agent/apply/owner.h"

static int64_t revision_of(const struct cluster_object_set *s)
{
        return s->spec ? s->spec->revision.value : 0;
}

const struct cluster_object_set *succession_successor(const struct cluster_object_set *s,
                                                      const struct set_list *others)
{
        for (size_t i = 0; i < others->n; i++)
                if (set_are_siblings(s, others->at[i]) && revision_of(others->at[i]) > revision_of(s) &&
                    set_has_succeeded(others->at[i]))
                        return others->at[i];
        return NULL;
}

static int begin_list(size_t most, struct arena *arena, struct set_list *ret, struct error *err)
{
        *ret = (struct set_list){ .at = ARENA_NEW_ARRAY(arena, const struct cluster_object_set *, most) };
        return ret->at ? 0 : error_no_memory(err);
}

bool succession_replaces(const struct cluster_object_set *s, const struct cluster_object_set *other)
{
        return set_are_siblings(s, other) && revision_of(other) < revision_of(s);
}

int succession_replaced(const struct cluster_object_set *s, const struct set_list *others,
                        struct arena *arena, struct set_list *ret, struct error *err)
{
        TRY(begin_list(others->n, arena, ret, err));
        for (size_t i = 0; i < others->n; i++)
                if (succession_replaces(s, others->at[i]))
                        ret->at[ret->n++] = others->at[i];
        return 0;
}

/* ---- records ---- */

static bool is_placed(const struct cluster_object_set *s)
{
        const struct object_meta *m = &s->object.meta;

        for (size_t i = 0; i < m->n_owners; i++)
                if (text_equal(m->owners[i].kind, APPLIED_WORK_KIND))
                        return true;
        return false;
}

/* Nothing of it is left but itself. */
static bool is_taken_down(const struct cluster_object_set *s)
{
        const struct object_meta *m = &s->object.meta;
        const struct condition *c = set_find_condition(s, CONDITION_PROGRESSING);

        return c && text_equal(c->reason, REASON_SET_ARCHIVED) && m->deletion_ms == TIME_NONE &&
               !object_has_finalizer(&s->object, FINALIZER_OBJECT_SET);
}

static int by_age(const void *a, const void *b)
{
        int64_t one = revision_of(*(const struct cluster_object_set *const *)a),
                other = revision_of(*(const struct cluster_object_set *const *)b);

        return one > other ? -1 : one < other;
}

static bool is_archived_of(const struct cluster_object_set *s, const struct set_identity *owner)
{
        struct set_identity i;

        set_identify(s, &i);
        return set_is_archived(s) && set_have_one_owner(&i, owner);
}

int succession_forgotten(const struct cluster_object_set *s, const struct set_list *all, struct arena *arena,
                         struct set_list *ret, struct error *err)
{
        struct set_list archived;
        struct set_identity owner;

        set_identify(s, &owner);
        TRY(begin_list(all->n, arena, &archived, err));
        TRY(begin_list(all->n, arena, ret, err));
        for (size_t i = 0; i < all->n; i++)
                if (is_archived_of(all->at[i], &owner))
                        archived.at[archived.n++] = all->at[i];
        qsort(archived.at, archived.n, sizeof(*archived.at), by_age);
        for (size_t i = SUCCESSION_RECORDS; i < archived.n; i++)
                if (is_taken_down(archived.at[i]) && !is_placed(archived.at[i]))
                        ret->at[ret->n++] = archived.at[i];
        return 0;
}
