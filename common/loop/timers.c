/* Timers, by time and order. Their keys lie in the heap itself, so that comparing touches no timer, and each
 * node has four children that lie beside each other.
 *
 * A fiber that waits again and again sets a deadline each time and hardly ever meets it. So what it takes
 * back stays where it is, and what it sets anew to a later time, too: a key in the heap may be too early,
 * never too late, and is put right when it has come to the top.
 *
 * Of many timers nearly all are far off. They lie in lists, one for each piece of time, and come into the
 * heap with their piece: so it is small, and what is set and stopped in between moves nothing. */
#include "common/loop/internal.h"

#define CHILDREN 4

#define MANY 1000        /* in the heap: from then on there are lists */
#define PIECE_MS 64      /* of time, for each list */
#define PIECES 2048      /* lists, used in turn: a round is somewhat longer than a watch may be silent */
#define FAR_PIECES 65536 /* later ones stay in the heap: the next timer is looked for piece by piece */

/* Place of a timer in the list of a piece; a smaller one counts from 1 and is in the heap. */
#define PLACE_FAR (UINT64_C(1) << 63)

struct far_timers {
        struct list pieces[PIECES]; /* by struct timer.node; piece i of all is in list i % PIECES */
        uint64_t next;              /* piece: whose timers are earlier is in the heap */
};

static struct timer_key key_of(const struct timer *t)
{
        return (struct timer_key){ t->at_ms, t->order };
}

static inline bool before(struct timer_key a, struct timer_key b)
{
        return a.at_ms != b.at_ms ? a.at_ms < b.at_ms : a.order < b.order;
}

/* ---- the heap ---- */

static void set(struct timers *h, size_t i, struct timer_slot slot)
{
        h->at[i] = slot;
        slot.timer->place = i + 1;
}

static void sift_up(struct timers *h, size_t i, struct timer_slot slot)
{
        while (i > 0) {
                size_t parent = (i - 1) / CHILDREN;
                if (!before(slot.key, h->at[parent].key))
                        break;
                set(h, i, h->at[parent]);
                i = parent;
        }
        set(h, i, slot);
}

static size_t first_child(const struct timers *h, size_t from)
{
        size_t first = from, end = MIN(from + CHILDREN, h->n);
        for (size_t i = from + 1; i < end; i++)
                if (before(h->at[i].key, h->at[first].key))
                        first = i;
        return first;
}

static void sift_down(struct timers *h, size_t i, struct timer_slot slot)
{
        for (size_t child; (child = i * CHILDREN + 1) < h->n; i = child) {
                child = first_child(h, child);
                if (!before(h->at[child].key, slot.key))
                        break;
                set(h, i, h->at[child]);
        }
        set(h, i, slot);
}

static void take_out_of_heap(struct timers *h, struct timer *t)
{
        size_t i = t->place - 1;
        ASSERT(i < h->n && h->at[i].timer == t);
        t->place = 0;
        struct timer_slot last = h->at[--h->n];
        if (last.timer == t)
                return;
        if (i > 0 && before(last.key, h->at[(i - 1) / CHILDREN].key))
                sift_up(h, i, last);
        else
                sift_down(h, i, last);
}

/* ---- what is far off ---- */

static uint64_t piece_of(int64_t at_ms)
{
        return at_ms < 0 ? 0 : (uint64_t)at_ms / PIECE_MS;
}

static bool is_far_off(const struct timers *h, int64_t at_ms)
{
        uint64_t piece = piece_of(at_ms);
        return h->far && piece >= h->far->next && piece - h->far->next < FAR_PIECES;
}

static bool lies_far_off(const struct timer *t)
{
        return t->place & PLACE_FAR;
}

/* Without memory for them all stay in the heap. */
static void look_far(struct timers *h, int64_t now_ms)
{
        if (!h->far && h->n >= MANY && (h->far = NEW(struct far_timers)))
                for (size_t i = 0; i < PIECES; i++)
                        list_init(&h->far->pieces[i]);
        if (h->far && h->n_far == 0)
                h->far->next = MAX(h->far->next, piece_of(now_ms) + 1);
}

/* In the heap there is room: timer_reserve(). */
static void insert(struct timers *h, struct timer *t)
{
        ASSERT(!t->place);
        if (is_far_off(h, t->at_ms)) {
                uint64_t piece = piece_of(t->at_ms);
                list_append(&h->far->pieces[piece % PIECES], &t->node);
                t->place = PLACE_FAR | piece;
                h->n_far++;
                return;
        }
        ASSERT(h->n < h->cap);
        sift_up(h, h->n++, (struct timer_slot){ key_of(t), t });
}

static void take_out(struct timers *h, struct timer *t)
{
        if (!lies_far_off(t)) {
                take_out_of_heap(h, t);
                return;
        }
        list_remove(&t->node);
        t->node = (struct list){ 0 };
        t->place = 0;
        h->n_far--;
}

static bool far_comes_first(const struct timers *h)
{
        return h->n_far && (!h->n || piece_of(h->at[0].key.at_ms) >= h->far->next);
}

