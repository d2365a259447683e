#include "e2e/simulation/faults.h"

#include "common/base/map.h"

#define STALL_MS 40000
#define SLOW_MS 2000 /* and up to */
#define SLOW_MORE_MS 8000
#define JITTER_MS 10
#define JITTER_RARE_MS 1500
#define WALK_SEEDS 25      /* in so many seeds on end every fault is aimed at every kind of write */
#define AIMED_PER_MILLE 40 /* for each agent, kind of write and fault: the second or third is hit */
#define AIMED_FIRST 2
#define PAGE_GONE_PER_MILLE 15 /* further pages of lists: their version is too old */
#define PAGE_MS 300            /* so much longer, at most, they are on their way */
#define AIMED_LAST 3

struct fault_rule {
        const char *name;
        unsigned per_mille;
        bool writes, reads, watches; /* what it happens to by chance */
};

static const struct fault_rule rules[FAULT_KINDS] = {
        [FAULT_LOST] = { "lost", 8, true, true, true },
        [FAULT_SILENT] = { "silent", 2, true, true, true },
        [FAULT_LOST_ANSWER] = { "lost-answer", 8, true, true, true },
        [FAULT_DUPLICATE] = { "duplicate", 5, .writes = true },
        [FAULT_CONFLICT] = { "conflict", 3, .writes = true },
        [FAULT_BUSY] = { "busy", 3, true, true, true },
        [FAULT_BROKEN] = { "broken", 5, true, true, true },
        [FAULT_SLOW] = { "slow", 3, true, true, true },
        [FAULT_GONE] = { "gone", 10, .watches = true },
        [FAULT_STALL] = { "stall", 5, 0 }, /* of pieces */
        [FAULT_CUT] = { "cut", 10, 0 },
};

/* All messages of one kind from one agent. */
struct sender {
        uint64_t hash; /* of agent and kind */
        uint64_t kind_hash;
        uint64_t messages, answers, pieces;
        char agent[32], kind[TRAFFIC_TEXT];
        bool is_write, is_watch;
};

struct faults {
        struct faults_options options;
        struct loopback_faults table;
        struct map senders; /* agent, tab, kind -> struct sender */
        struct map only;    /* keys as bytes */
        bool on;
        /* Of the message that is being sent: the network asks for its fate first, for the rest at once. */
        uint64_t message;
        enum fault_kind fault; /* FAULT_KINDS: none */
        unsigned sent;         /* duplicates and itself */
        VEC(struct fault) happened;
};

const char *fault_name(enum fault_kind k)
{
        return k < FAULT_KINDS ? rules[k].name : "none";
}

/* ---- drawing ---- */

static uint64_t mix(uint64_t a, uint64_t b)
{
        uint64_t words[2] = { a, b };

        return hash_bytes(words, sizeof(words), 0x6661756c7473u);
}

static uint64_t draw(const struct faults *f, uint64_t key, uint64_t what)
{
        return mix(mix(f->options.seed, what), key);
}

static bool may_happen(const struct faults *f, uint64_t key)
{
        return f->on && (!f->options.only || map_get_n(&f->only, (const char *)&key, sizeof(key)) != NULL);
}

/* The seeds walk through the faults, each kind of write from another one on: whatever every seed writes at
 * least once has met all of them after WALK_SEEDS seeds, wherever they began. */
static enum fault_kind walked_to(const struct faults *f, const struct sender *s)
{
        uint64_t turn = (f->options.seed + s->kind_hash % WALK_SEEDS) % WALK_SEEDS;

        return turn < FAULT_WRITES ? (enum fault_kind)turn : FAULT_KINDS;
}

/* The seed takes aim at the first messages of a kind. */
static enum fault_kind aimed_at(const struct faults *f, const struct sender *s)
{
        uint64_t turn;

        if (!s->is_write || s->messages > AIMED_LAST)
                return FAULT_KINDS;
        if (s->messages < AIMED_FIRST)
                return walked_to(f, s);
        turn = draw(f, s->hash, 1);
        for (unsigned i = 0; i < FAULT_WRITES; i++) {
                enum fault_kind k = (turn + i) % FAULT_WRITES;
                uint64_t aim = draw(f, s->hash, 16 + k);

                if (aim % 1000 < AIMED_PER_MILLE &&
                    AIMED_FIRST + (aim >> 32) % (AIMED_LAST - AIMED_FIRST + 1) == s->messages)
                        return k;
        }
        return FAULT_KINDS;
}

