#include "hub-agent/go_text.h"

#include "common/json/doc.h"
#include "hub-agent/common.h"

void go_put_string(struct buf *b, const char *s)
{
        doc_append_string(b, s, strlen(s));
}

void go_put_key(struct buf *b, const char *key)
{
        if (b->len && b->data[b->len - 1] != '{')
                buf_append_char(b, ',');
        buf_printf(b, "\"%s\":", key);
}

void go_put_field(struct buf *b, const char *key, const char *value, bool always)
{
        if (text_empty(value) && !always)
                return;
        go_put_key(b, key);
        go_put_string(b, or_empty(value));
}

void go_put_strings(struct buf *b, const char *key, const struct string_list *l, bool always)
{
        if (l->n == 0 && !always)
                return;
        go_put_key(b, key);
        buf_append_char(b, '[');
        for (uint32_t i = 0; i < l->n; i++) {
                if (i)
                        buf_append_char(b, ',');
                go_put_string(b, l->at[i]);
        }
        buf_append_char(b, ']');
}

static void put_labels(struct buf *b, const struct string_map *labels)
{
        go_put_key(b, "matchLabels");
        for (uint32_t i = 0; i < labels->n; i++) { /* sorted by key, as Go does it */
                buf_append_char(b, i ? ',' : '{');
                go_put_string(b, labels->at[i].key);
                buf_append_char(b, ':');
                go_put_string(b, labels->at[i].value);
        }
        buf_append_char(b, '}');
}

static void put_requirement(struct buf *b, const struct label_requirement *r)
{
        buf_append_char(b, '{');
        go_put_field(b, "key", r->key, true);
        go_put_field(b, "operator", r->operator, true);
        go_put_strings(b, "values", &r->values, false);
        buf_append_char(b, '}');
}

void go_put_label_selector(struct buf *b, const struct label_selector *s)
{
        go_put_key(b, "labelSelector");
        buf_append_char(b, '{');
        if (s->match_labels.n)
                put_labels(b, &s->match_labels);
        if (s->match_expressions.n) {
                go_put_key(b, "matchExpressions");
                for (uint32_t i = 0; i < s->match_expressions.n; i++) {
                        buf_append_char(b, i ? ',' : '[');
                        put_requirement(b, &s->match_expressions.at[i]);
                }
                buf_append_char(b, ']');
        }
        buf_append_char(b, '}');
}

static void put_property_selector(struct buf *b, const struct property_selector *s)
{
        go_put_key(b, "propertySelector");
        buf_append_str(b, "{\"matchExpressions\":[");
        for (uint32_t i = 0; i < s->match_expressions.n; i++) {
                const struct property_requirement *r = &s->match_expressions.at[i];

                buf_append_str(b, i ? ",{" : "{");
                go_put_field(b, "name", r->name, true);
                go_put_field(b, "operator", r->operator, true);
                go_put_strings(b, "values", &r->values, true);
                buf_append_char(b, '}');
        }
        buf_append_str(b, "]}");
}

void go_put_term(struct buf *b, const struct cluster_selector_term *t)
{
        buf_append_char(b, '{');
        if (t && t->label_selector)
                go_put_label_selector(b, t->label_selector);
        if (t && t->property_selector)
                put_property_selector(b, t->property_selector);
        if (t && t->property_sorter) {
                go_put_key(b, "propertySorter");
                buf_append_char(b, '{');
                go_put_field(b, "name", t->property_sorter->name, true);
                go_put_field(b, "sortOrder", t->property_sorter->sort_order, true);
                buf_append_char(b, '}');
        }
        buf_append_char(b, '}');
}

void go_put_cluster_selector(struct buf *b, const struct cluster_selector *s)
{
        buf_append_str(b, "{\"clusterSelectorTerms\":[");
        for (uint32_t i = 0; i < s->terms.n; i++) {
                if (i)
                        buf_append_char(b, ',');
                go_put_term(b, &s->terms.at[i]);
        }
        buf_append_str(b, "]}");
}

void go_put_raw(struct buf *b, struct slice json)
{
        bool quoted = false, escaped = false;

        for (size_t i = 0; i < json.len; i++) {
                unsigned char c = (unsigned char)json.data[i];

                if (!quoted && (c == ' ' || c == '\t' || c == '\n' || c == '\r'))
                        continue;
                if (c == '<' || c == '>' || c == '&')
                        buf_printf(b, "\\u%04x", c);
                else if (json.len - i >= 3 && memcmp(json.data + i, "\xe2\x80", 2) == 0 &&
                         ((unsigned char)json.data[i + 2] & 0xfe) == 0xa8)
                        buf_printf(b, "\\u202%x", (unsigned char)json.data[i += 2] & 0xf);
                else
                        buf_append_char(b, (char)c);
                quoted = quoted != (c == '"' && !escaped);
                escaped = quoted && c == '\\' && !escaped;
        }
}
