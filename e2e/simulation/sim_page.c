#include "e2e/simulation/sim_page_internal.h"

#include "common/base/memory.h"
#include "e2e/simulation/rules.h"
#include "kubectl-fleet/page/journal.h"
#include "proto/gen/kinds.h"

#define GUEST "page"
#define EVERY 5 /* one seed in so many plays it: none that plays charts or a Git repository */
#define EVERY_AT 1
#define HEAVY 100      /* a byte counts as so many for one of the browsers */
#define SECRET_LEAST 8 /* shorter values are words that stand elsewhere, too */

bool sim_page_is_played(uint64_t seed)
{
        return seed % EVERY == EVERY_AT;
}

/* ---- the process ---- */

static const struct fetch kept[PAGE_KEPT] = {
        { .kind = &member_cluster_kind },     { .kind = &cluster_resource_placement_kind },
        { .kind = &resource_placement_kind }, { .kind = &cluster_staged_update_run_kind },
        { .kind = &staged_update_run_kind },  { .kind = &cluster_approval_request_kind },
        { .kind = &approval_request_kind },
};

void page_desk_ignore(struct page_use *u)
{
}

static void on_event(struct page_use *u, const struct informer_event *e)
{
        struct page_desk *d = container_of(u, struct page_kept, use)->desk;

        page_journal_take(d->journal, e, loop_wall_ms(d->world.loop));
}

static int keep_reading(struct page_desk *d, struct error *err)
{
        for (size_t i = 0; i < PAGE_KEPT; i++) {
                d->kept[i].desk = d;
                d->kept[i].use.changed = page_desk_ignore;
                d->kept[i].use.event = on_event;
                TRY(page_use_begin(d->core.sources, &kept[i], &d->kept[i].use, err));
        }
        return 0;
}

/* In the order in which one uses the other. */
void page_desk_close(struct page_desk *d)
{
        if (d->sessions)
                fiber_group_end(d->sessions);
        for (size_t i = 0; i < PAGE_KEPT; i++)
                page_use_end(&d->kept[i].use);
        page_sources_free(d->core.sources);
        if (d->group)
                fiber_group_end(d->group);
        page_journal_free(d->journal);
        *d = (struct page_desk){ 0 };
}

int page_desk_open(struct page_desk *d, const struct world *w, const struct http_endpoint *hub,
                   const struct log *log, struct error *err)
{
        *d = (struct page_desk){ .world = *w, .log = *log };
        d->hub = (struct kube_client){
                .world = &d->world, .endpoint = hub, .log = &d->log, .field_manager = "kubectl-fleet"
        };
        d->group = fiber_group_new(w->loop, NULL, "page");
        d->sessions = fiber_group_new(w->loop, NULL, "sockets");
        d->journal = page_journal_new(loop_wall_ms(w->loop), 0, 0);
        d->core = (struct page_core){
                .world = &d->world,
                .log = &d->log,
                .sources = d->group ? page_sources_new(&d->hub, d->group, 0) : NULL,
                .gate = { .world = &d->world, .hub = &d->hub, .token = PAGE_TOKEN, .name = "" },
                .journal = d->journal,
                .hub_name = "hub",
                .views = page_views,
                .actions = page_actions
        };
        if (!d->sessions || !d->journal || !d->core.sources)
                return error_no_memory(err);
        return keep_reading(d, err);
}

struct visit {
        struct page_desk *desk;
        struct page_browser *browser;
};

static void run_session(void *ctx)
{
        struct visit *v = ctx;
        struct page_browser *b = v->browser;

        page_session_run(&v->desk->core, &b->line.socket);
        b->over = true;
        waitq_wake_all(&b->line.news);
        mem_free(v);
}

int page_desk_enter(struct page_desk *d, struct page_browser *b)
{
        struct visit *v = NEW(struct visit);

        ASSERT(b->over);
        page_browser_clear(b);
        if (!v)
                return ERR_NO_MEMORY;
        *v = (struct visit){ d, b };
        b->over = false;
        b->sessions++;
        page_browser_say(b, json_pack("{s:s, s:s*}", "token", PAGE_TOKEN, "packed",
                                      b->line.weight == 1 ? "deflate-raw" : NULL));
        if (fiber_spawn(d->sessions, "socket", run_session, v))
                return 0;
        b->over = true;
        mem_free(v);
        return ERR_NO_MEMORY;
}

static void run_page(void *ctx, const struct world *w, const struct log *log, const struct http_endpoint *hub,
                     struct error *err)
{
        struct sim_page *p = ctx;
        int code = page_desk_open(&p->desk, w, hub, log, err);

        p->open = code == 0;
        while (code == 0)
                code = fiber_park(w->loop, DEADLINE_NONE);
        p->open = false;
        page_desk_close(&p->desk);
        if (code == ERR_CANCELLED)
                error_set(err, code, "the page was ended");
}

