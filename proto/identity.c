/* Which object a text is about, when the rest of it cannot be decoded. */
#include "proto/codec.h"

/* One member of the metadata, whose key was just read. */
static int read_name(struct decoder *d, struct object_meta *m)
{
        const struct {
                const char *key, **to;
        } wanted[] = { { "name", &m->name },
                       { "namespace", &m->ns },
                       { "uid", &m->uid },
                       { "resourceVersion", &m->resource_version } };
        for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
                if (!scan_key_is(&d->scan, wanted[i].key))
                        continue;
                if (scan_next(&d->scan) != SCAN_STRING)
                        return error_set(d->err, ERR_INVALID, "metadata.%s: must be a string", wanted[i].key);
                return decode_text(d, false, wanted[i].to);
        }
        return scan_skip_unchecked(&d->scan, NULL) < 0 ? decode_failed(d) : 0;
}

static int read_metadata(struct decoder *d, struct object_meta *m)
{
        enum scan_token t = scan_next(&d->scan);
        if (t != SCAN_OBJECT)
                return error_set(d->err, ERR_INVALID, "metadata: must be an object");
        while ((t = scan_next(&d->scan)) == SCAN_KEY)
                TRY(read_name(d, m));
        return t == SCAN_OBJECT_END ? 0 : decode_failed(d);
}

static int read_object(struct decoder *d, struct object_meta *m)
{
        enum scan_token t = scan_next(&d->scan);
        if (t != SCAN_OBJECT)
                return error_set(d->err, ERR_INVALID, "must be an object");
        while ((t = scan_next(&d->scan)) == SCAN_KEY) {
                if (scan_key_is(&d->scan, "metadata"))
                        TRY(read_metadata(d, m));
                else if (scan_skip_unchecked(&d->scan, NULL) < 0)
                        return decode_failed(d);
        }
        if (t != SCAN_OBJECT_END)
                return decode_failed(d);
        return text_empty(m->name) ? error_set(d->err, ERR_INVALID, "metadata.name: is missing") : 0;
}

int decode_identity(const struct kind *kind, struct slice json, struct object **ret, struct error *err)
{
        AUTO_ARENA struct arena scratch = ARENA_INIT;
        struct object *o = object_new(kind, NULL, NULL, &scratch);
        struct decoder d;
        if (!o)
                return error_no_memory(err);
        TRY(decoder_init(&d, json, DECODE_PROJECTION, NULL, &scratch, err));
        TRY(read_object(&d, &o->meta));
        struct owned own = { 0 };
        struct object *copy = object_compact(o, &own, NULL);
        if (!copy)
                return error_no_memory(err);
        *ret = copy;
        return 0;
}
