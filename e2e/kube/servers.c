/* The command lines of the real programs, and how to tell that they are ready. Each is started through
 * `kube-clusters launch` (main_kube-clusters.c), so that the kernel ends it when we are gone. */
#include <stdlib.h>
#include <unistd.h>

#include "common/kube/mapping.h"
#include "e2e/kube/internal.h"

#define POLL_MS 50
#define FLAGS_MAX 64
#define ETCD_QUOTA (16LL << 30) /* its default of 2 GiB is less than a large fleet with its history */

/* ---- starting ---- */

struct command {
        struct arena *arena;
        const char *at[FLAGS_MAX + 1];
        size_t n;
        bool failed; /* no memory for a word */
};

static void add(struct command *c, const char *word)
{
        ASSERT(c->n < FLAGS_MAX);
        c->failed |= word == NULL;
        c->at[c->n++] = word;
}

#define ADD(c, ...) add((c), arena_printf((c)->arena, __VA_ARGS__))

static void begin(struct command *c, struct arena *arena, const struct kube_clusters *k, const char *program)
{
        *c = (struct command){ .arena = arena };
        ADD(c, "/proc/self/exe");
        ADD(c, "launch");
        ADD(c, "%d", (int)getpid());
        ADD(c, "%s/%s", k->o.assets, program);
}

static int run(struct kube_clusters *k, struct command *c, const char *log, struct process **ret,
               struct error *err)
{
        /* Several API servers share one machine, but a limit close to what they need costs more CPU than it
         * saves memory: a hub with all CRDs takes 400 MiB. */
        static const char *const environment[] = { "GOMEMLIMIT=800MiB", NULL };
        const char *given = getenv("GOMEMLIMIT"); /* of who has one API server with much in it */

        if (c->failed)
                return error_no_memory(err);
        return process_start(k->world->loop, c->at, text_empty(given) ? environment : NULL, log, ret, err);
}

int server_start_etcd(struct kube_clusters *k, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct command c;
        int peer = held_port_number(k->etcd_peer_port);

        begin(&c, &arena, k, "etcd");
        ADD(&c, "--name=etcd");
        ADD(&c, "--data-dir=%s/etcd", k->o.data);
        ADD(&c, "--listen-client-urls=%s", k->etcd_url);
        ADD(&c, "--advertise-client-urls=%s", k->etcd_url);
        ADD(&c, "--listen-peer-urls=http://127.0.0.1:%d", peer);
        ADD(&c, "--initial-advertise-peer-urls=http://127.0.0.1:%d", peer);
        ADD(&c, "--initial-cluster=etcd=http://127.0.0.1:%d", peer);
        ADD(&c, "--socket-reuse-port=true");
        ADD(&c, "--unsafe-no-fsync=true");
        ADD(&c, "--max-txn-ops=100000");
        ADD(&c, "--max-request-bytes=67108864");
        ADD(&c, "--quota-backend-bytes=%lld", (long long)ETCD_QUOTA);
        ADD(&c, "--log-level=warn");
        return run(k, &c, arena_printf(&arena, "%s/etcd.log", k->o.data), &k->etcd, err);
}

int server_start_api(struct kube_cluster *k, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct command c;

        begin(&c, &arena, k->all, "kube-apiserver");
        ADD(&c, "--etcd-servers=%s", k->all->etcd_url);
        ADD(&c, "--etcd-prefix=/%s", k->name);
        ADD(&c, "--bind-address=127.0.0.1");
        ADD(&c, "--secure-port=%d", held_port_number(k->port));
        ADD(&c, "--permit-port-sharing=true");
        ADD(&c, "--endpoint-reconciler-type=none");
        ADD(&c, "--tls-cert-file=%s/apiserver.crt", k->folder);
        ADD(&c, "--tls-private-key-file=%s/apiserver.key", k->folder);
        ADD(&c, "--client-ca-file=%s/ca.crt", k->folder);
        ADD(&c, "--service-account-issuer=https://kubernetes.default.svc.cluster.local");
        ADD(&c, "--service-account-key-file=%s/sa.crt", k->folder);
        ADD(&c, "--service-account-signing-key-file=%s/sa.key", k->folder);
        ADD(&c, "--service-cluster-ip-range=10.96.0.0/16");
        ADD(&c, "--authorization-mode=RBAC");
        ADD(&c, "--allow-privileged=true");
        ADD(&c, "--event-ttl=10m");
        ADD(&c, "--profiling=false");
        ADD(&c, "--shutdown-delay-duration=0s");
        if (!text_empty(k->all->o.audit_policy)) {
                ADD(&c, "--audit-policy-file=%s", k->all->o.audit_policy);
                ADD(&c, "--audit-log-path=%s/audit.log", k->folder);
        }
        return run(k->all, &c, arena_printf(&arena, "%s/kube-apiserver.log", k->folder), &k->api_server, err);
}

