/* Users keep charts and their repositories on the hub and publish versions; repositories have troubles, and
 * the agents' disks lose files and fill up. */
#include "common/loop/volume.h"
#include "e2e/simulation/moves_internal.h"
#include "e2e/simulation/sim_fleet.h"

#define ALL_VERSIONS (WISH_MAJORS * WISH_MINORS)
#define BEGINS_WITH 0x13u /* versions of a new repository: 1.0.0, 1.1.0, 2.0.0 */

static const struct kube_resource namespaces = { "", "v1", "namespaces", "Namespace", false };

static int make_shelf(struct player *p, struct error *err)
{
        int code;

        if (p->wish->shelf.there)
                return 1;
        code = move_apply(p, &namespaces, NULL,
                          json_pack("{s:s, s:s, s:{s:s}}", "apiVersion", "v1", "kind", "Namespace",
                                    "metadata", "name", WISH_SHELF),
                          err);
        if (code < 0)
                return move_refused(p, code, err);
        p->wish->shelf.there = true;
        return 1;
}

/* ---- repositories ---- */

static bool find_repository(struct player *p, struct dice *d, bool exists, unsigned *ret)
{
        unsigned first = (unsigned)dice_below(d, WISH_REPOSITORIES);

        for (unsigned i = 0; i < WISH_REPOSITORIES; i++) {
                *ret = (first + i) % WISH_REPOSITORIES;
                if (p->wish->shelf.repositories[*ret].exists == exists)
                        return true;
        }
        return false;
}

static int repository_done(struct player *p, unsigned repository)
{
        static const char *const libraries[] = { "answers", "fails", "hangs", "babbles" };
        const struct wish_repository *r = &p->wish->shelf.repositories[repository];

        return move_done(p, "repository-%u:%s%s published %#x, it %s", repository, r->exists ? "" : " gone",
                         r->suspended ? " suspended" : "", r->published, libraries[r->library]);
}

/* As the wish has it by now; `old` is what it was. */
static int put_repository(struct player *p, unsigned repository, const struct wish_repository *old,
                          struct error *err)
{
        struct wish_repository *r = &p->wish->shelf.repositories[repository];
        int code = move_apply(p, &wish_repository_resource, WISH_SHELF,
                              wish_repository_doc(&p->wish->shelf, repository), err);

        if (code == 0)
                return repository_done(p, repository);
        r->exists = old->exists;
        r->suspended = old->suspended;
        r->requests = old->requests;
        return move_refused(p, code, err);
}

int move_repository_make(struct player *p, struct dice *d, struct error *err)
{
        char name[WISH_CHART_NAME];
        struct wish_repository *r, old;
        unsigned i;

        if (!find_repository(p, d, false, &i))
                return 0;
        NEED(make_shelf(p, err));
        if (!move_is_gone(p, &wish_repository_resource, WISH_SHELF, wish_repository_name(i, name)))
                return 0;
        r = &p->wish->shelf.repositories[i];
        old = *r;
        if (r->past.n == 0 && wish_publish(r, BEGINS_WITH) < 0)
                return error_no_memory(err);
        r->exists = true;
        r->suspended = false;
        return put_repository(p, i, &old, err);
}

static int change_repository(struct player *p, struct dice *d, void (*change)(struct wish_repository *r),
                             struct error *err)
{
        struct wish_repository *r, old;
        unsigned i;

        if (!find_repository(p, d, true, &i))
                return 0;
        r = &p->wish->shelf.repositories[i];
        old = *r;
        change(r);
        return put_repository(p, i, &old, err);
}

static void turn_repository(struct wish_repository *r)
{
        r->suspended = !r->suspended;
}

static void ask_repository(struct wish_repository *r)
{
        r->requests++;
}

int move_repository_suspend(struct player *p, struct dice *d, struct error *err)
{
        return change_repository(p, d, turn_repository, err);
}

int move_repository_request(struct player *p, struct dice *d, struct error *err)
{
        return change_repository(p, d, ask_repository, err);
}

static int delete_object(struct player *p, const struct kube_resource *r, const char *name, bool *exists,
                         struct error *err)
{
        struct kube_client *hub;
        int code;

