#include "hub-agent/override/guard.h"

#include "hub-agent/common.h"

#define QUOTED_MAX 120 /* bytes of a path or value in a message, so that the reason behind it is not lost */

/* One reference token of a path, without the slash before it. */
static bool token_is(struct slice token, const char *word)
{
        return slice_equal(token, slice_of(word));
}

/* No token with an escape is compared equal: none of the fields' names has a slash or a tilde. */
static const char *why_not_path(const char *path)
{
        struct slice rest, token;
        bool more, blank;

        if (text_empty(path))
                return "path cannot be empty";
        if (path[0] != '/')
                return "path must start with /";
        rest = slice_of(path + 1);
        more = slice_cut(&rest, '/', &token);
        if (token_is(token, "kind") || token_is(token, "apiVersion"))
                return "cannot override typeMeta fields";
        if (token_is(token, "status"))
                return "cannot override status fields";
        if (token_is(token, "metadata")) {
                if (!more)
                        return "cannot override field metadata";
                more = slice_cut(&rest, '/', &token);
                if (!token_is(token, "labels") && !token_is(token, "annotations"))
                        return "cannot override metadata fields except annotations and labels";
        }
        for (blank = token.len == 0; more; blank = blank || token.len == 0)
                more = slice_cut(&rest, '/', &token);
        return blank ? "path cannot contain empty string" : NULL;
}

static const char *why_not(const struct json_patch_override *o)
{
        if (!text_equal(o->op, "add") && !text_equal(o->op, "remove") && !text_equal(o->op, "replace"))
                return "unsupported operation: must be add, remove or replace";
        return why_not_path(o->path);
}

static int quoted(size_t len)
{
        return (int)MIN(len, (size_t)QUOTED_MAX);
}

int override_check_operation(const struct json_patch_override *o, struct error *err)
{
        const char *why = why_not(o), *path = or_empty(o->path), *op = or_empty(o->op);

        if (!why)
                return 0;
        return error_set(err, ERR_INVALID, "invalid JSONPatchOverride {%.*s %.*s {%.*s}}: %s",
                         quoted(strlen(op)), op, quoted(strlen(path)), path, quoted(o->value.len),
                         o->value.data ? o->value.data : "", why);
}

static int keep(json_t *to, const char *key, const json_t *value)
{
        return value ? json_object_set_new(to, key, doc_copy(value)) : 0;
}

json_t *override_identity(const json_t *manifest)
{
        static const char *const parts[] = { "apiVersion", "kind", "status" };
        AUTO_JSON json_t *identity = json_object(), *meta = json_object();
        json_t *value, *metadata = json_object_get(manifest, "metadata");
        const char *key;

        for (size_t i = 0; i < ARRAY_LEN(parts); i++)
                if (keep(identity, parts[i], json_object_get(manifest, parts[i])) < 0)
                        return NULL;
        if (!json_is_object(metadata))
                return keep(identity, "metadata", metadata) < 0 ? NULL : json_incref(identity);
        json_object_foreach(metadata, key, value)
                if (!text_equal(key, "labels") && !text_equal(key, "annotations") &&
                    keep(meta, key, value) < 0)
                        return NULL;
        return json_object_set(identity, "metadata", meta) < 0 ? NULL : json_incref(identity);
}

int override_check_identity(const json_t *identity, const json_t *result, struct error *err)
{
        AUTO_JSON json_t *now = override_identity(result);

        if (!now)
                return error_no_memory(err);
        if (json_is_object(result) && doc_equal(identity, now))
                return 0;
        return error_set(err, ERR_INVALID,
                         "overrides must leave apiVersion, kind, status and metadata but labels and "
                         "annotations as they are");
}
