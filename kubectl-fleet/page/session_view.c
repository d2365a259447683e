/* A view that is open: what it needs is kept up to date, after changes it looks again, and what is different
 * goes out. */
#include "common/base/memory.h"
#include "kubectl-fleet/page/session_internal.h"

#define ROUNDS_MAX 32 /* of needs that name further needs */
#define RETRY_MS 1000 /* after an error that may go away by itself */
#define MESSAGE_MAX (PAGE_PIECE_BYTES + 2 * PAGE_ROW_BYTES + (64u << 10))

struct pane_use {
        struct page_use use;
        struct pane *pane;
        int64_t until_ms; /* then the user's right to it is asked for again */
};

struct pane {
        struct list node;
        struct page_session *s;
        int64_t number;
        const struct page_view *view;
        json_t *args;
        struct fiber *fiber;
        struct page_doc *doc;
        struct pane_use *uses[PAGE_NEEDS_MAX]; /* in the order of the view's needs */
        size_t n;
        struct waitq changes;
        bool changed, closed;
        bool failed;    /* an error stands in the view's place */
        uint64_t shown; /* hash of that error's text */
        uint64_t hidden;
};

static uint64_t hash_text(const char *text)
{
        return hash_bytes(text, strlen(text), 1);
}

/* ---- needs ---- */

static void on_change(struct page_use *u)
{
        struct pane *p = container_of(u, struct pane_use, use)->pane;

        p->changed = true;
        waitq_wake_all(&p->changes);
}

static void end_use(struct pane_use *u)
{
        if (u)
                page_use_end(&u->use);
        mem_free(u);
}

/* Parks. As user_may_list(), of whoever looks when the answer is there. */
static int ask_right(const struct pane *p, const struct fetch *f, int64_t *ret_until_ms, struct error *err)
{
        bool same = false;
        int code = 0;

        while (!same && code != ERR_CANCELLED) {
                struct page_visitor *v = page_visitor_ref(p->s->visitor);

                code = user_may_list(v, f->kind, f->ns, ret_until_ms, err);
                same = v == p->s->visitor;
                page_visitor_unref(v);
        }
        return code;
}

/* May park: whether the user may see it is asked first. */
static int begin_use(struct pane *p, const struct fetch *f, struct pane_use **ret, struct error *err)
{
        struct pane_use *u = NEW(struct pane_use);
        int64_t until_ms;
        int code = u ? ask_right(p, f, &until_ms, err) : error_no_memory(err);

        if (code == 0 || code == ERR_FORBIDDEN)
                *u = (struct pane_use){ .use = { .changed = on_change }, .pane = p, .until_ms = until_ms };
        if (code == ERR_FORBIDDEN)
                code = page_use_refuse(f, err->text, &u->use);
        else if (code == 0)
                code = page_use_begin(p->s->core->sources, f, &u->use, err);
        if (code < 0) {
                mem_free(u);
                return code;
        }
        *ret = u;
        return 0;
}

/* May park. *ret: the user may see it, or may not, as before. */
static int check_use(struct pane *p, struct pane_use *u, bool *ret, struct error *err)
{
        struct error why = { 0 };
        int64_t until_ms;
        int code;

        *ret = true;
        if (loop_now_ms(p->s->loop) < u->until_ms)
                return 0;
        code = ask_right(p, &u->use.fetch, &until_ms, &why);
        if (code < 0 && code != ERR_FORBIDDEN)
                return code == ERR_CANCELLED ? code : error_set(err, (enum error_code)code, "%s", why.text);
        *ret = text_equal(u->use.refused, code < 0 ? why.text : NULL);
        if (*ret)
                u->until_ms = until_ms;
        return 0;
}

struct adoption {
        struct pane *p;
        struct pane_use *next[PAGE_NEEDS_MAX];
        bool kept[PAGE_NEEDS_MAX];  /* of the pane's */
        bool begun[PAGE_NEEDS_MAX]; /* of the next ones */
};

/* *ret: NULL = there is none that can be kept. */
static int find_kept(struct adoption *a, const struct fetch *f, struct pane_use **ret, struct error *err)
{
        struct pane *p = a->p;

        for (size_t i = 0; i < p->n; i++)
                if (!a->kept[i] && page_fetch_same(&p->uses[i]->use.fetch, f)) {
                        TRY(check_use(p, p->uses[i], &a->kept[i], err));
                        *ret = a->kept[i] ? p->uses[i] : NULL;
                        return 0;
                }
        *ret = NULL;
        return 0;
}

static int begin_all(struct adoption *a, const struct page_needs *wanted, struct error *err)
{
        for (size_t i = 0; i < wanted->n; i++) {
                TRY(find_kept(a, &wanted->at[i].fetch, &a->next[i], err));
                if (a->next[i])
                        continue;
                TRY(begin_use(a->p, &wanted->at[i].fetch, &a->next[i], err));
                a->begun[i] = true;
        }
        return 0;
}

