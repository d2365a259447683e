/* ip() and cidr(). Addresses are strict: no leading zeros, no zones, no IPv4 inside IPv6. */
#include <arpa/inet.h>

#include "common/json/cel_internal.h"

static bool parse_address(struct slice s, struct cel_address *ret)
{
        char text[INET6_ADDRSTRLEN + 1];
        *ret = (struct cel_address){ 0 };
        if (!s.len || s.len >= sizeof(text) || memchr(s.data, '\0', s.len))
                return false;
        memcpy(text, s.data, s.len);
        text[s.len] = '\0';
        bool v6 = strchr(text, ':');
        if (v6 && strchr(text, '.'))
                return false;
        ret->size = v6 ? 16 : 4;
        return inet_pton(v6 ? AF_INET6 : AF_INET, text, ret->bytes) == 1;
}

static bool parse_cidr(struct slice s, struct cel_address *ret)
{
        struct slice address;
        int64_t bits = 0;
        if (!slice_cut(&s, '/', &address) || !parse_address(address, ret) || !slice_parse_i64(s, &bits))
                return false;
        ret->bits = (uint8_t)bits;
        return bits >= 0 && bits <= ret->size * 8 && (s.len == 1 || s.data[0] != '0') && s.data[0] != '+';
}

static int make(struct cel_run *run, enum cel_kind kind, const struct cel_address *a, struct cel_value *ret)
{
        const struct cel_address *copy = arena_memdup(&run->arena, a, sizeof(*a));
        if (!copy)
                return cel_no_memory(run);
        *ret = (struct cel_value){ .kind = kind, .address = copy };
        return 0;
}

int cel_address_to_text(struct cel_run *run, const struct cel_value *v, struct cel_value *ret)
{
        char text[INET6_ADDRSTRLEN];
        if (!inet_ntop(v->address->size == 16 ? AF_INET6 : AF_INET, v->address->bytes, text, sizeof(text)))
                return cel_fail(run, "address without a text form");
        if (v->kind == CEL_IP)
                return cel_printf(run, ret, "%s", text);
        return cel_printf(run, ret, "%s/%u", text, v->address->bits);
}

static int call_ip(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        struct cel_address a;
        if (args[0].kind != CEL_STRING)
                return cel_no_overload(run);
        if (!parse_address(args[0].text, &a))
                return cel_fail(run, "IP Address \"%.*s\" parse error during conversion from string",
                                (int)MIN(args[0].text.len, 64u), args[0].text.data);
        return make(run, CEL_IP, &a, ret);
}

static int call_is_ip(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        struct cel_address a;
        if (args[0].kind != CEL_STRING)
                return cel_no_overload(run);
        *ret = cel_bool(parse_address(args[0].text, &a));
        return 0;
}

static int call_is_canonical(struct cel_run *run, const struct cel_value *args, size_t n,
                             struct cel_value *ret)
{
        struct cel_value ip, text;
        TRY(call_ip(run, args, n, &ip));
        TRY(cel_address_to_text(run, &ip, &text));
        *ret = cel_bool(slice_equal(text.text, args[0].text));
        return 0;
}

static int call_cidr(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        struct cel_address a;
        if (args[0].kind != CEL_STRING)
                return cel_no_overload(run);
        if (!parse_cidr(args[0].text, &a))
                return cel_fail(run, "network address parse error during conversion from string: \"%.*s\"",
                                (int)MIN(args[0].text.len, 64u), args[0].text.data);
        return make(run, CEL_CIDR, &a, ret);
}

static int call_is_cidr(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        struct cel_address a;
        if (args[0].kind != CEL_STRING)
                return cel_no_overload(run);
        *ret = cel_bool(parse_cidr(args[0].text, &a));
        return 0;
}

static int call_family(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        if (args[0].kind != CEL_IP)
                return cel_no_overload(run);
        *ret = cel_int(args[0].address->size == 16 ? 6 : 4);
        return 0;
}

static bool same_prefix(const struct cel_address *a, const struct cel_address *b, unsigned bits)
{
        if (a->size != b->size || memcmp(a->bytes, b->bytes, bits / 8) != 0)
                return false;
        unsigned rest = bits % 8;
        return !rest || (a->bytes[bits / 8] >> (8 - rest)) == (b->bytes[bits / 8] >> (8 - rest));
}

static int test_kind(struct cel_run *run, const struct cel_value *v, const char *network,
                     struct cel_value *ret)
{
        struct cel_address n;
        if (v->kind != CEL_IP)
                return cel_no_overload(run);
        *ret = cel_bool(parse_cidr(slice_of(network), &n) && same_prefix(v->address, &n, n.bits));
        return 0;
}

static int call_is_unspecified(struct cel_run *run, const struct cel_value *args, size_t n,
                               struct cel_value *ret)
{
        bool six = args[0].kind == CEL_IP && args[0].address->size == 16;
        return test_kind(run, &args[0], six ? "::/128" : "0.0.0.0/32", ret);
}

