/* Taking down what a set has, by its inventory: spec/cluster-object-set.md 12. */
#include "common/base/limits.h"
#include "member-agent/apply/clean.h"
#include "member-agent/object-set/reference.h"
#include "member-agent/object-set/set_pass.h"
#include "member-agent/object-set/teardown.h"

#define READ_AGAIN_TRIES 3

static struct set_object object_of(const struct row *row)
{
        return (struct set_object){ .group = row->group,
                                    .version = row->version,
                                    .kind = row->kind,
                                    .ns = row->ns,
                                    .name = row->name };
}

static struct kube_resource resource_of(const struct row *row)
{
        return (struct kube_resource){ row->group, row->version, row->plural, row->kind, row->namespaced };
}

/* Absent, or of a kind that is not served any more: *ret NULL. */
static int look(struct set_pass *p, const struct row *row, json_t **ret, struct error *err)
{
        const struct kube_resource r = resource_of(row);
        int code = kube_doc_get(p->rc->kube, &r, row->namespaced ? row->ns : NULL, row->name, ret, err);

        if (code != ERR_NOT_FOUND)
                return code;
        error_clear(err);
        *ret = NULL;
        return 0;
}

static int release(struct set_pass *p, const struct row *row, const json_t *live, bool mark_too,
                   struct error *err)
{
        static const struct kube_write write = { .field_manager = FIELD_MANAGER_OBJECT_SET };
        const struct kube_resource r = resource_of(row);
        AUTO_JSON json_t *patch = NULL;
        int code;

        TRY(want_release(&p->self, live, mark_too, &patch, err));
        if (!patch)
                return 0;
        code = kube_doc_patch(p->rc->kube, &r, row->namespaced ? row->ns : NULL, row->name, KUBE_PATCH_MERGE,
                              patch, &write, NULL, err);
        return code == ERR_NOT_FOUND ? 0 : code;
}

/* What is asked for once is looked at again at once: most objects go without waiting for anything. */
static int delete_it(struct set_pass *p, const struct row *row, json_t **live, struct error *err)
{
        const struct kube_resource r = resource_of(row);
        int code = kube_doc_delete_read(p->rc->kube, &r, *live, NULL, false, err);

        if (code < 0 && code != ERR_NOT_FOUND)
                return code;
        error_clear(err);
        json_decref(*live);
        *live = NULL;
        return look(p, row, live, err);
}

/* A set that is deleted for its objects to stay may find their references gone, and its finalizer that said
 * so as well: what only its marks tell of is nobody's. */
static bool was_orphaned(const struct set_pass *p, const json_t *live)
{
        int64_t revision;

        return p->set->object.meta.deletion_ms != TIME_NONE && live && !reference_list(live) &&
               text_parse_i64(or_empty(clean_annotation(live, ANNOTATION_SET_REVISION)), &revision) &&
               revision == p->self.revision;
}

/* *live is what is left of it; NULL = nothing. */
static int take_down_once(struct set_pass *p, const struct row *row, json_t **live, bool *ret_gone,
                          struct error *err)
{
        TRY(look(p, row, live, err));
        switch (teardown_of(&p->self, *live)) {
        case TEARDOWN_GONE:
                if (was_orphaned(p, *live))
                        TRY(release(p, row, *live, true, err));
                break;
        case TEARDOWN_RELEASE:
                TRY(release(p, row, *live, false, err));
                break;
        case TEARDOWN_DELETE:
                TRY(delete_it(p, row, live, err));
                *ret_gone = teardown_of(&p->self, *live) == TEARDOWN_GONE;
                return 0;
        case TEARDOWN_WAIT:
                *ret_gone = false;
                return 0;
        }
        *ret_gone = true;
        return 0;
}

static int take_down(struct set_pass *p, const struct row *row, json_t **live, bool *ret_gone,
                     struct error *err)
{
        int r = ERR_CONFLICT;

        for (int i = 0; r == ERR_CONFLICT && i < READ_AGAIN_TRIES; i++) {
                json_decref(*live);
                *live = NULL;
                error_clear(err);
                r = take_down_once(p, row, live, ret_gone, err);
        }
        return r;
}

struct going {
        struct set_pass *p;
        int phase;         /* only rows of this one */
        const char *words; /* of the first that is waited for */
        size_t n;          /* that are */
};

static int phase_of(const struct row *row)
{
        return row->ordinal / SET_PHASE_OBJECTS_MAX;
}

static int take_down_one(void *ctx, size_t i, struct error *err)
{
        struct going *g = ctx;
        const struct row *row = &g->p->rows.at[i];
        const struct set_object o = object_of(row);
        AUTO_JSON json_t *live = NULL;
        bool gone = false;

        if (phase_of(row) != g->phase)
                return 0;
        if (take_down(g->p, row, &live, &gone, err) < 0)
                return error_wrap(err, "%s %s/%s", row->kind, row->ns, row->name);
        if (gone)
                return store_row_remove(g->p->agent->store, row, err);
        if (g->n++ > 0)
                return 0;
        g->words = teardown_waiting_words(&o, live, g->p->arena);
        return g->words ? 0 : error_no_memory(err);
}

int set_teardown_run(struct set_pass *p, const char **ret_words, struct error *err)
{
        struct going g = { .p = p, .phase = SET_PHASES_MAX };

        *ret_words = NULL;
        while (g.n == 0 && g.phase-- > 0)
                TRY(set_for_each(p, p->rows.n, take_down_one, &g, err));
        if (g.n > 1)
                g.words = arena_printf(p->arena, "%s and %zu more", g.words, g.n - 1);
        if (g.n > 0 && !g.words)
                return error_no_memory(err);
        *ret_words = g.words;
        return 0;
}

static int orphan_one(void *ctx, size_t i, struct error *err)
{
        struct set_pass *p = ctx;
        AUTO_JSON json_t *live = NULL;

        TRY(look(p, &p->rows.at[i], &live, err));
        return live ? release(p, &p->rows.at[i], live, true, err) : 0;
}

int set_teardown_orphan(struct set_pass *p, struct error *err)
{
        return set_for_each(p, p->rows.n, orphan_one, p, err);
}
