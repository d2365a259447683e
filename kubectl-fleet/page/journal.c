/* Entries, subjects and texts of the journal, and their limits. What events mean: journal_take.c. */
#include "kubectl-fleet/page/journal.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/base/vec.h"

#define SLOT_BYTES 48 /* about what a text or subject takes in a map */

/* Texts are few and come again: each is held once. */
struct pooled {
        uint32_t refs, bytes;
        char text[];
};

struct page_journal {
        VEC(struct journal_entry *) heap; /* the oldest is at the top */
        struct map subjects;              /* struct journal_subject, whose key it borrows */
        struct map texts;                 /* struct pooled, whose text it borrows */
        size_t most_entries, most_bytes;
        uint64_t number;
        struct journal_facts facts;
};

/* ---- names ---- */

const char *journal_what_name(enum journal_what what)
{
        static const char *const names[] = {
                [JOURNAL_LIFE] = "life",          [JOURNAL_WORD] = "word",
                [JOURNAL_CORDON] = "cordon",      [JOURNAL_REVISION] = "revision",
                [JOURNAL_PROGRESS] = "progress",  [JOURNAL_STAGE] = "stage",
                [JOURNAL_CONDITION] = "condition"
        };

        return names[what];
}

const char *journal_tone_name(enum journal_tone tone)
{
        static const char *const names[] = { "plain", "waits", "busy", "done", "failed" };

        return names[tone];
}

enum journal_tone journal_tone_of(enum standing s)
{
        static const enum journal_tone tones[] = { [STANDING_WAITS] = JOURNAL_WAITS,
                                                   [STANDING_BUSY] = JOURNAL_BUSY,
                                                   [STANDING_DONE] = JOURNAL_DONE,
                                                   [STANDING_FAILED] = JOURNAL_FAILED };

        return tones[s];
}

/* ---- texts ---- */

/* *ret: one reference; NULL stays NULL. */
static int hold(struct page_journal *j, const char *text, const char **ret)
{
        char shown[JOURNAL_TEXT_BYTES + 1];
        struct pooled *p;
        size_t n;

        *ret = NULL;
        if (!text)
                return 0;
        n = text_shorten(text, shown, sizeof(shown));
        p = map_get(&j->texts, shown);
        if (!p) {
                p = mem_alloc(sizeof(*p) + n + 1);
                if (!p)
                        return ERR_NO_MEMORY;
                memcpy(p->text, shown, n + 1);
                p->refs = 0;
                p->bytes = (uint32_t)(sizeof(*p) + n + 1 + SLOT_BYTES);
                if (map_put(&j->texts, p->text, p) < 0) {
                        mem_free(p);
                        return ERR_NO_MEMORY;
                }
                j->facts.bytes += p->bytes;
        }
        p->refs++;
        *ret = p->text;
        return 0;
}

static void let_go(struct page_journal *j, const char *text)
{
        struct pooled *p = text ? container_of(text, struct pooled, text[0]) : NULL;

        if (!p || --p->refs > 0)
                return;
        j->facts.bytes -= p->bytes;
        map_take(&j->texts, text);
        mem_free(p);
}

static void replace(struct page_journal *j, const char **at, const char *held)
{
        let_go(j, *at);
        *at = held;
}

/* ---- the heap ---- */

static bool is_older(const struct journal_entry *a, const struct journal_entry *b)
{
        return a->at_ms != b->at_ms ? a->at_ms < b->at_ms : a->number < b->number;
}

static void swap(struct journal_entry **a, struct journal_entry **b)
{
        struct journal_entry *x = *a;

        *a = *b;
        *b = x;
}

static void rise(struct page_journal *j, size_t i)
{
        for (size_t up; i > 0 && is_older(j->heap.at[i], j->heap.at[up = (i - 1) / 2]); i = up)
                swap(&j->heap.at[i], &j->heap.at[up]);
}

static void sink(struct page_journal *j, size_t i)
{
        for (;;) {
                size_t least = i;

                for (size_t down = 2 * i + 1; down < j->heap.n && down <= 2 * i + 2; down++)
                        if (is_older(j->heap.at[down], j->heap.at[least]))
                                least = down;
                if (least == i)
                        return;
                swap(&j->heap.at[i], &j->heap.at[least]);
                i = least;
        }
}

/* ---- subjects ---- */

static size_t subject_bytes(const struct journal_subject *s)
{
        return sizeof(*s) + 2 * strlen(s->key) + SLOT_BYTES;
}

