/* List and watch: fills one informer's cache and keeps it true.
 *
 *     list (paged) -> watch from the list's version -> ... -> 410 -> list again
 *
 * A list of more than one page has its watch beside it, from the first page on: what changes meanwhile is
 * known at once, and however long the list takes, its version cannot be too old for a watch at its end.
 * A broken or silent watch is opened again at the last version seen; only 410 costs a list. The cache is
 * never dropped: what a new list does not name is forgotten at its end. */
#include "common/ctrl/informer_internal.h"

#include "common/base/limits.h"
#include "common/base/memory.h"
#include "common/kube/connection.h"

#define BACKOFF_BASE_MS 500
#define BACKOFF_MAX_MS 30000
#define FORBIDDEN_MAX_MS 6500 /* half of it and up to the whole again: below ten seconds */
#define RIGHTS_COME_PAUSE_MS 700
#define HEALTHY_MS 2000 /* a watch that lived so long resets the backoff */

struct beside;

struct reflector {
        struct informer *i;
        struct beside *beside; /* NULL = no watch runs beside a list, or is left from one */
        bool is_beside;
        char *version; /* resourceVersion to watch from; NULL = list first */
        uint32_t failures;
        uint32_t expired; /* watches answered with 410 since one held */
        struct kube_past past;
        int64_t begun_ms; /* loop */
        struct error err;
};

static void set_version_of(struct reflector *r, struct slice version)
{
        uint64_t number;

        if (r->version && strlen(r->version) == version.len) { /* mostly: they grow one by one */
                memcpy(r->version, version.data, version.len);
        } else {
                mem_free(r->version); /* no memory: list again, which is always right */
                r->version = version.len ? mem_strndup(version.data, version.len) : NULL;
        }
        if (r->version && text_parse_u64(r->version, &number) && number > r->i->high_water)
                r->i->high_water = number;
}

static void set_version(struct reflector *r, const char *version)
{
        set_version_of(r, slice_of(or_empty(version)));
}

static void beside_begin(struct reflector *r, const char *version);
static void beside_end(struct reflector *r);
static int beside_hand_over(struct reflector *r);

/* While a list is running its pages, and what a watch tells late, may be of what is known to be gone. */
static int take(struct informer *i, struct object *o, bool initial)
{
        bool gone = false;
        struct object *less;
        int code;

        if (i->listing)
                TRY(parts_is_gone(i, o, &gone));
        if (gone)
                return 0;

        if (!i->options.reduce)
                return informer_apply(i, o, initial);
        less = i->options.reduce(i->options.reduce_ctx, o);
        code = less ? informer_apply(i, less, initial) : ERR_NO_MEMORY;
        object_unref(less);
        return code;
}

/* ---- list ---- */

#define TAKEN_AT_ONCE 256

struct listing {
        struct reflector *reflector;
        bool first; /* nothing is held, nor taken from answers: nothing can be left that it does not name */
        struct map seen;             /* keys that the list names, unless it is the first */
        struct arena keys;           /* theirs */
        VEC(struct object *) coming; /* referenced: not taken into the cache yet */
};

static void listing_free(struct listing *l)
{
        map_free(&l->seen);
        arena_free(&l->keys);
        vec_for_each(&l->coming, o)
                object_unref(*o);
        vec_free(&l->coming);
}

/* Only what the list names counts as seen: an answer to an own write that comes meanwhile may be about an
 * object that was deleted before the list was taken. */
static int note_seen(struct informer *i, const struct object *o)
{
        AUTO_KEY struct key key = KEY_EMPTY;
        char *own;

        if (i->listing->first)
                return 0;
        TRY(informer_key(o, &key));
        own = arena_strdup(&i->listing->keys, key.text);
        return own ? map_put(&i->listing->seen, own, i) : ERR_NO_MEMORY;
}

int reflector_take_listed(struct informer *i, struct object *o)
{
        return take(i, o, true);
}

