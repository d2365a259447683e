#include "hub-agent/membership/membership.h"

#include "common/base/limits.h"

#define DEFAULT_PERIOD_S 60
#define HEARTBEAT_GRACE_MS 60000 /* of the flag cluster-unhealthy-threshold */
#define GRACE_FOR_DELAYS_MS 5000

#define OWNER_FORMAT "{s:s, s:s, s:s, s:s, s:b}"

static json_t *owner(const struct member_cluster *c)
{
        return json_pack(OWNER_FORMAT, "apiVersion", GROUP_CLUSTER "/" VERSION_STORAGE, "kind",
                         "MemberCluster", "name", c->object.meta.name, "uid", or_empty(c->object.meta.uid),
                         "controller", 1);
}

static json_t *metadata(const struct member_cluster *c, const char *prefix, bool in_namespace)
{
        const char *name = c->object.meta.name;
        json_t *m = json_pack("{s:[o]}", "ownerReferences", owner(c)), *text;

        text = json_sprintf("%s%s", prefix, name);
        if (!m || !text || json_object_set_new(m, "name", text) < 0)
                return json_decref(m), NULL;
        if (in_namespace &&
            json_object_set_new(m, "namespace", json_sprintf(NAME_MEMBER_NAMESPACE, name)) < 0)
                return json_decref(m), NULL;
        return m;
}

json_t *member_namespace_doc(const struct member_cluster *c)
{
        json_t *doc = json_pack("{s:s, s:s, s:o}", "apiVersion", "v1", "kind", "Namespace", "metadata",
                                metadata(c, NAMESPACE_MEMBER_PREFIX, false));

        if (doc && json_object_set_new(json_object_get(doc, "metadata"), "labels",
                                       json_pack("{s:s}", LABEL_IS_FLEET_RESOURCE, "true")) < 0)
                return json_decref(doc), NULL;
        return doc;
}

/* The rights of a member in its namespace: it reads its Works and its own report object, writes their
 * statuses and its finalizer on Works, and records events. Kubernetes has no narrower right for a finalizer
 * than update and patch on the object; the chart's admission policy (files/member-policy.yaml) takes back the
 * rest. It knows members by what they lack: the right to delete Works. `update` is for agents that do not
 * patch. The hub-agent holds all of it itself (charts/hub-agent/files/rules.yaml), so that it may grant it
 * without the rights to escalate or bind. Networking agents exchange objects of their own group there, all of
 * them (spec 2.3).
 */
json_t *member_role_doc(const struct member_cluster *c, bool networking_agents)
{
        json_t *rules = json_pack(
                "[{s:[s], s:[s], s:[s,s,s,s,s]}, {s:[s], s:[s], s:[s,s,s]}, {s:[s], s:[s], s:[s,s,s]},"
                " {s:[s], s:[s], s:[s,s,s]}, {s:[s], s:[s], s:[s,s]}]",
                "apiGroups", GROUP_PLACEMENT, "resources", "works", "verbs", "get", "list", "watch", "update",
                "patch", "apiGroups", GROUP_PLACEMENT, "resources", "works/status", "verbs", "get", "update",
                "patch", "apiGroups", GROUP_CLUSTER, "resources", "internalmemberclusters", "verbs", "get",
                "list", "watch", "apiGroups", GROUP_CLUSTER, "resources", "internalmemberclusters/status",
                "verbs", "get", "update", "patch", "apiGroups", "", "resources", "events", "verbs", "create",
                "patch");

        if (networking_agents && rules &&
            json_array_append_new(rules, json_pack("{s:[s], s:[s], s:[s,s,s,s,s,s,s]}", "apiGroups",
                                                   GROUP_NETWORKING, "resources", "*", "verbs", "get", "list",
                                                   "watch", "create", "update", "patch", "delete")) < 0)
                return json_decref(rules), NULL;
        return json_pack("{s:s, s:s, s:o, s:o}", "apiVersion", "rbac.authorization.k8s.io/v1", "kind", "Role",
                         "metadata", metadata(c, "fleet-role-", true), "rules", rules);
}

