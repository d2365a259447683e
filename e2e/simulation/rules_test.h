/* What tests of rules share: a store that the test makes up, shown to one rule. */
#pragma once

#include "common/base/memory.h"
#include "e2e/simulation/rules.h"

/* In metadata, left open: the labels of what belongs to placement app-0. */
#define OF_APP "'labels':{'kubernetes-fleet.io/parent-CRP':'app-0'"
#define BINDING(name, cluster, policy, binding_state)                                                        \
        "{'metadata':{'name':'" name "'," OF_APP "}},'spec':{'targetCluster':'" cluster                      \
        "','schedulingPolicySnapshotName':'" policy "','state':'" binding_state "'}}"

/* ---- a watch of the test's own, in place of watch.c ----
 * Weak: all tests of rules are one program, in which each has the same. */
#define IN_PLACE __attribute__((weak))

struct stored {
        char cluster[32], resource[96], ns[64], name[64];
        json_t *doc;
};

struct watch {
        const struct rule *rule;
        void *state;
        struct wish wish;
        int64_t now, shift_ms; /* shift_ms: of the time of day */
        int64_t asked_ms;      /* asked_ms: what is shown was asked for then; 0 = now */
        bool unheard;          /* who asks from now on hears no answer */
        VEC(struct stored) stored;
        unsigned judged, shards;
        char broken[512];
        struct watched_artifact {
                const char *agent, *path;
                uint64_t size;
        } artifact;                 /* the only one there is */
        struct sqlite3 *state_file; /* of member-1; the rule closes it */
};

IN_PLACE const struct wish *watch_wish(const struct watch *w)
{
        return &w->wish;
}

IN_PLACE unsigned watch_shards(const struct watch *w)
{
        return w->shards;
}

IN_PLACE int64_t watch_now(const struct watch *w)
{
        return w->now;
}

IN_PLACE int64_t watch_wall(const struct watch *w)
{
        return w->now + w->shift_ms;
}

IN_PLACE void watch_judged(struct watch *w, const struct rule *r)
{
        w->judged++;
}

IN_PLACE void watch_broken(struct watch *w, const struct rule *r, const char *format, ...)
{
        va_list args;

        va_start(args, format);
        vsnprintf(w->broken, sizeof(w->broken), format, args);
        va_end(args);
}

IN_PLACE bool watch_artifact(struct watch *w, const char *agent, const char *path, uint64_t *ret_size)
{
        *ret_size = w->artifact.size;
        return text_equal(w->artifact.agent, agent) && text_equal(w->artifact.path, path);
}

/* The folders of the artifact's path. */
IN_PLACE void watch_folder(struct watch *w, const char *agent, const char *path,
                           void (*fn)(void *ctx, const char *name), void *ctx)
{
        const char *rest = w->artifact.path ? w->artifact.path : "";
        size_t n = strlen(path);
        char name[64];

        if (!text_equal(w->artifact.agent, agent) || strncmp(rest, path, n) != 0 || rest[n] != '/')
                return;
        snprintf(name, sizeof(name), "%.*s", (int)strcspn(rest + n + 1, "/"), rest + n + 1);
        fn(ctx, name);
}

static struct stored *find(struct watch *w, const char *cluster, const char *resource, const char *ns,
                           const char *name)
{
        vec_for_each(&w->stored, s)
                if (text_equal(s->cluster, cluster) && text_equal(s->resource, resource) &&
                    text_equal(s->ns, ns) && text_equal(s->name, name))
                        return s;
        return NULL;
}

IN_PLACE const json_t *watch_get(struct watch *w, const char *cluster, const char *resource, const char *ns,
                                 const char *name)
{
        const struct stored *s = find(w, cluster, resource, ns, name);

        return s ? s->doc : NULL;
}

IN_PLACE void watch_each(struct watch *w, const char *cluster, const char *resource, const char *ns,
                         bool (*fn)(void *ctx, const json_t *doc), void *ctx)
{
        vec_for_each(&w->stored, s)
                if (text_equal(s->cluster, cluster) && text_equal(s->resource, resource) &&
                    (!ns || text_equal(s->ns, ns)) && !fn(ctx, s->doc))
                        return;
}

IN_PLACE struct sqlite3 *watch_state(struct watch *w, unsigned member)
{
        struct sqlite3 *db = member == 1 ? w->state_file : NULL;

        w->state_file = NULL;
        return db;
}

/* ---- the play ---- */

static inline void open_watch(struct watch *w, const struct rule *rule)
{
        *w = (struct watch){ .rule = rule, .state = mem_zalloc(MAX(rule->state_size, 1u)), .now = 1000000 };
        w->wish.n_members = 4;
        for (unsigned i = 1; i <= 4; i++)
                w->wish.members[i] = (struct wish_member){ .membership = MEMBER_IN, .now = { .in = true } };
        w->wish.apps[0].exists = true;
        w->wish.apps[0].placements[PLACE_MAIN] =
                (struct wish_placement){ .exists = true,
                                         .policy = { .type = POLICY_PICK_N, .n = 1 },
                                         .strategy = { .max_unavailable = 25 } };
}

