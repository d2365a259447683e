#include "hub-agent/membership/hearing.h"

#include "hub-agent/agent.h"

#define TELL_AGAIN_MS (5 * 60 * 1000) /* for so long nothing of the kind: that it is late is news again */

/* TIME_NONE, which is before all times, if there was none. */
static int64_t last_heartbeat(const struct internal_member_cluster *report)
{
        int64_t last = TIME_NONE;

        for (uint32_t i = 0; report->status && i < report->status->agent_status.n; i++)
                last = MAX(last, report->status->agent_status.at[i].last_received_heartbeat);
        return last;
}

static void note_late(struct reconcile *rc)
{
        struct hub_agent *a = agent_of(rc);
        struct hearing *h = &a->hearing;
        int64_t now = loop_now_ms(a->world->loop);

        metric_add(a->metrics, METRIC_MEMBERS_HEARD_LATE, 1, NULL);
        if (!h->heard_late || now - h->late_ms > TELL_AGAIN_MS)
                log_warn(&rc->log,
                         "the watch of internalmemberclusters is late: the API server is asked for members "
                         "that would look silent",
                         "member", rc->name);
        h->heard_late = true;
        h->late_ms = now;
}

int hearing_ask(struct reconcile *rc, const struct internal_member_cluster **report)
{
        const struct object *shown = &(*report)->object, *newest;
        int code = rc_get_newest(rc, shown->kind, shown->meta.ns, shown->meta.name, &newest);

        if (code == ERR_NOT_FOUND) {
                error_clear(rc->err);
                return 0;
        }
        if (code < 0)
                return code;
        if (!text_equal(newest->meta.uid, shown->meta.uid) ||
            text_equal(newest->meta.resource_version, shown->meta.resource_version))
                return 0;
        if (last_heartbeat((const struct internal_member_cluster *)newest) > last_heartbeat(*report))
                note_late(rc);
        *report = (const struct internal_member_cluster *)newest;
        return 0;
}
