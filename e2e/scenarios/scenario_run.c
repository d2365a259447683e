/* Runs steps. What waits, looks again every POLL_MS of the fleet's clock until its deadline: in the
 * simulation that costs nothing, with real processes it bounds the load. */
#include "common/base/memory.h"
#include "common/base/timefmt.h"
#include "common/json/cel.h"
#include "common/kube/mapping.h"
#include "e2e/scenarios/scenario.h"

#define POLL_MS 50
#define FIELD_MANAGER "scenario"
#define TOKEN_SECONDS 3600
#define ANSWERED_MS 10000
#define SERVED_MS 10000 /* a definition says Established a moment before its kind is served */

struct run {
        const struct scenario *s;
        struct fleet *f;
        struct error *err;
        struct arena arena;
        struct http_endpoint somebody; /* a cluster as the service account of the step sees it */
        struct kube_client as;
        char led[FLEET_AGENT_NAME]; /* whom "leader" stood for the last time; "" = nobody yet */
        json_t *remembered;         /* objects of "remember" steps: cluster, resource, namespace, name, uid */
};

static struct loop *loop_of(const struct run *r)
{
        return r->f->world->loop;
}

/* How much longer things may take here than a step says: that costs time only where it fails. */
static int64_t patient(const struct run *r, int64_t ms)
{
        return ms * MAX(r->f->patience, 1u);
}

static int64_t patience_ms(const struct run *r, const struct step *st)
{
        return patient(r, st->within_ms);
}

static int map_kind(struct run *r, struct kube_client *kube, const char *api_version, const char *kind,
                    struct kube_resource *ret)
{
        struct kube_mapper *m = kube_mapper_new(kube);
        struct kube_mapped mapped;
        int code;

        if (!m)
                return error_no_memory(r->err);
        code = kube_mapper_api_version(m, api_version, kind, &mapped, r->err);
        if (code == 0) { /* the strings die with the mapper */
                ret->group = arena_strdup(&r->arena, mapped.resource.group);
                ret->version = arena_strdup(&r->arena, mapped.resource.version);
                ret->plural = arena_strdup(&r->arena, mapped.resource.plural);
                ret->kind = arena_strdup(&r->arena, mapped.resource.kind);
                ret->namespaced = mapped.resource.namespaced;
        }
        kube_mapper_free(m);
        return code;
}

static int resource_of(struct run *r, const char *cluster, const char *api_version, const char *kind,
                       struct kube_client **ret_kube, struct kube_resource *ret)
{
        int64_t deadline = loop_now_ms(loop_of(r)) + patient(r, SERVED_MS);
        int code;

        TRY(r->f->ops->client(r->f, cluster, ret_kube, r->err));
        while ((code = map_kind(r, *ret_kube, api_version, kind, ret)) == ERR_NOT_FOUND &&
               loop_now_ms(loop_of(r)) < deadline) {
                error_clear(r->err);
                TRY(fiber_sleep(loop_of(r), POLL_MS));
        }
        return code;
}

static const char *namespace_for(const struct kube_resource *resource, const char *ns)
{
        return resource->namespaced ? (ns ? ns : "default") : NULL;
}

/* ---- writes ---- */

#define AS_USER "user:"

/* Replaces a client of all rights by one of the step's account or user. */
static int become(struct run *r, const struct step *st, const char *cluster, struct kube_client **kube)
{
        AUTO_FREE char *token = NULL;

        if (!st->as)
                return 0;
        if (text_starts_with(st->as, AS_USER)) {
                r->as = **kube;
                r->as.impersonate = st->as + strlen(AS_USER);
                *kube = &r->as;
                return 0;
        }
        TRY(fleet_token(r->f, cluster, st->as, TOKEN_SECONDS, &token, r->err));
        r->somebody = (struct http_endpoint){ .base_url = (*kube)->endpoint->base_url,
                                              .ca_pem = (*kube)->endpoint->ca_pem,
                                              .bearer_token = arena_strdup(&r->arena, token) };
        if (!r->somebody.bearer_token)
                return error_no_memory(r->err);
        r->as = **kube;
        r->as.endpoint = &r->somebody;
        *kube = &r->as;
        return 0;
}

