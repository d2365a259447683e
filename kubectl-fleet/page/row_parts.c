#include "kubectl-fleet/page/row_parts.h"

#include "hub-agent/common.h"

json_t *page_time(int64_t ms)
{
        return ms == TIME_NONE || ms == 0 ? json_null() : json_integer(ms);
}

const char *page_standing(enum standing s)
{
        static const char *const words[] = { [STANDING_WAITS] = "waits",
                                             [STANDING_BUSY] = "busy",
                                             [STANDING_DONE] = "done",
                                             [STANDING_FAILED] = "failed" };

        return words[s];
}

const char *page_standing_of(enum tone tone)
{
        return tone == TONE_GOOD   ? "done"
               : tone == TONE_BAD  ? "failed"
               : tone == TONE_BUSY ? "busy"
                                   : "waits";
}

/* ---- writing line by line ---- */

void page_begin(struct page_writer *w, struct arena *arena)
{
        *w = (struct page_writer){ .arena = arena, .doc = json_object() };
        w->failed = !w->doc;
}

void page_set(struct page_writer *w, const char *key, json_t *value)
{
        if (json_object_set_new(w->doc, key, value) < 0)
                w->failed = true;
}

void page_set_string(struct page_writer *w, const char *key, const char *value)
{
        page_set(w, key, json_string(or_empty(value)));
}

void page_set_text(struct page_writer *w, const char *key, const char *value, size_t max)
{
        if (!w->doc || page_put_text(w->arena, w->doc, key, value, max) < 0)
                w->failed = true;
}

/* "<" where canonical JSON has "\\u003c". NULL on no memory. */
static const char *readable(struct arena *arena, const char *json)
{
        static const struct {
                const char *escape;
                char c;
        } escapes[] = { { "\\u003c", '<' }, { "\\u003e", '>' }, { "\\u0026", '&' } };
        char *text = arena_strdup(arena, json), *to = text;

        while (text && *json) {
                size_t i = 0;

                while (i < ARRAY_LEN(escapes) && !text_starts_with(json, escapes[i].escape))
                        i++;
                if (i < ARRAY_LEN(escapes)) {
                        *to++ = escapes[i].c;
                        json += strlen(escapes[i].escape);
                        continue;
                }
                if (*json == '\\' && json[1])
                        *to++ = *json++; /* what it escapes is copied, too */
                *to++ = *json++;
        }
        if (text)
                *to = '\0';
        return text;
}

void page_set_json(struct page_writer *w, const char *key, const char *value)
{
        const char *text = readable(w->arena, value);

        page_set(w, key, text ? json_string(text) : NULL);
}

void page_set_number(struct page_writer *w, const char *key, int64_t value)
{
        page_set(w, key, json_integer(value));
}

void page_set_flag(struct page_writer *w, const char *key, bool value)
{
        if (value)
                page_set(w, key, json_true());
}

void page_append(struct page_writer *w, json_t *list, json_t *value)
{
        if (json_array_append_new(list, value) < 0)
                w->failed = true;
}

json_t *page_end(struct page_writer *w)
{
        json_t *doc = TAKE_PTR(w->doc);

        if (!w->failed)
                return doc;
        json_decref(doc);
        return NULL;
}

/* ---- pieces ---- */

int page_put_text(struct arena *arena, json_t *row, const char *key, const char *text, size_t max)
{
        size_t n = strlen(or_empty(text));
        char *shown, *bytes;

        if (n <= max)
                return json_object_set_new(row, key, json_stringn(or_empty(text), n)) < 0 ? ERR_NO_MEMORY : 0;
        shown = arena_alloc(arena, max + 1);
        bytes = arena_printf(arena, "%sBytes", key);
        if (!shown || !bytes)
                return ERR_NO_MEMORY;
        text_shorten(text, shown, max + 1);
        return json_object_set_new(row, key, json_string(shown)) < 0 ||
                               json_object_set_new(row, bytes, json_integer((json_int_t)n)) < 0
                       ? ERR_NO_MEMORY
                       : 0;
}

const char *page_message(const struct condition *c)
{
        if (!c || text_empty(c->message))
                return "";
        if (text_equal(c->type, CONDITION_OVERRIDDEN) && !text_equal(c->status, CONDITION_TRUE) &&
            strstr(c->message, "Secret"))
                return PAGE_HIDDEN_MESSAGE;
        return c->message;
}