        TRY(move_client(p, 0, &hub, err));
        *exists = false;
        code = kube_doc_delete(hub, r, WISH_SHELF, name, NULL, NULL, err);
        if (code == 0)
                return move_done(p, "%s", name);
        *exists = true;
        return move_refused(p, code, err);
}

int move_repository_delete(struct player *p, struct dice *d, struct error *err)
{
        char name[WISH_CHART_NAME];
        unsigned i;

        if (!find_repository(p, d, true, &i))
                return 0;
        return delete_object(p, &wish_repository_resource, wish_repository_name(i, name),
                             &p->wish->shelf.repositories[i].exists, err);
}

/* ---- what is published: the agents find out by themselves ---- */

static int publish(struct player *p, struct dice *d, bool more, struct error *err)
{
        struct wish_repository *r;
        unsigned i, first = (unsigned)dice_below(d, ALL_VERSIONS);

        if (!find_repository(p, d, true, &i))
                return 0;
        r = &p->wish->shelf.repositories[i];
        for (unsigned k = 0; k < ALL_VERSIONS; k++) {
                unsigned version = (first + k) % ALL_VERSIONS;

                if ((r->published >> version & 1) == more)
                        continue;
                return wish_publish(r, r->published ^ 1u << version) < 0 ? error_no_memory(err)
                                                                         : repository_done(p, i);
        }
        return 0;
}

int move_publish(struct player *p, struct dice *d, struct error *err)
{
        return publish(p, d, true, err);
}

int move_withdraw(struct player *p, struct dice *d, struct error *err)
{
        return publish(p, d, false, err);
}

int move_library_trouble(struct player *p, struct dice *d, struct error *err)
{
        unsigned i;

        if (!find_repository(p, d, true, &i))
                return 0;
        p->wish->shelf.repositories[i].library = LIBRARY_FAILS + (unsigned)dice_below(d, LIBRARY_BABBLES);
        return repository_done(p, i);
}

int move_library_answer(struct player *p, struct dice *d, struct error *err)
{
        for (unsigned i = 0; i < WISH_REPOSITORIES; i++) {
                struct wish_repository *r = &p->wish->shelf.repositories[i];

                if (r->library == LIBRARY_ANSWERS)
                        continue;
                r->library = LIBRARY_ANSWERS;
                return repository_done(p, i);
        }
        return 0;
}

/* ---- charts ---- */

static bool find_chart(struct player *p, struct dice *d, bool exists, unsigned *ret)
{
        unsigned first = (unsigned)dice_below(d, WISH_CHARTS);

        for (unsigned i = 0; i < WISH_CHARTS; i++) {
                *ret = (first + i) % WISH_CHARTS;
                if (p->wish->shelf.charts[*ret].exists == exists)
                        return true;
        }
        return false;
}

static int put_chart(struct player *p, unsigned chart, const struct wish_chart *wanted, struct error *err)
{
        struct wish_chart *now = &p->wish->shelf.charts[chart], old = *now;
        int code;

        *now = *wanted;
        now->exists = true;
        code = move_apply(p, &wish_chart_resource, WISH_SHELF, wish_chart_doc(&p->wish->shelf, chart), err);
        if (code == 0)
                return move_done(p, "chart-%u: repository-%u range %u%s%s", chart, now->repository,
                                 now->range, now->values ? " with values" : "",
                                 now->suspended ? " suspended" : "");
        *now = old;
        return move_refused(p, code, err);
}

static void draw_chart(struct wish_chart *c, struct dice *d)
{
        c->repository = (unsigned)dice_below(d, WISH_REPOSITORIES);
        c->range = (unsigned)dice_below(d, WISH_RANGES);
        c->values = dice_percent(d, 30);
}

int move_chart_make(struct player *p, struct dice *d, struct error *err)
{
        struct wish_chart wanted = { 0 };
        char name[WISH_CHART_NAME];
        unsigned i;

        if (!find_chart(p, d, false, &i))
                return 0;
        NEED(make_shelf(p, err));
        if (!move_is_gone(p, &wish_chart_resource, WISH_SHELF, wish_chart_name(i, name)))
                return 0;
        draw_chart(&wanted, d);
        return put_chart(p, i, &wanted, err);
}

