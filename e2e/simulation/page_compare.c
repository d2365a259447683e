/* What browsers hold against a fresh look: of the same page while users play, of a page that has just begun
 * when all is quiet. */
#include "common/base/memory.h"
#include "e2e/simulation/rules.h"
#include "e2e/simulation/sim_page_internal.h"
#include "proto/gen/types.h"

#define SAME_MS 15000 /* until what is on its way is there */
#define SAME_LOOK_MS 250
#define AGAIN_MS 20000 /* what was the same is not looked at again for so long */
#define GLANCE_EVERY_MS 12000
#define GLANCE_MS 3000 /* two sessions of one page draw the same within so long */
#define GLANCE_LOOK_MS 100
#define SILENT_MS 60000
#define ODD_MS 2000 /* nor does one show for so long what the page has not read */

struct pair {
        struct page_user_of *user;
        struct page_browser *fresh;
        int64_t is_number, fresh_number;
        unsigned session; /* of the user's browser */
        bool done;        /* they were the same, or cannot be compared any more */
};

struct looks {
        struct sim_page *page;
        struct page_desk desk;
        /* Of each user: on the page that has just begun; and, of what tells of the past, on the same one. */
        struct page_browser fresh[PAGE_USERS][2];
        VEC(struct pair) pairs;
};

static int enter(struct looks *l, struct page_desk *desk, struct page_browser *fresh, struct error *err)
{
        page_browser_begin(fresh, l->page->loop, "a fresh look", 1);
        return page_desk_enter(desk, fresh) < 0 ? error_no_memory(err) : 0;
}

static void open_same(struct looks *l, struct page_user_of *u, const struct page_sheet *s,
                      struct page_browser *fresh)
{
        struct pair p = { .user = u,
                          .fresh = fresh,
                          .is_number = s->number,
                          .fresh_number = page_browser_open(fresh, s->view, json_incref(s->args)),
                          .session = u->browser.sessions };

        ASSERT(vec_push(&l->pairs, p) == 0);
}

static void read_all(struct looks *l)
{
        for (unsigned i = 0; i < PAGE_USERS; i++)
                for (unsigned k = 0; k < 2; k++)
                        if (l->fresh[i][k].loop)
                                page_browser_read(&l->fresh[i][k]);
}

static void leave_all(struct looks *l)
{
        for (unsigned i = 0; i < PAGE_USERS; i++)
                for (unsigned k = 0; k < 2; k++) {
                        struct page_browser *b = &l->fresh[i][k];

                        if (!b->loop)
                                continue;
                        page_browser_leave(b);
                        while (!b->over)
                                (void)waitq_wait(l->page->loop, &b->line.news, DEADLINE_NONE);
                        page_browser_clear(b);
                }
        vec_free(&l->pairs);
}

/* ---- when all is quiet ---- */

static int enter_all(struct looks *l, struct error *err)
{
        for (unsigned i = 0; i < PAGE_USERS; i++) {
                struct page_user_of *u = &l->page->users[i];
                struct page_browser *b = &u->browser;

                if (!b->hello || b->over)
                        return error_set(err, ERR_INVALID, "the page: %s has no session", b->name);
                if (b->asked.n)
                        return error_set(err, ERR_INVALID, "the page: %s has no answer to %s %lld", b->name,
                                         b->asked.at[0].what, (long long)b->asked.at[0].number);
                TRY(enter(l, &l->desk, &l->fresh[i][0], err));
                TRY(enter(l, &l->page->desk, &l->fresh[i][1], err));
                vec_for_each(&b->sheets, s)
                        open_same(l, u, s, &l->fresh[i][text_equal(s->view, "timeline")]);
        }
        return 0;
}

static int compare_pair(struct sim_page *p, const struct pair *x, struct error *err)
{
        struct page_browser *b = &x->user->browser;
        const struct page_sheet *is = page_browser_sheet(b, x->is_number);
        const struct page_sheet *fresh = page_browser_sheet(x->fresh, x->fresh_number);

        if (!is || !fresh || b->sessions != x->session)
                return error_set(err, ERR_INVALID, "the page: %s has another session", b->name);
        TRY(page_sheet_compare(is, fresh, err));
        return page_model_check(p, is, err);
}

static int look_again(struct looks *l, struct error *err)
{
        int64_t end = loop_now_ms(l->page->loop) + SAME_MS;
        int code = ERR_INVALID;

        while (code < 0 && loop_now_ms(l->page->loop) < end) {
                TRY(fiber_sleep(l->page->loop, SAME_LOOK_MS));
                read_all(l);
                code = 0;
                vec_for_each(&l->pairs, x)
                        code = code < 0 ? code : compare_pair(l->page, x, err);
        }
        return code;
}

int sim_page_compare(struct sim_page *p, struct error *err)
{
        AUTO_FREE struct looks *l = p ? NEW(struct looks) : NULL;
        struct kube_client *hub;
        int code;

        if (!p || (p->same_ms && loop_now_ms(p->loop) - p->same_ms < AGAIN_MS))
                return 0;
        if (!l)
                return error_no_memory(err);
        if (!p->open)
                return error_set(err, ERR_INVALID, "the page is not there");
        l->page = p;
        TRY(p->options.fleet->ops->client(p->options.fleet, "hub", &hub, err));
        code = page_desk_open(&l->desk, hub->world, hub->endpoint, p->options.log, err);
        if (code == 0)
                code = enter_all(l, err);
        if (code == 0)
                code = look_again(l, err);
        leave_all(l);
        page_desk_close(&l->desk);
        p->same_ms = code == 0 ? loop_now_ms(p->loop) : 0;
        if (code == 0)
                coverage_rule(p->options.coverage, "page-same");
        return code;
}

