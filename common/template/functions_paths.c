/* Paths with slashes. */
#include "common/base/path.h"
#include "common/template/function_tools.h"

/* Without the last element, as it is cleaned. */
static struct slice parent(struct buf *out)
{
        while (out->len > 0 && out->data[out->len - 1] != '/')
                buf_truncate(out, out->len - 1);
        return (struct slice){ out->data, out->len };
}

static int call_clean(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        path_clean(args[0].string, run_scratch(run));
        return run_take_scratch(run, ret);
}

static int call_base(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        struct slice path = args[0].string;
        if (!path.len) {
                *ret = value_string(SLICE("."));
                return 0;
        }
        while (path.len && path.data[path.len - 1] == '/')
                path.len--;
        const char *slash = path.len ? memrchr(path.data, '/', path.len) : NULL;
        if (slash)
                path = (struct slice){ slash + 1, path.len - (size_t)(slash + 1 - path.data) };
        *ret = value_string(path.len ? path : SLICE("/"));
        return 0;
}

static int call_dir(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        AUTO_BUF struct buf all;
        buf_init(&all, run->scratch.max);
        buf_append(&all, args[0].string.data, args[0].string.len);
        TRY(run_check_buf(run, &all));
        path_clean(parent(&all), run_scratch(run));
        return run_take_scratch(run, ret);
}

static int call_ext(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        struct slice path = args[0].string;
        *ret = value_string(SLICE(""));
        for (size_t i = path.len; i-- > 0 && path.data[i] != '/';)
                if (path.data[i] == '.') {
                        *ret = value_string((struct slice){ path.data + i, path.len - i });
                        break;
                }
        return 0;
}

static int call_is_abs(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        *ret = value_bool(args[0].string.len && args[0].string.data[0] == '/');
        return 0;
}

static const struct function functions[] = {
        { "base", call_base, { TAKES_STRING } },    { "osBase", call_base, { TAKES_STRING } },
        { "dir", call_dir, { TAKES_STRING } },      { "osDir", call_dir, { TAKES_STRING } },
        { "clean", call_clean, { TAKES_STRING } },  { "osClean", call_clean, { TAKES_STRING } },
        { "ext", call_ext, { TAKES_STRING } },      { "osExt", call_ext, { TAKES_STRING } },
        { "isAbs", call_is_abs, { TAKES_STRING } }, { "osIsAbs", call_is_abs, { TAKES_STRING } },
};

const struct function_table path_functions = { functions, ARRAY_LEN(functions) };