static void free_subject(struct page_journal *j, struct journal_subject *s)
{
        for (size_t i = 0; i < JOURNAL_STATES; i++)
                let_go(j, s->state[i].text);
        let_go(j, s->uid);
        let_go(j, s->of);
        mem_free(s);
}

/* What is gone is kept as long as an entry tells of it. */
static void forget_if_done(struct page_journal *j, struct journal_subject *s)
{
        if (!s->gone || s->n_entries)
                return;
        j->facts.bytes -= subject_bytes(s);
        map_take(&j->subjects, s->key);
        free_subject(j, s);
}

struct journal_subject *journal_subject_made(struct page_journal *j, const struct object *o,
                                             const char *prefix)
{
        const char *ns = o->meta.ns;
        AUTO_FREE char *key = ns ? mem_printf("%s/%s/%s", prefix, ns, o->meta.name)
                                 : mem_printf("%s/%s", prefix, o->meta.name);
        struct journal_subject *s = key ? map_get(&j->subjects, key) : NULL;
        size_t n = key ? strlen(key) + 1 : 0, n_ns = ns ? strlen(ns) + 1 : 0;
        char *at;

        if (!key || s)
                return s;
        s = mem_zalloc(sizeof(*s) + n + n_ns);
        if (!s)
                return NULL;
        at = (char *)(s + 1);
        s->key = memcpy(at, key, n);
        s->ns = ns ? memcpy(at + n, ns, n_ns) : NULL;
        s->name = strrchr(s->key, '/') + 1;
        s->kind = o->kind;
        if (map_put(&j->subjects, s->key, s) == 0)
                return s;
        mem_free(s);
        return NULL;
}

int journal_set_identity(struct page_journal *j, struct journal_subject *s, const char *uid, const char *of)
{
        const char *held_uid, *held_of;

        TRY(hold(j, uid, &held_uid));
        if (hold(j, of, &held_of) < 0) {
                let_go(j, held_uid);
                return ERR_NO_MEMORY;
        }
        replace(j, &s->uid, held_uid);
        replace(j, &s->of, held_of);
        if (s->gone)
                j->facts.bytes -= subject_bytes(s);
        s->gone = false;
        s->version++;
        return 0;
}

void journal_gone(struct page_journal *j, struct journal_subject *s)
{
        if (!s->gone)
                j->facts.bytes += subject_bytes(s);
        s->gone = true;
        s->version++;
        forget_if_done(j, s);
}

/* ---- entries ---- */

static void free_entry(struct page_journal *j, struct journal_entry *e)
{
        struct journal_subject *s = e->subject;

        if (s->progress == e)
                s->progress = NULL;
        s->n_entries--;
        let_go(j, e->was);
        let_go(j, e->is);
        let_go(j, e->text);
        mem_free(e);
        j->facts.bytes -= sizeof(*e) + sizeof(e);
        forget_if_done(j, s);
}

static void drop_oldest(struct page_journal *j)
{
        struct journal_entry *e = j->heap.at[0];

        j->heap.at[0] = j->heap.at[--j->heap.n];
        if (j->heap.n)
                sink(j, 0);
        j->facts.dropped++;
        j->facts.from_ms = MAX(j->facts.from_ms, e->at_ms);
        free_entry(j, e);
}

/* The subject may be gone after that. */
static void keep_limits(struct page_journal *j)
{
        while (j->heap.n && (j->heap.n > j->most_entries || j->facts.bytes > j->most_bytes))
                drop_oldest(j);
}

static int fill(struct page_journal *j, struct journal_entry *e, const struct journal_turn *t)
{
        const struct journal_value none = { "", JOURNAL_PLAIN };
        const struct journal_value *was = t->what < JOURNAL_STATES ? &e->subject->state[t->what] : &none;

        e->what = (uint8_t)t->what;
        e->tone = (uint8_t)t->is.tone;
        e->was_tone = (uint8_t)was->tone;
        e->told = t->told;
        e->at_ms = t->what < JOURNAL_STATES ? MAX(t->at_ms, e->subject->last_ms[t->what]) : t->at_ms;
        TRY(hold(j, was->text, &e->was));
        TRY(hold(j, t->is.text, &e->is));
        return hold(j, or_empty(t->text), &e->text);
}

