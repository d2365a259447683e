/* Typed objects into stowed ones (stowed_internal.h), by the field tables. */
#include "common/base/buf.h"
#include "common/base/memory.h"
#include "proto/stowed_internal.h"

struct stower {
        unsigned char *to;   /* there is room enough for the whole: see room_for() */
        const char *lo, *hi; /* what lies here is the object's own, the rest is in the table */
        const struct intern_table *interns;
        const char *key;
        size_t key_len;
        size_t structs, texts; /* that unstowing will need */
        int64_t time;          /* the last one */
        struct slice again[AGAIN_MAX];
        size_t n_again;
        bool in_detail; /* no text is remembered */
        size_t detail_structs, detail_texts;
};

static bool own(const struct stower *p, const void *at)
{
        return (const char *)at >= p->lo && (const char *)at < p->hi;
}

static void put_byte(struct stower *p, unsigned char byte)
{
        *p->to++ = byte;
}

static void put_bytes(struct stower *p, const void *at, size_t n)
{
        memcpy(p->to, at, n);
        p->to += n;
}

static void put_number(struct stower *p, uint64_t v)
{
        for (; v >= 0x80; v >>= 7)
                put_byte(p, (unsigned char)(v | 0x80));
        put_byte(p, (unsigned char)v);
}

static uint64_t folded(int64_t v)
{
        return ((uint64_t)v << 1) ^ (v < 0 ? UINT64_MAX : 0);
}

/* ---- texts ---- */

static void put_text_head(struct stower *p, enum stowed_text which, uint64_t n)
{
        put_number(p, n << 2 | which);
}

