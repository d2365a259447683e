#include "common/json/scan.h"

#include "common/base/unicode.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* What the grammar allows next. */
enum expect {
        EXPECT_VALUE,
        EXPECT_VALUE_OR_CLOSE, /* behind '[' */
        EXPECT_KEY,
        EXPECT_KEY_OR_CLOSE, /* behind '{' */
        EXPECT_COMMA_OR_CLOSE,
        EXPECT_END
};

enum { NUMBER_MAX = 400 }; /* characters: more than any exact 64-bit number or double needs */
static const char too_deep[] = "nested too deep";

enum { SPACE = 1, DIGIT = 2, HEX = 4, PLAIN = 8 /* stands for itself in a string and is ASCII */ };
static const uint8_t class_of[256] = {
        ['\t'] = SPACE,
        ['\n'] = SPACE,
        ['\r'] = SPACE,
        [' '] = SPACE | PLAIN,
        ['!'] = PLAIN,
        ['#' ... '/'] = PLAIN,
        ['0' ... '9'] = DIGIT | HEX | PLAIN,
        [':' ... '@'] = PLAIN,
        ['A' ... 'F'] = HEX | PLAIN,
        ['G' ... '['] = PLAIN,
        [']' ... '`'] = PLAIN,
        ['a' ... 'f'] = HEX | PLAIN,
        ['g' ... 0x7f] = PLAIN,
};

static inline bool is(char c, uint8_t class)
{
        return class_of[(unsigned char)c] & class;
}

void scan_init(struct scanner *s, struct slice text)
{
        *s = (struct scanner){ .begin = text.data, .at = text.data, .end = text.data + text.len };
}

static enum scan_token fail(struct scanner *s, const char *at, const char *problem)
{
        if (!s->problem) {
                s->at = at;
                s->problem = problem;
        }
        return SCAN_ERROR;
}

static inline bool in_object(const struct scanner *s)
{
        size_t level = s->depth - 1u;
        return s->nest[level / 64] >> (level % 64) & 1;
}

/* A value has ended: what may follow depends on where we are. */
static inline void value_done(struct scanner *s)
{
        s->expect = s->depth ? EXPECT_COMMA_OR_CLOSE : EXPECT_END;
}

static enum scan_token open_container(struct scanner *s, bool object)
{
        if (s->depth == LIMIT_JSON_DEPTH)
                return fail(s, s->at, too_deep);
        uint64_t bit = UINT64_C(1) << (s->depth % 64), *word = &s->nest[s->depth / 64];
        *word = object ? *word | bit : *word & ~bit;
        s->depth++;
        s->at++;
        s->expect = object ? EXPECT_KEY_OR_CLOSE : EXPECT_VALUE_OR_CLOSE;
        return object ? SCAN_OBJECT : SCAN_ARRAY;
}

static enum scan_token close_container(struct scanner *s, bool object)
{
        if (object != in_object(s))
                return fail(s, s->at, object ? "expected , or ]" : "expected , or }");
        s->depth--;
        s->at++;
        value_done(s);
        return object ? SCAN_OBJECT_END : SCAN_ARRAY_END;
}

/* The first byte at or behind p that is not plain: a quote, a backslash, a control character or non-ASCII. */
static inline const char *skip_plain(const char *p, const char *end)
{
#ifdef __SSE2__
        const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\'), space = _mm_set1_epi8(' ');
        for (; end - p >= 16; p += 16) {
                __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)p);
                /* The comparison is signed, so bytes from 0x80 on are "below space" as well. */
                __m128i hit = _mm_or_si128(
                        _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash)),
                        _mm_cmplt_epi8(bytes, space));
                int mask = _mm_movemask_epi8(hit);
                if (mask)
                        return p + __builtin_ctz((unsigned)mask);
        }
#endif
        while (p < end && is(*p, PLAIN))
                p++;
        return p;
}

static int hex_value(char c)
{
        return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
}

/* Four hexadecimal digits; -1 if there are not. */
static int32_t hex4(const char *p, const char *end)
{
        if (end - p < 4)
                return -1;
        int32_t v = 0;
        for (int i = 0; i < 4; i++) {
                if (!is(p[i], HEX))
                        return -1;
                v = v * 16 + hex_value(p[i]);
        }
        return v;
}

