/* A hub with a thousand members, and a thousand placements of a hundred clusters each: devcluster and
 * hub-agent as programs, members that answer in place of agents. The state is made once, by the hub-agent
 * itself, and kept; e2e/bench/scale copies it for each measurement.
 *
 *   bench_scale PROGRAMS SCRATCH make|measure|made|resync|edits NAME MEMBERS PLACEMENTS CLUSTERS TRIES
 * IDLE-SECONDS
 *
 * make fills the empty folder SCRATCH. measure takes a folder that was filled so; without placements it
 * measures the hub at rest and placements on it, with them also restarts. made makes the state and measures
 * all of that on the way: for API servers whose data is not kept. resync measures one restart only,
 * edits only edits during restarts. NAME is what the figures of restarts begin with. */
#include <stdio.h>

#include "common/base/memory.h"
#include "e2e/bench/scale.h"
#include "e2e/scenarios/process_fleet.h"
#include "proto/gen/kinds.h"
#include "proto/names.h"

enum {
        TRIES_MAX = 100,
        AT_ONCE = 100,
        UNDER_WAY = 400, /* placements at the same time, when the state is made */
        SETTLE_MS = 2000,
        PATIENCE_MS = 120000,
        REST_MS = 1800000,
        HELD_MS = 22000, /* longer than any status is held back */
};

struct figures {
        struct scale scale;
        const char *name;
        size_t idle_s, tries; /* half as many where one takes long */
        size_t n_placed;      /* placements one after the other, for their names */
        double resync_s;      /* of the last restart */
};

static struct loop *loop_of(const struct figures *f)
{
        return f->scale.bench->loop;
}

static size_t half(const struct figures *f)
{
        return (f->tries + 1) / 2;
}

static double seconds_since(const struct figures *f, int64_t began_us)
{
        return (double)(loop_now_us(loop_of(f)) - began_us) / 1e6;
}

static int hub_agent(struct figures *f, bool start, struct error *err)
{
        struct fleet *fleet = f->scale.fleet;

        return start ? fleet->ops->start_agent(fleet, "hub-agent", err)
                     : fleet->ops->stop_agent(fleet, "hub-agent", false, err);
}

/* ---- making the state ---- */

/* The environments of the published test: a fifth, three tenths, a half. */
static const char *environment(size_t member, size_t members)
{
        size_t tenth = member * 10 / members;

        return tenth < 2 ? "staging" : tenth < 5 ? "canary" : "prod";
}

static int make_member(struct scale *s, size_t i, struct arena *arena, struct error *err)
{
        return bench_send(
                s->hub, "POST", "/apis/cluster.kubernetes-fleet.io/v1beta1/memberclusters",
                arena_printf(arena,
                             "{\"apiVersion\":\"cluster.kubernetes-fleet.io/v1beta1\",\"kind\":"
                             "\"MemberCluster\",\"metadata\":{\"name\":\"member-%05zu\",\"labels\":{"
                             "\"resource-group\":\"%zu\",\"env\":\"%s\"}},\"spec\":{\"identity\":{"
                             "\"kind\":\"User\",\"name\":\"x\"},\"heartbeatPeriodSeconds\":%d}}",
                             i, i % scale_groups(s), environment(i, s->n_members), SCALE_HEARTBEAT_S),
                err);
}

static int make_members(struct scale *s, struct error *err)
{
        const struct informer_options o = { .kind = &member_cluster_kind, .flags = DECODE_PROJECTION };
        struct loop *l = s->bench->loop;
        int64_t deadline = loop_now_ms(l) + REST_MS;
        struct informer *clusters = informer_new(s->hub, s->group, &o);
        size_t n = 0;
        int code = clusters ? scale_many(s, 0, s->n_members, make_member, err) : error_no_memory(err);

        while (code == 0 && (n = answering_count_joined(clusters)) < s->n_members) {
                code = s->members.code < 0 ? s->members.code : fiber_sleep(l, 200);
                if (code == 0 && loop_now_ms(l) > deadline)
                        code = error_set(err, ERR_TIMEOUT, "only %zu members have joined", n);
        }
        informer_stop(clusters);
        return code;
}

