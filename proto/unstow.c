/* Stowed objects (stowed_internal.h) into blocks, by the field tables: structs and arrays first, texts behind
 * them. What is read is our own, from the heap: only its end is checked. */
#include "common/base/digits.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "proto/stowed_internal.h"

struct unstower {
        const unsigned char *from;
        char *structs, *texts; /* where the next one goes */
        const struct intern_table *interns;
        const char *key_end;
        int64_t time; /* the last one */
        const char *again[AGAIN_MAX];
        size_t n_again;
        bool in_detail; /* no text is remembered */
        enum stowed_part part;
};

static uint64_t take_number(struct unstower *u)
{
        uint64_t byte = *u->from++, v = byte & 0x7f;
        for (unsigned shift = 7; byte & 0x80; shift += 7) {
                byte = *u->from++;
                v |= (byte & 0x7f) << shift;
        }
        return v;
}

static int64_t unfolded(uint64_t v)
{
        return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

static void *take_struct(struct unstower *u, size_t size)
{
        void *at = u->structs;
        u->structs += (size + 7) & ~(size_t)7;
        return at;
}

/* ---- texts ---- */

static const char *make_text(struct unstower *u, const void *at, size_t n)
{
        char *to = u->texts;
        memcpy(to, at, n);
        to[n] = '\0';
        u->texts += n + 1;
        return to;
}

static const char *take_plain(struct unstower *u, size_t n)
{
        const char *s = make_text(u, u->from, n);
        u->from += n;
        if (u->n_again < AGAIN_MAX && !u->in_detail)
                u->again[u->n_again++] = s;
        return s;
}

static const char *take_uid(struct unstower *u)
{
        static const char digits[] = "0123456789abcdef";
        const char *s = u->texts;
        for (size_t i = 0; i < UID_LENGTH; i++) {
                if (uid_has_dash_at(i)) {
                        *u->texts++ = '-';
                        continue;
                }
                *u->texts++ = digits[*u->from >> 4];
                *u->texts++ = digits[*u->from++ & 15];
                i++;
        }
        *u->texts++ = '\0';
        return s;
}

static const char *take_decimal(struct unstower *u)
{
        char text[DECIMAL_MAX], *end = text + sizeof(text), *at = digits_unsigned(end, take_number(u));
        return make_text(u, at, (size_t)(end - at));
}

static const char *take_text(struct unstower *u)
{
        uint64_t head = take_number(u), n = head >> 2;
        switch ((enum stowed_text)(head & 3)) {
        case TEXT_INTERNED:
                return intern_at(u->interns, (uint32_t)n);
        case TEXT_PLAIN:
                return take_plain(u, n);
        case TEXT_AGAIN:
                return u->again[n];
        case TEXT_OTHER:
                break;
        }
        if (n == OTHER_UID)
                return take_uid(u);
        if (n == OTHER_DECIMAL)
                return take_decimal(u);
        return make_text(u, u->key_end - (n - OTHER_OF_KEY), n - OTHER_OF_KEY);
}

/* ---- values ---- */

static void take_fields(struct unstower *u, const struct type *t, void *at);

static int64_t take_time(struct unstower *u)
{
        uint64_t v = take_number(u);
        int64_t between = unfolded(v >> 1);
        u->time = (int64_t)((uint64_t)u->time + (uint64_t)(v & 1 ? between * 1000 : between));
        return u->time;
}

static struct slice take_slice(struct unstower *u)
{
        size_t n = take_number(u);
        struct slice s = { u->texts, n };
        memcpy(u->texts, u->from, n);
        u->texts += n;
        u->from += n;
        return s;
}

static void take_element(struct unstower *u, const struct field *f, char *at)
{
        if (f->type == FIELD_LIST && f->element) {
                take_fields(u, f->element, at);
                return;
        }
        if (f->type == FIELD_RAW_LIST) {
                *(struct slice *)(void *)at = take_slice(u);
                return;
        }
        *(const char **)(void *)at = take_text(u);
        at += sizeof(char *);
        if (f->type == FIELD_STRING_MAP)
                *(const char **)(void *)at = take_text(u);
        else if (f->type == FIELD_RAW_MAP)
                *(struct slice *)(void *)at = take_slice(u);
        else if (f->type == FIELD_MAP)
                take_fields(u, f->element, at);
}

static void take_list(struct unstower *u, const struct field *f, struct any_list *ret)
{
        uint64_t head = take_number(u);
        ret->n = (uint32_t)(head / LIST_COUNT);
        ret->set = head & LIST_SET;
        if (head & LIST_SHARED) {
                ret->at = (void *)(uintptr_t)intern_at(u->interns, (uint32_t)take_number(u));
                return;
        }
        if (ret->n == 0)
                return;
        size_t size = field_element_size(f);
        char *at = take_struct(u, ret->n * size);
        ret->at = at;
        for (uint32_t i = 0; i < ret->n; i++)
                take_element(u, f, at + i * size);
}

static void take_detail(struct unstower *u, const struct field *f, struct any_list *ret)
{
        int64_t time = u->time;
        uint32_t length;
        memcpy(&length, u->from, DETAIL_LENGTH);
        u->from += DETAIL_LENGTH;
        if (u->part != STOWED_WHOLE) {
                u->from += length;
                return;
        }
        u->in_detail = true;
        take_list(u, f, ret);
        u->in_detail = false;
        u->time = time;
}

static void *take_child(struct unstower *u, const struct field *f)
{
        uint64_t shared = take_number(u);
        if (shared)
                return (void *)(uintptr_t)intern_at(u->interns, (uint32_t)(shared - 1));
        void *child = take_struct(u, f->element->size);
        take_fields(u, f->element, child);
        return child;
}

static void take_int(struct unstower *u, struct opt_int *ret)
{
        uint64_t v = take_number(u);
        ret->value = unfolded(v >> 1);
        ret->set = v & 1;
}

static void take_int_or_string(struct unstower *u, struct int_or_string *ret)
{
        unsigned char bits = *u->from++;
        ret->set = bits & 1;
        ret->value = unfolded(take_number(u));
        if (bits & 2)
                ret->text = take_text(u);
}

static void take_value(struct unstower *u, const struct field *f, void *at)
{
        switch (f->type) {
        case FIELD_STRING:
        case FIELD_INTERNED:
                *(const char **)at = take_text(u);
                return;
        case FIELD_BOOL: {
                unsigned char bits = *u->from++;
                *(struct opt_bool *)at = (struct opt_bool){ .set = bits & 1, .value = bits & 2 };
                return;
        }
        case FIELD_FLAG:
                *(bool *)at = true;
                return;
        case FIELD_INT:
                take_int(u, at);
                return;
        case FIELD_TIME:
                *(int64_t *)at = take_time(u);
                return;
        case FIELD_OBJECT:
                *(void **)at = take_child(u, f);
                return;
        case FIELD_RAW:
                *(struct slice *)at = take_slice(u);
                return;
        case FIELD_INT_OR_STRING:
                take_int_or_string(u, at);
                return;
        default:
                if (f->flags & FIELD_APART)
                        at = *(void **)at = take_struct(u, sizeof(struct any_list));
                if (f->flags & FIELD_DETAIL)
                        take_detail(u, f, at);
                else
                        take_list(u, f, at);
        }
}

/* Into a struct of zeros; of the fields the first `n`. */
static void take_first_fields(struct unstower *u, const struct type *t, size_t n, void *at)
{
        const unsigned char *bits = u->from;
        u->from += bits_bytes(t);
        for (size_t i = 0; i < n; i++) {
                const struct field *f = &t->fields[i];
                if (bits[i / 8] >> i % 8 & 1)
                        take_value(u, f, (char *)at + f->offset);
                else if (f->type == FIELD_TIME)
                        *(int64_t *)(void *)((char *)at + f->offset) = TIME_NONE;
        }
}

static void take_fields(struct unstower *u, const struct type *t, void *at)
{
        take_first_fields(u, t, t->n_fields, at);
}

/* ---- the whole ---- */

/* What comes before the status: a kind's fields are in order of their names, and behind it comes nothing. */
static size_t fields_wanted(const struct unstower *u, const struct type *root)
{
        size_t n = root->n_fields;
        return n - (u->part == STOWED_WITHOUT_STATUS && n && text_equal(root->fields[n - 1].name, "status"));
}

static void take_object(struct unstower *u, const struct kind *kind, struct object *o)
{
        struct meta_wire meta = { 0 };
        take_fields(u, &meta_wire_type, &meta);
        take_first_fields(u, kind->root, fields_wanted(u, kind->root), o);
        o->kind = kind;
        o->refs = 1;
        ASSERT(meta_from_wire(&meta, &o->meta, NULL) == 0); /* it was no more before it was stowed */
}

/* Bytes of the block: of its structs, and of all. */
static void take_sizes(struct unstower *u, size_t *ret_structs, size_t *ret_total)
{
        uint64_t head = take_number(u);
        size_t structs = head / 2 * 8, texts = take_number(u);
        size_t detail_structs = head & 1 ? take_number(u) * 8 : 0,
               detail_texts = head & 1 ? take_number(u) : 0;
        bool whole = u->part == STOWED_WHOLE;
        *ret_structs = structs - (whole ? 0 : detail_structs);
        *ret_total = *ret_structs + texts - (whole ? 0 : detail_texts);
}

struct object *object_unstow(const struct stowed *p, const struct kind *kind,
                             const struct intern_table *interns, enum stowed_part part)
{
        size_t key_len = strlen(p->key);
        struct unstower u = { .from = (const unsigned char *)p->key + key_len + 1,
                              .interns = interns,
                              .part = part,
                              .key_end = p->key + key_len };
        size_t structs, total;
        take_sizes(&u, &structs, &total);
        char *block = mem_alloc(total);
        if (!block)
                return NULL;
        memset(block, 0, structs);
        u.structs = block;
        u.texts = block + structs;
        struct object *o = take_struct(&u, kind->root->size);
        take_object(&u, kind, o);
        o->block_size = (uint32_t)total;
        if (part == STOWED_WITHOUT_STATUS)
                return o;
        ASSERT(u.structs == block + structs && u.texts == block + total);
        ASSERT(u.from == (const unsigned char *)p + p->bytes);
        return o;
}
