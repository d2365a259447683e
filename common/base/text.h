/* Byte slices and strict parsing. A slice borrows; it need not be NUL-terminated. */
#pragma once

#include "common/base/error.h"

struct slice {
        const char *data;
        size_t len;
};

#define SLICE(literal) ((struct slice){ ("" literal), sizeof(literal) - 1 })

struct slice slice_of(const char *s); /* NULL gives the empty slice */
bool slice_equal(struct slice a, struct slice b);
bool slice_is(struct slice a, const char *s);
int slice_compare(struct slice a, struct slice b);
bool slice_starts_with(struct slice a, const char *prefix);
/* Cuts at the first `sep`: *ret_head before it, *rest behind it. False (head = all, rest empty) if absent. */
bool slice_cut(struct slice *rest, char sep, struct slice *ret_head);
struct slice slice_trim(struct slice a); /* spaces, tabs, CR, LF */

bool text_equal(const char *a, const char *b); /* NULL equals NULL only */
bool text_empty(const char *s);                /* NULL or "" */
const char *or_empty(const char *s);           /* "" for NULL */
bool text_starts_with(const char *s, const char *prefix);
bool text_ends_with(const char *s, const char *suffix);
bool text_in(const char *s, const char *const *list, size_t n);

/* Whole-string decimal parsing; false on anything else (sign only where signed, no spaces, no overflow). */
/* Copies a text to `ret` (size bytes, at least 16). What is too long loses its middle, marked " ... ": what
 * happened stands in front, the reason often at the end. `ret` may be `text`. Returns the length. */
size_t text_shorten(const char *text, char *ret, size_t size);
bool text_parse_i64(const char *s, int64_t *ret);
bool text_parse_u64(const char *s, uint64_t *ret);
bool slice_parse_i64(struct slice s, int64_t *ret);

bool text_is_utf8(const char *s, size_t n);
size_t text_utf8_length(const char *s, size_t n); /* bytes of the first character; 0 if malformed or n == 0 */
size_t text_utf8_cut(const char *s,
                     size_t max);          /* bytes of its longest beginning in whole characters, up to max */
bool text_is_dns1123_label(const char *s); /* 1..63 */
bool text_is_dns1123_subdomain(const char *s); /* 1..253 */
bool text_is_label_key(const char *s);         /* qualified name, optional DNS prefix */
bool text_is_label_value(const char *s);       /* "" or up to 63 */

/* Base64 (RFC 4648, padded) and hex; the decoder returns ERR_INVALID on a foreign character or wrong padding
 * and ERR_LIMIT when cap is too small. As Go's it skips line ends. In the URL alphabet padding may be absent
 * (JWT). */
size_t text_base64_size(size_t n);                              /* including the NUL */
void text_base64_encode(const void *data, size_t n, char *ret); /* text_base64_size(n) bytes */
int text_base64_decode(struct slice s, void *ret, size_t cap, size_t *ret_len, bool url_alphabet);
void text_hex_encode(const void *data, size_t n, char *ret); /* 2n+1 bytes, lower case */
/* Of four digits in decimal units: "30.88kB". */
#define TEXT_BYTES_SIZE 32
void text_of_bytes(uint64_t n, char ret[TEXT_BYTES_SIZE]);