/* *ret: they are not the same as before. After an error they are. */
static int adopt(struct pane *p, const struct page_needs *wanted, bool *ret, struct error *err)
{
        struct adoption a = { .p = p };
        int code = begin_all(&a, wanted, err);

        if (code < 0) {
                for (size_t i = 0; i < wanted->n; i++)
                        if (a.begun[i])
                                end_use(a.next[i]);
                return code;
        }
        *ret = wanted->n != p->n || memcmp(a.next, p->uses, p->n * sizeof(*a.next)) != 0;
        for (size_t i = 0; i < p->n; i++)
                if (!a.kept[i])
                        end_use(p->uses[i]);
        memcpy(p->uses, a.next, sizeof(a.next));
        p->n = wanted->n;
        return 0;
}

static bool all_settled(const struct pane *p)
{
        for (size_t i = 0; i < p->n; i++)
                if (!page_use_settled(&p->uses[i]->use))
                        return false;
        return true;
}

static int read_needs(const struct pane *p, struct arena *arena, struct page_needs *ret)
{
        ret->n = p->n;
        for (size_t i = 0; i < p->n; i++)
                TRY(page_use_read(&p->uses[i]->use, arena, &ret->at[i]));
        return 0;
}

/* When the user's rights are asked for again. */
static int64_t due(const struct pane *p)
{
        int64_t first = DEADLINE_NONE;

        for (size_t i = 0; i < p->n; i++)
                first = MIN(first, p->uses[i]->until_ms);
        return first;
}

/* 0, ERR_TIMEOUT, ERR_CANCELLED: it is closed. */
static int wait_for_change(struct pane *p, int64_t deadline_ms)
{
        int code = 0;

        while (code == 0 && !p->changed && !p->closed)
                code = waitq_wait(p->s->loop, &p->changes, deadline_ms);
        return p->closed ? ERR_CANCELLED : code;
}

/* Until what is read is what the view wants to be read, and all of it is there. Nothing parks between the
 * last reading and the end. */
static int settle(struct pane *p, struct page_look *l, struct page_needs *needs, struct error *err)
{
        for (unsigned rounds = 0; rounds < ROUNDS_MAX;) {
                struct page_needs wanted = { 0 };
                bool others = false;

                arena_reset(l->arena);
                p->changed = false;
                if (read_needs(p, l->arena, needs) < 0)
                        return error_no_memory(err);
                TRY(p->view->need(l, &wanted, err));
                TRY(adopt(p, &wanted, &others, err));
                if (!others && all_settled(p))
                        return 0;
                rounds += others;
                if (!all_settled(p) && loop_now_ms(p->s->loop) < due(p)) {
                        int code = wait_for_change(p, due(p)); /* which may be that less is to be read */

                        if (code < 0 && code != ERR_TIMEOUT)
                                return code;
                }
        }
        return error_set(err, ERR_INTERNAL, "what the view reads names ever more to be read");
}

/* ---- what goes out ---- */

static json_t *hidden_doc(const struct page_needs *n)
{
        json_t *all = json_array();

        for (size_t i = 0; all && i < n->n; i++) {
                const struct fetch *f = &n->at[i].fetch;
                json_t *one = n->at[i].problem ? json_pack("{s:s, s:s}", "kind", f->kind->kind, "why",
                                                           n->at[i].problem)
                                               : NULL;

                if (!n->at[i].problem)
                        continue;
                if (!one || (f->ns && doc_set_string(one, "namespace", f->ns) < 0) ||
                    json_array_append(all, one) < 0) {
                        json_decref(all);
                        all = NULL;
                }
                json_decref(one);
        }
        return all;
}

static int write_hidden(const struct page_needs *n, struct buf *b)
{
        AUTO_JSON json_t *doc = hidden_doc(n);

        return doc ? doc_write(doc, b) : ERR_NO_MEMORY;
}

static int put_piece(struct pane *p, const struct buf *hidden, bool *ret_more)
{
        uint64_t hash = hash_text(hidden->data);
        AUTO_BUF struct buf b;
        size_t begin;

        buf_init(&b, MESSAGE_MAX);
        buf_printf(&b, "{\"view\":%lld", (long long)p->number);
        begin = b.len;
        if (hash != p->hidden)
                buf_printf(&b, ",\"hidden\":%s", hidden->data);
        TRY(page_doc_take(p->doc, PAGE_PIECE_BYTES, &b, ret_more));
        p->hidden = hash;
        if (b.len == begin)
                return 0;
        buf_append_str(&b, *ret_more ? ",\"more\":true}" : "}");
        return p->closed ? ERR_CANCELLED : session_put(p->s, (struct slice){ b.data, b.len });
}

static int put_changes(struct pane *p, const struct page_needs *needs, struct error *err)
{
        AUTO_BUF struct buf hidden;
        bool more = true;

        buf_init(&hidden, 64u << 10);
        if (write_hidden(needs, &hidden) < 0)
                return error_no_memory(err);
        while (more) {
                int code = put_piece(p, &hidden, &more);

                if (code < 0)
                        return error_set(err, code, "%s",
                                         code == ERR_LIMIT ? "the view is too large" : error_code_name(code));
        }
        return 0;
}

/* ---- one look ---- */

