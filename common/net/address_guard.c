#include "common/net/address_guard.h"

#include <netinet/in.h>

#include "common/base/base.h"

#define THIS_MACHINE "an address of this machine"
#define LINK_LOCAL "a link-local address"
#define METADATA "the address of a cloud's metadata service"
#define NO_HOST "no address of one host"

struct range {
        unsigned char first[16];
        unsigned bits; /* how many of them count */
        const char *what;
};

static const struct range v4[] = {
        { { 0 }, 8, THIS_MACHINE },
        { { 127 }, 8, THIS_MACHINE },
        { { 169, 254 }, 16, LINK_LOCAL },
        { { 100, 100, 100, 200 }, 32, METADATA },
        { { 168, 63, 129, 16 }, 32, METADATA },
        { { 192, 0, 0, 192 }, 32, METADATA },
        { { 224 }, 3, NO_HOST }, /* multicast, reserved, broadcast */
};
static const struct range v6[] = {
        { { [15] = 0 }, 128, THIS_MACHINE },
        { { [15] = 1 }, 128, THIS_MACHINE },
        { { 0xfe, 0x80 }, 10, LINK_LOCAL },
        { { 0xfd, 0x00, 0x0e, 0xc2, [14] = 0x02, 0x54 }, 128, METADATA },
        { { 0xfd, 0x20, 0x00, 0xce, [14] = 0x02, 0x54 }, 128, METADATA },
        { { 0xff }, 8, NO_HOST },
};

/* Forms of IPv6 that lead to an address of IPv4, and where it stands in them. */
static const struct {
        struct range range;
        unsigned at;
} embedded[] = {
        { { { [10] = 0xff, 0xff }, 96, NULL }, 12 },      /* mapped */
        { { { [10] = 0, 0 }, 96, NULL }, 12 },            /* compatible */
        { { { [8] = 0xff, 0xff }, 96, NULL }, 12 },       /* translated */
        { { { 0x00, 0x64, 0xff, 0x9b }, 96, NULL }, 12 }, /* NAT64 */
        { { { 0x00, 0x64, 0xff, 0x9b, 0x00, 0x01 }, 48, NULL }, 12 },
        { { { 0x20, 0x02 }, 16, NULL }, 2 }, /* 6to4 */
};

static bool is_in(const unsigned char *address, const struct range *r)
{
        for (unsigned bit = 0; bit < r->bits; bit++)
                if ((address[bit / 8] ^ r->first[bit / 8]) & (0x80 >> bit % 8))
                        return false;
        return true;
}

static const char *find(const unsigned char *address, const struct range *ranges, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (is_in(address, &ranges[i]))
                        return ranges[i].what;
        return NULL;
}

const char *address_guard_refuses(const struct sockaddr *a)
{
        if (a->sa_family == AF_INET)
                return find((const unsigned char *)&((const struct sockaddr_in *)(const void *)a)->sin_addr,
                            v4, ARRAY_LEN(v4));
        if (a->sa_family != AF_INET6)
                return NO_HOST;
        const unsigned char *address = ((const struct sockaddr_in6 *)(const void *)a)->sin6_addr.s6_addr;
        const char *what = find(address, v6, ARRAY_LEN(v6));

        for (size_t i = 0; !what && i < ARRAY_LEN(embedded); i++)
                if (is_in(address, &embedded[i].range))
                        what = find(address + embedded[i].at, v4, ARRAY_LEN(v4));
        return what;
}