static int take_coming(struct informer *i)
{
        struct listing *l = i->listing;
        int code = 0;

        for (size_t k = 0; k < l->coming.n; k++) {
                if (code == 0)
                        code = take(i, l->coming.at[k], true);
                object_unref(l->coming.at[k]);
        }
        l->coming.n = 0;
        return code;
}

/* Many at once, so that what is kept and what handlers need for a moment do not lie between each other in
 * memory: holes as small as that could not be given back. */
static int list_each(void *ctx, struct object *o)
{
        struct informer *i = ctx;

        TRY(note_seen(i, o));
        if (vec_push(&i->listing->coming, o) < 0)
                return ERR_NO_MEMORY;
        object_ref(o);
        return i->listing->coming.n < TAKEN_AT_ONCE ? 0 : take_coming(i);
}

static int list_undecodable(void *ctx, struct object *id, const struct error *why)
{
        struct informer *i = ctx;

        TRY(note_seen(i, id));
        return informer_note_undecodable(i, id, why, true);
}

/* It came after the list was taken. */
static int is_newer(const struct informer *i, const struct kept *held, uint64_t list_version, bool *ret)
{
        const struct object *o = kept_object(i, held, STOWED_WITHOUT_DETAIL);
        uint64_t version = o ? resource_version_number(o) : 0;

        *ret = version && version > list_version && !i->server_went_back;
        object_unref(o);
        return o ? 0 : ERR_NO_MEMORY;
}

/* Forgets what the list did not name, except what is newer than the list. 0 or ERR_NO_MEMORY. */
static int sweep(struct informer *i, uint64_t list_version)
{
        if (i->listing->first)
                return 0;
        map_for_each(&i->objects, e) {
                bool newer;

                if (map_has(&i->listing->seen, e->key))
                        continue;
                TRY(is_newer(i, e->value, list_version, &newer));
                AUTO_FREE char *key = newer ? NULL : mem_strdup(e->key);
                if (!newer && !key)
                        return ERR_NO_MEMORY;
                if (key)
                        TRY(informer_forget(i, key, NULL, true));
        }
        return 0;
}

/* More pages are to come. */
static int list_goes_on(void *ctx, const char *version)
{
        struct informer *i = ctx;
        struct reflector *r = i->listing->reflector;

        if (!r->beside && !text_empty(version))
                beside_begin(r, version);
        return i->options.turn ? i->options.turn(i->options.turn_ctx) : 0;
}

static int list_all(struct reflector *r, char **ret_version)
{
        struct informer *i = r->i;
        struct kube_list_options o = { .ns = i->options.ns,
                                       .label_selector = i->options.label_selector,
                                       .field_selector = i->options.field_selector,
                                       .flags = i->options.flags,
                                       .interns = i->options.interns,
                                       .metadata_only = i->options.resource != NULL,
                                       .undecodable = list_undecodable,
                                       .page = list_goes_on };
        int code = kube_list_resource(i->kube, i->options.kind, &i->resource, &o, list_each, i, ret_version,
                                      &r->err);

        return code < 0 ? code : take_coming(i);
}

/* The list is there. `known`: the newest version that was known when it began. */
static int end_list(struct informer *i, uint64_t version, uint64_t known)
{
        if (version < known && version && !i->server_went_back) {
                /* The server was reset to an older state: its word counts, not ours. */
                i->server_went_back = true;
                i->high_water = 0;
                return ERR_GONE;
        }
        TRY(sweep(i, version));
        i->server_went_back = false;
        return 0;
}

static void list_is_there(struct reflector *r)
{
        struct informer *i = r->i;

        i->lists++;
        waitq_wake_all(&i->synced_wait);
        if (!i->synced) {
                i->synced = true;
                if (i->options.state_changed && !i->stopped)
                        i->options.state_changed(i->options.state_changed_ctx);
        }
        parts_follow(i, false);
        informer_set_problem(i, 0, "");
}

