#include "common/ctrl/leader.h"

#include "common/base/memory.h"
#include "common/base/timefmt.h"
#include "common/kube/connection.h"

static const struct kube_resource leases = { "coordination.k8s.io", "v1", "leases", "Lease", true };

static const char *environment(const struct world *w, const char *name)
{
        return w->process ? w->process->getenv(w->ctx, name) : NULL;
}

void leader_identity(const struct world *w, const char *component, char ret[LEADER_IDENTITY_SIZE])
{
        const char *host = environment(w, "HOSTNAME"), *uid = environment(w, "POD_UID");
        char made_up[20];

        snprintf(made_up, sizeof(made_up), "%016llx", (unsigned long long)loop_random_u64(w->loop));
        snprintf(ret, LEADER_IDENTITY_SIZE, "%.150s_%.64s", text_empty(host) ? component : host,
                 text_empty(uid) ? made_up : uid);
}

void leader_init(struct leader *le, struct kube_client *k, const struct leader_options *o)
{
        *le = (struct leader){ .kube = k, .options = *o };
        if (le->options.lease_ms <= 0)
                le->options.lease_ms = 15000;
        if (le->options.renew_deadline_ms <= 0)
                le->options.renew_deadline_ms = 10000;
        if (le->options.retry_ms <= 0)
                le->options.retry_ms = 2000;
}

void leader_clear(struct leader *le)
{
        mem_free(le->observed);
        json_decref(le->held);
        le->observed = NULL;
        le->held = NULL;
}

static json_t *lease_new(const struct leader *le)
{
        return json_pack("{s:s, s:s, s:{s:s, s:s}, s:{}}", "apiVersion", "coordination.k8s.io/v1", "kind",
                         "Lease", "metadata", "name", le->options.name, "namespace", le->options.ns, "spec");
}

/* Its name is no path: it has dots. */
static int put_label(const struct leader *le, json_t *lease)
{
        json_t *metadata = json_object_get(lease, "metadata"), *labels;

        if (!le->options.label)
                return 0;
        labels = json_object_get(metadata, "labels");
        if (!json_is_object(labels)) {
                labels = json_object();
                if (json_object_set_new(metadata, "labels", labels) < 0)
                        return ERR_NO_MEMORY;
        }
        return json_object_set_new(labels, le->options.label, json_string(le->options.label_value)) < 0
                       ? ERR_NO_MEMORY
                       : 0;
}

/* Writes our claim into the lease document: holder, times, and one more transition if the holder changes. */
static int claim(const struct leader *le, json_t *lease)
{
        char now[RFC3339_SIZE];
        const char *holder = doc_get_string(lease, "spec.holderIdentity");
        int64_t transitions = doc_get_int(lease, "spec.leaseTransitions", 0);
        bool ours = text_equal(holder, le->options.identity), vacant = text_empty(holder);

        time_format_rfc3339_micro(loop_wall_us(le->kube->world->loop), now);
        TRY(put_label(le, lease));
        TRY(doc_set_string(lease, "spec.holderIdentity", le->options.identity));
        TRY(doc_set_int(lease, "spec.leaseDurationSeconds", (le->options.lease_ms + 999) / 1000));
        TRY(doc_set_string(lease, "spec.renewTime", now));
        if (!ours || !doc_get_string(lease, "spec.acquireTime"))
                TRY(doc_set_string(lease, "spec.acquireTime", now));
        return doc_set_int(lease, "spec.leaseTransitions", transitions + (!ours && !vacant));
}

/* Not the turn's time: a process that was stopped in the middle of a turn goes on in it. */
static int64_t clock_ms(const struct leader *le)
{
        return loop_now_us(le->kube->world->loop) / 1000;
}

/* Remembers when the record was first seen as it is now. */
static int observe(struct leader *le, const json_t *lease)
{
        AUTO_BUF struct buf b;

        buf_init(&b, 65536);
        if (doc_write_canonical(doc_get(lease, "spec"), &b) < 0)
                return ERR_NO_MEMORY;
        if (le->observed && text_equal(le->observed, b.data))
                return 0;
        mem_free(le->observed);
        le->observed = mem_strdup(b.data);
        le->observed_at_ms = clock_ms(le);
        return le->observed ? 0 : ERR_NO_MEMORY;
}

/* How long a record holds that did not change. */
static int64_t holds_ms(const struct leader *le, int64_t seconds)
{
        int64_t ms = MAX(MIN(seconds, INT64_MAX / 1000 / 2) * 1000, le->options.lease_ms);

        return le->options.longest_ms > 0 ? MIN(ms, le->options.longest_ms) : ms;
}

static bool may_take(const struct leader *le, const json_t *lease)
{
        const char *holder = doc_get_string(lease, "spec.holderIdentity");
        int64_t seconds = doc_get_int(lease, "spec.leaseDurationSeconds", 0);

        if (text_empty(holder) || text_equal(holder, le->options.identity))
                return true;
        return clock_ms(le) >= le->observed_at_ms + holds_ms(le, seconds);
}