static int change_chart(struct player *p, struct dice *d,
                        void (*change)(struct wish_chart *c, struct dice *d), struct error *err)
{
        struct wish_chart wanted;
        unsigned i;

        if (!find_chart(p, d, true, &i))
                return 0;
        wanted = p->wish->shelf.charts[i];
        change(&wanted, d);
        return put_chart(p, i, &wanted, err);
}

static void turn_chart(struct wish_chart *c, struct dice *d)
{
        c->suspended = !c->suspended;
}

static void ask_chart(struct wish_chart *c, struct dice *d)
{
        c->requests++;
}

int move_chart_edit(struct player *p, struct dice *d, struct error *err)
{
        return change_chart(p, d, draw_chart, err);
}

int move_chart_suspend(struct player *p, struct dice *d, struct error *err)
{
        return change_chart(p, d, turn_chart, err);
}

int move_chart_request(struct player *p, struct dice *d, struct error *err)
{
        return change_chart(p, d, ask_chart, err);
}

int move_chart_delete(struct player *p, struct dice *d, struct error *err)
{
        char name[WISH_CHART_NAME];
        unsigned i;

        if (!find_chart(p, d, true, &i))
                return 0;
        return delete_object(p, &wish_chart_resource, wish_chart_name(i, name),
                             &p->wish->shelf.charts[i].exists, err);
}

/* ---- disks ---- */

/* "helmchart/shelf/chart-0" of one of the objects. */
static void folder_of(unsigned object, char ret[128])
{
        char name[WISH_CHART_NAME];

        snprintf(ret, 128, "%s/" WISH_SHELF "/%s", object < WISH_CHARTS ? "helmchart" : "helmrepository",
                 wish_stored_name(object, name));
}

/* All that some hub agent's disk has of some object. */
int move_artifact_lose(struct player *p, struct dice *d, struct error *err)
{
        unsigned n = p->fleet->n_hub_agents * WISH_STORED, first = (unsigned)dice_below(d, n);

        for (unsigned i = 0; i < n; i++) {
                unsigned at = (first + i) % n, agent = at % p->fleet->n_hub_agents,
                         stored = at / p->fleet->n_hub_agents;
                struct volume *v = sim_fleet_volume(p->fleet, agent);
                struct volume_info info;
                char folder[128];

                folder_of(stored, folder);
                if (!v || volume_look(v, folder, &info, NULL) < 0)
                        continue;
                p->wish->shelf.lost_ms = move_now(p);
                p->wish->shelf.taken_ms[agent][stored] = move_now(p);
                return volume_remove_all(v, folder, NULL) < 0
                               ? 0
                               : move_done(p, "%s of hub agent %u", folder, agent + 1);
        }
        return 0;
}

static int set_volume(struct player *p, unsigned agent, bool full, struct error *err)
{
        if (p->volume_full[agent] == full || !sim_fleet_volume(p->fleet, agent))
                return 0;
        TRY(sim_fleet_set_volume_full(p->fleet, agent, full, err));
        p->volume_full[agent] = full;
        p->wish->shelf.lost_ms = move_now(p);
        return move_done(p, "hub agent %u's disk of artifacts %s", agent + 1, full ? "is full" : "has room");
}

int move_volume_full(struct player *p, struct dice *d, struct error *err)
{
        return set_volume(p, (unsigned)dice_below(d, p->fleet->n_hub_agents), true, err);
}

int move_volume_room(struct player *p, struct dice *d, struct error *err)
{
        for (unsigned i = 0; i < p->fleet->n_hub_agents; i++)
                if (p->volume_full[i])
                        return set_volume(p, i, false, err);
        return 0;
}

int moves_heal_shelf(struct player *p, struct error *err)
{
        for (unsigned i = 0; i < WISH_REPOSITORIES; i++)
                p->wish->shelf.repositories[i].library = LIBRARY_ANSWERS;
        for (unsigned i = 0; i < p->fleet->n_hub_agents; i++)
                TRY(set_volume(p, i, false, err));
        return 0;
}
