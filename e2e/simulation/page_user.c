/* What somebody does who sits at a browser: looks at this and that, goes away, comes again, and steers runs.
 */
#include "e2e/simulation/sim_page_internal.h"

#include "e2e/simulation/moves_internal.h"

#define SHEETS 5         /* that one opens who moves about */
#define SHEETS_STEADY 10 /* and one that stays */
#define GAP_MS 300       /* between two doings, and up to */
#define GAP_MORE_MS 4500
#define GAP_CALM_MS 1000
#define DEAF_MS 4000 /* reads nothing so long, and up to: longer than the page waits */
#define DEAF_MORE_MS 40000
#define CALLS 2                /* at once */
#define RESTART_EVERY_MS 60000 /* at most: what is open has to become old */

typedef json_t *args_fn(struct page_user_of *u); /* NULL: there is nothing of that kind to look at */

/* ---- what is looked at ---- */

static json_t *nothing(struct page_user_of *u)
{
        return json_object();
}

/* One of them is none of the fleet. */
static json_t *some_cluster(struct page_user_of *u)
{
        char name[32];

        snprintf(name, sizeof(name), "member-%llu",
                 1 + (unsigned long long)dice_below(&u->dice, u->page->options.fleet->n_members + 1));
        return json_pack("{s:s}", "name", name);
}

static json_t *target(const char *kind, const char *ns, const char *name)
{
        return json_pack("{s:s, s:s*, s:s}", "kind", kind, "ns", ns, "name", name);
}

/* Mostly one that there is; false: there is none, and mostly nothing is looked for then. */
static bool find_placement(struct page_user_of *u, unsigned *ret_app, enum wish_place *ret_place)
{
        unsigned n = WISH_APPS * WISH_PLACES, first = (unsigned)dice_below(&u->dice, n);
        bool anyhow = dice_percent(&u->dice, 4);

        *ret_app = first / WISH_PLACES;
        *ret_place = first % WISH_PLACES;
        for (unsigned i = 0; i < n && !anyhow; i++) {
                unsigned at = (first + i) % n;

                if (!u->page->options.wish->apps[at / WISH_PLACES].placements[at % WISH_PLACES].exists)
                        continue;
                *ret_app = at / WISH_PLACES;
                *ret_place = at % WISH_PLACES;
                return true;
        }
        return anyhow;
}

static json_t *some_placement(struct page_user_of *u)
{
        enum wish_place place;
        unsigned app;
        char name[64];
        bool part;

        if (!find_placement(u, &app, &place))
                return NULL;
        part = wish_placement_resource(place)->namespaced;
        wish_placement_name(app, place, name);
        return target(part ? "rp" : "crp", part ? wish_app_name(app) : NULL, name);
}

/* Of an application that is placed. */
static json_t *some_object(struct page_user_of *u)
{
        unsigned app, slot = (unsigned)dice_below(&u->dice, WISH_SLOTS);
        const struct kube_resource *r;
        enum wish_place place;
        char name[64];

        if (!find_placement(u, &app, &place))
                return NULL;
        for (unsigned i = 0; i < WISH_SLOTS && !u->page->options.wish->apps[app].objects[slot].exists; i++)
                slot = (slot + 1) % WISH_SLOTS;
        r = wish_placed_resource(app, slot);
        wish_placed_name(app, slot, name);
        return json_pack("{s:s, s:s, s:s*, s:s}", "group", r->group, "kind", r->kind, "ns",
                         r->namespaced ? wish_app_name(app) : NULL, "name", name);
}

/* WISH_RUNS = there is none; now and then one that there is not. */
static unsigned find_run(struct page_user_of *u)
{
        unsigned first = (unsigned)dice_below(&u->dice, WISH_RUNS);

        for (unsigned i = 0; i < WISH_RUNS; i++)
                if (u->page->options.wish->runs[(first + i) % WISH_RUNS].exists)
                        return (first + i) % WISH_RUNS;
        return dice_percent(&u->dice, 4) ? first : WISH_RUNS;
}

static json_t *some_run(struct page_user_of *u)
{
        unsigned run = find_run(u);
        const struct wish_run *r = &u->page->options.wish->runs[run % WISH_RUNS];
        bool part = r->place == PLACE_PART;
        char name[64];

        if (run == WISH_RUNS)
                return NULL;
        wish_run_name(run, name);
        return target(part ? "sur" : "csur", part ? wish_app_name(r->app) : NULL, name);
}

