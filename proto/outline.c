/* Outlines: an object's next text that differs from its last one in times and version alone is made of the
 * block that is there. See object.h. */
#include "common/base/map.h"
#include "common/base/memory.h"
#include "proto/codec.h"
#include "proto/gen/kinds.h"

enum { TIME_CHARS = 20 };           /* 2026-11-28T12:00:00Z, as API servers write it */
#define NUMBERED (INT64_C(1) << 62) /* + the number of a note, where a time is to be: no time is so late */
#define MANAGED_TIME "\"time\":\""  /* an unescaped quote begins no string's middle */

/* ---- notes ---- */

void outline_begin(struct decoder *d, struct outline_notes *notes)
{
        notes->n = 0;
        notes->version = notes->text = (struct slice){ 0 };
        d->notes = notes;
}

static struct outline_note *add_note(struct outline_notes *notes, const char *at, int64_t value)
{
        struct outline_note *note = notes->n < OUTLINE_PLACES ? &notes->times[notes->n++] : NULL;

        if (note)
                *note = (struct outline_note){ at, value };
        return note;
}

static bool is_of(const struct field *f, const struct type *t)
{
        return f >= t->fields && f < t->fields + t->n_fields;
}

/* Those of conditions and of the metadata hardly ever move. */
void outline_note_time(struct decoder *d, const struct field *f, int64_t *at)
{
        struct outline_notes *notes = d->notes;

        if (d->scan.text.len != TIME_CHARS || d->scan.escaped || *at == TIME_NONE ||
            is_of(f, &condition_type) || is_of(f, &meta_wire_type))
                return;
        if (add_note(notes, d->scan.text.data, *at))
                *at = NUMBERED + (int64_t)(notes->n - 1);
}

static bool is_number(struct slice s)
{
        for (size_t i = 0; i < s.len; i++)
                if (s.data[i] < '0' || s.data[i] > '9')
                        return false;
        return s.len > 0;
}

void outline_note_version(struct decoder *d)
{
        d->notes->version = is_number(d->scan.text) ? d->scan.text : (struct slice){ 0 };
}

static bool is_time(const char *at)
{
        int64_t value;

        return time_parse_lenient((struct slice){ at, TIME_CHARS }, &value) == 0;
}

void outline_note_managed_fields(struct decoder *d, struct slice raw)
{
        const char *at = raw.data, *end = raw.data + raw.len;
        const size_t lead = sizeof(MANAGED_TIME) - 1;

        while ((at = memmem(at, (size_t)(end - at), MANAGED_TIME, lead))) {
                at += lead;
                if (end - at > TIME_CHARS && at[TIME_CHARS] == '"' && is_time(at))
                        add_note(d->notes, at, TIME_NONE);
        }
}

/* ---- the outline: places, and behind them, at the end of the block, what is said of all ---- */

struct place {
        uint16_t text, block; /* offsets; block 0: the time is not kept */
};

struct outline {
        uint64_t hash; /* of the text without what is at the places */
        uint16_t text_len;
        uint16_t n;                    /* places, in the order of the text */
        uint16_t version, version_len; /* which of them is resourceVersion's */
};

static struct outline *outline_of(const struct object *o)
{
        return (struct outline *)(void *)((char *)(uintptr_t)o + o->block_size - sizeof(struct outline));
}

static struct place *places_of(struct outline *w)
{
        return (struct place *)(void *)w - w->n;
}

static size_t chars_at(const struct outline *w, uint16_t place)
{
        return place == w->version ? w->version_len : TIME_CHARS;
}

static uint64_t hash_text(struct outline *w, const char *text)
{
        const struct place *places = places_of(w);
        uint64_t h = hash_secret();
        size_t from = 0;

        for (uint16_t i = 0; i < w->n; i++) {
                h = hash_bytes(text + from, places[i].text - from, h);
                from = places[i].text + chars_at(w, i);
        }
        return hash_bytes(text + from, w->text_len - from, h);
}