static enum leader_before was_before(const struct leader *le, const json_t *lease)
{
        const char *holder = doc_get_string(lease, "spec.holderIdentity");

        if (text_empty(holder) && !doc_get_string(lease, "spec.acquireTime"))
                return LEASE_WAS_NEW;
        return text_equal(holder, le->options.identity) ? LEASE_WAS_OURS : LEASE_WAS_ANOTHERS;
}

/* Ours since `sent_ms`, when the write left: others may have seen it that early, and count from there. */
static int keep(struct leader *le, json_t *stored, int64_t sent_ms)
{
        json_decref(le->held);
        le->held = json_incref(stored);
        le->renewed_at_ms = sent_ms;
        le->leading = true;
        return observe(le, stored);
}

/* Writes the lease as we know it, without reading it first. ERR_CONFLICT when someone else wrote it. */
static int renew(struct leader *le, struct kube_client *k, struct error *err)
{
        int64_t sent_ms = loop_now_ms(k->world->loop);
        AUTO_JSON json_t *stored = NULL;

        if (claim(le, le->held) < 0)
                return error_no_memory(err);
        TRY(kube_doc_update(k, &leases, le->options.ns, le->options.name, le->held, NULL, &stored, err));
        le->before = LEASE_WAS_OURS;
        return keep(le, stored, sent_ms) < 0 ? error_no_memory(err) : 0;
}

/* One try. 0 when the lease is ours, ERR_EXISTS when someone else holds it. */
static int try_once(struct leader *le, struct kube_client *k, struct error *err)
{
        AUTO_JSON json_t *lease = NULL;
        AUTO_JSON json_t *stored = NULL;
        int code = kube_doc_get(k, &leases, le->options.ns, le->options.name, &lease, err);
        bool fresh = code == ERR_NOT_FOUND;
        int64_t sent_ms = loop_now_ms(k->world->loop);
        enum leader_before before;

        if (fresh) {
                lease = lease_new(le);
                code = lease ? 0 : error_no_memory(err);
        }
        if (code < 0)
                return code;
        if (!fresh) {
                if (observe(le, lease) < 0)
                        return error_no_memory(err);
                if (!may_take(le, lease))
                        return error_set(err, ERR_EXISTS, "lease %s/%s is held by %s", le->options.ns,
                                         le->options.name, doc_get_string(lease, "spec.holderIdentity"));
        }
        before = was_before(le, lease);
        if (claim(le, lease) < 0)
                return error_no_memory(err);
        if (fresh)
                code = kube_doc_create(k, &leases, le->options.ns, lease, NULL, &stored, err);
        else
                code = kube_doc_update(k, &leases, le->options.ns, le->options.name, lease, NULL, &stored,
                                       err);
        if (code < 0)
                return code;
        le->before = before;
        return keep(le, stored, sent_ms) < 0 ? error_no_memory(err) : 0;
}

static void tell_wait(const struct leader *le, int code, const struct error *err)
{
        if (code == ERR_EXISTS)
                log_info(le->kube->log, "waiting for leadership", "lease", err->text);
        else if (!kube_connection_tells(le->kube, err))
                log_warn(le->kube->log, "cannot take the leader lease", "error", err->text);
}

int leader_acquire(struct leader *le, struct error *err)
{
        struct loop *l = le->kube->world->loop;
        struct kube_client patient = *le->kube;
        char said[ERROR_TEXT_MAX] = "";
        int code;

        patient.call_deadline_ms = le->options.renew_deadline_ms; /* later an answer is no use */
        le->followed = false;
        while ((code = try_once(le, &patient, err)) < 0) {
                if (code == ERR_CANCELLED)
                        return code;
                le->followed = le->followed || code == ERR_EXISTS;
                if (code != ERR_CONFLICT && !text_equal(said, err->text)) {
                        tell_wait(le, code, err);
                        snprintf(said, sizeof(said), "%s", err->text);
                }
                /* Up to a fifth more, so that candidates do not collide for ever. */
                TRY(fiber_sleep(
                        l, le->options.retry_ms +
                                   (int64_t)(loop_random_u64(l) % (uint64_t)(le->options.retry_ms / 5 + 1))));
        }
        return 0;
}

static int64_t time_left_ms(const struct leader *le)
{
        return le->renewed_at_ms + le->options.renew_deadline_ms - loop_now_ms(le->kube->world->loop);
}

/* No request outlasts the leadership, and one that is never answered leaves time for others. */
static int64_t patience_ms(const struct leader *le)
{
        return MAX(MIN(time_left_ms(le), le->options.renew_deadline_ms / 3), 1);
}

/* For each of two: one reads, the other writes. */
static int64_t patience_of_two_ms(const struct leader *le)
{
        return MIN(patience_ms(le), MAX(time_left_ms(le) / 2, 1));
}

/* One try. ERR_EXISTS when it cannot be ours any more: another has it, or had it and gave it back, so that
 * what we remember may be old. */
