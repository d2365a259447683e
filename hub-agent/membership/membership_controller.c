/* Member clusters join, report and leave. spec/membership-webhooks-charts.md 2. */
#include "common/base/vec.h"
#include "hub-agent/agent.h"
#include "hub-agent/membership/membership.h"

#define TERMINATING_RETRY_MS 1000
#define TERMINATING_MAX_MS (15 * 60 * 1000) /* spec 2.6 step 3: longer than this is worth an alarm */
#define UNDER_WAY (-1)                      /* done_generation while the steps of joining are taken */

static const struct kube_resource namespaces = { "", "v1", "namespaces", "Namespace", false };
static const struct kube_resource roles = { "rbac.authorization.k8s.io", "v1", "roles", "Role", true };
static const struct kube_resource role_bindings = { "rbac.authorization.k8s.io", "v1", "rolebindings",
                                                    "RoleBinding", true };
static const struct kube_write as_membership = { .field_manager = FIELD_MANAGER_MEMBER_CLUSTER };

struct pass {
        struct reconcile *rc;
        const struct member_cluster *member;
        const struct internal_member_cluster *report; /* NULL if there is none */
        const char *ns;                               /* the member's namespace on the hub */
        const char *refusal;                          /* why it cannot join */
        int64_t silent_in_ms; /* write_status(): when silence may be told, or its end; -1 = never */
};

enum readiness { AS_BEFORE, READY, REFUSED };

struct member_memory {
        struct memory memory;
        int64_t done_generation; /* joined for this generation */
        bool told_cut;           /* that the report is too long */
        bool told_forced;        /* that it is removed without an answer */
};
const struct memory_kind member_memory_kind = { .size = sizeof(struct member_memory) };

static struct member_memory *memory_of_member(struct pass *s)
{
        return memory_of(&agent_of(s->rc)->members, &s->member->object, s->rc->arena);
}

static void tell(struct pass *s, const char *type, const char *reason, const char *message)
{
        rc_event(s->rc, &s->member->object, type, reason, "%s", message);
}

/* ---- join (spec 2.3) ---- */

static int ensure_finalizer(struct pass *s)
{
        struct object *wanted;
        const struct object *stored;

        if (object_has_finalizer(&s->member->object, FINALIZER_MEMBER_CLUSTER) &&
            text_equal(label_of(&s->member->object, LABEL_MEMBER_NAME), s->rc->name))
                return 0;
        wanted = object_copy(&s->member->object, s->rc->arena);
        if (!wanted || object_add_finalizer(wanted, FINALIZER_MEMBER_CLUSTER, s->rc->arena) < 0 ||
            set_label(wanted, LABEL_MEMBER_NAME, s->rc->name, s->rc->arena) < 0)
                return error_no_memory(s->rc->err);
        TRY(rc_patch_diff(s->rc, &s->member->object, wanted, OBJECT_META_SPEC, &stored));
        s->member = (const struct member_cluster *)stored;
        return 0;
}

static int create(struct pass *s, const struct kube_resource *r, const json_t *doc, const char *reason)
{
        int code;

        if (!doc)
                return error_no_memory(s->rc->err);
        code = kube_doc_create(s->rc->kube, r, r->namespaced ? s->ns : NULL, doc, &as_membership, NULL,
                               s->rc->err);
        if (code == 0)
                tell(s, "Normal", reason, doc_get_string(doc, "metadata.name"));
        return code;
}

static int sync_namespace(struct pass *s)
{
        AUTO_JSON json_t *doc = member_namespace_doc(s->member), *patch = NULL;
        const struct object *now;
        bool labelled, owned;

        TRY(cache_get(s->rc, &namespace_kind, NULL, s->ns, &now));
        if (!now)
                return create(s, &namespaces, doc, "NamespaceCreated");
        labelled = !text_empty(label_of(now, LABEL_IS_FLEET_RESOURCE));
        owned = member_owns(s->member, now);
        if (labelled && owned)
                return 0;
        patch = json_pack("{s:{}}", "metadata");
        if (!labelled)
                doc_set(patch, "metadata.labels", json_pack("{s:s}", LABEL_IS_FLEET_RESOURCE, "true"));
        if (!owned)
                doc_set(patch, "metadata.ownerReferences",
                        json_incref(doc_get_array(doc, "metadata.ownerReferences")));
        if (!patch)
                return error_no_memory(s->rc->err);
        TRY(kube_doc_patch(s->rc->kube, &namespaces, NULL, s->ns, KUBE_PATCH_MERGE, patch, &as_membership,
                           NULL, s->rc->err));
        tell(s, "Normal", "NamespacePatched", s->ns);
        return 0;
}

