#include "e2e/devcluster/again.h"

#include "common/base/timefmt.h"
#include "common/json/scan.h"
#include "e2e/devcluster/admission.h"
#include "e2e/devcluster/convert.h"
#include "e2e/devcluster/internal.h"
#include "e2e/devcluster/meta.h"

#define TOLD_MOST ((size_t)16 << 10) /* bytes of a patch that may be repeated */
#define PLACES_MOST 64
#define DEPTH_MOST 32

/* ---- the body ---- */

/* {"metadata":{"resourceVersion":"7"},"status":{...}}, where metadata may be left out. */
struct told {
        struct slice version; /* none: empty */
        struct slice rest;    /* from "status" on */
};

static bool take(struct slice *s, const char *text)
{
        size_t n = strlen(text);
        if (s->len < n || memcmp(s->data, text, n) != 0)
                return false;
        *s = (struct slice){ s->data + n, s->len - n };
        return true;
}

static bool read_told(struct slice body, struct told *ret)
{
        struct slice rest = body;
        *ret = (struct told){ 0 };
        if (take(&rest, "{\"metadata\":{\"resourceVersion\":\"")) {
                ret->version.data = rest.data;
                while (rest.len && *rest.data >= '0' && *rest.data <= '9')
                        rest = (struct slice){ rest.data + 1, rest.len - 1 };
                ret->version.len = (size_t)(rest.data - ret->version.data);
                if (ret->version.len == 0 || !take(&rest, "\"},"))
                        return false;
        } else if (!take(&rest, "{")) {
                return false;
        }
        ret->rest = rest;
        return take(&rest, "\"status\":") && ret->rest.len <= TOLD_MOST;
}

/* 2006-01-02T15:04:05Z, a time that there is. */
static bool is_plain_time(const char *s)
{
        int64_t unused;
        return s[REPEAT_TIME_LEN - 1] == 'Z' &&
               time_parse_rfc3339((struct slice){ s, REPEAT_TIME_LEN }, &unused) == 0;
}

/* ---- repeating ---- */

/* Whether the body is the one that was told, but for times, of which one at least differs from the state's.
 */
static bool moves_times(const struct repeat *r, const struct blob *b, const char *body)
{
        size_t from = 0;
        bool moves = false;
        for (uint32_t i = 0; i < r->n; i++) {
                const struct repeat_place *p = &r->places[i];
                if (memcmp(body + from, r->told + from, p->told_at - from) != 0)
                        return false;
                from = p->told_at + REPEAT_TIME_LEN;
                if (memcmp(body + p->told_at, b->data + p->at, REPEAT_TIME_LEN) == 0)
                        continue;
                if (!is_plain_time(body + p->told_at))
                        return false;
                moves = true;
        }
        return moves && memcmp(body + from, r->told + from, r->told_len - from) == 0;
}

/* Whether the patch asks for the state that there is, or for none. */
static bool is_version_of(struct slice version, const struct blob *b)
{
        uint64_t n = 0;
        if (!version.len)
                return true;
        if (version.len > 19 || *version.data == '0') /* "0" asks for none, too, in its own way */
                return false;
        for (size_t i = 0; i < version.len; i++)
                n = n * 10 + (uint64_t)(version.data[i] - '0');
        return n == b->rv;
}

/* What may be repeated at all. */
static bool is_plain_status(const struct request *rq)
{
        return rq->resource->custom && rq->subresource && strcmp(rq->subresource, "status") == 0 &&
               !rq->dry_run;
}

static bool is_repeated(struct request *rq, const struct blob *b, const struct told *told)
{
        const struct repeat *r = blob_repeat(b);
        return told->rest.len == r->told_len && strcmp(rq->field_manager, r->manager) == 0 &&
               is_version_of(told->version, b) && moves_times(r, b, told->rest.data) &&
               convert_is_identity(rq, request_table(rq, false), b) && admission_is_silent(rq, "UPDATE");
}

