#include "e2e/simulation/page_browser.h"

#include "common/base/limits.h"
#include "common/base/memory.h"
#include "kubectl-fleet/page/session.h"

#define SHOWN 400 /* bytes of a document in an error */

#define WRONG(b, ...)                                                                                        \
        do {                                                                                                 \
                if (!(b)->wrong.code)                                                                        \
                        error_set(&(b)->wrong, ERR_INVALID, "the page: " __VA_ARGS__);                       \
        } while (0)

/* ---- documents ---- */

static void sheet_clear(struct page_sheet *s)
{
        json_decref(s->args);
        json_decref(s->head);
        json_decref(s->parts);
        json_decref(s->hidden);
        json_decref(s->error);
}

struct page_sheet *page_browser_sheet(struct page_browser *b, int64_t number)
{
        vec_for_each(&b->sheets, s)
                if (s->number == number)
                        return s;
        return NULL;
}

static void replace(json_t **at, const json_t *by)
{
        json_decref(*at);
        *at = json_incref((json_t *)(uintptr_t)by);
}

/* What is new is different from what was sent. */
static void take_rows(struct page_browser *b, struct page_sheet *s, const char *part, json_t *rows)
{
        json_t *all = json_object_get(s->parts, part), *row;
        const char *key;

        if (!all)
                json_object_set_new(s->parts, part, all = json_object());
        json_object_foreach(rows, key, row) {
                const json_t *was = json_object_get(all, key);

                if (json_equal(was, row))
                        WRONG(b, "row %s of %s of view %s came again as it was", key, part, s->view);
                *(was ? &b->told.changed : &b->told.rows) += 1;
                json_object_set(all, key, row);
        }
}

static void take_gone(struct page_browser *b, struct page_sheet *s, const char *part, json_t *keys)
{
        json_t *key;
        size_t i;

        b->told.gone += json_array_size(keys);
        json_array_foreach(keys, i, key)
                if (json_object_del(json_object_get(s->parts, part), or_empty(json_string_value(key))) < 0)
                        WRONG(b, "row %s of %s of view %s is gone that never came", json_string_value(key),
                              part, s->view);
}

static void take_head(struct page_browser *b, struct page_sheet *s, const json_t *head)
{
        if (!s->error && json_equal(s->head, head))
                WRONG(b, "the head of view %s came again as it was", s->view);
        b->told.heads++;
        replace(&s->head, head);
        replace(&s->error, NULL);
}

/* The head of the fleet counts the rows. */
static void check_total(struct page_browser *b, const struct page_sheet *s, const char *part)
{
        int64_t total = doc_get_int(json_object_get(s->head, part), "total", -1);
        size_t rows = json_object_size(json_object_get(s->parts, part));

        if (total != (int64_t)rows)
                WRONG(b, "%zu rows of %s of the fleet are there, its head counts %lld", rows, part,
                      (long long)total);
}

static void check_whole(struct page_browser *b, const struct page_sheet *s)
{
        if (s->more || s->error || !text_equal(s->view, "fleet"))
                return;
        check_total(b, s, "clusters");
        check_total(b, s, "placements");
        check_total(b, s, "runs");
}

/* Of these a user can do nothing, and in the game nothing leads to them. */
static void check_error(struct page_browser *b, const struct page_sheet *s, const json_t *error)
{
        const char *code = or_empty(doc_get_string(error, "code"));

        if (text_equal(code, error_code_name(ERR_INTERNAL)) || text_equal(code, error_code_name(ERR_LIMIT)))
                WRONG(b, "view %s says: %s", s->view, or_empty(doc_get_string(error, "text")));
}

static void take_view(struct page_browser *b, struct page_sheet *s, const json_t *message)
{
        const char *part;
        json_t *list;

        if (json_object_get(message, "head"))
                take_head(b, s, json_object_get(message, "head"));
        if (json_object_get(message, "hidden"))
                replace(&s->hidden, json_object_get(message, "hidden"));
        if (json_object_get(message, "error")) {
                check_error(b, s, json_object_get(message, "error"));
                b->told.errors++;
                replace(&s->error, json_object_get(message, "error"));
        }
        json_object_foreach(json_object_get(message, "gone"), part, list)
                take_gone(b, s, part, list);
        json_object_foreach(json_object_get(message, "rows"), part, list)
                take_rows(b, s, part, list);
        s->more = json_is_true(json_object_get(message, "more"));
        check_whole(b, s);
}