/* What the controller manager and the scheduler both get. */
static void begin_client(struct command *c, struct arena *arena, struct kube_cluster *k, const char *program)
{
        begin(c, arena, k->all, program);
        ADD(c, "--kubeconfig=%s", k->kubeconfig);
        ADD(c, "--secure-port=0");
        ADD(c, "--leader-elect=false");
        ADD(c, "--profiling=false");
}

int server_start_controller_manager(struct kube_cluster *k, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct command c;

        begin_client(&c, &arena, k, "kube-controller-manager");
        ADD(&c, "--root-ca-file=%s/ca.crt", k->folder);
        ADD(&c, "--service-account-private-key-file=%s/sa.key", k->folder);
        ADD(&c, "--cluster-signing-cert-file=%s/ca.crt", k->folder);
        ADD(&c, "--cluster-signing-key-file=%s/ca.key", k->folder);
        ADD(&c, "--kube-api-qps=300");
        ADD(&c, "--kube-api-burst=600");
        /* No node has a heartbeat or a volume. */
        ADD(&c, "--controllers=*,-node-lifecycle-controller,-taint-eviction-controller,-node-ipam-controller,"
                "-persistentvolume-attach-detach-controller,-persistentvolume-expander-controller");
        return run(k->all, &c, arena_printf(&arena, "%s/kube-controller-manager.log", k->folder),
                   &k->controller_manager, err);
}

int server_start_scheduler(struct kube_cluster *k, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct command c;

        begin_client(&c, &arena, k, "kube-scheduler");
        return run(k->all, &c, arena_printf(&arena, "%s/kube-scheduler.log", k->folder), &k->scheduler, err);
}

/* ---- readiness ---- */

/* Between two looks. err holds what the last look said. */
static int wait_more(struct kube_clusters *k, const struct process *p, const char *what, int64_t deadline_ms,
                     struct error *err)
{
        if (!process_running(p))
                return error_set(err, ERR_SYSTEM, "%s ended; its log is below %s", what, k->o.data);
        if (loop_now_ms(k->world->loop) >= deadline_ms)
                return error_wrap(err, "%s did not become ready; its log is below %s", what, k->o.data);
        return fiber_sleep(k->world->loop, POLL_MS);
}

static int ask_etcd(struct kube_clusters *c, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const struct http_request rq = { .endpoint = &c->etcd_endpoint,
                                         .method = "GET",
                                         .path = "/health",
                                         .deadline_ms = loop_now_ms(c->world->loop) + 2000 };
        struct http_response r;

        TRY(http_roundtrip(c->world->transport, &rq, &arena, &r, err));
        return r.status == 200 ? 0 : error_set(err, ERR_RETRY, "/health: %d", r.status);
}

int server_wait_etcd(struct kube_clusters *c, int64_t deadline_ms, struct error *err)
{
        while (ask_etcd(c, err) < 0)
                TRY(wait_more(c, c->etcd, "etcd", deadline_ms, err));
        return 0;
}

int server_wait_api(struct kube_cluster *k, int64_t deadline_ms, struct error *err)
{
        for (;;) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                struct http_response r;

                if (kube_raw(&k->client, "GET", "/readyz", NULL, (struct slice){ 0 }, &arena, &r, err) == 0)
                        return 0;
                if (wait_more(k->all, k->api_server, "kube-apiserver", deadline_ms, err) < 0)
                        return error_wrap(err, "%s", k->name);
        }
}

int server_wait_controller_manager(struct kube_cluster *k, int64_t deadline_ms, struct error *err)
{
        static const struct kube_resource accounts = { "", "v1", "serviceaccounts", "ServiceAccount", true };

        for (;;) {
                AUTO_JSON json_t *doc = NULL;

                if (kube_doc_get(&k->client, &accounts, "default", "default", &doc, err) == 0)
                        return 0;
                if (wait_more(k->all, k->controller_manager, "kube-controller-manager", deadline_ms, err) < 0)
                        return error_wrap(err, "%s", k->name);
        }
}
