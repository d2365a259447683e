/* YAML that is too large to be held, seen in parts. */
#include "common/base/memory.h"
#include "common/json/yaml_reader.h"

static int walk_value(struct yaml_reader *r, const struct doc_walk *w, size_t depth, struct slice key);

static int walk_sequence(struct yaml_reader *r, const struct doc_walk *w, size_t depth)
{
        for (;;) {
                TRY(yaml_next(r));
                if (r->event.type == YAML_SEQUENCE_END_EVENT)
                        return 0;
                TRY(walk_value(r, w, depth, SLICE("")));
        }
}

static int walk_member(struct yaml_reader *r, const struct doc_walk *w, struct map *seen, size_t depth)
{
        AUTO_JSON json_t *key = NULL;
        AUTO_FREE char *own = NULL;
        char number[64];
        struct slice name;

        if (r->event.type != YAML_SCALAR_EVENT || yaml_is_merge_key(&r->event))
                return yaml_fail(
                        r, "a key must be a scalar, and no merge key, in a mapping that is read in parts");
        r->values = r->bytes = 0;
        TRY(yaml_read_value(r, &key));
        TRY(yaml_key_text(r, key, number, &name));
        own = mem_strndup(name.data, name.len);
        if (!own)
                return error_no_memory(r->err);
        if (map_get(seen, own))
                return error_set(r->err, ERR_INVALID, "yaml: line %zu: key \"%.200s\" already set in map",
                                 r->event.start_mark.line + 1, own);
        if (w->most_keys && map_count(seen) >= w->most_keys)
                return error_set(r->err, ERR_LIMIT,
                                 "yaml: line %zu: more than %zu keys in a mapping that is read in parts",
                                 r->event.start_mark.line + 1, w->most_keys);
        if (map_put(seen, own, r) < 0)
                return error_no_memory(r->err);
        TRY(yaml_next(r));
        return walk_value(r, w, depth, slice_of(own));
}

static int walk_mapping(struct yaml_reader *r, const struct doc_walk *w, size_t depth)
{
        struct map seen;
        int code;

        map_init(&seen, MAP_OWN_KEYS, NULL);
        for (;;) {
                code = yaml_next(r);
                if (code < 0 || r->event.type == YAML_MAPPING_END_EVENT)
                        break;
                code = walk_member(r, w, &seen, depth);
                if (code < 0)
                        break;
        }
        map_free(&seen);
        return code;
}

/* The current event begins it. */
static int walk_value(struct yaml_reader *r, const struct doc_walk *w, size_t depth, struct slice key)
{
        bool mapping = r->event.type == YAML_MAPPING_START_EVENT;
        AUTO_JSON json_t *value = NULL;

        if ((mapping || r->event.type == YAML_SEQUENCE_START_EVENT) && w->enters(w->ctx, depth, key)) {
                TRY(mapping ? walk_mapping(r, w, depth + 1) : walk_sequence(r, w, depth + 1));
                return w->leaves(w->ctx, depth, key, r->err);
        }
        r->values = r->bytes = 0;
        TRY(yaml_read_value(r, &value));
        return w->takes(w->ctx, depth, key, value, r->err);
}

static int walk_stream(struct yaml_reader *r, const struct doc_walk *w)
{
        do {
                TRY(yaml_next(r));
                if (r->event.type == YAML_STREAM_END_EVENT)
                        return 0;
        } while (r->event.type != YAML_DOCUMENT_START_EVENT);
        TRY(yaml_next(r));
        if (r->event.type == YAML_MAPPING_START_EVENT)
                TRY(walk_mapping(r, w, 1));
        else if (r->event.type != YAML_SCALAR_EVENT || r->event.data.scalar.length > 0)
                return yaml_fail(r, "not a mapping");
        do
                TRY(yaml_next(r));
        while (r->event.type == YAML_DOCUMENT_END_EVENT);
        return r->event.type == YAML_STREAM_END_EVENT ? 0 : yaml_fail(r, "more than one document");
}

int yaml_walk(struct slice text, const struct doc_walk *w, struct error *err)
{
        struct error own = { 0 };
        struct yaml_reader r;
        int code;

        TRY(yaml_open_reader(&r, text, err ? err : &own));
        r.most_values = w->most_values;
        r.most_bytes = w->most_bytes;
        code = walk_stream(&r, w);
        yaml_close_reader(&r);
        return code;
}