static json_t *some_past(struct page_user_of *u)
{
        char of[64];

        snprintf(of, sizeof(of), "cluster/member-%llu",
                 1 + (unsigned long long)dice_below(&u->dice, u->page->options.fleet->n_members));
        return dice_percent(&u->dice, 60) ? json_object() : json_pack("{s:s}", "of", of);
}

static const struct looked_at {
        const char *view, *move; /* move: as it is counted */
        args_fn *args;
} looked_at[] = {
        { "fleet", "page-fleet", nothing },
        { "placement", "page-placement", some_placement },
        { "overrides", "page-overrides", some_placement },
        { "object", "page-object", some_object },
        { "cluster", "page-cluster", some_cluster },
        { "run", "page-run", some_run },
        { "scheduling", "page-scheduling", some_placement },
        { "timeline", "page-timeline", some_past },
};

static void open_it(struct page_user_of *u, const char *view, json_t *args)
{
        bool in_trouble = page_desk_in_trouble(&u->page->desk);
        int64_t number = page_browser_open(&u->browser, view, args);

        page_browser_sheet(&u->browser, number)->in_trouble = in_trouble;
}

static void open_one(struct page_user_of *u, size_t which)
{
        json_t *args = looked_at[which].args(u);

        if (!args)
                return;
        open_it(u, looked_at[which].view, args);
        coverage_move(u->page->options.coverage, looked_at[which].move);
}

static void open_some(struct page_user_of *u)
{
        if (u->browser.sheets.n < (u->steady ? SHEETS_STEADY : SHEETS))
                open_one(u, u->next++ % ARRAY_LEN(looked_at));
        else if (!u->steady)
                page_browser_close(&u->browser, dice_below(&u->dice, u->browser.sheets.n));
}

static void close_one(struct page_user_of *u)
{
        if (u->browser.sheets.n)
                page_browser_close(&u->browser, dice_below(&u->dice, u->browser.sheets.n));
}

/* ---- what is asked for ---- */

static void call(struct page_user_of *u, const char *what, json_t *args)
{
        const char *name = doc_get_string(args, "name"), *ns = doc_get_string(args, "ns");

        page_note_call(u->page, what, ns, name);
        log_info(u->page->options.log, "page call", "user", u->name, "do", what, "namespace", or_empty(ns),
                 "name", name);
        page_browser_call(&u->browser, what, args);
        coverage_move(u->page->options.coverage, text_equal(what, "approve") ? "page-approve" : "page-steer");
}

/* As a browser does: what a row of a run shows can be approved, and by the hash that it shows. */
json_t *page_user_open_gate(const struct page_sheet *run)
{
        bool part = text_equal(doc_get_string(run->args, "kind"), "sur");
        json_t *stages = json_object_get(run->parts, "stages"), *row, *gate;
        static const char *const when[] = { "before", "after" };
        const char *key;
        size_t i;

        json_object_foreach(stages, key, row)
                for (size_t w = 0; w < 2; w++)
                        json_array_foreach(json_object_get(row, when[w]), i, gate)
                                if (json_is_true(json_object_get(gate, "can")))
                                        return json_pack("{s:s, s:s*, s:s, s:s}", "kind",
                                                         part ? "areq" : "careq", "ns",
                                                         doc_get_string(run->args, "ns"), "name",
                                                         or_empty(doc_get_string(gate, "request")),
                                                         "planHash", or_empty(doc_get_string(gate, "hash")));
        return NULL;
}

/* "csur/run-1", "sur/app-2/run-1" of a row of the fleet that waits for an approval; NULL = none does. */
json_t *page_user_waiting_run(const struct page_sheet *fleet)
{
        const char *key;
        json_t *row;

        json_object_foreach(json_object_get(fleet->parts, "runs"), key, row) {
                const char *name = strrchr(key, '/') + 1;
                char ns[64] = "";

                if (!json_array_size(json_object_get(row, "approvals")))
                        continue;
                if (text_starts_with(key, "sur/"))
                        snprintf(ns, sizeof(ns), "%.*s", (int)(name - 1 - key - 4), key + 4);
                return target(*ns ? "sur" : "csur", *ns ? ns : NULL, name);
        }
        return NULL;
}

static const struct page_sheet *sheet_of(const struct page_user_of *u, const char *view, const json_t *args)
{
        vec_for_each(&u->browser.sheets, s)
                if (text_equal(s->view, view) && (!args || json_equal(s->args, args)))
                        return s;
        return NULL;
}

