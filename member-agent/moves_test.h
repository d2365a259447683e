/* For tests of objects that move between the Works of one placement: Works as parts of sets, and who owns
 * what. */
#pragma once

#include "member-agent/member_agent_test.h"

#define PATIENCE_MS 20000

/* A Work as the hub agent makes it: part of the set of `size` Works (0: an agent that does not tell) that
 * snapshot `index` makes. */
struct part {
        const char *name;
        int index, size;
        const char *manifests;
};

static inline const char *meta_of(struct rig *r, const struct part *p)
{
        const char *set =
                p->size ? arena_printf(
                                  &r->arena,
                                  ",'kubernetes-fleet.io/work-set':'%d/0123456789abcdef.0123456789abcdef/%d'",
                                  p->index, p->size)
                        : "";

        return arena_printf(
                &r->arena,
                "'metadata':{'name':'%s','labels':{'kubernetes-fleet.io/parent-resource-binding':'web-m1',"
                "'kubernetes-fleet.io/parent-CRP':'web','kubernetes-fleet.io/"
                "parent-resource-snapshot-index':'%d'},"
                "'annotations':{'kubernetes-fleet.io/parent-resource-override-snapshot-hash':"
                "'0123456789abcdef9','kubernetes-fleet.io/"
                "parent-cluster-resource-override-snapshot-hash':'0123456789abcdef9'%s}}",
                p->name, p->index, set);
}

static inline void make_part(struct rig *r, const char *strategy, const struct part *p)
{
        post(r, HUB, WORKS,
             arena_printf(&r->arena,
                          "{'apiVersion':'placement.kubernetes-fleet.io/v1beta1','kind':'Work',%s,"
                          "'spec':{%s'workload':{'manifests':[%s]}}}",
                          meta_of(r, p), strategy, p->manifests));
}

static inline void change_part(struct rig *r, const struct part *p)
{
        merge(r, HUB, arena_printf(&r->arena, WORKS "/%s", p->name),
              arena_printf(&r->arena, "{%s,'spec':{'workload':{'manifests':[%s]}}}", meta_of(r, p),
                           p->manifests));
}

static inline const char *uid_of(struct rig *r, const char *path)
{
        if (get(r, MEMBER, path) != 200)
                fail_msg("%s: %d", path, r->status);
        return arena_strdup(&r->arena, rig_string(r, "metadata.uid"));
}

static inline const char *owner_of(struct rig *r, const char *path)
{
        const json_t *owners;

        get(r, MEMBER, path);
        owners = doc_get_array(r->answer, "metadata.ownerReferences");
        assert_int_equal(json_array_size(owners), 1);
        return doc_get_string(json_array_get(owners, 0), "name");
}

static inline const char *owner_uid_of(struct rig *r, const char *path)
{
        get(r, MEMBER, path);
        return doc_get_string(json_array_get(doc_get_array(r->answer, "metadata.ownerReferences"), 0), "uid");
}

static inline void wait_for_owner(struct rig *r, const char *path, const char *work)
{
        int64_t end = loop_now_ms(r->loop) + PATIENCE_MS;

        while (!text_equal(owner_of(r, path), work)) {
                if (loop_now_ms(r->loop) > end)
                        fail_msg("%s belongs to %s, not to %s", path, owner_of(r, path), work);
                assert_int_equal(fiber_sleep(r->loop, 10), 0);
        }
}

static inline void wait_until_applied(struct rig *r, const char *work, int generation)
{
        const char *path = arena_printf(&r->arena, WORKS "/%s", work);

        wait_for(r, HUB, path, "type=Applied", "AllManifestsApplied");
        for (int i = 0; i < PATIENCE_MS / 10; i++) {
                const json_t *c = json_array_get(doc_get_array(r->answer, "status.conditions"), 0);

                if (doc_get_int(c, "observedGeneration", 0) == generation)
                        return;
                assert_int_equal(fiber_sleep(r->loop, 10), 0);
                get(r, HUB, path);
        }
        fail_msg("%s: generation %d is not told of", work, generation);
}

#define A CONFIG_MAP("a", "1")
#define B CONFIG_MAP("b", "1")
#define C CONFIG_MAP("c", "1")
#define B2 CONFIG_MAP("b", "2")
#define B_PATH CONFIG_MAP_PATH("b")
