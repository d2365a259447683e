#include "hub-agent/source/store/range.h"

#include "common/base/text.h"

#define UNIT "bytes="

/* False: neither a number nor nothing. */
static bool number(struct slice s, bool *ret_there, uint64_t *ret)
{
        char text[24];

        *ret_there = s.len > 0;
        if (!*ret_there)
                return true;
        if (s.len >= sizeof(text))
                return false;
        memcpy(text, s.data, s.len);
        text[s.len] = '\0';
        return text_parse_u64(text, ret);
}

enum range_answer range_of(const char *header, uint64_t size, struct byte_range *ret)
{
        struct slice rest, head;
        bool has_first, has_last;
        uint64_t first = 0, last = 0;

        if (!header || !text_starts_with(header, UNIT))
                return RANGE_WHOLE;
        rest = slice_trim(slice_of(header + strlen(UNIT)));
        if (memchr(rest.data, ',', rest.len) || !slice_cut(&rest, '-', &head) ||
            !number(head, &has_first, &first) || !number(rest, &has_last, &last) ||
            (!has_first && !has_last) || (has_first && has_last && last < first))
                return RANGE_WHOLE;
        if (!has_first) { /* that many at the end */
                if (last == 0 || size == 0)
                        return RANGE_OUTSIDE;
                *ret = (struct byte_range){ size - MIN(last, size), MIN(last, size) };
                return RANGE_PART;
        }
        if (first >= size)
                return RANGE_OUTSIDE;
        last = has_last ? MIN(last, size - 1) : size - 1;
        *ret = (struct byte_range){ first, last - first + 1 };
        return RANGE_PART;
}
