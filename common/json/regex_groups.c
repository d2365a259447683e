/* Finds a match and what its groups matched: as regex_match.c, but each thread carries the bounds of all
 * groups. */
#include "common/base/memory.h"
#include "common/json/regex_internal.h"

#define NOWHERE UINT32_MAX

struct thread_list {
        uint32_t *pc, *place; /* as in regex_match.c */
        uint32_t *bounds;     /* of each thread: n_bounds */
        size_t n;
};

/* What remains to be added; with `bound` set a bound is to be put back. */
struct pending {
        uint32_t pc, bound, before;
};

struct machine {
        const struct regex *re;
        struct slice text;
        size_t n_bounds;
        struct thread_list now, next;
        struct pending *stack;
        uint32_t *bounds; /* of the thread being added */
};

size_t regex_group_count(const struct regex *re)
{
        return re->n_groups;
}

struct slice regex_group_name(const struct regex *re, size_t group)
{
        return re->group_names[group - 1];
}

size_t regex_size(const struct regex *re)
{
        return re->n_code;
}

static bool list_has(const struct thread_list *list, uint32_t pc)
{
        return list->place[pc] < list->n && list->pc[list->place[pc]] == pc;
}

static void push(struct machine *m, size_t *depth, uint32_t pc, uint32_t bound, uint32_t before)
{
        m->stack[(*depth)++] = (struct pending){ pc, bound, before };
}

/* Adds the thread whose bounds are m->bounds and all it reaches, best alternative first. */
static void add_thread(struct machine *m, struct thread_list *list, uint32_t start_pc, size_t at)
{
        size_t depth = 0;
        push(m, &depth, start_pc, NOWHERE, 0);
        while (depth) {
                struct pending p = m->stack[--depth];
                if (p.bound != NOWHERE) {
                        m->bounds[p.bound] = p.before;
                        continue;
                }
                if (list_has(list, p.pc))
                        continue;
                list->place[p.pc] = (uint32_t)list->n;
                memcpy(list->bounds + list->n * m->n_bounds, m->bounds, m->n_bounds * sizeof(*m->bounds));
                list->pc[list->n++] = p.pc;
                const struct regex_instruction *i = &m->re->code[p.pc];
                if (i->op == REGEX_JUMP) {
                        push(m, &depth, i->x, NOWHERE, 0);
                } else if (i->op == REGEX_SPLIT) {
                        push(m, &depth, i->y, NOWHERE, 0);
                        push(m, &depth, i->x, NOWHERE, 0);
                } else if (i->op == REGEX_SAVE) {
                        push(m, &depth, 0, i->x, m->bounds[i->x]);
                        m->bounds[i->x] = (uint32_t)at;
                        push(m, &depth, p.pc + 1, NOWHERE, 0);
                } else if (i->op == REGEX_ASSERT && regex_condition_holds(m->text, at, i->x)) {
                        push(m, &depth, p.pc + 1, NOWHERE, 0);
                }
        }
}

static bool step(struct machine *m, size_t at, uint32_t c, size_t width, uint32_t *ret)
{
        for (size_t t = 0; t < m->now.n; t++) {
                const struct regex_instruction *i = &m->re->code[m->now.pc[t]];
                const uint32_t *bounds = m->now.bounds + t * m->n_bounds;
                if (i->op == REGEX_MATCH) {
                        memcpy(ret, bounds, m->n_bounds * sizeof(*ret));
                        ret[1] = (uint32_t)at;
                        return true;
                }
                if (width && regex_consumes(m->re, i, c)) {
                        memcpy(m->bounds, bounds, m->n_bounds * sizeof(*bounds));
                        add_thread(m, &m->next, m->now.pc[t] + 1, at + width);
                }
        }
        return false;
}

static void begin_thread(struct machine *m, size_t at)
{
        for (size_t i = 0; i < m->n_bounds; i++)
                m->bounds[i] = NOWHERE;
        m->bounds[0] = (uint32_t)at;
        add_thread(m, &m->now, 0, at);
}

static bool run(struct machine *m, size_t from, uint32_t *ret, size_t *ret_seen)
{
        bool found = false;
        for (size_t at = from;;) {
                *ret_seen = at;
                if (!found && (at == 0 || !m->re->anchored))
                        begin_thread(m, at);
                if (!m->now.n)
                        break;
                size_t width = 0;
                uint32_t c = at < m->text.len ? rune_decode(m->text.data + at, m->text.len - at, &width) : 0;
                m->next.n = 0;
                found |= step(m, at, c, width, ret);
                if (!width)
                        break;
                struct thread_list swap = m->now;
                m->now = m->next;
                m->next = swap;
                at += width;
        }
        return found;
}

static void carve(struct thread_list *list, uint32_t **memory, size_t n, size_t n_bounds)
{
        list->pc = *memory;
        list->place = *memory + n;
        list->bounds = *memory + 2 * n;
        *memory += (2 + n_bounds) * n;
}

static size_t place_of(uint32_t bound)
{
        return bound == NOWHERE ? SIZE_MAX : bound;
}

int regex_find_groups(const struct regex *re, struct slice text, size_t from, struct regex_span *ret,
                      size_t *ret_seen)
{
        size_t n = re->n_code, n_bounds = 2 * (re->n_groups + 1);
        *ret_seen = from;
        if (from > text.len)
                return 0;
        AUTO_FREE struct pending *stack = mem_calloc(3 * n + 1, sizeof(*stack));
        AUTO_FREE uint32_t *all = mem_calloc(2 * (2 + n_bounds) * n + 2 * n_bounds, sizeof(*all));
        if (!stack || !all)
                return ERR_NO_MEMORY;
        uint32_t *memory = all, *found = all + 2 * (2 + n_bounds) * n;
        struct machine m = { .re = re, .text = text, .n_bounds = n_bounds, .stack = stack };
        m.bounds = found + n_bounds;
        carve(&m.now, &memory, n, n_bounds);
        carve(&m.next, &memory, n, n_bounds);
        if (!run(&m, from, found, ret_seen))
                return 0;
        for (size_t i = 0; i <= re->n_groups; i++)
                ret[i] = (struct regex_span){ place_of(found[2 * i]), place_of(found[2 * i + 1]) };
        return 1;
}
