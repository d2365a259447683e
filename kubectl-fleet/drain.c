/* kubectl fleet draincluster: spec/staged-update-and-eviction.md 17.2. */
#include "common/base/vec.h"
#include "kubectl-fleet/command.h"
#include "kubectl-fleet/cordon.h"
#include "proto/gen/kinds.h"
#include "proto/names.h"

#define CREATE_ATTEMPTS 4
#define POLL_MS 1000
#define NAME_EVICTION "drain-eviction-%s-%s-%08x" /* placement, cluster, random digits */

struct names {
        const char **at;
        size_t n, cap;
};

/* One pass. */
struct pass {
        struct session *s;
        const char *cluster;
        struct names placements;
        bool blocked;        /* something was not evicted */
        struct error denied; /* the first eviction that could not be asked for */
        struct error *err;   /* of the listing */
};

/* ---- what is on the cluster ---- */

static int note_placement(void *ctx, struct object *o)
{
        struct pass *p = ctx;
        const struct binding *b = (const struct binding *)o;
        const char *placement = string_map_get(&o->meta.labels, LABEL_PARENT_PLACEMENT);

        if (!b->spec || !text_equal(b->spec->target_cluster, p->cluster) || o->meta.deletion_ms != TIME_NONE)
                return 0;
        if (text_empty(placement))
                return error_set(p->err, ERR_INVALID, "failed to get CRP name from binding %s", o->meta.name);
        placement = arena_strdup(p->s->arena, placement);
        return placement && vec_push(&p->placements, placement) == 0 ? 0 : ERR_NO_MEMORY;
}