/* ---- a walk over a block ---- */

struct block_walk {
        const char *lo, *hi;               /* what points in here points into the block */
        ptrdiff_t move;                    /* by so many bytes it is moved */
        const struct outline_notes *notes; /* numbers of times become these; NULL = there are none */
        char *block;                       /* whose offsets... */
        uint16_t *offsets;                 /* ...of noted times come here */
};

static void walk_struct(struct block_walk *w, const struct type *t, void *at);

/* Where it leads to now; NULL if that is not in the block. */
static void *walk_pointer(struct block_walk *w, void *at)
{
        char **p = at;

        if (!*p || *p < w->lo || *p >= w->hi)
                return NULL;
        *p += w->move;
        return *p;
}

static void walk_element(struct block_walk *w, const struct field *f, char *at)
{
        if (f->type == FIELD_LIST && f->element)
                return walk_struct(w, f->element, at);
        walk_pointer(w, at);
        if (f->type == FIELD_LIST || f->type == FIELD_RAW_LIST)
                return;
        at += sizeof(char *);
        if (f->type == FIELD_MAP)
                walk_struct(w, f->element, at);
        else
                walk_pointer(w, at);
}

static void walk_list(struct block_walk *w, const struct field *f, struct any_list *l)
{
        size_t size = field_element_size(f);
        char *first = walk_pointer(w, &l->at);

        for (uint32_t i = 0; first && i < l->n; i++)
                walk_element(w, f, first + i * size);
}

static void walk_time(struct block_walk *w, int64_t *at)
{
        size_t number = w->notes && *at >= NUMBERED ? (size_t)(*at - NUMBERED) : OUTLINE_PLACES;

        if (number >= OUTLINE_PLACES)
                return;
        *at = w->notes->times[number].value;
        w->offsets[number] = (uint16_t)((char *)at - w->block);
}

static void walk_field(struct block_walk *w, const struct field *f, void *at)
{
        void *child;

        switch (f->type) {
        case FIELD_BOOL:
        case FIELD_FLAG:
        case FIELD_INT:
                return;
        case FIELD_TIME:
                return walk_time(w, at);
        case FIELD_STRING:
        case FIELD_INTERNED:
        case FIELD_RAW:
        case FIELD_INT_OR_STRING: /* these two begin with their pointer */
                walk_pointer(w, at);
                return;
        case FIELD_OBJECT:
                if ((child = walk_pointer(w, at)))
                        walk_struct(w, f->element, child);
                return;
        default:
                child = f->flags & FIELD_APART ? walk_pointer(w, at) : at;
                if (child)
                        walk_list(w, f, child);
        }
}

static void walk_struct(struct block_walk *w, const struct type *t, void *at)
{
        for (size_t i = 0; i < t->n_fields; i++)
                walk_field(w, &t->fields[i], (char *)at + t->fields[i].offset);
}

/* ---- making one ---- */

static bool has_outline(const struct outline_notes *notes)
{
        return notes && notes->version.data && notes->n < OUTLINE_PLACES && notes->text.len <= UINT16_MAX;
}

/* The version's place among those of times. Times that the block does not have are passed over in every text.
 */
static void fill_places(struct outline *w, const struct outline_notes *notes, const uint16_t *offsets,
                        uint16_t version_at)
{
        struct place all[OUTLINE_PLACES + 1];
        const char *text = notes->text.data, *version = notes->version.data;
        uint16_t n = 0;

        w->version = UINT16_MAX;
        for (size_t i = 0; i <= notes->n; i++) {
                const char *at = i < notes->n ? notes->times[i].at : text + notes->text.len;

                if (w->version == UINT16_MAX && version < at) {
                        w->version = n;
                        all[n++] = (struct place){ (uint16_t)(version - text), version_at };
                }
                if (i < notes->n)
                        all[n++] = (struct place){ (uint16_t)(at - text), offsets[i] };
        }
        w->n = n;
        memcpy(places_of(w), all, n * sizeof(all[0]));
}