static json_t *subject(const struct subject *s)
{
        bool needs_group =
                text_empty(s->api_group) && (text_equal(s->kind, "User") || text_equal(s->kind, "Group"));
        const char *group = needs_group ? "rbac.authorization.k8s.io" : or_empty(s->api_group);
        json_t *doc = json_pack("{s:s, s:s}", "kind", or_empty(s->kind), "name", or_empty(s->name));

        if (group[0])
                json_object_set_new(doc, "apiGroup", json_string(group));
        if (!text_empty(s->ns))
                json_object_set_new(doc, "namespace", json_string(s->ns));
        return doc;
}

json_t *member_role_binding_doc(const struct member_cluster *c)
{
        json_t *ref = json_pack("{s:s, s:s, s:o}", "apiGroup", "rbac.authorization.k8s.io", "kind", "Role",
                                "name", json_sprintf(NAME_MEMBER_ROLE, c->object.meta.name));

        return json_pack("{s:s, s:s, s:o, s:o, s:[o]}", "apiVersion", "rbac.authorization.k8s.io/v1", "kind",
                         "RoleBinding", "metadata", metadata(c, "fleet-rolebinding-", true), "roleRef", ref,
                         "subjects", subject(c->spec->identity));
}

static bool part_differs(const json_t *now, const json_t *wanted, const char *key)
{
        return !doc_equal(json_object_get(now, key), json_object_get(wanted, key));
}

static const json_t *wanted_owner(const json_t *wanted)
{
        return json_array_get(doc_get_array(wanted, "metadata.ownerReferences"), 0);
}

static bool has_owner(const json_t *now, const json_t *wanted)
{
        const json_t *reference;
        size_t i;

        json_array_foreach(doc_get_array(now, "metadata.ownerReferences"), i, reference)
                if (doc_equal(reference, wanted_owner(wanted)))
                        return true;
        return false;
}

bool member_object_differs(const json_t *now, const json_t *wanted, const char *part)
{
        return part_differs(now, wanted, part) || !has_owner(now, wanted);
}

bool member_role_ref_differs(const json_t *now, const json_t *wanted)
{
        return part_differs(now, wanted, "roleRef");
}

/* An object has one controller at most: another one gives way. */
static int mend_owner(json_t *now, const json_t *wanted)
{
        json_t *owners = json_array(), *reference;
        size_t i;

        json_array_foreach(doc_get_array(now, "metadata.ownerReferences"), i, reference)
                if (!json_is_true(json_object_get(reference, "controller")) &&
                    !text_equal(doc_get_string(reference, "uid"),
                                doc_get_string(wanted_owner(wanted), "uid")))
                        json_array_append(owners, reference);
        if (json_array_append_new(owners, doc_copy(wanted_owner(wanted))) < 0)
                return json_decref(owners), ERR_NO_MEMORY;
        return json_object_set_new(doc_get_object(now, "metadata"), "ownerReferences", owners) < 0
                       ? ERR_NO_MEMORY
                       : 0;
}

int member_object_mend(json_t *now, const json_t *wanted, const char *part)
{
        if (json_object_set(now, part, json_object_get(wanted, part)) < 0)
                return ERR_NO_MEMORY;
        return has_owner(now, wanted) ? 0 : mend_owner(now, wanted);
}

bool member_owns(const struct member_cluster *c, const struct object *o)
{
        for (uint16_t i = 0; i < o->meta.n_owners; i++)
                if (o->meta.owners[i].controller && text_equal(o->meta.owners[i].uid, c->object.meta.uid))
                        return true;
        return false;
}