json_t *page_condition_of(struct arena *arena, const struct condition *c, int64_t generation, bool secret)
{
        struct page_writer w;

        if (!c)
                return json_null();
        page_begin(&w, arena);
        page_set_string(&w, "type", c->type);
        page_set_string(&w, "status", c->status);
        page_set_text(&w, "reason", c->reason, PAGE_MESSAGE_BYTES);
        page_set_text(&w, "message",
                      secret && !text_empty(c->message) ? PAGE_HIDDEN_MESSAGE : page_message(c),
                      PAGE_MESSAGE_BYTES);
        page_set(&w, "since", page_time(c->last_transition_ms));
        page_set(&w, "current", json_boolean(c->observed_generation.value == generation));
        return page_end(&w);
}

json_t *page_condition(struct arena *arena, const struct condition *c, int64_t generation)
{
        return page_condition_of(arena, c, generation, false);
}

bool page_is_envelope(const char *kind)
{
        return text_equal(kind, ENVELOPE_RESOURCE) || text_equal(kind, ENVELOPE_CLUSTER_RESOURCE);
}

bool page_is_secret(const char *kind)
{
        return text_equal(kind, "Secret") || page_is_envelope(kind);
}

static json_t *envelope_of(const struct envelope_identifier *e)
{
        return json_pack("{s:s, s:s, s:s}", "kind", or_empty(e->type), "namespace", or_empty(e->ns), "name",
                         or_empty(e->name));
}

int page_put_identifier(json_t *row, const struct resource_identifier *id)
{
        const struct {
                const char *key, *value;
        } all[] = { { "group", id->group },
                    { "version", id->version },
                    { "kind", id->kind },
                    { "namespace", id->ns },
                    { "name", id->name } };

        for (size_t i = 0; i < ARRAY_LEN(all); i++)
                if (json_object_set_new(row, all[i].key, json_string(or_empty(all[i].value))) < 0)
                        return ERR_NO_MEMORY;
        return id->envelope && json_object_set_new(row, "envelope", envelope_of(id->envelope)) < 0
                       ? ERR_NO_MEMORY
                       : 0;
}

/* An empty value is how the API says that there is none. */
static void put_value(struct page_writer *w, const char *key, const char *value, bool secret)
{
        if (text_empty(value))
                page_set(w, key, json_null());
        else if (secret)
                page_set(w, key, json_pack("{s:b}", "hidden", 1));
        else
                page_set_text(w, key, value, PAGE_VALUE_BYTES);
}

static json_t *field_of(struct arena *arena, const struct patch_detail *f, bool secret)
{
        struct page_writer w;

        page_begin(&w, arena);
        page_set_text(&w, "path", f->path, PAGE_VALUE_BYTES);
        put_value(&w, "hub", f->value_in_hub, secret);
        put_value(&w, "member", f->value_in_member, secret);
        return page_end(&w);
}

int page_put_fields(struct arena *arena, json_t *row, const struct patch_detail_list *fields, bool secret)
{
        uint32_t n = MIN(fields->n, PAGE_FIELDS_MAX);
        AUTO_JSON json_t *list = json_array();

        for (uint32_t i = 0; i < n; i++)
                if (json_array_append_new(list, field_of(arena, &fields->at[i], secret)) < 0)
                        return ERR_NO_MEMORY;
        if (json_object_set(row, "fields", list) < 0 ||
            (n < fields->n && json_object_set_new(row, "fieldsTotal", json_integer(fields->n)) < 0) ||
            (secret && json_object_set_new(row, "hidden", json_true()) < 0))
                return ERR_NO_MEMORY;
        return 0;
}

static size_t shown_size(const char *text, size_t max)
{
        return MIN(strlen(or_empty(text)), max);
}

size_t page_fields_size(const struct patch_detail_list *fields)
{
        size_t n = 0;

        for (uint32_t i = 0; i < MIN(fields->n, PAGE_FIELDS_MAX); i++)
                n += 64 + shown_size(fields->at[i].path, PAGE_VALUE_BYTES) +
                     shown_size(fields->at[i].value_in_hub, PAGE_VALUE_BYTES) +
                     shown_size(fields->at[i].value_in_member, PAGE_VALUE_BYTES);
        return n;
}