static void take_answer(struct page_browser *b, int64_t number, const json_t *message)
{
        if (!json_object_get(message, "done") == !json_object_get(message, "error"))
                WRONG(b, "an answer is neither done nor an error, or both");
        for (size_t i = 0; i < b->asked.n; i++)
                if (b->asked.at[i].number == number) {
                        if (b->answered)
                                b->answered(b->ctx, &b->asked.at[i], message);
                        json_decref(b->asked.at[i].args);
                        vec_remove(&b->asked, i);
                        *(json_object_get(message, "done") ? &b->told.done : &b->told.refused) += 1;
                        return;
                }
        WRONG(b, "call %lld was answered that nobody made, or twice", (long long)number);
}

static void take_message(struct page_browser *b, const char *text)
{
        AUTO_JSON json_t *message = NULL;
        int64_t view, call;
        struct page_sheet *s;

        if (b->heard_text)
                b->heard_text(b->ctx, text);
        if (doc_parse(slice_of(text), &message, NULL) < 0 || !json_is_object(message)) {
                WRONG(b, "a message is no object: %.200s", text);
                return;
        }
        view = doc_get_int(message, "view", 0);
        call = doc_get_int(message, "call", 0);
        b->hello |= json_object_get(message, "hello") != NULL;
        if (call)
                take_answer(b, call, message);
        else if (view > b->number || view < 0)
                WRONG(b, "view %lld was never opened", (long long)view);
        else if (view && (s = page_browser_sheet(b, view))) /* else it was closed meanwhile */
                take_view(b, s, message);
}

void page_browser_read(struct page_browser *b)
{
        size_t packed = b->line.n_packed;
        char *text;
        int code;

        while ((code = page_line_read(&b->line, &text)) > 0) {
                take_message(b, text);
                mem_free(text);
        }
        if (code < 0)
                WRONG(b, "a packed message cannot be unpacked: %s", error_code_name(code));
        if (b->line.overfull)
                WRONG(b, "more is queued for %s than may be", b->name);
        b->told.packed += b->line.n_packed - packed;
}

/* ---- what it says ---- */

void page_browser_say(struct page_browser *b, json_t *taken)
{
        AUTO_JSON json_t *doc = taken;
        AUTO_BUF struct buf text;

        buf_init(&text, PAGE_INBOUND_BYTES);
        ASSERT(doc && doc_write(doc, &text) == 0);
        ASSERT(page_line_say(&b->line, text.data) == 0);
}

int64_t page_browser_open(struct page_browser *b, const char *view, json_t *args)
{
        struct page_sheet s = { .number = ++b->number, .view = view, .args = args, .parts = json_object() };

        ASSERT(vec_push(&b->sheets, s) == 0);
        page_browser_say(
                b, json_pack("{s:I, s:s, s:O}", "open", (json_int_t)s.number, "view", view, "args", args));
        return s.number;
}

void page_browser_close(struct page_browser *b, size_t sheet)
{
        page_browser_say(b, json_pack("{s:I}", "close", (json_int_t)b->sheets.at[sheet].number));
        sheet_clear(&b->sheets.at[sheet]);
        vec_remove(&b->sheets, sheet);
}

void page_browser_call(struct page_browser *b, const char *what, json_t *args)
{
        struct page_asked a = { ++b->number, what, args };

        ASSERT(vec_push(&b->asked, a) == 0);
        page_browser_say(
                b, json_pack("{s:I, s:s, s:O}", "call", (json_int_t)a.number, "do", what, "args", args));
}

/* ---- its life ---- */

void page_browser_begin(struct page_browser *b, struct loop *l, const char *name, unsigned weight)
{
        *b = (struct page_browser){ .loop = l, .name = name, .over = true };
        page_line_begin(&b->line, l, weight);
}

void page_browser_leave(struct page_browser *b)
{
        page_line_leave(&b->line);
}

