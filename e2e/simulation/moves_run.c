/* Users roll out by update runs: strategies, runs and approvals. */
#include "e2e/simulation/moves_internal.h"
#include "proto/names.h"

#define WAITING_MS 8000
#define LOOK_MS 500
#define EXTERNALS 3 /* so many placements are External before users make more of them so */

static const struct kube_resource member_clusters = { "cluster.kubernetes-fleet.io", "v1beta1",
                                                      "memberclusters", "MemberCluster", false };
static const struct kube_resource snapshots[] = {
        { "placement.kubernetes-fleet.io", "v1beta1", "clusterresourcesnapshots", "ClusterResourceSnapshot",
          false },
        { "placement.kubernetes-fleet.io", "v1beta1", "resourcesnapshots", "ResourceSnapshot", true },
};

static const struct wish_placement *placement_of(const struct player *p, unsigned app, enum wish_place place)
{
        return &p->wish->apps[app].placements[place];
}

/* ---- strategies ---- */

static struct wish_stage draw_stage(struct dice *d, unsigned n_members)
{
        static const unsigned char percents[] = { 25, 50, 100 };
        struct wish_stage s = { .before = dice_percent(d, 20),
                                .after = dice_percent(d, 20),
                                .plan = dice_percent(d, 30),
                                .sorted = dice_percent(d, 15) };

        s.percent = dice_percent(d, n_members > 5 ? 100 : 35);
        if (s.percent)
                s.max = percents[dice_below(d, ARRAY_LEN(percents))];
        else if (dice_percent(d, 70))
                s.max = 1 + (unsigned)dice_below(d, 3);
        if (dice_percent(d, 45))
                s.wait_s = 2 + (unsigned)dice_below(d, 19);
        if (dice_percent(d, 25)) {
                s.timeout_s = 5 + (unsigned)dice_below(d, 15);
                s.failures = (unsigned)dice_below(d, 3);
        }
        return s;
}

static struct wish_stages draw_stages(struct dice *d, unsigned n_members)
{
        struct wish_stages s = { .exists = true,
                                 .n = 1 + (unsigned)dice_below(d, WISH_STAGES),
                                 .goes_on = dice_percent(d, 35) };

        for (unsigned i = 0; i < s.n; i++)
                s.stage[i] = draw_stage(d, n_members);
        if (s.n > 1)
                s.split = dice_percent(d, 50) ? SPLIT_TIER : SPLIT_ZONE;
        if (s.n > 1 && dice_percent(d, 12))
                s.flaw = dice_percent(d, 60) ? FLAW_GAP : FLAW_OVERLAP;
        return s;
}

static void say_stages(struct words *w, const struct wish_stages *s)
{
        static const char *const splits[] = { "all", "tier", "zone" }, *const flaws[] = { "", " with a gap",
                                                                                          " overlapping" };

        words_add(w, " by %s%s%s", splits[s->split], flaws[s->flaw], s->goes_on ? ", continuing" : "");
        for (unsigned i = 0; i < s->n; i++) {
                const struct wish_stage *t = &s->stage[i];

                words_add(w, "; max=%u%s%s", t->max, t->percent ? "%" : "", t->sorted ? " sorted" : "");
                words_add(w, "%s%s%s", t->before ? " before" : "", t->after ? " after" : "",
                          t->plan && (t->before || t->after) ? " plan" : "");
                if (t->wait_s)
                        words_add(w, " wait=%us", t->wait_s);
                if (t->timeout_s)
                        words_add(w, " failures=%u timeout=%us", t->failures, t->timeout_s);
        }
}

static bool has_order(const struct wish_stages *s)
{
        for (unsigned i = 0; i < s->n; i++)
                if (s->stage[i].sorted)
                        return true;
        return false;
}

/* Who sorts clusters gives them what they are sorted by. */
static int rank_members(struct player *p, struct dice *d, struct error *err)
{
        for (unsigned i = 1; i <= p->fleet->n_members; i++) {
                struct wish_member *m = &p->wish->members[i];
                unsigned rank = 1 + (unsigned)dice_below(d, 3);
                char name[FLEET_AGENT_NAME], text[16];
                struct kube_client *hub;
                int code;

                if (m->membership != MEMBER_IN || m->rank)
                        continue;
                snprintf(text, sizeof(text), "%u", rank);
                TRY(move_client(p, 0, &hub, err));
                AUTO_JSON json_t *patch = json_pack("{s:{s:{s:s}}}", "metadata", "labels", "rank", text);
                code = kube_doc_patch(hub, &member_clusters, NULL, move_cluster_name(i, name),
                                      KUBE_PATCH_MERGE, patch, NULL, NULL, err);
                if (code < 0)
                        return move_refused(p, code, err);
                m->rank = rank;
        }
        return 1;
}

