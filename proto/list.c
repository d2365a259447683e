/* Lists and watch events, item by item, without a document. */
#include "common/base/memory.h"
#include "proto/codec.h"

struct list_walk {
        const struct kind *kind;
        const struct object_sink *sink;
        struct arena scratch; /* of the current item */
        struct decoder d;     /* its scanner walks the list too; its text area is the walk's */
        char *resource_version, *next;
        bool is_status;
};

static void list_walk_free(struct list_walk *w)
{
        arena_free(&w->scratch);
        mem_free(w->d.text);
        mem_free(w->resource_version);
        mem_free(w->next);
}

static int failed(struct list_walk *w)
{
        return scan_error(&w->d.scan, w->d.err);
}

static int wrong(struct list_walk *w, const char *what)
{
        return error_set(w->d.err, ERR_INVALID, "%s: %s", w->kind->list_kind, what);
}

static int skip(struct list_walk *w)
{
        return scan_skip(&w->d.scan, NULL) < 0 ? failed(w) : 0;
}

/* The string that comes next, as the caller's; null leaves *ret alone. */
static int next_string(struct list_walk *w, char **ret)
{
        struct scanner *s = &w->d.scan;
        enum scan_token t = scan_next(s);
        if (t == SCAN_NULL)
                return 0;
        if (t != SCAN_STRING)
                return t == SCAN_ERROR ? failed(w) : wrong(w, "metadata: must hold strings");
        size_t n = s->text.len;
        const char *text = s->escaped ? scan_string(s, &w->scratch, &n) : s->text.data;
        char *copy = text ? mem_strndup(text, n) : NULL;
        if (!copy)
                return error_no_memory(w->d.err);
        mem_free(*ret);
        *ret = copy;
        return 0;
}

static int walk_metadata(struct list_walk *w)
{
        struct scanner *s = &w->d.scan;
        enum scan_token t = scan_next(s);
        if (t != SCAN_OBJECT)
                return t == SCAN_ERROR ? failed(w) : wrong(w, "metadata: must be an object");
        while ((t = scan_next(s)) == SCAN_KEY) {
                if (scan_key_is(s, "resourceVersion"))
                        TRY(next_string(w, &w->resource_version));
                else if (scan_key_is(s, "continue"))
                        TRY(next_string(w, &w->next));
                else
                        TRY(skip(w));
        }
        return t == SCAN_OBJECT_END ? 0 : failed(w);
}

/* The item whose value comes next, as a block. */
static int decode_item(struct list_walk *w, struct object **ret)
{
        arena_reset(&w->scratch);
        w->d.text_len = 0;
        struct object *o;
        TRY(decode_object(&w->d, w->kind, &o));
        struct owned own = decoder_owned(&w->d);
        struct object *copy = object_compact(o, &own, NULL);
        if (!copy)
                return error_no_memory(w->d.err);
        *ret = copy;
        return 0;
}

/* The item that comes next could not be decoded. */
static int walk_undecodable(struct list_walk *w)
{
        struct error why = { 0 };
        struct slice raw;
        struct object *o;
        if (w->d.err)
                why = *w->d.err;
        if (scan_skip_unchecked(&w->d.scan, &raw) < 0)
                return failed(w);
        TRY(decode_identity(w->kind, raw, &o, w->d.err));
        error_clear(w->d.err);
        int code = w->sink->undecodable(w->sink->ctx, o, &why);
        object_unref(o);
        return MIN(code, 0);
}

static int walk_item(struct list_walk *w)
{
        struct scanner before = w->d.scan;
        struct object *o = NULL;
        int code = decode_item(w, &o);
        if (w->sink->undecodable && (code == ERR_INVALID || code == ERR_LIMIT)) {
                w->d.scan = before;
                return walk_undecodable(w);
        }
        TRY(code);
        code = w->sink->each(w->sink->ctx, o);
        object_unref(o);
        return MIN(code, 0);
}

static int walk_items(struct list_walk *w)
{
        struct scanner *s = &w->d.scan;
        enum scan_token t = scan_next(s);
        if (t == SCAN_NULL)
                return 0;
        if (t != SCAN_ARRAY)
                return t == SCAN_ERROR ? failed(w) : wrong(w, "items: must be an array");
        for (size_t i = 0;; i++) {
                struct scanner before = *s;
                t = scan_next(s);
                if (t == SCAN_ARRAY_END)
                        return 0;
                *s = before;
                int code = t == SCAN_ERROR ? failed(w) : walk_item(w);
                if (code == ERR_INVALID)
                        return error_wrap(w->d.err, "%s: items[%zu]", w->kind->list_kind, i), code;
                TRY(code);
        }
}

/* A partial_object_kind takes lists of any kind. */
static int walk_kind(struct list_walk *w)
{
        AUTO_FREE char *kind = NULL;
        TRY(next_string(w, &kind));
        w->is_status = text_equal(kind, "Status");
        if (w->is_status || !kind || !w->kind->api_version[0] || text_equal(kind, w->kind->list_kind))
                return 0;
        return error_set(w->d.err, ERR_INVALID, "%s: kind: is %.100s", w->kind->list_kind, kind);
}

