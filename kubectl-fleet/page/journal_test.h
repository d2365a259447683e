/* What the tests of the journal share: objects as an informer would tell of them, on a clock of the test's.
 */
#pragma once

#include "kubectl-fleet/page/journal.h"
#include "kubectl-fleet/page/look_test.h"

#define NOON SCENE_NOW_MS /* the page began */

struct story {
        struct page_journal *journal;
        int64_t now_ms;
        struct object *held[64]; /* what the informer has */
        size_t n_held;
        unsigned version;
};

static inline struct object *story_object(struct story *y, const struct kind *kind, json_t *doc)
{
        AUTO_BUF struct buf text;
        struct error err = { 0 };
        struct object *o = NULL;
        char version[32];

        snprintf(version, sizeof(version), "%u", ++y->version);
        doc_set_string(doc, "metadata.resourceVersion", version);
        buf_init(&text, 8u << 20);
        doc_write(doc, &text);
        if (object_decode(kind, (struct slice){ text.data, text.len }, DECODE_PROJECTION, NULL, &o, &err) < 0)
                fprintf(stderr, "%s\n", err.text);
        assert_non_null(o);
        json_decref(doc);
        return o;
}

static inline struct object **story_find(struct story *y, const struct object *o)
{
        for (size_t i = 0; i < y->n_held; i++)
                if (y->held[i]->kind == o->kind && text_equal(y->held[i]->meta.name, o->meta.name) &&
                    text_equal(y->held[i]->meta.ns, o->meta.ns))
                        return &y->held[i];
        return NULL;
}

static inline void story_take(struct story *y, const struct object *old, const struct object *now,
                              bool initial)
{
        const struct informer_event e = {
                .type = old ? INFORMER_UPDATED : INFORMER_ADDED, .old = old, .now = now, .initial = initial
        };

        page_journal_take(y->journal, &e, y->now_ms);
}

/* Comes, by a list (initial) or by a watch. */
static inline void story_put(struct story *y, bool initial, const struct kind *kind, const char *fmt, ...)
        PRINTF_LIKE(4, 5);
static inline void story_put(struct story *y, bool initial, const struct kind *kind, const char *fmt, ...)
{
        static char text[1u << 20];
        struct object *o, **held;
        va_list args;

        va_start(args, fmt);
        assert_true(vsnprintf(text, sizeof(text), fmt, args) < (int)sizeof(text));
        va_end(args);
        o = story_object(y, kind, scene_parse(text));
        held = story_find(y, o);
        story_take(y, held ? *held : NULL, o, initial);
        if (held)
                object_unref(*held);
        else
                held = &y->held[y->n_held++];
        assert_true(y->n_held < ARRAY_LEN(y->held));
        *held = o;
}

static inline void story_remove(struct story *y, const struct kind *kind, const char *name)
{
        for (size_t i = 0; i < y->n_held; i++) {
                struct object *o = y->held[i];
                const struct informer_event e = { .type = INFORMER_DELETED, .old = o, .now = o };

                if (o->kind != kind || !text_equal(o->meta.name, name))
                        continue;
                page_journal_take(y->journal, &e, y->now_ms);
                y->held[i] = y->held[--y->n_held];
                object_unref(o);
                return;
        }
        fail_msg("there is no %s", name);
}

/* ---- the fleet of these stories ---- */

#define OBJECT(name, made)                                                                                   \
        "'metadata':{'name':'" name "','uid':'u-" name "','generation':1,'creationTimestamp':'" made "'"
#define TURNED(type, status, reason, message, at)                                                            \
        "{'type':'" type "','status':'" status "','reason':'" reason "','message':'" message                 \
        "','observedGeneration':1,'lastTransitionTime':'" at "'}"

static inline void story_cluster(struct story *y, bool initial, const char *name, const char *healthy,
                                 const char *since)
{
        story_put(
                y, initial, &member_cluster_kind,
                "{" OBJECT(
                        "%s",
                        "2025-12-31T10:00:00Z") "},'spec':{'identity':{'kind':'User','name':'x'}},'status':{"
                                                "'conditions':[" TURNED(
                                                        "Joined", "True", "R", "",
                                                        "2025-12-31T10:01:00Z") "],'agentStatus':[{'type':"
                                                                                "'MemberAgent','"
                                                                                "lastReceivedHeartbeat':'"
                                                                                "2026-01-01T00:00:00Z','"
                                                                                "conditions':[" TURNED(
                                                                                        "Healthy", "%s", "R",
                                                                                        "about health",
                                                                                        "%s") "]}]}}",
                name, name, healthy, since);
}