static int apply_one(struct run *r, const struct step *st, const char *cluster, const json_t *written,
                     bool dry_run)
{
        AUTO_JSON json_t *doc = NULL;
        const char *api_version, *kind, *name;
        struct kube_write how = { .field_manager = FIELD_MANAGER, .force = true, .dry_run = dry_run };
        struct kube_resource resource;
        struct kube_client *kube;

        TRY(scenario_fill_uids(written, r->remembered, &doc, r->err));
        TRY(doc_need_string(doc, "apiVersion", &api_version, r->err));
        TRY(doc_need_string(doc, "kind", &kind, r->err));
        TRY(doc_need_string(doc, "metadata.name", &name, r->err));
        TRY(resource_of(r, cluster, api_version, kind, &kube, &resource));
        TRY(become(r, st, cluster, &kube));
        return kube_doc_patch(kube, &resource,
                              namespace_for(&resource, doc_get_string(doc, "metadata.namespace")), name,
                              KUBE_PATCH_APPLY, doc, &how, NULL, r->err);
}

/* `code` is what the request came to. */
static int check_refusal(struct run *r, const struct step *st, int code)
{
        struct error seen;

        if (code == 0)
                return error_set(r->err, ERR_INVALID, "was accepted");
        seen = *r->err;
        error_clear(r->err);
        if (strstr(seen.text, st->message))
                return 0;
        return error_set(r->err, ERR_INVALID, "refused, but not with \"%s\": %s", st->message, seen.text);
}

static int apply_all(struct run *r, const struct step *st, const char *cluster)
{
        json_t *doc;
        size_t i;

        json_array_foreach((json_t *)st->manifests, i, doc)
                TRY(apply_one(r, st, cluster, doc, false));
        return 0;
}

/* API servers follow policies, webhooks and rights a moment later, each for itself, so one that refuses says
 * nothing of the next: on real programs every refusal may be late. */
static bool may_be_late(const struct run *r, const struct step *st)
{
        return st->within_said || (st->message && r->f->patience > 1);
}

/* What may be let in at first is tried dry: once it were there, to try it again would tell nothing. */
static int refuse_all(struct run *r, const struct step *st, const char *cluster)
{
        json_t *doc;
        size_t i;

        json_array_foreach((json_t *)st->manifests, i, doc)
                if (check_refusal(r, st, apply_one(r, st, cluster, doc, may_be_late(r, st))) < 0)
                        return error_wrap(r->err, "manifests[%zu]", i);
        return 0;
}

static bool is_final(int code)
{
        return code == ERR_CANCELLED || code == ERR_NO_MEMORY;
}

/* A write that says "within" is made until it comes to what it should. */
static int run_write(struct run *r, const struct step *st, const char *cluster)
{
        int64_t deadline = loop_now_ms(loop_of(r)) + (may_be_late(r, st) ? patience_ms(r, st) : 0);

        for (;;) {
                int code = st->type == STEP_APPLY ? apply_all(r, st, cluster) : refuse_all(r, st, cluster);

                if (code == 0 || is_final(code) || loop_now_ms(loop_of(r)) >= deadline)
                        return code;
                error_clear(r->err);
                TRY(fiber_sleep(loop_of(r), POLL_MS));
        }
}

static int run_patch(struct run *r, const struct step *st, const char *cluster)
{
        struct kube_write how = { .field_manager = FIELD_MANAGER, .subresource = st->subresource };
        AUTO_JSON json_t *patch = NULL;
        struct kube_resource resource;
        struct kube_client *kube;

        TRY(scenario_fill_uids(st->patch, r->remembered, &patch, r->err));
        TRY(resource_of(r, cluster, st->api_version, st->kind, &kube, &resource));
        TRY(become(r, st, cluster, &kube));
        return kube_doc_patch(kube, &resource, namespace_for(&resource, st->ns), st->name, KUBE_PATCH_MERGE,
                              patch, &how, NULL, r->err);
}

/* ---- looking ---- */

/* What `now` is in the expressions of a step: when the server was asked. A slow answer is not the object's.
 */
static json_t *wall_of(const struct kube_client *kube)
{
        char clock[RFC3339_SIZE];

        time_format_rfc3339_milli(loop_wall_ms(kube->world->loop), clock);
        return json_string(clock);
}