struct internal_member_cluster *member_report_object(struct arena *arena, const struct member_cluster *c,
                                                     const char *state)
{
        const char *ns = arena_printf(arena, NAME_MEMBER_NAMESPACE, c->object.meta.name);
        struct internal_member_cluster *o =
                ns ? (struct internal_member_cluster *)object_new(&internal_member_cluster_kind, ns,
                                                                  c->object.meta.name, arena)
                   : NULL;

        if (!o || !(o->spec = ARENA_NEW(arena, struct internal_member_cluster_spec)) ||
            set_owner(&o->object, &c->object, false, arena) < 0)
                return NULL;
        o->spec->state = state;
        o->spec->heartbeat_period_seconds = c->spec->heartbeat_period_seconds;
        return o;
}

/* ---- status ---- */

struct building {
        struct arena *arena;
        const struct member_status_input *in;
        struct member_cluster_status *s;
        int64_t generation;
};

static int put(struct building *b, const char *type, const char *status, const char *reason,
               const char *message)
{
        struct condition c = make_condition(type, status, reason, message, b->generation);

        return c.message ? condition_set(&b->s->conditions, &c, b->in->now_ms, b->arena) : ERR_NO_MEMORY;
}

/* What a member says about itself is as long as it likes; what is taken over is not. */
static uint32_t cut(struct building *b, uint32_t n, uint32_t limit)
{
        if (n > limit && b->in->cut)
                *b->in->cut = true;
        return MIN(n, limit);
}

/* The list with observedGeneration set to the member's, as readers of the member expect. */
static int copy_conditions(struct building *b, const struct condition_list *from, struct condition_list *ret)
{
        *ret = *from;
        ret->n = cut(b, from->n, LIMIT_MEMBER_CONDITIONS);
        if (from->n == 0)
                return 0;
        ret->at = arena_memdup(b->arena, from->at, ret->n * sizeof(from->at[0]));
        if (!ret->at)
                return ERR_NO_MEMORY;
        for (uint32_t i = 0; i < ret->n; i++)
                ret->at[i].observed_generation = OPT_INT(b->generation);
        return 0;
}

static int64_t shown_heartbeat(const struct member_cluster *m, const char *agent)
{
        const struct agent_status *a =
                m->status ? member_agent_status(&m->status->agent_status, agent) : NULL;

        return a ? a->last_received_heartbeat : TIME_NONE;
}

static bool is_silent(const struct agent_status *a, const struct member_status_input *in)
{
        return in->silence_ms > 0 && a->last_received_heartbeat != TIME_NONE &&
               in->now_ms - a->last_received_heartbeat > in->silence_ms;
}

bool condition_tells_silence(const struct condition *healthy)
{
        return healthy && text_equal(healthy->reason, REASON_HEARTBEAT_LOST);
}

/* The report says the old thing with every pass, so the time comes from what was shown before. */
static void keep_transition(struct building *b, struct agent_status *a)
{
        const struct member_cluster_status *shown = b->in->member->status;
        const struct agent_status *before = shown ? member_agent_status(&shown->agent_status, a->type) : NULL;
        const struct condition *was = before ? condition_find(&before->conditions, CONDITION_HEALTHY) : NULL;

        for (uint32_t i = 0; condition_tells_silence(was) && i < a->conditions.n; i++)
                if (condition_tells_silence(&a->conditions.at[i]))
                        a->conditions.at[i].last_transition_ms = was->last_transition_ms;
}

/* An agent that is heard of no more cannot take back that it was healthy. */
static int doubt_silent_agents(struct building *b)
{
        for (uint32_t i = 0; i < b->s->agent_status.n; i++) {
                struct agent_status *a = &b->s->agent_status.at[i];
                char since[RFC3339_SIZE];
                struct condition c;

                if (!is_silent(a, b->in))
                        continue;
                time_format_rfc3339(a->last_received_heartbeat, since);
                c = make_condition(CONDITION_HEALTHY, CONDITION_UNKNOWN, REASON_HEARTBEAT_LOST,
                                   arena_printf(b->arena, "no heartbeat since %s", since), b->generation);
                if (!c.message || condition_set(&a->conditions, &c, b->in->now_ms, b->arena) < 0)
                        return ERR_NO_MEMORY;
                keep_transition(b, a);
        }
        return 0;
}

