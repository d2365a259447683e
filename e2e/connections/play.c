/* How a scene goes: something is wrong when the agent starts, is mended, goes wrong again while it runs, is
 * mended. Each time one line says so, /readyz names it while it lasts, an Event tells of it on the other
 * side, and the agent works again without a restart. */
#include "e2e/connections/play.h"

#include <stdarg.h>
#include <stdio.h>

#include "common/base/memory.h"
#include "common/json/doc.h"

#define PATIENCE_MS 600000 /* what failed is tried again at growing distances, on busy machines too */
#define LOOK_MS 20
#define LOG_MAX_BYTES (16u << 20)
#define FLEET "cluster.kubernetes-fleet.io"
#define MEMBER_NS "fleet-member-m1"

static const struct kube_resource namespaces = { "", "v1", "namespaces", "Namespace", false };
static const struct kube_resource config_maps = { "", "v1", "configmaps", "ConfigMap", true };
static const struct kube_resource events = { "", "v1", "events", "Event", true };
static const struct kube_resource member_clusters = { FLEET, "v1beta1", "memberclusters", "MemberCluster",
                                                      false };
static const struct kube_resource reports = { FLEET, "v1beta1", "internalmemberclusters",
                                              "InternalMemberCluster", true };
static const struct kube_resource works = { "placement.kubernetes-fleet.io", "v1beta1", "works", "Work",
                                            true };

/* ---- the log ---- */

static char *read_log(struct scene *s)
{
        const struct world *w = &s->b->world;
        char *text = NULL;
        size_t n;

        if (w->files->read(w->ctx, s->log_path, LOG_MAX_BYTES, &text, &n, NULL) < 0)
                return mem_strdup("");
        return text;
}

void scene_fail(struct scene *s, const char *fmt, ...)
{
        AUTO_FREE char *log = NULL;
        va_list ap;

        if (s->failed)
                return;
        s->failed = true;
        log = read_log(s);
        printf("FAILED %s, round %u: ", s->name, s->round);
        va_start(ap, fmt);
        vprintf(fmt, ap);
        va_end(ap);
        printf("\n%.6000s\n", log && strlen(log) > 6000 ? log + strlen(log) - 6000 : log);
}

static size_t count(const char *text, const char *what)
{
        size_t n = 0;

        for (const char *at = text; (at = strstr(at, what)); at++)
                n++;
        return n;
}

/* ---- waiting for a condition ---- */

typedef bool (*condition)(struct scene *s, const char *what, const char *more);

static void wait_until(struct scene *s, condition is_so, const char *what, const char *more)
{
        int64_t deadline_ms = loop_now_ms(s->b->loop) + PATIENCE_MS;

        while (!s->failed && !is_so(s, what, more)) {
                if (!process_running(s->agent))
                        scene_fail(s, "the agent ended, waiting for: %s %s", what, more ? more : "");
                else if (loop_now_ms(s->b->loop) > deadline_ms)
                        scene_fail(s, "never came: %s %s", what, more ? more : "");
                else if (fiber_sleep(s->b->loop, LOOK_MS) < 0)
                        scene_fail(s, "cancelled");
        }
}

static bool is_right(const struct scene *s)
{
        return text_equal(s->c->reason, KUBE_REASON_RIGHT_MISSING);
}

/* How often the agent was told that it may not look at a kind that it looks at all the time on that side.
 * Whether it lists or watches when a right goes is its own affair. */
static size_t missed(const struct scene *s, const char *log)
{
        bool own = s->side == MEMBER_OWN;

        return count(log, own ? "agent\\\" cannot list resource \\\"appliedworks\\\""
                              : "agent\\\" cannot list resource \\\"works\\\"") +
               count(log, own ? "agent\\\" cannot watch resource \\\"appliedworks\\\""
                              : "agent\\\" cannot watch resource \\\"works\\\"");
}

static bool is_in_log(struct scene *s, const char *what, const char *more)
{
        AUTO_FREE char *log = read_log(s);

        return count(log, what) >= (is_right(s) ? 1 : s->round);
}

static bool is_missed(struct scene *s, const char *what, const char *more)
{
        AUTO_FREE char *log = read_log(s);

        return missed(s, log) >= s->round;
}

