#include "hub-agent/manifest-generation/collect_plan.h"

#include <stdio.h>
#include <stdlib.h>

#include "hub-agent/manifest-generation/sync_marks.h"

enum collect_fate collect_fate_of(const char *set_name, const struct map *wanted, const struct sync_rules *r,
                                  const struct collect_object *o)
{
        const char *checksum = map_get(wanted, o->identity);
        char mark[SYNC_MARK_SIZE];

        sync_mark(set_name, o->identity, mark);
        if (!text_equal(o->mark, mark))
                return COLLECT_FOREIGN;
        if (!sync_is_allowed(r, o->ns, o->kind, o->name))
                return COLLECT_OUTSIDE;
        if (o->owned)
                return COLLECT_OWNED;
        if (checksum)
                return !*checksum || text_equal(checksum, o->checksum) ? COLLECT_WANTED : COLLECT_OUTDATED;
        if (text_equal(o->ignore, "true") || text_equal(o->ignore, FLUX_SYNC_ONLY))
                return COLLECT_IGNORED;
        return COLLECT_DELETE;
}

static int last_first(const void *a, const void *b)
{
        const struct collect_object *x = *(const struct collect_object *const *)a,
                                    *y = *(const struct collect_object *const *)b;

        return sync_compare(y->kind, y->name, y->identity, x->kind, x->name, x->identity);
}

void collect_sort(const struct collect_object **objects, size_t n)
{
        if (n > 1)
                qsort(objects, n, sizeof(*objects), last_first);
}

/* ---- holds ---- */

static bool suffices(size_t before, size_t now)
{
        if (now >= before)
                return true;
        return now > 0 && (now * 2 >= before || before - now < COLLECT_FEWER);
}

/* Another commit made them others, and not suddenly few again. */
static bool is_changed_anew(const struct path_record *p, size_t objects, const char *revision)
{
        return p->held && objects > 0 && objects != p->objects && !text_equal(p->revision, revision) &&
               suffices(p->objects, objects);
}

/* Nothing for nothing is a hold, too, where it is not known what there was before the first one. */
static bool is_still_nothing(const struct path_record *p, size_t objects)
{
        return p->held && objects == 0;
}

static bool is_worse(const struct path_record *p, size_t objects)
{
        return !p->held || objects < p->objects;
}

/* The server tells whole seconds of when a request was made: one of the same second counts. */
static bool is_confirmed(const struct path_record *p, const struct path_found *f)
{
        return f->confirmed_ms != TIME_NONE && !is_worse(p, f->objects) &&
               f->confirmed_ms / 1000 >= p->since_ms / 1000;
}

static void hold(struct path_record *p, const struct path_found *f)
{
        if (is_worse(p, f->objects))
                p->since_ms = f->now_ms;
        if (!p->held)
                p->before = p->objects;
        snprintf(p->revision, sizeof(p->revision), "%s", f->revision);
        p->held = true;
}

bool path_record_take(struct path_record *p, const struct path_found *f)
{
        size_t before = p->held ? p->before : p->objects;
        bool fine =
                p->known ? !is_still_nothing(p, f->objects) && (suffices(before, f->objects) ||
                                                                is_changed_anew(p, f->objects, f->revision))
                         : f->objects > 0;

        if (fine || is_confirmed(p, f))
                *p = (struct path_record){ 0 };
        else
                hold(p, f);
        p->known = true;
        p->objects = f->objects;
        return p->held;
}

json_t *path_record_write(const struct path_record *p)
{
        char since[RFC3339_SIZE];

        if (!p->held)
                return json_pack("{s:I}", "objects", (json_int_t)p->objects);
        time_format_rfc3339(p->since_ms, since);
        return json_pack("{s:I,s:b,s:I,s:s,s:s*}", "objects", (json_int_t)p->objects, "held", 1, "before",
                         (json_int_t)p->before, "revision", p->revision, "since", p->since_ms ? since : NULL);
}

void path_record_read(const json_t *doc, struct path_record *ret)
{
        int64_t objects = doc_get_int(doc, "objects", -1), before = doc_get_int(doc, "before", 0), since_ms;

        *ret = (struct path_record){ .known = objects >= 0 };
        if (!ret->known)
                return;
        ret->objects = (size_t)objects;
        ret->held = doc_get_bool(doc, "held", false);
        ret->before = before > 0 ? (size_t)before : 0;
        snprintf(ret->revision, sizeof(ret->revision), "%s", or_empty(doc_get_string(doc, "revision")));
        if (time_parse_rfc3339(slice_of(or_empty(doc_get_string(doc, "since"))), &since_ms) == 0)
                ret->since_ms = since_ms;
}