/* A heartbeat alone is copied when the one shown is older than asked for, or so old that the agent would look
 * silent, or of a time that is yet to come: a clock was set back since. */
static bool is_shown_well(const struct building *b, int64_t shown, int64_t reported)
{
        const struct member_status_input *in = b->in;

        return shown != TIME_NONE && reported != TIME_NONE && shown <= in->now_ms &&
               reported - shown < in->heartbeat_every_ms &&
               (in->silence_ms <= 0 || in->now_ms - shown <= in->silence_ms);
}

static int copy_agents(struct building *b)
{
        const struct agent_status_list *from = &b->in->report->status->agent_status;

        if (from->n == 0)
                return 0;
        b->s->agent_status = *from;
        b->s->agent_status.n = cut(b, from->n, LIMIT_MEMBER_AGENTS);
        b->s->agent_status.at = arena_memdup(b->arena, from->at, b->s->agent_status.n * sizeof(from->at[0]));
        if (!b->s->agent_status.at)
                return ERR_NO_MEMORY;
        for (uint32_t i = 0; i < b->s->agent_status.n; i++) {
                struct agent_status *a = &b->s->agent_status.at[i];
                int64_t shown = shown_heartbeat(b->in->member, a->type);

                TRY(copy_conditions(b, &from->at[i].conditions, &a->conditions));
                if (is_shown_well(b, shown, a->last_received_heartbeat))
                        a->last_received_heartbeat = shown;
        }
        return 0;
}

static int join_state_unknown(struct building *b, const char *message)
{
        return put(b, CONDITION_JOINED, "Unknown", REASON_JOIN_STATE_UNKNOWN, message);
}

/* spec 2.1; without networking agents the first alone. */
static const char *const expected_agents[] = { AGENT_MEMBER, AGENT_MULTI_CLUSTER_SERVICE,
                                               AGENT_SERVICE_EXPORT_IMPORT };

struct tally {
        size_t expected, seen, joined, left; /* of the expected agents */
        const char *silent;                  /* the first that says nothing of joining */
};

static struct tally tally_of(const struct building *b)
{
        struct tally t = { .expected = b->in->networking_agents ? ARRAY_LEN(expected_agents) : 1 };

        for (size_t i = 0; i < t.expected; i++) {
                const struct agent_status *a = member_agent_status(&b->s->agent_status, expected_agents[i]);
                const struct condition *c = a ? condition_find(&a->conditions, CONDITION_JOINED) : NULL;

                t.seen += a != NULL;
                if (a && !c && !t.silent)
                        t.silent = expected_agents[i];
                t.joined += c && text_equal(c->status, CONDITION_TRUE);
                t.left += c && text_equal(c->status, CONDITION_FALSE);
        }
        return t;
}

static int put_missing(struct building *b, size_t expected, size_t got)
{
        return join_state_unknown(b, arena_printf(b->arena,
                                                  "Member cluster %s has not reported all the expected "
                                                  "agents, expected %zu, got %zu",
                                                  b->in->member->object.meta.name, expected, got));
}

/* The table of spec 2.4; agents that are not expected count only for being there. */
static int put_joined(struct building *b)
{
        struct tally t = tally_of(b);

        if (b->s->agent_status.n < t.expected)
                return put_missing(b, t.expected, b->s->agent_status.n);
        if (t.silent)
                return join_state_unknown(b, arena_printf(b->arena,
                                                          "Member cluster %s has not reported the join "
                                                          "condition for agent %s",
                                                          b->in->member->object.meta.name, t.silent));
        if (t.seen < t.expected)
                return put_missing(b, t.expected, t.seen);
        if (t.joined == t.expected)
                return put(b, CONDITION_JOINED, CONDITION_TRUE, REASON_JOINED,
                           "Member cluster has successfully joined the fleet");
        if (t.left < t.expected)
                return join_state_unknown(b, "Member agents are not in a consistent state");
        TRY(put(b, CONDITION_READY_TO_JOIN, CONDITION_FALSE, REASON_NOT_READY_TO_JOIN,
                "Member cluster is not ready to join the fleet"));
        return put(b, CONDITION_JOINED, CONDITION_FALSE, REASON_LEFT, "Member cluster has left the fleet");
}