/* 1 with *ret, 0 if there is none. */
static int find(struct pass *s, const struct kube_resource *r, const json_t *wanted, json_t **ret)
{
        int code =
                kube_doc_get(s->rc->kube, r, s->ns, doc_get_string(wanted, "metadata.name"), ret, s->rc->err);

        if (code == ERR_NOT_FOUND) {
                error_clear(s->rc->err);
                return 0;
        }
        return code < 0 ? code : 1;
}

static int replace(struct pass *s, const struct kube_resource *r, json_t *now, const json_t *wanted,
                   const char *part, const char *reason)
{
        const char *name = doc_get_string(wanted, "metadata.name");

        if (member_object_mend(now, wanted, part) < 0)
                return error_no_memory(s->rc->err);
        TRY(kube_doc_update(s->rc->kube, r, s->ns, name, now, &as_membership, NULL, s->rc->err));
        tell(s, "Normal", reason, name);
        return 0;
}

static int sync_role(struct pass *s)
{
        AUTO_JSON json_t *wanted = member_role_doc(s->member, agent_of(s->rc)->options->networking_agents),
                         *now = NULL;
        int found;

        if (!wanted)
                return error_no_memory(s->rc->err);
        found = find(s, &roles, wanted, &now);
        if (found <= 0)
                return found < 0 ? found : create(s, &roles, wanted, "RoleCreated");
        return member_object_differs(now, wanted, "rules")
                       ? replace(s, &roles, now, wanted, "rules", "RoleUpdated")
                       : 0;
}

static int sync_role_binding(struct pass *s)
{
        AUTO_JSON json_t *wanted = member_role_binding_doc(s->member), *now = NULL;
        int found;

        if (!wanted)
                return error_no_memory(s->rc->err);
        found = find(s, &role_bindings, wanted, &now);
        if (found > 0 && member_role_ref_differs(now, wanted)) { /* immutable */
                TRY(kube_doc_delete(s->rc->kube, &role_bindings, s->ns,
                                    doc_get_string(wanted, "metadata.name"), NULL, NULL, s->rc->err));
                found = 0;
        }
        if (found <= 0)
                return found < 0 ? found : create(s, &role_bindings, wanted, "RoleBindingCreated");
        return member_object_differs(now, wanted, "subjects")
                       ? replace(s, &role_bindings, now, wanted, "subjects", "RoleBindingUpdated")
                       : 0;
}

static int sync_report_object(struct pass *s, const char *state)
{
        struct internal_member_cluster *wanted = member_report_object(s->rc->arena, s->member, state);
        struct object_meta owner;
        const struct object *stored;

        if (!wanted)
                return error_no_memory(s->rc->err);
        if (!s->report) {
                TRY(rc_create(s->rc, &wanted->object, &stored));
                s->report = (const struct internal_member_cluster *)stored;
                tell(s, "Normal", "InternalMemberClusterCreated", s->rc->name);
                return 0;
        }
        if (s->report->spec && text_equal(s->report->spec->state, state) &&
            s->report->spec->heartbeat_period_seconds.value == wanted->spec->heartbeat_period_seconds.value &&
            member_owns(s->member, &s->report->object))
                return 0;
        owner = wanted->object.meta;
        wanted->object.meta = s->report->object.meta;
        if (!member_owns(s->member, &s->report->object)) {
                wanted->object.meta.owners = owner.owners;
                wanted->object.meta.n_owners = owner.n_owners;
        }
        wanted->status = s->report->status;
        TRY(rc_patch_diff(s->rc, &s->report->object, &wanted->object, OBJECT_META_SPEC, &stored));
        s->report = (const struct internal_member_cluster *)stored;
        tell(s, "Normal", "InternalMemberClusterSpecUpdated", s->rc->name);
        return 0;
}

#define EVENT_PERIOD_TOO_LONG "HeartbeatPeriodTooLong"

