#include "hub-agent/input-provider/ref.h"

#include "common/base/digest.h"

#define SLUG_BYTES 63

void input_id(const char *text, char ret[INPUT_ID_SIZE])
{
        snprintf(ret, INPUT_ID_SIZE, "%u", adler32_sum(text, strlen(text)));
}

static bool is_letter_or_digit(char c)
{
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

char *input_slug(struct arena *arena, const char *name)
{
        char *slug = arena_strndup(arena, name, MIN(strlen(name), (size_t)SLUG_BYTES)), *end;

        if (!slug)
                return NULL;
        for (char *c = slug; *c; c++) {
                if (*c >= 'A' && *c <= 'Z')
                        *c = (char)(*c + 32);
                else if (!is_letter_or_digit(*c))
                        *c = '-';
        }
        slug += strspn(slug, "-");
        for (end = slug + strlen(slug); end > slug && end[-1] == '-'; end--)
                end[-1] = 0;
        return slug;
}

static int put_labels(json_t *o, const struct input_ref *r)
{
        AUTO_JSON json_t *labels = json_array();

        for (size_t i = 0; i < r->n_labels; i++)
                if (!labels || json_array_append_new(labels, json_string(r->labels[i])) < 0)
                        return ERR_NO_MEMORY;
        return r->n_labels == 0 || json_object_set(o, "labels", labels) == 0 ? 0 : ERR_NO_MEMORY;
}

json_t *input_ref_export(const struct input_ref *r)
{
        const struct {
                const char *key, *value;
        } fields[] = {
                { "sha", r->sha },       { "branch", r->branch }, { "tag", r->tag },
                { "digest", r->digest }, { "author", r->author }, { "title", r->title },
                { "slug", r->slug },
        };
        AUTO_JSON json_t *o = json_pack("{s:s}", "id", r->id);

        if (!o || put_labels(o, r) < 0)
                return NULL;
        for (size_t i = 0; i < ARRAY_LEN(fields); i++)
                if (!text_empty(fields[i].value) &&
                    json_object_set_new(o, fields[i].key, json_string(fields[i].value)) < 0)
                        return NULL;
        return TAKE_PTR(o);
}

bool input_ref_has_label(const struct input_ref *r, const char *label)
{
        return text_in(label, r->labels, r->n_labels);
}