static bool is_page(const struct http_request *rq)
{
        return strstr(rq->path, "&continue=") || strstr(rq->path, "?continue=");
}

static enum fault_kind by_chance(const struct faults *f, const struct sender *s, uint64_t key, bool page)
{
        uint64_t at = draw(f, key, 2) % 1000;

        if (page && draw(f, key, 10) % 1000 < PAGE_GONE_PER_MILLE)
                return FAULT_GONE;

        for (unsigned k = 0; k < FAULT_KINDS; k++) {
                const struct fault_rule *r = &rules[k];

                if (!(s->is_write ? r->writes : s->is_watch ? r->watches : r->reads))
                        continue;
                if (at < r->per_mille)
                        return k;
                at -= r->per_mille;
        }
        return FAULT_KINDS;
}

/* ---- book-keeping ---- */

static void sender_fill(struct sender *s, const struct traffic *t, const char *kind)
{
        snprintf(s->agent, sizeof(s->agent), "%s", t->agent);
        snprintf(s->kind, sizeof(s->kind), "%s", kind);
        s->hash = hash_bytes(kind, strlen(kind), hash_bytes(t->agent, strlen(t->agent), 1));
        s->kind_hash = hash_bytes(kind, strlen(kind), 2);
        s->is_write = t->is_write;
        s->is_watch = text_equal(t->verb, "watch");
}

/* NULL on no memory: then nothing happens to the message. */
static struct sender *find_sender(struct faults *f, const struct http_request *rq)
{
        struct traffic t;
        struct sender *s;
        char kind[TRAFFIC_TEXT], key[TRAFFIC_TEXT + 34];
        size_t n, n_kind;

        traffic_of(rq, &t);
        traffic_kind(&t, kind);
        n = strlen(t.agent);
        n_kind = strlen(kind) + 1;
        memcpy(key, t.agent, n);
        key[n] = '\t';
        memcpy(key + n + 1, kind, n_kind);
        s = map_get_n(&f->senders, key, n + n_kind);
        if (s || !(s = NEW(struct sender)))
                return s;
        sender_fill(s, &t, kind);
        if (map_put(&f->senders, key, s) == 0)
                return s;
        mem_free(s);
        return NULL;
}

/* It is asked for with each piece of an answer. */
static struct sender *sender_of(struct faults *f, const struct http_request *rq)
{
        if (!rq->faults_know)
                return find_sender(f, rq);
        if (!*rq->faults_know)
                *rq->faults_know = find_sender(f, rq);
        return *rq->faults_know;
}

static void record(struct faults *f, const struct sender *s, uint64_t key, uint64_t number, enum fault_kind k)
{
        struct fault fault = { .key = key, .at_ms = loop_now_ms(f->options.loop), .kind = k };

        snprintf(fault.what, sizeof(fault.what), "%.31s: %.130s (%llu)", s->agent, s->kind,
                 (unsigned long long)number);
        (void)vec_push(&f->happened, fault); /* without memory it is not remembered */
        coverage_hit(f->options.coverage, s->kind, fault_name(k));
        log_info(f->options.log, "fault", "fault", fault_name(k), "message", fault.what);
}

/* ---- what the network asks ---- */

static int status_of(const struct faults *f, enum fault_kind k)
{
        switch (k) {
        case FAULT_LOST:
                return ERR_RETRY;
        case FAULT_SILENT:
                return ERR_TIMEOUT;
        case FAULT_LOST_ANSWER:
                return ERR_CLOSED;
        case FAULT_CONFLICT:
                return 409;
        case FAULT_BUSY:
                return 429;
        case FAULT_BROKEN:
                return draw(f, f->message, 3) % 2 ? 500 : 503;
        case FAULT_GONE:
                return 410;
        default:
                return 0;
        }
}

