/* A state file may be behind: another agent ran in this one's place and left it as it was. Before the hub has
 * been heard, the file alone says what is wanted; it is believed only as far as nobody else has worked on
 * this cluster since. What tells an object that somebody deleted (it is made again) from one that was rightly
 * removed: whoever removes it rightly also changes the AppliedWork. */
#include "member-agent/apply/clean.h"
#include "member-agent/apply/pass.h"

static const struct applied_resource_list *listed_by(const struct object *applied_work)
{
        const struct applied_work *w = (const struct applied_work *)(const void *)applied_work;

        return w->status ? &w->status->applied_resources : NULL;
}

static bool has_row_of(const struct pass *p, const struct applied_resource *r, const char *key)
{
        const struct row *row = map_get(p->row_index, key);

        return row && text_equal(row->uid, r->uid ? r->uid : "");
}

static bool was_applied(const struct row *row)
{
        return row && row->state == ROW_APPLIED && result_is_applied(row->result);
}

/* The AppliedWork lists what our rows say is applied: the same objects, and no others. */
static int agrees(const struct pass *p, bool *ret, struct error *err)
{
        const struct applied_resource_list *listed = listed_by(p->applied_work);
        struct map keys CLEANUP(map_free);

        map_init(&keys, MAP_BORROW_KEYS, NULL);
        *ret = false;
        for (uint32_t i = 0; listed && i < listed->n; i++) {
                const struct applied_resource *r = &listed->at[i];
                const char *key =
                        object_identity(r->id.group ? r->id.group : "", r->id.kind ? r->id.kind : "",
                                        r->id.ns ? r->id.ns : "", r->id.name ? r->id.name : "", p->arena);

                if (!key || map_put(&keys, key, p->arena) < 0)
                        return error_no_memory(err);
                if (!has_row_of(p, r, key))
                        return 0;
        }
        for (size_t i = 0; i < p->n; i++)
                if (was_applied(pass_row(p, &p->manifests[i])) && !map_has(&keys, p->manifests[i].key))
                        return 0;
        *ret = true;
        return 0;
}

int stale_check_work(const struct pass *p, bool *ret_behind, struct error *err)
{
        bool same = true;

        if (!informer_synced(p->agent->works))
                TRY(agrees(p, &same, err));
        *ret_behind = !same;
        return 0;
}

bool stale_check_object(struct pass *p, struct manifest *m, const json_t *live)
{
        const struct row *row = pass_row(p, m);
        const char *hash = clean_annotation(live, ANNOTATION_SPEC_HASH);
        bool behind;

        if (informer_synced(p->agent->works))
                return false;
        if (!live)
                behind = !row || row->state != ROW_APPLIED;
        else
                behind = row && row->hash[0] && !text_empty(hash) && !text_equal(hash, row->hash) &&
                         !text_equal(hash, m->hash);
        if (!behind)
                return false;
        p->behind = m->reused = true;
        m->result = RESULT_NOT_TAKEN_OVER; /* told to nobody: the pass ends with this */
        return true;
}
