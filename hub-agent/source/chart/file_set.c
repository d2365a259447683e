#include "hub-agent/source/chart/file_set.h"

#include "common/base/path.h"
#include "common/base/vec.h"
#include "hub-agent/source/chart/archive.h"

#define PATH_BYTES 4096

/* ---- looking ---- */

static int by_path(const void *a, const void *b)
{
        return strcmp(((const struct set_file *)a)->path, ((const struct set_file *)b)->path);
}

const struct set_file *file_set_find(const struct file_set *s, const char *path)
{
        const struct set_file key = { .path = path };

        return s->n ? bsearch(&key, s->at, s->n, sizeof(*s->at), by_path) : NULL;
}

/* The first whose path is not below the text, as bytes. */
static size_t first_from(const struct file_set *s, const char *text)
{
        size_t low = 0, high = s->n;

        while (low < high) {
                size_t mid = low + (high - low) / 2;

                if (strcmp(s->at[mid].path, text) < 0)
                        low = mid + 1;
                else
                        high = mid;
        }
        return low;
}

struct file_set file_set_below(const struct file_set *s, const char *folder)
{
        char begin[PATH_BYTES + 2], end[PATH_BYTES + 2];
        size_t from, to, n = strlen(folder);

        if (n == 0)
                return *s;
        if (n > PATH_BYTES)
                return (struct file_set){ 0 };
        snprintf(begin, sizeof(begin), "%s/", folder);
        snprintf(end, sizeof(end), "%s0", folder); /* '0' follows '/' */
        from = first_from(s, begin);
        to = first_from(s, end);
        return (struct file_set){ from < to ? s->at + from : NULL, to - from };
}

int file_set_take(struct arena *arena, const struct file_set *s, const char *folder, struct file_set *ret)
{
        struct file_set below = file_set_below(s, folder);
        size_t cut = *folder ? strlen(folder) + 1 : 0;

        *ret = (struct file_set){ ARENA_NEW_ARRAY(arena, struct set_file, below.n + 1), below.n };
        if (!ret->at)
                return ERR_NO_MEMORY;
        for (size_t i = 0; i < below.n; i++) {
                ret->at[i] = below.at[i];
                ret->at[i].path += cut;
        }
        return 0;
}

/* ---- order ---- */

/* A later one of the same path goes behind: their place is told by the address they had. */
struct placed {
        struct set_file file;
        size_t place;
};

static int by_path_and_place(const void *a, const void *b)
{
        const struct placed *x = a, *y = b;
        int order = strcmp(x->file.path, y->file.path);

        return order ? order : x->place < y->place ? -1 : x->place > y->place;
}

static bool is_sorted(const struct file_set *s)
{
        for (size_t i = 1; i < s->n; i++)
                if (strcmp(s->at[i - 1].path, s->at[i].path) >= 0)
                        return false;
        return true;
}

int file_set_sort(struct file_set *s)
{
        struct placed *all;
        size_t n = 0;

        if (is_sorted(s))
                return 0;
        all = mem_calloc(s->n, sizeof(*all));
        if (!all)
                return ERR_NO_MEMORY;
        for (size_t i = 0; i < s->n; i++)
                all[i] = (struct placed){ s->at[i], i };
        qsort(all, s->n, sizeof(*all), by_path_and_place);
        for (size_t i = 0; i < s->n; i++)
                if (i + 1 == s->n || strcmp(all[i].file.path, all[i + 1].file.path) != 0)
                        s->at[n++] = all[i].file;
        s->n = n;
        mem_free(all);
        return 0;
}

/* ---- out of archives ---- */

struct unpacking {
        struct arena *arena;
        const char *(*name)(struct unpacking *u, const char *raw, struct error *err); /* NULL = refused */
        VEC(struct set_file) files;
        uint64_t kept;
        bool marks; /* byte order marks are dropped */
};

static const char *clean_name(struct unpacking *u, struct slice path, struct error *err)
{
        AUTO_BUF struct buf b;
        const char *name;

        buf_init(&b, PATH_BYTES);
        path_clean(path, &b);
        if (buf_status(&b, err, "a path in the archive") < 0)
                return NULL;
        name = arena_strndup(u->arena, b.data, b.len);
        if (!name)
                error_no_memory(err);
        return name;
}

static bool is_outside(const char *clean)
{
        return text_equal(clean, "..") || text_starts_with(clean, "../");
}

static bool names_a_drive(const char *path)
{
        char c = (char)(path[0] | 0x20);

        return c >= 'a' && c <= 'z' && path[1] == ':' && path[2] == '/';
}