/* From the fleet to the run that waits. */
static void go_where_approval_is_due(struct page_user_of *u)
{
        const struct page_sheet *fleet = sheet_of(u, "fleet", NULL);
        json_t *args = fleet ? page_user_waiting_run(fleet) : NULL;

        if (!fleet)
                open_one(u, 0);
        else if (args && !sheet_of(u, "run", args))
                open_it(u, "run", json_incref(args));
        json_decref(args);
}

/* Of a plan that nobody has seen: it is refused, and if it is not, nobody asked for what is written. */
static void approve_another_plan(struct page_user_of *u, json_t *taken)
{
        json_object_set_new(taken, "planHash", json_string("0123456789abcdef"));
        page_browser_call(&u->browser, "approve", taken);
        coverage_move(u->page->options.coverage, "page-approve-another");
}

static void approve(struct page_user_of *u)
{
        vec_for_each(&u->browser.sheets, s) {
                json_t *args = text_equal(s->view, "run") && !s->error ? page_user_open_gate(s) : NULL;

                if (!args)
                        continue;
                if (dice_percent(&u->dice, 20))
                        approve_another_plan(u, args);
                else
                        call(u, "approve", args);
                return;
        }
        if (u->browser.sheets.n < SHEETS_STEADY + 2)
                go_where_approval_is_due(u);
}

static void steer(struct page_user_of *u)
{
        json_t *run = some_run(u);

        if (run)
                call(u, dice_percent(&u->dice, 35) ? "stop" : "resume", run);
}

/* Of none that there is: what a retry brings to clusters the model knows only where the player made it. */
static void retry(struct page_user_of *u)
{
        page_browser_call(&u->browser, "retry", target("csur", NULL, "run-of-nobody"));
}

static void babble(struct page_user_of *u)
{
        static const char *const views[] = { "nowhere", "placement" };

        page_browser_say(&u->browser, json_pack("{s:s}", "say", "what"));
        page_browser_open(&u->browser, views[dice_below(&u->dice, 2)], json_object());
}

/* ---- coming and going ---- */

/* The process is killed, or ends, and is there again. */
static void restart(struct page_user_of *u)
{
        struct fleet *f = u->page->options.fleet;
        bool hard = dice_percent(&u->dice, 50);
        int64_t now = loop_now_ms(u->page->loop), before = u->page->restarted_ms;

        if (before && now - before < RESTART_EVERY_MS)
                return;
        u->page->restarted_ms = now;
        if (f->ops->stop_agent(f, "page", hard, NULL) == 0) {
                log_info(u->page->options.log, "page restarts", "hard", LOG_INT(hard));
                (void)f->ops->start_agent(f, "page", NULL);
                coverage_move(u->page->options.coverage, "page-restart");
        }
}

static void cut_off(struct page_user_of *u)
{
        struct fleet *f = u->page->options.fleet;
        bool up = dice_percent(&u->dice, 60);

        (void)f->ops->set_link(f, "page", up, NULL);
        if (!up)
                coverage_move(u->page->options.coverage, "page-cut-off");
}

/* What one does who does not stay long, nor listen. */
static void be_away(struct page_user_of *u)
{
        switch (dice_below(&u->dice, 8)) {
        case 0:
                page_browser_leave(&u->browser);
                break;
        case 1:
                restart(u);
                break;
        case 2 ... 4:
                cut_off(u);
                break;
        default:
                u->deaf_until_ms =
                        loop_now_ms(u->page->loop) + DEAF_MS + (int64_t)dice_below(&u->dice, DEAF_MORE_MS);
        }
}

static void act(struct page_user_of *u)
{
        uint64_t at = dice_below(&u->dice, 100);

        if (at < 38)
                open_some(u);
        else if (at < 43)
                close_one(u);
        else if (at < 70 && u->browser.asked.n < CALLS)
                approve(u);
        else if (at < 78 && u->browser.asked.n < CALLS)
                steer(u);
        else if (at < 80)
                retry(u);
        else if (at < 82 && u->browser.sheets.n < SHEETS)
                babble(u);
        else if (at < 96 && !u->steady)
                be_away(u);
}

static bool is_deaf(const struct page_user_of *u)
{
        return !u->page->calm && loop_now_ms(u->page->loop) < u->deaf_until_ms;
}

bool page_user_listens(const struct page_user_of *u)
{
        return u->browser.hello && !u->browser.over && !u->browser.line.left && !is_deaf(u);
}

