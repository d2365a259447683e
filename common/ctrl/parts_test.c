/* A first list that takes long, page by page, while objects come, change and go and parts are listed alone:
 * what the cache says of a part that is whole is what the server has of it, at any moment. */
#include "common/ctrl/controller_test.h"
#include "common/ctrl/informer_internal.h"

#define PARTS 4
#define OBJECTS 24
#define LABEL "part"
#define INDEX "part"
#define ALL 1000000
#define LAG_MS 100

struct play {
        struct rig *rig;
        struct world world;
        struct loopback_faults faults;
        struct kube_client kube;
        struct log log;
        struct fiber_group *group;
        struct informer *informer;
        uint64_t state;    /* of the dice */
        bool troubled;     /* pages and watches meet faults */
        unsigned pages;    /* so many more may come */
        bool moved[PARTS]; /* changed since the cache could last know all of it */
        unsigned checks, watches;
};

/* splitmix64 */
static unsigned draw(struct play *p, unsigned below)
{
        uint64_t z = p->state += 0x9e3779b97f4a7c15u;

        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return (unsigned)((z ^ (z >> 31)) % below);
}

static int part_of(const struct object *o, struct key *ret)
{
        const char *part = string_map_get(&o->meta.labels, LABEL);

        return part ? key_join(ret, NULL, '/', part) : 0;
}

static void emit_part(const struct object *o, index_emit emit, void *to)
{
        const char *part = string_map_get(&o->meta.labels, LABEL);

        if (part)
                emit(to, part);
}

static int turn(void *ctx)
{
        struct play *p = ctx;

        while (p->pages == 0)
                if (fiber_sleep(p->rig->loop, 1) < 0)
                        return ERR_CANCELLED;
        p->pages--;
        return 0;
}

/* ---- the network ---- */

/* Watches tell late. */
static int64_t delay_of(void *ctx, const struct http_request *rq, bool answer)
{
        return answer && strstr(rq->path, "watch=") ? (int64_t)draw(ctx, LAG_MS) : 0;
}

static int fate_of(void *ctx, const struct http_request *rq)
{
        struct play *p = ctx;
        unsigned at = p->troubled && rq->path ? draw(p, 100) : 100;

        if (strstr(rq->path, "continue="))
                return at < 4 ? 429 : at < 5 ? 410 : 0;
        if (!strstr(rq->path, "watch="))
                return 0;
        p->watches++;
        return at < 3 ? 410 : at < 10 ? 503 : 0;
}

/* ---- what happens to objects ---- */

static const char *name_of(unsigned i, char ret[32])
{
        snprintf(ret, 32, "object-%02u", i);
        return ret;
}

static int part_on_server(struct play *p, const char *name)
{
        char path[128];
        const char *part;

        snprintf(path, sizeof(path), GROUP "/%s", name);
        if (rig_get(p->rig, path) != 200)
                return -1;
        part = rig_string(p->rig, "metadata.labels." LABEL);
        return part[0] ? part[0] - '0' : -1;
}

static void note_moved(struct play *p, int part)
{
        if (part >= 0)
                p->moved[part] = true;
}

static void put(struct play *p, const char *name, unsigned part)
{
        char path[128], body[256];

        snprintf(path, sizeof(path), GROUP "/%s", name);
        snprintf(body, sizeof(body), "{\"metadata\":{\"labels\":{\"" LABEL "\":\"%u\"}}}", part);
        if (rig_merge(p->rig, path, body) != 200) {
                make(p->rig, name);
                assert_int_equal(rig_merge(p->rig, path, body), 200);
        }
        note_moved(p, (int)part);
}

static void happen(struct play *p)
{
        char name[32], path[128];

        name_of(draw(p, OBJECTS), name);
        snprintf(path, sizeof(path), GROUP "/%s", name);
        note_moved(p, part_on_server(p, name));
        if (draw(p, 3) == 0)
                rig_delete(p->rig, path);
        else
                put(p, name, draw(p, PARTS));
}

/* ---- what must hold ---- */