static int tell_period(struct pass *s)
{
        const char *fault;

        if (member_period_fault(s->rc->arena, s->member, &fault) < 0)
                return error_no_memory(s->rc->err);
        if (!fault)
                return 0;
        log_warn(&s->rc->log, "the member's heartbeats are too far apart", "member", s->rc->name, "error",
                 fault);
        tell(s, EVENT_TYPE_WARNING, EVENT_PERIOD_TOO_LONG, fault);
        return 0;
}

/* Namespace, role and binding are looked at once per generation, after a restart and when somebody touched
 * them (look_again()), not with every heartbeat. */
static int join(struct pass *s)
{
        struct member_memory *m = memory_of_member(s);
        int64_t generation = s->member->object.meta.generation;

        if (!m)
                return error_no_memory(s->rc->err);
        if (s->report && m->done_generation == generation)
                return 0;
        m->done_generation = UNDER_WAY;
        if (sync_namespace(s) < 0)
                return error_wrap(s->rc->err, "failed to sync namespace");
        if (sync_role(s) < 0)
                return error_wrap(s->rc->err, "failed to sync role");
        if (sync_role_binding(s) < 0)
                return error_wrap(s->rc->err, "failed to sync role binding");
        if (sync_report_object(s, CLUSTER_STATE_JOIN) < 0)
                return error_wrap(s->rc->err, "failed to sync internal member cluster spec");
        TRY(tell_period(s));
        if (m->done_generation == UNDER_WAY)
                m->done_generation = generation;
        return 0;
}

/* ---- status ---- */

static void tell_joined(struct pass *s, enum joined joined)
{
        static const char *const success[] = { "success" };

        if (joined == JOINED_NOW)
                metric_add(agent_of(s->rc)->metrics, METRIC_JOINS, 1, success);
        if (joined == LEFT_NOW)
                metric_add(agent_of(s->rc)->metrics, METRIC_LEAVES, 1, success);
        if (joined == JOINED_NOW)
                tell(s, "Normal", "MemberClusterJoined", "member cluster joined");
        else if (joined == LEFT_NOW)
                tell(s, "Normal", "MemberClusterLeft", "member cluster left");
        else if (joined == JOINED_UNKNOWN_NOW)
                tell(s, "Warning", "MemberClusterJoinStateUnknown", "member cluster join state unknown");
}

/* Once, not with every report. */
static void tell_cut(struct pass *s, bool cut)
{
        struct member_memory *m = memory_of_member(s);

        if (!m)
                return;
        if (cut && !m->told_cut) {
                log_warn(&s->rc->log, "the member reports more than is taken over; the rest is left out",
                         "member", s->rc->name);
                tell(s, "Warning", "MemberReportCut", "the member reports more than is taken over");
        }
        m->told_cut = cut;
}

/* Every heartbeat is shown, but no more of them than the member was asked for: they come with some play, and
 * are shown in whole seconds. */
static int64_t heartbeat_every_ms(const struct member_cluster *m)
{
        return member_period_ms(m) * 9 / 10 - 1000;
}

static int64_t silence_ms(const struct pass *s)
{
        return member_silence_ms(s->member, agent_of(s->rc)->options->heartbeat_grace_ms);
}

static void tell_silence(struct pass *s, bool was, bool is)
{
        if (!was && is) {
                log_warn(&s->rc->log, "the member's agent is heard of no more", "member", s->rc->name);
                tell(s, "Warning", REASON_HEARTBEAT_LOST, "no heartbeats from the member's agent");
        } else if (was && !is) {
                log_info(&s->rc->log, "the member's agent is heard of again", "member", s->rc->name);
                tell(s, "Normal", "MemberAgentHeartbeatBack", "heartbeats from the member's agent again");
        }
}

static void show_heard(struct hub_agent *a, const struct member_cluster *m)
{
        const char *const labels[] = { m->object.meta.name };

        if (m->status && m->status->agent_status.n)
                metric_set(a->metrics, METRIC_MEMBER_HEARD, !member_is_silent(m), labels);
}

static void forget_member(struct reconcile *rc)
{
        memory_drop(&agent_of(rc)->members, rc->key);
        metric_remove(agent_of(rc)->metrics, METRIC_MEMBER_HEARD, (const char *const[]){ rc->name });
}

