#include "e2e/simulation/coverage.h"

#include <errno.h>

#include "common/base/map.h"
#include "common/base/memory.h"
#include "e2e/simulation/faults.h"

#define KEY_MAX 320

/* Keys: a word for the sort, tab, name; of hits another tab and the fault. */
#define MOVE "move\t"
#define RULE "rule\t"
#define TOLD "told\t"
#define READ "read\t"
#define WRITE "write\t"
#define HIT "hit\t"

struct count {
        uint64_t n, seeds; /* seeds: in how many it was counted; for requests */
        uint64_t run;      /* the last of them */
};

struct coverage {
        struct map counts; /* key -> struct count */
        uint64_t run;
        size_t allocations; /* beside itself */
};

struct coverage *coverage_new(void)
{
        struct coverage *c = NEW(struct coverage);

        if (c)
                map_init(&c->counts, MAP_OWN_KEYS, mem_free);
        return c;
}

struct coverage *coverage_free(struct coverage *c)
{
        if (!c)
                return NULL;
        map_free(&c->counts);
        mem_free(c);
        return NULL;
}

size_t coverage_allocations(const struct coverage *c)
{
        return c ? 1 + c->allocations : 0;
}

/* ---- counting ---- */

/* NULL on no memory: then nothing is counted, and what is missing shows as a hole. */
static struct count *count_of(struct coverage *c, const char *key)
{
        struct count *n = map_get(&c->counts, key);
        size_t live = mem_live_count();

        if (n)
                return n;
        n = NEW(struct count);
        if (n && map_put(&c->counts, key, n) < 0) {
                mem_free(n);
                n = NULL;
        }
        c->allocations += mem_live_count() - live;
        return n;
}

static struct count *count_under(struct coverage *c, const char *sort, const char *name, const char *more)
{
        char key[KEY_MAX];

        if (!c)
                return NULL;
        snprintf(key, sizeof(key), "%s%s%s%s", sort, name, more ? "\t" : "", more ? more : "");
        return count_of(c, key);
}

static void add(struct count *n)
{
        if (n)
                n->n++;
}

void coverage_begin(struct coverage *c)
{
        if (c)
                c->run++;
}

void coverage_move(struct coverage *c, const char *move)
{
        add(count_under(c, MOVE, move, NULL));
}

void coverage_rule(struct coverage *c, const char *rule)
{
        add(count_under(c, RULE, rule, NULL));
}

void coverage_told(struct coverage *c, const char *what, uint64_t n)
{
        struct count *count = n ? count_under(c, TOLD, what, NULL) : NULL;

        if (count)
                count->n += n;
}

void coverage_expect_told(struct coverage *c, const char *what)
{
        (void)count_under(c, TOLD, what, NULL);
}

void coverage_expect_move(struct coverage *c, const char *move)
{
        (void)count_under(c, MOVE, move, NULL);
}

void coverage_expect_rule(struct coverage *c, const char *rule)
{
        (void)count_under(c, RULE, rule, NULL);
}

void coverage_request(struct coverage *c, const char *kind, bool is_write)
{
        struct count *n = count_under(c, is_write ? WRITE : READ, kind, NULL);

        add(n);
        if (n && (n->run != c->run || n->seeds == 0)) {
                n->run = c->run;
                n->seeds++;
        }
}

void coverage_hit(struct coverage *c, const char *kind, const char *fault)
{
        add(count_under(c, HIT, kind, fault));
}

uint64_t coverage_hits(const struct coverage *c, const char *kind, const char *fault)
{
        const struct count *n;
        char key[KEY_MAX];

        snprintf(key, sizeof(key), HIT "%s\t%s", kind, fault);
        n = map_get(&c->counts, key);
        return n ? n->n : 0;
}

/* ---- files ---- */

int coverage_write(const struct coverage *c, const char *path, struct error *err)
{
        AUTO_FREE const char **keys = NULL;
        FILE *f = fopen(path, "we");
        size_t n;
        bool bad;

        if (!f)
                return error_errno(err, errno, "%s", path);
        keys = map_sorted_keys(&c->counts, &n);
        for (size_t i = 0; keys && i < n; i++) {
                const struct count *count = map_get(&c->counts, keys[i]);

                fprintf(f, "%llu\t%llu\t%s\n", (unsigned long long)count->n, (unsigned long long)count->seeds,
                        keys[i]);
        }
        bad = ferror(f);
        if (fclose(f) != 0 || bad)
                return error_set(err, ERR_SYSTEM, "%s could not be written", path);
        return keys || map_count(&c->counts) == 0 ? 0 : error_no_memory(err);
}

static bool merge_line(struct coverage *c, const char *line)
{
        struct slice rest = slice_trim(slice_of(line)), n_text, seeds_text;
        int64_t n, seeds;
        struct count *count;
        char key[KEY_MAX];

        if (!slice_cut(&rest, '\t', &n_text) || !slice_cut(&rest, '\t', &seeds_text) ||
            !slice_parse_i64(n_text, &n) || !slice_parse_i64(seeds_text, &seeds) || n < 0 || seeds < 0 ||
            rest.len >= sizeof(key))
                return false;
        snprintf(key, sizeof(key), "%.*s", (int)rest.len, rest.data);
        count = count_of(c, key);
        if (count) {
                count->n += (uint64_t)n;
                count->seeds += (uint64_t)seeds;
        }
        return count;
}

