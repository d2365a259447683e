/* Deletes what is not wanted any more: spec/resource-set.md 11.3. */
#include "hub-agent/resource-set/pass.h"

#define GONE_WAIT_MS 60000
#define GONE_POLL_MS 5000

static int delete_one(struct set_pass *p, const struct resource_set_inventory_entry *entry,
                      struct stale_object *o, struct error *err)
{
        json_t *live = NULL;
        const char *uid;
        bool served;
        int code;

        TRY(pass_check_time(p, err));
        TRY(look_find_stale(p->rc->arena, agent_of(p->rc)->mapper, entry, o, &served, err));
        if (served)
                TRY(pass_read(p, &p->kube, &o->resource, o->ns, o->place.name, &live, err));
        if (!live)
                return o->words ? pass_tell(p, o->words, "deleted") : 0;
        if (collect_decide(p->set, live) == COLLECT_SKIP)
                return pass_tell(p, o->words, "skipped");
        uid = or_empty(doc_get_string(live, "metadata.uid"));
        code = kube_doc_delete_read(&p->kube, &o->resource, live, "Background", false, err);
        if (code < 0 && code != ERR_NOT_FOUND)
                return code;
        o->uid = uid;
        error_clear(err);
        return pass_tell(p, o->words, "deleted");
}

/* That it runs out is only logged: what hangs on them has had its time. */
static int await_gone(struct set_pass *p, const struct stale_object *all, size_t n)
{
        int64_t deadline_ms = loop_now_ms(agent_of(p->rc)->world->loop) + GONE_WAIT_MS;

        for (size_t i = 0; i < n; i++) {
                const struct gone gone = { &all[i].resource, all[i].ns, all[i].place.name, all[i].uid };
                struct error err = { 0 };
                int code = all[i].uid ? pass_await_gone(p, &gone, GONE_POLL_MS, deadline_ms, &err) : 0;

                if (code == ERR_CANCELLED || code == ERR_NO_MEMORY)
                        return code;
                if (code < 0)
                        log_warn(&p->rc->log, "an object that was deleted is still there", "object",
                                 all[i].words);
        }
        return 0;
}

static int collect_part(struct set_pass *p, const inventory *stale, bool first, struct buf *problems)
{
        struct stale_object *all = ARENA_NEW_ARRAY(p->rc->arena, struct stale_object, stale->n + 1);

        if (!all)
                return ERR_NO_MEMORY;
        for (uint32_t i = 0; i < stale->n; i++) {
                struct object_place place = { 0 };
                struct error err = { 0 };

                if (!inventory_parse(p->rc->arena, or_empty(stale->at[i].id), &place) ||
                    collected_first(place.group) != first)
                        continue;
                if (delete_one(p, &stale->at[i], &all[i], &err) == 0)
                        continue;
                if (err.code == ERR_CANCELLED)
                        return err.code;
                buf_printf(problems, "%s%s delete failed: %s", problems->len ? "; " : "",
                           or_empty(all[i].words), err.text);
        }
        return first ? await_gone(p, all, stale->n) : 0;
}

int pass_collect(struct set_pass *p, const inventory *stale, struct error *err)
{
        AUTO_BUF struct buf problems;
        int code;

        buf_init(&problems, 64u << 10);
        if (stale->n == 0)
                return 0;
        code = collect_part(p, stale, true, &problems);
        if (code == 0 && problems.len == 0) /* else members would lose what placements still hold */
                code = collect_part(p, stale, false, &problems);
        if (code == ERR_NO_MEMORY)
                return error_no_memory(err);
        if (code < 0)
                return error_set(err, code, "cancelled");
        return problems.len ? error_set(err, ERR_RETRY, "delete failed, errors: %s;", problems.data) : 0;
}
