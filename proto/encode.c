/* From typed structs to JSON text, by the field tables: keys in the tables' order, which is sorted. */
#include "proto/codec.h"

static int write_text(struct buf *b, const char *s)
{
        return buf_append_json_string(b, s, strlen(s));
}

static bool time_absent(int64_t ms)
{
        return ms == TIME_NONE || ms == 0;
}

bool encode_wanted(const struct field *f, const void *at)
{
        if (f->flags & FIELD_EMIT_EMPTY)
                return true;
        switch (f->type) {
        case FIELD_STRING:
        case FIELD_INTERNED:
        case FIELD_OBJECT:
                return *(void *const *)at != NULL;
        case FIELD_BOOL:
                return ((const struct opt_bool *)at)->set;
        case FIELD_FLAG:
                return *(const bool *)at;
        case FIELD_INT:
                return ((const struct opt_int *)at)->set;
        case FIELD_TIME:
                return !time_absent(*(const int64_t *)at);
        case FIELD_RAW:
                return ((const struct slice *)at)->data != NULL;
        case FIELD_INT_OR_STRING:
                return ((const struct int_or_string *)at)->set;
        default:
                return field_list(f, at)->set || field_list(f, at)->n;
        }
}

static int write_time(const struct field *f, int64_t ms, struct buf *b)
{
        char text[RFC3339_SIZE];
        if (f->flags & FIELD_MICRO)
                time_format_rfc3339_micro(ms * 1000, text);
        else
                time_format_rfc3339(ms, text);
        return write_text(b, text);
}

static int write_struct(const struct type *t, const void *at, struct buf *b)
{
        bool first = true;
        TRY(buf_append_char(b, '{'));
        TRY(encode_fields(t, at, b, &first));
        return buf_append_char(b, '}');
}

static int write_slice(struct buf *b, struct slice s)
{
        return buf_append(b, s.data, s.len);
}

static int write_element(const struct field *f, const char *at, struct buf *b)
{
        if (f->type == FIELD_LIST && f->element)
                return write_struct(f->element, at, b);
        if (f->type == FIELD_LIST)
                return write_text(b, *(const char *const *)at);
        if (f->type == FIELD_RAW_LIST)
                return write_slice(b, *(const struct slice *)(const void *)at);
        TRY(write_text(b, *(const char *const *)at));
        TRY(buf_append_char(b, ':'));
        at += sizeof(char *);
        if (f->type == FIELD_STRING_MAP)
                return write_text(b, *(const char *const *)at);
        if (f->type == FIELD_RAW_MAP)
                return write_slice(b, *(const struct slice *)(const void *)at);
        return write_struct(f->element, at, b);
}

static int write_list(const struct field *f, const struct any_list *l, struct buf *b)
{
        bool array = f->type == FIELD_LIST || f->type == FIELD_RAW_LIST;
        size_t size = field_element_size(f);
        TRY(buf_append_char(b, array ? '[' : '{'));
        for (uint32_t i = 0; i < l->n; i++) {
                if (i)
                        TRY(buf_append_char(b, ','));
                TRY(write_element(f, (const char *)l->at + i * size, b));
        }
        return buf_append_char(b, array ? ']' : '}');
}

int encode_value(const struct field *f, const void *at, struct buf *b)
{
        switch (f->type) {
        case FIELD_STRING:
        case FIELD_INTERNED: {
                const char *s = *(const char *const *)at;
                return write_text(b, s ? s : "");
        }
        case FIELD_BOOL:
                return buf_append_str(b, ((const struct opt_bool *)at)->value ? "true" : "false");
        case FIELD_FLAG:
                return buf_append_str(b, *(const bool *)at ? "true" : "false");
        case FIELD_INT:
                return buf_printf(b, "%lld", (long long)((const struct opt_int *)at)->value);
        case FIELD_TIME:
                return write_time(f, *(const int64_t *)at, b);
        case FIELD_OBJECT:
                return write_struct(f->element, *(void *const *)at, b);
        case FIELD_RAW:
                return write_slice(b, *(const struct slice *)at);
        case FIELD_INT_OR_STRING: {
                const struct int_or_string *v = at;
                return v->text ? write_text(b, v->text) : buf_printf(b, "%lld", (long long)v->value);
        }
        default:
                return write_list(f, field_list(f, at), b);
        }
}

int encode_fields(const struct type *t, const void *at, struct buf *b, bool *first)
{
        for (size_t i = 0; i < t->n_fields; i++) {
                const struct field *f = &t->fields[i];
                if (!encode_wanted(f, field_at(f, at)))
                        continue;
                TRY(buf_append_str(b, *first ? "\"" : ",\""));
                *first = false;
                TRY(buf_append_str(b, f->name));
                TRY(buf_append_str(b, "\":"));
                TRY(encode_value(f, field_at(f, at), b));
        }
        return 0;
}

int object_encode(const struct object *o, struct buf *b)
{
        bool partial = !o->kind->api_version[0]; /* its fields hold apiVersion and kind */
        struct meta_wire wire;
        meta_to_wire(&o->meta, &wire);
        TRY(buf_append_char(b, '{'));
        if (!partial)
                TRY(buf_printf(b, "\"apiVersion\":\"%s\",\"kind\":\"%s\",", o->kind->api_version,
                               o->kind->kind));
        TRY(buf_append_str(b, "\"metadata\":"));
        TRY(write_struct(&meta_wire_type, &wire, b));
        bool first = false;
        TRY(encode_fields(o->kind->root, o, b, &first));
        return buf_append_char(b, '}');
}