/* 0 = the step's expressions are true of the object; ERR_INVALID with words about what was seen instead. */
static int is_so(struct run *r, const struct step *st, json_t *now, json_t *doc, struct error *seen)
{
        AUTO_JSON json_t *patience = json_integer(patient(r, 1)), *former = json_string(r->led);

        for (size_t i = 0; st->that && st->that[i]; i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                struct cel_variable known[] = { { .name = "self", .value = doc },
                                                { .name = "now", .value = now },
                                                { .name = "patience", .value = patience },
                                                { .name = "formerLeader", .value = former } };
                struct cel_program *program;
                bool yes = false;

                if (cel_compile(&arena, st->that[i], &program, r->err) < 0)
                        return error_wrap(r->err, "that[%zu]", i);
                if (cel_eval_bool(program, known, ARRAY_LEN(known), &yes, seen) < 0 || !yes) {
                        AUTO_BUF struct buf text;

                        buf_init(&text, 1 << 20);
                        doc_write(doc_get(doc, "status") ? doc_get(doc, "status") : doc, &text);
                        return error_set(seen, ERR_INVALID, "not true: %s; %s is %.700s", st->that[i],
                                         doc_get(doc, "status") ? "status" : "the object", text.data);
                }
        }
        return 0;
}

/* The same of an object that is read first; ERR_NOT_FOUND if it is not there. */
static int look(struct run *r, const struct step *st, struct kube_client *kube,
                const struct kube_resource *resource, struct error *seen)
{
        AUTO_JSON json_t *doc = NULL, *now = wall_of(kube);

        TRY(kube_doc_get(kube, resource, namespace_for(resource, st->ns), st->name, &doc, seen));
        return is_so(r, st, now, doc, seen);
}

static int run_expect(struct run *r, const struct step *st, const char *cluster)
{
        int64_t deadline = loop_now_ms(loop_of(r)) + patience_ms(r, st);
        struct kube_resource resource;
        struct kube_client *kube;
        struct error seen;
        int code;

        TRY(resource_of(r, cluster, st->api_version, st->kind, &kube, &resource));
        for (;;) {
                error_clear(&seen);
                code = look(r, st, kube, &resource, &seen);
                if (code == 0 || is_final(code))
                        return code;
                if (loop_now_ms(loop_of(r)) >= deadline)
                        return error_set(r->err, ERR_TIMEOUT, "on %s after %lld ms: %s", cluster,
                                         (long long)patience_ms(r, st), seen.text);
                TRY(fiber_sleep(loop_of(r), POLL_MS));
        }
}

/* A question without an answer says nothing about the object; the last one is put until it has one. */
static int run_holds(struct run *r, const struct step *st, const char *cluster)
{
        struct kube_resource resource;
        struct kube_client *kube;
        struct error seen;
        int64_t end, now;
        int code = 0;

        TRY(resource_of(r, cluster, st->api_version, st->kind, &kube, &resource));
        end = loop_now_ms(loop_of(r)) + st->for_ms;
        while ((now = loop_now_ms(loop_of(r))) < end || (code < 0 && now < end + patient(r, ANSWERED_MS))) {
                error_clear(&seen);
                code = look(r, st, kube, &resource, &seen);
                if (code == ERR_INVALID || code == ERR_NOT_FOUND || is_final(code))
                        break;
                TRY(fiber_sleep(loop_of(r), POLL_MS));
        }
        return code < 0 ? error_set(r->err, ERR_INVALID, "on %s, %lld ms before the end: %s", cluster,
                                    (long long)(end - loop_now_ms(loop_of(r))), seen.text)
                        : 0;
}

static int run_absent(struct run *r, const struct step *st, const char *cluster)
{
        int64_t deadline = loop_now_ms(loop_of(r)) + patience_ms(r, st);
        struct kube_resource resource;
        struct kube_client *kube;
        struct error seen;

        TRY(resource_of(r, cluster, st->api_version, st->kind, &kube, &resource));
        for (;;) {
                AUTO_JSON json_t *doc = NULL;
                int code;

                error_clear(&seen);
                code = kube_doc_get(kube, &resource, namespace_for(&resource, st->ns), st->name, &doc, &seen);
                if (code == ERR_NOT_FOUND)
                        return 0;
                if (is_final(code))
                        return code;
                if (loop_now_ms(loop_of(r)) >= deadline)
                        return error_set(r->err, ERR_TIMEOUT, "on %s after %lld ms: it is still there%s%s",
                                         cluster, (long long)patience_ms(r, st), code < 0 ? ": " : "",
                                         code < 0 ? seen.text : "");
                TRY(fiber_sleep(loop_of(r), POLL_MS));
        }
}