int coverage_merge(struct coverage *c, const char *path, struct error *err)
{
        FILE *f = fopen(path, "re");
        char line[KEY_MAX + 64];
        int code = 0;

        if (!f)
                return error_errno(err, errno, "%s", path);
        while (code == 0 && fgets(line, sizeof(line), f))
                if (!merge_line(c, line))
                        code = error_set(err, ERR_INVALID, "%s: not a line of counts: %.100s", path, line);
        fclose(f);
        return code;
}

/* ---- the report ---- */

struct report {
        const struct coverage *c;
        FILE *to;
        const char **keys;
        size_t n;
        unsigned seeds, holes;
};

static void hole(struct report *r, const char *text)
{
        r->holes++;
        fprintf(r->to, "  HOLE  %s\n", text);
}

static void report_sort(struct report *r, const char *sort, const char *title, const char *never)
{
        fprintf(r->to, "%s\n", title);
        for (size_t i = 0; i < r->n; i++)
                if (text_starts_with(r->keys[i], sort)) {
                        const struct count *n = map_get(&r->c->counts, r->keys[i]);

                        fprintf(r->to, "%10llu  %s\n", (unsigned long long)n->n, r->keys[i] + strlen(sort));
                }
        for (size_t i = 0; i < r->n; i++)
                if (text_starts_with(r->keys[i], sort) &&
                    ((const struct count *)map_get(&r->c->counts, r->keys[i]))->n == 0) {
                        char text[KEY_MAX + 64];

                        snprintf(text, sizeof(text), "%s %s", r->keys[i] + strlen(sort), never);
                        hole(r, text);
                }
}

static void report_head(struct report *r, const char *title, unsigned from, unsigned to)
{
        fprintf(r->to, "%s\n%10s %6s", title, "requests", "seeds");
        for (unsigned f = from; f < to; f++)
                fprintf(r->to, " %11s", fault_name(f));
        fprintf(r->to, "\n");
}

static void report_row(struct report *r, const char *key, const char *kind, unsigned from, unsigned to)
{
        const struct count *n = map_get(&r->c->counts, key);

        fprintf(r->to, "%10llu %6llu", (unsigned long long)n->n, (unsigned long long)n->seeds);
        for (unsigned f = from; f < to; f++)
                fprintf(r->to, " %11llu", (unsigned long long)coverage_hits(r->c, kind, fault_name(f)));
        fprintf(r->to, "  %s\n", kind);
}

static void report_holes_of(struct report *r, const char *key, const char *kind)
{
        const struct count *n = map_get(&r->c->counts, key);

        for (unsigned f = 0; f < FAULT_WRITES && r->seeds >= COVERAGE_SEEDS; f++) {
                char text[KEY_MAX + 64];

                if (n->seeds < COVERAGE_SEEDS || coverage_hits(r->c, kind, fault_name(f)) > 0)
                        continue;
                snprintf(text, sizeof(text), "\"%s\" never hit \"%s\"", fault_name(f), kind);
                hole(r, text);
        }
}

static void report_requests(struct report *r)
{
        report_head(r, "writes of the agents, and how often each fault hit them", 0, FAULT_WRITES);
        for (size_t i = 0; i < r->n; i++)
                if (text_starts_with(r->keys[i], WRITE))
                        report_row(r, r->keys[i], r->keys[i] + strlen(WRITE), 0, FAULT_WRITES);
        for (size_t i = 0; i < r->n; i++)
                if (text_starts_with(r->keys[i], WRITE))
                        report_holes_of(r, r->keys[i], r->keys[i] + strlen(WRITE));
}

/* By who watches whom: single resources are many and alike. */
static void report_watches(struct report *r, const char *who)
{
        uint64_t n = 0, hits[FAULT_KINDS] = { 0 };

        for (size_t i = 0; i < r->n; i++) {
                const char *kind = r->keys[i] + strlen(READ);

                if (!text_starts_with(r->keys[i], READ) || !text_starts_with(kind, who))
                        continue;
                n += ((const struct count *)map_get(&r->c->counts, r->keys[i]))->n;
                for (unsigned f = FAULT_WRITES; f < FAULT_KINDS; f++)
                        hits[f] += coverage_hits(r->c, kind, fault_name(f));
        }
        fprintf(r->to, "%10llu %6s", (unsigned long long)n, "");
        for (unsigned f = FAULT_WRITES; f < FAULT_KINDS; f++)
                fprintf(r->to, " %11llu", (unsigned long long)hits[f]);
        fprintf(r->to, "  %s\n", who);
}

unsigned coverage_report(const struct coverage *c, unsigned seeds, FILE *to)
{
        struct report r = { .c = c, .to = to, .seeds = seeds };

        r.keys = map_sorted_keys(&c->counts, &r.n);
        if (!r.keys)
                r.n = 0;
        report_sort(&r, MOVE, "moves played", "was never played");
        report_sort(&r, RULE, "rules, and how often each had something to judge", "never judged anything");
        report_sort(&r, TOLD, "what browsers were told", "was never told");
        report_requests(&r);
        report_head(&r, "watches", FAULT_WRITES, FAULT_KINDS);
        report_watches(&r, "hub-agent>hub watch");
        report_watches(&r, "member-agent>hub watch");
        report_watches(&r, "member-agent>member watch");
        fprintf(to, "%u seeds, %u holes\n", seeds, r.holes);
        mem_free(r.keys);
        return r.holes;
}
