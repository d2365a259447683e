/* Applies one stage of what was built: spec/resource-set.md 9. */
#include "common/kube/mapping.h"
#include "hub-agent/resource-set/health.h"
#include "hub-agent/resource-set/pass.h"

#define STAGE_WAIT_MS 60000
#define GONE_POLL_MS 2000
#define PROBLEMS_MAX 20

static const struct kube_write cleaning = { .field_manager = FLUX_MANAGER }; /* force is for applying */

int pass_read(struct set_pass *p, struct kube_client *kube, const struct kube_resource *r, const char *ns,
              const char *name, json_t **ret, struct error *err)
{
        return look_read(p->rc->arena, kube, r, ns, name, ret, err);
}

/* ---- looking ---- */

static int find_set(void *ctx, const char *ns, const char *name, const struct resource_set **ret,
                    struct error *err)
{
        struct set_pass *p = ctx;
        const struct object *o = NULL;

        TRY(cache_get(p->rc, &resource_set_kind, ns, name, &o));
        *ret = (const struct resource_set *)o;
        return 0;
}

static struct set_look look_of(struct set_pass *p)
{
        const struct flag_strings *managers = agent_of(p->rc)->options->override_managers;

        return (struct set_look){ .arena = p->rc->arena,
                                  .kube = &p->kube,
                                  .mapper = agent_of(p->rc)->mapper,
                                  .set = p->set,
                                  .managers = managers ? managers->at : NULL,
                                  .n_managers = managers ? managers->n : 0,
                                  .find_set = find_set,
                                  .ctx = p };
}

static int examine(struct set_pass *p, struct set_item *item, struct error *err)
{
        const struct set_look look = look_of(p);
        AUTO_JSON json_t *dry = NULL;
        int code = look_object(&look, item, &dry, err);

        if (item->contested)
                rc_event(p->rc, &p->set->object, "Warning", "OwnershipConflict", "%s", err->text);
        return code;
}

/* ---- writing ---- */

static int recreate(struct set_pass *p, struct set_item *item, struct error *err)
{
        const char *uid = or_empty(doc_get_string(item->live, "metadata.uid"));
        int code = kube_doc_delete(&p->kube, &item->resource, item->ns, item->name, uid, "Background", err);
        const struct gone gone = { &item->resource, item->ns, item->name, uid };

        if (code < 0 && code != ERR_NOT_FOUND)
                return error_wrap(err, "%s immutable field detected, failed to delete object", item->words);
        error_clear(err);
        if (pass_await_gone(p, &gone, GONE_POLL_MS, p->deadline_ms, err) < 0)
                return error_wrap(err, "%s immutable field detected, failed to wait for object to be deleted",
                                  item->words);
        item->action = ACTION_CREATED;
        return 0;
}

static int write_item(struct set_pass *p, struct set_item *item, struct error *err)
{
        AUTO_JSON json_t *cleaned = NULL;
        AUTO_JSON json_t *applied = NULL;
        const struct set_look look = look_of(p);

        if (item->recreate)
                TRY(recreate(p, item, err));
        if (item->cleaning && !item->recreate &&
            kube_doc_patch(&p->kube, &item->resource, item->ns, item->name, KUBE_PATCH_JSON, item->cleaning,
                           &cleaning, &cleaned, err) < 0)
                return error_wrap(err, "%s metadata.managedFields cleanup failed", item->words);
        if (look_send(&look, item, false, &applied, err) < 0)
                return error_wrap(err, "%s apply failed", item->words);
        return pass_tell(p, item->words, item->action == ACTION_CREATED ? "created" : "configured");
}

/* ---- a stage ---- */

struct stage {
        struct set_pass *p;
        struct set_item *at;
        size_t n;
        int (*fn)(struct set_pass *p, struct set_item *item, struct error *err);
};