static int list_once(struct reflector *r)
{
        struct informer *i = r->i;
        CLEANUP(listing_free)
        struct listing listing = { .reflector = r, .first = !i->synced && map_count(&i->objects) == 0 };
        AUTO_FREE char *version = NULL;
        uint64_t number = 0, known = i->high_water;
        int code;

        map_init(&listing.seen, MAP_BORROW_KEYS, NULL);
        i->listing = &listing;
        code = list_all(r, &version);
        if (code == 0 && version && text_parse_u64(version, &number))
                code = end_list(i, number, known);
        else if (code == 0)
                code = sweep(i, 0);
        i->listing = NULL;
        parts_forget_gone(i);
        if (code < 0) {
                beside_end(r);
                return code;
        }
        if (!r->beside)
                set_version(r, version);
        list_is_there(r);
        return 0;
}

/* ---- watch ---- */

static int watch_path(struct reflector *r, struct buf *path)
{
        struct informer *i = r->i;
        uint64_t seconds = kube_watch_seconds(i->kube->world->loop);

        kube_path(path, &i->resource, i->options.ns, NULL, NULL);
        buf_printf(path, "?watch=true&allowWatchBookmarks=true&timeoutSeconds=%llu&resourceVersion=",
                   (unsigned long long)seconds);
        http_escape(path, r->version);
        if (i->options.label_selector) {
                buf_append_str(path, "&labelSelector=");
                http_escape(path, i->options.label_selector);
        }
        if (i->options.field_selector) {
                buf_append_str(path, "&fieldSelector=");
                http_escape(path, i->options.field_selector);
        }
        return buf_status(path, &r->err, "request path");
}

/* `why` is what decoding the event as a whole came to. */
static int handle_undecodable(struct reflector *r, struct slice line, int why)
{
        struct informer *i = r->i;
        struct error reason = r->err;
        enum watch_type type;
        struct object *id;
        int code = object_decode_watch_identity(i->options.kind, line, &type, &id, &r->err);

        if (code < 0) { /* not even that: the stream cannot be trusted */
                r->err = reason;
                return why;
        }
        if (type == WATCH_DELETED)
                code = informer_take_deletion(i, id, false);
        else if (type != WATCH_BOOKMARK)
                code = informer_note_undecodable(i, id, &reason, false);
        if (code == 0)
                set_version(r, id->meta.resource_version);
        object_unref(id);
        return code;
}

/* Only then a glance at the line is worth its while: it is a bookmark, as servers write it, or answers to own
 * writes were faster than the watch. */
static bool may_be_known(const struct informer *i, struct slice line)
{
        return i->observed > i->high_water || object_is_bookmark(line);
}

/* It tells of nothing but a version. */
static bool is_known(const struct informer *i, const struct watch_glance *g)
{
        return g->type == WATCH_BOOKMARK ||
               (g->type != WATCH_DELETED && informer_has_version(i, g->ns, g->name, g->version));
}

/* What the cache has of an object tells what its next state is where only times moved: an enum outline_fit.
 */
static int decode_moved(struct informer *i, struct slice line, struct object **ret, struct error *err)
{
        struct slice text, ns, name;
        const struct object *held;
        int code;

        if (!(i->options.flags & DECODE_OUTLINED) ||
            !object_glance_modified(line, i->resource.namespaced, &text, &ns, &name) ||
            !(held = informer_held(i, ns, name)))
                return OUTLINE_OTHER;
        code = object_decode_moved(held, text, ret);
        object_unref(held);
        return code < 0 ? error_no_memory(err) : code;
}

/* It was decoded from the line. Takes the reference. */
static int take_event(struct reflector *r, enum watch_type type, struct object *o, struct slice line)
{
        struct informer *i = r->i;
        int code = 0;

        if (type != WATCH_BOOKMARK && type != WATCH_DELETED) {
                if (i->options.whole_event)
                        i->options.whole_event(i->options.whole_event_ctx, o, line);
                code = take(i, o, false);
        } else if (type == WATCH_DELETED) {
                code = informer_take_deletion(i, o, true);
        }
        if (code == 0)
                set_version(r, o->meta.resource_version);
        object_unref(o);
        return code;
}