/* Reads the escape at p (behind the backslash). Returns its length without the backslash, 0 if malformed. */
static size_t read_escape(const char *p, const char *end, uint32_t *ret)
{
        static const char simple[256] = { ['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',
                                          ['f'] = '\f', ['n'] = '\n',  ['r'] = '\r', ['t'] = '\t' };
        if (p == end)
                return 0;
        if (simple[(unsigned char)*p]) {
                *ret = (uint32_t)simple[(unsigned char)*p];
                return 1;
        }
        int32_t high = *p == 'u' ? hex4(p + 1, end) : -1;
        if (high < 0 || (high >= 0xdc00 && high <= 0xdfff))
                return 0;
        *ret = (uint32_t)high;
        if (high < 0xd800 || high > 0xdbff)
                return 5;
        if (end - p < 11 || p[5] != '\\' || p[6] != 'u')
                return 0;
        int32_t low = hex4(p + 7, end);
        if (low < 0xdc00 || low > 0xdfff)
                return 0;
        *ret = 0x10000u + ((uint32_t)(high - 0xd800) << 10) + (uint32_t)(low - 0xdc00);
        return 11;
}

/* Passes the string whose opening quote is at s->at. */
static inline bool pass_string(struct scanner *s)
{
        const char *p = s->at + 1;
        s->escaped = false;
        for (;;) {
                p = skip_plain(p, s->end);
                if (p == s->end)
                        return fail(s, p, "the string does not end"), false;
                size_t n;
                uint32_t unused_character;
                if (*p == '"')
                        break;
                if (*p == '\\') {
                        s->escaped = true;
                        n = read_escape(p + 1, s->end, &unused_character);
                        if (!n)
                                return fail(s, p, "invalid escape in a string"), false;
                        n++;
                } else {
                        if ((unsigned char)*p < 0x20)
                                return fail(s, p, "control character in a string"), false;
                        n = text_utf8_length(p, (size_t)(s->end - p));
                        if (!n)
                                return fail(s, p, "invalid UTF-8 in a string"), false;
                }
                p += n;
        }
        s->text = (struct slice){ s->at + 1, (size_t)(p - s->at - 1) };
        s->at = p + 1;
        return true;
}

static inline const char *skip_space(const char *p, const char *end)
{
        if (__builtin_expect(p < end && (unsigned char)*p > ' ', 1)) /* compact text: the usual case */
                return p;
        while (p < end && is(*p, SPACE))
                p++;
        return p;
}

static inline enum scan_token read_key(struct scanner *s)
{
        if (*s->at != '"')
                return fail(s, s->at, s->expect == EXPECT_KEY ? "expected a key" : "expected a key or }");
        if (!pass_string(s))
                return SCAN_ERROR;
        s->at = skip_space(s->at, s->end);
        if (s->at == s->end || *s->at != ':')
                return fail(s, s->at, "expected : behind a key");
        s->at++;
        s->expect = EXPECT_VALUE;
        return SCAN_KEY;
}

static inline const char *skip_digits(const char *p, const char *end)
{
        while (p < end && is(*p, DIGIT))
                p++;
        return p;
}

static enum scan_token read_number(struct scanner *s)
{
        const char *p = s->at, *end = s->end;
        p += *p == '-';
        if (p == end || !is(*p, DIGIT))
                return fail(s, p, "expected a digit");
        p = *p == '0' ? p + 1 : skip_digits(p, end);
        if (p < end && is(*p, DIGIT))
                return fail(s, p, "a number must not start with 0");
        if (p < end && *p == '.') {
                const char *fraction = p + 1;
                p = skip_digits(fraction, end);
                if (p == fraction)
                        return fail(s, p, "expected a digit behind the decimal point");
        }
        if (p < end && (*p == 'e' || *p == 'E')) {
                p++;
                p += p < end && (*p == '+' || *p == '-');
                const char *exponent = p;
                p = skip_digits(exponent, end);
                if (p == exponent)
                        return fail(s, p, "expected a digit in the exponent");
        }
        if (p - s->at > NUMBER_MAX)
                return fail(s, s->at, "the number has too many digits");
        s->text = (struct slice){ s->at, (size_t)(p - s->at) };
        s->at = p;
        value_done(s);
        return SCAN_NUMBER;
}

static enum scan_token read_word(struct scanner *s, const char *word, size_t n, enum scan_token token)
{
        if ((size_t)(s->end - s->at) < n || memcmp(s->at, word, n) != 0)
                return fail(s, s->at, "expected a value");
        s->at += n;
        value_done(s);
        return token;
}

static enum scan_token read_value(struct scanner *s)
{
        switch (*s->at) {
        case '"':
                if (!pass_string(s))
                        return SCAN_ERROR;
                value_done(s);
                return SCAN_STRING;
        case '{':
                return open_container(s, true);
        case '[':
                return open_container(s, false);
        case ']':
                if (s->expect == EXPECT_VALUE_OR_CLOSE)
                        return close_container(s, false);
                return fail(s, s->at, "expected a value");
        case 't':
                return read_word(s, "true", 4, SCAN_TRUE);
        case 'f':
                return read_word(s, "false", 5, SCAN_FALSE);
        case 'n':
                return read_word(s, "null", 4, SCAN_NULL);
        case '-':
        case '0' ... '9':
                return read_number(s);
        default:
                return fail(s, s->at, "expected a value");
        }
}

/* Behind a value within a container: passes the comma, or closes. SCAN_END says that a comma was passed. */
static inline enum scan_token read_separator(struct scanner *s)
{
        if (*s->at == '}' || *s->at == ']')
                return close_container(s, *s->at == '}');
        if (*s->at != ',')
                return fail(s, s->at, in_object(s) ? "expected , or }" : "expected , or ]");
        s->expect = in_object(s) ? EXPECT_KEY : EXPECT_VALUE;
        s->at = skip_space(s->at + 1, s->end);
        if (s->at == s->end)
                return fail(s, s->at, "the text ends too early");
        return SCAN_END;
}

enum scan_token scan_next(struct scanner *s)
{
        if (s->problem)
                return SCAN_ERROR;
        s->at = skip_space(s->at, s->end);
        if (s->at == s->end) {
                if (s->expect == EXPECT_END)
                        return SCAN_END;
                return fail(s, s->at,
                            s->depth || s->at != s->begin ? "the text ends too early" : "the text is empty");
        }
        if (s->expect == EXPECT_COMMA_OR_CLOSE) {
                enum scan_token t = read_separator(s);
                if (t != SCAN_END)
                        return t;
        }
        switch ((enum expect)s->expect) {
        case EXPECT_KEY_OR_CLOSE:
                if (*s->at == '}')
                        return close_container(s, true);
                return read_key(s);
        case EXPECT_KEY:
                return read_key(s);
        case EXPECT_END:
                return fail(s, s->at, "something follows the end of the document");
        default:
                return read_value(s);
        }
}

bool scan_at_close(struct scanner *s)
{
        if (s->problem || (s->expect != EXPECT_COMMA_OR_CLOSE && s->expect != EXPECT_VALUE_OR_CLOSE &&
                           s->expect != EXPECT_KEY_OR_CLOSE))
                return false;
        s->at = skip_space(s->at, s->end);
        return s->at < s->end && (*s->at == ']' || *s->at == '}');
}

/* Where the token that scan_next() just returned begins. */
static const char *token_start(const struct scanner *s, enum scan_token t)
{
        switch (t) {
        case SCAN_STRING:
                return s->text.data - 1;
        case SCAN_NUMBER:
                return s->text.data;
        case SCAN_FALSE:
                return s->at - 5;
        case SCAN_TRUE:
        case SCAN_NULL:
                return s->at - 4;
        default:
                return s->at - 1;
        }
}

int scan_skip(struct scanner *s, struct slice *ret)
{
        if (scan_at_close(s) || s->expect == EXPECT_END)
                fail(s, s->at, "expected a value");
        uint16_t depth = s->depth;
        enum scan_token t = scan_next(s);
        if (t == SCAN_ERROR)
                return ERR_INVALID;
        if (t == SCAN_KEY)
                return fail(s, s->text.data, "expected a value, found a key"), ERR_INVALID;
        const char *start = token_start(s, t);
        while (s->depth > depth)
                if (scan_next(s) == SCAN_ERROR)
                        return ERR_INVALID;
        if (ret)
                *ret = (struct slice){ start, (size_t)(s->at - start) };
        return 0;
}

/* Behind a string whose opening quote is at p; NULL if it does not end. */
static const char *behind_string(const char *p, const char *end)
{
        for (p = skip_plain(p + 1, end); p < end && *p != '"'; p = skip_plain(p + 1, end))
                p += *p == '\\' && p + 1 < end;
        return p < end ? p + 1 : NULL;
}

/* On the way to the end of an array or object, by brackets and quotes alone. */
struct passage {
        size_t depth;
        bool in_string, escaped; /* escaped: the next byte of the string stands for itself */
};

/* Passes one byte; true if the value ends with it. */
static inline bool pass_byte(struct passage *w, char c)
{
        if (w->escaped) {
                w->escaped = false;
        } else if (w->in_string) {
                w->escaped = c == '\\';
                w->in_string = c != '"';
        } else if (c == '"') {
                w->in_string = true;
        } else if (c == '{' || c == '[') {
                w->depth++;
        } else if (c == '}' || c == ']') {
                return --w->depth == 0;
        }
        return false;
}

/* Behind the value if it ends in these bytes, else NULL. */
static const char *pass_bytes(struct passage *w, const char *p, const char *end)
{
        while (p < end)
                if (pass_byte(w, *p++))
                        return p;
        return NULL;
}

#ifdef __SSE2__
enum { BLOCK = 64 };

/* A bit for each byte of a block. */
struct marks {
        uint64_t quote, backslash, open, close;
};

static inline uint64_t bits_of(__m128i hit, int at)
{
        return (uint64_t)(unsigned)_mm_movemask_epi8(hit) << at;
}

static inline struct marks marks_of(const char *p)
{
        struct marks m = { 0 };
        for (int at = 0; at < BLOCK; at += 16) {
                __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(p + at));
                __m128i folded = _mm_or_si128(bytes, _mm_set1_epi8(0x20)); /* [ and ] become { and } */
                m.quote |= bits_of(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')), at);
                m.backslash |= bits_of(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')), at);
                m.open |= bits_of(_mm_cmpeq_epi8(folded, _mm_set1_epi8('{')), at);
                m.close |= bits_of(_mm_cmpeq_epi8(folded, _mm_set1_epi8('}')), at);
        }
        return m;
}

/* The bytes behind a backslash that is not itself behind one: of a run every second. *escaped: the first byte
 * is such a one, then the first of the next block is. */
static inline uint64_t escaped_bytes(uint64_t backslash, bool *escaped)
{
        const uint64_t even = UINT64_C(0x5555555555555555);
        uint64_t behind, odd_runs, sum;
        backslash &= ~(uint64_t)*escaped;
        behind = backslash << 1 | (uint64_t)*escaped;
        odd_runs = backslash & ~even & ~behind;
        *escaped = __builtin_add_overflow(odd_runs, backslash, &sum);
        return (even ^ sum << 1) & behind;
}

/* For each byte whether the number of marks up to and with it is odd. */
static inline uint64_t odd_so_far(uint64_t marks)
{
        for (int n = 1; n < BLOCK; n *= 2)
                marks ^= marks << n;
        return marks;
}

/* The same for a block. */
static const char *pass_block(struct passage *w, const char *p)
{
        struct marks m = marks_of(p);
        struct passage before = *w;
        if (m.backslash || w->escaped)
                m.quote &= ~escaped_bytes(m.backslash, &w->escaped);
        uint64_t inside = odd_so_far(m.quote) ^ -(uint64_t)w->in_string;
        /* A backslash outside strings, where there is none, says nothing of what follows. */
        if (m.backslash & ~inside) {
                *w = before;
                return pass_bytes(w, p, p + BLOCK);
        }
        w->in_string = inside >> 63;
        m.open &= ~inside;
        m.close &= ~inside;
        size_t closed = (size_t)__builtin_popcountll(m.close);
        if (closed < w->depth) {
                w->depth += (size_t)__builtin_popcountll(m.open) - closed;
                return NULL;
        }
        for (uint64_t both = m.open | m.close; both; both &= both - 1) {
                if (m.open & both & -both)
                        w->depth++;
                else if (--w->depth == 0)
                        return p + __builtin_ctzll(both) + 1;
        }
        return NULL;
}
#endif

/* Behind the array or object that begins at p; NULL if it does not end. */
static const char *behind_container(const char *p, const char *end)
{
        struct passage w = { 0 };
#ifdef __SSE2__
        for (; end - p >= BLOCK; p += BLOCK) {
                const char *behind = pass_block(&w, p);
                if (behind)
                        return behind;
        }
#endif
        return pass_bytes(&w, p, end);
}

int scan_skip_unchecked(struct scanner *s, struct slice *ret)
{
        if (s->problem)
                return ERR_INVALID;
        s->at = skip_space(s->at, s->end);
        if (s->at < s->end && s->expect == EXPECT_COMMA_OR_CLOSE && read_separator(s) != SCAN_END)
                return fail(s, s->at, "expected a value"), ERR_INVALID;
        const char *start = s->at, *behind = start;
        if (start < s->end && *start == '"') {
                behind = behind_string(start, s->end);
        } else if (start < s->end && (*start == '{' || *start == '[')) {
                behind = behind_container(start, s->end);
        } else {
                while (behind < s->end && !strchr(",]} \t\r\n", *behind))
                        behind++;
        }
        if (!behind || behind == start)
                return fail(s, start, "expected a value"), ERR_INVALID;
        s->at = behind;
        value_done(s);
        if (ret)
                *ret = (struct slice){ start, (size_t)(behind - start) };
        return 0;
}

size_t scan_decode(struct slice raw, char *ret)
{
        const char *p = raw.data, *end = raw.data + raw.len;
        char *out = ret;
        while (p < end) {
                const char *backslash = memchr(p, '\\', (size_t)(end - p));
                size_t plain = (size_t)((backslash ? backslash : end) - p);
                memcpy(out, p, plain);
                out += plain;
                p += plain;
                if (p == end)
                        break;
                uint32_t c = 0;
                size_t n = read_escape(p + 1, end, &c);
                ASSERT(n);
                out += rune_encode(c, out);
                p += n + 1;
        }
        return (size_t)(out - ret);
}

const char *scan_string(struct scanner *s, struct arena *arena, size_t *ret_len)
{
        size_t len = s->text.len;
        char *text = arena_strndup(arena, s->text.data, len);
        if (!text)
                return NULL;
        if (s->escaped) {
                len = scan_decode(s->text, text);
                text[len] = '\0';
        }
        if (ret_len)
                *ret_len = len;
        return text;
}

bool scan_key_is(const struct scanner *s, const char *name)
{
        if (!s->escaped)
                return slice_is(s->text, name);
        const char *p = s->text.data, *end = p + s->text.len;
        while (p < end) {
                uint32_t c = 0;
                char bytes[4] = { *p };
                size_t n = *p == '\\' ? read_escape(p + 1, end, &c) + 1 : 1;
                size_t len = *p == '\\' ? rune_encode(c, bytes) : 1;
                if (strnlen(name, len) < len || memcmp(name, bytes, len) != 0)
                        return false;
                name += len;
                p += n;
        }
        return *name == '\0';
}

bool scan_number(struct slice text, int64_t *ret, double *ret_real)
{
        if (slice_parse_i64(text, ret))
                return true;
        char copy[NUMBER_MAX + 1]; /* strtod needs a NUL */
        size_t n = MIN(text.len, (size_t)NUMBER_MAX);
        memcpy(copy, text.data, n);
        copy[n] = '\0';
        *ret_real = strtod(copy, NULL);
        return false;
}

int scan_error(const struct scanner *s, struct error *err)
{
        if (!s->problem)
                return error_set(err, ERR_INVALID, "no error");
        if (s->problem == too_deep)
                return error_set(err, ERR_LIMIT,
                                 "JSON is nested deeper than %d levels (LIMIT_JSON_DEPTH) at byte %zu",
                                 LIMIT_JSON_DEPTH, (size_t)(s->at - s->begin));
        return error_set(err, ERR_INVALID, "invalid JSON at byte %zu: %s", (size_t)(s->at - s->begin),
                         s->problem);
}

size_t scan_count_values(struct slice text)
{
        struct scanner s;
        enum scan_token t;
        size_t n = 0;

        scan_init(&s, text);
        while ((t = scan_next(&s)) > SCAN_END)
                n += t != SCAN_OBJECT_END && t != SCAN_ARRAY_END && t != SCAN_KEY;
        return n;
}