static int regain_once(struct leader *le, struct kube_client *k, struct error *err)
{
        AUTO_JSON json_t *lease = NULL;
        AUTO_JSON json_t *stored = NULL;
        const char *holder;
        int64_t sent_ms = loop_now_ms(k->world->loop);
        int code = kube_doc_get(k, &leases, le->options.ns, le->options.name, &lease, err);

        if (code == ERR_NOT_FOUND)
                return error_set(err, ERR_EXISTS, "the lease is gone");
        if (code < 0)
                return code;
        holder = doc_get_string(lease, "spec.holderIdentity");
        if (!text_equal(holder, le->options.identity))
                return error_set(err, ERR_EXISTS, "another %s the lease",
                                 text_empty(holder) ? "had" : "holds");
        if (claim(le, lease) < 0)
                return error_no_memory(err);
        TRY(kube_doc_update(k, &leases, le->options.ns, le->options.name, lease, NULL, &stored, err));
        return keep(le, stored, sent_ms) < 0 ? error_no_memory(err) : 0;
}

/* The lease as we know it is written only if nobody wrote it since, else `written` is tried. One that was
 * removed is made again. */
static int renew_in_time(struct leader *le,
                         int (*written)(struct leader *le, struct kube_client *k, struct error *err),
                         struct error *err)
{
        struct kube_client bounded = *le->kube;
        int code;

        bounded.call_deadline_ms = patience_ms(le);
        code = le->held ? renew(le, &bounded, err) : try_once(le, &bounded, err);
        if (code != ERR_CONFLICT && code != ERR_NOT_FOUND)
                return code;
        bounded.call_deadline_ms = patience_of_two_ms(le);
        return code == ERR_CONFLICT ? written(le, &bounded, err) : try_once(le, &bounded, err);
}

static int lost(struct leader *le, int code, struct error *err)
{
        char why[ERROR_TEXT_MAX / 2];

        le->leading = false;
        le->lapsed = code != ERR_EXISTS;
        text_shorten(le->lapsed ? "the lease could not be renewed in time" : err->text, why, sizeof(why));
        return error_set(err, ERR_TIMEOUT, "leadership lost: %s", why);
}

int leader_hold(struct leader *le, struct error *err)
{
        struct loop *l = le->kube->world->loop;

        for (;;) {
                TRY(fiber_sleep(l, MAX(MIN(time_left_ms(le), le->options.retry_ms), 1)));
                ASSERT(le->held);
                int code = renew_in_time(le, regain_once, err);

                if (code == ERR_CANCELLED)
                        return code;
                if (code == 0)
                        continue;
                if (code == ERR_EXISTS || time_left_ms(le) <= 0)
                        return lost(le, code, err);
        }
}

int leader_regain(struct leader *le, struct error *err)
{
        struct kube_client patient = *le->kube;
        int code;

        patient.call_deadline_ms = le->options.renew_deadline_ms;
        do {
                error_clear(err);
                code = regain_once(le, &patient, err);
                if (code == 0 || code == ERR_CANCELLED)
                        return code;
                if (code == ERR_EXISTS)
                        return error_set(err, ERR_TIMEOUT, "leadership lost: %s", err->text);
        } while (kube_connection_pause(le->kube, le->options.retry_ms) == 0);
        return error_set(err, ERR_CANCELLED, "cancelled");
}

bool leader_may_write(const struct leader *le)
{
        return clock_ms(le) < le->renewed_at_ms + le->options.lease_ms;
}

void leader_release(struct leader *le)
{
        struct kube_client quick = *le->kube;
        AUTO_JSON json_t *lease = NULL;
        struct error err;

        if (!le->leading)
                return;
        le->leading = false;
        quick.call_deadline_ms = RELEASE_DEADLINE_MS;
        fiber_mask_cancel(quick.world->loop);
        error_clear(&err);
        if (kube_doc_get(&quick, &leases, le->options.ns, le->options.name, &lease, &err) == 0 &&
            text_equal(doc_get_string(lease, "spec.holderIdentity"), le->options.identity) &&
            doc_set_string(lease, "spec.holderIdentity", "") == 0 &&
            doc_set_int(lease, "spec.leaseDurationSeconds", 1) == 0)
                kube_doc_update(&quick, &leases, le->options.ns, le->options.name, lease, NULL, NULL, &err);
        if (err.code < 0)
                log_warn(quick.log, "the leader lease was not released", "error", err.text);
        fiber_unmask_cancel(quick.world->loop);
}

/* ---- in single steps ---- */

int leader_look(struct leader *le, const json_t *lease, bool *ret_free)
{
        *ret_free = true;
        if (!lease)
                return 0;
        TRY(observe(le, lease));
        *ret_free = may_take(le, lease);
        return 0;
}

int leader_try(struct leader *le, int64_t call_deadline_ms, struct error *err)
{
        struct kube_client bounded = *le->kube;

        bounded.call_deadline_ms = call_deadline_ms;
        return try_once(le, &bounded, err);
}

int leader_renew(struct leader *le, struct error *err)
{
        return renew_in_time(le, try_once, err);
}