struct blob *again_patch(struct request *rq, const char *content_type, struct slice body)
{
        struct table *t = request_table(rq, false);
        struct blob *b = is_plain_status(rq) ? api_store_get(t, rq->ns, rq->name) : NULL, *next = NULL;
        struct told told;
        char now[RFC3339_SIZE];
        if (!b || !blob_repeat(b) || rq->form != FORM_OBJECT ||
            strcmp(content_type, "application/merge-patch+json") != 0 || !read_told(body, &told) ||
            !is_repeated(rq, b, &told))
                return NULL;
        time_format_rfc3339(rq->now_ms, now);
        /* Entries are in the order of their times: with an earlier one it may stand elsewhere. */
        if (strlen(now) != REPEAT_TIME_LEN ||
            memcmp(now, b->data + blob_repeat(b)->entry_time_at, REPEAT_TIME_LEN) < 0)
                return NULL;
        return api_store_put_repeated(t, b, told.rest.data, now, &next, NULL) == 0 ? next : NULL;
}

/* ---- learning ---- */

struct lesson {
        struct request *rq;
        const struct blob *b;
        struct slice told; /* from "status" on */
        struct repeat_place places[PLACES_MOST];
        uint32_t n;
};

/* A value on its way through the body, the object's text, and its documents. */
struct seat {
        struct slice told, text;     /* raw */
        const json_t *was, *is;      /* NULL: not there */
        const struct schema *schema; /* NULL: unknown */
        unsigned depth;
        bool free; /* nobody above it minds what it is */
};

/* Whether a schema says nothing of its value but what it is made of. Rules are looked at by themselves. */
static bool is_open(const struct schema *s)
{
        return s && !s->enum_values && !s->n_all_of && !s->n_any_of && !s->n_one_of && !s->not_ &&
               !s->embedded_resource;
}

static bool is_time_alone(const struct schema *s)
{
        return s->type == SCHEMA_STRING && text_equal(s->format, "date-time") && !s->pattern && !s->n_rules;
}

/* The raw value of an object's member; goes on behind the one that was found last. */
static bool find_member(struct scanner *s, struct slice object, struct slice key, struct slice *ret)
{
        for (int round = 0; round < 2; round++) {
                while (s->begin && scan_next(s) == SCAN_KEY) {
                        bool same = !s->escaped && s->text.len == key.len &&
                                    memcmp(s->text.data, key.data, key.len) == 0;
                        if (scan_skip(s, ret) < 0)
                                return false;
                        if (same)
                                return true;
                }
                scan_init(s, object);
                if (scan_next(s) != SCAN_OBJECT)
                        return false;
        }
        return false;
}

static bool find_in(struct slice object, const char *key, struct slice *ret)
{
        struct scanner s = { 0 };
        return find_member(&s, object, slice_of(key), ret);
}

static bool learn_value(struct lesson *l, const struct seat *at);

static struct seat member_of(const struct seat *up, const char *key)
{
        const struct schema *s = up->schema ? schema_property(up->schema, key) : NULL;
        return (struct seat){ .was = json_object_get(up->was, key),
                              .is = json_object_get(up->is, key),
                              .schema = s,
                              .depth = up->depth + 1,
                              .free = up->free && is_open(s) && !schema_rules_read(up->schema, key) };
}

static bool learn_object(struct lesson *l, const struct seat *at)
{
        struct scanner told, text = { 0 };
        enum scan_token t;
        scan_init(&told, at->told);
        (void)scan_next(&told);
        while ((t = scan_next(&told)) == SCAN_KEY) {
                struct slice key = told.text, value, there;
                const char *name = arena_strndup(l->rq->arena, key.data, key.len);
                if (!name || scan_skip(&told, &value) < 0 || !find_member(&text, at->text, key, &there))
                        return false;
                struct seat member = member_of(at, name);
                member.told = value;
                member.text = there;
                if (!learn_value(l, &member))
                        return false;
        }
        return t == SCAN_OBJECT_END;
}

