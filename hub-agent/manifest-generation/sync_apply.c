/* Applies what was loaded, rank by rank. Nothing is asked of the hub about an object that is as it was
 * applied last, and nothing is written where nothing differs. spec/flux-yaml.md 7.2. */
#include "common/base/memory.h"
#include "hub-agent/manifest-generation/generation_agent.h"
#include "hub-agent/manifest-generation/live_match.h"
#include "hub-agent/manifest-generation/take_over.h"

#define CACHE_WAIT_MS 30000
#define DEFINITION_WAIT_MS 30000
#define DEFINITION_POLL_MS 500
#define LISTED_FROM 8 /* objects of a kind that are read by a list rather than one by one */
#define DRIFT_SOON_MS 60000
#define HICCUP_MS 1500 /* a shorter one is no outage to kube/connection.h */
#define RANK_DEFINITIONS 1

static const struct kube_write forced = { .field_manager = FLUX_SYNC_MANAGER, .force = true };

struct item_run {
        struct sync_item *item;
        struct kube_resource resource;
        struct hub_kind *kind; /* NULL: it is not looked at any further */
        const json_t *listed;  /* what a list gave; of the rank's arena */
};

struct rank_run {
        struct generator_agent *a;
        struct reconcile *rc;
        struct desired *d;
        struct arena arena; /* of lists */
        struct item_run *at;
        size_t n;
};

static int64_t now_of(const struct generator_agent *a)
{
        return loop_now_ms(a->world->loop);
}

/* Once for each object and what is said of it. */
static void tell_once(struct generator_agent *a, bool warning, const char *words, const char *identity)
{
        AUTO_FREE char *key = mem_printf("%s %s", words, identity);

        if (!key || is_told(a, key))
                return;
        if (warning)
                log_warn(&a->log, words, "resource", identity);
        else
                log_info(&a->log, words, "resource", identity);
}

/* ---- one object ---- */

/* Kept with the object: what is tried again has another one. */
static void problem_set(struct rank_run *run, struct sync_item *item, const struct error *err)
{
        item->outcome = ITEM_FAILED;
        if (text_equal(item->problem, err->text))
                return;
        item->problem = arena_strdup(&run->d->arena, err->text);
        item->told = false;
}

static int fail(struct rank_run *run, struct sync_item *item, const struct error *err)
{
        struct generator_agent *a = run->a;
        struct known_object *k = hub_view_obtain(a->view, item->object.identity);

        problem_set(run, item, err);
        if (!k || !item->problem)
                return ERR_NO_MEMORY;
        k->failures++;
        k->due_ms = now_of(a) + mend_pause_ms(k->failures);
        timetable_mend_at(&a->timetable, k->due_ms);
        return 0;
}

static void succeed(struct rank_run *run, struct sync_item *item, struct known_object *k, bool changed)
{
        int64_t now_ms = now_of(run->a);

        item->outcome = changed ? ITEM_CHANGED : ITEM_UNCHANGED;
        item->problem = NULL;
        item->told = false;
        k->failures = 0;
        k->due_ms = INT64_MAX;
        if (!changed)
                return;
        if (k->applied_ms && now_ms - k->applied_ms < DRIFT_SOON_MS + 2 * mend_pause_ms(k->drifts + 1))
                k->drifts++;
        else
                k->drifts = 0;
        k->applied_ms = MAX(now_ms, 1);
}

static int read_live(struct reconcile *one, struct item_run *r, json_t **ret)
{
        const struct sync_object *o = &r->item->object;
        int code;

        if (r->listed) {
                *ret = json_incref((json_t *)(uintptr_t)r->listed);
                return 0;
        }
        code = kube_doc_get(one->kube, &r->resource, o->ns, o->name, ret, one->err);
        if (code != ERR_NOT_FOUND)
                return code;
        error_clear(one->err);
        return 0;
}

/* There is nothing to try again before a sync. */
static void rest(struct generator_agent *a, const struct sync_item *item)
{
        struct known_object *k = hub_view_known(a->view, item->object.identity);

        if (k)
                k->due_ms = INT64_MAX;
}

