/* An agent that writes once a second, and is stopped. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "e2e/simulation/sim_fleet.h"

#define WALL_START_MS 1767225600000 /* 2026-01-01T00:00:00Z */
#define WRITES 64
#define PAUSE_MS 30000

static const struct kube_resource config_maps = { "", "v1", "configmaps", "ConfigMap", true };

struct bench {
        struct loop *loop;
        struct log_sink sink;
        struct fleet *fleet;
        struct error err;
        int64_t sent_ms[WRITES], came_ms[WRITES]; /* as the agent's turn says, and as the server does */
        int64_t left_ms[WRITES];                  /* as its network does */
        unsigned n_sent, n_came, n_left;
};

static int64_t wall(void *ctx)
{
        return loop_wall_ms(((struct bench *)ctx)->loop);
}

static void say_nothing(void *ctx, const char *line, size_t n)
{
}

static void changed(void *ctx, const struct change *c)
{
        struct bench *b = ctx;

        if (!text_equal(c->resource, "/configmaps") || !text_equal(c->who, "writer") || b->n_came == WRITES)
                return;
        assert_in_range(c->at_ms - c->asked_ms, 0, 5); /* of when it left, not of when it was decided */
        b->came_ms[b->n_came++] = c->at_ms;
}

static void left(void *ctx, const struct sent *s)
{
        struct bench *b = ctx;

        if (!text_equal(s->who, "writer") || b->n_left == WRITES)
                return;
        assert_string_equal(s->cluster, "hub");
        assert_string_equal(s->resource, "/configmaps");
        assert_string_equal(s->ns, "default");
        assert_string_equal(s->name, "test");
        assert_string_equal(s->sub, "");
        assert_non_null(strstr(s->body.data, "ConfigMap"));
        b->left_ms[b->n_left++] = s->at_ms;
}

/* The guest. */
static void write_each_second(void *ctx, const struct world *w, const struct log *log,
                              const struct http_endpoint *hub, struct error *err)
{
        struct bench *b = ctx;
        struct world own = *w;
        struct kube_client kube = { .world = &own, .endpoint = hub, .log = log, .field_manager = "writer" };
        struct kube_write how = { .field_manager = "writer", .force = true };
        char x[16];

        while (fiber_sleep(w->loop, 1000) == 0 && b->n_sent < WRITES) {
                AUTO_JSON json_t *doc = NULL;

                snprintf(x, sizeof(x), "%u", b->n_sent);
                doc = json_pack("{s:s, s:s, s:{s:s, s:s}, s:{s:s}}", "apiVersion", "v1", "kind", "ConfigMap",
                                "metadata", "name", "test", "namespace", "default", "data", "x", x);
                b->sent_ms[b->n_sent++] = loop_now_ms(w->loop);
                (void)kube_doc_patch(&kube, &config_maps, "default", "test", KUBE_PATCH_APPLY, doc, &how,
                                     NULL, NULL);
        }
        error_set(err, ERR_CANCELLED, "cancelled");
}

/* Writes that came by the moment it is stopped, and those that came while it was: 5.5 s after it began. */
static void play(struct bench *b, enum sim_pause_at at, unsigned *ret_meanwhile, unsigned *ret_after)
{
        struct sim_fleet_options o = { .loop = b->loop,
                                       .log_sink = &b->sink,
                                       .members = 1,
                                       .changed = changed,
                                       .sent = left,
                                       .ctx = b };
        unsigned before;

        assert_int_equal(sim_fleet_open(&o, &b->fleet, &b->err), 0);
        assert_int_equal(sim_fleet_add_guest(b->fleet, "writer", write_each_second, b, &b->err), 0);
        assert_int_equal(b->fleet->ops->start_agent(b->fleet, "writer", &b->err), 0);
        fiber_sleep(b->loop, 5500);
        before = b->n_came;
        assert_int_equal(before, 5);
        assert_int_equal(sim_fleet_pause(b->fleet, "writer", at, PAUSE_MS, &b->err), 0);
        assert_int_equal(sim_fleet_pause(b->fleet, "writer", at, PAUSE_MS, &b->err), ERR_EXISTS);
        fiber_sleep(b->loop, PAUSE_MS);
        *ret_meanwhile = b->n_came - before;
        fiber_sleep(b->loop, 5000);
        *ret_after = b->n_came - before - *ret_meanwhile;
}