static size_t expect_equal(struct play *p, const char *part)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        AUTO_JSON json_t *list = NULL;
        struct object_list held;
        json_t *item;
        size_t i;

        assert_int_equal(rig_get(p->rig, arena_printf(&arena, GROUP "?labelSelector=" LABEL "%%3D%s", part)),
                         200);
        list = json_incref(p->rig->answer);
        assert_int_equal(informer_by_index(p->informer, INDEX, part, &arena, &held), 0);
        assert_int_equal(held.n, json_array_size(json_object_get(list, "items")));
        json_array_foreach(json_object_get(list, "items"), i, item) {
                const char *name = doc_get_string(item, "metadata.name");
                const struct object *o = informer_get(p->informer, NULL, name);

                assert_non_null(o);
                assert_string_equal(o->meta.resource_version,
                                    doc_get_string(item, "metadata.resourceVersion"));
        }
        return i;
}

/* A list that has ended without its watch is behind. */
static void check(struct play *p)
{
        if (p->troubled && informer_synced(p->informer))
                return;
        for (unsigned i = 0; i < PARTS; i++) {
                char part[2] = { (char)('0' + i), '\0' };

                if (p->moved[i] || !informer_has_part(p->informer, part))
                        continue;
                expect_equal(p, part);
                p->checks += !informer_synced(p->informer);
        }
}

/* The watch has told all that happened: unless it is cut at the moment. */
static void settle(struct play *p)
{
        assert_int_equal(fiber_sleep(p->rig->loop, p->troubled ? 20000 : 2 * LAG_MS), 0);
        memset(p->moved, 0, sizeof(p->moved));
}

static void load(struct play *p)
{
        unsigned i = draw(p, PARTS);
        char part[2] = { (char)('0' + i), '\0' }, selector[32];
        struct error err = { 0 };
        int code;

        snprintf(selector, sizeof(selector), LABEL "=%s", part);
        code = informer_load_part(p->informer, part, NULL, selector, &err);
        assert_true(code == 0 || code == ERR_CLOSED || p->troubled);
        if (code < 0)
                return;
        p->moved[i] = false; /* it was listed after all that happened */
}

static void step(struct play *p)
{
        unsigned what = draw(p, 10);

        if (what < 4) {
                happen(p);
        } else if (what < 6) {
                load(p);
        } else if (what < 7) {
                settle(p);
        } else { /* a few pages come */
                p->pages = 1 + draw(p, 2);
                assert_int_equal(fiber_sleep(p->rig->loop, 5), 0);
        }
        check(p);
}

/* ---- a play ---- */

static void open_play(struct play *p, struct rig *r, uint64_t seed, bool troubled)
{
        struct informer_options o = { .kind = &member_cluster_kind,
                                      .flags = DECODE_PROJECTION,
                                      .turn = turn,
                                      .turn_ctx = p,
                                      .part_of = part_of };

        *p = (struct play){ .rig = r, .world = r->world, .state = seed };
        p->faults = (struct loopback_faults){ .ctx = p, .delay = delay_of, .fate = fate_of };
        p->world.transport = loopback_transport(r->net, &p->world, &p->faults);
        p->kube = (struct kube_client){ .world = &p->world,
                                        .endpoint = &r->endpoint,
                                        .log = &p->log,
                                        .page_most = 1 + (unsigned)(seed % 3) };
        p->group = fiber_group_new(r->loop, NULL, "play");
        install_crds(r);
        for (unsigned i = 0; i < OBJECTS; i += 1 + draw(p, 2)) {
                char name[32];

                put(p, name_of(i, name), draw(p, PARTS));
        }
        p->troubled = troubled;
        p->informer = informer_new(&p->kube, p->group, &o);
        assert_non_null(p->informer);
        assert_int_equal(informer_add_index(p->informer, INDEX, emit_part), 0);
}

/* How often something was compared before the list had ended. */
static unsigned play(struct rig *r, uint64_t seed, bool troubled)
{
        struct play p;

        open_play(&p, r, seed, troubled);
        for (int i = 0; i < 60 && !informer_synced(p.informer); i++)
                step(&p);
        p.pages = ALL;
        p.troubled = false;
        assert_int_equal(informer_wait_synced(p.informer, loop_now_ms(r->loop) + 600000), 0);
        assert_int_equal(fiber_sleep(r->loop, 60000), 0);
        memset(p.moved, 0, sizeof(p.moved));
        check(&p);
        assert_false(informer_follows(p.informer));
        assert_int_equal(map_count(&p.informer->parts.gone), 0);
        informer_stop(p.informer);
        fiber_group_end(p.group);
        http_transport_free(p.world.transport);
        for (unsigned i = 0; i < OBJECTS; i++) {
                char name[32], path[128];

                snprintf(path, sizeof(path), GROUP "/%s", name_of(i, name));
                rig_delete(r, path);
        }
        return p.checks;
}