static int put_stages(struct player *p, struct dice *d, unsigned app, enum wish_place place,
                      const struct wish_stages *wanted, struct words *words, struct error *err)
{
        struct wish_stages *now = &p->wish->apps[app].stages[place], old = *now;
        int code;

        *now = *wanted;
        now->changed_ms = move_now(p);
        code = move_apply(p, wish_stages_resource(place), move_placement_home(app, place),
                          wish_stages_doc(p->wish, app, place), err);
        if (code < 0) {
                *now = old;
                return move_refused(p, code, err);
        }
        say_stages(words, now);
        return has_order(now) && dice_percent(d, 80) ? rank_members(p, d, err) : 1;
}

/* ---- which placement ---- */

static unsigned count_external(const struct player *p)
{
        unsigned n = 0;

        for (unsigned app = 0; app < WISH_APPS; app++)
                for (unsigned place = 0; place < WISH_PLACES; place++)
                        n += placement_of(p, app, place)->exists &&
                             placement_of(p, app, place)->strategy.external_ms > 0;
        return n;
}

static bool find_external(struct player *p, struct dice *d, unsigned *ret_app, enum wish_place *ret_place)
{
        unsigned n = WISH_APPS * WISH_PLACES, first = (unsigned)dice_below(d, n);

        for (unsigned i = 0; i < n; i++) {
                *ret_app = (first + i) % n / WISH_PLACES;
                *ret_place = (first + i) % n % WISH_PLACES;
                if (placement_of(p, *ret_app, *ret_place)->exists &&
                    placement_of(p, *ret_app, *ret_place)->strategy.external_ms)
                        return true;
        }
        return false;
}

/* It will have the clusters it asks for. */
static bool suits_runs(const struct player *p, const struct wish_placement *of)
{
        return of->policy.type == POLICY_PICK_ALL ||
               (of->policy.type == POLICY_PICK_N && of->policy.n > 0 && of->policy.n <= p->fleet->n_members);
}

static bool find_to_make_external(struct player *p, struct dice *d, unsigned *ret_app,
                                  enum wish_place *ret_place)
{
        bool anyhow = dice_percent(d, 15);

        for (unsigned tries = 0; tries < 4; tries++) {
                if (!move_find_placement(p, d, ret_app, ret_place))
                        return false;
                if (anyhow || suits_runs(p, placement_of(p, *ret_app, *ret_place)))
                        return true;
        }
        return false;
}

/* Mostly one that runs can roll out; else a user makes one so. */
static int choose_placement(struct player *p, struct dice *d, unsigned *ret_app, enum wish_place *ret_place,
                            struct error *err)
{
        bool more = count_external(p) < EXTERNALS && dice_percent(d, 40), anyhow = dice_percent(d, 3);

        if (!more && !anyhow && find_external(p, d, ret_app, ret_place))
                return 1;
        if (!find_to_make_external(p, d, ret_app, ret_place))
                return 0;
        if (anyhow || placement_of(p, *ret_app, *ret_place)->strategy.external_ms)
                return 1;
        return move_make_external(p, *ret_app, *ret_place, err);
}

int move_stages(struct player *p, struct dice *d, struct error *err)
{
        struct wish_stages wanted = draw_stages(d, p->fleet->n_members);
        struct words words = { 0 };
        enum wish_place place;
        unsigned app;
        char name[64];

        if (!find_external(p, d, &app, &place) && !move_find_placement(p, d, &app, &place))
                return 0;
        NEED(put_stages(p, d, app, place, &wanted, &words, err));
        wish_placement_name(app, place, name);
        return move_done(p, "%s of %s:%s", name, wish_app_name(app), words.text);
}

int move_stages_delete(struct player *p, struct dice *d, struct error *err)
{
        struct wish_stages *now;
        enum wish_place place;
        struct kube_client *hub;
        unsigned app;
        char name[64];
        int code;

        if (!find_external(p, d, &app, &place) || !p->wish->apps[app].stages[place].exists)
                return 0;
        now = &p->wish->apps[app].stages[place];
        wish_placement_name(app, place, name);
        TRY(move_client(p, 0, &hub, err));
        code = kube_doc_delete(hub, wish_stages_resource(place), move_placement_home(app, place), name, NULL,
                               NULL, err);
        if (code == ERR_NOT_FOUND)
                return error_set(err, ERR_INTERNAL, "the strategy of %s is gone, nobody deleted it", name);
        if (code < 0)
                return move_refused(p, code, err);
        now->exists = false;
        now->changed_ms = move_now(p);
        return move_done(p, "%s of %s", name, wish_app_name(app));
}