static const char *kept_name(size_t i, struct arena *arena)
{
        return arena_printf(arena, "work-%05zu", i);
}

static int make_kept_content(struct scale *s, size_t i, struct arena *arena, struct error *err)
{
        return scale_make_content(s, kept_name(i, arena), arena, err);
}

static int make_kept_placement(struct scale *s, size_t i, struct arena *arena, struct error *err)
{
        if (i >= UNDER_WAY)
                TRY(scale_await(s, kept_name(i - UNDER_WAY, arena), 0, REST_MS, err));
        return scale_make_placement(s, kept_name(i, arena), i % scale_groups(s), arena, err);
}

static int make_placements(struct scale *s, struct error *err)
{
        TRY(scale_many(s, 0, s->n_placements, make_kept_content, err));
        TRY(scale_many(s, 0, s->n_placements, make_kept_placement, err));
        for (size_t i = 0; i < s->n_placements; i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;

                TRY(scale_await(s, kept_name(i, &arena), 0, REST_MS, err));
        }
        return 0;
}

static int settle(struct figures *f, struct error *err)
{
        TRY(scale_await_rest(&f->scale, 0, REST_MS, err));
        TRY(fiber_sleep(loop_of(f), SETTLE_MS));
        return scale_await_rest(&f->scale, 0, REST_MS, err);
}

/* The hub-agent, and members that it hears of. */
static int begin(struct figures *f, struct error *err)
{
        TRY(hub_agent(f, true, err));
        TRY(scale_beat(&f->scale, err));
        TRY(scale_answer(&f->scale, err));
        return make_members(&f->scale, err);
}

static int make(struct figures *f, struct error *err)
{
        struct scale *s = &f->scale;
        int64_t began = loop_now_us(loop_of(f));
        struct scale_usage none = { 0 };

        TRY(begin(f, err));
        TRY(make_placements(s, err));
        TRY(settle(f, err));
        bench_line(seconds_since(f, began), "s", "%s_made_s", f->name);
        TRY(scale_report_cpu(s, &none, f->name, err));
        return hub_agent(f, false, err);
}

/* ---- placements ---- */

static int place(struct figures *f, const char *name, size_t group, double *ret_ms, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        int64_t began;

        TRY(scale_make_content(&f->scale, name, &arena, err));
        TRY(fiber_sleep(loop_of(f), SETTLE_MS / 4));
        began = loop_now_us(loop_of(f));
        TRY(scale_make_placement(&f->scale, name, group, &arena, err));
        TRY(scale_await(&f->scale, name, 0, PATIENCE_MS, err));
        *ret_ms = seconds_since(f, began) * 1000;
        return 0;
}

/* One placement after the other, on one group after the other or everywhere. */
static int measure_placements(struct figures *f, const char *figure, size_t tries, bool everywhere,
                              struct error *err)
{
        struct scale_usage before;
        double took[TRIES_MAX];
        char name[64];

        TRY(scale_usage(&f->scale, &before, err));
        for (size_t i = 0; i < tries; i++) {
                snprintf(name, sizeof(name), "%s-%zu", everywhere ? "everywhere" : "one", f->n_placed++);
                TRY(place(f, name, everywhere ? SCALE_EVERYWHERE : i % scale_groups(&f->scale), &took[i],
                          err));
        }
        bench_line(bench_percentile(took, tries, 50), "ms", "%s_p50_ms", figure);
        bench_line(bench_percentile(took, tries, 90), "ms", "%s_p90_ms", figure);
        return scale_report_cpu(&f->scale, &before, figure, err);
}

static const char *crowd_name(size_t i, struct arena *arena)
{
        return arena_printf(arena, "crowd-%zu", i);
}

static int make_crowd_content(struct scale *s, size_t i, struct arena *arena, struct error *err)
{
        return scale_make_content(s, crowd_name(i, arena), arena, err);
}

static int make_crowd_placement(struct scale *s, size_t i, struct arena *arena, struct error *err)
{
        return scale_make_placement(s, crowd_name(i, arena), i % scale_groups(s), arena, err);
}