static int fate(void *ctx, const struct http_request *rq)
{
        struct faults *f = ctx;
        struct sender *s = f->on ? sender_of(f, rq) : NULL;

        f->fault = FAULT_KINDS;
        f->sent = 0;
        if (!s)
                return 0;
        coverage_request(f->options.coverage, s->kind, s->is_write);
        f->message = mix(s->hash, ++s->messages);
        if (!may_happen(f, f->message))
                return 0;
        f->fault = aimed_at(f, s);
        if (f->fault == FAULT_KINDS)
                f->fault = by_chance(f, s, f->message, is_page(rq));
        if (f->fault == FAULT_KINDS)
                return 0;
        record(f, s, f->message, s->messages, f->fault);
        return status_of(f, f->fault);
}

static bool duplicate(void *ctx, const struct http_request *rq)
{
        const struct faults *f = ctx;

        return f->fault == FAULT_DUPLICATE;
}

/* Mostly quick, now and then not. */
static int64_t jitter(const struct faults *f, uint64_t key)
{
        uint64_t at = draw(f, key, 4);

        return 1 + (int64_t)((at >> 32) % (at % 10 ? JITTER_MS : JITTER_RARE_MS));
}

static int64_t delay_of_request(struct faults *f, const struct http_request *rq)
{
        uint64_t key = mix(f->message, ++f->sent);
        int64_t page = is_page(rq) ? (int64_t)(draw(f, key, 11) % PAGE_MS) : 0;

        if (f->fault == FAULT_SLOW)
                return SLOW_MS + (int64_t)(draw(f, key, 5) % SLOW_MORE_MS);
        return jitter(f, key) + page;
}

static int64_t delay_of_answer(struct faults *f, const struct http_request *rq)
{
        struct sender *s = sender_of(f, rq);
        uint64_t key;

        if (!s)
                return 1;
        key = mix(mix(s->hash, 7), ++s->answers);
        if (!s->is_watch || draw(f, key, 6) % 1000 >= rules[FAULT_STALL].per_mille || !may_happen(f, key))
                return jitter(f, key);
        record(f, s, key, s->answers, FAULT_STALL);
        return STALL_MS;
}

static int64_t delay(void *ctx, const struct http_request *rq, bool answer)
{
        struct faults *f = ctx;

        if (!f->on)
                return 1;
        return answer ? delay_of_answer(f, rq) : delay_of_request(f, rq);
}

static bool cut_stream(void *ctx, const struct http_request *rq)
{
        struct faults *f = ctx;
        struct sender *s = f->on ? sender_of(f, rq) : NULL;
        uint64_t key;

        if (!s)
                return false;
        key = mix(mix(s->hash, 8), ++s->pieces);
        if (draw(f, key, 9) % 1000 >= rules[FAULT_CUT].per_mille || !may_happen(f, key))
                return false;
        record(f, s, key, s->pieces, FAULT_CUT);
        return true;
}

/* ---- life ---- */

static int keep_only(struct faults *f)
{
        for (size_t i = 0; f->options.only && i < f->options.n_only; i++)
                TRY(map_put_n(&f->only, (const char *)&f->options.only[i], sizeof(uint64_t), f));
        return 0;
}

struct faults *faults_new(const struct faults_options *o)
{
        struct faults *f = NEW(struct faults);

        if (!f)
                return NULL;
        f->options = *o;
        f->fault = FAULT_KINDS;
        f->table = (struct loopback_faults){ f, delay, fate, duplicate, cut_stream };
        map_init(&f->senders, MAP_OWN_KEYS, mem_free);
        map_init(&f->only, MAP_OWN_KEYS, NULL);
        coverage_begin(o->coverage);
        return keep_only(f) == 0 ? f : faults_free(f);
}

struct faults *faults_free(struct faults *f)
{
        if (!f)
                return NULL;
        map_free(&f->senders);
        map_free(&f->only);
        vec_free(&f->happened);
        mem_free(f);
        return NULL;
}

const struct loopback_faults *faults_table(struct faults *f)
{
        return &f->table;
}

void faults_set(struct faults *f, bool on)
{
        f->on = on;
        f->fault = FAULT_KINDS;
}

const struct fault *faults_happened(const struct faults *f, size_t *ret_n)
{
        *ret_n = f->happened.n;
        return f->happened.at;
}
