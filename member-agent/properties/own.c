#include "member-agent/properties/own.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/limits.h"
#include "common/json/doc.h"
#include "proto/names.h"

#define NAMED_MAX 5 /* faults that are told of one by one */
#define FAULT_NAME_MAX 80

struct reading {
        struct arena *arena;
        struct own_properties *ret;
        size_t cap;
};

/* ---- names and values ---- */

/* A label's key is a segment with or without a domain; this is one alone. */
static bool is_segment(struct slice s)
{
        char text[64];

        if (s.len == 0 || s.len >= sizeof(text))
                return false;
        memcpy(text, s.data, s.len);
        text[s.len] = 0;
        return text_is_label_value(text);
}

static bool is_domain(struct slice s)
{
        char text[254];

        if (s.len == 0 || s.len >= sizeof(text))
                return false;
        memcpy(text, s.data, s.len);
        text[s.len] = 0;
        return text_is_dns1123_subdomain(text);
}

const char *own_property_name_fault(const char *name)
{
        struct slice rest = slice_of(name), segment;
        bool more;

        if (text_starts_with(name, FLEET_PREFIX) || text_starts_with(name, PROPERTY_RESOURCES_PREFIX))
                return "the names of kubernetes-fleet.io are the agents'";
        if (rest.len > LIMIT_PROPERTY_NAME_BYTES)
                return "it is too long";
        more = slice_cut(&rest, '/', &segment);
        if (!is_segment(segment) && !(more && is_domain(segment)))
                return "it is not the name of a property";
        while (more) {
                more = slice_cut(&rest, '/', &segment);
                if (!is_segment(segment))
                        return "it is not the name of a property";
        }
        return NULL;
}

static const char *value_fault(struct slice value)
{
        if (value.len == 0)
                return "it has no value";
        if (value.len > LIMIT_PROPERTY_VALUE_BYTES)
                return "its value is too long";
        for (size_t i = 0; i < value.len; i++)
                if ((unsigned char)value.data[i] < ' ')
                        return "its value is more than one line of text";
        return NULL;
}

/* ---- reading ---- */

int own_properties_refuse(struct own_properties *p, const char *name, const char *why, struct arena *arena)
{
        char shown[FAULT_NAME_MAX];

        if (p->n_faults++ >= NAMED_MAX)
                return 0;
        text_shorten(name, shown, sizeof(shown));
        p->faults = arena_printf(arena, "%s%s%s: %s", p->faults ? p->faults : "", p->faults ? "; " : "",
                                 shown, why);
        return p->faults ? 0 : ERR_NO_MEMORY;
}

bool own_properties_more(const struct own_properties *p)
{
        return p->n_faults > NAMED_MAX;
}

static bool has(const struct own_properties *p, const char *name)
{
        for (size_t i = 0; i < p->n; i++)
                if (text_equal(p->at[i].name, name))
                        return true;
        return false;
}

static int add(struct reading *r, const char *name, const char *text)
{
        struct slice value = slice_trim(slice_of(text));
        const char *why = own_property_name_fault(name);

        if (!why)
                why = value_fault(value);
        if (!why && has(r->ret, name))
                why = "it is there twice";
        if (!why && r->ret->n == r->cap)
                why = "there are too many";
        if (why)
                return own_properties_refuse(r->ret, name, why, r->arena);
        r->ret->at[r->ret->n] = (struct own_property){ arena_strdup(r->arena, name),
                                                       arena_strndup(r->arena, value.data, value.len) };
        if (!r->ret->at[r->ret->n].name || !r->ret->at[r->ret->n].value)
                return ERR_NO_MEMORY;
        r->ret->n++;
        return 0;
}

/* A number is its own text; what is neither that nor a text has no meaning as a value. */
static int add_value(struct reading *r, const char *name, const json_t *value)
{
        AUTO_BUF struct buf b;

        buf_init(&b, LIMIT_STATUS_TEXT_BYTES);
        if (json_is_string(value))
                return add(r, name, json_string_value(value));
        if (!json_is_number(value))
                return own_properties_refuse(r->ret, name, "its value is neither a number nor a text",
                                             r->arena);
        return doc_write(value, &b) < 0 ? ERR_NO_MEMORY : add(r, name, b.data);
}

static int add_map(struct reading *r, const char *key, const char *text)
{
        AUTO_JSON json_t *doc = NULL;
        struct error why = { 0 };
        const char *name;
        json_t *value;
        int result = yaml_parse(slice_of(text), &doc, &why);

        if (result == ERR_NO_MEMORY)
                return result;
        if (result < 0)
                return own_properties_refuse(r->ret, key, why.text, r->arena);
        if (!json_is_object(doc))
                return own_properties_refuse(r->ret, key, "it is not a map of names to values", r->arena);
        json_object_foreach(doc, name, value)
                TRY(add_value(r, name, value));
        return 0;
}

static int by_name(const void *a, const void *b)
{
        const struct own_property *x = a, *y = b;

        return strcmp(x->name, y->name);
}

int own_properties_read(const struct string_map *data, struct arena *arena, struct own_properties *ret,
                        struct error *err)
{
        struct reading r = { .arena = arena, .ret = ret, .cap = LIMIT_OWN_PROPERTIES };

        *ret = (struct own_properties){ .at = ARENA_NEW_ARRAY(arena, struct own_property,
                                                              LIMIT_OWN_PROPERTIES) };
        if (!ret->at)
                return error_no_memory(err);
        for (uint32_t i = 0; i < data->n; i++) {
                const struct string_pair *p = &data->at[i];
                const char *text = p->value ? p->value : "";
                int result =
                        text_ends_with(p->key, ".yaml") ? add_map(&r, p->key, text) : add(&r, p->key, text);

                if (result < 0)
                        return error_no_memory(err);
        }
        qsort(ret->at, ret->n, sizeof(ret->at[0]), by_name);
        return 0;
}
