/* A wish with one application and two members, placements' documents whose status is true, and a member's
 * cluster made of documents: what the tests of the model's parts then spoil in one place. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "e2e/simulation/model_parts.h"

#define TEST_GENERATION 3

struct bench {
        struct wish wish;
        struct model_place places[WISH_PLACES];
        json_t *docs[WISH_PLACES];
        json_t *live[MODEL_SLOTS]; /* of app 0 on member-1 */
        struct model_member member;
        struct error err;
};

static inline const json_t *bench_live(const void *ctx, unsigned app, unsigned slot)
{
        const struct bench *b = ctx;

        return app == 0 ? b->live[slot] : NULL;
}

/* Application 0 with settings and web, its namespace placed on both members. */
static inline void bench_open(struct bench *b)
{
        struct wish *w = &b->wish;

        *b = (struct bench){ .member = { .index = 1, .live = bench_live, .ctx = b } };
        w->n_members = 2;
        for (unsigned i = 1; i <= 2; i++)
                w->members[i] = (struct wish_member){ .membership = MEMBER_IN, .now = { .in = true } };
        w->apps[0].exists = true;
        w->apps[0].objects[SLOT_SETTINGS] = (struct wish_object){ .exists = true, .color = 7 };
        assert_int_equal(wish_ask(w, 0, SLOT_SETTINGS, 0), 0);
        w->apps[0].placements[PLACE_MAIN] = (struct wish_placement){ .exists = true,
                                                                     .strategy = { .max_unavailable = 25 },
                                                                     .history_limit = 10 };
        for (unsigned place = 0; place < WISH_PLACES; place++)
                b->places[place] = (struct model_place){ .place = place };
}

static inline void bench_close(struct bench *b)
{
        for (unsigned i = 0; i < WISH_PLACES; i++)
                json_decref(b->docs[i]);
        for (unsigned i = 0; i < MODEL_SLOTS; i++)
                json_decref(b->live[i]);
        wish_clear(&b->wish);
}

static inline void bench_condition(json_t *owner, const char *prefix, const char *type, bool good,
                                   const char *reason)
{
        json_t *list = json_object_get(owner, "conditions"), *c;
        char full[96];
        size_t i;

        if (!list) {
                list = json_array();
                json_object_set_new(owner, "conditions", list);
        }
        snprintf(full, sizeof(full), "%s%s", prefix, type);
        json_array_foreach(list, i, c)
                if (text_equal(doc_get_string(c, "type"), full)) {
                        json_array_remove(list, i);
                        break;
                }
        json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:i, s:s}", "type", full, "status",
                                              good ? "True" : "False", "reason", reason, "observedGeneration",
                                              TEST_GENERATION, "message", "made up"));
}

static inline void bench_good_conditions(json_t *owner, const char *prefix, bool reports)
{
        bool sum = *prefix;

        bench_condition(owner, prefix, "RolloutStarted", true, "RolloutStarted");
        bench_condition(owner, prefix, "Overridden", true, "NoOverrideSpecified");
        bench_condition(owner, prefix, "WorkSynchronized", true, sum ? "WorkSynchronized" : "AllWorkSynced");
        if (reports) {
                bench_condition(owner, prefix, "DiffReported", true,
                                sum ? "DiffReportingCompleted" : "AllWorkHaveDiffReported");
                return;
        }
        bench_condition(owner, prefix, "Applied", true, sum ? "ApplySucceeded" : "AllWorkHaveBeenApplied");
        bench_condition(owner, prefix, "Available", true, sum ? "ResourceAvailable" : "AllWorkAreAvailable");
}

static inline json_t *bench_entry(struct bench *b, enum wish_place place, unsigned member)
{
        char name[32];
        json_t *entry;
        size_t i;

        snprintf(name, sizeof(name), "member-%u", member);
        json_array_foreach(doc_get_array(b->docs[place], "status.placementStatuses"), i, entry)
                if (text_equal(doc_get_string(entry, "clusterName"), name))
                        return entry;
        fail();
        return NULL;
}

static inline void bench_select(json_t *list, const struct kube_resource *r, const char *ns, const char *name)
{
        json_array_append_new(list, json_pack("{s:s*, s:s, s:s, s:s, s:s*}", "group",
                                              *r->group ? r->group : NULL, "version", r->version, "kind",
                                              r->kind, "name", name, "namespace", ns));
}

/* A placement that is where it is said to be and all is well. */
static inline void bench_place(struct bench *b, enum wish_place place, uint32_t chosen)
{
        bool reports = b->wish.apps[0].placements[place].strategy.apply == APPLY_REPORT_DIFF;
        uint32_t selected = wish_selected(&b->wish, 0, place);
        json_t *entries = json_array(), *list = json_array(), *status;
        char name[64];

        if (wish_selects_namespace(&b->wish, 0, place))
                bench_select(list, model_resource(0, SLOT_HOME), NULL, "app-0");
        for (unsigned slot = 0; slot < WISH_SLOTS; slot++) {
                const struct kube_resource *r = wish_resource(0, slot);

                wish_object_name(0, slot, name);
                if (selected >> slot & 1)
                        bench_select(list, r, r->namespaced ? "app-0" : NULL, name);
        }
        for (unsigned i = 1; i <= b->wish.n_members; i++) {
                json_t *entry = json_pack("{s:s}", "observedResourceIndex", "4");

                snprintf(name, sizeof(name), "member-%u", i);
                json_object_set_new(entry, "clusterName", json_string(name));
                bench_condition(entry, "", "Scheduled", true, "Scheduled");
                bench_good_conditions(entry, "", reports);
                if (chosen >> i & 1)
                        json_array_append(entries, entry);
                json_decref(entry);
        }
        status = json_pack("{s:s, s:o, s:o}", "observedResourceIndex", "4", "selectedResources", list,
                           "placementStatuses", entries);
        bench_condition(status, wish_placement_resource(place)->kind, "Scheduled", true,
                        "SchedulingPolicyFulfilled");
        if (chosen)
                bench_good_conditions(status, wish_placement_resource(place)->kind, reports);
        json_decref(b->docs[place]);
        b->docs[place] =
                json_pack("{s:{s:i}, s:o}", "metadata", "generation", TEST_GENERATION, "status", status);
        b->places[place].doc = b->docs[place];
}