/* `more` NULL: nothing about connections stands there any more. */
static bool shows_in_readyz(struct scene *s, const char *what, const char *more)
{
        char url[64];
        struct http_endpoint e = { .base_url = url };
        struct http_request rq = { .endpoint = &e,
                                   .method = "GET",
                                   .path = "/readyz",
                                   .deadline_ms = loop_now_ms(s->b->loop) + 5000 };
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct http_response r;

        snprintf(url, sizeof(url), "http://127.0.0.1:%d", s->health_port);
        if (http_roundtrip(s->b->world.transport, &rq, &arena, &r, NULL) < 0)
                return false;
        return more ? strstr(r.body.data, more) != NULL : r.status == 200 && text_equal(r.body.data, "ok\n");
}

static bool has_event(struct scene *s, const char *reason, const char *words)
{
        struct kube_client *k = s->side == MEMBER_HUB ? &s->member : &s->hub;
        const char *ns = s->side == MEMBER_HUB ? "default" : MEMBER_NS;
        AUTO_JSON json_t *items = NULL;
        json_t *item;
        size_t i;

        if (kube_doc_list(k, &events, ns, NULL, &items, NULL) < 0)
                return false;
        json_array_foreach(items, i, item)
                if (text_equal(doc_get_string(item, "reason"), reason) &&
                    strstr(doc_get_string(item, "message"), words) &&
                    (size_t)doc_get_int(item, "count", 0) >= 1)
                        return true;
        return false;
}

static bool exists(struct scene *s, const char *name, const char *ns)
{
        AUTO_JSON json_t *doc = NULL;

        return ns ? kube_doc_get(&s->member, &config_maps, ns, name, &doc, NULL) == 0
                  : kube_doc_get(&s->hub, &namespaces, NULL, name, &doc, NULL) == 0;
}

/* ---- signs of life ---- */

static const char *heartbeat(struct scene *s)
{
        AUTO_JSON json_t *doc = NULL;
        json_t *status;
        const char *at;

        (void)kube_doc_get(&s->hub, &reports, MEMBER_NS, "m1", &doc, NULL);
        status = json_array_get(doc_get_array(doc, "status.agentStatus"), 0);
        at = doc_get_string(status, "lastReceivedHeartbeat");
        return arena_strdup(&s->arena, at ? at : "");
}

static bool beats_again(struct scene *s, const char *what, const char *before)
{
        return !text_equal(heartbeat(s), before);
}

static void invite(struct scene *s)
{
        scene_create(s, &s->hub, &namespaces, NULL,
                     json_pack("{s:s, s:s, s:{s:s}}", "apiVersion", "v1", "kind", "Namespace", "metadata",
                               "name", MEMBER_NS));
        scene_create(s, &s->hub, &reports, MEMBER_NS,
                     json_pack("{s:s, s:s, s:{s:s}, s:{s:s, s:i}}", "apiVersion", FLEET "/v1beta1", "kind",
                               "InternalMemberCluster", "metadata", "name", "m1", "spec", "state", "Join",
                               "heartbeatPeriodSeconds", 1));
        scene_create(s, &s->hub, &works, MEMBER_NS,
                     json_pack("{s:s, s:s, s:{s:s}, s:{s:{s:[{s:s, s:s, s:{s:s, s:s}, s:{s:s}}]}}}",
                               "apiVersion", "placement.kubernetes-fleet.io/v1beta1", "kind", "Work",
                               "metadata", "name", "w", "spec", "workload", "manifests", "apiVersion", "v1",
                               "kind", "ConfigMap", "metadata", "name", "placed", "namespace", "default",
                               "data", "color", "blue"));
}

/* A hub-agent works if a new member gets its namespace; a member-agent if it reports and applies. */
static void expect_work(struct scene *s)
{
        const char *name = arena_printf(&s->arena, "m%u", s->round + 1);

        if (s->failed)
                return;
        if (s->side == HUB_AGENT) {
                scene_create(s, &s->hub, &member_clusters, NULL,
                             json_pack("{s:s, s:s, s:{s:s}, s:{s:{s:s, s:s}}}", "apiVersion",
                                       FLEET "/v1beta1", "kind", "MemberCluster", "metadata", "name", name,
                                       "spec", "identity", "kind", "User", "name", "u"));
                wait_until(s, exists, arena_printf(&s->arena, "fleet-member-%s", name), NULL);
                return;
        }
        wait_until(s, beats_again, "heartbeat", heartbeat(s));
        wait_until(s, exists, "placed", "default");
}

