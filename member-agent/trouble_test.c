/* What may befall an agent for a while: a disk that is full, read-only or spoilt, a clock that is set, a hub
 * that is away. Each is told, the cluster stays in line meanwhile, and nothing of it is left when it is over.
 */
#include "member-agent/disk_test.h"

struct scene {
        struct rig *rig;
        struct agent agent;
        struct sim_disk *disk;
        struct metrics *metrics;
        struct log_sink sink;
        struct buf said;
        bool hub_away;
        struct loopback_faults faults;
};

static void hear(void *ctx, const char *line, size_t n)
{
        assert_int_equal(buf_append(&((struct scene *)ctx)->said, line, n), 0);
}

static int64_t wall_of(void *ctx)
{
        return loop_wall_ms(((struct scene *)ctx)->rig->loop);
}

static int hub_fate(void *ctx, const struct http_request *rq)
{
        return ((struct scene *)ctx)->hub_away && text_equal(rq->endpoint->base_url, HUB) ? ERR_RETRY : 0;
}

/* What is open ends too, before it tells anything more. */
static bool cut_stream(void *ctx, const struct http_request *rq)
{
        return hub_fate(ctx, rq) != 0;
}

static void let_agent_run(struct scene *s)
{
        start_on(&s->agent, s->rig, s->disk);
        s->agent.log.sink = &s->sink;
        s->agent.options.metrics = s->metrics;
        meet(&s->agent, &s->faults);
}

/* One Work with two ConfigMaps, at rest. */
static void set_scene(struct scene *s, struct rig *r)
{
        *s = (struct scene){ .rig = r,
                             .disk = sim_disk_new(r->loop),
                             .metrics = metrics_new(METRIC_OF_MEMBER) };
        s->sink = (struct log_sink){ hear, wall_of, s, LOG_TEXT, LOG_INFO };
        s->faults = (struct loopback_faults){ .ctx = s, .fate = hub_fate, .cut_stream = cut_stream };
        buf_init(&s->said, 1 << 24);
        prepare_clusters(r);
        invite(r);
        let_agent_run(s);
        place(r, "w", "", CONFIG_MAP("c", "1") "," CONFIG_MAP("d", "1"));
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        assert_int_equal(fiber_sleep(r->loop, 20000), 0);
}

static void strike(struct scene *s)
{
        stop(&s->agent);
        sim_disk_free(s->disk);
        metrics_free(s->metrics);
        buf_free(&s->said);
}

static void assert_said(struct scene *s, const char *words, size_t times)
{
        size_t n = 0;

        for (const char *at = s->said.data; at && (at = strstr(at, words)); at++)
                n++;
        if (n != times)
                fail_msg("\"%s\" was said %zu times, not %zu:\n%s", words, n, times, s->said.data);
}

static void assert_file_is(struct scene *s, bool good)
{
        assert_int_equal((int)metric_value(s->metrics, METRIC_STATE_GOOD, NULL), good);
}

/* A user's edit is set back, what the hub wants comes about and is told. */
static void assert_in_line(struct scene *s, const char *value)
{
        struct rig *r = s->rig;

        merge(r, MEMBER, CONFIG_MAP_PATH("c"), "{'data':{'k':'edited'}}");
        wait_for(r, MEMBER, CONFIG_MAP_PATH("c"), "data.k", "1");
        replace_manifests(
                r, "w",
                arena_printf(&r->arena,
                             CONFIG_MAP("c", "1") ",{'apiVersion':'v1','kind':'ConfigMap','metadata':{"
                                                  "'name':'d','namespace':'default'},'data':{'k':'%s'}}",
                             value));
        wait_for(r, MEMBER, CONFIG_MAP_PATH("d"), "data.k", value);
}