static inline int bench_judge(struct bench *b, enum wish_place place)
{
        b->err = (struct error){ 0 };
        return model_judge_placement(&b->wish, &b->places[place], &b->err);
}

static inline json_t *bench_status(struct bench *b, enum wish_place place)
{
        return doc_get_object(b->docs[place], "status");
}

/* The object as placed on member-1, owned by a Work (NULL: by nobody). */
static inline json_t *bench_put(struct bench *b, unsigned slot, const char *work)
{
        json_t *doc = slot == SLOT_HOME ? json_pack("{s:s, s:s, s:{s:s}, s:{s:[s]}}", "apiVersion", "v1",
                                                    "kind", "Namespace", "metadata", "name", "app-0", "spec",
                                                    "finalizers", "kubernetes")
                                        : wish_placed(&b->wish, 0, slot);

        doc_set(doc, "metadata.uid", json_string("1"));
        if (work)
                doc_set(doc, "metadata.ownerReferences",
                        json_pack("[{s:s, s:s}]", "kind", "AppliedWork", "name", work));
        json_decref(b->live[slot]);
        return b->live[slot] = doc;
}

static inline int bench_judge_app(struct bench *b)
{
        b->err = (struct error){ 0 };
        for (unsigned place = 0; place < WISH_PLACES; place++)
                if (b->docs[place])
                        TRY(bench_judge(b, place));
        return model_judge_app(&b->wish, 0, b->places, &b->member, &b->err);
}

/* `field` of member-1's entry lists the slot. */
static inline void bench_tell(struct bench *b, enum wish_place place, const char *field, unsigned slot)
{
        json_t *entry = bench_entry(b, place, 1), *list = json_object_get(entry, field);
        const struct kube_resource *r = model_resource(0, slot);
        char name[64];

        if (!list) {
                list = json_array();
                json_object_set_new(entry, field, list);
        }
        model_name(0, slot, name);
        bench_select(list, r, r->namespaced ? "app-0" : NULL, name);
}

static inline void bench_drop_condition(json_t *owner, const char *type)
{
        json_t *list = doc_get_array(owner, "conditions"), *c;
        size_t i;

        json_array_foreach(list, i, c)
                if (text_equal(doc_get_string(c, "type"), type)) {
                        json_array_remove(list, i);
                        return;
                }
}

/* member-1 says a condition is False, and so does the sum; what comes after is gone. */
static inline void bench_bad(struct bench *b, enum wish_place place, const char *type, const char *reason,
                             const char *sum_reason)
{
        static const char *const after[] = { "RolloutStarted", "Overridden", "WorkSynchronized",
                                             "Applied",        "Available",  "DiffReported" };
        const char *kind = wish_placement_resource(place)->kind;
        bool found = false;
        char full[96];

        for (size_t i = 0; i < ARRAY_LEN(after); i++) {
                snprintf(full, sizeof(full), "%s%s", kind, after[i]);
                if (found) {
                        bench_drop_condition(bench_entry(b, place, 1), after[i]);
                        bench_drop_condition(bench_status(b, place), full);
                }
                found = found || text_equal(after[i], type);
        }
        bench_condition(bench_entry(b, place, 1), "", type, false, reason);
        bench_condition(bench_status(b, place), kind, type, false, sum_reason);
}

static inline void bench_not_applied(struct bench *b, enum wish_place place)
{
        bench_bad(b, place, "Applied", "NotAllWorkHaveBeenApplied", "ApplyFailed");
}

#define assert_agrees(code)                                                                                  \
        do {                                                                                                 \
                int code_ = (code);                                                                          \
                if (code_ < 0)                                                                               \
                        fail_msg("%s", b->err.text);                                                         \
        } while (0)
/* The first difference, in so many words. */
#define assert_says(code, words)                                                                             \
        do {                                                                                                 \
                assert_int_equal((code), ERR_INVALID);                                                       \
                if (!strstr(b->err.text, (words)))                                                           \
                        fail_msg("\"%s\" is not in: %s", (words), b->err.text);                              \
        } while (0)

static inline int bench_setup(void **state)
{
        static struct bench b;

        bench_open(&b);
        *state = &b;
        return 0;
}
static inline int bench_teardown(void **state)
{
        bench_close(*state);
        return 0;
}
#define BENCH_TEST(fn) cmocka_unit_test_setup_teardown(fn, bench_setup, bench_teardown)