/* ---- making runs ---- */

static bool is_free(struct player *p, unsigned run)
{
        const struct wish_run *r = &p->wish->runs[run];
        char name[64];

        wish_run_name(run, name);
        return !r->exists && (!r->leaving || move_is_gone(p, wish_run_resource(r->place),
                                                          move_placement_home(r->app, r->place), name));
}

static bool find_free_run(struct player *p, struct dice *d, unsigned *ret)
{
        unsigned first = (unsigned)dice_below(d, WISH_RUNS);

        for (unsigned i = 0; i < WISH_RUNS; i++) {
                *ret = (first + i) % WISH_RUNS;
                if (is_free(p, *ret))
                        return true;
        }
        return false;
}

static int make_run(struct player *p, struct dice *d, struct wish_run *wanted, struct error *err)
{
        struct wish_stages stages = draw_stages(d, p->fleet->n_members);
        struct words words = { 0 };
        bool of_change = wanted->index < 0 && wanted->retry_of < 0 && dice_percent(d, 70);
        struct wish_run *now;
        char name[64], of[64];
        unsigned run;
        int code;

        if (!find_free_run(p, d, &run))
                return 0;
        if (!p->wish->apps[wanted->app].stages[wanted->place].exists && dice_percent(d, 95))
                NEED(put_stages(p, d, wanted->app, wanted->place, &stages, &words, err));
        if (of_change) /* else there would be little to roll out */
                TRY(move_change_selected(p, d, wanted->app, wanted->place, &words, err));
        now = &p->wish->runs[run];
        *now = *wanted;
        now->made_ms = move_now(p);
        code = move_apply(p, wish_run_resource(now->place), move_placement_home(now->app, now->place),
                          wish_run_doc(p->wish, run), err);
        if (code < 0)
                return move_refused(p, code, err);
        now->exists = true;
        p->wish->apps[now->app].n_runs[now->place]++;
        wish_run_name(run, name);
        wish_placement_name(now->app, now->place, of);
        return move_done(p, "%s of %s/%s index=%d retries=%d state=%d%s%s", name, wish_app_name(now->app), of,
                         now->index, now->retry_of, now->state, words.n ? ", with" : "", words.text);
}

static struct wish_run newest(struct dice *d)
{
        struct wish_run run = { .state = RUN_GOES, .index = -1, .retry_of = -1 };

        if (dice_percent(d, 15))
                run.state = dice_percent(d, 80) ? RUN_PREPARED : RUN_STOPPED;
        return run;
}

int move_run(struct player *p, struct dice *d, struct error *err)
{
        struct wish_run wanted = newest(d);

        NEED(choose_placement(p, d, &wanted.app, &wanted.place, err));
        return make_run(p, d, &wanted, err);
}

/* One that waits for somebody to approve it, mostly before it does anything. */
int move_run_gated(struct player *p, struct dice *d, struct error *err)
{
        struct wish_stages stages = draw_stages(d, p->fleet->n_members);
        struct wish_run wanted = { .state = RUN_GOES, .index = -1, .retry_of = -1 };
        struct words words = { 0 };

        NEED(choose_placement(p, d, &wanted.app, &wanted.place, err));
        stages.flaw = 0;
        *(dice_percent(d, 70) ? &stages.stage[0].before : &stages.stage[0].after) = true;
        stages.stage[0].plan = dice_percent(d, 60);
        NEED(put_stages(p, d, wanted.app, wanted.place, &stages, &words, err));
        return make_run(p, d, &wanted, err);
}