static int handle_event(struct reflector *r, struct slice line)
{
        struct informer *i = r->i;
        struct watch_glance glance;
        enum watch_type type;
        struct object *o = NULL;
        int code;

        if (may_be_known(i, line) && object_glance_watch_event(line, &glance) && is_known(i, &glance)) {
                set_version_of(r, glance.version);
                return 0;
        }
        code = decode_moved(i, line, &o, &r->err);
        if (code == OUTLINE_MOVED)
                return take_event(r, WATCH_MODIFIED, o, line);
        if (code < 0)
                return code;
        code = object_decode_watch_event(i->options.kind, line, i->options.flags, i->options.interns, &type,
                                         &o, &r->err);
        if (code == ERR_INVALID || code == ERR_LIMIT)
                return handle_undecodable(r, line, code);
        return code < 0 ? code : take_event(r, type, o, line);
}

/* Handles the complete lines of b and drops them. */
static int handle_lines(struct reflector *r, struct buf *b)
{
        size_t at = 0;
        char *end;
        int code = 0;

        while (code == 0 && (end = memchr(b->data + at, '\n', b->len - at))) {
                struct slice line = slice_trim((struct slice){ b->data + at, (size_t)(end - b->data) - at });

                at = (size_t)(end - b->data) + 1;
                if (line.len > 0)
                        code = handle_event(r, line);
        }
        buf_consume(b, at);
        return code;
}

static int watch_stream(struct reflector *r, struct http_stream *s)
{
        struct loop *l = r->i->kube->world->loop;
        AUTO_BUF struct buf pending;
        struct slice piece;

        buf_init(&pending, LIMIT_WATCH_EVENT_BYTES);
        informer_set_problem(r->i, 0, "");
        if (r->is_beside && r->i->listing && r->i->listing->first)
                parts_follow(r->i, true);
        for (;;) {
                TRY(http_stream_read(s, loop_now_ms(l) + KUBE_WATCH_SILENCE_MS, &piece, &r->err));
                if (buf_append(&pending, piece.data, piece.len) < 0)
                        return buf_status(&pending, &r->err, "watch event");
                TRY(handle_lines(r, &pending));
        }
}

static int watch_once(struct reflector *r)
{
        struct informer *i = r->i;
        struct loop *l = i->kube->world->loop;
        struct kube_watch w = { .plural = i->resource.plural,
                                .metadata_only = i->options.resource != NULL,
                                .unhurried = i->options.unhurried };
        struct http_stream *s = NULL;
        AUTO_BUF struct buf path;
        int64_t opened_ms;
        int code;

        buf_init(&path, 65536);
        TRY(watch_path(r, &path));
        w.path = path.data;
        TRY(kube_watch_open(i->kube, &w, &s, &r->err));
        opened_ms = loop_now_ms(l);
        code = watch_stream(r, s);
        http_stream_close(s);
        if (loop_now_ms(l) - opened_ms >= HEALTHY_MS)
                r->failures = r->expired = 0;
        return code;
}

/* ---- a watch beside a list ---- */

struct beside {
        struct reflector r;
        struct fiber_group *group;
        bool last; /* the list is there: what becomes of the watch now is for who made the list */
        int code;
};

/* Until the list is there a watch that ends is opened again, but for one that is too old. */
static void beside_run(void *ctx)
{
        struct beside *b = ctx;
        struct informer *i = b->r.i;

        for (;;) {
                error_clear(&b->r.err);
                b->code = watch_once(&b->r);
                if (b->last || b->code == ERR_CANCELLED || b->code == ERR_GONE || b->code == ERR_INVALID)
                        break;
                if (kube_connection_pause(i->kube, BACKOFF_BASE_MS << MIN(b->r.failures++, 4u)) < 0)
                        break;
        }
        if (b->code != ERR_CANCELLED)
                parts_follow(i, false);
}

/* Without memory for it there is none, as beside a list of one page. */
static void beside_begin(struct reflector *r, const char *version)
{
        struct beside *b = NEW(struct beside);

        if (!b)
                return;
        b->r = (struct reflector){ .i = r->i, .is_beside = true, .begun_ms = r->begun_ms };
        set_version(&b->r, version);
        b->group = fiber_group_new(r->i->kube->world->loop, NULL, r->i->resource.plural);
        r->beside = b;
        if (!b->r.version || !b->group || !fiber_spawn(b->group, r->i->resource.plural, beside_run, b))
                beside_end(r);
}