/* Discovery follows a definition a moment later. */
static int run_unserved(struct run *r, const struct step *st, const char *cluster)
{
        int64_t deadline = loop_now_ms(loop_of(r)) + patience_ms(r, st);
        struct kube_client *kube;

        TRY(r->f->ops->client(r->f, cluster, &kube, r->err));
        for (;;) {
                struct kube_resource resource;
                int code = map_kind(r, kube, st->api_version, st->kind, &resource);

                if (code == ERR_NOT_FOUND) {
                        error_clear(r->err);
                        return 0;
                }
                if (is_final(code))
                        return code;
                if (loop_now_ms(loop_of(r)) >= deadline)
                        return error_set(r->err, ERR_TIMEOUT, "on %s after %lld ms: it is still served",
                                         cluster, (long long)patience_ms(r, st));
                error_clear(r->err);
                TRY(fiber_sleep(loop_of(r), POLL_MS));
        }
}

/* How many of a list the step's expressions are true of. */
static int64_t count_so(struct run *r, const struct step *st, json_t *now, const json_t *items)
{
        int64_t n = 0;
        json_t *doc;
        size_t i;

        json_array_foreach(items, i, doc) {
                struct error seen = { 0 };

                n += is_so(r, st, now, doc, &seen) == 0;
        }
        return n;
}

static int run_count(struct run *r, const struct step *st, const char *cluster)
{
        int64_t deadline = loop_now_ms(loop_of(r)) + patience_ms(r, st);
        struct kube_resource resource;
        struct kube_client *kube;
        struct error seen;

        TRY(resource_of(r, cluster, st->api_version, st->kind, &kube, &resource));
        for (;;) {
                AUTO_JSON json_t *items = NULL, *now = wall_of(kube);
                int64_t n;
                int code;

                error_clear(&seen);
                code = kube_doc_list(kube, &resource, st->ns, st->selector, &items, &seen);
                if (is_final(code))
                        return code;
                n = count_so(r, st, now, items);
                if (code == 0 && n == st->count)
                        return 0;
                if (loop_now_ms(loop_of(r)) >= deadline)
                        return error_set(r->err, ERR_TIMEOUT,
                                         "on %s after %lld ms: there are %lld, not %lld%s%s", cluster,
                                         (long long)patience_ms(r, st), (long long)n, (long long)st->count,
                                         code < 0 ? ": " : "", code < 0 ? seen.text : "");
                TRY(fiber_sleep(loop_of(r), POLL_MS));
        }
}

static int delete_dry(struct run *r, const struct step *st, struct kube_client *kube,
                      const struct kube_resource *resource)
{
        struct http_response answer;
        AUTO_BUF struct buf path;

        buf_init(&path, 4096);
        kube_path(&path, resource, namespace_for(resource, st->ns), st->name, NULL);
        buf_append_str(&path, "?dryRun=All");
        TRY(buf_status(&path, r->err, "path"));
        return kube_raw(kube, "DELETE", path.data, NULL, (struct slice){ 0 }, &r->arena, &answer, r->err);
}

static int delete (struct run *r, const struct step *st, struct kube_client *kube,
                   const struct kube_resource *resource)
{
        return kube_doc_delete(kube, resource, namespace_for(resource, st->ns), st->name, NULL, NULL, r->err);
}

/* As refuse_all(). */
static int run_refused_delete(struct run *r, const struct step *st, struct kube_client *kube,
                              const struct kube_resource *resource)
{
        int64_t deadline = loop_now_ms(loop_of(r)) + patience_ms(r, st);
        int code;

        if (!may_be_late(r, st))
                return check_refusal(r, st, delete (r, st, kube, resource));
        while ((code = check_refusal(r, st, delete_dry(r, st, kube, resource))) < 0 && !is_final(code) &&
               loop_now_ms(loop_of(r)) < deadline) {
                error_clear(r->err);
                TRY(fiber_sleep(loop_of(r), POLL_MS));
        }
        return code;
}

