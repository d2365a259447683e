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

/* Another placement's Work, which would make the object again once it is gone. */
static const struct handover_work *find_stranger(const struct handover_question *q)
{
        for (size_t i = 0; i < q->n; i++) {
                const struct handover_work *w = &q->others[i];

                if (!are_siblings(&q->self, w) && !w->deleting && w->known && w->wants && !w->reports)
                        return w;
        }
        return NULL;
}

static const struct handover_work *find_caretaker(const struct handover_question *q)
{
        for (size_t i = 0; i < q->n; i++)
                if (are_siblings(&q->self, &q->others[i]) && !q->others[i].deleting)
                        return &q->others[i];
        return NULL;
}

/* Whether all Works of the binding's set are here, in their newest form: then nobody else can want anything.
 */
static bool is_complete(const struct handover_question *q)
{
        const struct handover_work *sample = q->self.deleting ? NULL : &q->self;
        int64_t size = sample ? sample->set.size : 0, present = sample ? 1 : 0;

        if (!q->self.set.binding[0])
                return true;
        for (size_t i = 0; i < q->n; i++) {
                const struct handover_work *w = &q->others[i];

                if (w->deleting || !are_siblings(&q->self, w))
                        continue;
                if (!w->known || (sample && !is_of_set(sample, w)))
                        return false;
                sample = w;
                size = MAX(size, w->set.size);
                present++;
        }
        /* A Work that goes while its own set stays was itself what made the set: the binding goes, or
         * somebody deleted it. */
        if (!sample || (q->self.deleting && is_of_set(&q->self, sample)))
                return true;
        return size ? present == size : q->waited_ms >= HANDOVER_PATIENCE_MS;
}

/* A Work that goes must not wait for siblings: one of its own name may be what is waited for, and cannot be
 * made before it is gone. Whatever sibling is there takes care of the object until then. */
static enum handover wait_or_entrust(const struct handover_question *q, const struct handover_work **ret_to)
{
        const struct handover_work *caretaker = q->self.deleting ? find_caretaker(q) : NULL;

        if (!caretaker)
                return HANDOVER_WAIT;
        *ret_to = caretaker;
        return HANDOVER_GIVE;
}

enum handover handover_decide(const struct handover_question *q, const struct handover_work **ret_to)
{
        const struct handover_work *to;

        if (!q->hub_heard || (!q->self.deleting && (!q->self.known || q->self.wants)))
                return HANDOVER_WAIT;
        to = find_heir(q);
        if (!to && !q->hub_present)
                return HANDOVER_WAIT;
        if (!to && !is_complete(q))
                return wait_or_entrust(q, ret_to);
        if (!to)
                to = find_stranger(q);
        if (!to)
                return HANDOVER_REMOVE;
        *ret_to = to;
        return HANDOVER_GIVE;
}

enum handover_claim handover_claim(const struct handover_work *self, const struct handover_work *holder)
{
        if (!are_siblings(self, holder))
                return CLAIM_NONE;
        if (holder->deleting || (holder->known && !holder->wants))
                return CLAIM_TAKE;
        return holder->known && is_of_set(self, holder) ? CLAIM_NONE : CLAIM_WAIT;
}