static int measure_crowd(struct figures *f, size_t n, const char *figure, struct error *err)
{
        struct scale *s = &f->scale;
        struct scale_usage before;
        int64_t began;

        TRY(scale_many(s, 0, n, make_crowd_content, err));
        TRY(fiber_sleep(loop_of(f), SETTLE_MS));
        TRY(scale_usage(s, &before, err));
        began = loop_now_us(loop_of(f));
        TRY(scale_many(s, 0, n, make_crowd_placement, err));
        for (size_t i = 0; i < n; i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;

                TRY(scale_await(s, crowd_name(i, &arena), 0, REST_MS, err));
        }
        bench_line(seconds_since(f, began), "s", "%s_s", figure);
        return scale_report_cpu(s, &before, figure, err);
}

/* ---- restarts ---- */

/* Every placement and every binding is looked at once at least. */
static double reconciles_of_state(const struct scale *s)
{
        return (double)(s->n_placements * (s->n_share + 1));
}

/* Statuses may be held back while much is under way: what is to come is waited for. */
static int64_t quiet_ms(const struct scale *s)
{
        return MIN((int64_t)s->n_placements * 80 + SETTLE_MS, (int64_t)HELD_MS);
}

/* The members' own writes are not the hub-agent's. */
static double count_writes(const struct figures *f, const json_t *items, const char *figure)
{
        double sum = 0;
        size_t i;
        json_t *item;

        json_array_foreach((json_t *)items, i, item) {
                const char *verb = doc_get_string(item, "verb"), *resource = doc_get_string(item, "resource");
                double n = (double)doc_get_int(item, "count", 0);

                if (!bench_is_write(verb) || bench_is_sign_of_life(resource) ||
                    text_equal(resource, "works/status") ||
                    text_equal(resource, "selfsubjectaccessreviews") ||
                    text_equal(resource, "serviceaccounts/token"))
                        continue;
                sum += n;
                bench_line(n, "requests", "%s_%s_writes:%s:%s", f->name, figure, verb, resource);
        }
        return sum;
}

/* Starts the hub-agent on the whole state and parks until it is at rest. What it wrote by then is told as
 * FIGURE. */
static int start(struct figures *f, const char *figure, double *ret_writes, struct error *err)
{
        struct scale *s = &f->scale;
        AUTO_JSON json_t *items = NULL;
        int64_t began;

        TRY(scale_reset_requests(s, err));
        began = loop_now_us(loop_of(f));
        TRY(hub_agent(f, true, err));
        TRY(scale_await_rest(s, reconciles_of_state(s), REST_MS, err));
        f->resync_s = seconds_since(f, began);
        TRY(fiber_sleep(loop_of(f), quiet_ms(s)));
        TRY(scale_await_rest(s, 0, REST_MS, err));
        TRY(scale_requests(s, &items, err));
        *ret_writes = count_writes(f, items, figure);
        return 0;
}

/* The first start on a state that was kept may find members that were silent; it is told apart. */
static int start_first(struct figures *f, struct error *err)
{
        double writes;

        TRY(scale_beat(&f->scale, err));
        TRY(start(f, "first_start", &writes, err));
        bench_line(f->resync_s, "s", "%s_first_start_s", f->name);
        bench_line(writes, "requests", "%s_first_start_writes", f->name);
        return 0;
}

static int report_memory(struct figures *f, struct error *err)
{
        struct scale_usage u;

        TRY(scale_usage(&f->scale, &u, err));
        bench_line(u.hub_agent.rss_mb, "MiB", "%s_hub_rss_mb", f->name);
        bench_line(u.hub_agent.private_mb, "MiB", "%s_hub_private_mb", f->name);
        bench_line(u.hub_agent.peak_rss_mb, "MiB", "%s_hub_peak_rss_mb", f->name);
        bench_line(u.hub_agent.peak_rss_mb / u.hub_agent.rss_mb, "ratio", "%s_hub_peak_ratio", f->name);
        bench_line((double)u.hub_agent.cpu_ns / 1e9, "s", "%s_resync_hub_agent_cpu_s", f->name);
        bench_line(u.server.rss_mb, "MiB", "%s_%s_rss_mb", f->name, scale_server(&f->scale));
        return 0;
}

