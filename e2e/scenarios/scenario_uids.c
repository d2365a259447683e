/* Owner references in recorded objects: a recording cannot know the uids of the run it is played in. */
#include "common/json/doc.h"
#include "e2e/scenarios/scenario.h"

#define TEXT_MAX (4u << 20)
#define OPENING "$UID("

static const json_t *find(const json_t *remembered, struct slice name)
{
        const json_t *one;
        size_t i;

        json_array_foreach((json_t *)remembered, i, one) {
                char key[600];

                snprintf(key, sizeof(key), "%s/%s/%s", doc_get_string(one, "cluster"),
                         doc_get_string(one, "kind"), doc_get_string(one, "name"));
                if (slice_is(name, key))
                        return one;
        }
        return NULL;
}

/* Neither uids nor what names them holds anything that JSON escapes, so the text is edited as it stands. */
static int fill(struct slice text, const json_t *remembered, struct buf *out, struct error *err)
{
        size_t at = 0;

        while (at < text.len) {
                const char *opening = memmem(text.data + at, text.len - at, OPENING, strlen(OPENING)), *close;
                const json_t *one;
                struct slice name;

                if (!opening)
                        break;
                buf_append(out, text.data + at, (size_t)(opening - text.data) - at);
                name.data = opening + strlen(OPENING);
                close = memchr(name.data, ')', text.len - (size_t)(name.data - text.data));
                if (!close)
                        return error_set(err, ERR_INVALID, OPENING " without its )");
                name.len = (size_t)(close - name.data);
                one = find(remembered, name);
                if (!one)
                        return error_set(err, ERR_NOT_FOUND, OPENING "%.*s): no \"remember\" step noted it",
                                         (int)name.len, name.data);
                buf_append_str(out, doc_get_string(one, "uid"));
                at = (size_t)(close + 1 - text.data);
        }
        buf_append(out, text.data + at, text.len - at);
        return buf_status(out, err, "object with uids");
}

int scenario_fill_uids(const json_t *doc, const json_t *remembered, json_t **ret, struct error *err)
{
        struct buf text AUTO_BUF;
        struct buf filled AUTO_BUF;

        buf_init(&text, TEXT_MAX);
        buf_init(&filled, TEXT_MAX);
        if (doc_write(doc, &text) < 0)
                return buf_status(&text, err, "object");
        TRY(fill((struct slice){ text.data, text.len }, remembered, &filled, err));
        return doc_parse((struct slice){ filled.data, filled.len }, ret, err);
}