/* ---- what must not be ---- */

void page_say_wrong(struct sim_page *p, const char *format, ...)
{
        char text[512];
        va_list args;

        va_start(args, format);
        vsnprintf(text, sizeof(text), format, args);
        va_end(args);
        if (!p->wrong.code)
                error_set(&p->wrong, ERR_INVALID, "the page: %s", text);
}

int sim_page_verdict(const struct sim_page *p, struct error *err)
{
        if (p && p->wrong.code)
                return error_set(err, p->wrong.code, "%s", p->wrong.text);
        for (unsigned i = 0; p && i < PAGE_USERS; i++)
                if (p->users[i].browser.wrong.code)
                        return error_set(err, ERR_INVALID, "%s", p->users[i].browser.wrong.text);
        return 0;
}

void page_hear(void *sim_page, const char *text)
{
        struct sim_page *p = sim_page;

        map_for_each(&p->secrets, e)
                if (strstr(text, e->key))
                        page_say_wrong(p, "a value of a Secret is in a message: %.200s",
                                       strstr(text, e->key));
        if (map_count(&p->secrets))
                coverage_rule(p->options.coverage, "page-secrets");
        if (strstr(text, PAGE_TOKEN))
                page_say_wrong(p, "its token is in a message");
}

static void call_key(const char *what, const char *ns, const char *name, char ret[256])
{
        snprintf(ret, 256, "%s %s %s", what, text_empty(ns) ? "cluster-wide" : ns, name);
}

/* What is said to be approved was written, and what cannot be found is not there. */
static void check_answer(void *ctx, const struct page_asked *to, const json_t *answer)
{
        struct sim_page *p = ctx;
        const char *name = doc_get_string(to->args, "name"), *ns = or_empty(doc_get_string(to->args, "ns"));
        bool missed = doc_get_int(answer, "error.status", 0) == 404;
        char key[256];

        if (!text_equal(to->what, "approve") || !name)
                return;
        call_key("approved", ns, name, key);
        if (missed &&
            sim_fleet_get(p->options.fleet, "hub", *ns ? RES_NS_APPROVALS : RES_APPROVALS, ns, name))
                page_say_wrong(p, "%s is not found, but it is there", name);
        if (json_is_true(doc_get(answer, "done.changed")) && !map_has(&p->called, key))
                page_say_wrong(p, "%s is said to be approved, and nothing was written", name);
}

static void note_secret(struct sim_page *p, const char *value)
{
        if (strlen(value) >= SECRET_LEAST)
                ASSERT(map_put(&p->secrets, value, p) == 0);
}

static void note_secrets(struct sim_page *p, const json_t *secret)
{
        const char *key;
        json_t *value;

        json_object_foreach(json_object_get(secret, "data"), key, value) {
                const char *text = or_empty(json_string_value(value));
                AUTO_FREE char *plain = mem_must(mem_calloc(1, strlen(text) + 1));
                size_t n = 0;

                note_secret(p, text);
                if (text_base64_decode(slice_of(text), plain, strlen(text), &n, false) == 0)
                        note_secret(p, plain);
        }
}

void page_note_call(struct sim_page *p, const char *what, const char *ns, const char *name)
{
        char key[256];

        call_key(what, ns, name, key);
        ASSERT(map_put(&p->called, key, p) == 0);
}

static bool was_called(const struct sim_page *p, const char *what, const struct change *c)
{
        char key[256];

        call_key(what, c->ns, c->name, key);
        return map_has(&p->called, key);
}

/* As the page wrote it, so the wish is. */
static void take_state(struct sim_page *p, const json_t *run, unsigned i)
{
        const char *state = doc_get_string(run, "spec.state");

        p->options.wish->runs[i].state = text_equal(state, "Stop")  ? RUN_STOPPED
                                         : text_equal(state, "Run") ? RUN_GOES
                                                                    : RUN_PREPARED;
}

static void steered(struct sim_page *p, const struct change *c)
{
        const char *state = doc_get_string(c->after, "spec.state");
        const char *what = text_equal(state, "Stop") ? "stop" : "resume";

        if (!was_called(p, what, c))
                page_say_wrong(p, "wrote state %s of run %s, which nobody asked for", or_empty(state),
                               c->name);
        for (unsigned i = 0; i < WISH_RUNS; i++) {
                char name[64];

                wish_run_name(i, name);
                if (!text_equal(name, c->name))
                        continue;
                p->wrote[i] = true;
                take_state(p, c->after, i);
        }
}

