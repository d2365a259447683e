#include "member-agent/apply/handover.h"

static bool are_siblings(const struct handover_work *a, const struct handover_work *b)
{
        return a->set.binding[0] && text_equal(a->set.binding, b->set.binding);
}

static bool is_of_set(const struct handover_work *a, const struct handover_work *b)
{
        return text_equal(a->set.content, b->set.content);
}

/* A sibling that wants the object, one of our own set first: it is not going to lose it soon. */
static const struct handover_work *find_heir(const struct handover_question *q)
{
        const struct handover_work *heir = NULL;

        for (size_t i = 0; i < q->n; i++) {
                const struct handover_work *w = &q->others[i];

                if (are_siblings(&q->self, w) && !w->deleting && w->known && w->wants &&
                    (!heir || (is_of_set(&q->self, w) && !is_of_set(&q->self, heir))))
                        heir = w;
        }
        return heir;
}

/* Another placement's Work, which would make the object again once it is gone; one that is known to want it
 * first, then one that wanted it and has just changed. */
static const struct handover_work *find_stranger(const struct handover_question *q)
{
        const struct handover_work *changed = NULL;

        for (size_t i = 0; i < q->n; i++) {
                const struct handover_work *w = &q->others[i];

                if (are_siblings(&q->self, w) || w->deleting || !w->wants || w->reports)
                        continue;
                if (w->known)
                        return w;
                changed = w;
        }
        return changed;
}

static const struct handover_work *find_caretaker(const struct handover_question *q)
{
        for (size_t i = 0; i < q->n; i++)
                if (are_siblings(&q->self, &q->others[i]) && !q->others[i].deleting)
                        return &q->others[i];
        return NULL;
}

enum presence {
        ALONE,    /* there is nobody else who could want anything */
        COMPLETE, /* all Works of the binding's set are here, in their newest form */
        PARTIAL   /* one may be to come, or to change */
};

static enum presence presence_of(const struct handover_question *q)
{
        const struct handover_work *sample = q->self.deleting ? NULL : &q->self;
        int64_t size = sample ? sample->set.size : 0, present = sample ? 1 : 0;

        if (!q->self.set.binding[0])
                return ALONE;
        for (size_t i = 0; i < q->n; i++) {
                const struct handover_work *w = &q->others[i];

                if (w->deleting || !are_siblings(&q->self, w))
                        continue;
                if (!w->known || (sample && !is_of_set(sample, w)))
                        return PARTIAL;
                sample = w;
                size = MAX(size, w->set.size);
                present++;
        }
        if (!sample)
                return ALONE;
        /* It goes, and what it was a part of stays as it was: the others are about to go or to change too, or
         * somebody deleted it and it will be made again. */
        if (q->self.deleting && is_of_set(&q->self, sample))
                return PARTIAL;
        if (size)
                return present == size ? COMPLETE : PARTIAL;
        return q->waited_ms >= HANDOVER_PATIENCE_MS ? COMPLETE : PARTIAL;
}

enum handover handover_decide(const struct handover_question *q, const struct handover_work **ret_to)
{
        enum presence presence;

        if (!q->hub_heard || (!q->self.deleting && (!q->self.known || q->self.wants)))
                return HANDOVER_WAIT;
        if ((*ret_to = find_heir(q)))
                return HANDOVER_GIVE;
        presence = presence_of(q);
        if (!q->hub_present || (presence != ALONE && q->waited_ms < HANDOVER_SETTLE_MS))
                return HANDOVER_WAIT;
        if (presence == PARTIAL && !q->self.deleting)
                return HANDOVER_WAIT;
        /* A Work that goes cannot wait for good: one of its own name may be what is to come, and cannot be
         * made before it is gone. A sibling takes care of the object until then. */
        *ret_to = presence == PARTIAL ? find_caretaker(q) : find_stranger(q);
        if (!*ret_to)
                return q->catching_up && q->waited_ms < HANDOVER_PATIENCE_MS ? HANDOVER_WAIT
                                                                             : HANDOVER_REMOVE;
        return presence == PARTIAL || (*ret_to)->known ? HANDOVER_GIVE : HANDOVER_WAIT;
}

enum handover_claim handover_claim(const struct handover_work *self, const struct handover_work *holder)
{
        if (!are_siblings(self, holder))
                return CLAIM_NONE;
        if (holder->deleting || (holder->known && !holder->wants))
                return CLAIM_TAKE;
        return holder->known && is_of_set(self, holder) ? CLAIM_NONE : CLAIM_WAIT;
}