static int run_delete(struct run *r, const struct step *st, const char *cluster)
{
        struct kube_resource resource;
        struct kube_client *kube;

        TRY(resource_of(r, cluster, st->api_version, st->kind, &kube, &resource));
        TRY(become(r, st, cluster, &kube));
        if (st->message)
                return run_refused_delete(r, st, kube, &resource);
        TRY(delete (r, st, kube, &resource));
        return st->wait ? run_absent(r, st, cluster) : 0;
}

/* ---- who an object is ---- */

/* A later note of an object takes the place of an earlier one. */
static int note(struct run *r, json_t *one)
{
        static const char *const same[] = { "cluster", "kind", "ns", "name" };
        json_t *other;
        size_t i;

        json_array_foreach(r->remembered, i, other) {
                bool found = true;

                for (size_t k = 0; k < ARRAY_LEN(same); k++)
                        found = found &&
                                text_equal(doc_get_string(one, same[k]), doc_get_string(other, same[k]));
                if (found)
                        return json_array_set_new(r->remembered, i, one) < 0 ? error_no_memory(r->err) : 0;
        }
        return json_array_append_new(r->remembered, one) < 0 ? error_no_memory(r->err) : 0;
}

static int run_remember(struct run *r, const struct step *st, const char *cluster)
{
        AUTO_JSON json_t *items = NULL;
        struct kube_resource resource;
        struct kube_client *kube;
        json_t *item;
        size_t i;

        TRY(resource_of(r, cluster, st->api_version, st->kind, &kube, &resource));
        TRY(kube_doc_list(kube, &resource, st->ns, st->selector, &items, r->err));
        if (json_array_size(items) == 0)
                return error_set(r->err, ERR_INVALID, "on %s: there is nothing to remember", cluster);
        json_array_foreach(items, i, item) {
                json_t *one = json_pack("{s:s, s:s, s:s, s:O?, s:O, s:O, s:O}", "cluster", cluster,
                                        "apiVersion", st->api_version, "kind", st->kind, "ns",
                                        doc_get(item, "metadata.namespace"), "name",
                                        doc_get(item, "metadata.name"), "uid", doc_get(item, "metadata.uid"),
                                        "version", doc_get(item, "metadata.resourceVersion"));

                TRY(note(r, one));
        }
        return 0;
}

static bool is_asked(const struct step *st, const char *cluster)
{
        for (size_t i = 0; st->on_said && st->on[i]; i++)
                if (text_equal(st->on[i], cluster))
                        return true;
        return !st->on_said;
}

static bool is_as_it_was(const struct step *st, const json_t *doc, const json_t *noted)
{
        return text_equal(doc_get_string(doc, "metadata.uid"), doc_get_string(noted, "uid")) &&
               (!st->untouched || text_equal(doc_get_string(doc, "metadata.resourceVersion"),
                                             doc_get_string(noted, "version")));
}

/* Each remembered object is there and has not been made again; with `untouched` nor written. */
static int run_same(struct run *r, const struct step *st)
{
        json_t *one;
        size_t i, lost = 0;

        json_array_foreach(r->remembered, i, one) {
                AUTO_JSON json_t *doc = NULL;
                const char *cluster = doc_get_string(one, "cluster"), *name = doc_get_string(one, "name");
                struct kube_resource resource;
                struct kube_client *kube;
                struct error why = { 0 };

                if (!is_asked(st, cluster))
                        continue;
                TRY(resource_of(r, cluster, doc_get_string(one, "apiVersion"), doc_get_string(one, "kind"),
                                &kube, &resource));
                if (kube_doc_get(kube, &resource, doc_get_string(one, "ns"), name, &doc, &why) == 0 &&
                    is_as_it_was(st, doc, one))
                        continue;
                if (lost++ == 0)
                        error_set(r->err, ERR_INVALID, "on %s: %s/%s %s", cluster, resource.plural, name,
                                  !doc            ? why.text
                                  : st->untouched ? "was written"
                                                  : "was deleted and made again");
        }
        return lost ? error_wrap(r->err, "%zu of %zu", lost, json_array_size(r->remembered)) : 0;
}

/* ---- agents ---- */

