#include "kubectl-fleet/live.h"

#include "kubectl-fleet/output.h"
#include "proto/gen/kinds.h"

#define SOURCES_MAX 8
#define TOGETHER_MS 100 /* changes that come so shortly one after another are drawn as one */
#define TICK_MS 1000

struct watcher {
        struct session *s;
        const struct live *live;
        struct informer *sources[SOURCES_MAX];
        struct waitq changes;
        bool changed;
        struct buf shown; /* the last drawing */
};

/* ---- what is watched ---- */

static void on_change(void *ctx, const struct informer_event *e)
{
        struct watcher *w = ctx;

        w->changed = true;
        waitq_wake_all(&w->changes);
}

static int start_source(struct watcher *w, size_t i, struct error *err)
{
        const struct fetch *f = &w->live->fetches[i];
        struct session *s = w->s;
        struct kube_resource *resource = ARENA_NEW(s->arena, struct kube_resource);
        struct informer_options o = { .kind = f->metadata_only ? &partial_object_kind : f->kind,
                                      .resource = f->metadata_only ? resource : NULL,
                                      .ns = f->ns,
                                      .label_selector = f->selector,
                                      .flags = f->whole ? DECODE_FULL : DECODE_PROJECTION };

        if (!resource)
                return error_no_memory(err);
        *resource = kube_resource_of(f->kind);
        if (f->name && !(o.field_selector = selector_of(s->arena, "metadata.name", f->name)))
                return error_no_memory(err);
        w->sources[i] = informer_new(&s->hub, s->group, &o);
        if (!w->sources[i] || informer_add_handler(w->sources[i], on_change, w) < 0)
                return error_no_memory(err);
        return 0;
}

/* The first reading was fetch_all()'s: what it was refused is told by now. What a hub lacks is not watched.
 */
static int start_sources(struct watcher *w, struct error *err)
{
        ASSERT(w->live->n <= SOURCES_MAX);
        for (size_t i = 0; i < w->live->n; i++)
                if (!w->live->fetches[i].kind_missing)
                        TRY(start_source(w, i, err));
        for (size_t i = 0; i < w->live->n; i++) {
                int code = w->sources[i] ? informer_wait_synced(w->sources[i], DEADLINE_NONE) : 0;

                if (code < 0)
                        return error_set(err, code, "watching %s", w->live->fetches[i].kind->plural);
        }
        return 0;
}

/* ---- drawing ---- */

/* Rows that a line takes; those that are not cut wrap. */
static unsigned rows_of(struct slice line, unsigned columns)
{
        size_t width = screen_width_of(line.data, line.len);

        return width > columns && columns ? (unsigned)((width + columns - 1) / columns) : 1;
}

static void draw_lines(struct watcher *w, unsigned columns, unsigned rows)
{
        struct slice rest = { w->shown.data, w->shown.len }, line;
        unsigned used = 0;
        AUTO_BUF struct buf b;

        buf_init(&b, w->shown.max);
        buf_append_str(&b, "\033[H");
        while (rest.len) {
                slice_cut(&rest, '\n', &line);
                used += rows_of(line, columns);
                if (used >= rows)
                        break;
                buf_append(&b, line.data, line.len);
                buf_append_str(&b, "\033[K\n");
        }
        buf_append_str(&b, "\033[J");
        w->s->terminal->write(w->s->terminal->ctx, false, b.data, b.len);
}

static bool is_screen(const struct session *s)
{
        return s->terminal->size && output_is(s, "");
}

/* What s->out holds takes the place of what was shown; a reader at a pipe gets one after the other. */
static void put(struct watcher *w)
{
        struct session *s = w->s;
        unsigned columns, rows;
        bool first = w->shown.len == 0;

        if (s->out.len == w->shown.len && memcmp(s->out.data, w->shown.data, s->out.len) == 0) {
                buf_clear(&s->out);
                return;
        }
        buf_clear(&w->shown);
        buf_append(&w->shown, s->out.data, s->out.len);
        if (is_screen(s)) {
                if (first)
                        s->terminal->write(s->terminal->ctx, false, "\033[2J", 4);
                s->terminal->size(s->terminal->ctx, &columns, &rows);
                buf_clear(&s->out);
                draw_lines(w, columns, rows);
                return;
        }
        if (!first && !output_is(s, "json"))
                s->terminal->write(s->terminal->ctx, false, output_is(s, "yaml") ? "---\n" : "\n",
                                   output_is(s, "yaml") ? 4 : 1);
        session_flush(s);
}

static int draw(struct watcher *w, struct error *err)
{
        struct session *s = w->s;
        struct arena *kept = s->arena;
        AUTO_ARENA struct arena arena = ARENA_INIT;
        int code = 0;

        s->arena = &arena;
        w->changed = false;
        for (size_t i = 0; code == 0 && i < w->live->n; i++) {
                w->live->fetches[i].result = (struct object_list){ 0 };
                if (w->sources[i])
                        code = informer_list(w->sources[i], &arena, &w->live->fetches[i].result);
        }
        code = code < 0 ? error_no_memory(err) : w->live->draw(s, w->live->ctx, err);
        s->arena = kept;
        if (code == 0)
                put(w);
        return code;
}

static int follow(struct watcher *w, struct error *err)
{
        struct loop *l = w->s->world->loop;
        bool ticks = w->live->ticks && is_screen(w->s);
        int code = 0;

        while (code >= 0 || code == ERR_TIMEOUT) {
                TRY(draw(w, err));
                TRY(fiber_sleep(l, TOGETHER_MS));
                code = w->changed
                               ? 0
                               : waitq_wait(l, &w->changes, ticks ? loop_now_ms(l) + TICK_MS : DEADLINE_NONE);
        }
        return code;
}

static int watch(struct session *s, const struct live *l, struct error *err)
{
        struct watcher w = { .s = s, .live = l };
        int code;

        buf_init(&w.shown, s->out.max);
        code = start_sources(&w, err);
        if (code == 0)
                code = follow(&w, err);
        fiber_mask_cancel(s->world->loop);
        for (size_t i = 0; i < l->n; i++)
                if (w.sources[i])
                        informer_stop(w.sources[i]);
        fiber_unmask_cancel(s->world->loop);
        buf_free(&w.shown);
        return code == ERR_CANCELLED ? 0 : code; /* asked to end, it ends well */
}

int live_show(struct session *s, const struct live *l, struct error *err)
{
        TRY(fetch_all(s, l->fetches, l->n, err));
        if (s->options.watch)
                return watch(s, l, err);
        return l->draw(s, l->ctx, err);
}