/* NULL while it is not. */
static const struct condition *ready_to_join(const struct member_cluster *m)
{
        const struct condition *c =
                m->status ? condition_find(&m->status->conditions, CONDITION_READY_TO_JOIN) : NULL;

        return c && text_equal(c->status, CONDITION_TRUE) ? c : NULL;
}

static void tell_ready(struct pass *s, const struct member_cluster *wanted)
{
        const struct condition *now = ready_to_join(wanted);

        if (now && !ready_to_join(s->member))
                tell(s, EVENT_TYPE_NORMAL, REASON_READY_TO_JOIN, now->message);
}

/* The member with the status that is due. Nobody is called silent by the cache alone: hearing.h. Who is shown
 * as silent stays so when the server cannot be asked. */
static int wanted_status(struct pass *s, struct member_status_input *in, enum joined *ret_joined,
                         struct member_cluster **ret)
{
        int code;

        *ret = member_with_status(s->rc->arena, in, ret_joined);
        if (!*ret)
                return error_no_memory(s->rc->err);
        if (!s->report || !member_is_silent(*ret))
                return 0;
        code = hearing_ask(s->rc, &s->report);
        if (code < 0 && !member_is_silent(s->member))
                return code;
        error_clear(s->rc->err);
        if (in->report == s->report)
                return 0;
        in->report = s->report;
        *ret = member_with_status(s->rc->arena, in, ret_joined);
        return *ret ? 0 : error_no_memory(s->rc->err);
}

static int write_status(struct pass *s, enum readiness ready, bool *ret_left)
{
        bool cut = false;
        struct member_status_input in = { .member = s->member,
                                          .report = s->report,
                                          .ready = ready == READY,
                                          .refusal = ready == REFUSED ? s->refusal : NULL,
                                          .silence_ms = silence_ms(s),
                                          .networking_agents = agent_of(s->rc)->options->networking_agents,
                                          .heartbeat_every_ms = heartbeat_every_ms(s->member),
                                          .now_ms = s->rc->now_ms,
                                          .cut = &cut };
        enum joined joined;
        struct member_cluster *wanted;
        int code;

        TRY(wanted_status(s, &in, &joined, &wanted));
        tell_cut(s, cut);
        *ret_left = member_has_left(wanted);
        code = rc_patch_diff(s->rc, &s->member->object, &wanted->object, OBJECT_STATUS, NULL);
        if (code == 0) {
                tell_ready(s, wanted);
                tell_joined(s, joined);
                tell_silence(s, member_is_silent(s->member), member_is_silent(wanted));
                show_heard(agent_of(s->rc), wanted);
                s->silent_in_ms = member_is_silent(wanted)
                                          ? silence_ms(s)
                                          : member_silent_in_ms(wanted, silence_ms(s), s->rc->now_ms);
        }
        return code == ERR_NOT_FOUND ? 0 : code;
}

/* ---- leave (spec 2.6) ---- */

static int drop_finalizer(struct pass *s)
{
        struct object *wanted = object_copy(&s->member->object, s->rc->arena);
        int code;

        if (!wanted)
                return error_no_memory(s->rc->err);
        object_remove_finalizer(wanted, FINALIZER_MEMBER_CLUSTER);
        if (agent_of(s->rc)->options->without_inventory) /* left by an agent that kept one */
                object_remove_finalizer(wanted, FINALIZER_CLUSTER_PROFILE);
        forget_member(s->rc);
        code = rc_patch_diff(s->rc, &s->member->object, wanted, OBJECT_META_SPEC, NULL);
        return code == ERR_NOT_FOUND ? 0 : code;
}

struct held_works {
        const char *ns;
        VEC(const struct object *) works; /* with finalizers, in the member's namespace; referenced */
};

static void held_works_free(struct held_works *h)
{
        vec_for_each(&h->works, o)
                object_unref(*o);
        vec_free(&h->works);
}

static int note_held_work(void *ctx, const struct object *o)
{
        struct held_works *h = ctx;

        if (!text_equal(o->meta.ns, h->ns) || o->meta.n_finalizers == 0)
                return 0;
        if (vec_push(&h->works, o) < 0)
                return ERR_NO_MEMORY;
        object_ref(o);
        return 0;
}

