#include "common/base/zone_internal.h"

#define HEADER_BYTES 44
#define TYPE_BYTES 6

const struct zone zone_utc = { .rule = { .known = true } };

struct counts {
        uint64_t ut, standard, leap, times, types, chars;
};

static uint64_t big_endian(const unsigned char *at, size_t n)
{
        uint64_t v = 0;

        for (size_t i = 0; i < n; i++)
                v = v << 8 | at[i];
        return v;
}

static bool take_header(struct slice *rest, struct counts *ret, char *ret_version)
{
        const unsigned char *at = (const unsigned char *)rest->data;

        if (rest->len < HEADER_BYTES || memcmp(at, "TZif", 4) != 0)
                return false;
        *ret_version = rest->data[4];
        *ret = (struct counts){ big_endian(at + 20, 4), big_endian(at + 24, 4), big_endian(at + 28, 4),
                                big_endian(at + 32, 4), big_endian(at + 36, 4), big_endian(at + 40, 4) };
        *rest = (struct slice){ rest->data + HEADER_BYTES, rest->len - HEADER_BYTES };
        return true;
}

/* Counts are of 32 bits, so the sum cannot overflow. */
static uint64_t body_bytes(const struct counts *c, uint64_t time_bytes)
{
        return c->times * (time_bytes + 1) + c->types * TYPE_BYTES + c->chars + c->leap * (time_bytes + 4) +
               c->standard + c->ut;
}

static bool skip_body(struct slice *rest, uint64_t n)
{
        if (n > rest->len)
                return false;
        *rest = (struct slice){ rest->data + n, rest->len - n };
        return true;
}

static int64_t time_at(const struct zone *z, size_t i)
{
        return (int64_t)big_endian(z->times + 8 * i, 8);
}

static bool table_is_sound(const struct zone *z, const struct counts *c)
{
        for (size_t i = 0; i < z->n; i++)
                if (z->indexes[i] >= c->types || (i > 0 && time_at(z, i) <= time_at(z, i - 1)))
                        return false;
        return c->types > 0;
}

/* The part with 64 bits, and the rule behind it. `rest` is behind its header. */
static int read_body(struct slice rest, const struct counts *c, struct zone *z)
{
        const unsigned char *at = (const unsigned char *)rest.data;
        struct slice rule;

        if (!skip_body(&rest, body_bytes(c, 8)))
                return ERR_INVALID;
        z->n = (size_t)c->times;
        z->times = at;
        z->indexes = at + 8 * z->n;
        z->types = z->indexes + z->n;
        if (!table_is_sound(z, c) || rest.len < 2 || rest.data[0] != '\n')
                return ERR_INVALID;
        rest = (struct slice){ rest.data + 1, rest.len - 1 };
        if (!slice_cut(&rest, '\n', &rule))
                return ERR_INVALID;
        return zone_rule_parse(rule, &z->rule);
}

int zone_parse(struct arena *arena, struct slice file, const struct zone **ret, struct error *err)
{
        struct zone *z = ARENA_NEW(arena, struct zone);
        char *copy = arena_strndup(arena, file.data, file.len);
        struct slice rest = { copy, file.len };
        struct counts first, second;
        char version;

        if (!z || !copy)
                return error_no_memory(err);
        if (!take_header(&rest, &first, &version) || version < '2' ||
            !skip_body(&rest, body_bytes(&first, 4)) || !take_header(&rest, &second, &version) ||
            read_body(rest, &second, z) < 0)
                return error_set(err, ERR_INVALID, "not a file of the time zone database");
        *ret = z;
        return 0;
}

static int64_t offset_of_type(const struct zone *z, size_t type)
{
        return (int32_t)(uint32_t)big_endian(z->types + TYPE_BYTES * type, 4);
}

int64_t zone_offset(const struct zone *z, int64_t at_s, int64_t *ret_until)
{
        size_t low = 0, high = z->n;

        while (low < high) {
                size_t middle = (low + high) / 2;

                if (time_at(z, middle) <= at_s)
                        low = middle + 1;
                else
                        high = middle;
        }
        if (low == z->n && z->rule.known)
                return zone_rule_offset(&z->rule, at_s, ret_until);
        *ret_until = low < z->n ? time_at(z, low) : INT64_MAX;
        return offset_of_type(z, low > 0 ? z->indexes[low - 1] : 0);
}

bool zone_name_is_valid(const char *name)
{
        for (const char *c = name; *c; c++) {
                bool plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9');

                if (!plain && !strchr("_+-", *c) && (*c != '/' || c == name || c[1] == '/' || !c[1]))
                        return false;
        }
        return name[0] != 0 && strlen(name) < 64;
}