static void beside_end(struct reflector *r)
{
        struct beside *b = TAKE_PTR(r->beside);

        if (!b)
                return;
        fiber_group_end(b->group);
        parts_follow(r->i, false);
        mem_free(b->r.version);
        mem_free(b);
}

/* The list is there: the watch goes on as if it had been opened now. */
static int beside_hand_over(struct reflector *r)
{
        struct beside *b = r->beside;
        int code;

        b->last = true;
        code = fiber_group_join(b->group, DEADLINE_NONE);
        if (code == 0) {
                code = b->code;
                r->err = b->r.err;
                if (b->r.failures == 0)
                        r->failures = r->expired = 0;
        }
        mem_free(r->version);
        r->version = TAKE_PTR(b->r.version);
        beside_end(r);
        return code;
}

/* ---- the fiber ---- */

static bool rights_come(const struct reflector *r, int code)
{
        return code == ERR_FORBIDDEN &&
               loop_now_ms(r->i->kube->world->loop) - r->begun_ms < r->i->options.rights_come_ms;
}

static int64_t pause_most(const struct reflector *r, int code)
{
        int64_t asked = r->i->options.pause_most_ms;

        if (rights_come(r, code))
                return RIGHTS_COME_PAUSE_MS;
        if (code == ERR_FORBIDDEN)
                return FORBIDDEN_MAX_MS;
        return asked && code != ERR_NOT_FOUND ? asked : BACKOFF_MAX_MS;
}

static int pause_after(struct reflector *r, int code)
{
        struct informer *i = r->i;
        struct loop *l = i->kube->world->loop;
        int64_t ms = BACKOFF_BASE_MS << MIN(r->failures, 10u);

        ms = MIN(ms, pause_most(r, code));
        ms = ms / 2 + (int64_t)(loop_random_u64(l) % (uint64_t)ms);
        if (r->err.retry_after_ms > ms)
                ms = r->err.retry_after_ms;
        r->failures++;
        informer_set_problem(i, code, r->err.text);
        /* A hiccup is normal, and so are watches that a server that starts ends soon; say it once when it
         * lasts. */
        if (r->failures == (code == ERR_CLOSED ? 5 : 2) && !kube_connection_tells(i->kube, &r->err))
                log_warn(i->kube->log, "list or watch fails", "resource", i->resource.plural, "code",
                         error_code_name(code), "error", r->err.text);
        return kube_connection_pause(i->kube, ms);
}

void reflector_run(void *ctx)
{
        struct informer *i = ctx;
        struct reflector r = { .i = i, .begun_ms = loop_now_ms(i->kube->world->loop) };
        int code = 0;

        parts_follow(i, false);

        while (code != ERR_CANCELLED) {
                bool listing = !r.version && !r.beside;

                error_clear(&r.err);
                code = listing ? list_once(&r) : r.beside ? beside_hand_over(&r) : watch_once(&r);
                if (kube_past_is_over(i->kube, &r.past, code))
                        r.failures = 0;
                if (code == ERR_GONE || code == ERR_INVALID) {
                        mem_free(r.version);
                        r.version = NULL;
                        if (code == ERR_GONE && !listing && r.expired++ == 0)
                                continue; /* list at once, but not again and again */
                        r.failures = MAX(r.failures, r.expired);
                }
                if (code == 0 && listing) {
                        r.failures = 0;
                        continue;
                }
                if (code == ERR_CANCELLED)
                        break;
                if (!listing && r.failures == 0 &&
                    (code == ERR_CLOSED || code == ERR_RETRY || code == ERR_TIMEOUT)) {
                        r.failures++; /* ended or cut: open again at once, but not in a tight loop */
                        continue;
                }
                if (pause_after(&r, code) == ERR_CANCELLED)
                        break;
        }
        beside_end(&r);
        mem_free(r.version);
}