/* Whether an element is the one that it was at its place, by the list's keys. */
static bool has_same_keys(const struct schema *list, const json_t *was, const json_t *is)
{
        for (size_t i = 0; i < list->n_list_map_keys; i++) {
                const json_t *a = json_object_get(was, list->list_map_keys[i]),
                             *b = json_object_get(is, list->list_map_keys[i]);
                if (!a || !b || !doc_equal(a, b))
                        return false;
        }
        return true;
}

static struct seat element_of(const struct seat *up, size_t i)
{
        const struct schema *s = up->schema;
        struct seat r = { .was = json_array_get(up->was, i),
                          .is = json_array_get(up->is, i),
                          .schema = s ? s->items : NULL,
                          .depth = up->depth + 1 };
        r.free = up->free && is_open(r.schema) && s->n_rules == 0 && s->list_type != SCHEMA_LIST_SET;
        if (r.free && s->list_type == SCHEMA_LIST_MAP) /* another key, another element */
                r.free = has_same_keys(s, r.was, r.is);
        return r;
}

static bool learn_array(struct lesson *l, const struct seat *at)
{
        struct scanner told, text;
        scan_init(&told, at->told);
        scan_init(&text, at->text);
        (void)scan_next(&told);
        (void)scan_next(&text);
        for (size_t i = 0; !scan_at_close(&told); i++) {
                struct seat element = element_of(at, i);
                if (scan_skip(&told, &element.told) < 0 || scan_at_close(&text) ||
                    scan_skip(&text, &element.text) < 0 || !learn_value(l, &element))
                        return false;
        }
        return scan_at_close(&text);
}

/* A time that this patch has moved belongs to its writer alone now, who may move it again. */
static bool learn_string(struct lesson *l, const struct seat *at)
{
        const char *was = json_string_value(at->was);
        struct slice told = at->told;
        if (!at->free || !is_time_alone(at->schema) || told.len != REPEAT_TIME_LEN + 2 ||
            at->text.len != told.len || memcmp(told.data, at->text.data, told.len) != 0 ||
            !is_plain_time(told.data + 1) || !was || strncmp(was, told.data + 1, REPEAT_TIME_LEN) == 0)
                return true;
        if (l->n == PLACES_MOST)
                return false;
        l->places[l->n++] = (struct repeat_place){ (uint32_t)(told.data + 1 - l->told.data),
                                                   (uint32_t)(at->text.data + 1 - l->b->data) };
        return true;
}

/* False: a patch that is not to be repeated. */
static bool learn_value(struct lesson *l, const struct seat *at)
{
        char first = *at->told.data;
        if (at->depth > DEPTH_MOST || first == 'n')
                return false;
        return first == '{'   ? learn_object(l, at)
               : first == '[' ? learn_array(l, at)
               : first == '"' ? learn_string(l, at)
                              : true;
}

/* The value behind "status": if nothing else follows. */
static bool status_of(struct slice told, struct slice *ret)
{
        struct scanner s;
        size_t name = strlen("\"status\":");
        struct slice rest = { told.data + name, told.len - name };
        if (rest.len < 3 || rest.data[0] != '{' || rest.data[rest.len - 1] != '}')
                return false;
        rest.len--;
        scan_init(&s, rest);
        return scan_skip(&s, ret) == 0 && ret->len == rest.len;
}

static bool learn_status(struct lesson *l, const json_t *was, const json_t *is)
{
        const struct schema *schema =
                resource_schema(l->rq->devcluster, l->rq->resource, l->rq->resource_version);
        struct seat root = { .was = was, .is = is, .schema = schema, .free = is_open(schema) };
        struct seat status = member_of(&root, "status");
        return !schema_rules_compare(schema) && status_of(l->told, &status.told) &&
               find_in((struct slice){ l->b->data, l->b->len }, "status", &status.text) &&
               learn_value(l, &status) && l->n > 0;
}