/* Once more without a file that the agent could go by, it does what it did: nothing. */
static void assert_remembers(struct scene *s)
{
        uint64_t before;

        assert_int_equal(fiber_sleep(s->rig->loop, 5000), 0);
        stop(&s->agent);
        before = requests(s->rig, "m1", "get", "configmaps");
        let_agent_run(s);
        assert_int_equal(fiber_sleep(s->rig->loop, 5000), 0);
        assert_int_equal(requests(s->rig, "m1", "get", "configmaps"), before);
}

#define GIVEN_UP "the state file cannot be used"
#define MENDED "the state file is written again"

static void set_full(struct sim_disk *d, bool on)
{
        sim_disk_set_full(d, on);
}

static void set_read_only(struct sim_disk *d, bool on)
{
        sim_disk_set_read_only(d, on);
}

static void spoil(struct sim_disk *d, bool on)
{
        if (on)
                sim_disk_spoil(d);
}

static void disk_body(struct rig *r)
{
        void (*const change)(struct sim_disk * d, bool on) = *(void (**)(struct sim_disk *, bool))r->ctx;
        struct scene s;

        set_scene(&s, r);
        assert_file_is(&s, true);
        change(s.disk, true);
        assert_in_line(&s, "2");
        assert_int_equal(fiber_sleep(r->loop, 20000), 0);
        assert_said(&s, GIVEN_UP, 1);
        assert_file_is(&s, false);
        assert_in_line(&s, "3");
        change(s.disk, false);
        assert_int_equal(fiber_sleep(r->loop, 80000), 0);
        assert_said(&s, MENDED, 1);
        assert_file_is(&s, true);
        assert_in_line(&s, "4");
        assert_remembers(&s);
        assert_said(&s, GIVEN_UP, 1);
        strike(&s);
}

static void a_disk_that_is_full_or_read_only_is_told_and_used_again(void **state)
{
        static void (*const changes[])(struct sim_disk * d, bool on) = { set_full, set_read_only };

        for (size_t i = 0; i < ARRAY_LEN(changes); i++)
                rig_run_for(disk_body, (void *)(uintptr_t)&changes[i]);
}

/* What is spoilt shows once it is read. */
static void found_body(struct rig *r)
{
        void (*const change)(struct sim_disk * d, bool on) = *(void (**)(struct sim_disk *, bool))r->ctx;
        struct scene s;

        set_scene(&s, r);
        stop(&s.agent);
        change(s.disk, true);
        replace_manifests(r, "w", CONFIG_MAP("c", "1"));
        let_agent_run(&s);
        wait_until_gone(r, MEMBER, CONFIG_MAP_PATH("d"));
        assert_int_equal(fiber_sleep(r->loop, 10000), 0);
        assert_said(&s, GIVEN_UP, 1);
        change(s.disk, false);
        assert_in_line(&s, "3");
        assert_int_equal(fiber_sleep(r->loop, 80000), 0);
        assert_said(&s, MENDED, 1);
        assert_file_is(&s, true);
        assert_remembers(&s);
        strike(&s);
}

static void so_is_one_that_is_read_only_or_spoilt_when_the_agent_starts(void **state)
{
        static void (*const changes[])(struct sim_disk * d, bool on) = { set_read_only, spoil };

        for (size_t i = 0; i < ARRAY_LEN(changes); i++)
                rig_run_for(found_body, (void *)(uintptr_t)&changes[i]);
}

static void wait_until_given_up(struct scene *s)
{
        while (!s->said.data || !strstr(s->said.data, GIVEN_UP))
                assert_int_equal(fiber_sleep(s->rig->loop, 1000), 0);
}

static void soon_body(struct rig *r)
{
        struct scene s;

        set_scene(&s, r);
        sim_disk_set_full(s.disk, true);
        assert_in_line(&s, "2");
        wait_until_given_up(&s);
        sim_disk_set_full(s.disk, false);
        assert_int_equal(fiber_sleep(r->loop, 5000), 0);
        assert_said(&s, MENDED, 1);
        assert_remembers(&s);
        strike(&s);
}

