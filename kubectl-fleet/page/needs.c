/* What views ask of their needs, arguments and stamps. */
#include "common/base/map.h"
#include "kubectl-fleet/page/view.h"

static bool is_listed(const struct kind *kind)
{
        for (const struct kind *const *k = page_kinds; *k; k++)
                if (*k == kind)
                        return true;
        return false;
}

int page_needs_add(struct page_needs *n, struct fetch f, struct error *err)
{
        ASSERT(is_listed(f.kind)); /* in a pod the page has no right to others */
        if (n->n == PAGE_NEEDS_MAX)
                return error_set(err, ERR_LIMIT, "a view reads at most %d lists", PAGE_NEEDS_MAX);
        n->at[n->n++] = (struct page_need){ .fetch = f };
        return 0;
}

int page_needs_add_all(struct page_needs *n, const struct fetch *f, size_t count, struct error *err)
{
        for (size_t i = 0; i < count; i++)
                TRY(page_needs_add(n, f[i], err));
        return 0;
}

const struct page_need *page_need_of(const struct page_look *l, const struct kind *kind, size_t nth)
{
        for (size_t i = 0; l->needs && i < l->needs->n; i++)
                if (l->needs->at[i].fetch.kind == kind && nth-- == 0)
                        return &l->needs->at[i];
        return NULL;
}

int page_arg(const struct page_look *l, const char *name, const char **ret, struct error *err)
{
        const json_t *value = json_object_get(l->args, name);

        if (!value)
                return error_set(err, ERR_INVALID, "%s: is needed", name);
        if (!json_is_string(value))
                return error_set(err, ERR_INVALID, "%s: must be a string", name);
        if (json_string_length(value) == 0)
                return error_set(err, ERR_INVALID, "%s: must not be empty", name);
        *ret = json_string_value(value);
        return 0;
}

const char *page_arg_or(const struct page_look *l, const char *name, const char *fallback)
{
        const char *value = json_string_value(json_object_get(l->args, name));

        return text_empty(value) ? fallback : value;
}

uint64_t page_stamp_text(uint64_t stamp, const char *text)
{
        uint64_t h = text ? hash_bytes(text, strlen(text), stamp) : hash_bytes("", 0, ~stamp);

        return h ? h : 1;
}

uint64_t page_stamp(uint64_t stamp, const struct object *o)
{
        if (!o)
                return page_stamp_text(stamp, NULL);
        return page_stamp_text(page_stamp_text(stamp, o->meta.uid), o->meta.resource_version);
}
