/* Kubernetes' own CEL functions: quantities and URLs. */
#include <ctype.h>

#include "common/json/cel_internal.h"
#include "common/json/quantity.h"

/* --- Quantities
 * ---------------------------------------------------------------------------------------------- */

static int make_quantity(struct cel_run *run, struct quantity q, struct cel_value *ret)
{
        /* An __int128 wants its alignment, which a copy in the arena has. */
        struct quantity *copy = arena_memdup(&run->arena, &q, sizeof(q));
        if (!copy)
                return cel_no_memory(run);
        *ret = (struct cel_value){ .kind = CEL_QUANTITY, .quantity = copy };
        return 0;
}

static int call_quantity(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        struct quantity q;
        if (args[0].kind != CEL_STRING)
                return cel_no_overload(run);
        if (quantity_parse(args[0].text, &q, NULL) < 0)
                return cel_fail(run, "quantities must match the regular expression "
                                     "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
        return make_quantity(run, q, ret);
}

static int call_is_quantity(struct cel_run *run, const struct cel_value *args, size_t n,
                            struct cel_value *ret)
{
        struct quantity q;
        if (args[0].kind != CEL_STRING)
                return cel_no_overload(run);
        *ret = cel_bool(quantity_parse(args[0].text, &q, NULL) == 0);
        return 0;
}

static int need_quantities(struct cel_run *run, const struct cel_value *args, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (args[i].kind != CEL_QUANTITY)
                        return cel_no_overload(run);
        return 0;
}

static int order_of(struct cel_run *run, const struct cel_value *args, int *ret)
{
        TRY(need_quantities(run, args, 2));
        *ret = quantity_compare(*args[0].quantity, *args[1].quantity);
        return 0;
}

static int call_compare_to(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        int order = 0;
        TRY(order_of(run, args, &order));
        *ret = cel_int(order < 0 ? -1 : order > 0);
        return 0;
}

static int call_is_less_than(struct cel_run *run, const struct cel_value *args, size_t n,
                             struct cel_value *ret)
{
        int order = 0;
        TRY(order_of(run, args, &order));
        *ret = cel_bool(order < 0);
        return 0;
}

static int call_is_greater_than(struct cel_run *run, const struct cel_value *args, size_t n,
                                struct cel_value *ret)
{
        int order = 0;
        TRY(order_of(run, args, &order));
        *ret = cel_bool(order > 0);
        return 0;
}

static int combine(struct cel_run *run, const struct cel_value *args, bool add, struct cel_value *ret)
{
        struct quantity other;
        if (args[0].kind != CEL_QUANTITY)
                return cel_no_overload(run);
        if (args[1].kind == CEL_INT)
                other = (struct quantity){ .nano = (__int128)args[1].integer * 1000000000,
                                           .format = QUANTITY_DECIMAL_SI };
        else if (args[1].kind == CEL_QUANTITY)
                other = *args[1].quantity;
        else
                return cel_no_overload(run);
        return make_quantity(run,
                             add ? quantity_add(*args[0].quantity, other)
                                 : quantity_subtract(*args[0].quantity, other),
                             ret);
}

static int call_add(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        return combine(run, args, true, ret);
}

static int call_sub(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        return combine(run, args, false, ret);
}

static int call_sign(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        TRY(need_quantities(run, args, 1));
        *ret = cel_int(args[0].quantity->nano > 0 ? 1 : args[0].quantity->nano < 0 ? -1 : 0);
        return 0;
}

static bool is_whole(const struct quantity *q)
{
        __int128 whole = q->nano / 1000000000;
        return q->nano % 1000000000 == 0 && whole >= INT64_MIN && whole <= INT64_MAX;
}

static int call_is_integer(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        TRY(need_quantities(run, args, 1));
        *ret = cel_bool(is_whole(args[0].quantity));
        return 0;
}

static int call_as_integer(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        TRY(need_quantities(run, args, 1));
        if (!is_whole(args[0].quantity))
                return cel_fail(run, "cannot convert value to integer");
        *ret = cel_int((int64_t)(args[0].quantity->nano / 1000000000));
        return 0;
}

static int call_as_float(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        TRY(need_quantities(run, args, 1));
        *ret = cel_double(quantity_to_double(*args[0].quantity));
        return 0;
}

/* --- URLs: as Go's url.ParseRequestURI, an absolute path or scheme://host
 * ------------------------------------- */

struct url {
        struct slice scheme, host, path, query;
};

static bool cut_scheme(struct slice *s, struct slice *scheme)
{
        size_t i = 0;
        while (i < s->len && (isalnum((unsigned char)s->data[i]) || strchr("+-.", s->data[i])))
                i++;
        if (!i || i >= s->len || s->data[i] != ':' || !isalpha((unsigned char)s->data[0]))
                return false;
        *scheme = (struct slice){ s->data, i };
        *s = (struct slice){ s->data + i + 1, s->len - i - 1 };
        return true;
}

static bool parse_url(struct slice s, struct url *ret)
{
        *ret = (struct url){ .scheme = { "", 0 }, .host = { "", 0 } };
        for (size_t i = 0; i < s.len; i++)
                if ((unsigned char)s.data[i] <= ' ' || s.data[i] == 0x7f)
                        return false;
        bool absolute = cut_scheme(&s, &ret->scheme);
        if (!absolute && (!s.len || s.data[0] != '/'))
                return false;
        if (s.len >= 2 && s.data[0] == '/' && s.data[1] == '/' && absolute) {
                s.data += 2, s.len -= 2;
                size_t n = 0;
                while (n < s.len && s.data[n] != '/' && s.data[n] != '?')
                        n++;
                const char *at = memrchr(s.data, '@', n);
                size_t user = at ? (size_t)(at + 1 - s.data) : 0;
                ret->host = (struct slice){ s.data + user, n - user };
                s.data += n, s.len -= n;
        }
        ret->query = s;
        slice_cut(&ret->query, '?', &ret->path);
        return true;
}

static int call_url(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        struct url url;
        if (args[0].kind != CEL_STRING)
                return cel_no_overload(run);
        if (!parse_url(args[0].text, &url))
                return cel_fail(run,
                                "URL parse error during conversion from string: parse \"%.*s\": invalid URI "
                                "for request",
                                (int)MIN(args[0].text.len, 200u), args[0].text.data);
        *ret = cel_text(CEL_URL, args[0].text.data, args[0].text.len);
        return 0;
}

static int call_is_url(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        struct url url;
        if (args[0].kind != CEL_STRING)
                return cel_no_overload(run);
        *ret = cel_bool(parse_url(args[0].text, &url));
        return 0;
}

static int url_of(struct cel_run *run, const struct cel_value *v, struct url *ret)
{
        return v->kind == CEL_URL && parse_url(v->text, ret) ? 0 : cel_no_overload(run);
}

static int call_get_scheme(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        struct url url;
        TRY(url_of(run, &args[0], &url));
        *ret = cel_text(CEL_STRING, url.scheme.data, url.scheme.len);
        return 0;
}

static int call_get_host(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        struct url url;
        TRY(url_of(run, &args[0], &url));
        *ret = cel_text(CEL_STRING, url.host.data, url.host.len);
        return 0;
}

/* The host in two: "[::1]:80" is "::1" and "80". */
static void split_host(struct slice host, struct slice *name, struct slice *port)
{
        const char *close = host.len && host.data[0] == '[' ? memchr(host.data, ']', host.len) : NULL;
        const char *after = close ? close : host.data;
        const char *colon = memchr(after, ':', (size_t)(host.data + host.len - after));
        size_t n = colon ? (size_t)(colon - host.data) : host.len;
        *port = (struct slice){ "", 0 };
        if (colon)
                *port = (struct slice){ colon + 1, host.len - n - 1 };
        *name = close ? (struct slice){ host.data + 1, (size_t)(close - host.data - 1) }
                      : (struct slice){ host.data, n };
}

static int call_get_hostname(struct cel_run *run, const struct cel_value *args, size_t n,
                             struct cel_value *ret)
{
        struct url url;
        struct slice name, port;
        TRY(url_of(run, &args[0], &url));
        split_host(url.host, &name, &port);
        *ret = cel_text(CEL_STRING, name.data, name.len);
        return 0;
}

static int call_get_port(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        struct url url;
        struct slice name, port;
        TRY(url_of(run, &args[0], &url));
        split_host(url.host, &name, &port);
        *ret = cel_text(CEL_STRING, port.data, port.len);
        return 0;
}

static int call_get_escaped_path(struct cel_run *run, const struct cel_value *args, size_t n,
                                 struct cel_value *ret)
{
        struct url url;
        TRY(url_of(run, &args[0], &url));
        *ret = cel_text(CEL_STRING, url.path.data, url.path.len);
        return 0;
}

static int unescape_query(struct cel_run *run, struct slice s, struct cel_value *ret)
{
        char *out = arena_alloc(&run->arena, s.len + 1);
        size_t n = 0;
        if (!out)
                return cel_no_memory(run);
        for (size_t i = 0; i < s.len; i++) {
                char hex[3] = { 0 };
                if (s.data[i] == '%' && i + 2 < s.len && isxdigit((unsigned char)s.data[i + 1]) &&
                    isxdigit((unsigned char)s.data[i + 2])) {
                        memcpy(hex, s.data + i + 1, 2);
                        out[n++] = (char)strtol(hex, NULL, 16);
                        i += 2;
                } else {
                        out[n++] = s.data[i] == '+' ? ' ' : s.data[i];
                }
        }
        *ret = cel_text(CEL_STRING, out, n);
        return 0;
}

/* Adds the value to the list of its key. */
static int add_query_value(struct cel_run *run, struct cel_entry *entries, size_t *n,
                           const struct cel_value *key, const struct cel_value *value)
{
        size_t i = 0;
        while (i < *n && !slice_equal(entries[i].key.text, key->text))
                i++;
        TRY(cel_spend(run, i));
        size_t count = i < *n ? entries[i].value.list.n : 0;
        struct cel_value *items = ARENA_NEW_ARRAY(&run->arena, struct cel_value, count + 1);
        if (!items)
                return cel_no_memory(run);
        if (count)
                memcpy(items, entries[i].value.list.items, count * sizeof(*items));
        items[count] = *value;
        entries[i].key = *key;
        entries[i].value = (struct cel_value){ .kind = CEL_LIST };
        entries[i].value.list.items = items;
        entries[i].value.list.n = count + 1;
        *n = MAX(*n, i + 1);
        return cel_spend(run, count);
}

static int call_get_query(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        struct url url;
        struct slice pair;
        size_t most = 1;
        TRY(url_of(run, &args[0], &url));
        for (size_t i = 0; i < url.query.len; i++)
                most += url.query.data[i] == '&';
        struct cel_entry *entries = ARENA_NEW_ARRAY(&run->arena, struct cel_entry, most);
        if (!entries)
                return cel_no_memory(run);
        *ret = (struct cel_value){ .kind = CEL_MAP };
        ret->map.entries = entries;
        while (url.query.len) {
                struct slice key;
                struct cel_value name, value;
                slice_cut(&url.query, '&', &pair);
                if (!pair.len)
                        continue;
                slice_cut(&pair, '=', &key);
                TRY(unescape_query(run, key, &name));
                TRY(unescape_query(run, pair, &value));
                TRY(add_query_value(run, entries, &ret->map.n, &name, &value));
        }
        return 0;
}

const struct cel_function cel_kubernetes_functions[] = {
        { "quantity", false, 1, 1, call_quantity },
        { "isQuantity", false, 1, 1, call_is_quantity },
        { "compareTo", true, 2, 2, call_compare_to },
        { "isLessThan", true, 2, 2, call_is_less_than },
        { "isGreaterThan", true, 2, 2, call_is_greater_than },
        { "add", true, 2, 2, call_add },
        { "sub", true, 2, 2, call_sub },
        { "sign", true, 1, 1, call_sign },
        { "isInteger", true, 1, 1, call_is_integer },
        { "asInteger", true, 1, 1, call_as_integer },
        { "asApproximateFloat", true, 1, 1, call_as_float },
        { "url", false, 1, 1, call_url },
        { "isURL", false, 1, 1, call_is_url },
        { "getScheme", true, 1, 1, call_get_scheme },
        { "getHost", true, 1, 1, call_get_host },
        { "getHostname", true, 1, 1, call_get_hostname },
        { "getPort", true, 1, 1, call_get_port },
        { "getEscapedPath", true, 1, 1, call_get_escaped_path },
        { "getQuery", true, 1, 1, call_get_query },
        { NULL, false, 0, 0, NULL },
};