RIG_TEST(a_part_that_was_listed_alone_is_what_the_server_has_while_the_list_goes_on, {
        unsigned checks = 0;

        for (uint64_t seed = 1; seed <= 60; seed++)
                checks += play(r, seed, false);
        assert_true(checks > 600);
})

RIG_TEST(also_while_pages_are_refused_and_watches_end, {
        unsigned checks = 0;

        for (uint64_t seed = 1; seed <= 60; seed++)
                checks += play(r, seed, true);
        assert_true(checks > 200);
})

/* ---- single cases ---- */

static void to_the_end(struct play *p)
{
        p->pages = ALL;
        assert_int_equal(informer_wait_synced(p->informer, loop_now_ms(p->rig->loop) + 60000), 0);
        assert_int_equal(fiber_sleep(p->rig->loop, 2 * LAG_MS), 0);
}

static void close_play(struct play *p)
{
        informer_stop(p->informer);
        fiber_group_end(p->group);
        http_transport_free(p->world.transport);
}

RIG_TEST(what_is_deleted_while_a_list_goes_on_does_not_come_back_with_a_later_page, {
        struct play p;

        open_play(&p, r, 4, false); /* two objects a page */
        put(&p, "zz", 0);
        settle(&p);
        assert_true(informer_follows(p.informer));
        assert_int_equal(rig_delete(r, GROUP "/zz"), 200);
        settle(&p);
        p.pages = ALL;
        for (int i = 0; i < 200; i++) {
                assert_null(informer_get(p.informer, NULL, "zz"));
                assert_int_equal(fiber_sleep(r->loop, 1), 0);
        }
        assert_true(informer_synced(p.informer));
        close_play(&p);
})

RIG_TEST(an_answer_to_an_own_write_is_in_the_cache_before_the_list_has_ended, {
        static const struct kube_block_options whole = { 0 };
        struct object *o;
        struct play p;

        open_play(&p, r, 4, false);
        settle(&p);
        make(r, "own");
        assert_int_equal(kube_get_block(&p.kube, &member_cluster_kind, NULL, "own", &whole, &o, NULL), 0);
        assert_null(informer_get(p.informer, NULL, "own")); /* no event has come */
        informer_observe(p.informer, o);
        object_unref(o);
        assert_non_null(informer_get(p.informer, NULL, "own"));
        to_the_end(&p);
        close_play(&p);
})

/* A watch that is opened at the end of a list that took long would be told that its version is too old. */
RIG_TEST(a_list_that_takes_long_is_followed_from_its_first_page_on, {
        struct play p;

        open_play(&p, r, 4, false);
        settle(&p);
        put(&p, "zz", 1);
        settle(&p);
        assert_false(informer_synced(p.informer));
        assert_non_null(informer_get(p.informer, NULL, "zz"));
        to_the_end(&p);
        put(&p, "zz", 2);
        settle(&p);
        assert_int_equal(p.watches, 1); /* the same one goes on */
        assert_string_equal(string_map_get(&informer_get(p.informer, NULL, "zz")->meta.labels, LABEL), "2");
        close_play(&p);
})

RIG_TEST(a_part_is_whole_no_longer_when_the_watch_is_too_old, {
        struct play p;

        open_play(&p, r, 4, false);
        settle(&p);
        assert_int_equal(informer_load_part(p.informer, "1", NULL, LABEL "=1", NULL), 0);
        assert_true(informer_has_part(p.informer, "1"));
        assert_false(informer_has_part(p.informer, "2"));
        parts_follow(p.informer, false);
        assert_false(informer_has_part(p.informer, "1"));
        assert_int_equal(informer_load_part(p.informer, "1", NULL, LABEL "=1", NULL), ERR_CLOSED);
        to_the_end(&p);
        assert_true(informer_has_part(p.informer, "1"));
        close_play(&p);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_part_that_was_listed_alone_is_what_the_server_has_while_the_list_goes_on),
                cmocka_unit_test(also_while_pages_are_refused_and_watches_end),
                cmocka_unit_test(what_is_deleted_while_a_list_goes_on_does_not_come_back_with_a_later_page),
                cmocka_unit_test(an_answer_to_an_own_write_is_in_the_cache_before_the_list_has_ended),
                cmocka_unit_test(a_list_that_takes_long_is_followed_from_its_first_page_on),
                cmocka_unit_test(a_part_is_whole_no_longer_when_the_watch_is_too_old),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