static bool is_ignored_there(struct rank_run *run, struct sync_item *item, const char *value)
{
        if (!text_equal(value, "true"))
                return false;
        tell_once(run->a, false, "not applying resource; ignore annotation in cluster resource",
                  item->object.identity);
        item->outcome = ITEM_IGNORED;
        rest(run->a, item);
        return true;
}

static int write_object(struct rank_run *run, struct reconcile *one, struct item_run *r, const json_t *live,
                        const json_t *dressed)
{
        struct sync_item *item = r->item;
        const struct sync_object *o = &item->object;
        struct known_object *k = hub_view_obtain(run->a->view, o->identity);
        AUTO_JSON json_t *answer = NULL;

        if (!k)
                return error_no_memory(one->err);
        TRY(take_over(one->kube, &r->resource, live, one->err));
        TRY(kube_doc_patch(one->kube, &r->resource, o->ns, o->name, KUBE_PATCH_APPLY, dressed, &forced,
                           &answer, one->err));
        k = hub_view_obtain(run->a->view, o->identity); /* others ran meanwhile */
        if (!k || known_object_note(k, answer, item->checksum) < 0)
                return error_no_memory(one->err);
        succeed(run, item, k,
                !live || !text_equal(doc_get_string(live, "metadata.resourceVersion"),
                                     doc_get_string(answer, "metadata.resourceVersion")));
        return 0;
}

/* What is there is read, since nothing is known of it. */
static int compare_and_write(struct rank_run *run, struct reconcile *one, struct item_run *r)
{
        struct sync_item *item = r->item;
        AUTO_JSON json_t *live = NULL;
        AUTO_JSON json_t *dressed = NULL;
        struct known_object *k;

        TRY(read_live(one, r, &live));
        if (is_ignored_there(run, item, sync_ignore_of(live)))
                return 0;
        TRY(sync_dress(item->object.doc, item->object.ns, item->mark, item->checksum, &dressed, one->err));
        if (!live || doc_get(live, "metadata.deletionTimestamp") ||
            !live_holds(live, dressed, FLUX_SYNC_MANAGER))
                return write_object(run, one, r, live, dressed);
        k = hub_view_obtain(run->a->view, item->object.identity);
        if (!k || known_object_note(k, live, item->checksum) < 0)
                return error_no_memory(one->err);
        succeed(run, item, k, false);
        return 0;
}

static bool is_as_applied(struct rank_run *run, struct item_run *r)
{
        struct sync_item *item = r->item;
        struct known_object *k = hub_view_known(run->a->view, item->object.identity);
        const struct object *live = hub_kind_get(r->kind, item->object.ns, item->object.name);

        if (!k || !live || !k->uid || k->failures > 0 || !text_equal(k->checksum, item->checksum) ||
            !known_object_holds(k, &live->meta, item->object.doc, item->mark))
                return false;
        succeed(run, item, k, false);
        return true;
}

static int look_at(struct rank_run *run, struct reconcile *one, struct item_run *r)
{
        const struct object *live = hub_kind_get(r->kind, r->item->object.ns, r->item->object.name);

        if (live && is_ignored_there(run, r->item, string_map_get(&live->meta.annotations, FLUX_IGNORE)))
                return 0;
        if (is_as_applied(run, r))
                return 0;
        return compare_and_write(run, one, r);
}

/* No answer came, and none comes a moment later: all others would fail too. */
static bool is_hub_away(struct rank_run *run, const struct error *err)
{
        const struct kube_connection *c = run->a->connection;

        if (err->http_status != 0 || !error_is_retryable(err->code))
                return false;
        if (kube_connection_good(c) && fiber_sleep(run->a->world->loop, HICCUP_MS) < 0)
                return true;
        return !kube_connection_good(c);
}

/* A failure is the object's: the others go on. */
static int apply_one(struct reconcile *one, void *ctx, size_t i)
{
        struct rank_run *run = ctx;
        struct item_run *r = &run->at[i];
        int code;

        if (!r->kind)
                return 0;
        code = look_at(run, one, r);
        if (code == 0 || code == ERR_CANCELLED)
                return code;
        if (is_hub_away(run, one->err))
                return fail(run, r->item, one->err) < 0 ? error_no_memory(one->err) : code;
        if (fail(run, r->item, one->err) < 0)
                return error_no_memory(one->err);
        error_clear(one->err);
        return 0;
}

/* ---- one rank ---- */

