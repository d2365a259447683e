#include "e2e/simulation/sim_server.h"

#include "e2e/simulation/sim_disk.h"
#include "e2e/simulation/traffic.h"
#include "e2e/simulation/wish.h"

#define AWAY_MS 500

/* A request that may write, while it is handled. */
struct writer {
        const struct fiber *fiber;
        struct author author;
        struct slice resource; /* of its path: lives as long as the exchange */
};

struct unready {
        char *cluster, *kind, *ns, *name;
};

struct sim_server {
        struct sim_server_options options;
        struct loop *loop;
        struct devcluster *devcluster; /* NULL while it is down */
        struct fiber_group *group;
        struct sim_disk *disk;
        struct mirror *mirror;
        const char *service, *service_authority; /* NULL = none yet */
        bool failed;                             /* it could not commit: it answers nothing any more */
        VEC(struct writer) writers;
        VEC(struct unready) unready; /* devcluster keeps them in memory only */
        struct map names;            /* of agents -> char *: the texts of `who` */
};

/* ---- who writes ---- */

static const char *player = "player", *server = "server";

static const char *agent_of(struct sim_server *s, const struct http_exchange *x)
{
        const char *name = traffic_agent(http_header_get(&x->headers, "User-Agent"));
        char *kept = map_get(&s->names, name);

        if (text_empty(name))
                return player;
        if (kept)
                return kept;
        kept = mem_strdup(name);
        if (kept && map_put(&s->names, name, kept) == 0)
                return kept;
        mem_free(kept);
        return player;
}

static void writer_add(struct sim_server *s, const struct http_exchange *x)
{
        struct writer w = { .fiber = fiber_self(s->loop),
                            .author = { agent_of(s, x), loopback_sent_ms(x), !loopback_is_heard(x) } };
        struct traffic_target to;

        if (traffic_target_of(x->path, &to))
                w.resource = to.resource;
        ASSERT(vec_push(&s->writers, w) == 0);
}

static void writer_remove(struct sim_server *s)
{
        const struct fiber *self = fiber_self(s->loop);

        for (size_t i = s->writers.n; i > 0; i--)
                if (s->writers.at[i - 1].fiber == self) {
                        vec_remove(&s->writers, i - 1);
                        return;
                }
}

/* What a request sets off beside its own object, as a namespace's first account, is the server's doing. */
static struct author who_writes(const struct sim_server *s, const struct table *t)
{
        const struct fiber *self = fiber_self(s->loop);
        const char *slash = strchr(t->key, '/');

        vec_for_each(&s->writers, w)
                if (w->fiber == self && slash && slice_is(w->resource, slash + 1))
                        return w->author;
        return (struct author){ server, loop_now_ms(s->loop), false };
}

static void store_changed(void *ctx, struct table *t, enum event_type type, struct blob *previous,
                          struct blob *object)
{
        struct sim_server *s = ctx;
        const struct author by = who_writes(s, t);

        mirror_write(s->mirror, t, type, object, &by);
}

static void store_committed(void *ctx, int code)
{
        struct sim_server *s = ctx;

        s->failed |= code < 0;
        mirror_commit(s->mirror, code == 0);
}

/* ---- the front door ---- */

static void serve(void *ctx, struct http_exchange *x)
{
        struct sim_server *s = ctx;
        bool writes = !text_equal(x->method, "GET");

        if (writes)
                writer_add(s, x);
        devcluster_handle(s->devcluster, x);
        if (writes)
                writer_remove(s);
}

static int listen(struct sim_server *s, bool up, struct error *err)
{
        return loopback_listen(s->options.loopback, s->options.authority, up ? serve : NULL, s) < 0
                       ? error_no_memory(err)
                       : 0;
}

/* ---- readiness ---- */

static bool is_same(const struct unready *u, const char *cluster, const char *kind, const char *ns,
                    const char *name)
{
        return text_equal(u->cluster, cluster) && text_equal(u->kind, kind) && text_equal(u->ns, ns) &&
               text_equal(u->name, name);
}

static void unready_clear(struct unready *u)
{
        mem_free(u->cluster);
        mem_free(u->kind);
        mem_free(u->ns);
        mem_free(u->name);
}

static void forget_unready(struct sim_server *s, const char *cluster, const char *kind, const char *ns,
                           const char *name)
{
        for (size_t i = s->unready.n; i > 0; i--)
                if (is_same(&s->unready.at[i - 1], cluster, kind, ns, name)) {
                        unready_clear(&s->unready.at[i - 1]);
                        vec_remove(&s->unready, i - 1);
                }
}

static int keep_unready(struct sim_server *s, const char *cluster, const char *kind, const char *ns,
                        const char *name)
{
        struct unready u = { mem_strdup(cluster), kind ? mem_strdup(kind) : NULL, ns ? mem_strdup(ns) : NULL,
                             name ? mem_strdup(name) : NULL };

        if (!u.cluster || (kind && !u.kind) || (ns && !u.ns) || (name && !u.name) ||
            vec_push(&s->unready, u) < 0) {
                unready_clear(&u);
                return ERR_NO_MEMORY;
        }
        return 0;
}

int sim_server_set_ready(struct sim_server *s, const char *cluster, const char *kind, const char *ns,
                         const char *name, bool ready, struct error *err)
{
        forget_unready(s, cluster, kind, ns, name);
        if (!ready && keep_unready(s, cluster, kind, ns, name) < 0)
                return error_no_memory(err);
        if (s->devcluster && devcluster_set_readiness(s->devcluster, cluster, kind, ns, name, ready) < 0)
                return error_set(err, ERR_INVALID, "readiness of %s could not be set",
                                 kind ? kind : "workloads");
        return 0;
}