/* Behind the first element; a name with backslashes is one of a system that separates by them. */
static const char *chart_name(struct unpacking *u, const char *raw, struct error *err)
{
        char separator = strchr(raw, '\\') ? '\\' : '/';
        const char *rest = strchr(raw, separator), *name;
        char *path = arena_strdup(u->arena, rest ? rest + 1 : "");

        if (!path) {
                error_no_memory(err);
                return NULL;
        }
        for (char *c = path; *c; c++)
                if (*c == separator)
                        *c = '/';
        if (*path == '/')
                return error_set(err, ERR_INVALID, "chart illegally contains absolute paths"), NULL;
        name = clean_name(u, slice_of(path), err);
        if (!name)
                return NULL;
        if (text_equal(name, "."))
                error_set(err, ERR_INVALID,
                          "chart illegally contains content outside the base directory: \"%s\"", raw);
        else if (is_outside(name))
                error_set(err, ERR_INVALID, "chart illegally references parent directory");
        else if (names_a_drive(name))
                error_set(err, ERR_INVALID, "chart contains illegally named files");
        else if ((size_t)(rest - raw) == strlen("Chart.yaml") && text_starts_with(raw, "Chart.yaml"))
                error_set(err, ERR_INVALID, "chart yaml not in base directory");
        else
                return name;
        return NULL;
}

static size_t depth_of(const char *path)
{
        size_t n = 1;

        for (; *path; path++)
                n += *path == '/';
        return n;
}

static const char *source_name(struct unpacking *u, const char *raw, struct error *err)
{
        const char *name;

        if (*raw == '/' || strchr(raw, '\\'))
                return error_set(err, ERR_INVALID,
                                 "the archive has \"%s\", which is no relative path with slashes", raw),
                       NULL;
        name = clean_name(u, slice_of(raw), err);
        if (!name)
                return NULL;
        if (is_outside(name) || text_equal(name, "."))
                return error_set(err, ERR_INVALID, "the archive has \"%s\", which leads outside of it", raw),
                       NULL;
        if (depth_of(name) > FILE_SET_DEPTH)
                return error_set(err, ERR_LIMIT, "the archive has \"%s\", which is deeper than %d folders",
                                 raw, FILE_SET_DEPTH),
                       NULL;
        return name;
}

static int take_file(void *ctx, const struct archive_file *f, struct error *err)
{
        struct unpacking *u = ctx;
        struct set_file file = {
                .data = f->data, .size = f->size, .executable = f->executable, .modified_s = f->modified_s
        };

        file.path = u->name(u, f->name, err);
        if (!file.path)
                return err->code;
        u->kept += f->data.len;
        if (u->kept > FILE_SET_KEPT_BYTES)
                return error_set(err, ERR_LIMIT, "the archive has more than %u bytes of files, at \"%s\"",
                                 FILE_SET_KEPT_BYTES, f->name);
        if (u->marks && slice_starts_with(file.data, "\xef\xbb\xbf")) {
                file.data = (struct slice){ file.data.data + 3, file.data.len - 3 };
                file.size -= 3;
        }
        return vec_push(&u->files, file) < 0 ? error_no_memory(err) : 0;
}

static int unpack(struct unpacking *u, struct slice archive, const struct archive_limits *limits,
                  struct file_set *ret, struct error *err)
{
        int code = archive_read_files(u->arena, archive, limits, take_file, u, err);
        size_t n = u->files.n;

        *ret = (struct file_set){ ARENA_NEW_ARRAY(u->arena, struct set_file, n + 1), n };
        if (code == 0 && !ret->at)
                code = error_no_memory(err);
        if (code == 0 && n > 0)
                memcpy(ret->at, u->files.at, n * sizeof(*ret->at));
        if (code == 0 && file_set_sort(ret) < 0)
                code = error_no_memory(err);
        vec_free(&u->files);
        return code;
}

int file_set_of_chart(struct arena *arena, struct slice archive, uint64_t file_bytes, struct file_set *ret,
                      struct error *err)
{
        const struct archive_limits limits = { FILE_SET_CHART_BYTES, file_bytes, file_bytes,
                                               FILE_SET_ENTRIES };
        struct unpacking u = { .arena = arena, .name = chart_name, .marks = true };
        struct error own = { 0 };
        int code = unpack(&u, archive, &limits, ret, err ? err : &own);

        if (code == 0 && ret->n == 0)
                return error_set(err, ERR_INVALID, "no files in chart archive");
        return code;
}

int file_set_of_source(struct arena *arena, struct slice archive, struct file_set *ret, struct error *err)
{
        const struct archive_limits limits = { FILE_SET_SOURCE_BYTES, FILE_SET_SOURCE_BYTES,
                                               FILE_SET_FILE_BYTES, FILE_SET_ENTRIES };
        struct unpacking u = { .arena = arena, .name = source_name };
        struct error own = { 0 };

        return unpack(&u, archive, &limits, ret, err ? err : &own);
}