/* False: nothing is applied, which the item says. */
static bool is_applied(struct rank_run *run, struct sync_item *item, struct error *err)
{
        struct generator_agent *a = run->a;

        switch (sync_fate_of(&a->rules, &item->object, err)) {
        case SYNC_APPLY:
                return true;
        case SYNC_IGNORED:
                tell_once(a, false, "not applying resource; ignore annotation in file",
                          item->object.identity);
                item->outcome = ITEM_IGNORED;
                return false;
        case SYNC_OUTSIDE:
                tell_once(a, true, "not applying resource; its namespace is not allowed",
                          item->object.identity);
                item->outcome = ITEM_OUTSIDE;
                return false;
        case SYNC_REFUSED:
                problem_set(run, item, err);
                return false;
        }
        UNREACHABLE();
}

/* Finds the resource and its cache. */
static int prepare(struct rank_run *run, struct item_run *r, struct error *err)
{
        struct generator_agent *a = run->a;
        const struct sync_object *o = &r->item->object;
        struct error why = { 0 };
        struct kube_mapped mapped;
        int code;

        if (!is_applied(run, r->item, &why)) {
                rest(a, r->item);
                return 0;
        }
        code = kube_mapper_api_version(a->mapper, o->api_version, o->kind, &mapped, &why);
        if (code == ERR_CANCELLED)
                return error_set(err, code, "cancelled");
        if (code < 0)
                return fail(run, r->item, &why) < 0 ? error_no_memory(err) : 0;
        r->resource = mapped.resource;
        if (hub_view_kind(a->view, &r->resource,
                          a->rules.n_namespaces && mapped.resource.namespaced ? o->ns : NULL, &r->kind) < 0)
                return error_no_memory(err);
        return 0;
}

static int await_caches(struct rank_run *run, struct error *err)
{
        int64_t deadline_ms = now_of(run->a) + CACHE_WAIT_MS;

        for (size_t i = 0; i < run->n; i++)
                if (run->at[i].kind && !hub_kind_filled(run->at[i].kind) &&
                    hub_kind_await(run->at[i].kind, run->a->world->loop, deadline_ms) == ERR_CANCELLED)
                        return error_set(err, ERR_CANCELLED, "cancelled");
        return 0;
}

/* ---- many objects of one kind, after a start ---- */

static bool is_unknown(struct rank_run *run, const struct item_run *r)
{
        const struct sync_object *o = &r->item->object;

        return r->kind && !r->listed && !hub_view_known(run->a->view, o->identity) &&
               hub_kind_get(r->kind, o->ns, o->name);
}

static int take_listed(struct rank_run *run, size_t from, const json_t *items)
{
        struct map by_place = MAP_INIT;
        int code = 0;
        json_t *doc;
        size_t i;

        json_array_foreach((json_t *)(uintptr_t)items, i, doc) {
                AUTO_KEY struct key key = KEY_EMPTY;

                if (code == 0 && object_key(&key, doc_get_string(doc, "metadata.namespace"),
                                            or_empty(doc_get_string(doc, "metadata.name"))) == 0)
                        code = map_put(&by_place, key.text, doc);
        }
        for (i = from; code == 0 && i < run->n; i++) {
                const struct sync_object *o = &run->at[i].item->object;
                AUTO_KEY struct key key = KEY_EMPTY;

                if (run->at[i].kind == run->at[from].kind && object_key(&key, o->ns, o->name) == 0)
                        run->at[i].listed = map_get(&by_place, key.text);
        }
        map_free(&by_place);
        return code;
}

static int list_kind(struct rank_run *run, size_t from, struct error *err)
{
        const struct item_run *r = &run->at[from];
        const char *ns = run->a->rules.n_namespaces && r->resource.namespaced ? r->item->object.ns : NULL;
        json_t *items = NULL;
        int code = kube_doc_list(run->rc->kube, &r->resource, ns, FLUX_SYNC_MARK, &items, err);

        if (code == ERR_CANCELLED || code == ERR_NO_MEMORY)
                return code;
        if (code < 0) { /* one by one, then */
                error_clear(err);
                return 0;
        }
        TRY(doc_keep(&run->arena, items, err));
        return take_listed(run, from, items) < 0 ? error_no_memory(err) : 0;
}

