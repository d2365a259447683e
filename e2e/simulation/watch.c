#include "e2e/simulation/watch.h"

#include <stdarg.h>

#include "common/base/memory.h"
#include "common/loop/volume.h"
#include "e2e/simulation/sim_fleet.h"

struct watch {
        struct watch_options options;
        size_t n;
        void **states; /* of watch_rules[] */
        struct error broken;
};

struct watch *watch_new(const struct watch_options *o)
{
        struct watch *w = NEW(struct watch);

        if (!w)
                return NULL;
        w->options = *o;
        while (watch_rules[w->n])
                w->n++;
        w->states = mem_calloc(w->n + 1, sizeof(void *));
        for (size_t i = 0; w->states && i < w->n; i++) {
                if ((!watch_rules[i]->of_tables || (o->fleet && o->fleet->resource_sets)) &&
                    (!watch_rules[i]->of_shards || o->shards) &&
                    (!watch_rules[i]->of_charts || (o->fleet && o->fleet->sources)) &&
                    (!watch_rules[i]->of_garden || (o->wish && o->wish->garden.there)))
                        coverage_expect_rule(o->coverage, watch_rules[i]->name);
                w->states[i] = mem_zalloc(MAX(watch_rules[i]->state_size, 1u));
                if (!w->states[i])
                        return watch_free(w);
        }
        return w->states ? w : watch_free(w);
}

struct watch *watch_free(struct watch *w)
{
        if (!w)
                return NULL;
        for (size_t i = 0; w->states && i < w->n; i++) {
                if (w->states[i] && watch_rules[i]->end)
                        watch_rules[i]->end(w->states[i]);
                mem_free(w->states[i]);
        }
        mem_free(w->states);
        mem_free(w);
        return NULL;
}

void watch_change(struct watch *w, const struct change *c)
{
        for (size_t i = 0; i < w->n; i++)
                if (watch_rules[i]->changed)
                        watch_rules[i]->changed(w, w->states[i], c);
}

void watch_sent(struct watch *w, const struct sent *s)
{
        for (size_t i = 0; i < w->n; i++)
                if (watch_rules[i]->sent)
                        watch_rules[i]->sent(w, w->states[i], s);
}

void watch_at_rest(struct watch *w)
{
        for (size_t i = 0; i < w->n; i++)
                if (watch_rules[i]->at_rest)
                        watch_rules[i]->at_rest(w, w->states[i]);
}

int watch_verdict(const struct watch *w, struct error *err)
{
        if (w && w->broken.code && err)
                *err = w->broken;
        return w ? w->broken.code : 0;
}

/* ---- for rules ---- */

const struct wish *watch_wish(const struct watch *w)
{
        return w->options.wish;
}

unsigned watch_shards(const struct watch *w)
{
        return w->options.shards;
}

struct fleet *watch_fleet(const struct watch *w)
{
        return w->options.fleet;
}

int64_t watch_now(const struct watch *w)
{
        return loop_now_ms(w->options.fleet->world->loop);
}

int64_t watch_wall(const struct watch *w)
{
        return loop_wall_ms(w->options.fleet->world->loop);
}

void watch_judged(struct watch *w, const struct rule *r)
{
        coverage_rule(w->options.coverage, r->name);
}

void watch_broken(struct watch *w, const struct rule *r, const char *format, ...)
{
        char text[512];
        va_list args;

        va_start(args, format);
        vsnprintf(text, sizeof(text), format, args);
        va_end(args);
        log_error(w->options.fleet->log, "rule broken", "rule", r->name, "how", text);
        if (!w->broken.code)
                error_set(&w->broken, ERR_INTERNAL, "rule %s, at %lld ms: %s", r->name,
                          (long long)watch_now(w), text);
}

const json_t *watch_get(struct watch *w, const char *cluster, const char *resource, const char *ns,
                        const char *name)
{
        return sim_fleet_get(w->options.fleet, cluster, resource, ns, name);
}

struct sqlite3 *watch_state(struct watch *w, unsigned member)
{
        return sim_fleet_read_state(w->options.fleet, member);
}

void watch_each(struct watch *w, const char *cluster, const char *resource, const char *ns,
                bool (*fn)(void *ctx, const json_t *doc), void *ctx)
{
        sim_fleet_each(w->options.fleet, cluster, resource, ns, fn, ctx);
}

static struct volume *volume_of(struct watch *w, const char *agent)
{
        for (unsigned i = 0; i < w->options.fleet->n_hub_agents; i++) {
                char name[FLEET_AGENT_NAME];

                fleet_hub_agent_name(i, name);
                if (text_equal(name, agent))
                        return sim_fleet_volume(w->options.fleet, i);
        }
        return NULL;
}

bool watch_artifact(struct watch *w, const char *agent, const char *path, uint64_t *ret_size)
{
        struct volume *v = volume_of(w, agent);
        struct volume_info info;

        if (!v || volume_look(v, path, &info, NULL) < 0 || info.kind != VOLUME_FILE)
                return false;
        *ret_size = info.size;
        return true;
}

struct listing {
        void (*fn)(void *ctx, const char *name);
        void *ctx;
};

static int list_one(void *ctx, const char *name, struct error *err)
{
        const struct listing *l = ctx;

        l->fn(l->ctx, name);
        return 0;
}

void watch_folder(struct watch *w, const char *agent, const char *path,
                  void (*fn)(void *ctx, const char *name), void *ctx)
{
        struct volume *v = volume_of(w, agent);
        struct listing l = { fn, ctx };

        if (v)
                (void)volume_each(v, path, list_one, &l, NULL);
}