/* Nobody will take the finalizers off the Works any more. */
static int release_works(struct pass *s)
{
        CLEANUP(held_works_free) struct held_works held = { .ns = s->ns };

        TRY(cache_for_each(s->rc, &work_kind, note_held_work, &held));
        vec_for_each(&held.works, o) {
                struct object *wanted = object_copy(*o, s->rc->arena);
                int code;

                if (!wanted)
                        return error_no_memory(s->rc->err);
                wanted->meta.n_finalizers = 0;
                code = rc_patch_diff(s->rc, *o, wanted, OBJECT_META_SPEC, NULL);
                if (code < 0 && code != ERR_NOT_FOUND)
                        return code;
        }
        return 0;
}

static struct outcome collect_garbage(struct pass *s)
{
        int code;

        if (release_works(s) < 0)
                return failed(s->rc->err);
        code = kube_doc_delete(s->rc->kube, &namespaces, NULL, s->ns, NULL, NULL, s->rc->err);
        return code < 0 && code != ERR_NOT_FOUND ? failed(s->rc->err) : again_after(TERMINATING_RETRY_MS);
}

/* A namespace that goes, of a member that goes or is gone: no agent takes the finalizers off its Works, and
 * some may have come in meanwhile. The namespace's last event brings the key again. */
static struct outcome empty_namespace(struct pass *s, const struct object *ns)
{
        char since[RFC3339_SIZE];

        if (release_works(s) < 0)
                return failed(s->rc->err);
        if (s->rc->now_ms - ns->meta.deletion_ms < TERMINATING_MAX_MS)
                return again_after(TERMINATING_RETRY_MS);
        time_format_rfc3339(ns->meta.deletion_ms, since);
        error_set(s->rc->err, ERR_INTERNAL, "namespace %s is being removed since %s", s->ns, since);
        return failed(s->rc->err);
}

/* Once, however often a pass comes until the cache knows that the namespace goes: events of watches come
 * late, and the server may fail. An agent that starts meanwhile tells it again if the namespace does not go
 * yet, as nothing has become of it so far; of one that does it tells nothing. */
static void tell_forced(struct pass *s)
{
        struct member_memory *m = memory_of_member(s);

        if (!m || !m->told_forced)
                tell(s, "Warning", "MemberClusterForceDeleted",
                     "the member agent did not answer; its namespace is removed");
        if (m)
                m->told_forced = true;
}

static struct outcome leave(struct pass *s)
{
        const struct object *ns;
        int64_t waited = s->rc->now_ms - s->member->object.meta.deletion_ms;
        int64_t limit = agent_of(s->rc)->force_delete_wait_ms;
        bool left = false;

        if (!object_has_finalizer(&s->member->object, FINALIZER_MEMBER_CLUSTER))
                return done();
        if (cache_get(s->rc, &namespace_kind, NULL, s->ns, &ns) < 0)
                return failed(s->rc->err);
        if (!ns)
                return drop_finalizer(s) < 0 ? failed(s->rc->err) : done();
        if (is_deleting(ns))
                return empty_namespace(s, ns);
        if (!s->report || nobody_came(s->member, s->report))
                return collect_garbage(s);
        if (write_status(s, AS_BEFORE, &left) < 0)
                return failed(s->rc->err);
        if (left)
                return collect_garbage(s);
        if (s->report->spec && text_equal(s->report->spec->state, CLUSTER_STATE_LEAVE) && waited >= limit) {
                tell_forced(s);
                return collect_garbage(s);
        }
        if (sync_report_object(s, CLUSTER_STATE_LEAVE) < 0)
                return failed(s->rc->err);
        return again_after(MAX(limit - waited, 1));
}

/* ---- reconcile ---- */

/* The namespace goes with a member that is gone: taken away by force, or while no hub-agent ran, or made
 * again since under the same name. Whose member is there is left to its agent. */
static bool is_left_over(const struct pass *s, const struct object *ns)
{
        return ns && is_deleting(ns) && !text_empty(label_of(ns, LABEL_IS_FLEET_RESOURCE)) &&
               !(s->member && member_owns(s->member, ns));
}

static bool says_already(const struct pass *s)
{
        const struct condition *c =
                s->member->status ? condition_find(&s->member->status->conditions, CONDITION_READY_TO_JOIN)
                                  : NULL;

        return c && text_equal(c->status, CONDITION_FALSE) && text_equal(c->message, s->refusal);
}

