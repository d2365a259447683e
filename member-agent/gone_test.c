/* A Work that the agent's cache has no more: what it applied goes only when the hub itself says that it is
 * gone, and that this cluster is a member. */
#include "member-agent/member_agent_test.h"

/* What the agent hears nothing of any more (a part of the path of watches), and what it is refused (of
 * reads). */
struct trouble {
        const char *deaf, *refused;
};

static int64_t delay_watch(void *ctx, const struct http_request *rq, bool answer)
{
        const struct trouble *t = ctx;

        return t->deaf && answer && strstr(rq->path, t->deaf) && strstr(rq->path, "watch=") ? 3600000 : 0;
}

static int refuse(void *ctx, const struct http_request *rq)
{
        const struct trouble *t = ctx;

        return t->refused && text_equal(rq->method, "GET") && strstr(rq->path, t->refused) ? 503 : 0;
}

static void make_work_again(struct rig *r)
{
        place(r, "w", "", CONFIG_MAP("c", "1"));
}
static void ask_to_leave(struct rig *r)
{
        merge(r, HUB, IMCS "/m1", "{'spec':{'state':'Leave'}}");
}
static void throw_out(struct rig *r)
{
        merge(r, HUB, IMCS "/m1", "{'metadata':{'finalizers':null}}");
        delete (r, HUB, IMCS "/m1");
}
static void nothing(struct rig *r)
{
}

struct unheard {
        const char *story;
        struct trouble trouble;
        void (*happens)(struct rig *r);
        bool goes;
};

static void unheard_body(struct rig *r)
{
        const struct unheard *u = r->ctx;
        struct trouble trouble = { 0 };
        struct loopback_faults faults = { .ctx = &trouble, .delay = delay_watch, .fate = refuse };
        const char *uid;
        struct agent a;

        begin(&a, r);
        meet(&a, &faults);
        place(r, "w", "", CONFIG_MAP("c", "1"));
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        get(r, MEMBER, CONFIG_MAP_PATH("c"));
        uid = arena_strdup(&r->arena, rig_string(r, "metadata.uid"));
        merge(r, HUB, WORKS "/w", "{'metadata':{'finalizers':null}}");
        delete (r, HUB, WORKS "/w");
        assert_int_equal(fiber_sleep(r->loop, 1000), 0);
        trouble = u->trouble;
        u->happens(r);
        assert_int_equal(fiber_sleep(r->loop, 150000), 0);
        get(r, MEMBER, CONFIG_MAP_PATH("c"));
        if ((r->status == 404) != u->goes ||
            (r->status == 200 && !text_equal(rig_string(r, "metadata.uid"), uid)))
                fail_msg("%s: %d", u->story, r->status);
        stop(&a);
}

static void what_was_applied_goes_only_when_the_hub_says_so(void **state)
{
        static const struct unheard rows[] = {
                { "it is gone", { 0 }, nothing, true },
                { "it is there again", { "/works?" }, make_work_again, false },
                { "the cluster is to leave", { "internalmemberclusters" }, ask_to_leave, false },
                { "the cluster is no member", { "internalmemberclusters" }, throw_out, false },
                { "nobody says whether it is one", { NULL, "internalmemberclusters/m1" }, nothing, false },
                { "nobody says whether it is there", { NULL, "works/w" }, nothing, false },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++)
                rig_run_for(unheard_body, (void *)(uintptr_t)&rows[i]);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(what_was_applied_goes_only_when_the_hub_says_so),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