/* Of the snapshots there are, now and then of none. */
static int choose_index(struct player *p, struct dice *d, struct wish_run *run, struct error *err)
{
        AUTO_JSON json_t *items = NULL;
        const char *const keys[] = { "metadata", "labels", LABEL_RESOURCE_INDEX };
        char name[64], selector[192];
        struct kube_client *hub;
        const char *index;
        int code;

        wish_placement_name(run->app, run->place, name);
        snprintf(selector, sizeof(selector), "%s=%s", LABEL_PARENT_PLACEMENT, name);
        TRY(move_client(p, 0, &hub, err));
        code = kube_doc_list(hub, &snapshots[run->place == PLACE_PART],
                             move_placement_home(run->app, run->place), selector, &items, err);
        if (code < 0)
                return move_refused(p, code, err);
        run->index = (int)dice_below(d, 30);
        if (json_array_size(items) == 0 || dice_percent(d, 5))
                return 1;
        index = json_string_value(
                doc_get_keys(json_array_get(items, dice_below(d, json_array_size(items))), keys, 3));
        if (index)
                run->index = (int)strtol(index, NULL, 10);
        return 1;
}

int move_run_back(struct player *p, struct dice *d, struct error *err)
{
        struct wish_run wanted = newest(d);

        NEED(choose_placement(p, d, &wanted.app, &wanted.place, err));
        NEED(choose_index(p, d, &wanted, err));
        return make_run(p, d, &wanted, err);
}

/* ---- runs there are ---- */

static bool goes(const struct wish_run *r)
{
        return r->state == RUN_GOES;
}

static bool is_held(const struct wish_run *r)
{
        return r->state != RUN_GOES;
}

static bool is_any(const struct wish_run *r)
{
        return true;
}

static const json_t *condition(const json_t *doc, const char *type)
{
        json_t *c;
        size_t i;

        json_array_foreach(doc_get_array(doc, "status.conditions"), i, c)
                if (text_equal(doc_get_string(c, "type"), type))
                        return c;
        return NULL;
}

enum found {
        RUN_GOES_ON,
        RUN_WAITS, /* for a time to pass */
        RUN_ENDED,
        RUN_LEFT_SOME, /* it began, and ended without success */
};

static bool waits(const json_t *run)
{
        json_t *stage, *task;
        size_t i, k;

        json_array_foreach(doc_get_array(run, "status.stagesStatus"), i, stage) {
                if (!text_equal(
                            doc_get_string(json_array_get(json_object_get(stage, "conditions"), 0), "reason"),
                            "StageUpdatingWaiting"))
                        continue;
                json_array_foreach(json_object_get(stage, "afterStageTaskStatus"), k, task)
                        if (text_equal(doc_get_string(task, "type"), "TimedWait") &&
                            json_array_size(json_object_get(task, "conditions")) == 0)
                                return true;
        }
        return false;
}

static bool is_found(const json_t *run, enum found which)
{
        const json_t *initialized = condition(run, "Initialized"), *succeeded = condition(run, "Succeeded");
        bool refused = text_equal(doc_get_string(initialized, "status"), "False");

        if (which == RUN_WAITS)
                return !succeeded && waits(run);
        if (which == RUN_LEFT_SOME)
                return text_equal(doc_get_string(succeeded, "status"), "False");
        return (refused || succeeded) == (which == RUN_ENDED);
}

/* From a random one on, the first run that `fits` and is what is looked for. */
static int find_run(struct player *p, struct dice *d, bool (*fits)(const struct wish_run *r),
                    enum found which, unsigned *ret, struct error *err)
{
        unsigned first = (unsigned)dice_below(d, WISH_RUNS);
        struct kube_client *hub;

        TRY(move_client(p, 0, &hub, err));
        for (unsigned i = 0; i < WISH_RUNS; i++) {
                const struct wish_run *r = &p->wish->runs[ *ret = (first + i) % WISH_RUNS];
                AUTO_JSON json_t *doc = NULL;
                char name[64];
                int code;

                if (!r->exists || !fits(r))
                        continue;
                wish_run_name(*ret, name);
                code = kube_doc_get(hub, wish_run_resource(r->place), move_placement_home(r->app, r->place),
                                    name, &doc, err);
                if (code == ERR_NOT_FOUND)
                        return error_set(err, ERR_INTERNAL, "%s is gone, nobody deleted it", name);
                if (code < 0)
                        return move_refused(p, code, err);
                if (is_found(doc, which))
                        return 1;
        }
        return 0;
}

/* Another one while the first goes on; mostly of what has changed since. */
int move_run_second(struct player *p, struct dice *d, struct error *err)
{
        struct wish_run wanted = newest(d);
        unsigned run;

        NEED(find_run(p, d, goes, RUN_GOES_ON, &run, err));
        wanted.app = p->wish->runs[run].app;
        wanted.place = p->wish->runs[run].place;
        if (dice_percent(d, 50))
                NEED(choose_index(p, d, &wanted, err));
        return make_run(p, d, &wanted, err);
}

