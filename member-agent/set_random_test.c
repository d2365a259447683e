/* Sets of two owners under users, faults and crashes that a seed draws: at rest each owner's latest active
 * revision has its objects, nothing else of that owner is left, and nothing is written any more.
 * SET_SEEDS=1-500 plays others. */
#include "member-agent/disk_test.h"
#include "member-agent/object_set_test.h"

#define OWNERS 2
#define POOL 5 /* objects that an owner's sets choose from */
#define STEPS 40
#define PEACE_MS 150000
#define REST_MS 600000

struct play {
        uint64_t seed, state;
        struct rig *rig;
        struct agent agent;
        struct sim_disk *disk;
        struct loopback_faults faults;
        bool peace;
        int revision[OWNERS]; /* the last one that was made */
};

/* ---- dice ---- */

static uint32_t roll(struct play *p, uint32_t n)
{
        p->state ^= p->state << 13;
        p->state ^= p->state >> 7;
        p->state ^= p->state << 17;
        return (uint32_t)((p->state >> 11) % n);
}

static int draw_fate(void *ctx, const struct http_request *rq)
{
        static const int fates[] = { ERR_RETRY, ERR_CLOSED, 503, 429, 500 };
        struct play *p = ctx;

        return p->peace || roll(p, 25) ? 0 : fates[roll(p, ARRAY_LEN(fates))];
}

/* ---- what users do ---- */

static const char *object_name(struct play *p, int owner, int i)
{
        return arena_printf(&p->rig->arena, "%c%d", 'p' + owner, i);
}

static const char *object_path(struct play *p, int owner, int i)
{
        return arena_printf(&p->rig->arena, CONFIG_MAPS "/%s", object_name(p, owner, i));
}

static const char *phase_of(struct play *p, int owner, const char *name, unsigned chosen)
{
        const char *objects = "";

        for (int i = 0; i < POOL; i++)
                if (chosen & 1u << i)
                        objects = arena_printf(&p->rig->arena, "%s%s" INLINE(CONFIG_MAP("%s", "%d")), objects,
                                               objects[0] ? "," : "", object_name(p, owner, i),
                                               p->revision[owner]);
        return arena_printf(&p->rig->arena, PHASE("%s", "%s"), name, objects);
}

static void make_revision(struct play *p, int owner)
{
        unsigned chosen = roll(p, 1u << POOL), first = roll(p, 1u << POOL);

        p->revision[owner]++;
        post(p->rig, MEMBER, SETS,
             arena_printf(
                     &p->rig->arena,
                     "{'apiVersion':'olm.operatorframework.io/"
                     "v1','kind':'ClusterObjectSet','metadata':{'name':"
                     "'%c-%d'," OWNED_BY("%c") "},'spec':{'lifecycleState':'Active','revision':%d,"
                                               "'collisionProtection':'IfNoController','phases':[%s,%s]}}",
                     'p' + owner, p->revision[owner], 'p' + owner, p->revision[owner],
                     phase_of(p, owner, "one", chosen & first), phase_of(p, owner, "two", chosen & ~first)));
}

static void tamper(struct play *p, int owner)
{
        const char *path = object_path(p, owner, (int)roll(p, POOL));

        on(p->rig, MEMBER);
        if (roll(p, 2))
                rig_delete(p->rig, path);
        else
                rig_merge(p->rig, path, json(p->rig, "{'data':{'k':'theirs','more':'x'}}"));
}

static const char *some_set(struct play *p, int owner)
{
        int back = (int)roll(p, 3);

        return arena_printf(&p->rig->arena, SETS "/%c-%d", 'p' + owner, MAX(p->revision[owner] - back, 1));
}

static void archive_some(struct play *p, int owner)
{
        on(p->rig, MEMBER);
        rig_merge(p->rig, some_set(p, owner), json(p->rig, ARCHIVED));
}

static void delete_some(struct play *p, int owner)
{
        static const char *const ways[] = { "Background", "Foreground", "Orphan" };

        on(p->rig, MEMBER);
        rig_delete(p->rig, arena_printf(&p->rig->arena, "%s?propagationPolicy=%s", some_set(p, owner),
                                        ways[roll(p, ARRAY_LEN(ways))]));
}

static void begin_agent(struct play *p)
{
        start_on(&p->agent, p->rig, p->disk);
        meet(&p->agent, &p->faults);
        settle(p->rig, 10); /* its state file is there */
}

static void crash(struct play *p)
{
        sim_disk_set_halted(p->disk, true);
        stop(&p->agent);
        sim_disk_set_halted(p->disk, false);
        settle(p->rig, roll(p, 5000));
        begin_agent(p);
}

static void step(struct play *p)
{
        int owner = (int)roll(p, OWNERS);

        switch (roll(p, 10)) {
        case 0:
        case 1:
        case 2:
        case 3:
                make_revision(p, owner);
                break;
        case 4:
        case 5:
        case 6:
                tamper(p, owner);
                break;
        case 7:
                archive_some(p, owner);
                break;
        case 8:
                delete_some(p, owner);
                break;
        default:
                crash(p);
        }
        settle(p->rig, roll(p, 2) ? roll(p, 200) : roll(p, 8000));
}