/* A problem is of the item: the others go on. */
static int one_item(struct reconcile *one, void *ctx, size_t i)
{
        struct stage *s = ctx;
        struct set_item *item = &s->at[i];
        struct error err = { 0 };
        int code;

        TRY(pass_check_time(s->p, one->err));
        code = s->fn(s->p, item, &err);
        if (code == 0)
                return 0;
        if (code == ERR_CANCELLED || code == ERR_NO_MEMORY)
                return error_set(one->err, code, "%s", err.text);
        item->problem = *item->object->provider ? arena_printf(s->p->rc->arena, "%s (%s, id %s)", err.text,
                                                               item->object->provider, item->object->set_id)
                                                : arena_strdup(s->p->rc->arena, err.text);
        return item->problem ? 0 : error_no_memory(one->err);
}

static int tell_problems(const struct stage *s, struct error *err)
{
        AUTO_BUF struct buf b;
        size_t n = 0;

        buf_init(&b, 64u << 10);
        for (size_t i = 0; i < s->n; i++)
                if (s->at[i].problem && n++ < PROBLEMS_MAX)
                        buf_printf(&b, "%s%s", b.len ? "; " : "", s->at[i].problem);
        if (n > PROBLEMS_MAX)
                buf_printf(&b, "; and %zu more", n - PROBLEMS_MAX);
        return n ? error_set(err, ERR_RETRY, "%s", or_empty(b.data)) : 0;
}

static int for_all(struct stage *s, int (*fn)(struct set_pass *, struct set_item *, struct error *),
                   struct error *err)
{
        s->fn = fn;
        if (rc_for_each(s->p->rc, s->n, one_item, s) < 0)
                return s->p->rc->err->code;
        return tell_problems(s, err);
}

/* What is about to be made stands in the inventory before it is made. */
static int note_ahead(struct set_pass *p, const struct stage *s, struct error *err)
{
        struct resource_set_inventory_entry *more =
                ARENA_NEW_ARRAY(p->rc->arena, struct resource_set_inventory_entry, p->applied.n + s->n + 1);
        inventory all, here = { .at = more, .set = true }, stored = inventory_of(p->wanted);
        struct resource_set_inventory *into = ARENA_NEW(p->rc->arena, struct resource_set_inventory);

        if (!more || !into)
                return error_no_memory(err);
        for (uint32_t i = 0; i < p->applied.n; i++)
                more[here.n++] = p->applied.at[i];
        for (size_t i = 0; i < s->n; i++)
                more[here.n++] =
                        (struct resource_set_inventory_entry){ s->at[i].id, s->at[i].resource.version };
        p->applied = here;
        TRY(inventory_union(p->rc->arena, &p->before, &here, &all, err));
        if (inventory_equal(&all, &stored))
                return 0;
        into->entries = all;
        p->wanted->status->inventory = into;
        return pass_write_status(p);
}

static int write_marked(struct set_pass *p, struct set_item *item, struct error *err)
{
        return item->write ? write_item(p, item, err) : 0;
}

static bool is_waited_for(const struct set_item *item, enum apply_stage stage)
{
        return (stage == STAGE_DEFINITIONS || stage == STAGE_CLASSES) && item->write;
}

static int await_stage(struct set_pass *p, struct stage *s, enum apply_stage stage, struct error *err)
{
        struct set_item *some = ARENA_NEW_ARRAY(p->rc->arena, struct set_item, s->n + 1);
        size_t n = 0;

        if (!some)
                return error_no_memory(err);
        for (size_t i = 0; i < s->n; i++)
                if (is_waited_for(&s->at[i], stage))
                        some[n++] = s->at[i];
        return n ? pass_await_health(p, some, n, STAGE_WAIT_MS, err) : 0;
}

int pass_apply_stage(struct set_pass *p, struct set_item *at, size_t n, enum apply_stage stage,
                     struct error *err)
{
        struct stage s = { .p = p, .at = at, .n = n };

        if (n == 0)
                return 0;
        TRY(for_all(&s, examine, err));
        TRY(note_ahead(p, &s, err));
        TRY(for_all(&s, write_marked, err));
        return await_stage(p, &s, stage, err);
}