/* What somebody removed on the member comes back: also while the hub is away. */
static void expect_drift_is_undone(struct scene *s)
{
        struct error err = { 0 };

        if (s->failed)
                return;
        scene_check(s, kube_doc_delete(&s->member, &config_maps, "default", "placed", NULL, NULL, &err), &err,
                    "drift");
        wait_until(s, exists, "placed", "default");
}

/* ---- the play ---- */

static const char *title(const struct scene *s)
{
        return s->side == HUB_AGENT    ? "the hub's API server"
               : s->side == MEMBER_HUB ? "the hub"
                                       : "this cluster's API server";
}

static const char *words(const struct scene *s)
{
        return kube_trouble_named(s->c->reason)->words;
}

static const char *told(struct scene *s)
{
        return arena_printf(&s->arena, "%s cannot be used: %s", title(s), words(s));
}

static const char *over(struct scene *s)
{
        return arena_printf(&s->arena, is_right(s) ? "%s: the right is there" : "%s can be used", title(s));
}

static void expect_trouble(struct scene *s)
{
        const char *side = s->side == MEMBER_OWN ? "member" : "hub";

        if (is_right(s))
                wait_until(s, is_missed, "a right that the agent is told of as missing", NULL);
        else
                wait_until(s, is_in_log, told(s), NULL);
        wait_until(s, shows_in_readyz, "/readyz:", arena_printf(&s->arena, "%s: %s\n", side, words(s)));
        if (s->side != HUB_AGENT)
                wait_until(s, has_event, is_right(s) ? "RightMissing" : "ConnectionFailed", words(s));
}

static void expect_mended(struct scene *s)
{
        wait_until(s, is_in_log, over(s), NULL);
        wait_until(s, shows_in_readyz, "/readyz without trouble", NULL);
        if (s->side != HUB_AGENT)
                wait_until(s, has_event, is_right(s) ? "RightRestored" : "ConnectionRestored", words(s));
        expect_work(s);
}

static void check_line(struct scene *s, struct slice line)
{
        const char *text = arena_strndup(&s->arena, line.data, line.len);
        bool loud = strstr(text, " WARN ") || strstr(text, " ERROR ");

        if (!loud || strstr(text, is_right(s) ? ": a right is missing" : told(s)))
                return;
        /* Certificate and key are two files, and the agent may look between their writing. */
        if (s->c->client_certificate && strstr(text, "certificate and key do not belong to each other"))
                return;
        /* TLS 1.3 says no when the first requests are under way: one of them is told why, the others, which
         * may come to their end first, that the connection has ended. */
        if (s->c->client_certificate && strstr(text, "was not closed cleanly"))
                return;
        /* While a stand becomes another one, nobody listens for a moment. */
        if (strstr(text, "connection refused"))
                return;
        scene_fail(s, "said besides: %s", text);
}

/* One line for each change, and no other complaint. */
static void check_log(struct scene *s)
{
        AUTO_FREE char *log = read_log(s);
        struct slice rest = slice_of(log), line;
        size_t begun, ended;

        if (s->failed)
                return;
        begun = is_right(s) ? count(log, ": a right is missing") : count(log, told(s));
        ended = count(log, over(s));
        if (begun != ended || (is_right(s) ? missed(s, log) < s->round : begun != s->round))
                scene_fail(s, "said %zu times it is wrong and %zu times it is over, in %u rounds", begun,
                           ended, s->round);
        while (rest.len > 0) {
                slice_cut(&rest, '\n', &line);
                check_line(s, line);
        }
}

static void play_round(struct scene *s)
{
        s->c->spoil(s);
        if (!s->agent)
                scene_start_agent(s);
        expect_trouble(s);
        if (s->round > 1 && s->side == MEMBER_HUB)
                expect_drift_is_undone(s);
        s->c->mend(s);
        expect_mended(s);
}

void scene_play(struct scene *s)
{
        if (s->side != HUB_AGENT)
                invite(s);
        for (s->round = 1; s->round <= (s->c->at_start_only ? 1u : 2u) && !s->failed; s->round++)
                play_round(s);
        s->round--;
        check_log(s);
}