/* ---- how it has to end ---- */

static bool is_active(const json_t *set)
{
        return text_equal(doc_get_string(set, "spec.lifecycleState"), "Active");
}

static bool is_owned_by(const json_t *set, int owner)
{
        return doc_get_string(set, "metadata.name")[0] == 'p' + owner;
}

static const char *reason_of(const json_t *set)
{
        size_t i;
        json_t *c;

        json_array_foreach(doc_get_array(set, "status.conditions"), i, c)
                if (text_equal(doc_get_string(c, "type"), "Progressing"))
                        return doc_get_string(c, "reason");
        return "";
}

static void assert_one(struct play *p, const json_t *set, bool good)
{
        AUTO_BUF struct buf text;

        buf_init(&text, 1 << 20);
        doc_write(set, &text);
        if (!good)
                fail_msg("seed %llu: %s", (unsigned long long)p->seed, text.data);
}

/* The only active set of an owner; NULL = none. */
static const json_t *latest_of(struct play *p, const json_t *sets, int owner)
{
        const json_t *latest = NULL;
        size_t i;
        json_t *set;

        json_array_foreach(sets, i, set) {
                if (!is_owned_by(set, owner))
                        continue;
                assert_one(p, set, !doc_get(set, "metadata.deletionTimestamp"));
                assert_one(p, set,
                           text_equal(reason_of(set), is_active(set) ? "Succeeded" : "Archived") &&
                                   (is_active(set) || !json_array_size(doc_get(set, "metadata.finalizers"))));
                assert_one(p, set, !(latest && is_active(set)));
                if (is_active(set))
                        latest = set;
        }
        return latest;
}

static bool holds(const json_t *set, const char *name)
{
        size_t i, k;
        json_t *phase, *entry;

        json_array_foreach(doc_get_array(set, "spec.phases"), i, phase)
                json_array_foreach(doc_get_array(phase, "objects"), k, entry)
                        if (text_equal(doc_get_string(entry, "object.metadata.name"), name))
                                return true;
        return false;
}

static void check_object(struct play *p, const json_t *latest, int owner, int i)
{
        struct rig *r = p->rig;
        bool wanted = holds(latest, object_name(p, owner, i)), there;
        const json_t *references;

        there = get(r, MEMBER, object_path(p, owner, i)) == 200;
        references = doc_get_array(r->answer, "metadata.ownerReferences");
        if (wanted) {
                assert_one(p, r->answer,
                           there && json_array_size(references) == 1 &&
                                   text_equal(doc_get_string(json_array_get(references, 0), "name"),
                                              doc_get_string(latest, "metadata.name")) &&
                                   doc_get_int(latest, "spec.revision", 0) ==
                                           strtol(or_empty(doc_get_string(r->answer, "data.k")), NULL, 10));
        } else if (there) { /* an orphan */
                assert_one(p, r->answer,
                           json_array_size(references) == 0 &&
                                   json_object_size(doc_get(r->answer, "metadata.labels")) == 0);
        }
}

static void check(struct play *p)
{
        AUTO_JSON json_t *sets = NULL;

        get(p->rig, MEMBER, SETS);
        sets = doc_copy(doc_get_array(p->rig->answer, "items"));
        for (int owner = 0; owner < OWNERS; owner++) {
                const json_t *latest = latest_of(p, sets, owner);

                for (int i = 0; i < POOL; i++)
                        check_object(p, latest, owner, i);
        }
}

static uint64_t writes(struct rig *r)
{
        static const char *const verbs[] = { "create", "patch", "delete" }, *const resources[] = {
                "configmaps", "clusterobjectsets", "clusterobjectsets/status"
        };
        uint64_t sum = 0;

        for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
                for (size_t k = 0; k < ARRAY_LEN(resources); k++)
                        sum += requests(r, "m1", verbs[i], resources[k]);
        return sum;
}

/* ---- a play ---- */

static void play_body(struct rig *r)
{
        struct play *p = r->ctx;
        uint64_t before;

        p->rig = r;
        p->faults = (struct loopback_faults){ .ctx = p, .fate = draw_fate };
        p->disk = sim_disk_new(r->loop);
        prepare_clusters(r);
        begin_agent(p);
        for (int i = 0; i < STEPS; i++)
                step(p);
        p->peace = true;
        settle(r, PEACE_MS);
        check(p);
        before = writes(r);
        settle(r, REST_MS);
        if (writes(r) != before)
                fail_msg("seed %llu: something is written at rest", (unsigned long long)p->seed);
        check(p);
        stop(&p->agent);
        sim_disk_free(p->disk);
}

/* spec/cluster-object-set.md checklist 67, 68, 75, 79, 81, 101 */
static void whatever_happens_the_latest_revision_is_there_at_rest(void **state)
{
        unsigned first = 1, last = 12;

        if (getenv("SET_SEEDS"))
                assert_int_equal(sscanf(getenv("SET_SEEDS"), "%u-%u", &first, &last), 2);
        for (unsigned seed = first; seed <= last; seed++) {
                struct play p = { .seed = seed, .state = seed * 0x9e3779b97f4a7c15u };

                rig_run_for(play_body, &p);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(whatever_happens_the_latest_revision_is_there_at_rest),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