void sim_page_changed(struct sim_page *p, const struct change *c)
{
        bool on_hub = text_equal(c->cluster, "hub");

        if (!p)
                return;
        if (text_equal(c->resource, "/secrets") && c->after)
                note_secrets(p, c->after);
        if (!text_equal(c->who, GUEST))
                return;
        if (on_hub && c->after && c->before && text_ends_with(c->resource, "stagedupdateruns"))
                steered(p, c);
        else if (!on_hub || !c->after || !c->before || !text_ends_with(c->resource, "approvalrequests"))
                page_say_wrong(p, "wrote %s %s %s", c->resource, c->ns, c->name);
        else if (!was_called(p, "approve", c) ||
                 !rule_says(json_object_get(c->after, "status"), "Approved", CONDITION_TRUE))
                page_say_wrong(p, "wrote %s %s, which nobody asked for", c->resource, c->name);
        else
                page_note_call(p, "approved", c->ns, c->name),
                        coverage_rule(p->options.coverage, "page-approved");
}

/* ---- its life ---- */

int sim_page_open(const struct sim_page_options *o, struct sim_page **ret, struct error *err)
{
        static const char *const rules[] = { "page-same", "page-same-early", "page-says", "page-let-go" };
        struct sim_page *p = NEW(struct sim_page);

        if (!p)
                return error_no_memory(err);
        *ret = p;
        for (size_t i = 0; i < ARRAY_LEN(rules); i++)
                coverage_expect_rule(o->coverage, rules[i]);
        *p = (struct sim_page){ .options = *o, .loop = o->fleet->world->loop };
        map_init(&p->called, MAP_OWN_KEYS, NULL);
        map_init(&p->secrets, MAP_OWN_KEYS, NULL);
        p->group = fiber_group_new(p->loop, NULL, "users");
        for (unsigned i = 0; i < PAGE_USERS; i++) {
                struct page_user_of *u = &p->users[i];

                *u = (struct page_user_of){ .page = p,
                                            .dice = { o->seed * PAGE_USERS + i },
                                            .steady = i > 0 };
                snprintf(u->name, sizeof(u->name), "user-%u", i);
                page_browser_begin(&u->browser, p->loop, u->name, i ? 1 : HEAVY);
                u->browser.heard_text = page_hear;
                u->browser.answered = u->steady ? check_answer : NULL; /* the other may read it much later */
                u->browser.ctx = p;
        }
        return p->group ? sim_fleet_add_guest(o->fleet, GUEST, run_page, p, err) : error_no_memory(err);
}

int sim_page_begin(struct sim_page *p, struct error *err)
{
        struct fleet *f = p ? p->options.fleet : NULL;

        if (!p)
                return 0;
        TRY(f->ops->start_agent(f, GUEST, err));
        for (unsigned i = 0; i < PAGE_USERS; i++)
                if (!fiber_spawn(p->group, p->users[i].name, page_user_live, &p->users[i]))
                        return error_no_memory(err);
        return fiber_spawn(p->group, "glances", page_glance_on, p) ? 0 : error_no_memory(err);
}

/* What the player noted of a run may be what was before the page wrote it. */
int sim_page_calm(struct sim_page *p, struct error *err)
{
        struct fleet *f = p ? p->options.fleet : NULL;

        if (!p)
                return 0;
        p->calm = true;
        TRY(f->ops->set_link(f, GUEST, true, err));
        for (unsigned i = 0; i < WISH_RUNS; i++) {
                const struct wish_run *r = &p->options.wish->runs[i];
                const json_t *run;
                char name[64];

                wish_run_name(i, name);
                run = sim_fleet_get(f, "hub", r->place == PLACE_PART ? RES_NS_RUNS : RES_RUNS,
                                    r->place == PLACE_PART ? wish_app_name(r->app) : "", name);
                if (p->wrote[i] && r->exists && run)
                        take_state(p, run, i);
        }
        return 0;
}

int sim_page_leave(struct sim_page *p, struct error *err)
{
        if (!p)
                return 0;
        p->leaving = true;
        for (unsigned i = 0; i < PAGE_USERS; i++)
                page_browser_leave(&p->users[i].browser);
        TRY(fiber_sleep(p->loop, PAGE_SOURCE_LINGER_MS + 1000));
        if (p->desk.core.n_sessions)
                return error_set(err, ERR_INVALID, "the page: %zu sessions, but all have left",
                                 p->desk.core.n_sessions);
        if (page_sources_count(p->desk.core.sources) != PAGE_KEPT)
                return error_set(err, ERR_INVALID, "the page: %zu lists are read when nobody looks, not %d",
                                 page_sources_count(p->desk.core.sources), PAGE_KEPT);
        coverage_rule(p->options.coverage, "page-let-go");
        return 0;
}

struct sim_page *sim_page_close(struct sim_page *p)
{
        struct fleet *f = p ? p->options.fleet : NULL;

        if (!p)
                return NULL;
        if (p->group)
                fiber_group_end(p->group);
        if (p->open)
                (void)f->ops->stop_agent(f, GUEST, false, NULL);
        for (unsigned i = 0; i < PAGE_USERS; i++)
                page_browser_clear(&p->users[i].browser);
        map_free(&p->called);
        map_free(&p->secrets);
        mem_free(p);
        return NULL;
}
