/* What happened, as far as the page has seen it or objects tell of it: an entry when a word about a cluster,
 * a placement, an update run or an approval becomes another. One for all who look, bounded: the oldest
 * entries go first. Fed with the events of the informers that the page keeps (page.c). Does not park.
 *
 * A subject has states, each a text with a tone; an entry about a state tells what it was and what it is, so
 * that who has the entries and the states of now knows those of any time before. What was before the page
 * began is told from the objects' own times, and marked. */
#pragma once

#include "common/ctrl/informer.h"
#include "kubectl-fleet/standing.h"

#define JOURNAL_ENTRIES_MAX 20000
#define JOURNAL_BYTES_MAX (8u << 20) /* of entries, their texts, and subjects that are gone */
#define JOURNAL_TEXT_BYTES 300       /* what is longer loses its middle, and says so */
#define JOURNAL_TOGETHER_MS 10000    /* progress within that time is one entry */

enum journal_what {
        JOURNAL_LIFE, /* "", "there", "gone" */
        JOURNAL_WORD, /* "healthy", "available", "waiting", "approved" */
        JOURNAL_CORDON,
        JOURNAL_REVISION,
        JOURNAL_PROGRESS, /* "3 of 5" */
        JOURNAL_STAGE,
        JOURNAL_STATES,
        JOURNAL_CONDITION = JOURNAL_STATES, /* turned, told from an object; is no state */
};
const char *journal_what_name(enum journal_what what); /* "word" */

enum journal_tone { JOURNAL_PLAIN, JOURNAL_WAITS, JOURNAL_BUSY, JOURNAL_DONE, JOURNAL_FAILED };
const char *journal_tone_name(enum journal_tone tone); /* "plain", "waits", "busy", "done", "failed" */
enum journal_tone journal_tone_of(enum standing s);

struct journal_value {
        const char *text; /* NULL = not known */
        enum journal_tone tone;
};

struct journal_entry;
struct journal_subject {
        const char *
                key; /* "cluster/a", "crp/web", "rp/team/web", "csur/r", "sur/ns/r", "careq/q", "areq/ns/q" */
        const char *ns; /* NULL = none */
        const char *name;
        const struct kind *kind;
        const char *uid, *of; /* of: the key of what it belongs to; NULL = nothing */
        struct journal_value state[JOURNAL_STATES];
        int64_t last_ms[JOURNAL_STATES]; /* of the newest entry */
        int64_t since_ms;                /* the newest turn that the object told of */
        struct journal_entry *progress;  /* the newest of its kind */
        uint32_t n_entries, version;     /* version: another after each change of a state */
        bool gone;
};

struct journal_entry {
        int64_t at_ms;
        uint64_t number; /* in the order in which it became known; from 1 */
        struct journal_subject *subject;
        const char *was, *is, *text; /* was: NULL = not known; text: "" = none */
        uint8_t what, was_tone, tone;
        bool told; /* by the object, not seen */
        uint32_t version;
};

struct page_journal;
/* 0 = the limits above. NULL on no memory. */
struct page_journal *page_journal_new(int64_t now_ms, size_t most_entries, size_t most_bytes);
struct page_journal *page_journal_free(struct page_journal *j); /* NULL is fine; returns NULL */
/* Takes an event of an informer of one of the kinds above; others are left. What there was no memory for is
 * counted as lost. */
void page_journal_take(struct page_journal *j, const struct informer_event *e, int64_t now_ms);

/* In no order, borrowed until the next event. */
const struct journal_entry *const *page_journal_entries(const struct page_journal *j, size_t *ret_n);
const struct map *page_journal_subjects(const struct page_journal *j); /* struct journal_subject by key */
const struct journal_subject *page_journal_subject(const struct page_journal *j, const char *key);

struct journal_facts {
        int64_t began_ms; /* the page did: from then on it was seen */
        int64_t from_ms;  /* older entries went; 0 = none did */
        size_t dropped, lost, bytes;
};
struct journal_facts page_journal_facts(const struct page_journal *j);

/* ---- for what reads objects (journal_take.c) ---- */

/* Found or made; NULL on no memory. Names are copied. */
struct journal_subject *journal_subject_made(struct page_journal *j, const struct object *o,
                                             const char *prefix);
/* ERR_NO_MEMORY: as if never called. */
int journal_set_identity(struct page_journal *j, struct journal_subject *s, const char *uid, const char *of);
struct journal_turn {
        enum journal_what what;
        struct journal_value is;
        int64_t at_ms;
        const char *text;
        bool told;
};
/* A state is another by now: an entry, unless it is as it was. The time of an entry is not before that of the
 * last one about the same state. */
int journal_turn(struct page_journal *j, struct journal_subject *s, const struct journal_turn *t);
/* The same without an entry: since when is not known. */
int journal_set_quietly(struct page_journal *j, struct journal_subject *s, enum journal_what what,
                        struct journal_value is);
void journal_lost(struct page_journal *j);
void journal_gone(struct page_journal *j, struct journal_subject *s);
