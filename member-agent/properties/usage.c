#include "member-agent/properties/usage.h"

#include "common/base/memory.h"
#include "proto/names.h"

#define NANO_PER_MILLI ((__int128)1000000)
#define NANO ((__int128)1000000000)

struct node_entry {
        struct amounts capacity, allocatable;
        struct tally *machine, *region; /* NULL = none */
        uint32_t round;
};

void usage_init(struct usage *u)
{
        *u = (struct usage){ 0 };
        map_init(&u->nodes, MAP_OWN_KEYS, mem_free);
        map_init(&u->machines, MAP_OWN_KEYS, mem_free);
        map_init(&u->regions, MAP_OWN_KEYS, mem_free);
}

void usage_free(struct usage *u)
{
        map_free(&u->nodes);
        map_free(&u->machines);
        map_free(&u->regions);
        pod_table_free(&u->pods);
}

/* ---- amounts ---- */

static int64_t scaled(const struct string_map *m, const char *key, __int128 unit)
{
        const char *text = string_map_get(m, key);
        struct quantity q;

        if (!text || quantity_parse(slice_of(text), &q, NULL) < 0)
                return 0;
        return (int64_t)((q.nano + unit - 1) / unit);
}

static struct amounts amounts_of(const struct string_map *m)
{
        return (struct amounts){ scaled(m, "cpu", NANO_PER_MILLI), scaled(m, "memory", NANO) };
}

static struct amounts plus(struct amounts a, struct amounts b)
{
        return (struct amounts){ a.cpu_milli + b.cpu_milli, a.memory_bytes + b.memory_bytes };
}

static struct amounts minus(struct amounts a, struct amounts b)
{
        return (struct amounts){ a.cpu_milli - b.cpu_milli, a.memory_bytes - b.memory_bytes };
}

static struct amounts larger(struct amounts a, struct amounts b)
{
        return (struct amounts){ MAX(a.cpu_milli, b.cpu_milli), MAX(a.memory_bytes, b.memory_bytes) };
}

static struct amounts requests_of(const struct container *c)
{
        return c->resources ? amounts_of(&c->resources->requests) : (struct amounts){ 0 };
}

struct amounts usage_of_pod(const struct pod_spec *spec)
{
        struct amounts together = { 0 }, peak = { 0 }, sidecars = { 0 };

        for (uint32_t i = 0; i < spec->init_containers.n; i++) {
                struct amounts one = requests_of(&spec->init_containers.at[i]);

                if (text_equal(spec->init_containers.at[i].restart_policy, "Always")) {
                        sidecars = plus(sidecars, one);
                        peak = larger(peak, sidecars);
                } else {
                        peak = larger(peak, plus(sidecars, one));
                }
        }
        for (uint32_t i = 0; i < spec->containers.n; i++)
                together = plus(together, requests_of(&spec->containers.at[i]));
        return plus(larger(plus(together, sidecars), peak), amounts_of(&spec->overhead));
}

/* ---- labels of nodes ---- */

static int tally_up(struct map *tallies, const char *name, struct tally **ret)
{
        size_t len = strlen(name);
        struct tally *t = map_get(tallies, name);

        if (!t) {
                if (!(t = mem_zalloc(sizeof(*t) + len + 1)))
                        return ERR_NO_MEMORY;
                memcpy(t->name, name, len);
                if (map_put(tallies, name, t) < 0) {
                        mem_free(t);
                        return ERR_NO_MEMORY;
                }
        }
        t->n++;
        *ret = t;
        return 0;
}

static void tally_down(struct map *tallies, struct tally *t)
{
        if (t && --t->n == 0)
                map_remove(tallies, t->name);
}

static const char *label_of(const struct node *n, const char *name, const char *older)
{
        const char *value = string_map_get(&n->object.meta.labels, name);

        return text_empty(value) ? string_map_get(&n->object.meta.labels, older) : value;
}

static int count_labels(struct usage *u, struct node_entry *e, const struct node *n)
{
        const char *machine =
                label_of(n, "beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type");
        const char *region =
                label_of(n, "topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region");
        struct tally *old_machine = e->machine, *old_region = e->region;

        e->machine = e->region = NULL;
        if (tally_up(&u->machines, text_empty(machine) ? MACHINE_UNDEFINED : machine, &e->machine) < 0 ||
            (!text_empty(region) && tally_up(&u->regions, region, &e->region) < 0)) {
                tally_down(&u->machines, old_machine);
                tally_down(&u->regions, old_region);
                return ERR_NO_MEMORY;
        }
        tally_down(&u->machines, old_machine);
        tally_down(&u->regions, old_region);
        return 0;
}

const char *usage_region(const struct usage *u)
{
        const struct map_entry *first = map_next(&u->regions, NULL);

        return first ? first->key : NULL;
}

/* ---- nodes ---- */

static int entry_of(struct usage *u, const char *name, struct node_entry **ret)
{
        struct node_entry *e = map_get(&u->nodes, name);

        if (!e) {
                if (!(e = NEW(struct node_entry)))
                        return ERR_NO_MEMORY;
                if (map_put(&u->nodes, name, e) < 0) {
                        mem_free(e);
                        return ERR_NO_MEMORY;
                }
        }
        *ret = e;
        return 0;
}

