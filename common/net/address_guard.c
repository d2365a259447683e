#include "common/net/address_guard.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include "common/base/base.h"
#include "common/base/text.h"

#define THIS_MACHINE "an address of this machine"
#define LINK_LOCAL "a link-local address"
#define METADATA "the address of a cloud's metadata service"
#define NO_HOST "no address of one host"

static const struct address_range strict[] = {
        { false, { 0 }, 8, THIS_MACHINE },
        { false, { 127 }, 8, THIS_MACHINE },
        { false, { 169, 254 }, 16, LINK_LOCAL },
        { false, { 100, 100, 100, 200 }, 32, METADATA },
        { false, { 168, 63, 129, 16 }, 32, METADATA },
        { false, { 192, 0, 0, 192 }, 32, METADATA },
        { false, { 224 }, 3, NO_HOST }, /* multicast, reserved, broadcast */
        { true, { [15] = 0 }, 128, THIS_MACHINE },
        { true, { [15] = 1 }, 128, THIS_MACHINE },
        { true, { 0xfe, 0x80 }, 10, LINK_LOCAL },
        { true, { 0xfd, 0x00, 0x0e, 0xc2, [14] = 0x02, 0x54 }, 128, METADATA },
        { true, { 0xfd, 0x20, 0x00, 0xce, [14] = 0x02, 0x54 }, 128, METADATA },
        { true, { 0xff }, 8, NO_HOST },
};
const struct address_ranges address_guard_strict = { strict, ARRAY_LEN(strict) };

/* Forms of IPv6 that lead to an address of IPv4, and where it stands in them. */
static const struct {
        struct address_range range;
        unsigned at;
} embedded[] = {
        { { true, { [10] = 0xff, 0xff }, 96, NULL }, 12 },      /* mapped */
        { { true, { [10] = 0, 0 }, 96, NULL }, 12 },            /* compatible */
        { { true, { [8] = 0xff, 0xff }, 96, NULL }, 12 },       /* translated */
        { { true, { 0x00, 0x64, 0xff, 0x9b }, 96, NULL }, 12 }, /* NAT64 */
        { { true, { 0x00, 0x64, 0xff, 0x9b, 0x00, 0x01 }, 48, NULL }, 12 },
        { { true, { 0x20, 0x02 }, 16, NULL }, 2 }, /* 6to4 */
};

static bool is_in(const unsigned char *address, const struct address_range *r)
{
        for (unsigned bit = 0; bit < r->bits; bit++)
                if ((address[bit / 8] ^ r->first[bit / 8]) & (0x80 >> bit % 8))
                        return false;
        return true;
}

static const char *find(const struct address_ranges *ranges, const unsigned char *address, bool six)
{
        for (size_t i = 0; i < ranges->n; i++)
                if (ranges->at[i].six == six && is_in(address, &ranges->at[i]))
                        return ranges->at[i].what;
        return NULL;
}

const char *address_guard_refuses(const struct address_ranges *denied, const struct sockaddr *a)
{
        if (a->sa_family == AF_INET)
                return find(denied,
                            (const unsigned char *)&((const struct sockaddr_in *)(const void *)a)->sin_addr,
                            false);
        if (a->sa_family != AF_INET6)
                return NO_HOST;
        const unsigned char *address = ((const struct sockaddr_in6 *)(const void *)a)->sin6_addr.s6_addr;
        const char *what = find(denied, address, true);

        for (size_t i = 0; !what && i < ARRAY_LEN(embedded); i++)
                if (is_in(address, &embedded[i].range))
                        what = find(denied, address + embedded[i].at, false);
        return what;
}

/* ---- lists of users ---- */

/* "ADDRESS" or "ADDRESS/BITS". */
static bool parse_range(char *text, struct address_range *r)
{
        char *slash = strchr(text, '/');
        int64_t bits;

        if (slash)
                *slash = '\0';
        r->six = strchr(text, ':') != NULL;
        if (inet_pton(r->six ? AF_INET6 : AF_INET, text, r->first) != 1)
                return false;
        r->bits = r->six ? 128 : 32;
        if (!slash)
                return true;
        if (!text_parse_i64(slash + 1, &bits) || bits < 0 || bits > (int64_t)r->bits)
                return false;
        r->bits = (unsigned)bits;
        return true;
}

static int take_range(struct slice text, struct arena *arena, struct address_range *r, struct error *err)
{
        char *copy = arena_strndup(arena, text.data, text.len);

        r->what = arena_printf(arena, "a denied address (%.*s)", (int)text.len, text.data);
        if (!copy || !r->what)
                return error_no_memory(err);
        if (parse_range(copy, r))
                return 0;
        return error_set(err, ERR_INVALID, "'%.*s' is no range of addresses", (int)text.len, text.data);
}

int address_ranges_parse(const char *list, struct arena *arena, struct address_ranges *ret, struct error *err)
{
        struct address_range *at = ARENA_NEW_ARRAY(arena, struct address_range, ADDRESS_RANGES_MAX);
        size_t n = 0;

        if (!at)
                return error_no_memory(err);
        for (struct slice rest = slice_of(or_empty(list)), one; rest.len > 0;) {
                slice_cut(&rest, ',', &one);
                one = slice_trim(one);
                if (one.len == 0)
                        continue;
                if (n == ADDRESS_RANGES_MAX)
                        return error_set(err, ERR_LIMIT, "more than %d ranges of addresses",
                                         ADDRESS_RANGES_MAX);
                TRY(take_range(one, arena, &at[n++], err));
        }
        *ret = (struct address_ranges){ at, n };
        return 0;
}