static int walk_list(struct list_walk *w)
{
        struct scanner *s = &w->d.scan;
        enum scan_token t = scan_next(s);
        if (t != SCAN_OBJECT)
                return t == SCAN_ERROR ? failed(w) : wrong(w, "must be an object");
        while (!w->is_status && (t = scan_next(s)) == SCAN_KEY) {
                if (scan_key_is(s, "kind"))
                        TRY(walk_kind(w));
                else if (scan_key_is(s, "metadata"))
                        TRY(walk_metadata(w));
                else if (scan_key_is(s, "items"))
                        TRY(walk_items(w));
                else
                        TRY(skip(w));
        }
        if (w->is_status)
                return 0;
        return t == SCAN_OBJECT_END && scan_next(s) == SCAN_END ? 0 : failed(w);
}

int object_decode_list(const struct kind *kind, struct slice json, enum decode_flags flags,
                       struct intern_table *interns, const struct object_sink *sink,
                       char **ret_resource_version, char **ret_continue, struct error *err)
{
        CLEANUP(list_walk_free)
        struct list_walk w = { .kind = kind,
                               .sink = sink,
                               .d = { .interns = interns, .flags = flags, .err = err } };
        w.d.arena = &w.scratch;
        w.d.text_cap = json.len + 1;
        w.d.text = mem_alloc(w.d.text_cap);
        if (!w.d.text)
                return error_no_memory(err);
        scan_init(&w.d.scan, json);
        TRY(walk_list(&w));
        if (w.is_status)
                return object_decode_status(json, err);
        if (ret_resource_version)
                *ret_resource_version = TAKE_PTR(w.resource_version);
        if (ret_continue)
                *ret_continue = text_empty(w.next) ? NULL : TAKE_PTR(w.next);
        return 0;
}

/* ---- watches ---- */

static int watch_type_of(struct decoder *d, enum watch_type *ret, bool *ret_error)
{
        static const char *const names[] = { "ADDED", "MODIFIED", "DELETED", "BOOKMARK" };
        if (scan_next(&d->scan) != SCAN_STRING)
                return error_set(d->err, ERR_INVALID, "watch event: type: must be a string");
        *ret_error = slice_is(d->scan.text, "ERROR");
        for (size_t i = 0; i < ARRAY_LEN(names); i++) {
                if (slice_is(d->scan.text, names[i])) {
                        *ret = (enum watch_type)i;
                        return 0;
                }
        }
        if (*ret_error)
                return 0;
        return error_set(d->err, ERR_INVALID, "watch event: type: is %.*s", (int)MIN(d->scan.text.len, 40u),
                         d->scan.text.data);
}

struct watch_event {
        enum watch_type type;
        bool has_type, is_error;
        struct object *decoded; /* in the decoder's arena; NULL: `object` is its text */
        struct slice object;
};

static int read_object(struct decoder *d, const struct kind *kind, struct watch_event *ret)
{
        if (!kind || !ret->has_type || ret->is_error)
                return scan_skip_unchecked(&d->scan, &ret->object) < 0 ? decode_failed(d) : 0;
        int code = decode_object(d, kind, &ret->decoded);
        return code < 0 ? (error_wrap(d->err, "%s", kind->kind), code) : 0;
}

/* With a kind the object is decoded where it stands, if its type came before it, as it does. Otherwise its
 * text is checked by who decodes it. */
static int read_event(struct decoder *d, const struct kind *kind, struct watch_event *ret)
{
        struct scanner *s = &d->scan;
        enum scan_token t = scan_next(s);
        if (t != SCAN_OBJECT)
                return t == SCAN_ERROR ? decode_failed(d)
                                       : error_set(d->err, ERR_INVALID, "watch event: must be an object");
        while ((t = scan_next(s)) == SCAN_KEY) {
                if (scan_key_is(s, "type")) {
                        TRY(watch_type_of(d, &ret->type, &ret->is_error));
                        ret->has_type = true;
                } else if (scan_key_is(s, "object")) {
                        TRY(read_object(d, kind, ret));
                } else if (scan_skip_unchecked(s, NULL) < 0) {
                        return decode_failed(d);
                }
        }
        if (t != SCAN_OBJECT_END || scan_next(s) != SCAN_END)
                return decode_failed(d);
        if (!ret->has_type || !(ret->object.data || ret->decoded))
                return error_set(d->err, ERR_INVALID, "watch event: lacks type or object");
        return 0;
}