void page_browser_clear(struct page_browser *b)
{
        ASSERT(b->over);
        page_line_clear(&b->line);
        vec_for_each(&b->sheets, s)
                sheet_clear(s);
        vec_for_each(&b->asked, a)
                json_decref(a->args);
        vec_free(&b->sheets);
        vec_free(&b->asked);
        b->hello = false;
        b->number = 0;
}

/* ---- two of them ---- */

/* What of an object is another than in the other one; new. */
static json_t *only_other(const json_t *is, const json_t *than)
{
        json_t *ret = json_object(), *value;
        const char *key;

        json_object_foreach((json_t *)(uintptr_t)is, key, value) {
                const json_t *other = json_object_get(than, key);

                if (!other || !json_equal(value, other))
                        json_object_set(ret, key, value);
        }
        return ret;
}

static int tell(const struct page_sheet *s, const char *where, const json_t *is, const json_t *fresh,
                struct error *err)
{
        AUTO_BUF struct buf a, b, args;

        buf_init(&a, LIMIT_WEBSOCKET_QUEUE_BYTES);
        buf_init(&b, LIMIT_WEBSOCKET_QUEUE_BYTES);
        buf_init(&args, PAGE_INBOUND_BYTES);
        if (doc_write(s->args, &args) < 0 || (is && doc_write(is, &a) < 0) ||
            (fresh && doc_write(fresh, &b) < 0))
                return error_no_memory(err);
        return error_set(err, ERR_INVALID, "the page: view %s %s: %s is %.*s, a fresh look says %.*s",
                         s->view, args.data, where, SHOWN, is ? a.data : "not there", SHOWN,
                         fresh ? b.data : "nothing");
}

static int differ(const struct page_sheet *s, const char *where, const json_t *is, const json_t *fresh,
                  struct error *err)
{
        AUTO_JSON json_t *some = only_other(is, fresh), *others = only_other(fresh, is);
        bool long_ones = json_object_size(is) > 1 && json_object_size(fresh) > 1;

        return long_ones ? tell(s, where, some, others, err) : tell(s, where, is, fresh, err);
}

static int compare_part(const struct page_sheet *s, const char *part, const json_t *is, const json_t *fresh,
                        struct error *err)
{
        char where[256];
        const char *key;
        json_t *row;

        json_object_foreach((json_t *)(uintptr_t)is, key, row) {
                snprintf(where, sizeof(where), "%s %s", part, key);
                if (!json_equal(row, json_object_get(fresh, key)))
                        return differ(s, where, row, json_object_get(fresh, key), err);
        }
        json_object_foreach((json_t *)(uintptr_t)fresh, key, row) {
                snprintf(where, sizeof(where), "%s %s", part, key);
                if (!json_object_get(is, key))
                        return differ(s, where, NULL, row, err);
        }
        return 0;
}

static bool is_same(const json_t *a, const json_t *b)
{
        return a == b || (a && b && json_equal(a, b));
}

/* Nothing hidden is said or not. */
static const json_t *hidden_of(const struct page_sheet *s)
{
        return json_array_size(s->hidden) ? s->hidden : NULL;
}

int page_sheet_compare(const struct page_sheet *is, const struct page_sheet *fresh, struct error *err)
{
        const char *part;
        json_t *rows;

        if (is->more || fresh->more || !(fresh->head || fresh->error))
                return error_set(err, ERR_INVALID, "the page: view %s is not whole", is->view);
        if (!is_same(is->error, fresh->error))
                return differ(is, "error", is->error, fresh->error, err);
        if (is->error)
                return 0; /* what was there before stays behind it */
        if (!is_same(is->head, fresh->head))
                return differ(is, "head", is->head, fresh->head, err);
        if (!is_same(hidden_of(is), hidden_of(fresh)))
                return differ(is, "hidden", is->hidden, fresh->hidden, err);
        json_object_foreach(is->parts, part, rows)
                TRY(compare_part(is, part, rows, json_object_get(fresh->parts, part), err));
        json_object_foreach(fresh->parts, part, rows)
                TRY(compare_part(is, part, json_object_get(is->parts, part), rows, err));
        return 0;
}
