#include "member-agent/connections.h"

#include "proto/names.h"

/* The hub's troubles: about our own Pod, on our own cluster. */
static void tell_own_cluster(struct member_agent *a, const char *type, const char *reason,
                             const char *message)
{
        const struct member_agent_options *o = a->options;
        const struct object pod = { .kind = &pod_kind,
                                    .meta = { .name = o->pod_name ? o->pod_name : "member-agent",
                                              .ns = agent_namespace(a),
                                              .uid = o->pod_uid } };

        event_record(a->manager ? manager_events(a->manager) : NULL, &pod, type, reason, "%s", message);
}

/* Our own cluster's troubles: about our InternalMemberCluster, on the hub. */
static void tell_hub(struct member_agent *a, const char *type, const char *reason, const char *message)
{
        const struct object *known =
                a->clusters ? informer_get(a->clusters, a->ns, a->options->member_name) : NULL;
        const struct object unknown = { .kind = &internal_member_cluster_kind,
                                        .meta = { .name = a->options->member_name, .ns = a->ns } };

        event_record(a->hub_events, known ? known : &unknown, type, reason, "%s", message);
}

static bool is_right(const struct kube_connection_change *change)
{
        return text_equal(change->trouble->reason, KUBE_REASON_RIGHT_MISSING);
}

static const char *reason_of(const struct kube_connection_change *change)
{
        if (change->unused)
                return EVENT_RIGHT_NOT_USED;
        if (is_right(change))
                return change->over ? EVENT_RIGHT_RESTORED : EVENT_RIGHT_MISSING;
        return change->over ? EVENT_CONNECTION_RESTORED : EVENT_CONNECTION_FAILED;
}

static void tell(struct member_agent *a, const struct kube_connection_change *change, const char *title,
                 void (*to)(struct member_agent *, const char *, const char *, const char *))
{
        char message[ERROR_TEXT_MAX];

        if (!change->trouble)
                return;
        if (change->unused)
                snprintf(message, sizeof(message),
                         "%s: a right that was missing is not used any more: %.700s", title, change->detail);
        else if (change->over)
                snprintf(message, sizeof(message), "%s: over: %s%s%.700s", title, change->trouble->words,
                         change->detail[0] ? ": " : "", change->detail);
        else
                snprintf(message, sizeof(message), "%s: %s: %.700s", title, change->trouble->words,
                         change->detail);
        to(a, change->over ? "Normal" : "Warning", reason_of(change), message);
}

static void hub_changed(void *ctx, const struct kube_connection_change *change)
{
        struct member_agent *a = ctx;

        connection_metrics_note(a->metrics, change);
        tell(a, change, "connection to the hub", tell_own_cluster);
}

/* What was refused for want of a right need not wait for its next turn. */
static void try_again(struct member_agent *a)
{
        struct error err = { 0 };

        if (a->joined && a->manager && a->works && agent_enqueue_all(a, QUEUE_LOW, &err) < 0)
                log_warn(a->log, "Works that were refused wait for their next turn", "error", err.text);
}

static void member_changed(void *ctx, const struct kube_connection_change *change)
{
        struct member_agent *a = ctx;

        connection_metrics_note(a->metrics, change);
        tell(a, change, "connection to the member cluster", tell_hub);
        if (change->over && !change->unused && change->trouble && is_right(change))
                try_again(a);
}

int connections_open(struct member_agent *a, struct error *err)
{
        const struct kube_connection_options hub = { &a->hub, "hub", "the hub", hub_changed, a };
        const struct kube_connection_options member = { &a->member, "member", "this cluster's API server",
                                                        member_changed, a };

        a->member_connection = kube_connection_new(a->group, &member);
        a->hub_connection = a->member_connection ? kube_connection_new(a->group, &hub) : NULL;
        return a->hub_connection ? 0 : error_no_memory(err);
}

void connections_close(struct member_agent *a)
{
        a->hub_connection = kube_connection_free(a->hub_connection);
        a->member_connection = kube_connection_free(a->member_connection);
}
