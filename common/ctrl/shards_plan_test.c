/* The rule that shares shards out, by table and by properties over many drawn states. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/base.h"
#include "common/ctrl/shards_plan.h"

#define PATIENCE_MS 60000

/* ---- keys ---- */

/* Values that another release has to give too: agents of both share one layout. */
static void the_shard_of_a_key_is_the_same_for_ever(void **state)
{
        static const struct {
                const char *key;
                unsigned of_2, of_16, of_64;
        } table[] = { { "app", 1, 1, 17 }, { "team-a/web", 1, 13, 61 }, { "", 0, 6, 38 } };

        for (size_t i = 0; i < ARRAY_LEN(table); i++) {
                assert_int_equal(shard_of_key(table[i].key, 2), table[i].of_2);
                assert_int_equal(shard_of_key(table[i].key, 16), table[i].of_16);
                assert_int_equal(shard_of_key(table[i].key, 64), table[i].of_64);
        }
}

static void keys_spread_over_all_shards(void **state)
{
        unsigned counts[16] = { 0 };
        char key[32];

        for (int i = 0; i < 16000; i++) {
                snprintf(key, sizeof(key), "placement-%d", i);
                counts[shard_of_key(key, 16)]++;
        }
        for (size_t i = 0; i < ARRAY_LEN(counts); i++)
                assert_in_range(counts[i], 850, 1150);
}

/* ---- a table ---- */

/* One letter for each shard: its holder; '-' = free; 'D' = held by one who does not live; small = run out. */
struct row {
        const char *holders, *living;
        char self;
        const char *take, *renew, *give_up; /* digits */
        int64_t free_ms;
};

static const char *name_of(char c)
{
        static const char *const names[] = { "A", "B", "C", "D", "E" };

        return names[c - 'A'];
}

static shard_set bits(const char *digits)
{
        shard_set set = 0;

        for (; *digits; digits++)
                set |= SHARD_BIT(*digits - '0');
        return set;
}

static void plan_row(const struct row *r, struct shards_plan *ret)
{
        struct shard_view at[SHARDS_MAX];
        const char *living[8];
        struct shards_view v = { (unsigned)strlen(r->holders), at, living, strlen(r->living), PATIENCE_MS };

        for (size_t i = 0; i < v.n_living; i++)
                living[i] = name_of(r->living[i]);
        for (unsigned k = 0; k < v.n; k++) {
                char c = r->holders[k];
                bool run_out = c >= 'a' && c <= 'e';

                at[k] = (struct shard_view){ .holder = c == '-'  ? NULL
                                                       : run_out ? name_of((char)(c - 'a' + 'A'))
                                                                 : name_of(c),
                                             .free = c == '-' || run_out,
                                             .free_since_ms = 1000000 - r->free_ms };
        }
        shards_plan(&v, name_of(r->self), 1000000, ret);
}

static void a_replica_does_what_the_table_says(void **state)
{
        static const struct row table[] = {
                { "----", "A", 'A', "0123", "", "" }, /* alone: all */
                { "----", "", 'A', "0123", "", "" },  /* its own presence not seen yet */
                { "AAAA", "A", 'A', "", "0123", "" }, /* and keeps it */
                { "BBBB", "AB", 'A', "", "", "" },    /* what is held is not taken */
                { "bbbb", "A", 'A', "0123", "", "" }, /* what has run out is */
                { "aaaa", "A", 'A', "0123", "", "" }, /* so is what names us and is not worked on */
                { "DDDD", "A", 'A', "", "", "" },     /* its lease has to run out first */
                { "AABB", "AB", 'A', "", "01", "" },  /* shared evenly: nothing moves */
                { "AABB", "AB", 'B', "", "23", "" },
                { "AAB-", "AB", 'B', "3", "2", "" }, /* who has room takes it */
                { "AAB-", "AB", 'A', "", "01", "" },
                { "AAB-", "AB", 'A', "3", "01", "", 60000 }, /* until it was left alone for long */
                { "AABC", "ABC", 'A', "", "01", "" },        /* the greater share is whose it is */
                { "AABBC", "ABC", 'B', "", "23", "" },
                { "A-", "ABC", 'A', "", "0", "" }, /* more replicas than shards */
        };

        for (size_t i = 0; i < ARRAY_LEN(table); i++) {
                struct shards_plan plan;

                plan_row(&table[i], &plan);
                if (plan.take != bits(table[i].take) || plan.renew != bits(table[i].renew) ||
                    plan.give_up != bits(table[i].give_up))
                        fail_msg("row %zu: take %llx renew %llx give up %llx", i,
                                 (unsigned long long)plan.take, (unsigned long long)plan.renew,
                                 (unsigned long long)plan.give_up);
        }
}