/* What is not there may be what cannot be read. */
static int explain(const struct page_needs *needs, int code, struct error *err)
{
        for (size_t i = 0; code == ERR_NOT_FOUND && i < needs->n; i++)
                if (needs->at[i].problem && !needs->at[i].filled)
                        return error_set(err, needs->at[i].code, "%s", needs->at[i].problem);
        return code;
}

static int look(struct pane *p, struct page_look *l, struct page_needs *needs, struct error *err)
{
        int code;

        TRY(settle(p, l, needs, err));
        page_doc_begin(p->doc);
        code = p->view->look(l, p->doc, err);
        if (code == 0)
                code = page_doc_end(p->doc);
        if (code < 0 && !err->code)
                error_set(err, code, "%s",
                          code == ERR_LIMIT ? "the view is too large to be shown" : error_code_name(code));
        return code < 0 ? explain(needs, code, err) : 0;
}

static int draw(struct pane *p, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct page_needs needs = { 0 };
        struct page_look l = { .arena = &arena,
                               .args = p->args,
                               .now_ms = loop_wall_ms(p->s->loop),
                               .needs = &needs,
                               .journal = p->s->core->journal };

        TRY(look(p, &l, &needs, err));
        return put_changes(p, &needs, err);
}

/* Once for each text. */
static int show_error(struct pane *p, const struct error *err)
{
        uint64_t hash = hash_text(err->text);
        int code = 0;

        page_doc_hidden_by_error(p->doc);
        if (!p->failed || p->shown != hash)
                code = session_put_doc(p->s, json_pack("{s:I, s:o}", "view", (json_int_t)p->number, "error",
                                                       session_error_doc(err)));
        if (code == 0)
                p->failed = true, p->shown = hash;
        return code == ERR_CLOSED || code == ERR_CANCELLED ? code : 0;
}

static int draw_once(struct pane *p, int64_t *ret_again_ms)
{
        struct error err = { 0 };
        int code = draw(p, &err);

        *ret_again_ms = DEADLINE_NONE;
        if (code == 0)
                p->failed = false;
        if (code == 0 || code == ERR_CANCELLED || code == ERR_CLOSED)
                return code;
        if (!err.code)
                error_set(&err, code, "%s", error_code_name(code));
        if (code != ERR_INVALID && code != ERR_NOT_FOUND)
                *ret_again_ms = loop_now_ms(p->s->loop) + RETRY_MS;
        return p->closed ? ERR_CANCELLED : show_error(p, &err);
}

/* ---- its life ---- */

static void free_pane(struct pane *p)
{
        for (size_t i = 0; i < p->n; i++)
                end_use(p->uses[i]);
        page_doc_free(p->doc);
        json_decref(p->args);
        mem_free(p);
}

static void let_go(struct pane *p)
{
        if (p->closed)
                return;
        p->closed = true;
        list_remove(&p->node);
        p->s->n_panes--;
}

static void run_pane(void *ctx)
{
        struct pane *p = ctx;
        int code = 0;

        while (code == 0) {
                int64_t again_ms, next_ms = loop_now_ms(p->s->loop) + PAGE_TOGETHER_MS;

                code = draw_once(p, &again_ms);
                again_ms = MIN(again_ms, loop_now_ms(p->s->loop) + PAGE_OLD_MS);
                if (code == 0)
                        code = wait_for_change(p, MIN(again_ms, due(p)));
                if (code == ERR_TIMEOUT)
                        code = 0;
                if (code == 0 && loop_now_ms(p->s->loop) < next_ms)
                        code = fiber_sleep(p->s->loop, next_ms - loop_now_ms(p->s->loop));
        }
        let_go(p);
        free_pane(p);
}

int pane_open(struct page_session *s, int64_t number, const struct page_view *view, json_t *args)
{
        struct pane *p = NEW(struct pane);

        if (!p)
                return ERR_NO_MEMORY;
        *p = (struct pane){ .s = s,
                            .number = number,
                            .view = view,
                            .args = json_incref(args),
                            .doc = page_doc_new(loop_random_u64(s->loop)),
                            .hidden = hash_text("[]") };
        p->fiber = p->doc ? fiber_spawn(s->group, view->name, run_pane, p) : NULL;
        if (!p->fiber) {
                free_pane(p);
                return ERR_NO_MEMORY;
        }
        list_append(&s->panes, &p->node);
        s->n_panes++;
        return 0;
}

static struct pane *find_pane(const struct page_session *s, int64_t number)
{
        list_for_each(p, &s->panes, struct pane, node)
                if (p->number == number)
                        return p;
        return NULL;
}

bool pane_is_open(const struct page_session *s, int64_t number)
{
        return find_pane(s, number);
}

/* Its fiber frees it. */
void pane_close(struct page_session *s, int64_t number)
{
        struct pane *p = find_pane(s, number);

        if (!p)
                return;
        let_go(p);
        fiber_cancel(p->fiber);
}

void panes_recheck(struct page_session *s)
{
        list_for_each(p, &s->panes, struct pane, node) {
                for (size_t i = 0; i < p->n; i++)
                        if (p->uses[i]->until_ms != DEADLINE_NONE)
                                p->uses[i]->until_ms = 0;
                p->changed = true;
                waitq_wake_all(&p->changes);
        }
}