/* The next piece, into the heap; what was put off finds its new one. */
static void draw_near(struct timers *h)
{
        uint64_t piece = h->far->next++;
        list_for_each_safe(t, next, &h->far->pieces[piece % PIECES], struct timer, node) {
                if (t->place != (PLACE_FAR | piece)) /* of a later round */
                        continue;
                take_out(h, t);
                if (t->armed)
                        insert(h, t);
        }
}

/* At the top, with a key that is too early. */
static void put_right(struct timers *h, struct timer *t)
{
        if (is_far_off(h, t->at_ms)) {
                take_out(h, t);
                insert(h, t);
        } else {
                sift_down(h, 0, (struct timer_slot){ key_of(t), t });
        }
}

/* The earliest that runs, or NULL. */
static struct timer *earliest(struct loop *l)
{
        struct timers *h = &l->timers;
        for (;;) {
                while (far_comes_first(h))
                        draw_near(h);
                if (!h->n)
                        return NULL;
                struct timer_slot top = h->at[0];
                if (!top.timer->armed)
                        take_out(h, top.timer);
                else if (before(top.key, key_of(top.timer)))
                        put_right(h, top.timer);
                else
                        return top.timer;
        }
}

/* ---- what others call ---- */

int timer_reserve(struct loop *l, size_t extra_timers, size_t extra_fibers)
{
        return vec_reserve(&l->timers, l->n_timers + extra_timers + l->n_fibers + extra_fibers);
}

static void put(struct loop *l, struct timer *t)
{
        struct timers *h = &l->timers;
        t->armed = true;
        h->n_armed++;
        look_far(h, l->now_ms);
        if (lies_far_off(t) && piece_of(t->at_ms) < (t->place & ~PLACE_FAR))
                take_out(h, t);
        if (!t->place)
                insert(h, t);
        else if (!lies_far_off(t) && before(key_of(t), h->at[t->place - 1].key))
                sift_up(h, t->place - 1, (struct timer_slot){ key_of(t), t });
}

void timer_arm(struct loop *l, struct timer *t, int64_t at_ms, void (*fn)(struct timer *))
{
        ASSERT(!timer_running(t));
        t->loop = l;
        t->at_ms = at_ms;
        t->fn = fn;
        t->process = l->process;
        t->order = l->simulated ? simulated_draw(l) : l->timer_order++;
        put(l, t);
}

int timer_start(struct loop *l, struct timer *t, int64_t at_ms, void (*fn)(struct timer *))
{
        timer_stop(t);
        TRY(timer_reserve(l, 1, 0));
        l->n_timers++;
        timer_arm(l, t, at_ms, fn);
        return 0;
}

static bool is_held(const struct timer *t)
{
        return t->node.next && !lies_far_off(t);
}

bool timer_running(const struct timer *t)
{
        return t->armed || is_held(t);
}

/* It does not fire any more; its place in the heap it may keep. */
static void disarm(struct timer *t)
{
        if (is_held(t)) {
                list_remove(&t->node);
                t->node = (struct list){ 0 };
        } else if (t->armed) {
                t->armed = false;
                t->loop->timers.n_armed--;
        }
}

void timer_stop(struct timer *t)
{
        bool ran = timer_running(t);
        disarm(t);
        if (t->place)
                take_out(&t->loop->timers, t);
        if (ran && !t->is_deadline)
                t->loop->n_timers--;
}

void timer_rest(struct timer *t)
{
        ASSERT(t->is_deadline);
        disarm(t);
}

void timer_hold(struct timer *t, struct list *held)
{
        disarm(t);
        take_out(&t->loop->timers, t);
        list_append(held, &t->node);
}

void timer_put_back(struct timer *t)
{
        list_remove(&t->node);
        t->node = (struct list){ 0 };
        put(t->loop, t);
}

void timer_disown(struct timer *t)
{
        t->process = NULL;
}

int64_t loop_next_timer_ms(struct loop *l)
{
        const struct timer *t = earliest(l);
        return t ? t->at_ms : DEADLINE_NONE;
}

/* No more than were pending before, so that a timer which starts itself again at once does not hold the turn.
 */
void timers_fire(struct loop *l)
{
        for (size_t most = l->timers.n_armed; most; most--) {
                struct timer *t = earliest(l);
                if (!t || t->at_ms > l->now_ms)
                        return;
                if (process_holds_timer(t))
                        continue;
                timer_stop(t);
                l->process = t->process;
                t->fn(t);
                l->process = NULL;
        }
}

static void leave(struct timer *t)
{
        t->place = 0;
        t->armed = false;
        t->node = (struct list){ 0 };
}

void timers_free(struct timers *h)
{
        for (size_t i = 0; i < h->n; i++)
                leave(h->at[i].timer);
        for (size_t i = 0; h->far && i < PIECES; i++)
                list_for_each_safe(t, next, &h->far->pieces[i], struct timer, node)
                        leave(t);
        mem_free(h->far);
        vec_free(h);
}