/* What a member may say of itself and take back again: a reader goes by it. */
static const char *const taken_back[] = { CONDITION_NAMESPACE_COLLECTION_SUCCEEDED,
                                          CONDITION_PROPERTY_PROVIDER_STARTED,
                                          CONDITION_PROPERTY_COLLECTION_SUCCEEDED,
                                          CONDITION_COST_PROPERTIES_COLLECTION_SUCCEEDED,
                                          CONDITION_OWN_PROPERTIES_COLLECTION_SUCCEEDED };

/* The report's own conditions stand beside the hub's, which the member does not write. Without the one about
 * namespaces the scheduler takes none to be told. */
static int merge_conditions(struct building *b, const struct condition_list *own)
{
        for (size_t i = 0; i < ARRAY_LEN(taken_back); i++)
                if (!condition_find(own, taken_back[i]))
                        condition_remove(&b->s->conditions, taken_back[i]);
        for (uint32_t i = 0; i < own->n; i++) {
                const char *type = own->at[i].type;

                if (text_equal(type, CONDITION_JOINED) || text_equal(type, CONDITION_READY_TO_JOIN))
                        continue;
                if (!condition_find(&b->s->conditions, type) &&
                    cut(b, b->s->conditions.n + 1, LIMIT_MEMBER_CONDITIONS) <= b->s->conditions.n)
                        continue;
                TRY(condition_set(&b->s->conditions, &own->at[i], b->in->now_ms, b->arena));
        }
        return 0;
}

static int copy_report(struct building *b)
{
        const struct internal_member_cluster_status *r = b->in->report->status;
        struct condition_list own;

        TRY(copy_agents(b));
        TRY(put_joined(b));
        b->s->resource_usage = r->resource_usage;
        b->s->namespaces = r->namespaces;
        b->s->namespaces.n = cut(b, r->namespaces.n, LIMIT_MEMBER_NAMESPACES);
        b->s->properties = r->properties;
        b->s->properties.n = cut(b, r->properties.n, LIMIT_MEMBER_PROPERTIES);
        TRY(copy_conditions(b, &r->conditions, &own));
        return merge_conditions(b, &own);
}

static const char *joined_status(const struct member_cluster_status *s)
{
        const struct condition *c = s ? condition_find(&s->conditions, CONDITION_JOINED) : NULL;

        return c ? c->status : "";
}

static int own_conditions(struct condition_list *l, struct arena *arena)
{
        if (l->n && !(l->at = arena_memdup(arena, l->at, l->n * sizeof(l->at[0]))))
                return ERR_NO_MEMORY;
        return 0;
}

static int own_agents(struct agent_status_list *l, struct arena *arena)
{
        if (l->n && !(l->at = arena_memdup(arena, l->at, l->n * sizeof(l->at[0]))))
                return ERR_NO_MEMORY;
        for (uint32_t i = 0; i < l->n; i++)
                TRY(own_conditions(&l->at[i].conditions, arena));
        return 0;
}

/* With a status of its own as far as what follows changes it in place; the rest is the member's. */
static struct member_cluster *with_own_status(const struct member_cluster *m, struct arena *arena)
{
        struct member_cluster *own = arena_memdup(arena, m, sizeof(*m));

        if (!own)
                return NULL;
        own->object.refs = own->object.block_size = 0;
        own->status = m->status ? arena_memdup(arena, m->status, sizeof(*m->status))
                                : ARENA_NEW(arena, struct member_cluster_status);
        return own->status && own_conditions(&own->status->conditions, arena) == 0 &&
                               own_agents(&own->status->agent_status, arena) == 0
                       ? own
                       : NULL;
}