static int by_text(const void *a, const void *b)
{
        return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void sort_out(struct names *l)
{
        size_t n = 0;

        if (l->n)
                qsort(l->at, l->n, sizeof(*l->at), by_text);
        for (size_t i = 0; i < l->n; i++)
                if (n == 0 || strcmp(l->at[n - 1], l->at[i]) != 0)
                        l->at[n++] = l->at[i];
        l->n = n;
}

static int find_placements(struct pass *p, struct error *err)
{
        TRY(session_time_left(p->s, err));
        p->err = err;
        TRY(kube_list(&p->s->hub, &cluster_resource_binding_kind, NULL, NULL, DECODE_PROJECTION, NULL,
                      note_placement, p, NULL, err));
        sort_out(&p->placements);
        return 0;
}

/* ---- one eviction ---- */

struct one {
        struct pass *pass;
        const char *placement, *name;
        const struct eviction *eviction;
        char words[640]; /* "for CRP a targeting member cluster b" */
};

static int make_name(struct one *e, struct error *err)
{
        struct session *s = e->pass->s;
        uint32_t digits = (uint32_t)loop_random_u64(s->world->loop);

        e->name = arena_printf(s->arena, NAME_EVICTION, e->placement, e->pass->cluster, digits);
        if (!e->name)
                return error_no_memory(err);
        if (text_is_dns1123_subdomain(e->name))
                return 0;
        return error_set(err, ERR_INVALID,
                         "failed to format a qualified name for drain eviction object with CRP name %s, "
                         "cluster name %s: \"%s\" is no DNS-1123 subdomain of at most 253 characters",
                         e->placement, e->pass->cluster, e->name);
}

static int create_once(struct one *e, struct error *err)
{
        struct session *s = e->pass->s;
        struct eviction *o;

        TRY(make_name(e, err));
        o = (struct eviction *)object_new(&cluster_resource_placement_eviction_kind, NULL, e->name, s->arena);
        if (!o || !(o->spec = ARENA_NEW(s->arena, struct eviction_spec)))
                return error_no_memory(err);
        o->spec->placement_name = e->placement;
        o->spec->cluster_name = e->pass->cluster;
        TRY(session_time_left(s, err));
        return kube_create(&s->hub, &o->object, s->arena, NULL, err);
}

/* A name that is taken gets other digits. */
static int create(struct one *e, struct error *err)
{
        int64_t pause_ms = 10;
        int code = create_once(e, err);

        for (int i = 1; i < CREATE_ATTEMPTS && code == ERR_EXISTS; i++, pause_ms *= 5) {
                TRY(session_sleep(e->pass->s, pause_ms));
                error_clear(err);
                code = create_once(e, err);
        }
        if (code < 0 && e->name && text_is_dns1123_subdomain(e->name))
                return error_wrap(err, "failed to create eviction %s %s", e->name, e->words);
        if (code == 0)
                session_say(e->pass->s, "Created eviction %s %s", e->name, e->words);
        return code;
}

static const struct condition_list *conditions_of(const struct eviction *e)
{
        static const struct condition_list none;

        return e->status ? &e->status->conditions : &none;
}

static bool is_over(const struct eviction *e)
{
        return condition_is_false(conditions_of(e), CONDITION_VALID, e->object.meta.generation) ||
               condition_find(conditions_of(e), CONDITION_EXECUTED);
}

static int wait_for_end(struct one *e, struct error *err)
{
        struct session *s = e->pass->s;
        struct object *o;
        int64_t pause_ms = 10;
        int code;

        for (;; pause_ms = MIN(pause_ms * 5, POLL_MS)) {
                code = session_time_left(s, err);
                if (code == 0)
                        code = kube_get(&s->hub, &cluster_resource_placement_eviction_kind, NULL, e->name,
                                        s->arena, &o, err);
                if (code < 0 && code != ERR_TIMEOUT)
                        return error_wrap(err, "failed to wait for eviction %s %s to reach terminal state",
                                          e->name, e->words);
                e->eviction = code == 0 ? (struct eviction *)o : NULL;
                if (e->eviction && is_over(e->eviction))
                        return 0;
                code = code < 0 ? code : session_sleep(s, pause_ms);
                if (code == ERR_TIMEOUT)
                        return error_set(err, ERR_TIMEOUT,
                                         "failed to wait for eviction %s %s to reach terminal state: timed "
                                         "out waiting for the condition",
                                         e->name, e->words);
                TRY(code);
        }
}

/* Nothing is there to be evicted: that is as good. */
static bool is_harmless(const struct eviction *e)
{
        static const char *const messages[] = { MESSAGE_EVICTION_NO_PLACEMENT,
                                                MESSAGE_EVICTION_PLACEMENT_DELETING,
                                                MESSAGE_EVICTION_NO_DECISION };
        const struct condition *valid = condition_find(conditions_of(e), CONDITION_VALID);

        return valid && text_equal(valid->status, CONDITION_FALSE) &&
               text_in(valid->message, messages, ARRAY_LEN(messages));
}

static const char *or_quotes(const char *text)
{
        return text_empty(text) ? "''" : text;
}

/* What went away: the placement's own resources that lie in no namespace. */
static void tell_resources(struct one *e)
{
        struct session *s = e->pass->s;
        const struct placement *p;
        struct error err = { 0 };
        struct object *o;

        if (session_time_left(s, &err) < 0 ||
            kube_get(&s->hub, &cluster_resource_placement_kind, NULL, e->placement, s->arena, &o, &err) < 0) {
                session_say(s, "failed to get CRP %s: %s", e->placement, err.text);
                return;
        }
        p = (const struct placement *)o;
        for (uint32_t i = 0; p->status && i < p->status->selected_resources.n; i++) {
                const struct resource_identifier *r = &p->status->selected_resources.at[i];

                if (text_empty(r->ns))
                        session_say(s,
                                    "evicted resource %s/%s/%s/%s/%s propagated by CRP %s targeting member "
                                    "cluster %s",
                                    or_quotes(r->group), r->version, r->kind, or_quotes(r->ns), r->name,
                                    e->placement, e->pass->cluster);
        }
}

static void conclude(struct one *e)
{
        struct session *s = e->pass->s;
        const struct condition_list *l = conditions_of(e->eviction);
        const struct condition *executed = condition_find(l, CONDITION_EXECUTED);

        if (is_harmless(e->eviction)) {
                session_say(s, "eviction %s is invalid with reason %s but drain will succeed", e->name,
                            condition_find(l, CONDITION_VALID)->message);
                return;
        }
        if (!executed || !text_equal(executed->status, CONDITION_TRUE)) {
                const struct condition *why = executed ? executed : condition_find(l, CONDITION_VALID);

                session_say(s, "eviction %s was not executed successfully %s", e->name, e->words);
                if (why && !text_empty(why->message))
                        session_say(s, "  %s", why->message);
                e->pass->blocked = true;
                return;
        }
        session_say(s, "eviction %s was executed successfully %s", e->name, e->words);
        tell_resources(e);
}

/* What the hub refuses for this placement alone does not keep the others on the cluster. */
static int evict(struct pass *p, const char *placement, struct error *err)
{
        struct one e = { .pass = p, .placement = placement };
        int code;

        snprintf(e.words, sizeof(e.words), "for CRP %s targeting member cluster %s", placement, p->cluster);
        code = create(&e, err);
        if (code == ERR_FORBIDDEN || code == ERR_INVALID) {
                session_say(p->s, "%s", err->text);
                p->blocked = true;
                if (!p->denied.code)
                        p->denied = *err;
                error_clear(err);
                return 0;
        }
        TRY(code);
        TRY(wait_for_end(&e, err));
        conclude(&e);
        return 0;
}

/* ---- passes ---- */

static int drain_pass(struct pass *p, struct error *err)
{
        TRY(cordon(p->s, p->cluster, err));
        TRY(find_placements(p, err));
        if (p->placements.n == 0)
                session_say(p->s,
                            "There are currently no resources propagated to %s from fleet using "
                            "ClusterResourcePlacement resources",
                            p->cluster);
        for (size_t i = 0; i < p->placements.n; i++)
                TRY(evict(p, p->placements.at[i], err));
        return 0;
}

static int run_pass(struct session *s, const char *failure, const char *verdict, struct error *ret_denied,
                    struct error *err)
{
        struct pass p = { .s = s, .cluster = s->options.cluster_name };
        int code = drain_pass(&p, err);

        vec_free(&p.placements);
        if (code < 0)
                return error_wrap(err, "%s %s", failure, p.cluster);
        session_say(s, "%s was %ssuccessful for cluster %s", verdict, p.blocked ? "not " : "", p.cluster);
        *ret_denied = p.denied;
        return 0;
}

/* Both passes always: the second catches what came while the first was on its way. */
static int run_drain(struct session *s, struct error *err)
{
        struct error denied = { 0 };

        TRY(run_pass(s, "failed to drain member cluster", "drain", &denied, err));
        session_say(s, "retrying drain to ensure all resources propagated from hub cluster are evicted");
        TRY(run_pass(s, "failed to drain cluster on retry", "drain retry", &denied, err));
        session_say(s, "reminder: uncordon the cluster %s to remove cordon taint if needed",
                    s->options.cluster_name);
        if (!denied.code)
                return 0;
        *err = denied;
        return error_wrap(err, "failed to drain cluster on retry %s", s->options.cluster_name);
}

static const struct flag flags[] = {
        { "cluster-name", FLAG_STRING, "", OPTION(cluster_name), "Name of the MemberCluster.",
          .required = true, .completes = COMPLETES_CLUSTER },
        { "timeout", FLAG_DURATION, "5m", OPTION(timeout_ms),
          "How long all of it may take, waiting for evictions included." },
};

const struct command draincluster_command = {
        .name = "draincluster",
        .summary = "Take all placements off a member cluster",
        .about = "Put a taint on a member cluster that keeps placements away, and evict the "
                 "ClusterResourcePlacements\n"
                 "that are on it, each by an eviction, as far as their disruption budgets allow. This is "
                 "done twice,\n"
                 "to catch what came meanwhile.\n\n"
                 "The exit code is 0 also where budgets kept something on the cluster: the output tells, and "
                 "the\n"
                 "evictions stay to be looked at. ResourcePlacements stay: there are no evictions of them.",
        .examples = "kubectl fleet draincluster --cluster-name edge-1 --hub-cluster-context hub\n"
                    "kubectl fleet uncordoncluster --cluster-name edge-1 --hub-cluster-context hub",
        .most = WORDS_ANY,
        .flags = { flags, ARRAY_LEN(flags) },
        .shared = SHARED_HUB,
        .hub_required = true,
        .published = true,
        .run = run_drain,
};