static void at_once(void *ctx)
{
        struct bench *b = ctx;
        unsigned meanwhile, after;

        play(b, PAUSE_NOW, &meanwhile, &after);
        assert_int_equal(meanwhile, 0);
        assert_in_range(after, 4, 5);
        b->fleet->ops->close(b->fleet);
}

static void decided(void *ctx)
{
        struct bench *b = ctx;
        unsigned meanwhile, after;

        play(b, PAUSE_DECIDED, &meanwhile, &after);
        assert_int_equal(meanwhile, 0);
        assert_in_range(after, 4, 5);
        assert_in_range(b->sent_ms[5], 6000, 6100); /* decided before */
        assert_in_range(b->came_ms[5], 36000, 36100);
        assert_in_range(b->left_ms[5], 36000, 36100);
        b->fleet->ops->close(b->fleet);
}

static void sent(void *ctx)
{
        struct bench *b = ctx;
        unsigned meanwhile, after;

        play(b, PAUSE_SENT, &meanwhile, &after);
        assert_int_equal(meanwhile, 1);
        assert_in_range(after, 3, 5);
        assert_in_range(b->came_ms[5], 6000, 6100);
        assert_in_range(b->came_ms[6], 36000, 37100); /* it found its answer */
        b->fleet->ops->close(b->fleet);
}

/* Nothing of leases is written, so it is stopped without. */
static void never_came(void *ctx)
{
        struct bench *b = ctx;
        unsigned meanwhile, after;

        play(b, PAUSE_LEASE_SENT, &meanwhile, &after);
        assert_in_range(meanwhile, 7, 8);
        assert_int_equal(after, 0);
        sim_fleet_go_on(b->fleet); /* before its time */
        fiber_sleep(b->loop, 2500);
        assert_in_range(b->n_came, 5 + 7 + 2, 5 + 8 + 3);
        assert_int_equal(sim_fleet_pause(b->fleet, "writer", PAUSE_NOW, 1000, &b->err), 0);
        assert_int_equal(b->fleet->ops->stop_agent(b->fleet, "writer", true, &b->err), 0); /* also then */
        assert_int_equal(sim_fleet_pause(b->fleet, "writer", PAUSE_NOW, 1000, &b->err), ERR_EXISTS);
        b->fleet->ops->close(b->fleet);
}

/* It left, and that is told, whether it arrives or not. */
static void lost(void *ctx)
{
        struct bench *b = ctx;
        unsigned meanwhile, after, came;

        play(b, PAUSE_SENT, &meanwhile, &after);
        assert_int_equal(b->n_left, b->n_came);
        assert_in_range(b->left_ms[5], 6000, 6100);
        assert_int_equal(b->fleet->ops->set_link(b->fleet, "writer", false, &b->err), 0);
        came = b->n_came;
        fiber_sleep(b->loop, 3500);
        assert_int_equal(b->n_came, came);
        assert_in_range(b->n_left, came + 3, came + 4);
        b->fleet->ops->close(b->fleet);
}

static void run(fiber_fn story)
{
        size_t live = mem_live_count();
        struct bench b = { .n_sent = 0 };
        struct fiber_group *group;

        b.sink = (struct log_sink){ .write = say_nothing, .wall_ms = wall, .ctx = &b, .least = LOG_ERROR };
        b.loop = loop_new_simulated(5, WALL_START_MS, NULL);
        group = fiber_group_new(b.loop, NULL, "test");
        assert_true(fiber_spawn(group, "test", story, &b));
        assert_int_equal(loop_run(b.loop, &b.err), 0);
        fiber_group_end(group);
        loop_free(b.loop);
        assert_int_equal(mem_live_count(), live);
}

static void a_stopped_agent_writes_nothing_until_it_goes_on(void **state)
{
        run(at_once);
}

static void a_write_that_was_decided_leaves_when_it_goes_on(void **state)
{
        run(decided);
}

static void a_write_that_was_sent_arrives_meanwhile(void **state)
{
        run(sent);
}

static void what_leaves_is_told_though_it_is_lost(void **state)
{
        run(lost);
}

static void a_moment_that_does_not_come_is_not_waited_for(void **state)
{
        run(never_came);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_stopped_agent_writes_nothing_until_it_goes_on),
                cmocka_unit_test(a_write_that_was_decided_leaves_when_it_goes_on),
                cmocka_unit_test(a_write_that_was_sent_arrives_meanwhile),
                cmocka_unit_test(what_leaves_is_told_though_it_is_lost),
                cmocka_unit_test(a_moment_that_does_not_come_is_not_waited_for),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