/* Puts the times in their places; the outline follows where there is one. */
static void settle(struct object *o, const struct outline_notes *notes)
{
        uint16_t offsets[OUTLINE_PLACES] = { 0 };
        struct block_walk walk = { .lo = (const char *)o,
                                   .hi = (const char *)o + o->block_size,
                                   .notes = notes,
                                   .block = (char *)o,
                                   .offsets = offsets };
        size_t version = o->meta.resource_version ? (size_t)(o->meta.resource_version - (const char *)o) : 0;
        struct outline *w = outline_of(o);

        walk_struct(&walk, o->kind->root, o);
        if (!has_outline(notes) || o->block_size > UINT16_MAX || version >= o->block_size)
                return;
        w->text_len = (uint16_t)notes->text.len;
        w->version_len = (uint16_t)notes->version.len;
        fill_places(w, notes, offsets, (uint16_t)version);
        w->hash = hash_text(w, notes->text.data);
        o->outlined = 1;
}

static size_t outline_bytes(const struct outline_notes *notes)
{
        size_t places = (notes->n + 1) * sizeof(struct place);

        return has_outline(notes) ? ((places + 7) & ~(size_t)7) + sizeof(struct outline) : 0;
}

struct object *decoder_block(struct decoder *d, struct object *o, struct arena *arena)
{
        struct owned own = decoder_owned(d);
        struct object *block;

        if (!d->notes)
                return object_compact(o, &own, arena);
        block = object_compact_with(o, &own, outline_bytes(d->notes));
        if (block)
                settle(block, d->notes);
        return block;
}

/* ---- using one ---- */

/* The same object once more, with pointers of its own. */
static struct object *clone(const struct object *old)
{
        struct object *o = mem_alloc(old->block_size);
        struct block_walk walk = { .lo = (const char *)old, .hi = (const char *)old + old->block_size };
        struct meta_wire meta;

        if (!o)
                return NULL;
        memcpy(o, old, old->block_size);
        o->refs = 1;
        walk.move = (char *)o - (char *)(uintptr_t)old;
        meta_to_wire(&o->meta, &meta);
        walk_struct(&walk, &meta_wire_type, &meta);
        ASSERT(meta_from_wire(&meta, &o->meta, NULL) == 0);
        walk_struct(&walk, o->kind->root, o);
        return o;
}

/* The times at the places; false if something else is at one. */
static bool read_times(struct outline *w, const char *text, int64_t *ret)
{
        const struct place *places = places_of(w);

        for (uint16_t i = 0; i < w->n; i++)
                if (i != w->version &&
                    time_parse_lenient((struct slice){ text + places[i].text, TIME_CHARS }, &ret[i]) < 0)
                        return false;
        return true;
}

static struct object *with_times(const struct object *old, struct slice version, const int64_t *times)
{
        struct object *o = clone(old);
        struct outline *w = outline_of(old);
        const struct place *places = places_of(w);

        for (uint16_t i = 0; o && i < w->n; i++)
                if (i == w->version)
                        memcpy((char *)o + places[i].block, version.data, version.len);
                else if (places[i].block)
                        *(int64_t *)(void *)((char *)o + places[i].block) = times[i];
        return o;
}

int object_decode_moved(const struct object *old, struct slice text, struct object **ret)
{
        int64_t times[OUTLINE_PLACES + 1];
        struct outline *w;
        struct slice version;

        if (!old->outlined || !old->block_size || outline_of(old)->text_len != text.len)
                return OUTLINE_OTHER;
        w = outline_of(old);
        version = (struct slice){ text.data + places_of(w)[w->version].text, w->version_len };
        if (!is_number(version) || !read_times(w, text.data, times) || hash_text(w, text.data) != w->hash)
                return OUTLINE_OTHER;
        if (slice_is(version, old->meta.resource_version))
                return OUTLINE_SAME;
        *ret = with_times(old, version, times);
        return *ret ? OUTLINE_MOVED : ERR_NO_MEMORY;
}