/* What it heard since it was counted last. */
static void count_told(struct page_user_of *u)
{
        static const char *const names[] = {
                "page row",   "page row changed",    "page row gone",  "page head",
                "page error", "page message packed", "page call done", "page call refused",
        };
        const uint64_t *now = (const uint64_t *)&u->browser.told;
        uint64_t *then = (uint64_t *)&u->told;

        _Static_assert(sizeof(u->told) == ARRAY_LEN(names) * sizeof(uint64_t), "a name for each");
        for (size_t i = 0; i < ARRAY_LEN(names); i++)
                coverage_told(u->page->options.coverage, names[i], now[i] - then[i]);
        u->told = u->browser.told;
}

/* Until then it takes what comes. */
static int wait_and_read(struct page_user_of *u, int64_t until_ms)
{
        struct page_browser *b = &u->browser;
        int code = 0;

        while (code == 0 && loop_now_ms(u->page->loop) < until_ms && !(b->over && b->hello)) {
                code = waitq_wait(u->page->loop, &b->line.news,
                                  is_deaf(u) ? MIN(until_ms, u->deaf_until_ms) : until_ms);
                code = code == ERR_TIMEOUT ? 0 : code;
                if (!is_deaf(u))
                        page_browser_read(b), count_told(u);
        }
        return code;
}

/* As the page in a browser does: what was open is opened again. */
static json_t *keep_open(const struct page_user_of *u)
{
        json_t *kept = json_array();

        vec_for_each(&u->browser.sheets, s)
                for (size_t i = 0; i < ARRAY_LEN(looked_at); i++)
                        if (text_equal(s->view, looked_at[i].view))
                                json_array_append_new(kept, json_pack("[i, O]", (int)i, s->args));
        return kept;
}

/* A session that ends says why, and nothing is wrong with who reads what it is sent. */
static void check_end(const struct page_user_of *u)
{
        const struct page_line *l = &u->browser.line;

        if (l->code && !(l->code == PAGE_CLOSE_POLICY && u->deaf_until_ms))
                page_say_wrong(u->page, "%s was closed with %u: %s", u->name, l->code, l->reason);
}

static void come(struct page_user_of *u)
{
        struct page_browser *b = &u->browser;
        AUTO_JSON json_t *kept = NULL;
        json_t *one;
        size_t i;

        if (!b->over || !u->page->open)
                return;
        check_end(u);
        kept = keep_open(u);
        if (page_desk_enter(&u->page->desk, b) < 0)
                return;
        u->deaf_until_ms = 0;
        json_array_foreach(kept, i, one)
                open_it(u, looked_at[json_integer_value(json_array_get(one, 0))].view,
                        json_incref(json_array_get(one, 1)));
        for (i = 0; u->page->calm && json_array_size(kept) == 0 && i < ARRAY_LEN(looked_at); i++)
                open_one(u, i);
}

/* What was opened in time stays, and the fleet is looked at by everybody. */
static void settle_down(struct page_user_of *u)
{
        if (!sheet_of(u, "fleet", NULL))
                open_one(u, 0);
}

void page_user_live(void *user)
{
        struct page_user_of *u = user;
        struct sim_page *p = u->page;
        bool settled = false;
        int code = 0;

        while (code == 0 && !p->leaving) {
                int64_t gap = p->calm ? GAP_CALM_MS : GAP_MS + (int64_t)dice_below(&u->dice, GAP_MORE_MS);

                if (u->browser.over)
                        come(u);
                else if (p->calm && !settled && u->browser.hello)
                        settle_down(u), settled = true;
                else if (!p->calm && u->browser.hello)
                        act(u);
                code = wait_and_read(u, loop_now_ms(p->loop) + gap);
                if (code == 0 && u->browser.over)
                        code = fiber_sleep(p->loop, GAP_MS);
        }
}

void sim_page_expect(struct coverage *c)
{
        static const char *const more[] = { "page-approve", "page-approve-another", "page-steer",
                                            "page-restart", "page-cut-off" };
        static const char *const told[] = { "page row changed", "page row gone", "page message packed",
                                            "page call done", "page call refused" };

        for (size_t i = 0; i < ARRAY_LEN(looked_at); i++)
                coverage_expect_move(c, looked_at[i].move);
        for (size_t i = 0; i < ARRAY_LEN(more); i++)
                coverage_expect_move(c, more[i]);
        for (size_t i = 0; i < ARRAY_LEN(told); i++)
                coverage_expect_told(c, told[i]);
        coverage_expect_rule(c, "page-approved");
        coverage_expect_rule(c, "page-secrets");
}