struct member_cluster *member_with_status(struct arena *arena, const struct member_status_input *in,
                                          enum joined *ret)
{
        struct member_cluster *wanted = with_own_status(in->member, arena);
        struct building b = { .arena = arena, .in = in, .generation = in->member->object.meta.generation };
        const char *joined;

        if (!wanted)
                return NULL;
        b.s = wanted->status;
        if (in->ready && put(&b, CONDITION_READY_TO_JOIN, "True", REASON_READY_TO_JOIN,
                             "Member cluster is ready to join the fleet") < 0)
                return NULL;
        if (in->refusal &&
            put(&b, CONDITION_READY_TO_JOIN, CONDITION_FALSE, REASON_NOT_READY_TO_JOIN, in->refusal) < 0)
                return NULL;
        if (in->report && in->report->status && copy_report(&b) < 0)
                return NULL;
        if (doubt_silent_agents(&b) < 0)
                return NULL;
        joined = joined_status(b.s);
        if (text_equal(joined, joined_status(in->member->status)))
                *ret = JOINED_UNCHANGED;
        else
                *ret = text_equal(joined, "True")    ? JOINED_NOW
                       : text_equal(joined, "False") ? LEFT_NOW
                                                     : JOINED_UNKNOWN_NOW;
        return wanted;
}

bool nobody_came(const struct member_cluster *c, const struct internal_member_cluster *report)
{
        return (!report->status || report->status->agent_status.n == 0) &&
               (!c->status || c->status->agent_status.n == 0);
}

bool member_has_left(const struct member_cluster *c)
{
        return c->status &&
               condition_is_false(&c->status->conditions, CONDITION_JOINED, c->object.meta.generation);
}

bool member_is_silent(const struct member_cluster *c)
{
        for (uint32_t i = 0; c->status && i < c->status->agent_status.n; i++)
                if (condition_tells_silence(
                            condition_find(&c->status->agent_status.at[i].conditions, CONDITION_HEALTHY)))
                        return true;
        return false;
}

int64_t member_period_ms(const struct member_cluster *c)
{
        const struct opt_int none = { 0 };
        struct opt_int s = c->spec ? c->spec->heartbeat_period_seconds : none;

        return (s.set ? s.value : DEFAULT_PERIOD_S) * 1000;
}

int member_period_fault(struct arena *arena, const struct member_cluster *c, const char **ret)
{
        int64_t period_s = member_period_ms(c) / 1000;

        *ret = NULL;
        if (period_s <= MEMBER_PERIOD_MOST_S)
                return 0;
        *ret = arena_printf(
                arena,
                "MemberCluster %.100s: spec.heartbeatPeriodSeconds: %lld: nothing new is placed on a "
                "member that was not heard of for 300 seconds, as it is at times between two of its "
                "heartbeats; take %d at most",
                or_empty(c->object.meta.name), (long long)period_s, MEMBER_PERIOD_MOST_S);
        return *ret ? 0 : ERR_NO_MEMORY;
}

int64_t member_silence_ms(const struct member_cluster *c, int64_t grace_ms)
{
        return MAX(grace_ms > 0 ? grace_ms : HEARTBEAT_GRACE_MS,
                   member_period_ms(c) * 2 + GRACE_FOR_DELAYS_MS);
}

int64_t member_silent_in_ms(const struct member_cluster *c, int64_t silence_ms, int64_t now_ms)
{
        int64_t first = -1;

        for (uint32_t i = 0; c->status && i < c->status->agent_status.n; i++) {
                int64_t seen = c->status->agent_status.at[i].last_received_heartbeat;
                int64_t left = seen == TIME_NONE ? -1 : seen + silence_ms - now_ms;

                if (left >= 0 && (first < 0 || left < first))
                        first = left;
        }
        return first;
}
