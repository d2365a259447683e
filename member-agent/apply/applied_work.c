/* The AppliedWork of a Work: owner of what the Work applies, and list of it for who has lost the state file.
 * spec/member-agent.md 2.2. */
#include "common/base/timefmt.h"
#include "member-agent/apply/pass.h"

static void unref(void *object)
{
        object_unref(object);
}

static int look_up(struct member_agent *a, const char *name, struct arena *arena, struct object **ret,
                   struct error *err)
{
        TRY(kube_get(&a->member, &applied_work_kind, NULL, name, arena, ret, err));
        return agent_observe(a, a->applied_works, *ret, err);
}

/* One made for a Work that goes would outlive it: who deletes the Work has looked for it already, perhaps
 * while the caller waited for an answer. */
static int check_stays(const struct member_agent *a, const char *name, struct error *err)
{
        const struct object *work = informer_get(a->works, a->ns, name);

        if (work && work->meta.deletion_ms == TIME_NONE)
                return 0;
        return error_set(err, ERR_RETRY, "Work %s, whose AppliedWork is to be made, %s", name,
                         work ? "is being deleted" : "is gone");
}

struct origin { /* of a Work; NULL where its labels do not say */
        const char *placement, *index;
};

/* The Work is a cache's, and may go while a request is on its way: nothing is borrowed of it. */
static int origin_of(const struct object *work, struct arena *arena, struct origin *ret, struct error *err)
{
        const struct string_map *labels = &work->meta.labels;
        const char *placement = string_map_get(labels, LABEL_PARENT_PLACEMENT),
                   *ns = string_map_get(labels, LABEL_PARENT_PLACEMENT_NAMESPACE),
                   *index = string_map_get(labels, LABEL_PARENT_RESOURCE_SNAPSHOT_INDEX);

        *ret = (struct origin){ 0 };
        if (text_empty(placement) || text_empty(index))
                return 0;
        ret->placement = arena_printf(arena, "%s%s%s", or_empty(ns), text_empty(ns) ? "" : "/", placement);
        ret->index = arena_strdup(arena, index);
        return ret->placement && ret->index ? 0 : error_no_memory(err);
}

bool applied_work_origin_changed(const struct object *before, const struct object *now)
{
        static const char *const labels[] = { LABEL_PARENT_PLACEMENT, LABEL_PARENT_PLACEMENT_NAMESPACE,
                                              LABEL_PARENT_RESOURCE_SNAPSHOT_INDEX };

        for (size_t i = 0; i < ARRAY_LEN(labels); i++)
                if (!text_equal(string_map_get(&before->meta.labels, labels[i]),
                                string_map_get(&now->meta.labels, labels[i])))
                        return true;
        return false;
}

static bool tells_origin(const struct string_map *annotations, const struct origin *o)
{
        return text_equal(string_map_get(annotations, ANNOTATION_FROM_PLACEMENT), o->placement) &&
               text_equal(string_map_get(annotations, ANNOTATION_FROM_SNAPSHOT), o->index) &&
               string_map_get(annotations, ANNOTATION_SINCE);
}

static int put_origin(const struct origin *o, int64_t now_ms, struct string_map *annotations,
                      struct arena *arena, struct error *err)
{
        char *since = arena_alloc(arena, RFC3339_SIZE);

        if (!since)
                return error_no_memory(err);
        time_format_rfc3339(now_ms, since);
        if (string_map_put(annotations, ANNOTATION_FROM_PLACEMENT, o->placement, arena) < 0 ||
            string_map_put(annotations, ANNOTATION_FROM_SNAPSHOT, o->index, arena) < 0 ||
            string_map_put(annotations, ANNOTATION_SINCE, since, arena) < 0)
                return error_no_memory(err);
        return 0;
}

static int make(struct member_agent *a, const char *name, struct arena *arena, struct object **ret,
                struct error *err)
{
        struct applied_work *w =
                (struct applied_work *)(void *)object_new(&applied_work_kind, NULL, name, arena);
        struct applied_work_spec *spec = ARENA_NEW(arena, struct applied_work_spec);
        const struct object *work;
        struct origin origin = { 0 };
        int r;

        if (!w || !spec)
                return error_no_memory(err);
        TRY(check_stays(a, name, err));
        *spec = (struct applied_work_spec){ name, a->ns };
        w->spec = spec;
        if (string_map_put(&w->object.meta.annotations, ANNOTATION_OWNER, a->owner, arena) < 0)
                return error_no_memory(err);
        work = informer_get(a->works, a->ns, name);
        if (work)
                TRY(origin_of(work, arena, &origin, err));
        if (origin.placement)
                TRY(put_origin(&origin, loop_wall_ms(a->loop), &w->object.meta.annotations, arena, err));
        r = kube_create(&a->member, &w->object, arena, ret, err);
        if (r == ERR_EXISTS) {
                error_clear(err);
                return look_up(a, name, arena, ret, err);
        }
        return r < 0 ? r : agent_observe(a, a->applied_works, *ret, err);
}

