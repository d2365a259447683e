#include "common/base/path.h"

static bool next_element(struct slice *rest, struct slice *ret)
{
        while (rest->len && rest->data[0] == '/')
                *rest = (struct slice){ rest->data + 1, rest->len - 1 };
        if (!rest->len)
                return false;
        slice_cut(rest, '/', ret);
        return true;
}

/* One step up: the last element goes, unless it is .. itself or there is none. */
static void step_up(struct buf *out, bool rooted, size_t *n_up)
{
        size_t floor = rooted ? 1 : *n_up ? 3 * *n_up - 1 : 0;

        if (out->len > floor) {
                while (out->len > floor && out->data[out->len - 1] != '/')
                        buf_truncate(out, out->len - 1);
                if (out->len > floor)
                        buf_truncate(out, out->len - 1);
                return;
        }
        if (rooted)
                return;
        buf_append_str(out, out->len ? "/.." : "..");
        ++*n_up;
}

void path_clean(struct slice path, struct buf *out)
{
        bool rooted = path.len && path.data[0] == '/';
        struct slice element;
        size_t n_up = 0;

        buf_append_str(out, rooted ? "/" : "");
        while (next_element(&path, &element)) {
                if (slice_is(element, "."))
                        continue;
                if (slice_is(element, "..")) {
                        step_up(out, rooted, &n_up);
                        continue;
                }
                buf_append_str(out, out->len > rooted ? "/" : "");
                buf_append(out, element.data, element.len);
        }
        buf_append_str(out, out->len ? "" : ".");
}
