/* Tells an operator what changed for the worse or the better, once: in the log, on the Work (where the hub's
 * people look) and on its AppliedWork (where the cluster's do). Objects that are refused may be somebody
 * else's, so no event is about them. */
#include "common/base/map.h"
#include "common/ctrl/controller.h"
#include "common/kube/event.h"
#include "member-agent/apply/news.h"
#include "member-agent/apply/pass.h"

#define TOLD_MAX 20 /* of one pass; the status has them all */

static void record_on_both(struct pass *p, const char *type, const char *reason, const char *text)
{
        event_record(p->agent->hub_events, &p->work->object, type, reason, "%s", text);
        event_record(manager_events(p->agent->manager), p->applied_work, type, reason, "%s", text);
}

static int tell_one(struct pass *p, const struct news *n, struct error *err)
{
        static const struct work_resource_identifier unknown = { .kind = "manifest" };
        const struct work_resource_identifier *id = n->about && n->about->kind ? n->about : &unknown;
        const char *ns = or_empty(id->ns), *name = or_empty(id->name);
        const char *text =
                arena_printf(p->arena, "%s %s%s%s: %s", id->kind, ns, ns[0] ? "/" : "", name, n->text);

        if (!text)
                return error_no_memory(err);
        if (n->trouble)
                log_warn(p->log, "a manifest is in trouble", "kind", id->kind, "namespace", ns, "name", name,
                         "rule", n->rule, "detail", n->text);
        else
                log_info(p->log, "a manifest is out of trouble", "kind", id->kind, "namespace", ns, "name",
                         name, "rule", n->rule);
        record_on_both(p, n->trouble ? EVENT_TYPE_WARNING : EVENT_TYPE_NORMAL, n->rule, text);
        return 0;
}

static int tell_rest(struct pass *p, const struct news *news, size_t n, struct error *err)
{
        size_t in_trouble = 0;
        const char *text;

        for (size_t i = 0; i < n; i++)
                in_trouble += news[i].trouble;
        text = arena_printf(p->arena,
                            "%zu more manifests are in trouble, %zu are out of it: the status has them",
                            in_trouble, n - in_trouble);
        if (!text)
                return error_no_memory(err);
        log_warn(p->log, "more manifests than are told one by one", "in_trouble", LOG_INT(in_trouble),
                 "out_of_trouble", LOG_INT(n - in_trouble));
        record_on_both(p, in_trouble ? EVENT_TYPE_WARNING : EVENT_TYPE_NORMAL, EVENT_MORE_MANIFESTS, text);
        return 0;
}

int tell_news(struct pass *p, const struct work_status *before, const struct work_status *after,
              struct error *err)
{
        struct news *news = NULL;
        size_t n = 0;

        TRY(news_of(before, after, p->arena, &news, &n, err));
        for (size_t i = 0; i < MIN(n, TOLD_MAX); i++)
                TRY(tell_one(p, &news[i], err));
        return n > TOLD_MAX ? tell_rest(p, news + TOLD_MAX, n - TOLD_MAX, err) : 0;
}

/* ---- what could not be removed ---- */

static uint64_t hash_of(const struct unremoved *u)
{
        uint64_t hash = 0;

        for (; u; u = u->next) {
                hash = hash_bytes(u->row->kind, strlen(u->row->kind), hash + 1);
                hash = hash_bytes(u->row->ns, strlen(u->row->ns), hash);
                hash = hash_bytes(u->row->name, strlen(u->row->name), hash);
                hash = news_words_hash(u->why, hash);
        }
        return hash;
}

static int tell_one_unremoved(struct pass *p, const struct unremoved *u, struct error *err)
{
        const struct row *row = u->row;
        const char *text = arena_printf(p->arena, "%s %s%s%s: it left the Work and cannot be removed: %s",
                                        row->kind, row->ns, row->ns[0] ? "/" : "", row->name, u->why);

        if (!text)
                return error_no_memory(err);
        log_warn(p->log, "an object that left the Work cannot be removed", "kind", row->kind, "namespace",
                 row->ns, "name", row->name, "error", u->why);
        record_on_both(p, EVENT_TYPE_WARNING, EVENT_REMOVAL_FAILED, text);
        return 0;
}

int tell_unremoved(struct pass *p, struct work_memory *memory, struct error *err)
{
        const struct unremoved *u = p->unremoved;
        uint64_t hash = hash_of(u), before = memory->told_unremoved;

        memory->told_unremoved = hash;
        if (hash == before)
                return 0;
        for (size_t i = 0; u && i < TOLD_MAX; u = u->next, i++)
                TRY(tell_one_unremoved(p, u, err));
        if (!p->unremoved)
                log_info(p->log, "all that left the Work is removed");
        else if (u)
                log_warn(p->log, "more than are told one by one cannot be removed");
        return 0;
}
