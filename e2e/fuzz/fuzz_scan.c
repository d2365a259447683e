/* The scanner: skipping and stepping agree, documents are accepted only if the scanner accepts the text, and
 * decoded strings are UTF-8. */
#include "common/json/scan.h"
#include "e2e/fuzz/fuzz.h"

static bool step_through(struct slice text, struct arena *arena)
{
        struct scanner s;
        scan_init(&s, text);
        enum scan_token t;
        while ((t = scan_next(&s)) > SCAN_END) {
                size_t n;
                if (t != SCAN_KEY && t != SCAN_STRING)
                        continue;
                const char *decoded = scan_string(&s, arena, &n);
                ASSERT(decoded && n <= s.text.len && text_is_utf8(decoded, n));
                ASSERT(t != SCAN_KEY || memchr(decoded, '\0', n) || scan_key_is(&s, decoded));
        }
        return t == SCAN_END;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct slice text = input_of(data, size), raw = SLICE("");
        AUTO_ARENA struct arena arena = ARENA_INIT;
        bool stepped = step_through(text, &arena);
        struct scanner s;
        scan_init(&s, text);
        bool skipped = scan_skip(&s, &raw) == 0 && scan_next(&s) == SCAN_END;
        ASSERT(stepped == skipped);
        AUTO_JSON json_t *doc = parsed(text);
        ASSERT(!doc || stepped);
        return 0;
}