/* ---- life ---- */

void sim_server_set_service(struct sim_server *s, const char *service, const char *authority)
{
        s->service = service;
        s->service_authority = authority;
        if (s->devcluster && service) /* without memory it stays where it was */
                (void)devcluster_set_service_address(s->devcluster, service, authority);
}

/* On the hub nothing runs: the statuses of users' workloads are those that come back. */
static void run_nothing_on_hub(struct sim_server *s)
{
        for (unsigned app = 0; app < WISH_APPS; app++)
                (void)devcluster_set_simulated(s->devcluster, "hub", wish_app_name(app), false);
}

int sim_server_create_cluster(struct sim_server *s, const char *name, struct error *err)
{
        TRY(devcluster_create_cluster(s->devcluster, name, err));
        run_nothing_on_hub(s);
        return 0;
}

static int open_devcluster(struct sim_server *s, struct error *err)
{
        struct store_observer observer = { store_changed, store_committed, s };
        struct devcluster_options o = { .world = s->options.world,
                                        .log = s->options.log,
                                        .path = s->disk ? sim_disk_uri(s->disk) : ":memory:",
                                        .sync_commits = true,
                                        .public_url = "https://fleet.test",
                                        .anonymous_admin = true,
                                        .webhooks = s->options.webhooks,
                                        .observer = s->mirror ? &observer : NULL };

        s->failed = false;
        s->group = fiber_group_new(s->loop, s->options.group, "devcluster");
        if (!s->group)
                return error_no_memory(err);
        TRY(devcluster_open(&o, s->group, &s->devcluster, err));
        run_nothing_on_hub(s);
        sim_server_set_service(s, s->service, s->service_authority);
        vec_for_each(&s->unready, u)
                (void)devcluster_set_readiness(s->devcluster, u->cluster, u->kind, u->ns, u->name, false);
        return 0;
}

static void close_devcluster(struct sim_server *s)
{
        s->devcluster = devcluster_close(s->devcluster);
        s->group = fiber_group_end(s->group);
}

int sim_server_open(const struct sim_server_options *o, struct sim_server **ret, struct error *err)
{
        struct sim_server *s = NEW(struct sim_server);
        const struct mirror_options m = { o->world->loop, o->changed, o->ctx, o->looks_into };

        if (!s)
                return error_no_memory(err);
        *ret = s;
        s->options = *o;
        s->loop = o->world->loop;
        map_init(&s->names, MAP_OWN_KEYS, mem_free);
        if (o->changed) {
                s->disk = sim_disk_new(s->loop);
                s->mirror = mirror_new(&m);
                if (!s->disk || !s->mirror)
                        return error_no_memory(err);
        }
        TRY(open_devcluster(s, err));
        return listen(s, true, err);
}

struct sim_server *sim_server_close(struct sim_server *s)
{
        if (!s)
                return NULL;
        loopback_listen(s->options.loopback, s->options.authority, NULL, NULL);
        close_devcluster(s);
        if (s->mirror)
                mirror_free(s->mirror);
        sim_disk_free(s->disk);
        vec_for_each(&s->unready, u)
                unready_clear(u);
        vec_free(&s->unready);
        vec_free(&s->writers);
        map_free(&s->names);
        mem_free(s);
        return NULL;
}

void sim_server_begin(struct sim_server *s)
{
        if (s->mirror)
                mirror_set_silent(s->mirror, false);
}

struct devcluster *sim_server_devcluster(struct sim_server *s)
{
        return s->devcluster;
}

struct mirror *sim_server_mirror(struct sim_server *s)
{
        return s->mirror;
}

/* ---- accidents ---- */

/* The servers vanish from the network for a moment; their memory stays. */
int sim_server_restart(struct sim_server *s, struct error *err)
{
        if (!s->devcluster)
                return error_set(err, ERR_INVALID, "the servers are down");
        TRY(listen(s, false, err));
        TRY(fiber_sleep(s->loop, AWAY_MS));
        devcluster_cut_watches(s->devcluster, NULL, true);
        return listen(s, true, err);
}

/* What was acknowledged is there again, and nothing else. */
static int compare(struct sim_server *s, struct error *err)
{
        map_for_each(api_store_clusters(devcluster_store(s->devcluster)), e)
                TRY(mirror_compare(s->mirror, e->value, err));
        return 0;
}

int sim_server_kill(struct sim_server *s, bool power_failure, struct error *err)
{
        if (!s->disk)
                return error_set(err, ERR_INVALID, "the state of these servers is in memory only");
        log_info(s->options.log, "servers die", "power", power_failure ? "fails" : "stays");
        sim_disk_set_halted(s->disk, true);
        TRY(listen(s, false, err));
        close_devcluster(s);
        mirror_commit(s->mirror, false);
        sim_disk_set_halted(s->disk, false);
        if (power_failure)
                sim_disk_lose_unsynced(s->disk);
        TRY(fiber_sleep(s->loop, AWAY_MS));
        TRY(open_devcluster(s, err));
        TRY(compare(s, err));
        return listen(s, true, err);
}

int sim_server_set_disk_full(struct sim_server *s, bool full, struct error *err)
{
        if (!s->disk)
                return error_set(err, ERR_INVALID, "the state of these servers is in memory only");
        sim_disk_set_full(s->disk, full);
        return s->failed && !full ? sim_server_kill(s, false, err) : 0;
}
