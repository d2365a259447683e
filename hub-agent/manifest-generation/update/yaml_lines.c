/* Lines of a text, and which of them belong to a part. */
#include "hub-agent/manifest-generation/update/yaml_edit_internal.h"

static bool is_break(char c)
{
        return c == '\n' || c == '\r';
}

size_t edit_line_start(struct slice text, size_t at)
{
        while (at > 0 && !is_break(text.data[at - 1]))
                at--;
        return at;
}

size_t edit_line_end(struct slice text, size_t at)
{
        while (at < text.len && !is_break(text.data[at]))
                at++;
        return at;
}

size_t edit_behind_break(struct slice text, size_t at)
{
        if (at + 1 < text.len && text.data[at] == '\r' && text.data[at + 1] == '\n')
                return at + 2;
        return MIN(at + 1, text.len);
}

const char *edit_line_break(struct slice text)
{
        size_t at = edit_line_end(text, 0);

        if (at == text.len || text.data[at] == '\n')
                return "\n";
        return at + 1 < text.len && text.data[at + 1] == '\n' ? "\r\n" : "\r";
}

/* "|+" and ">2+": all line ends behind it count. */
static bool keeps_breaks(struct slice text, const struct yaml_part *part)
{
        for (size_t i = part->start; i < part->end && !is_break(text.data[i]) && text.data[i] != '#'; i++)
                if (text.data[i] == '+')
                        return true;
        return false;
}

size_t edit_content_end(struct slice text, const struct yaml_part *part)
{
        size_t end = part->end;

        if (part->style == YAML_PART_BLOCK && part->last)
                return edit_content_end(text, part->last);
        if ((part->style != YAML_PART_LITERAL && part->style != YAML_PART_FOLDED) || keeps_breaks(text, part))
                return end;
        while (end > part->start && (is_break(text.data[end - 1]) || text.data[end - 1] == ' '))
                end--;
        return end;
}

size_t edit_behind_lines(struct slice text, const struct yaml_part *part)
{
        size_t end = edit_content_end(text, part);

        if (end > part->start && is_break(text.data[end - 1]))
                return end;
        return edit_behind_break(text, edit_line_end(text, end));
}