static unsigned count(shard_set set)
{
        return (unsigned)__builtin_popcountll(set);
}

static void a_newcomer_is_given_its_share_and_no_more(void **state)
{
        static const struct row a = { "AAAAAAAA", "ABC", 'A' }, b = { "AAAAAAAA", "ABC", 'B' };
        struct shards_plan plan;

        plan_row(&a, &plan);
        assert_int_equal(count(plan.give_up), 5);
        assert_int_equal(count(plan.renew), 3);
        plan_row(&b, &plan);
        assert_int_equal(plan.take | plan.give_up | plan.renew, 0);
}

/* ---- properties ---- */

#define REPLICAS 7

struct fleet {
        unsigned n;
        char names[REPLICAS][16];
        bool lives[REPLICAS];
        int holder[SHARDS_MAX]; /* -1 = free */
        unsigned moved, handed;
};

static uint64_t drawn;
static unsigned draw(unsigned below)
{
        drawn = drawn * 6364136223846793005u + 1442695040888963407u;
        return (unsigned)(drawn >> 33) % below;
}

static void plan_for(const struct fleet *f, int self, struct shards_plan *ret)
{
        struct shard_view at[SHARDS_MAX];
        const char *living[REPLICAS];
        struct shards_view v = { f->n, at, living, 0, PATIENCE_MS };

        for (int i = REPLICAS - 1; i >= 0; i--) /* in no special order */
                if (f->lives[i])
                        living[v.n_living++] = f->names[i];
        for (unsigned k = 0; k < f->n; k++)
                at[k] = (struct shard_view){ f->holder[k] >= 0 ? f->names[f->holder[k]] : "",
                                             f->holder[k] < 0, 0 };
        shards_plan(&v, f->names[self], 0, ret);
}

/* All see the same, then act. */
static void round_of_all(struct fleet *f)
{
        struct shards_plan plans[REPLICAS] = { 0 };

        for (int i = 0; i < REPLICAS; i++)
                if (f->lives[i])
                        plan_for(f, i, &plans[i]);
        for (int i = 0; i < REPLICAS; i++) {
                for (int k = 0; k < i; k++)
                        assert_int_equal(plans[i].take & plans[k].take, 0); /* they agree */
                for (unsigned k = 0; k < f->n; k++) {
                        if (plans[i].take & SHARD_BIT(k)) {
                                assert_int_equal(f->holder[k], -1);
                                f->holder[k] = i;
                                f->moved++;
                        } else if (plans[i].give_up & SHARD_BIT(k)) {
                                assert_int_equal(f->holder[k], i);
                                f->holder[k] = -1;
                                f->handed++;
                        }
                }
        }
}

static unsigned held_by(const struct fleet *f, int replica)
{
        unsigned n = 0;

        for (unsigned k = 0; k < f->n; k++)
                n += f->holder[k] == replica;
        return n;
}

static unsigned living(const struct fleet *f)
{
        unsigned n = 0;

        for (int i = 0; i < REPLICAS; i++)
                n += f->lives[i];
        return n;
}