static bool is_entry_of(struct request *rq, const json_t *entry)
{
        const char *subresource = doc_get_string(entry, "subresource");
        return text_equal(doc_get_string(entry, "manager"), rq->field_manager) &&
               text_equal(doc_get_string(entry, "operation"), "Update") &&
               text_equal(doc_get_string(entry, "apiVersion"), request_api_version(rq)) &&
               text_equal(subresource, rq->subresource);
}

/* Whether the writer's entry, whose time is that of this write, is the last one: so it stays when that moves
 * on. */
static bool is_last_entry(struct request *rq, const json_t *entries)
{
        size_t n = json_array_size(entries), i;
        json_t *entry;
        if (n == 0)
                return false;
        json_array_foreach(entries, i, entry)
                if (is_entry_of(rq, entry) != (i == n - 1))
                        return false;
        return true;
}

static bool find_last(struct slice array, struct slice *ret)
{
        struct scanner s;
        bool found = false;
        scan_init(&s, array);
        if (scan_next(&s) != SCAN_ARRAY)
                return false;
        for (; !scan_at_close(&s); found = true)
                if (scan_skip(&s, ret) < 0)
                        return false;
        return found;
}

/* Places of what the server itself writes anew. */
static bool find_own_places(const struct blob *b, uint32_t *ret_version_at, uint32_t *ret_time_at)
{
        struct slice meta, version, entries, entry, time;
        if (!find_in((struct slice){ b->data, b->len }, "metadata", &meta) ||
            !find_in(meta, "resourceVersion", &version) || !find_in(meta, "managedFields", &entries) ||
            !find_last(entries, &entry) || !find_in(entry, "time", &time) || time.len != REPEAT_TIME_LEN + 2)
                return false;
        *ret_version_at = (uint32_t)(version.data + 1 - b->data);
        *ret_time_at = (uint32_t)(time.data + 1 - b->data);
        return true;
}

/* In one block; NULL without memory. */
static struct repeat *make_repeat(const struct lesson *l)
{
        size_t places = l->n * sizeof(l->places[0]), manager = strlen(l->rq->field_manager) + 1,
               size = sizeof(struct repeat) + places + manager + l->told.len;
        struct repeat *r = mem_alloc(size);
        if (!r)
                return NULL;
        char *text = (char *)r->places + places;
        *r = (struct repeat){ .size = size,
                              .manager = text,
                              .told = text + manager,
                              .told_len = (uint32_t)l->told.len,
                              .n = l->n };
        memcpy(r->places, l->places, places);
        memcpy(text, l->rq->field_manager, manager);
        memcpy(text + manager, l->told.data, l->told.len);
        return r;
}

uint32_t again_before(struct request *rq)
{
        const struct blob *b =
                is_plain_status(rq) ? api_store_get(request_table(rq, false), rq->ns, rq->name) : NULL;
        return b ? b->told_len : 0;
}

void again_learn(struct request *rq, struct slice body, uint32_t before, const json_t *was, const json_t *is)
{
        struct table *t = request_table(rq, false);
        struct blob *b = is_plain_status(rq) ? api_store_get(t, rq->ns, rq->name) : NULL;
        struct lesson l = { .rq = rq, .b = b };
        struct told told;
        uint32_t version_at, time_at;
        if (!b || blob_kept_doc(b) != is || !read_told(body, &told))
                return;
        b->told_len = (uint32_t)told.rest.len;
        if ((before != b->told_len && !b->often) || rq->duplicates ||
            !is_last_entry(rq, doc_get_array(is, "metadata.managedFields")))
                return;
        l.told = told.rest;
        struct repeat *r = learn_status(&l, was, is) && find_own_places(b, &version_at, &time_at)
                                   ? make_repeat(&l)
                                   : NULL;
        if (!r)
                return;
        r->version_at = version_at;
        r->entry_time_at = time_at;
        api_store_keep_repeat(t, b, r);
}
