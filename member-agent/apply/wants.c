#include "member-agent/apply/wants.h"

#include "common/json/scan.h"

/* Reads the string that comes next; anything else is passed over. */
static int take_text(struct scanner *s, struct arena *arena, const char **ret)
{
        struct scanner ahead = *s;

        if (scan_next(&ahead) != SCAN_STRING)
                return scan_skip(s, NULL);
        *s = ahead;
        *ret = scan_string(s, arena, NULL);
        return *ret ? 0 : ERR_NO_MEMORY;
}

static int take_metadata(struct scanner *s, struct arena *arena, struct object_name *o)
{
        struct scanner ahead = *s;
        enum scan_token token;

        if (scan_next(&ahead) != SCAN_OBJECT)
                return scan_skip(s, NULL);
        *s = ahead;
        while ((token = scan_next(s)) == SCAN_KEY) {
                if (scan_key_is(s, "name"))
                        TRY(take_text(s, arena, &o->name));
                else if (scan_key_is(s, "namespace"))
                        TRY(take_text(s, arena, &o->ns));
                else
                        TRY(scan_skip(s, NULL));
        }
        return token == SCAN_OBJECT_END ? 0 : ERR_INVALID;
}

static int take_manifest(struct slice text, struct arena *arena, struct object_name *o,
                         const char **ret_api_version)
{
        struct scanner s;
        enum scan_token token;

        scan_init(&s, text);
        if (scan_next(&s) != SCAN_OBJECT)
                return ERR_INVALID;
        while ((token = scan_next(&s)) == SCAN_KEY) {
                if (scan_key_is(&s, "apiVersion"))
                        TRY(take_text(&s, arena, ret_api_version));
                else if (scan_key_is(&s, "kind"))
                        TRY(take_text(&s, arena, &o->kind));
                else if (scan_key_is(&s, "metadata"))
                        TRY(take_metadata(&s, arena, o));
                else
                        TRY(scan_skip(&s, NULL));
        }
        return token == SCAN_OBJECT_END ? 0 : ERR_INVALID;
}

/* 0, ERR_NO_MEMORY, or ERR_INVALID: not the name of an object. */
static int name_of(struct slice text, struct arena *arena, struct object_name *ret)
{
        struct object_name o = { .group = "", .ns = "" };
        const char *api_version = NULL, *slash;
        int r = take_manifest(text, arena, &o, &api_version);

        if (r == ERR_NO_MEMORY)
                return r;
        if (r < 0 || text_empty(api_version) || text_empty(o.kind) || text_empty(o.name))
                return ERR_INVALID;
        slash = strchr(api_version, '/');
        if (slash && !(o.group = arena_strndup(arena, api_version, (size_t)(slash - api_version))))
                return ERR_NO_MEMORY;
        *ret = o;
        return 0;
}

int wants_of_work(const struct work *w, struct arena *arena, struct object_name **ret, size_t *ret_n,
                  struct error *err)
{
        static const struct raw_list none = { 0 };
        const struct raw_list *texts = w->spec && w->spec->workload ? &w->spec->workload->manifests : &none;
        struct object_name *all = ARENA_NEW_ARRAY(arena, struct object_name, texts->n + 1);
        size_t n = 0;

        if (!all)
                return error_no_memory(err);
        for (uint32_t i = 0; i < texts->n; i++) {
                int r = name_of(texts->at[i], arena, &all[n]);

                if (r == ERR_NO_MEMORY)
                        return error_no_memory(err);
                n += r == 0;
        }
        *ret = all;
        *ret_n = n;
        return 0;
}