int usage_put_node(struct usage *u, const struct node *n)
{
        struct node_entry *e;

        if (entry_of(u, n->object.meta.name, &e) < 0)
                return ERR_NO_MEMORY;
        u->capacity = minus(u->capacity, e->capacity);
        u->allocatable = minus(u->allocatable, e->allocatable);
        e->capacity = n->status ? amounts_of(&n->status->capacity) : (struct amounts){ 0 };
        e->allocatable = n->status ? amounts_of(&n->status->allocatable) : (struct amounts){ 0 };
        e->round = u->node_round;
        u->capacity = plus(u->capacity, e->capacity);
        u->allocatable = plus(u->allocatable, e->allocatable);
        return count_labels(u, e, n);
}

/* What it adds to the sums goes; the entry is the caller's to drop. */
static void subtract_node(struct usage *u, const struct node_entry *e)
{
        u->capacity = minus(u->capacity, e->capacity);
        u->allocatable = minus(u->allocatable, e->allocatable);
        tally_down(&u->machines, e->machine);
        tally_down(&u->regions, e->region);
}

void usage_remove_node(struct usage *u, const char *name)
{
        struct node_entry *e = map_take(&u->nodes, name);

        if (!e)
                return;
        subtract_node(u, e);
        mem_free(e);
}

/* ---- pods ---- */

static bool counts(const struct pod *p)
{
        const char *phase = p->status ? p->status->phase : NULL;

        return p->spec && !text_empty(p->spec->node_name) && !text_equal(phase, "Succeeded") &&
               !text_equal(phase, "Failed");
}

static struct amounts of_slot(const struct pod_slot *s)
{
        return (struct amounts){ s->cpu_milli, s->memory_bytes };
}

static void remove_pod(struct usage *u, struct pod_slot *s)
{
        if (!s)
                return;
        u->requested = minus(u->requested, of_slot(s));
        pod_table_remove(&u->pods, s);
}

int usage_put_pod(struct usage *u, const struct pod *p)
{
        uint64_t key = pod_table_key(p->object.meta.ns, p->object.meta.name);
        struct amounts requested;
        struct pod_slot *s;

        if (!counts(p)) {
                remove_pod(u, pod_table_find(&u->pods, key));
                return 0;
        }
        s = pod_table_put(&u->pods, key);
        if (!s)
                return ERR_NO_MEMORY;
        requested = usage_of_pod(p->spec);
        u->requested = minus(u->requested, of_slot(s));
        s->cpu_milli = (uint32_t)MIN(MAX(requested.cpu_milli, 0), UINT32_MAX);
        s->memory_bytes = requested.memory_bytes;
        s->round = u->pod_round;
        u->requested = plus(u->requested, of_slot(s));
        return 0;
}

void usage_remove_pod(struct usage *u, const char *ns, const char *name)
{
        remove_pod(u, pod_table_find(&u->pods, pod_table_key(ns, name)));
}

/* ---- lists ---- */

void usage_begin_nodes(struct usage *u)
{
        u->node_round++;
}

void usage_end_nodes(struct usage *u)
{
        map_for_each(&u->nodes, e) {
                struct node_entry *entry = e->value;

                if (entry->round == u->node_round)
                        continue;
                subtract_node(u, entry);
                map_remove(&u->nodes, e->key);
        }
}

void usage_begin_pods(struct usage *u)
{
        u->pod_round++;
}

void usage_end_pods(struct usage *u)
{
        for (struct pod_slot *s = pod_table_next(&u->pods, NULL); s; s = pod_table_next(&u->pods, s))
                if (s->round != u->pod_round)
                        remove_pod(u, s);
}

/* ---- the report ---- */

static int print(struct string_map *m, struct amounts a, struct arena *arena)
{
        struct quantity cpu = { MAX(a.cpu_milli, 0) * NANO_PER_MILLI, QUANTITY_DECIMAL_SI };
        struct quantity memory = { MAX(a.memory_bytes, 0) * NANO, QUANTITY_BINARY_SI };
        char text[64];

        m->at = ARENA_NEW_ARRAY(arena, struct string_pair, 2);
        if (!m->at)
                return ERR_NO_MEMORY;
        m->n = 2;
        m->set = true;
        quantity_print(cpu, text);
        m->at[0] = (struct string_pair){ "cpu", arena_strdup(arena, text) };
        quantity_print(memory, text);
        m->at[1] = (struct string_pair){ "memory", arena_strdup(arena, text) };
        return m->at[0].value && m->at[1].value ? 0 : ERR_NO_MEMORY;
}

int usage_report(const struct usage *u, bool available, int64_t now_ms, struct arena *arena,
                 struct resource_usage **ret, struct error *err)
{
        struct resource_usage *usage = ARENA_NEW(arena, struct resource_usage);

        if (!usage || print(&usage->capacity, u->capacity, arena) < 0 ||
            print(&usage->allocatable, u->allocatable, arena) < 0 ||
            (available && print(&usage->available, minus(u->allocatable, u->requested), arena) < 0))
                return error_no_memory(err);
        usage->observation_time = now_ms;
        *ret = usage;
        return 0;
}