static int measure_restarts(struct figures *f, size_t n, struct error *err)
{
        double took[TRIES_MAX], writes = 0;

        for (size_t i = 0; i < n; i++) {
                struct scale_usage before, after;
                double more;

                TRY(scale_usage(&f->scale, &before, err));
                TRY(hub_agent(f, false, err));
                TRY(start(f, "resync", &more, err));
                TRY(scale_usage(&f->scale, &after, err));
                took[i] = f->resync_s;
                writes += more;
                bench_line(took[i], "s", "%s_resync_s:%zu", f->name, i + 1);
                bench_line((double)(after.server.cpu_ns - before.server.cpu_ns) / 1e9, "s",
                           "%s_resync_%s_cpu_s:%zu", f->name, scale_server(&f->scale), i + 1);
        }
        bench_line(bench_percentile(took, n, 90), "s", "%s_resync_s", f->name);
        bench_line(writes, "requests", "%s_resync_writes", f->name);
        return report_memory(f, err);
}

/* A user moves a placement to other clusters while a hub-agent that was restarted looks at all there is: each
 * time somewhat later, from its very start to near its end. */
static int edit_during_resync(struct figures *f, size_t i, double *ret_ms, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct scale *s = &f->scale;
        size_t number = i * s->n_placements / f->tries;
        const char *name = kept_name(number, &arena);
        const struct object *now = informer_get(s->placements, NULL, name);
        int64_t generation = now ? now->meta.generation : 0, began;

        TRY(hub_agent(f, false, err));
        TRY(hub_agent(f, true, err));
        TRY(fiber_sleep(loop_of(f), (int64_t)(f->resync_s * 1000 * (double)i / (double)f->tries)));
        began = loop_now_us(loop_of(f));
        TRY(scale_move_placement(s, name, (number + 1) % scale_groups(s), &arena, err));
        TRY(scale_await(s, name, generation + 1, PATIENCE_MS, err));
        *ret_ms = seconds_since(f, began) * 1000;
        return scale_await_rest(s, reconciles_of_state(s), REST_MS, err);
}

static int measure_edits(struct figures *f, struct error *err)
{
        double took[TRIES_MAX];

        for (size_t i = 0; i < f->tries; i++) {
                TRY(edit_during_resync(f, i, &took[i], err));
                bench_line(took[i], "ms", "%s_edit_during_resync_ms:%zu", f->name, i * 100 / f->tries);
        }
        bench_line(bench_percentile(took, f->tries, 50), "ms", "%s_edit_during_resync_p50_ms", f->name);
        bench_line(bench_percentile(took, f->tries, 90), "ms", "%s_edit_during_resync_p90_ms", f->name);
        return 0;
}

/* ---- at rest ---- */

static int measure_idle(struct figures *f, struct error *err)
{
        struct scale *s = &f->scale;
        struct scale_usage before, after;
        int64_t began;
        double took;

        TRY(fiber_sleep(loop_of(f), SETTLE_MS));
        TRY(scale_usage(s, &before, err));
        began = loop_now_us(loop_of(f));
        TRY(fiber_sleep(loop_of(f), (int64_t)f->idle_s * 1000));
        TRY(scale_usage(s, &after, err));
        took = seconds_since(f, began);
        bench_line((double)(after.hub_agent.cpu_ns - before.hub_agent.cpu_ns) / 1e6 / took, "millicores",
                   "idle_%zu_members_mcores", s->n_members);
        bench_line(after.hub_agent.rss_mb, "MiB", "idle_%zu_members_rss_mb", s->n_members);
        bench_line(after.hub_agent.private_mb, "MiB", "idle_%zu_members_private_mb", s->n_members);
        bench_line((double)(after.server.cpu_ns - before.server.cpu_ns) / 1e6 / took, "millicores",
                   "idle_%zu_members_%s_mcores", s->n_members, scale_server(s));
        return 0;
}

/* ---- the whole ---- */

static int measure_members(struct figures *f, struct error *err)
{
        char everywhere[64];

        TRY(measure_idle(f, err));
        TRY(measure_placements(f, "scale_placement", f->tries, false, err));
        snprintf(everywhere, sizeof(everywhere), "scale_placement_all_%zu", f->scale.n_members);
        return measure_placements(f, everywhere, half(f), true, err);
}