static int digit_of(char c)
{
        return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool parse_uid(struct slice s, unsigned char *ret)
{
        unsigned char *to = ret;
        bool second = false;
        if (s.len != UID_LENGTH)
                return false;
        for (size_t i = 0; i < UID_LENGTH; i++) {
                int digit = digit_of(s.data[i]);
                if (uid_has_dash_at(i) ? s.data[i] != '-' : digit < 0)
                        return false;
                if (uid_has_dash_at(i))
                        continue;
                *to = (unsigned char)(second ? *to << 4 | digit : digit);
                to += second;
                second = !second;
        }
        return true;
}

static bool parse_decimal(struct slice s, uint64_t *ret)
{
        if (s.len == 0 || s.len > DECIMAL_MAX || (s.data[0] == '0' && s.len > 1))
                return false;
        *ret = 0;
        for (size_t i = 0; i < s.len; i++) {
                if (s.data[i] < '0' || s.data[i] > '9')
                        return false;
                *ret = *ret * 10 + (uint64_t)(s.data[i] - '0');
        }
        return true;
}

static bool put_again(struct stower *p, struct slice s)
{
        for (size_t i = 0; i < p->n_again; i++) {
                if (!slice_equal(p->again[i], s))
                        continue;
                put_text_head(p, TEXT_AGAIN, i);
                return true;
        }
        return false;
}

static void put_plain(struct stower *p, struct slice s)
{
        put_text_head(p, TEXT_PLAIN, s.len);
        put_bytes(p, s.data, s.len);
        if (p->n_again < AGAIN_MAX && !p->in_detail)
                p->again[p->n_again++] = s;
}

static void put_own_text(struct stower *p, struct slice s)
{
        unsigned char uid[UID_BYTES];
        uint64_t number;
        if (put_again(p, s))
                return;
        p->texts += s.len + 1;
        if (s.len && s.len <= p->key_len && memcmp(p->key + p->key_len - s.len, s.data, s.len) == 0) {
                put_text_head(p, TEXT_OTHER, OTHER_OF_KEY + s.len);
        } else if (parse_uid(s, uid)) {
                put_text_head(p, TEXT_OTHER, OTHER_UID);
                put_bytes(p, uid, sizeof(uid));
        } else if (parse_decimal(s, &number)) {
                put_text_head(p, TEXT_OTHER, OTHER_DECIMAL);
                put_number(p, number);
        } else {
                put_plain(p, s);
        }
}

static void put_text(struct stower *p, const char *s)
{
        if (own(p, s))
                put_own_text(p, (struct slice){ s, strlen(s) });
        else
                put_text_head(p, TEXT_INTERNED, intern_number(p->interns, s));
}

/* ---- values ---- */

static void put_struct(struct stower *p, const struct type *t, const void *at);

/* Whether there is something that clearing the struct would lose. */
static bool is_there(const struct field *f, const void *at)
{
        switch (f->type) {
        case FIELD_STRING:
        case FIELD_INTERNED:
        case FIELD_OBJECT:
                return *(void *const *)at != NULL;
        case FIELD_BOOL:
                return ((const struct opt_bool *)at)->set || ((const struct opt_bool *)at)->value;
        case FIELD_FLAG:
                return *(const bool *)at;
        case FIELD_INT:
                return ((const struct opt_int *)at)->set || ((const struct opt_int *)at)->value;
        case FIELD_TIME:
                return *(const int64_t *)at != TIME_NONE;
        case FIELD_RAW:
                return ((const struct slice *)at)->data != NULL;
        case FIELD_INT_OR_STRING: {
                const struct int_or_string *v = at;
                return v->set || v->text || v->value;
        }
        default:
                if (f->flags & FIELD_APART)
                        return *(void *const *)at != NULL;
                return ((const struct any_list *)at)->n || ((const struct any_list *)at)->set;
        }
}

/* What is between this time and the last one: most are of whole seconds and lie close together. */
static void put_time(struct stower *p, int64_t ms)
{
        int64_t between = (int64_t)((uint64_t)ms - (uint64_t)p->time);
        bool whole = between % 1000 == 0;
        uint64_t v = folded(whole ? between / 1000 : between);
        ASSERT(v >> 63 == 0); /* times come from texts with years of four digits */
        put_number(p, v << 1 | whole);
        p->time = ms;
}

static void put_slice(struct stower *p, struct slice s)
{
        put_number(p, s.len);
        put_bytes(p, s.data, s.len);
        p->texts += s.len;
}

static void put_element(struct stower *p, const struct field *f, const char *at)
{
        if (f->type == FIELD_LIST && f->element) {
                put_struct(p, f->element, at);
                return;
        }
        if (f->type == FIELD_RAW_LIST) {
                put_slice(p, *(const struct slice *)(const void *)at);
                return;
        }
        put_text(p, *(const char *const *)(const void *)at);
        at += sizeof(char *);
        if (f->type == FIELD_STRING_MAP)
                put_text(p, *(const char *const *)(const void *)at);
        else if (f->type == FIELD_RAW_MAP)
                put_slice(p, *(const struct slice *)(const void *)at);
        else if (f->type == FIELD_MAP)
                put_struct(p, f->element, at);
}

static void add_struct(struct stower *p, size_t size)
{
        p->structs += (size + 7) & ~(size_t)7;
}

static void put_list(struct stower *p, const struct field *f, const struct any_list *l)
{
        size_t size = field_element_size(f);
        bool shared = l->n && field_shares_array(f) && !own(p, l->at);
        put_number(p, (uint64_t)l->n * LIST_COUNT + (l->set ? LIST_SET : 0) + (shared ? LIST_SHARED : 0));
        if (shared) {
                put_number(p, intern_number(p->interns, l->at));
                return;
        }
        add_struct(p, l->n * size);
        for (uint32_t i = 0; i < l->n; i++)
                put_element(p, f, (const char *)l->at + i * size);
}

static void put_detail(struct stower *p, const struct field *f, const struct any_list *l)
{
        unsigned char *begin = p->to;
        const struct stower before = *p;
        p->to += DETAIL_LENGTH;
        p->in_detail = true;
        put_list(p, f, l);
        uint32_t length =
                (uint32_t)(p->to - begin - DETAIL_LENGTH); /* less than the whole, which is checked */
        memcpy(begin, &length, DETAIL_LENGTH);
        p->in_detail = false;
        p->time = before.time;
        p->detail_structs += p->structs - before.structs;
        p->detail_texts += p->texts - before.texts;
}

/* 0 before a struct of the object's own, else one more than the number of a shared one. */
static void put_child(struct stower *p, const struct field *f, const void *child)
{
        if (!own(p, child)) {
                put_number(p, (uint64_t)intern_number(p->interns, child) + 1);
                return;
        }
        put_number(p, 0);
        add_struct(p, f->element->size);
        put_struct(p, f->element, child);
}

static void put_int_or_string(struct stower *p, const struct int_or_string *v)
{
        put_byte(p, (unsigned char)((v->set ? 1 : 0) | (v->text ? 2 : 0)));
        put_number(p, folded(v->value));
        if (v->text)
                put_text(p, v->text);
}

static void put_value(struct stower *p, const struct field *f, const void *at)
{
        switch (f->type) {
        case FIELD_STRING:
        case FIELD_INTERNED:
                put_text(p, *(const char *const *)at);
                return;
        case FIELD_BOOL:
                put_byte(p, (unsigned char)(((const struct opt_bool *)at)->set |
                                            ((const struct opt_bool *)at)->value << 1));
                return;
        case FIELD_FLAG:
                return;
        case FIELD_INT:
                put_number(p, folded(((const struct opt_int *)at)->value) << 1 |
                                      ((const struct opt_int *)at)->set);
                return;
        case FIELD_TIME:
                put_time(p, *(const int64_t *)at);
                return;
        case FIELD_OBJECT:
                put_child(p, f, *(void *const *)at);
                return;
        case FIELD_RAW:
                put_slice(p, *(const struct slice *)at);
                return;
        case FIELD_INT_OR_STRING:
                put_int_or_string(p, at);
                return;
        default:
                if (f->flags & FIELD_APART)
                        add_struct(p, sizeof(struct any_list));
                if (f->flags & FIELD_DETAIL)
                        put_detail(p, f, field_list(f, at));
                else
                        put_list(p, f, field_list(f, at));
        }
}

static void put_struct(struct stower *p, const struct type *t, const void *at)
{
        unsigned char *bits = p->to;
        memset(bits, 0, bits_bytes(t));
        p->to += bits_bytes(t);
        for (size_t i = 0; i < t->n_fields; i++) {
                const struct field *f = &t->fields[i];
                if (!is_there(f, field_at(f, at)))
                        continue;
                bits[i / 8] |= (unsigned char)(1 << i % 8);
                put_value(p, f, field_at(f, at));
        }
}

/* ---- the whole ---- */

/* Enough for any: no value takes more than twice its bytes in the block, and the metadata, which is larger as
 * the tables have it, is in the block too. */
static size_t room_for(const struct object *o, size_t key_len)
{
        return 2 * (sizeof(struct stowed) + key_len + sizeof(struct meta_wire) + o->block_size);
}

/* The sizes come before what they are told by, so that has to be stowed first, and is moved behind them. */
static size_t put_object(struct stower *p, const struct object *o)
{
        unsigned char *begin = p->to, sizes[40] = { 0 };
        struct stower head = { .to = sizes };
        struct meta_wire meta;
        meta_to_wire(&o->meta, &meta);
        add_struct(p, o->kind->root->size);
        put_struct(p, &meta_wire_type, &meta);
        put_struct(p, o->kind->root, o);
        size_t body = (size_t)(p->to - begin);
        bool details = p->detail_structs || p->detail_texts;
        put_number(&head, p->structs / 8 * 2 + details);
        put_number(&head, p->texts);
        if (details)
                put_number(&head, p->detail_structs / 8);
        if (details)
                put_number(&head, p->detail_texts);
        size_t n = (size_t)(head.to - sizes);
        memmove(begin + n, begin, body);
        memcpy(begin, sizes, n);
        return n + body;
}

struct stowed *object_stow(const struct object *o, const char *key, const struct intern_table *interns,
                           struct buf *scratch)
{
        struct stower p = { .lo = (const char *)o,
                            .hi = (const char *)o + o->block_size,
                            .interns = interns,
                            .key = key,
                            .key_len = strlen(key) };
        ASSERT(o->block_size);
        buf_clear(scratch);
        size_t room = room_for(o, p.key_len);
        if (buf_reserve(scratch, room) < 0)
                return NULL;
        p.to = (unsigned char *)scratch->data;
        size_t n = put_object(&p, o), total = sizeof(struct stowed) + p.key_len + 1 + n;
        ASSERT(n <= room);
        struct stowed *stowed = total <= UINT32_MAX ? mem_alloc(total) : NULL;
        if (!stowed)
                return NULL;
        stowed->bytes = (uint32_t)total;
        memcpy(stowed->key, key, p.key_len + 1);
        memcpy(stowed->key + p.key_len + 1, scratch->data, n);
        return stowed;
}

void stowed_free(struct stowed *p)
{
        mem_free(p);
}

const char *stowed_key(const struct stowed *p)
{
        return p->key;
}

size_t stowed_bytes(const struct stowed *p)
{
        return p->bytes;
}
