#include "e2e/simulation/budget.h"

#include "common/base/map.h"
#include "common/base/memory.h"

static const struct kube_resource works = { "placement.kubernetes-fleet.io", "v1beta1", "works", "Work",
                                            true };

#define FORGET_MS 120000 /* longer than watches stall and links stay down */

struct seen {
        int64_t available, lost_ms; /* generation that was last available; when it last was not, unchanged */
};

struct budget {
        struct fleet *fleet;
        struct waitq written;
        bool look;
        uint64_t looks;
        struct map seen;                                  /* UID of a Work -> struct seen */
        unsigned wanted[BUDGET_APPS], least[BUDGET_APPS]; /* least: since nothing of it was in transition */
        struct error broken;
};

struct tally {
        unsigned available, moving; /* moving: was available, and its spec was changed since */
};

void budget_look(void *budget)
{
        struct budget *b = budget;

        b->look = true;
        waitq_wake_all(&b->written);
}

void budget_wants(struct budget *b, unsigned app, unsigned clusters)
{
        b->wanted[app] = clusters;
        b->least[app] = MIN(b->least[app], clusters);
}

static const json_t *available_condition(const json_t *work)
{
        json_t *c;
        size_t i;

        json_array_foreach(doc_get_array(work, "status.conditions"), i, c)
                if (text_equal(doc_get_string(c, "type"), "Available"))
                        return c;
        return NULL;
}

static struct seen *seen_of(struct budget *b, const char *uid)
{
        struct seen *seen = map_get(&b->seen, uid);

        if (seen || !(seen = NEW(struct seen)))
                return seen;
        *seen = (struct seen){ .lost_ms = -FORGET_MS };
        if (map_put(&b->seen, uid, seen) == 0)
                return seen;
        mem_free(seen);
        return NULL;
}

/* What lost its availability by itself, as by somebody meddling, may be updated without a budget; that
 * decision may rest on old news and be carried out late. */
static int count(struct budget *b, const json_t *work, struct tally *t, struct error *err)
{
        int64_t generation = doc_get_int(work, "metadata.generation", 0),
                now = loop_now_ms(b->fleet->world->loop);
        struct seen *seen = seen_of(b, doc_get_string(work, "metadata.uid"));
        const json_t *c = available_condition(work);
        bool current = doc_get_int(c, "observedGeneration", -1) == generation;

        if (!seen)
                return error_no_memory(err);
        if (current && text_equal(doc_get_string(c, "status"), "True")) {
                t->available++;
                seen->available = generation;
        } else if (current || !c || seen->available == generation) {
                seen->lost_ms = now;
        } else {
                t->moving += seen->available > 0 && now - seen->lost_ms > FORGET_MS;
        }
        return 0;
}

static bool app_of(const json_t *work, uint64_t *ret)
{
        static const char *const keys[] = { "metadata", "labels", "kubernetes-fleet.io/parent-CRP" };
        const char *parent = json_string_value(doc_get_keys(work, keys, 3));

        return parent && text_starts_with(parent, "app-") && text_parse_u64(parent + 4, ret) &&
               *ret < BUDGET_APPS && !doc_get(work, "metadata.deletionTimestamp");
}

static void judge(struct budget *b, unsigned app, const struct tally *t)
{
        unsigned may = (b->least[app] + 3) / 4; /* 25 %, rounded up */

        if (t->moving == 0)
                b->least[app] = b->wanted[app];
        else if (t->moving > may && t->available + may < b->least[app] && !b->broken.code)
                error_set(&b->broken, ERR_INTERNAL,
                          "placement app-%u: at %lld ms a rollout had %u of its members unavailable at once, "
                          "%u "
                          "allowed, %u available of %u",
                          app, (long long)loop_now_ms(b->fleet->world->loop), t->moving, may, t->available,
                          b->least[app]);
}

/* At no time two Works of one placement on one member. */
static int judge_twins(struct budget *b, struct map *seen, const json_t *work, unsigned app,
                       struct error *err)
{
        const char *ns = doc_get_string(work, "metadata.namespace");
        char key[96];

        snprintf(key, sizeof(key), "%.80s/%u", ns ? ns : "", app);
        if (map_has(seen, key) && !b->broken.code)
                error_set(&b->broken, ERR_INTERNAL, "%s holds two Works of placement app-%u", ns, app);
        return map_put(seen, key, b) < 0 ? error_no_memory(err) : 0;
}

static int look_at(struct budget *b, const json_t *items, struct tally *tallies, struct error *err)
{
        CLEANUP(map_free) struct map seen;
        json_t *work;
        size_t i;

        map_init(&seen, MAP_OWN_KEYS, NULL);
        json_array_foreach((json_t *)items, i, work) {
                uint64_t app;

                if (!app_of(work, &app))
                        continue;
                TRY(count(b, work, &tallies[app], err));
                TRY(judge_twins(b, &seen, work, (unsigned)app, err));
        }
        return 0;
}

static int look(struct budget *b, struct error *err)
{
        struct tally tallies[BUDGET_APPS] = { 0 };
        AUTO_JSON json_t *items = NULL;
        struct kube_client *k;

        TRY(b->fleet->ops->client(b->fleet, "hub", &k, err));
        TRY(kube_doc_list(k, &works, NULL, NULL, &items, err));
        TRY(look_at(b, items, tallies, err));
        for (unsigned app = 0; app < BUDGET_APPS; app++)
                judge(b, app, &tallies[app]);
        b->looks++;
        return 0;
}

static void budget_fiber(void *ctx)
{
        struct budget *b = ctx;
        struct error err;

        for (;;) {
                while (!b->look)
                        if (waitq_wait(b->fleet->world->loop, &b->written, DEADLINE_NONE) < 0)
                                return;
                b->look = false;
                if (look(b, &err) == ERR_CANCELLED) /* servers away: the next write is looked at again */
                        return;
        }
}

struct budget *budget_new(struct fleet *f, struct fiber_group *group)
{
        struct budget *b = NEW(struct budget);

        if (!b)
                return NULL;
        b->fleet = f;
        map_init(&b->seen, MAP_OWN_KEYS, mem_free);
        return fiber_spawn(group, "budget", budget_fiber, b) ? b : budget_free(b);
}

struct budget *budget_free(struct budget *b)
{
        if (!b)
                return NULL;
        map_free(&b->seen);
        mem_free(b);
        return NULL;
}

int budget_verdict(const struct budget *b, struct error *err)
{
        if (b && b->broken.code)
                *err = b->broken;
        return b ? b->broken.code : 0;
}

uint64_t budget_looks(const struct budget *b)
{
        return b->looks;
}