static void a_disk_that_was_full_for_a_moment_is_used_again_soon(void **state)
{
        rig_run_for(soon_body, NULL);
}

static void end_body(struct rig *r)
{
        struct scene s;

        set_scene(&s, r);
        sim_disk_set_full(s.disk, true);
        assert_in_line(&s, "2");
        assert_int_equal(fiber_sleep(r->loop, 300000), 0);
        assert_said(&s, MENDED, 0);
        sim_disk_set_full(s.disk, false);
        assert_remembers(&s);
        assert_said(&s, MENDED, 1);
        strike(&s);
}

/* A try at 247 s after the file was given up, the next a minute later. */
static void what_is_in_memory_only_goes_to_the_file_at_the_end(void **state)
{
        rig_run_for(end_body, NULL);
}

/* ---- the clock ---- */

static uint64_t heartbeats(struct rig *r)
{
        return requests(r, "hub", "patch", "internalmemberclusters/status");
}

static void clock_body(struct rig *r)
{
        const int64_t by = *(const int64_t *)r->ctx;
        struct scene s;
        uint64_t before;

        set_scene(&s, r);
        loop_shift_wall(r->loop, by);
        assert_in_line(&s, "2");
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        before = heartbeats(r);
        assert_int_equal(fiber_sleep(r->loop, 301000), 0);
        assert_in_range(heartbeats(r) - before, 4, 7);
        assert_said(&s, by > 0 ? "the clock was set forward" : "the clock was set back", 1);
        assert_said(&s, by > 0 ? "the clock was set back" : "the clock was set forward", 0);
        loop_shift_wall(r->loop, -by);
        assert_in_line(&s, "3");
        assert_int_equal(fiber_sleep(r->loop, 20000), 0);
        assert_said(&s, by > 0 ? "the clock was set back" : "the clock was set forward", 1);
        assert_remembers(&s);
        strike(&s);
}

static void a_clock_that_is_set_is_told_and_holds_nothing_up(void **state)
{
        static const int64_t days[] = { 86400000, -86400000 };

        for (size_t i = 0; i < ARRAY_LEN(days); i++)
                rig_run_for(clock_body, (void *)(uintptr_t)&days[i]);
}

/* ---- a week without the hub ---- */

#define TURNS 1000
#define TURN_MS (7 * INT64_C(86400000) / TURNS)
#define WORKS_N 6

struct week {
        struct scene scene;
        uint64_t dice;
        int value[WORKS_N]; /* what the hub wants of both objects; 0 = it has no such Work */
        bool second[WORKS_N];
        int told[WORKS_N]; /* what the agent has heard of, before the hub went */
};

static unsigned roll(struct week *w, unsigned n)
{
        w->dice = w->dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        return (unsigned)(w->dice >> 33) % n;
}

static const char *object_path(struct rig *r, int work, char which)
{
        return arena_printf(&r->arena, CONFIG_MAP_PATH("w%d-%c"), work, which);
}

static const char *manifests_of(struct week *w, int work)
{
        static const char one[] =
                "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'w%d-%c','namespace':"
                "'default'},'data':{'k':'%d'}}";
        struct arena *arena = &w->scene.rig->arena;
        const char *first = arena_printf(arena, one, work, 'a', w->value[work]);

        return w->second[work] ? arena_printf(arena, "%s,%s", first,
                                              arena_printf(arena, one, work, 'b', w->value[work]))
                               : first;
}

/* A Work comes, changes, loses its second object, gets one, or goes. */
static void change_hub(struct week *w, int turn)
{
        struct rig *r = w->scene.rig;
        int i = (int)roll(w, WORKS_N);
        const char *name = arena_printf(&r->arena, "w%d", i),
                   *path = arena_printf(&r->arena, WORKS "/%s", name);
        bool there = get(r, HUB, path) == 200, goes = there && roll(w, 5) == 0;

        if (there && rig_string(r, "metadata.deletionTimestamp")[0])
                return; /* the agent has to let go of it */
        w->value[i] = goes ? 0 : turn + 1;
        w->second[i] = roll(w, 2);
        if (goes)
                delete (r, HUB, path);
        else if (there)
                replace_manifests(r, name, manifests_of(w, i));
        else
                place(r, name, "", manifests_of(w, i));
}