int move_run_retry(struct player *p, struct dice *d, struct error *err)
{
        enum found which = dice_percent(d, 85)   ? RUN_LEFT_SOME
                           : dice_percent(d, 60) ? RUN_ENDED
                                                 : RUN_GOES_ON;
        struct wish_run wanted = newest(d);
        unsigned run;

        NEED(find_run(p, d, is_any, which, &run, err));
        wanted.app = p->wish->runs[run].app;
        wanted.place = p->wish->runs[run].place;
        wanted.retry_of = (int)run;
        return make_run(p, d, &wanted, err);
}

static int set_state(struct player *p, unsigned run, enum wish_run_state state, struct error *err)
{
        struct wish_run *r = &p->wish->runs[run];
        const char *text = state == RUN_GOES ? "Run" : "Stop";
        AUTO_JSON json_t *patch = json_pack("{s:{s:s}}", "spec", "state", text);
        struct kube_client *hub;
        char name[64];
        int code;

        wish_run_name(run, name);
        TRY(move_client(p, 0, &hub, err));
        code = kube_doc_patch(hub, wish_run_resource(r->place), move_placement_home(r->app, r->place), name,
                              KUBE_PATCH_MERGE, patch, NULL, NULL, err);
        if (code < 0)
                return move_refused(p, code, err);
        r->state = state;
        return move_done(p, "%s: %s", name, text);
}

int move_run_stop(struct player *p, struct dice *d, struct error *err)
{
        unsigned run;

        NEED(find_run(p, d, dice_percent(d, 90) ? goes : is_held, RUN_GOES_ON, &run, err));
        return set_state(p, run, RUN_STOPPED, err);
}

int move_run_resume(struct player *p, struct dice *d, struct error *err)
{
        unsigned run;

        NEED(find_run(p, d, is_held, RUN_GOES_ON, &run, err));
        return set_state(p, run, RUN_GOES, err);
}

int move_run_delete(struct player *p, struct dice *d, struct error *err)
{
        bool ended = dice_percent(d, 50);
        struct kube_client *hub;
        struct wish_run *r;
        unsigned run;
        char name[64];
        int code;

        NEED(find_run(p, d, is_any, ended ? RUN_ENDED : RUN_GOES_ON, &run, err));
        r = &p->wish->runs[run];
        wish_run_name(run, name);
        TRY(move_client(p, 0, &hub, err));
        code = kube_doc_delete(hub, wish_run_resource(r->place), move_placement_home(r->app, r->place), name,
                               NULL, NULL, err);
        if (code < 0)
                return move_refused(p, code, err);
        r->exists = false;
        r->leaving = true;
        return move_done(p, "%s%s", name, ended ? "" : " on its way");
}

/* A run of one stage with a wait behind it, which begins within some seconds unless much is wrong. */
static int make_waiting(struct player *p, struct dice *d, unsigned *ret, struct error *err)
{
        struct wish_stages stages = { .exists = true, .n = 1 };
        struct wish_run wanted = { .state = RUN_GOES, .index = -1, .retry_of = -1 };
        struct words words = { 0 };
        int found = 0;

        stages.stage[0] = (struct wish_stage){ .max = 100, .percent = true, .wait_s = 10 };
        stages.stage[0].wait_s += (unsigned)dice_below(d, 10);
        NEED(choose_placement(p, d, &wanted.app, &wanted.place, err));
        NEED(put_stages(p, d, wanted.app, wanted.place, &stages, &words, err));
        NEED(make_run(p, d, &wanted, err));
        for (int64_t end = move_now(p) + WAITING_MS; found == 0 && move_now(p) < end;) {
                TRY(fiber_sleep(p->fleet->world->loop, LOOK_MS));
                found = find_run(p, d, goes, RUN_WAITS, ret, err);
        }
        return found;
}

/* The hub agents are killed while a run waits, and are back at once. */
int move_run_interrupt(struct player *p, struct dice *d, struct error *err)
{
        int found;
        unsigned run;
        char name[64];

        found = find_run(p, d, goes, RUN_WAITS, &run, err);
        if (found == 0 && dice_percent(d, 70))
                found = make_waiting(p, d, &run, err);
        NEED(found);
        TRY(moves_restart_hub(p, err));
        wish_run_name(run, name);
        return move_done(p, "while %s waits", name);
}

/* ---- approvals ---- */