static int find_agent(struct run *r, const struct step *st, const char **ret)
{
        *ret = st->agent;
        if (text_equal(st->agent, "leader")) {
                TRY(fleet_leader(r->f, r->led, r->err));
                *ret = r->led;
        } else if (text_equal(st->agent, "former-leader")) {
                if (!r->led[0])
                        return error_set(r->err, ERR_INVALID, "no step before this one was about the leader");
                *ret = r->led;
        }
        return 0;
}

static int run_ended(struct run *r, const struct step *st, const char *agent)
{
        int64_t deadline = loop_now_ms(loop_of(r)) + patience_ms(r, st);

        for (;;) {
                int code = 0;

                TRY(r->f->ops->exit_code(r->f, agent, &code, r->err));
                if (code == (int)st->code)
                        return 0;
                if (code >= 0)
                        return error_set(r->err, ERR_INVALID, "%s ended with code %d, not %d", agent, code,
                                         (int)st->code);
                if (loop_now_ms(loop_of(r)) >= deadline)
                        return error_set(r->err, ERR_TIMEOUT, "%s still runs after %lld ms", agent,
                                         (long long)patience_ms(r, st));
                TRY(fiber_sleep(loop_of(r), POLL_MS));
        }
}

static int run_agent_step(struct run *r, const struct step *st)
{
        const struct fleet_ops *ops = r->f->ops;
        const char *agent;

        TRY(find_agent(r, st, &agent));
        switch (st->type) {
        case STEP_START:
                return ops->start_agent(r->f, agent, r->err);
        case STEP_STOP:
                return ops->stop_agent(r->f, agent, false, r->err);
        case STEP_KILL:
                return ops->stop_agent(r->f, agent, true, r->err);
        case STEP_ENDED:
                return run_ended(r, st, agent);
        case STEP_CUT:
                return ops->set_link(r->f, agent, false, r->err);
        case STEP_HEAL:
                return ops->set_link(r->f, agent, true, r->err);
        case STEP_FREEZE:
                return ops->set_frozen(r->f, agent, true, r->err);
        case STEP_THAW:
                return ops->set_frozen(r->f, agent, false, r->err);
        default:
                UNREACHABLE();
        }
}

/* ---- dispatch ---- */

static int run_on(struct run *r, const struct step *st, const char *cluster)
{
        switch (st->type) {
        case STEP_APPLY:
        case STEP_REFUSED:
                return run_write(r, st, cluster);
        case STEP_PATCH:
                return run_patch(r, st, cluster);
        case STEP_DELETE:
                return run_delete(r, st, cluster);
        case STEP_EXPECT:
                return run_expect(r, st, cluster);
        case STEP_ABSENT:
                return run_absent(r, st, cluster);
        case STEP_UNSERVED:
                return run_unserved(r, st, cluster);
        case STEP_COUNT:
                return run_count(r, st, cluster);
        case STEP_HOLDS:
                return run_holds(r, st, cluster);
        case STEP_REMEMBER:
                return run_remember(r, st, cluster);
        case STEP_READINESS:
                return r->f->ops->set_ready(r->f, cluster, st->kind, st->ns, st->name, st->ready, r->err);
        default:
                UNREACHABLE();
        }
}

static int run_step(struct run *r, const struct step *st)
{
        if (st->agent)
                return run_agent_step(r, st);
        switch (st->type) {
        case STEP_ADVANCE:
                return fiber_sleep(loop_of(r), st->for_ms);
        case STEP_RESTART_SERVER:
                return r->f->ops->restart_server(r->f, r->err);
        case STEP_SAME:
                return run_same(r, st);
        default:
                for (size_t i = 0; st->on[i]; i++)
                        TRY(run_on(r, st, st->on[i]));
                return 0;
        }
}

int scenario_run(const struct scenario *s, struct fleet *f, struct error *err)
{
        struct run r = { .s = s, .f = f, .err = err, .remembered = json_array() };
        int code = r.remembered ? 0 : error_no_memory(err);

        for (size_t i = 0; code == 0 && i < s->n_steps; i++) {
                code = run_step(&r, &s->steps[i]);
                if (code < 0)
                        error_wrap(err, "%s: %s", s->name, s->steps[i].text);
                arena_reset(&r.arena);
        }
        arena_free(&r.arena);
        json_decref(r.remembered);
        return code;
}