static int call_is_loopback(struct cel_run *run, const struct cel_value *args, size_t n,
                            struct cel_value *ret)
{
        bool six = args[0].kind == CEL_IP && args[0].address->size == 16;
        return test_kind(run, &args[0], six ? "::1/128" : "127.0.0.0/8", ret);
}

static int call_is_link_local_unicast(struct cel_run *run, const struct cel_value *args, size_t n,
                                      struct cel_value *ret)
{
        bool six = args[0].kind == CEL_IP && args[0].address->size == 16;
        return test_kind(run, &args[0], six ? "fe80::/10" : "169.254.0.0/16", ret);
}

static int call_is_link_local_multicast(struct cel_run *run, const struct cel_value *args, size_t n,
                                        struct cel_value *ret)
{
        bool six = args[0].kind == CEL_IP && args[0].address->size == 16;
        return test_kind(run, &args[0], six ? "ff02::/16" : "224.0.0.0/24", ret);
}

static int call_is_global_unicast(struct cel_run *run, const struct cel_value *args, size_t n,
                                  struct cel_value *ret)
{
        static const char *const others[] = { "0.0.0.0/32",  "255.255.255.255/32", "127.0.0.0/8",
                                              "224.0.0.0/4", "169.254.0.0/16",     "::/128",
                                              "::1/128",     "ff00::/8",           "fe80::/10" };
        struct cel_value other = cel_bool(false);
        for (size_t i = 0; i < ARRAY_LEN(others) && !other.boolean; i++)
                TRY(test_kind(run, &args[0], others[i], &other));
        *ret = cel_bool(!other.boolean);
        return 0;
}

/* An address or network given as text or as a value. */
static int operand(struct cel_run *run, const struct cel_value *v, bool network, struct cel_address *ret)
{
        if (v->kind == (network ? CEL_CIDR : CEL_IP)) {
                *ret = *v->address;
                return 0;
        }
        if (v->kind != CEL_STRING)
                return cel_no_overload(run);
        if (network ? parse_cidr(v->text, ret) : parse_address(v->text, ret))
                return 0;
        return cel_fail(run, "network address parse error during conversion from string: \"%.*s\"",
                        (int)MIN(v->text.len, 64u), v->text.data);
}

static int call_contains_ip(struct cel_run *run, const struct cel_value *args, size_t n,
                            struct cel_value *ret)
{
        struct cel_address a;
        if (args[0].kind != CEL_CIDR)
                return cel_no_overload(run);
        TRY(operand(run, &args[1], false, &a));
        *ret = cel_bool(same_prefix(args[0].address, &a, args[0].address->bits));
        return 0;
}

static int call_contains_cidr(struct cel_run *run, const struct cel_value *args, size_t n,
                              struct cel_value *ret)
{
        struct cel_address a;
        if (args[0].kind != CEL_CIDR)
                return cel_no_overload(run);
        TRY(operand(run, &args[1], true, &a));
        *ret = cel_bool(a.bits >= args[0].address->bits &&
                        same_prefix(args[0].address, &a, args[0].address->bits));
        return 0;
}

static int call_network_ip(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        if (args[0].kind != CEL_CIDR)
                return cel_no_overload(run);
        struct cel_address a = *args[0].address;
        a.bits = 0;
        return make(run, CEL_IP, &a, ret);
}

static int call_masked(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        if (args[0].kind != CEL_CIDR)
                return cel_no_overload(run);
        struct cel_address a = *args[0].address;
        for (unsigned bit = a.bits; bit < a.size * 8u; bit++)
                a.bytes[bit / 8] &= (uint8_t) ~(0x80u >> bit % 8);
        return make(run, CEL_CIDR, &a, ret);
}

static int call_prefix_length(struct cel_run *run, const struct cel_value *args, size_t n,
                              struct cel_value *ret)
{
        if (args[0].kind != CEL_CIDR)
                return cel_no_overload(run);
        *ret = cel_int(args[0].address->bits);
        return 0;
}

const struct cel_function cel_network_functions[] = {
        { "ip", false, 1, 1, call_ip },
        { "isIP", false, 1, 1, call_is_ip },
        { "ip.isCanonical", false, 1, 1, call_is_canonical },
        { "cidr", false, 1, 1, call_cidr },
        { "isCIDR", false, 1, 1, call_is_cidr },
        { "family", true, 1, 1, call_family },
        { "isUnspecified", true, 1, 1, call_is_unspecified },
        { "isLoopback", true, 1, 1, call_is_loopback },
        { "isLinkLocalUnicast", true, 1, 1, call_is_link_local_unicast },
        { "isLinkLocalMulticast", true, 1, 1, call_is_link_local_multicast },
        { "isGlobalUnicast", true, 1, 1, call_is_global_unicast },
        { "containsIP", true, 2, 2, call_contains_ip },
        { "containsCIDR", true, 2, 2, call_contains_cidr },
        { "ip", true, 1, 1, call_network_ip },
        { "masked", true, 1, 1, call_masked },
        { "prefixLength", true, 1, 1, call_prefix_length },
        { NULL, false, 0, 0, NULL },
};
