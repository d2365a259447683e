/* The string formats that kube-apiserver checks. */
#include <arpa/inet.h>
#include <ctype.h>

#include "common/base/timefmt.h"
#include "common/json/schema_internal.h"

static bool is_hex(char c)
{
        return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

/* Matches a shape: 'x' a hex digit, '9' a digit, anything else itself. */
static bool has_shape(struct slice s, const char *shape)
{
        if (s.len != strlen(shape))
                return false;
        for (size_t i = 0; i < s.len; i++) {
                char c = s.data[i];
                bool fits = shape[i] == 'x'   ? is_hex(c)
                            : shape[i] == '9' ? c >= '0' && c <= '9'
                                              : c == shape[i];
                if (!fits)
                        return false;
        }
        return true;
}

static bool is_byte(struct slice s)
{
        size_t padding = 0;
        for (size_t i = 0; i < s.len; i++) {
                unsigned char c = (unsigned char)s.data[i];
                if (c == '=')
                        padding++;
                else if (padding || !(isalnum(c) || c == '+' || c == '/'))
                        return false;
        }
        return s.len % 4 == 0 && padding <= 2;
}

/* Seconds and an offset with a colon are asked for, but not capital letters nor an offset that exists. */
static bool is_date_time(struct slice s)
{
        int64_t ms;
        if (s.len < 20 || (s.data[10] | 0x20) != 't' || s.data[16] != ':')
                return false;
        bool utc = (s.data[s.len - 1] | 0x20) == 'z';
        if (!utc && (s.len < 25 || s.data[s.len - 3] != ':' || !strchr("+-", s.data[s.len - 6])))
                return false;
        return time_parse_lenient(s, &ms) == 0;
}

static bool is_date(struct slice s)
{
        char text[32];
        if (!has_shape(s, "9999-99-99"))
                return false;
        int n = snprintf(text, sizeof(text), "%.*sT00:00:00Z", (int)s.len, s.data);
        return is_date_time((struct slice){ text, (size_t)n });
}

static bool is_duration(struct slice s)
{
        int64_t ns;
        return duration_parse_go(s, &ns) == 0;
}

static bool is_address(struct slice s, int family)
{
        char text[64];
        unsigned char address[16];
        if (s.len >= sizeof(text))
                return false;
        memcpy(text, s.data, s.len);
        text[s.len] = '\0';
        return inet_pton(family, text, address) == 1;
}

static bool is_ipv4(struct slice s)
{
        return is_address(s, AF_INET);
}

static bool is_ipv6(struct slice s)
{
        return is_address(s, AF_INET6);
}

static bool is_cidr(struct slice s)
{
        struct slice address;
        int64_t bits;
        if (!slice_cut(&s, '/', &address) || !slice_parse_i64(s, &bits) || bits < 0)
                return false;
        return (is_ipv4(address) && bits <= 32) || (is_ipv6(address) && bits <= 128);
}

static bool is_uuid(struct slice s)
{
        return has_shape(s, "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx") ||
               has_shape(s, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
}

static bool is_uuid3(struct slice s)
{
        return has_shape(s, "xxxxxxxx-xxxx-3xxx-xxxx-xxxxxxxxxxxx");
}

static bool is_uuid4(struct slice s)
{
        return has_shape(s, "xxxxxxxx-xxxx-4xxx-xxxx-xxxxxxxxxxxx");
}

static bool is_uuid5(struct slice s)
{
        return has_shape(s, "xxxxxxxx-xxxx-5xxx-xxxx-xxxxxxxxxxxx");
}

static bool is_mac(struct slice s)
{
        return has_shape(s, "xx:xx:xx:xx:xx:xx") || has_shape(s, "xx-xx-xx-xx-xx-xx") ||
               has_shape(s, "xxxx.xxxx.xxxx");
}

static bool is_hostname(struct slice s)
{
        size_t label = 0;
        if (!s.len || s.len > 255)
                return false;
        for (size_t i = 0; i < s.len; i++) {
                unsigned char c = (unsigned char)s.data[i];
                label = c == '.' ? 0 : label + 1;
                if (c == '.' ? (i == 0 || s.data[i - 1] == '.') : !(isalnum(c) || c == '-' || c == '_'))
                        return false;
                if (label > 63)
                        return false;
        }
        return s.data[0] != '-' && s.data[s.len - 1] != '-';
}

static bool is_email(struct slice s)
{
        struct slice user;
        return slice_cut(&s, '@', &user) && user.len && s.len && !memchr(s.data, '@', s.len) &&
               !memchr(s.data, ' ', s.len);
}

/* As Go's url.ParseRequestURI: an absolute path or a scheme. */
static bool is_uri(struct slice s)
{
        for (size_t i = 0; i < s.len; i++)
                if ((unsigned char)s.data[i] <= ' ')
                        return false;
        size_t i = 0;
        while (i < s.len && (isalnum((unsigned char)s.data[i]) || strchr("+-.", s.data[i])))
                i++;
        return s.len && (s.data[0] == '/' ||
                         (i && i < s.len && s.data[i] == ':' && isalpha((unsigned char)s.data[0])));
}

static bool is_hex_color(struct slice s)
{
        return has_shape(s, "#xxx") || has_shape(s, "#xxxxxx") || has_shape(s, "xxx") ||
               has_shape(s, "xxxxxx");
}

static bool is_object_id(struct slice s)
{
        return has_shape(s, "xxxxxxxxxxxxxxxxxxxxxxxx");
}

static bool is_short_name(struct slice s)
{
        char text[64];
        if (s.len >= sizeof(text))
                return false;
        memcpy(text, s.data, s.len);
        text[s.len] = '\0';
        return text_is_dns1123_label(text);
}

static bool is_long_name(struct slice s)
{
        char text[254];
        if (s.len >= sizeof(text))
                return false;
        memcpy(text, s.data, s.len);
        text[s.len] = '\0';
        return text_is_dns1123_subdomain(text);
}

static const struct {
        const char *name;
        bool (*valid)(struct slice s);
} formats[] = {
        { "byte", is_byte },
        { "date-time", is_date_time },
        { "datetime", is_date_time },
        { "date", is_date },
        { "duration", is_duration },
        { "ipv4", is_ipv4 },
        { "ipv6", is_ipv6 },
        { "cidr", is_cidr },
        { "uuid", is_uuid },
        { "uuid3", is_uuid3 },
        { "uuid4", is_uuid4 },
        { "uuid5", is_uuid5 },
        { "mac", is_mac },
        { "hostname", is_hostname },
        { "email", is_email },
        { "uri", is_uri },
        { "hexcolor", is_hex_color },
        { "bsonobjectid", is_object_id },
        { "k8s-short-name", is_short_name },
        { "k8s-long-name", is_long_name },
};

bool schema_format_valid(const char *format, const char *s, size_t n)
{
        for (size_t i = 0; i < ARRAY_LEN(formats); i++)
                if (!strcmp(format, formats[i].name))
                        return formats[i].valid((struct slice){ s, n });
        return true;
}

bool schema_string_is_kind(const char *s)
{
        size_t n = strlen(s);
        if (!n || n > 63 || !isalpha((unsigned char)s[0]) || s[n - 1] == '-')
                return false;
        for (size_t i = 0; i < n; i++)
                if (!isalnum((unsigned char)s[i]) && s[i] != '-')
                        return false;
        return true;
}