int applied_work_ensure(struct member_agent *a, const char *name, struct arena *arena,
                        const struct object **ret, struct error *err)
{
        const struct object *known = informer_get(a->applied_works, NULL, name);
        struct object *made = NULL;

        if (known) {
                object_ref(known);
                if (arena_defer(arena, unref, (void *)(uintptr_t)known) < 0)
                        return error_no_memory(err);
                *ret = known;
                return 0;
        }
        TRY(make(a, name, arena, &made, err));
        *ret = made;
        return 0;
}

int applied_work_ensure_live(struct member_agent *a, const char *name, struct arena *arena,
                             const struct object **ret, struct error *err)
{
        struct object *live = NULL;
        int r = look_up(a, name, arena, &live, err);

        if (r == ERR_NOT_FOUND) {
                error_clear(err);
                r = make(a, name, arena, &live, err);
        }
        *ret = live;
        return r;
}

/* One that another Work handed over does not tell that this one ever looked for its owner. */
static bool has_row_of_its_own(const struct rows *rows)
{
        for (size_t i = 0; i < rows->n; i++)
                if (rows->at[i].work_generation > 0)
                        return true;
        return false;
}

int applied_work_find(struct member_agent *a, const char *name, struct arena *arena,
                      const struct object **ret, struct error *err)
{
        struct work_memory *memory = agent_memory(a, name);
        struct rows rows = { 0 };

        if (!memory)
                return error_no_memory(err);
        if (!memory->owner_known)
                TRY(store_rows_of_work(a->store, name, arena, &rows, err));
        if (informer_get(a->applied_works, NULL, name) &&
            (memory->owner_gone || (!memory->owner_known && !has_row_of_its_own(&rows))))
                TRY(applied_work_ensure_live(a, name, arena, ret, err));
        else
                TRY(applied_work_ensure(a, name, arena, ret, err));
        memory->owner_known = true;
        memory->owner_gone = false;
        return 0;
}

int applied_work_tell_origin(struct pass *p, struct error *err)
{
        /* A snapshot that leaves the manifests as they are changes labels alone: what was kept has older
         * ones. */
        const struct object *work = informer_get(p->agent->works, p->agent->ns, p->name);
        struct object *wanted, *answer = NULL;
        struct origin origin;
        int r;

        if (!work || !agent_made(p->agent, p->applied_work))
                return 0; /* what another agent made stays as it is */
        TRY(origin_of(work, p->arena, &origin, err));
        if (!origin.placement || tells_origin(&p->applied_work->meta.annotations, &origin))
                return 0; /* while that stays, so does the moment since when */
        wanted = object_copy(p->applied_work, p->arena);
        if (!wanted)
                return error_no_memory(err);
        TRY(put_origin(&origin, p->now_ms, &wanted->meta.annotations, p->arena, err));
        r = kube_patch_diff(&p->agent->member, p->applied_work, wanted, OBJECT_META_SPEC, p->arena, &answer,
                            err);
        if (r == ERR_FORBIDDEN) {
                log_warn(p->log, "the AppliedWork cannot say where it is from", "problem", err->text);
                error_clear(err);
                return 0;
        }
        if (r < 0 || answer == p->applied_work)
                return r;
        p->applied_work = answer;
        return agent_observe(p->agent, p->agent->applied_works, answer, err);
}

/* ---- status ---- */

/* A uid stands for one kind, namespace and name. */
static bool same_resource(const struct applied_resource *a, const struct applied_resource *b)
{
        return text_equal(a->uid, b->uid) && a->id.ordinal.value == b->id.ordinal.value &&
               text_equal(a->id.version, b->id.version);
}

static const char *none_if_empty(const char *s)
{
        return text_empty(s) ? NULL : s;
}

/* What left the Work stays listed until it is off the cluster: if the state file is lost, nobody else knows.
 */
static void list_lingering(const struct pass *p, struct applied_resource_list *list)
{
        for (size_t i = 0; i < p->lingering.n; i++) {
                const struct row *row = &p->lingering.at[i];

                if (text_empty(row->uid))
                        continue;
                list->at[list->n++] = (struct applied_resource){
                        .id = { .ordinal = { .set = true, .value = (int64_t)(p->n + i) },
                                .group = none_if_empty(row->group),
                                .version = row->version,
                                .kind = row->kind,
                                .resource = row->plural,
                                .ns = none_if_empty(row->ns),
                                .name = row->name },
                        .uid = row->uid,
                };
        }
}

