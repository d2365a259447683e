/* What messages speak of, as Go prints it with %+v. */
#include "common/base/limits.h"
#include "hub-agent/webhook/rules.h"

static const char *taken(struct buf *b, struct faults *f)
{
        return text_made(b->failed ? NULL : arena_strndup(f->arena, b->data, b->len), f);
}

static void put_label_selector(struct buf *b, const struct label_selector *s)
{
        if (!s) {
                buf_append_str(b, "nil");
                return;
        }
        buf_append_str(b, "&LabelSelector{MatchLabels:map[string]string{");
        for (uint32_t i = 0; i < s->match_labels.n; i++)
                buf_printf(b, "%s: %s,", s->match_labels.at[i].key, or_empty(s->match_labels.at[i].value));
        buf_append_str(b, "},MatchExpressions:[]LabelSelectorRequirement{");
        for (uint32_t i = 0; i < s->match_expressions.n; i++) {
                const struct label_requirement *r = &s->match_expressions.at[i];

                buf_printf(b, "LabelSelectorRequirement{Key:%s,Operator:%s,Values:[", or_empty(r->key),
                           or_empty(r->operator));
                for (uint32_t j = 0; j < r->values.n; j++)
                        buf_printf(b, "%s%s", j ? " " : "", or_empty(r->values.at[j]));
                buf_append_str(b, "],},");
        }
        buf_append_str(b, "},}");
}

const char *label_selector_text(const struct label_selector *s, struct faults *f)
{
        AUTO_BUF struct buf b;

        buf_init(&b, 2 * LIMIT_OBJECT_BYTES);
        put_label_selector(&b, s);
        return taken(&b, f);
}

const char *selector_text(const struct resource_selector *s, struct faults *f)
{
        AUTO_BUF struct buf b;

        buf_init(&b, 2 * LIMIT_OBJECT_BYTES);
        buf_printf(&b, "{Group:%s Version:%s Kind:%s Name:%s LabelSelector:", or_empty(s->group),
                   or_empty(s->version), or_empty(s->kind), or_empty(s->name));
        put_label_selector(&b, s->label_selector);
        buf_printf(&b, " SelectionScope:%s}", or_empty(s->selection_scope));
        return taken(&b, f);
}

static void put_properties(struct buf *b, const struct property_selector *s)
{
        if (!s) {
                buf_append_str(b, "nil");
                return;
        }
        buf_append_str(b, "{MatchExpressions:[");
        for (uint32_t i = 0; i < s->match_expressions.n; i++) {
                const struct property_requirement *r = &s->match_expressions.at[i];

                buf_printf(b, "%s{Name:%s Operator:%s Values:[", i ? " " : "", or_empty(r->name),
                           or_empty(r->operator));
                for (uint32_t j = 0; j < r->values.n; j++)
                        buf_printf(b, "%s%s", j ? " " : "", or_empty(r->values.at[j]));
                buf_append_str(b, "]}");
        }
        buf_append_str(b, "]}");
}

const char *term_text(const struct cluster_selector_term *t, struct faults *f)
{
        AUTO_BUF struct buf b;

        buf_init(&b, 2 * LIMIT_OBJECT_BYTES);
        buf_append_str(&b, "{LabelSelector:");
        put_label_selector(&b, t->label_selector);
        buf_append_str(&b, " PropertySelector:");
        put_properties(&b, t->property_selector);
        buf_append_str(&b, " PropertySorter:");
        if (t->property_sorter)
                buf_printf(&b, "{Name:%s SortOrder:%s}", or_empty(t->property_sorter->name),
                           or_empty(t->property_sorter->sort_order));
        else
                buf_append_str(&b, "nil");
        buf_append_char(&b, '}');
        return taken(&b, f);
}

const char *toleration_text(const struct toleration *t, struct faults *f)
{
        return text_made(arena_printf(f->arena, "{Key:%s Operator:%s Value:%s Effect:%s}", or_empty(t->key),
                                      or_empty(t->operator), or_empty(t->value), or_empty(t->effect)),
                         f);
}

const char *taint_text(const struct taint *t, struct faults *f)
{
        return text_made(arena_printf(f->arena, "{Key:%s Value:%s Effect:%s}", or_empty(t->key),
                                      or_empty(t->value), or_empty(t->effect)),
                         f);
}