int object_decode_watch_event(const struct kind *kind, struct slice line, enum decode_flags flags,
                              struct intern_table *interns, enum watch_type *ret_type, struct object **ret,
                              struct error *err)
{
        AUTO_ARENA struct arena scratch = ARENA_INIT;
        struct outline_notes notes;
        struct decoder d;
        struct watch_event event = { 0 };
        TRY(decoder_init(&d, line, flags, interns, &scratch, err));
        if (flags & DECODE_OUTLINED)
                outline_begin(&d, &notes);
        TRY(read_event(&d, kind, &event));
        if (event.is_error)
                return object_decode_status(event.object, err);
        if (event.decoded) {
                if (!(*ret = decoder_block(&d, event.decoded, NULL)))
                        return error_no_memory(err);
        } else {
                TRY(object_decode(kind, event.object, flags, interns, ret, err));
        }
        *ret_type = event.type;
        return 0;
}

int object_decode_watch_identity(const struct kind *kind, struct slice line, enum watch_type *ret_type,
                                 struct object **ret, struct error *err)
{
        struct decoder d = { .err = err };
        struct watch_event event = { 0 };
        scan_init(&d.scan, line);
        TRY(read_event(&d, NULL, &event));
        if (event.is_error)
                return object_decode_status(event.object, err);
        TRY(decode_identity(kind, event.object, ret, err));
        *ret_type = event.type;
        return 0;
}

/* ---- a glance at one ---- */

bool object_is_bookmark(struct slice line)
{
        return slice_starts_with(line, "{\"type\":\"BOOKMARK\"");
}

static bool is_key(struct scanner *s, const char *key)
{
        return scan_next(s) == SCAN_KEY && !s->escaped && slice_is(s->text, key);
}

static bool glance_text(struct scanner *s, struct slice *ret)
{
        if (scan_next(s) != SCAN_STRING || s->escaped)
                return false;
        *ret = s->text;
        return true;
}

/* The members of the metadata, as far as they are needed. */
static bool glance_metadata(struct scanner *s, struct watch_glance *g)
{
        if (scan_next(s) != SCAN_OBJECT)
                return false;
        for (;;) {
                enum scan_token t = scan_next(s);
                if (t != SCAN_KEY || s->escaped)
                        return t == SCAN_OBJECT_END;
                struct slice *to = slice_is(s->text, "resourceVersion") ? &g->version
                                   : slice_is(s->text, "name")          ? &g->name
                                   : slice_is(s->text, "namespace")     ? &g->ns
                                                                        : NULL;
                if (to ? !glance_text(s, to) : scan_skip_unchecked(s, NULL) < 0)
                        return false;
                if (g->version.len && (g->type == WATCH_BOOKMARK || (g->name.len && g->ns.len)))
                        return true;
        }
}

bool object_glance_watch_event(struct slice line, struct watch_glance *ret)
{
        struct decoder d = { 0 };
        struct scanner *s = &d.scan;
        bool is_error;
        *ret = (struct watch_glance){ 0 };
        scan_init(s, line);
        if (scan_next(s) != SCAN_OBJECT || !is_key(s, "type") ||
            watch_type_of(&d, &ret->type, &is_error) < 0 || is_error || !is_key(s, "object") ||
            scan_next(s) != SCAN_OBJECT)
                return false;
        while (scan_next(s) == SCAN_KEY && !s->escaped) {
                if (slice_is(s->text, "metadata"))
                        return glance_metadata(s, ret) && ret->version.len &&
                               (ret->name.len || ret->type == WATCH_BOOKMARK);
                if (scan_skip_unchecked(s, NULL) < 0)
                        return false;
        }
        return false;
}

/* ---- a glance at what an object has become ---- */

static bool glance_names(struct scanner *s, bool namespaced, struct slice *ret_ns, struct slice *ret_name)
{
        if (scan_next(s) != SCAN_OBJECT)
                return false;
        while (!ret_name->len || (namespaced && !ret_ns->len)) {
                if (scan_next(s) != SCAN_KEY || s->escaped)
                        return false;
                struct slice *to = slice_is(s->text, "name")        ? ret_name
                                   : slice_is(s->text, "namespace") ? ret_ns
                                                                    : NULL;
                if (to ? !glance_text(s, to) : scan_skip_unchecked(s, NULL) < 0)
                        return false;
        }
        return true;
}

bool object_glance_modified(struct slice line, bool namespaced, struct slice *ret_object,
                            struct slice *ret_ns, struct slice *ret_name)
{
        static const char lead[] = "{\"type\":\"MODIFIED\",\"object\":{";
        const size_t before = sizeof(lead) - 2;
        struct scanner s;
        if (!slice_starts_with(line, lead) || line.data[line.len - 1] != '}')
                return false;
        *ret_object = (struct slice){ line.data + before, line.len - before - 1 };
        *ret_ns = *ret_name = (struct slice){ 0 };
        scan_init(&s, *ret_object);
        if (scan_next(&s) != SCAN_OBJECT)
                return false;
        while (scan_next(&s) == SCAN_KEY && !s.escaped) {
                if (slice_is(s.text, "metadata"))
                        return glance_names(&s, namespaced, ret_ns, ret_name);
                if (scan_skip_unchecked(&s, NULL) < 0)
                        return false;
        }
        return false;
}
