#include "hub-agent/input-provider/listing.h"

#include "common/base/limits.h"
#include "common/base/memory.h"

const struct listing_fields *listing_github_fields(enum listing_of what)
{
        static const struct listing_fields fields[] = {
                [LIST_BRANCHES] = { .name = "name", .sha = "commit.sha" },
                [LIST_TAGS] = { .name = "name", .sha = "commit.sha" },
                [LIST_REQUESTS] = { .number = "number",
                                    .name = "head.ref",
                                    .sha = "head.sha",
                                    .title = "title",
                                    .author = "user.login",
                                    .labels = "labels",
                                    .label_name = "name" },
        };

        return &fields[what];
}

/* ---- pages ---- */

int listing_enter_page(struct listing_pages *p, const char *url, struct arena *arena, struct error *err)
{
        if (!p->seen)
                p->seen = map_of_arena(arena);
        if (!p->seen)
                return error_no_memory(err);
        if (map_has(p->seen, url))
                return error_set(err, ERR_INVALID, "%s pagination returned a repeated page", p->words);
        if (map_count(p->seen) >= LIMIT_INPUT_PAGES)
                return error_set(err, ERR_LIMIT, "%s pagination exceeds maximum of %d pages", p->words,
                                 LIMIT_INPUT_PAGES);
        return map_put(p->seen, url, p) < 0 ? error_no_memory(err) : 0;
}

int listing_next_by_link(struct listing *l, const struct http_response *a, size_t n_items, const char **ret,
                         struct error *err)
{
        struct web_url u;

        TRY(web_url_parse(l->call.url, l->source->arena, &u, err));
        return web_url_next(&a->headers, &u, l->source->arena, ret, err);
}

const char *listing_with_query(struct arena *arena, const char *url, const char *key, const char *value)
{
        AUTO_BUF struct buf b;

        buf_init(&b, LIMIT_HEADER_BYTES);
        buf_printf(&b, "%s%c%s=", url, strchr(url, '?') ? '&' : '?', key);
        http_escape(&b, value);
        return b.failed ? NULL : arena_strndup(arena, b.data, b.len);
}

const char *listing_owner_and_repository(const struct web_url *u, struct arena *arena)
{
        const char *owner = u->path + 1, *slash = strchr(owner, '/');
        size_t n = slash ? strlen(slash + 1) : 0;

        if (!slash || slash == owner || n == 0)
                return NULL;
        if (slash[n] == '/')
                n--;
        if (n > 4 && strncmp(slash + 1 + n - 4, ".git", 4) == 0)
                n -= 4;
        if (n == 0 || memchr(slash + 1, '/', n))
                return NULL;
        return arena_printf(arena, "%.*s/%.*s", (int)(slash - owner), owner, (int)n, slash + 1);
}

/* ---- items ---- */

static const char *keep(struct arena *arena, const json_t *item, const char *path)
{
        const char *text = path ? doc_get_string(item, path) : NULL;

        return text ? arena_strdup(arena, text) : NULL;
}

static int read_labels(const struct listing *l, const json_t *item, struct input_ref *r, struct error *err)
{
        const json_t *labels = l->fields->labels ? doc_get_array(item, l->fields->labels) : NULL, *label;
        const char **at = ARENA_NEW_ARRAY(l->source->arena, const char *, json_array_size(labels) + 1);
        size_t i;

        if (!at)
                return error_no_memory(err);
        r->labels = at;
        json_array_foreach(labels, i, label) {
                const char *text = l->fields->label_name ? doc_get_string(label, l->fields->label_name)
                                                         : json_string_value(label);

                if (text && !(at[r->n_labels++] = arena_strdup(l->source->arena, text)))
                        return error_no_memory(err);
        }
        return 0;
}

static const char *id_of(const struct listing *l, const json_t *item, const char *name)
{
        char id[INPUT_ID_SIZE];

        if (l->fields->number)
                return arena_printf(l->source->arena, "%lld",
                                    (long long)doc_get_int(item, l->fields->number, 0));
        input_id(name, id);
        return arena_strdup(l->source->arena, id);
}

/* 1: it is one, 0: it is incomplete. */
static int read_item(const struct listing *l, const json_t *item, struct input_ref *ret, struct error *err)
{
        const struct listing_fields *f = l->fields;
        struct arena *arena = l->source->arena;
        const char *name = keep(arena, item, f->name);
        struct input_ref r = { .sha = keep(arena, item, f->sha),
                               .title = keep(arena, item, f->title),
                               .author = keep(arena, item, f->author) };

        if (name && f->name_prefix && text_starts_with(name, f->name_prefix))
                name += strlen(f->name_prefix);
        if (text_empty(name) || text_empty(r.sha) ||
            (f->number && !json_is_integer(doc_get(item, f->number))))
                return 0;
        r.id = id_of(l, item, name);
        *(l->what == LIST_TAGS ? &r.tag : &r.branch) = name;
        if (f->with_slug)
                r.slug = input_slug(arena, name);
        if (!r.id || (f->with_slug && !r.slug))
                return error_no_memory(err);
        TRY(read_labels(l, item, &r, err));
        *ret = r;
        return 1;
}

static int take_item(struct listing *l, const json_t *item, struct error *err)
{
        struct source *s = l->source;
        struct input_ref r;
        int is_one = read_item(l, item, &r, err);

        if (is_one <= 0)
                return is_one;
        int wanted = filter_takes_name(&s->filter, l->what == LIST_TAGS ? r.tag : r.branch);

        if (wanted < 0)
                return error_no_memory(err);
        if (!wanted || (l->what == LIST_REQUESTS && !l->fields->labels_are_asked_for &&
                        !filter_takes_labels(&s->filter, &r)))
                return 0;
        return vec_push(&s->refs, r) < 0 ? error_no_memory(err) : 0;
}

static bool is_full(const struct listing *l)
{
        return l->what != LIST_TAGS && l->source->refs.n >= l->source->filter.limit;
}

static int read_page(struct listing *l, struct http_response *a, size_t *ret_n, struct error *err)
{
        AUTO_JSON json_t *doc = NULL;
        json_t *items, *item;
        size_t i;

        TRY(source_call_json(l->source, &l->call, l->form, a, &doc, err));
        items = l->fields->items ? doc_get_array(doc, l->fields->items) : doc;
        if (!json_is_array(items))
                return error_set(err, ERR_INVALID, "%s: the answer is no list",
                                 or_empty(web_url_public(l->call.url, l->source->arena)));
        json_array_foreach(items, i, item) {
                if (is_full(l))
                        break;
                TRY(take_item(l, item, err));
        }
        *ret_n = json_array_size(items);
        return 0;
}

int listing_read(struct listing *l, struct error *err)
{
        struct listing_pages pages = { .words = l->words };
        struct source *s = l->source;

        while (l->call.url && !is_full(l)) {
                struct http_response a;
                const char *next = NULL;
                size_t n = 0;

                TRY(listing_enter_page(&pages, l->call.url, s->arena, err));
                TRY(read_page(l, &a, &n, err));
                l->n_pages++;
                l->n_items += n;
                TRY(l->next(l, &a, n, &next, err));
                l->call.url = next;
        }
        if (l->what == LIST_TAGS && filter_best_tags(&s->filter, s->refs.at, &s->refs.n) < 0)
                return error_no_memory(err);
        return 0;
}