static int add(struct page_journal *j, struct journal_subject *s, const struct journal_turn *t)
{
        struct journal_entry *e = NEW(struct journal_entry);

        if (!e)
                return ERR_NO_MEMORY;
        e->subject = s;
        if (fill(j, e, t) < 0 || vec_push(&j->heap, e) < 0) {
                let_go(j, e->was);
                let_go(j, e->is);
                let_go(j, e->text);
                mem_free(e);
                return ERR_NO_MEMORY;
        }
        e->number = ++j->number;
        s->n_entries++;
        j->facts.bytes += sizeof(*e) + sizeof(e);
        if (t->what < JOURNAL_STATES)
                s->last_ms[t->what] = e->at_ms;
        if (t->what == JOURNAL_PROGRESS)
                s->progress = e;
        rise(j, j->heap.n - 1);
        return 0;
}

/* More of the same within a few seconds. Where something began or ceased to fail is told by itself. */
static bool goes_with_last(const struct journal_subject *s, const struct journal_turn *t)
{
        return t->what == JOURNAL_PROGRESS && s->progress && s->progress->told == t->told &&
               (s->progress->tone == JOURNAL_FAILED) == (t->is.tone == JOURNAL_FAILED) &&
               t->at_ms - s->progress->at_ms <= JOURNAL_TOGETHER_MS;
}

static int go_on(struct page_journal *j, struct journal_entry *e, const struct journal_turn *t)
{
        const char *is;

        TRY(hold(j, t->is.text, &is));
        replace(j, &e->is, is);
        e->tone = (uint8_t)t->is.tone;
        e->version++;
        return 0;
}

static bool is_same(const struct journal_value *a, const struct journal_value *b)
{
        return a->text && b->text && text_equal(a->text, b->text) && a->tone == b->tone;
}

int journal_set_quietly(struct page_journal *j, struct journal_subject *s, enum journal_what what,
                        struct journal_value is)
{
        const char *held;

        if (is_same(&s->state[what], &is))
                return 0;
        TRY(hold(j, is.text, &held));
        replace(j, &s->state[what].text, held);
        s->state[what].tone = is.tone;
        s->version++;
        return 0;
}

/* What it is has to be held first: afterwards nothing can fail any more. */
int journal_turn(struct page_journal *j, struct journal_subject *s, const struct journal_turn *t)
{
        const char *held;
        int code;

        if (t->what < JOURNAL_STATES && is_same(&s->state[t->what], &t->is))
                return 0;
        TRY(hold(j, t->is.text, &held));
        code = goes_with_last(s, t) ? go_on(j, s->progress, t) : add(j, s, t);
        if (code == 0 && t->what < JOURNAL_STATES) {
                replace(j, &s->state[t->what].text, TAKE_PTR(held));
                s->state[t->what].tone = t->is.tone;
                s->version++;
        }
        let_go(j, held);
        keep_limits(j);
        return code;
}

void journal_lost(struct page_journal *j)
{
        j->facts.lost++;
}

/* ---- what is read ---- */

const struct journal_entry *const *page_journal_entries(const struct page_journal *j, size_t *ret_n)
{
        *ret_n = j->heap.n;
        return (const struct journal_entry *const *)j->heap.at;
}

const struct map *page_journal_subjects(const struct page_journal *j)
{
        return &j->subjects;
}

const struct journal_subject *page_journal_subject(const struct page_journal *j, const char *key)
{
        return map_get(&j->subjects, key);
}

struct journal_facts page_journal_facts(const struct page_journal *j)
{
        return j->facts;
}

/* ---- its life ---- */

struct page_journal *page_journal_new(int64_t now_ms, size_t most_entries, size_t most_bytes)
{
        struct page_journal *j = NEW(struct page_journal);

        if (!j)
                return NULL;
        map_init(&j->subjects, MAP_BORROW_KEYS, NULL);
        map_init(&j->texts, MAP_BORROW_KEYS, NULL);
        j->most_entries = most_entries ? most_entries : JOURNAL_ENTRIES_MAX;
        j->most_bytes = most_bytes ? most_bytes : JOURNAL_BYTES_MAX;
        j->facts.began_ms = now_ms;
        return j;
}

struct page_journal *page_journal_free(struct page_journal *j)
{
        if (!j)
                return NULL;
        vec_for_each(&j->heap, e)
                free_entry(j, *e);
        vec_free(&j->heap);
        map_for_each(&j->subjects, e)
                free_subject(j, e->value);
        map_free(&j->subjects);
        map_free(&j->texts);
        mem_free(j);
        return NULL;
}