/* Somebody edits or deletes an object. */
static void change_member(struct week *w)
{
        struct rig *r = w->scene.rig;
        const char *path = object_path(r, (int)roll(w, WORKS_N), roll(w, 2) ? 'a' : 'b');

        if (get(r, MEMBER, path) != 200)
                return;
        if (roll(w, 2))
                delete (r, MEMBER, path);
        else
                merge(r, MEMBER, path, "{'data':{'k':'edited'}}");
}

static void assert_member_is(struct week *w, const int *value, const bool *second)
{
        struct rig *r = w->scene.rig;

        for (int i = 0; i < WORKS_N; i++)
                for (char c = 'a'; c <= 'b'; c++) {
                        bool wanted = value[i] && (c == 'a' || second[i]);

                        assert_int_equal(get(r, MEMBER, object_path(r, i, c)), wanted ? 200 : 404);
                        if (wanted)
                                assert_string_equal(rig_string(r, "data.k"),
                                                    arena_printf(&r->arena, "%d", value[i]));
                }
}

static void play_week(struct week *w)
{
        struct rig *r = w->scene.rig;
        bool second[WORKS_N];

        memcpy(w->told, w->value, sizeof(w->told));
        memcpy(second, w->second, sizeof(second));
        w->scene.hub_away = true;
        for (int turn = 0; turn < TURNS; turn++) {
                change_hub(w, turn);
                change_member(w);
                assert_int_equal(fiber_sleep(r->loop, TURN_MS), 0);
                if (turn == TURNS / 2) {
                        stop(&w->scene.agent);
                        let_agent_run(&w->scene);
                }
                if (turn % 50 == 0)
                        assert_member_is(w, w->told, second);
        }
        w->scene.hub_away = false;
}

static void week_body(struct rig *r)
{
        struct week w = { .dice = 7 };

        set_scene(&w.scene, r);
        for (int i = 0; i < WORKS_N - 1; i++) {
                w.value[i] = 1;
                w.second[i] = true;
                place(r, arena_printf(&r->arena, "w%d", i), "", manifests_of(&w, i));
        }
        assert_int_equal(fiber_sleep(r->loop, 20000), 0);
        play_week(&w);
        assert_int_equal(fiber_sleep(r->loop, 60000), 0);
        assert_member_is(&w, w.value, w.second);
        for (int i = 0; i < WORKS_N; i++) {
                bool there = get(r, HUB, arena_printf(&r->arena, WORKS "/w%d", i)) == 200;

                assert_int_equal(there, w.value[i] != 0);
                if (!there)
                        continue;
                assert_string_equal(read_field(r, "type=Available"), "AllManifestsAvailable");
                assert_int_equal(doc_get_int(json_array_get(doc_get_array(r->answer, "status.conditions"), 0),
                                             "observedGeneration", 0),
                                 doc_get_int(r->answer, "metadata.generation", 0));
        }
        assert_remembers(&w.scene);
        strike(&w.scene);
}

static void after_a_week_without_the_hub_all_that_changed_is_caught_up_with(void **state)
{
        rig_run(week_body);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_disk_that_is_full_or_read_only_is_told_and_used_again),
                cmocka_unit_test(a_disk_that_was_full_for_a_moment_is_used_again_soon),
                cmocka_unit_test(what_is_in_memory_only_goes_to_the_file_at_the_end),
                cmocka_unit_test(so_is_one_that_is_read_only_or_spoilt_when_the_agent_starts),
                cmocka_unit_test(a_clock_that_is_set_is_told_and_holds_nothing_up),
                cmocka_unit_test(after_a_week_without_the_hub_all_that_changed_is_caught_up_with),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
