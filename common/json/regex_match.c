/* Runs a compiled regular expression: all alternatives advance together over the text (a Pike machine), so
 * the time is at most text length times program length. A thread remembers where it began; earlier threads
 * have priority. */
#include "common/base/memory.h"
#include "common/json/regex_internal.h"

#define SMALL_PROGRAM 192 /* machines up to this size live on the stack */

struct thread_list {
        uint32_t *pc, *begin; /* dense, in order of priority */
        uint32_t *place;      /* where a program counter stands in `pc`, if at all */
        size_t n;
};

struct machine {
        const struct regex *re;
        struct slice text;
        struct thread_list now, next;
        uint32_t *stack;
};

static bool is_word_byte(struct slice text, size_t at)
{
        if (at >= text.len)
                return false;
        unsigned char c = (unsigned char)text.data[at];
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool regex_condition_holds(struct slice text, size_t at, uint32_t condition)
{
        switch ((enum regex_assert)condition) {
        case REGEX_TEXT_BEGIN:
                return at == 0;
        case REGEX_TEXT_END:
                return at == text.len;
        case REGEX_LINE_BEGIN:
                return at == 0 || text.data[at - 1] == '\n';
        case REGEX_LINE_END:
                return at == text.len || text.data[at] == '\n';
        case REGEX_WORD_BOUNDARY:
        case REGEX_NO_WORD_BOUNDARY: {
                bool before = at > 0 && is_word_byte(text, at - 1);
                return (before != is_word_byte(text, at)) == (condition == REGEX_WORD_BOUNDARY);
        }
        }
        UNREACHABLE();
}

static bool class_has(const struct regex_class *class, uint32_t c)
{
        size_t low = 0, high = class->n;
        while (low < high) {
                size_t middle = (low + high) / 2;
                if (c > class->ranges[middle].high)
                        low = middle + 1;
                else
                        high = middle;
        }
        return (low < class->n && c >= class->ranges[low].low) != class->negated;
}

static bool list_has(const struct thread_list *list, uint32_t pc)
{
        return list->place[pc] < list->n && list->pc[list->place[pc]] == pc;
}

/* Adds the thread and all it reaches without consuming text, best alternative first. */
static void add_thread(struct machine *m, struct thread_list *list, uint32_t start_pc, uint32_t begin,
                       size_t at)
{
        size_t depth = 0;
        m->stack[depth++] = start_pc;
        while (depth) {
                uint32_t pc = m->stack[--depth];
                if (list_has(list, pc))
                        continue;
                list->place[pc] = (uint32_t)list->n;
                list->begin[list->n] = begin;
                list->pc[list->n++] = pc;
                const struct regex_instruction *i = &m->re->code[pc];
                if (i->op == REGEX_JUMP)
                        m->stack[depth++] = i->x;
                else if (i->op == REGEX_SPLIT) {
                        m->stack[depth++] = i->y;
                        m->stack[depth++] = i->x;
                } else if (i->op == REGEX_ASSERT && regex_condition_holds(m->text, at, i->x))
                        m->stack[depth++] = pc + 1;
        }
}

bool regex_consumes(const struct regex *re, const struct regex_instruction *i, uint32_t c)
{
        if (i->op == REGEX_RANGE)
                return c >= i->x && c <= i->y;
        return i->op == REGEX_CLASS && class_has(re->classes[i->x], c);
}

/* One step of all threads. Threads behind one that matches are worse and are dropped. */
static bool step(struct machine *m, size_t at, uint32_t c, size_t width, struct regex_span *span)
{
        for (size_t t = 0; t < m->now.n; t++) {
                const struct regex_instruction *i = &m->re->code[m->now.pc[t]];
                if (i->op == REGEX_MATCH) {
                        *span = (struct regex_span){ m->now.begin[t], at };
                        return true;
                }
                if (width && regex_consumes(m->re, i, c))
                        add_thread(m, &m->next, m->now.pc[t] + 1, m->now.begin[t], at + width);
        }
        return false;
}

static int run(struct machine *m, size_t from, bool any_match_will_do, struct regex_span *ret)
{
        bool found = false;
        for (size_t at = from;;) {
                if (!found && (at == 0 || !m->re->anchored))
                        add_thread(m, &m->now, 0, (uint32_t)at, at);
                if (!m->now.n)
                        break;
                size_t width = 0;
                uint32_t c = at < m->text.len ? rune_decode(m->text.data + at, m->text.len - at, &width) : 0;
                m->next.n = 0;
                found |= step(m, at, c, width, ret);
                if ((found && any_match_will_do) || !width)
                        break;
                struct thread_list swap = m->now;
                m->now = m->next;
                m->next = swap;
                at += width;
        }
        return found;
}

static void carve(struct thread_list *list, uint32_t **memory, size_t n)
{
        list->pc = *memory;
        list->begin = *memory + n;
        list->place = *memory + 2 * n;
        *memory += 3 * n;
}

static int find(const struct regex *re, struct slice text, size_t from, bool any, struct regex_span *ret)
{
        /* Places are zeroed once; list_has() never trusts them beyond the list's length. */
        uint32_t small[8 * SMALL_PROGRAM] = { 0 };
        AUTO_FREE uint32_t *large = NULL;
        uint32_t *memory = small;
        if (re->n_code > SMALL_PROGRAM) {
                large = mem_calloc(8 * re->n_code, sizeof(*large));
                if (!large)
                        return ERR_NO_MEMORY;
                memory = large;
        }
        struct machine m = { .re = re, .text = text };
        carve(&m.now, &memory, re->n_code);
        carve(&m.next, &memory, re->n_code);
        m.stack = memory; /* each instruction pushes at most two: 2n suffice */
        return run(&m, from, any, ret);
}

int regex_find(const struct regex *re, struct slice text, size_t from, struct regex_span *ret)
{
        struct regex_span span;
        int found = from > text.len ? 0 : find(re, text, from, false, &span);
        if (found == 1)
                *ret = span;
        return found;
}

int regex_test(const struct regex *re, struct slice text)
{
        struct regex_span span;
        return find(re, text, 0, true, &span);
}
