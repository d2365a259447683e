/* Who is silent: spec/membership-webhooks-charts.md 2.4, 3; spec/scheduler.md 11.2.
 *
 * That nothing was heard of a member is known only by who could hear. The agent's view of the reports
 * (InternalMemberClusters) comes by a watch, which may be cut, opened again and again, or alive and minutes
 * behind, and nothing that it brings tells how late it is: a bookmark or an event that comes now may have
 * been sent long ago. So the cache alone proves that a member spoke, and never that it did not. Before a
 * member is called silent the API server is asked for its report. What it has is as new as the moment in
 * which it was asked, and goes into the cache: a newer heartbeat counts as if the watch had told it. A server
 * that does not answer proves nothing; then the member stays as it is shown, and is asked for again after the
 * usual pauses.
 *
 * One place concludes from silence, the membership controller, and says it on the MemberCluster (Healthy
 * Unknown, MemberAgentHeartbeatLost). The scheduler and the ClusterProfiles go by what is said there, not by
 * a clock of their own, so a late view of MemberClusters cannot call anybody silent either: struct patience
 * in scheduler.h has the one exception.
 *
 * - A member that dies while the view is late is told as soon as without: when its time is over the server is
 *   asked, and has nothing newer. While the server does not answer it is told at the next try behind that.
 * - A silent member is asked for again once in the time after which it was called so: it is heard again
 * though the watch may be late.
 * - A watch that never comes back costs a request for each member in that time. What is wrong then is the
 *   agent's, and it says so of itself: a line of its log and METRIC_MEMBERS_HEARD_LATE.
 * - A new leader, and an agent that starts again, has a cache as new as its list, and asks all the same.
 * - Clocks: a heartbeat is written by the member's clock, and its age is counted by this agent's. A member's
 *   clock that is behind by more than its time makes it look silent, however often it speaks, and one that is
 *   ahead makes its silence be told later by as much. A request decides by the time before it was made. */
#pragma once

#include "hub-agent/common.h"

struct hub_agent;

struct hearing {
        bool heard_late; /* ever */
        int64_t late_ms; /* loop: when the server last had heard more than the watch had told */
};

/* Asks the server. 0, and *report is what it has if that is newer (for the length of the reconcile). A report
 * that is gone says nothing new. Else why it cannot be known, as kube_get(). */
int hearing_ask(struct reconcile *rc, const struct internal_member_cluster **report);