static inline void close_watch(struct watch *w)
{
        if (w->rule->end)
                w->rule->end(w->state);
        mem_free(w->state);
        vec_for_each(&w->stored, s)
                json_decref(s->doc);
        vec_free(&w->stored);
        wish_clear(&w->wish);
}

/* JSON with ' for ". */
static json_t *parse(const char *text)
{
        AUTO_FREE char *copy = mem_strdup(text);
        json_t *doc = NULL;
        struct error err;

        for (char *c = copy; *c; c++)
                if (*c == '\'')
                        *c = '"';
        if (doc_parse(slice_of(copy), &doc, &err) < 0)
                fail_msg("%s: %s", text, err.text);
        return doc;
}

static inline void show(struct watch *w, const struct stored *s, const char *who, const json_t *before,
                        const json_t *after)
{
        struct change c = { .at_ms = w->now,
                            .cluster = s->cluster,
                            .resource = s->resource,
                            .ns = s->ns,
                            .name = s->name,
                            .type = !before  ? CHANGE_ADDED
                                    : !after ? CHANGE_DELETED
                                             : CHANGE_MODIFIED,
                            .before = before,
                            .after = after,
                            .who = who,
                            .asked_ms = w->asked_ms ? w->asked_ms : w->now,
                            .unheard = w->unheard };

        if (w->rule->changed)
                w->rule->changed(w, w->state, &c);
}

static struct stored key_of(const char *cluster, const char *resource, const json_t *doc)
{
        const char *ns = doc_get_string(doc, "metadata.namespace");
        struct stored s = { .doc = NULL };

        snprintf(s.cluster, sizeof(s.cluster), "%s", cluster);
        snprintf(s.resource, sizeof(s.resource), "%s", resource);
        snprintf(s.ns, sizeof(s.ns), "%s", ns ? ns : "");
        snprintf(s.name, sizeof(s.name), "%s", doc_get_string(doc, "metadata.name"));
        return s;
}

static inline void put(struct watch *w, const char *who, const char *cluster, const char *resource,
                       const char *text)
{
        json_t *doc = parse(text);
        struct stored key = key_of(cluster, resource, doc), *s = find(w, cluster, resource, key.ns, key.name);
        AUTO_JSON json_t *before = s ? s->doc : NULL;

        if (!s) {
                assert_int_equal(vec_push(&w->stored, key), 0);
                s = &w->stored.at[w->stored.n - 1];
        }
        s->doc = doc;
        key = *s;
        show(w, &key, who, before, doc);
}

static inline void take(struct watch *w, const char *who, const char *cluster, const char *resource,
                        const char *ns, const char *name)
{
        struct stored *s = find(w, cluster, resource, ns, name), gone;

        assert_non_null(s);
        gone = *s;
        vec_remove(&w->stored, (size_t)(s - w->stored.at));
        show(w, &gone, who, gone.doc, NULL);
        json_decref(gone.doc);
}

/* An agent's request to the hub, of which only this is known: the server may refuse it. */
static inline void send_to_hub(struct watch *w, const char *who, const char *resource, const char *ns,
                               const char *name, const char *sub, const json_t *body)
{
        AUTO_BUF struct buf text;
        struct sent s = { w->now, who, "hub", resource, ns, name, sub, { NULL, 0 } };

        buf_init(&text, 65536);
        assert_int_equal(doc_write(body, &text), 0);
        s.body = (struct slice){ text.data, text.len };
        w->rule->sent(w, w->state, &s);
}

static inline void post(struct watch *w, const char *who, const char *resource, const char *text)
{
        AUTO_JSON json_t *doc = parse(text);

        if (!json_object_get(doc, "kind"))
                json_object_set_new(doc, "kind", json_string("Any"));
        send_to_hub(w, who, resource, or_empty(doc_get_string(doc, "metadata.namespace")), "", "", doc);
}

/* Of what is cluster-wide. */
static inline void patch(struct watch *w, const char *who, const char *resource, const char *name,
                         const char *sub, const char *text)
{
        AUTO_JSON json_t *doc = parse(text);

        send_to_hub(w, who, resource, "", name, sub, doc);
}

static inline void rest(struct watch *w)
{
        w->rule->at_rest(w, w->state);
}

#define FINE(w) assert_string_equal((w)->broken, "")
/* Broken, and these words say how. */
#define BROKEN(w, words)                                                                                     \
        do {                                                                                                 \
                if (!strstr((w)->broken, (words)))                                                           \
                        fail_msg("\"%s\" does not say \"%s\"", (w)->broken, (words));                        \
        } while (0)