static void settle(struct fleet *f)
{
        f->moved = f->handed = 0;
        for (int i = 0; i < 3; i++) /* given up, and then taken: more is not needed */
                round_of_all(f);
        for (int i = 0; i < REPLICAS; i++)
                if (f->lives[i])
                        assert_in_range(held_by(f, i), f->n / living(f), (f->n + living(f) - 1) / living(f));
                else
                        assert_int_equal(held_by(f, i), 0);
        unsigned moved = f->moved, handed = f->handed;
        round_of_all(f); /* and then nothing moves any more */
        assert_int_equal(f->moved, moved);
        assert_int_equal(f->handed, handed);
}

static void open_fleet(struct fleet *f, int number)
{
        *f = (struct fleet){ .n = SHARDS_MIN + draw(SHARDS_MAX - SHARDS_MIN + 1) };
        for (int i = 0; i < REPLICAS; i++) {
                snprintf(f->names[i], sizeof(f->names[i]), "hub-%x-%d", draw(1u << 20),
                         number * REPLICAS + i);
                f->lives[i] = draw(2);
        }
        f->lives[draw(REPLICAS)] = true;
        for (unsigned k = 0; k < f->n; k++)
                f->holder[k] = -1;
}

static void from_any_state_all_shards_are_shared_evenly(void **state)
{
        drawn = 1;
        for (int i = 0; i < 2000; i++) {
                struct fleet f;

                open_fleet(&f, i);
                for (unsigned k = 0; k < f.n; k++) {
                        int who = (int)draw(REPLICAS);

                        f.holder[k] = f.lives[who] ? who : -1;
                }
                settle(&f);
        }
}

static int pick(const struct fleet *f, bool lives)
{
        int who;

        do
                who = (int)draw(REPLICAS);
        while (f->lives[who] != lives);
        return who;
}

static void when_one_goes_only_what_it_held_moves(void **state)
{
        drawn = 2;
        for (int i = 0; i < 2000; i++) {
                struct fleet f;
                unsigned freed;
                int who;

                open_fleet(&f, i);
                settle(&f);
                if (living(&f) < 2)
                        continue;
                who = pick(&f, true);
                freed = held_by(&f, who);
                f.lives[who] = false;
                for (unsigned k = 0; k < f.n; k++)
                        f.holder[k] = f.holder[k] == who ? -1 : f.holder[k];
                settle(&f);
                assert_int_equal(f.handed, 0);
                assert_int_equal(f.moved, freed);
        }
}

static void when_one_comes_only_its_share_moves_and_moves_to_it(void **state)
{
        drawn = 3;
        for (int i = 0; i < 2000; i++) {
                struct fleet f;
                int who;

                open_fleet(&f, i);
                settle(&f);
                if (living(&f) == REPLICAS)
                        continue;
                who = pick(&f, false);
                f.lives[who] = true;
                settle(&f);
                assert_int_equal(f.moved, f.handed);
                assert_int_equal(f.moved, held_by(&f, who));
        }
}

/* More of them than are planned with: nothing breaks, and everything is shared among some. */
static void a_crowd_is_no_trouble(void **state)
{
        static char names[300][8];
        const char *living_names[300];
        struct shard_view at[4] = { { "", true }, { "", true }, { "", true }, { "", true } };
        struct shards_view v = { 4, at, living_names, 300, PATIENCE_MS };
        shard_set all = 0;

        for (int i = 0; i < 300; i++) {
                snprintf(names[i], sizeof(names[i]), "r%03d", i);
                living_names[i] = names[i];
        }
        for (int i = 0; i < 300; i++) {
                struct shards_plan plan;

                shards_plan(&v, names[i], 0, &plan);
                all |= plan.take;
        }
        assert_int_equal(all, SHARDS_ALL(4));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(the_shard_of_a_key_is_the_same_for_ever),
                cmocka_unit_test(keys_spread_over_all_shards),
                cmocka_unit_test(a_replica_does_what_the_table_says),
                cmocka_unit_test(a_newcomer_is_given_its_share_and_no_more),
                cmocka_unit_test(from_any_state_all_shards_are_shared_evenly),
                cmocka_unit_test(when_one_goes_only_what_it_held_moves),
                cmocka_unit_test(when_one_comes_only_its_share_moves_and_moves_to_it),
                cmocka_unit_test(a_crowd_is_no_trouble),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