/* ---- while users play ---- */

bool page_desk_in_trouble(const struct page_desk *d)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;

        for (size_t i = 0; i < PAGE_KEPT; i++) {
                struct page_need n;

                if (!d->kept[i].use.source || page_use_read(&d->kept[i].use, &arena, &n) < 0 || n.problem ||
                    !n.filled)
                        return true;
        }
        return false;
}

/* A cluster is silent, and by the time alone turns ineligible, which an open view tells within a minute. */
static bool counts_time(const struct page_desk *d)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        int64_t now_ms = loop_wall_ms(d->world.loop);
        struct page_need n;

        if (page_use_read(&d->kept[0].use, &arena, &n) < 0)
                return true;
        for (size_t i = 0; i < n.fetch.result.n; i++) {
                const struct member_cluster *c = (const struct member_cluster *)n.fetch.result.at[i];

                for (uint32_t k = 0; c->status && k < c->status->agent_status.n; k++)
                        if (now_ms - c->status->agent_status.at[k].last_received_heartbeat > SILENT_MS)
                                return true;
        }
        return false;
}

static bool is_to_be_glanced_at(const struct page_sheet *s, bool by_time)
{
        return !s->in_trouble && !(by_time && text_equal(s->view, "scheduling"));
}

/* What was opened while the hub could not be read may be of lists of its own. */
static int glance_at(struct looks *l, struct error *err)
{
        for (unsigned i = 0; i < PAGE_USERS; i++) {
                struct page_user_of *u = &l->page->users[i];

                if (!page_user_listens(u) || !u->browser.sheets.n)
                        continue;
                TRY(enter(l, &l->page->desk, &l->fresh[i][0], err));
                vec_for_each(&u->browser.sheets, s)
                        if (is_to_be_glanced_at(s, counts_time(&l->page->desk)))
                                open_same(l, u, s, &l->fresh[i][0]);
        }
        return 0;
}

/* 0: they are the same, or one of them is gone. */
static int glance_at_pair(struct sim_page *p, struct pair *x, struct error *err)
{
        struct page_browser *b = &x->user->browser;
        const struct page_sheet *is = page_browser_sheet(b, x->is_number);
        const struct page_sheet *fresh = page_browser_sheet(x->fresh, x->fresh_number);

        x->done = !is || !fresh || b->sessions != x->session || !page_user_listens(x->user);
        if (x->done || fresh->more || !(fresh->head || fresh->error)) /* it still reads */
                return 0;
        if (page_sheet_compare(is, fresh, err) < 0)
                return error_wrap(err, "%s", b->name);
        x->done = true;
        coverage_rule(p->options.coverage, "page-same-early");
        return 0;
}

static int glance_again(struct looks *l, struct error *err)
{
        struct sim_page *p = l->page;
        int64_t end = loop_now_ms(p->loop) + GLANCE_MS;
        int code = ERR_INVALID;

        while (code == ERR_INVALID && loop_now_ms(p->loop) < end) {
                TRY(fiber_sleep(p->loop, GLANCE_LOOK_MS));
                if (p->calm || !p->open || page_desk_in_trouble(&p->desk))
                        return 0;
                read_all(l);
                code = 0;
                vec_for_each(&l->pairs, x)
                        if (!x->done && glance_at_pair(p, x, err) < 0)
                                code = ERR_INVALID;
        }
        return code;
}

/* An error is the page's, or that of who ends it. */
static int glance(struct sim_page *p)
{
        AUTO_FREE struct looks *l = mem_must(NEW(struct looks));
        struct error err = { 0 };
        int code;

        l->page = p;
        code = glance_at(l, &err);
        if (code == 0 && l->pairs.n)
                code = glance_again(l, &err);
        leave_all(l);
        if (code == ERR_INVALID)
                page_say_wrong(p, "while users play: %s", err.text);
        return code == ERR_CANCELLED ? code : 0;
}

/* What it shows may be as old as its last drawing, and no older. */
static void ponder(struct sim_page *p, struct page_sheet *s)
{
        struct error err = { 0 };

        if (s->more || page_model_check_read(&p->desk, s, &err) == 0) {
                s->odd_ms = 0;
                return;
        }
        if (!s->odd_ms)
                s->odd_ms = loop_now_ms(p->loop);
        if (loop_now_ms(p->loop) - s->odd_ms >= ODD_MS)
                page_say_wrong(p, "for %d ms: %s", ODD_MS, err.text);
}

void page_glance_on(void *sim_page)
{
        struct sim_page *p = sim_page;
        int64_t next_ms = loop_now_ms(p->loop) + GLANCE_EVERY_MS;
        int code = 0;

        while (code == 0 && !p->calm) {
                code = fiber_sleep(p->loop, ODD_MS / 4);
                if (code < 0 || p->calm || !p->open)
                        continue;
                for (unsigned i = 0; i < PAGE_USERS; i++)
                        if (p->users[i].steady && page_user_listens(&p->users[i]))
                                vec_for_each(&p->users[i].browser.sheets, s)
                                        ponder(p, s);
                if (loop_now_ms(p->loop) < next_ms || page_desk_in_trouble(&p->desk))
                        continue;
                next_ms = loop_now_ms(p->loop) + GLANCE_EVERY_MS;
                code = glance(p);
        }
}