#define PLACED(prefix, at) TURNED(prefix "PlacementScheduled", "True", "R", "", at)
/* `status`: of RolloutStarted on its one cluster, "True" is well. */
static inline void story_placement(struct story *y, bool initial, const char *revision, const char *status,
                                   const char *at)
{
        story_put(
                y, initial, &cluster_resource_placement_kind,
                "{" OBJECT(
                        "web",
                        "2025-12-31T11:00:00Z") "},'spec':{'resourceSelectors':[],'policy':{'"
                                                "placementType':"
                                                "'PickAll'}},'status':{'observedResourceIndex':'%s','"
                                                "conditions':[" PLACED(
                                                        "ClusterResource",
                                                        "2025-12-31T11:"
                                                        "00:01Z") "," TURNED("ClusterResourcePlacementOverrid"
                                                                             "den",
                                                                             "%s", "Wrong", "no such field",
                                                                             "%s") "],'placementStatuses':[{'"
                                                                                   "clusterName':'a','"
                                                                                   "conditions':[" TURNED(
                                                                                           "RolloutStarted",
                                                                                           "True", "R", "",
                                                                                           "2025-12-31T11:00:"
                                                                                           "02Z") "," TURNED("Ov"
                                                                                                             "er"
                                                                                                             "ri"
                                                                                                             "dd"
                                                                                                             "e"
                                                                                                             "n",
                                                                                                             "%"
                                                                                                             "s",
                                                                                                             "R",
                                                                                                             "",
                                                                                                             "20"
                                                                                                             "25"
                                                                                                             "-1"
                                                                                                             "2-"
                                                                                                             "31"
                                                                                                             "T1"
                                                                                                             "1:"
                                                                                                             "00"
                                                                                                             ":0"
                                                                                                             "3"
                                                                                                             "Z") "," TURNED("WorkSynchronized",
                                                                                                                             "True",
                                                                                                                             "R",
                                                                                                                             "",
                                                                                                                             "2025-12-31T11:00:04Z") "," TURNED("Applied",
                                                                                                                                                                "True",
                                                                                                                                                                "R",
                                                                                                                                                                "",
                                                                                                                                                                "2025-12-31T11:00:05Z") "," TURNED("Available",
                                                                                                                                                                                                   "True",
                                                                                                                                                                                                   "R",
                                                                                                                                                                                                   "",
                                                                                                                                                                                                   "2025-12-31T11:00:06Z") "]}]}}",
                revision, status, at, status);
}

/* ---- what is asked of the journal ---- */

static inline const struct journal_entry *story_entry(const struct story *y, const char *key,
                                                      enum journal_what what, const char *is)
{
        size_t n;
        const struct journal_entry *const *at = page_journal_entries(y->journal, &n);
        const struct journal_entry *found = NULL;

        for (size_t i = 0; i < n; i++)
                if (text_equal(at[i]->subject->key, key) && at[i]->what == what &&
                    text_equal(at[i]->is, is) && (!found || at[i]->number > found->number))
                        found = at[i];
        return found;
}

static inline size_t story_count(const struct story *y)
{
        size_t n;

        page_journal_entries(y->journal, &n);
        return n;
}

static inline int story_set_up(void **state)
{
        struct story *y = NEW(struct story);

        y->now_ms = NOON;
        y->journal = page_journal_new(NOON, 0, 0);
        *state = y;
        return y->journal ? 0 : -1;
}

static inline int story_tear_down(void **state)
{
        struct story *y = *state;

        for (size_t i = 0; i < y->n_held; i++)
                object_unref(y->held[i]);
        page_journal_free(y->journal);
        mem_free(y);
        return 0;
}
#define STORY_TEST(name) cmocka_unit_test_setup_teardown(name, story_set_up, story_tear_down)