static int measure_loaded(struct figures *f, struct error *err)
{
        char everywhere[64];

        TRY(measure_restarts(f, half(f), err));
        TRY(measure_placements(f, "scale_loaded_placement", f->tries, false, err));
        snprintf(everywhere, sizeof(everywhere), "scale_loaded_placement_all_%zu", f->scale.n_members);
        TRY(measure_placements(f, everywhere, half(f), true, err));
        TRY(measure_crowd(f, AT_ONCE, "scale_100_placements_at_once", err));
        return measure_edits(f, err);
}

static int measure(struct figures *f, struct error *err)
{
        TRY(start_first(f, err));
        TRY(scale_answer(&f->scale, err));
        return f->scale.n_placements ? measure_loaded(f, err) : measure_members(f, err);
}

static int measure_made(struct figures *f, struct error *err)
{
        struct scale_usage before;
        int64_t began;

        TRY(begin(f, err));
        TRY(settle(f, err));
        TRY(measure_members(f, err));
        TRY(scale_usage(&f->scale, &before, err));
        began = loop_now_us(loop_of(f));
        TRY(make_placements(&f->scale, err));
        TRY(settle(f, err));
        bench_line(seconds_since(f, began), "s", "%s_made_s", f->name);
        TRY(scale_report_cpu(&f->scale, &before, f->name, err));
        return measure_loaded(f, err);
}

static int resync(struct figures *f, struct error *err)
{
        TRY(start_first(f, err));
        return measure_restarts(f, 1, err);
}

static int edits(struct figures *f, struct error *err)
{
        TRY(start_first(f, err));
        TRY(scale_answer(&f->scale, err));
        return measure_edits(f, err);
}

static int read_size(const char *text, const char *what, int64_t least, int64_t most, size_t *ret,
                     struct error *err)
{
        int64_t n;

        if (!slice_parse_i64(slice_of(text), &n) || n < least || n > most)
                return error_set(err, ERR_INVALID, "%s: \"%s\" is not a number from %lld to %lld", what, text,
                                 (long long)least, (long long)most);
        *ret = (size_t)n;
        return 0;
}

static int run(struct figures *f, struct bench *b, struct error *err)
{
        static const struct {
                const char *name;
                int (*run)(struct figures *f, struct error *err);
        } modes[] = { { "make", make },
                      { "measure", measure },
                      { "made", measure_made },
                      { "resync", resync },
                      { "edits", edits } };

        f->name = b->more[1];
        TRY(read_size(b->more[2], "MEMBERS", 1, 100000, &f->scale.n_members, err));
        TRY(read_size(b->more[3], "PLACEMENTS", 0, 100000, &f->scale.n_placements, err));
        TRY(read_size(b->more[4], "CLUSTERS", 1, 100000, &f->scale.n_share, err));
        TRY(read_size(b->more[5], "TRIES", 1, TRIES_MAX, &f->tries, err));
        TRY(read_size(b->more[6], "IDLE-SECONDS", 1, 3600, &f->idle_s, err));
        if (f->scale.n_members % f->scale.n_share != 0)
                return error_set(err, ERR_INVALID,
                                 "CLUSTERS: %zu members cannot be divided into groups of %zu",
                                 f->scale.n_members, f->scale.n_share);
        for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
                if (!text_equal(modes[i].name, b->more[0]))
                        continue;
                TRY(scale_open(&f->scale, b, err));
                return modes[i].run(f, err);
        }
        return error_set(err, ERR_INVALID, "\"%s\" is none of make, measure, made, resync, edits",
                         b->more[0]);
}

static int body(struct bench *b, struct error *err)
{
        struct figures *f = NEW(struct figures);
        int code;

        if (!f)
                return error_no_memory(err);
        code = run(f, b, err);
        scale_close(&f->scale);
        mem_free(f);
        return code;
}

int main(int argc, char **argv)
{
        return bench_main_with(
                argc, argv, "bench_scale",
                "make|measure|made|resync|edits NAME MEMBERS PLACEMENTS CLUSTERS TRIES IDLE-SECONDS", body);
}