static bool is_open(const json_t *request)
{
        return !text_equal(doc_get_string(condition(request, "ApprovalAccepted"), "status"), "True") &&
               !text_equal(doc_get_string(condition(request, "Approved"), "status"), "True");
}

/* From a random run on, a request of one that nobody has answered yet: new. */
static int find_request(struct player *p, struct dice *d, unsigned *ret_run, json_t **ret, struct error *err)
{
        unsigned first = (unsigned)dice_below(d, WISH_RUNS);
        struct kube_client *hub;

        TRY(move_client(p, 0, &hub, err));
        for (unsigned i = 0; i < WISH_RUNS; i++) {
                const struct wish_run *r = &p->wish->runs[ *ret_run = (first + i) % WISH_RUNS];
                AUTO_JSON json_t *items = NULL;
                char name[64], selector[160];
                json_t *request;
                size_t k;
                int code;

                if (!r->exists)
                        continue;
                wish_run_name(*ret_run, name);
                snprintf(selector, sizeof(selector), "%s=%s", LABEL_TARGET_UPDATE_RUN, name);
                code = kube_doc_list(hub, wish_approval_resource(r->place),
                                     move_placement_home(r->app, r->place), selector, &items, err);
                if (code < 0)
                        return move_refused(p, code, err);
                json_array_foreach(items, k, request)
                        if (is_open(request)) {
                                *ret = json_incref(request);
                                return 1;
                        }
        }
        return 0;
}

static int answer(struct player *p, const struct wish_run *r, const json_t *request, bool yes,
                  int64_t generation, struct error *err)
{
        struct kube_write how = { .subresource = "status", .field_manager = "player" };
        AUTO_JSON json_t *doc = doc_copy(request);
        const char *name = doc_get_string(request, "metadata.name");
        json_t *list = json_array(), *old;
        struct kube_client *hub;
        size_t i;
        int code;

        json_array_foreach(doc_get_array(request, "status.conditions"), i, old)
                if (!text_equal(doc_get_string(old, "type"), "Approved"))
                        json_array_append(list, old);
        json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s, s:I, s:s}", "type", "Approved", "status",
                                              yes ? "True" : "False", "reason", "Play", "message",
                                              yes ? "go on" : "not yet", "observedGeneration",
                                              (json_int_t)generation, "lastTransitionTime",
                                              "2026-01-01T00:00:00Z"));
        if (!doc || doc_set(doc, "status.conditions", list) < 0)
                return error_no_memory(err);
        TRY(move_client(p, 0, &hub, err));
        code = kube_doc_update(hub, wish_approval_resource(r->place), move_placement_home(r->app, r->place),
                               name, doc, &how, NULL, err);
        if (code < 0)
                return move_refused(p, code, err);
        return move_done(p, "%s: %s of generation %lld", name, yes ? "yes" : "no", (long long)generation);
}

static int answer_one(struct player *p, struct dice *d, bool yes, struct error *err)
{
        AUTO_JSON json_t *request = NULL;
        bool of_another = dice_percent(d, 4); /* which does not count */
        unsigned run;

        NEED(find_request(p, d, &run, &request, err));
        return answer(p, &p->wish->runs[run], request, yes,
                      doc_get_int(request, "metadata.generation", 1) + of_another, err);
}

int move_approve(struct player *p, struct dice *d, struct error *err)
{
        return answer_one(p, d, true, err);
}

int move_disapprove(struct player *p, struct dice *d, struct error *err)
{
        return answer_one(p, d, false, err);
}

/* Somebody does not wait until the request is there, and makes it. */
int move_approve_early(struct player *p, struct dice *d, struct error *err)
{
        bool before = dice_percent(d, 50), yes = dice_percent(d, 75);
        unsigned stage = (unsigned)dice_below(d, WISH_STAGES), run;
        AUTO_JSON json_t *doc = NULL, *made = NULL;
        const struct wish_run *r;
        struct kube_client *hub;
        int code;

        NEED(find_run(p, d, is_any, RUN_GOES_ON, &run, err));
        r = &p->wish->runs[run];
        doc = wish_approval_doc(p->wish, run, stage, before);
        if (!doc)
                return error_no_memory(err);
        TRY(move_client(p, 0, &hub, err));
        code = kube_doc_create(hub, wish_approval_resource(r->place), move_placement_home(r->app, r->place),
                               doc, NULL, &made, err);
        if (code < 0)
                return move_refused(p, code, err);
        return answer(p, r, made, yes, doc_get_int(made, "metadata.generation", 1), err);
}