/* What no retry mends by itself, such as a name of which no namespace can be made, is said on the member. */
static struct outcome refused(struct pass *s)
{
        struct error why = *s->rc->err;
        bool left;

        if (why.code != ERR_INVALID && why.code != ERR_FORBIDDEN && why.code != ERR_UNSUPPORTED)
                return failed(s->rc->err);
        s->refusal = arena_strdup(s->rc->arena, why.text);
        if (s->refusal && says_already(s))
                (void)write_status(s, AS_BEFORE, &left); /* it may be silent by now */
        else if (s->refusal && write_status(s, REFUSED, &left) == 0)
                tell(s, "Warning", REASON_NOT_READY_TO_JOIN, s->refusal);
        *s->rc->err = why;
        return failed(s->rc->err);
}

static struct outcome reconcile(struct reconcile *rc)
{
        struct pass s = { .rc = rc };
        const struct object *ns, *member, *report;
        bool left;

        s.ns = arena_printf(rc->arena, NAME_MEMBER_NAMESPACE, rc->name);
        if (!s.ns) {
                error_no_memory(rc->err);
                return failed(rc->err);
        }
        if (cache_get(rc, &namespace_kind, NULL, s.ns, &ns) < 0 ||
            cache_get(rc, &member_cluster_kind, NULL, rc->name, &member) < 0 ||
            cache_get(rc, &internal_member_cluster_kind, s.ns, rc->name, &report) < 0)
                return failed(rc->err);
        s.member = (const struct member_cluster *)member;
        s.report = (const struct internal_member_cluster *)report;
        if (!s.member || !s.member->spec || !s.member->spec->identity) {
                forget_member(rc);
                return is_left_over(&s, ns) ? empty_namespace(&s, ns) : done();
        }
        if (is_deleting(&s.member->object))
                return leave(&s);
        if (is_left_over(&s, ns))
                return ensure_finalizer(&s) < 0 ? failed(rc->err) : empty_namespace(&s, ns);
        if (ensure_finalizer(&s) < 0)
                return failed(rc->err);
        if (join(&s) < 0)
                return refused(&s);
        if (write_status(&s, READY, &left) < 0)
                return failed(rc->err);
        return s.silent_in_ms >= 0 ? again_after(s.silent_in_ms + 1) : done();
}

/* ---- watches ---- */

static void emit_member_of(const char *ns, key_emit emit, void *to)
{
        if (text_starts_with(or_empty(ns), NAMESPACE_MEMBER_PREFIX))
                emit(to, ns + strlen(NAMESPACE_MEMBER_PREFIX));
}

static void map_report(void *agent, const struct informer_event *e, key_emit emit, void *to)
{
        emit_member_of(e->now->meta.ns, emit, to);
}

/* What is told of the member stays told. */
static void look_again(struct hub_agent *a, const char *name)
{
        struct member_memory *m = memory_known(&a->members, name);

        if (m)
                m->done_generation = 0;
}

/* The namespace went, or somebody changed its labels or owners. */
static void map_namespace(void *agent, const struct informer_event *e, key_emit emit, void *to)
{
        struct hub_agent *a = agent;

        if (!text_starts_with(e->now->meta.name, NAMESPACE_MEMBER_PREFIX))
                return;
        look_again(a, e->now->meta.name + strlen(NAMESPACE_MEMBER_PREFIX));
        emit_member_of(e->now->meta.name, emit, to);
}

void membership_check_again(struct hub_agent *a, const char *ns)
{
        const char *name;

        if (!text_starts_with(or_empty(ns), NAMESPACE_MEMBER_PREFIX))
                return;
        name = ns + strlen(NAMESPACE_MEMBER_PREFIX);
        look_again(a, name);
        manager_enqueue(a->manager, &membership_controller, name, QUEUE_NORMAL);
}

static const struct watch watches[] = {
        { &member_cluster_kind, ON_SPEC | ON_DELETION, NULL, .restless = true },
        { &internal_member_cluster_kind, ON_ALL, map_report, .unhurried = true,
          .restless = true }, /* mostly heartbeats */
        { &namespace_kind, ON_META | ON_DELETION, map_namespace },
};

const struct controller membership_controller = {
        .name = "membership",
        .event_source = "mcv1beta1",
        .watches = watches,
        .n_watches = ARRAY_LEN(watches),
        .reconcile = reconcile,
};