bool identifies(const struct work_resource_identifier *id, const struct manifest *m)
{
        return text_equal(or_empty(id->group), m->group) && text_equal(id->kind, m->kind) &&
               text_equal(or_empty(id->ns), or_empty(m->ns)) && text_equal(id->name, m->name);
}

static const struct applied_resource_list *listed_by(const struct object *applied_work)
{
        static const struct applied_resource_list none;
        const struct applied_work *w = (const struct applied_work *)(const void *)applied_work;

        return w->status ? &w->status->applied_resources : &none;
}

const struct applied_resource *applied_work_entry(const struct object *applied_work, const struct manifest *m)
{
        const struct applied_resource_list *list = listed_by(applied_work);

        for (uint32_t i = 0; i < list->n; i++)
                if (identifies(&list->at[i].id, m))
                        return &list->at[i];
        return NULL;
}

static struct applied_resource applied_entry(const struct manifest *m)
{
        return (struct applied_resource){
                .id = { .ordinal = { .set = true, .value = m->ordinal },
                        .group = none_if_empty(m->group),
                        .version = m->version,
                        .kind = m->kind,
                        .resource = m->resource.plural,
                        .ns = m->ns,
                        .name = m->name },
                .uid = m->live_uid,
        };
}

static int list_applied(const struct pass *p, struct applied_resource_list *list, struct error *err)
{
        list->set = true;
        list->at = ARENA_NEW_ARRAY(p->arena, struct applied_resource, p->n + p->lingering.n + 1);
        if (!list->at)
                return error_no_memory(err);
        for (size_t i = 0; i < p->n; i++) {
                const struct manifest *m = &p->manifests[i];

                if (!result_is_applied(m->result))
                        continue;
                list->at[list->n++] = applied_entry(m);
        }
        list_lingering(p, list);
        return 0;
}

static int write_list(struct pass *p, const struct applied_resource_list *list, struct object **ret,
                      struct error *err)
{
        const struct applied_work *now = (const struct applied_work *)(const void *)p->applied_work;
        struct applied_work_status status = { .applied_resources = *list };
        struct applied_work wanted = *now;

        wanted.status = &status;
        wanted.object.refs = wanted.object.block_size = 0;
        TRY(kube_patch_diff(&p->agent->member, &now->object, &wanted.object, OBJECT_STATUS, p->arena, ret,
                            err));
        return agent_observe(p->agent, p->agent->applied_works, *ret, err);
}

int applied_work_write_status(struct pass *p, struct error *err)
{
        const struct applied_resource_list *old = listed_by(p->applied_work);
        struct applied_resource_list list = { 0 };
        struct object *answer = NULL;
        bool same;

        TRY(list_applied(p, &list, err));
        same = old->n == list.n;
        for (uint32_t i = 0; same && i < list.n; i++)
                same = same_resource(&old->at[i], &list.at[i]);
        return same ? 0 : write_list(p, &list, &answer, err);
}

int applied_work_announce(struct pass *p, struct error *err)
{
        const struct applied_resource_list *old = listed_by(p->applied_work);
        struct applied_resource_list list = { .set = true };
        struct object *answer = NULL;

        list.at = ARENA_NEW_ARRAY(p->arena, struct applied_resource, old->n + p->n + 1);
        if (!list.at)
                return error_no_memory(err);
        for (; list.n < old->n; list.n++)
                list.at[list.n] = old->at[list.n];
        for (size_t i = 0; i < p->n; i++) {
                const struct manifest *m = &p->manifests[i];

                if (pass_is_fresh(p, m) && !applied_work_entry(p->applied_work, m))
                        list.at[list.n++] = applied_entry(m);
        }
        if (list.n == old->n)
                return 0;
        TRY(write_list(p, &list, &answer, err));
        p->applied_work = answer;
        return 0;
}

int applied_work_add_rows(const struct object *applied_work, const char *name, struct arena *arena,
                          struct rows *rows, struct error *err)
{
        const struct applied_resource_list *listed = listed_by(applied_work);
        struct map *known;

        if (listed->n == 0)
                return 0;
        TRY(rows_extend(rows, listed->n, arena, &known, err));
        for (uint32_t i = 0; i < listed->n; i++) {
                const struct applied_resource *r = &listed->at[i];
                bool lacks;

                TRY(rows_lack(known, &r->id, arena, &lacks, err));
                if (!lacks)
                        continue;
                rows->at[rows->n] = row_of_identifier(name, &r->id);
                rows->at[rows->n++].uid = or_empty(r->uid);
        }
        return 0;
}
