#include "common/net/known_hosts.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <strings.h>

#define SHA1_BYTES 20
#define KEY_BYTES 4096
#define NAME_BYTES 320
#define SSH_PORT 22

struct entry {
        struct slice names, kind, key;
        bool revoked, authority;
};

/* ---- lines ---- */

static struct slice next_word(struct slice *line)
{
        struct slice word;

        *line = slice_trim(*line);
        size_t n = 0;

        while (n < line->len && line->data[n] != ' ' && line->data[n] != '\t')
                n++;
        word = (struct slice){ line->data, n };
        *line = (struct slice){ line->data + n, line->len - n };
        return word;
}

/* False: a comment, or nothing that can be read. */
static bool read_line(struct slice line, struct entry *ret)
{
        struct slice first = next_word(&line);

        *ret = (struct entry){ .names = first };
        if (first.len == 0 || *first.data == '#')
                return false;
        if (*first.data == '@') {
                ret->revoked = slice_is(first, "@revoked");
                ret->authority = !ret->revoked;
                ret->names = next_word(&line);
        }
        ret->kind = next_word(&line);
        ret->key = next_word(&line);
        return ret->key.len > 0;
}

/* ---- names ---- */

static bool matches(struct slice pattern, struct slice name)
{
        size_t p = 0, n = 0, star = SIZE_MAX, from = 0;

        while (n < name.len) {
                char c = p < pattern.len ? pattern.data[p] : '\0';

                if (p < pattern.len && c == '*') {
                        star = p++;
                        from = n;
                } else if (p < pattern.len && (c == '?' || strncasecmp(&c, name.data + n, 1) == 0)) {
                        p++;
                        n++;
                } else if (star != SIZE_MAX) {
                        p = star + 1;
                        n = ++from;
                } else {
                        return false;
                }
        }
        while (p < pattern.len && pattern.data[p] == '*')
                p++;
        return p == pattern.len;
}

/* "|1|salt|hash", both in base64. */
static bool hash_matches(struct slice pattern, struct slice name)
{
        struct slice rest = { pattern.data + 3, pattern.len - 3 }, salt;
        unsigned char key[SHA1_BYTES], want[SHA1_BYTES], got[EVP_MAX_MD_SIZE];
        size_t n_key, n_want;
        unsigned n = 0;

        if (!slice_cut(&rest, '|', &salt) || text_base64_decode(salt, key, sizeof(key), &n_key, false) < 0 ||
            text_base64_decode(rest, want, sizeof(want), &n_want, false) < 0 || n_want != SHA1_BYTES)
                return false;
        return HMAC(EVP_sha1(), key, (int)n_key, (const unsigned char *)name.data, name.len, got, &n) &&
               n == SHA1_BYTES && memcmp(got, want, n) == 0;
}

static bool is_of(const struct entry *e, struct slice name)
{
        struct slice rest = e->names, pattern;
        bool more = true, found = false;

        if (slice_starts_with(rest, "|1|"))
                return hash_matches(rest, name);
        while (more) {
                more = slice_cut(&rest, ',', &pattern);
                bool not = pattern.len > 0 && *pattern.data == '!';

                if (not )
                        pattern = (struct slice){ pattern.data + 1, pattern.len - 1 };
                if (pattern.len == 0 || !matches(pattern, name))
                        continue;
                if (not )
                        return false;
                found = true;
        }
        return found;
}

static struct slice name_of(const char *host, int port, char ret[NAME_BYTES])
{
        int n = port == SSH_PORT ? snprintf(ret, NAME_BYTES, "%s", host)
                                 : snprintf(ret, NAME_BYTES, "[%s]:%d", host, port);

        for (int i = 0; i < n && i < NAME_BYTES - 1; i++)
                if (ret[i] >= 'A' && ret[i] <= 'Z')
                        ret[i] = (char)(ret[i] + 32);
        return (struct slice){ ret, n > 0 && n < NAME_BYTES ? (size_t)n : 0 };
}

/* ---- the file ---- */

/* The next entry that is about the host. */
static bool next_of(struct slice *file, struct slice name, struct entry *ret)
{
        struct slice line;

        while (file->len > 0) {
                slice_cut(file, '\n', &line);
                if (read_line(line, ret) && !ret->authority && name.len > 0 && is_of(ret, name))
                        return true;
        }
        return false;
}

static bool is_key(const struct entry *e, struct slice key)
{
        unsigned char bytes[KEY_BYTES];
        size_t n;

        return text_base64_decode(e->key, bytes, sizeof(bytes), &n, false) == 0 && n == key.len &&
               memcmp(bytes, key.data, n) == 0;
}

enum known_host known_hosts_check(struct slice file, const char *host, int port, struct slice key)
{
        enum known_host found = KNOWN_HOST_NONE;
        char text[NAME_BYTES];
        struct slice name = name_of(host, port, text);
        struct entry e;

        while (next_of(&file, name, &e)) {
                bool same = is_key(&e, key);

                if (e.revoked && same)
                        return KNOWN_HOST_REVOKED;
                if (!e.revoked)
                        found = same || found == KNOWN_HOST_GOOD ? KNOWN_HOST_GOOD : KNOWN_HOST_OTHER_KEY;
        }
        return found;
}

void known_hosts_kinds(struct slice file, const char *host, int port, char ret[KNOWN_HOSTS_KINDS_SIZE])
{
        static const struct {
                const char *kind, *negotiated;
        } kinds[] = {
                { "ssh-ed25519", "ssh-ed25519" },
                { "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp256" },
                { "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp384" },
                { "ecdsa-sha2-nistp521", "ecdsa-sha2-nistp521" },
                { "ssh-rsa", "rsa-sha2-512,rsa-sha2-256,ssh-rsa" },
        };
        char text[NAME_BYTES];
        struct slice name = name_of(host, port, text);
        bool has[ARRAY_LEN(kinds)] = { false };
        struct entry e;
        size_t n = 0;

        while (next_of(&file, name, &e))
                for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
                        has[i] = has[i] || (!e.revoked && slice_is(e.kind, kinds[i].kind));
        ret[0] = '\0';
        for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
                if (has[i])
                        n += (size_t)snprintf(ret + n, KNOWN_HOSTS_KINDS_SIZE - n, "%s%s", n ? "," : "",
                                              kinds[i].negotiated);
}