static int list_unknown(struct rank_run *run, struct error *err)
{
        for (size_t i = 0; i < run->n; i++) {
                size_t n = 0;
                bool first = is_unknown(run, &run->at[i]);

                for (size_t k = 0; first && k < i; k++)
                        first = run->at[k].kind != run->at[i].kind; /* it was asked already */
                for (size_t k = i; first && k < run->n && n < LISTED_FROM; k++)
                        n += run->at[k].kind == run->at[i].kind && is_unknown(run, &run->at[k]);
                if (n >= LISTED_FROM)
                        TRY(list_kind(run, i, err));
        }
        return 0;
}

/* ---- definitions ---- */

static bool is_established(const json_t *definition)
{
        json_t *c;
        size_t i;

        json_array_foreach(doc_get_array(definition, "status.conditions"), i, c)
                if (text_equal(doc_get_string(c, "type"), "Established"))
                        return text_equal(doc_get_string(c, "status"), "True");
        return false;
}

static int await_definition(struct rank_run *run, struct item_run *r, int64_t deadline_ms, struct error *err)
{
        struct loop *l = run->a->world->loop;

        for (;;) {
                AUTO_JSON json_t *live = NULL;
                struct error why = { 0 };
                int code = kube_doc_get(run->rc->kube, &r->resource, NULL, r->item->object.name, &live, &why);

                if (code == ERR_CANCELLED)
                        return error_set(err, code, "cancelled");
                if (is_established(live))
                        return 0;
                if (loop_now_ms(l) >= deadline_ms) {
                        error_set(&why, ERR_TIMEOUT, "the definition was not established within %d s",
                                  DEFINITION_WAIT_MS / 1000);
                        return fail(run, r->item, &why) < 0 ? error_no_memory(err) : 0;
                }
                if (fiber_sleep(l, DEFINITION_POLL_MS) < 0)
                        return error_set(err, ERR_CANCELLED, "cancelled");
        }
}

/* Objects of a new kind come in a later rank. */
static int await_definitions(struct rank_run *run, struct error *err)
{
        int64_t deadline_ms = now_of(run->a) + DEFINITION_WAIT_MS;
        struct error ignored = { 0 };
        bool any = false;

        for (size_t i = 0; i < run->n; i++) {
                struct item_run *r = &run->at[i];

                if (!text_equal(r->item->object.kind, "CustomResourceDefinition") ||
                    r->item->outcome != ITEM_CHANGED || !r->kind)
                        continue;
                any = true;
                TRY(await_definition(run, r, deadline_ms, err));
        }
        return any && kube_mapper_refresh(run->a->mapper, NULL, &ignored) == ERR_CANCELLED
                       ? error_set(err, ERR_CANCELLED, "cancelled")
                       : 0;
}

static int run_rank(struct rank_run *run, unsigned rank, struct error *err)
{
        for (size_t i = 0; i < run->n; i++)
                TRY(prepare(run, &run->at[i], err));
        TRY(await_caches(run, err));
        TRY(list_unknown(run, err));
        if (rc_for_each(run->rc, run->n, apply_one, run) < 0)
                return run->rc->err->code;
        return rank == RANK_DEFINITIONS ? await_definitions(run, err) : 0;
}

/* ---- all ---- */

static bool is_due(struct generator_agent *a, const struct sync_item *item)
{
        const struct known_object *k = hub_view_known(a->view, item->object.identity);

        return k && (k->drifted || k->due_ms <= now_of(a));
}

int sync_apply(struct reconcile *rc, struct desired *d, bool due_only, struct error *err)
{
        struct generator_agent *a = generator_of(rc);
        int code = 0;

        for (size_t i = 0; code == 0 && i < d->n;) {
                unsigned rank = sync_rank(d->items[i].object.kind);
                struct rank_run run = { .a = a, .rc = rc, .d = d };

                run.at = ARENA_NEW_ARRAY(rc->arena, struct item_run, d->n - i);
                if (!run.at)
                        return error_no_memory(err);
                for (; i < d->n && sync_rank(d->items[i].object.kind) == rank; i++)
                        if (!due_only || is_due(a, &d->items[i]))
                                run.at[run.n++].item = &d->items[i];
                code = run_rank(&run, rank, err);
                arena_free(&run.arena);
        }
        return code;
}
