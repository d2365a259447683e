#include "hub-agent/entries.h"

#include <stdlib.h>

#include "common/base/limits.h"

#define FIELDS_BYTES 256 /* names of fields, times and numbers of one entry or detail, at most */

static size_t json_bytes(const char *s)
{
        size_t n = 0;

        for (const char *p = or_empty(s); *p; p++)
                n += (unsigned char)*p < 0x20 ? 6 : *p == '"' || *p == '\\' ? 2 : 1;
        return n;
}

/* ---- one entry ---- */

const char *entry_text(struct arena *arena, const char *text, size_t *n_cut)
{
        if (!text || strlen(text) <= LIMIT_STATUS_TEXT_BYTES)
                return text;
        ++*n_cut;
        return arena_printf(arena, "%.*s...", (int)text_utf8_cut(text, LIMIT_STATUS_TEXT_BYTES - 3), text);
}

static size_t detail_bytes(const struct patch_detail *d)
{
        return FIELDS_BYTES + json_bytes(d->path) + json_bytes(d->value_in_member) +
               json_bytes(d->value_in_hub);
}

int entry_details(struct arena *arena, const struct patch_detail_list *details, struct patch_detail_list *ret,
                  size_t *n_cut)
{
        struct patch_detail *at;
        size_t bytes = 0, room = LIMIT_STATUS_ENTRY_BYTES / FIELDS_BYTES;
        uint32_t n = 0;

        *ret = *details;
        if (details->n == 0)
                return 0;
        at = ARENA_NEW_ARRAY(arena, struct patch_detail, MIN((size_t)details->n, room));
        if (!at)
                return ERR_NO_MEMORY;
        for (uint32_t i = 0; i < details->n && n < room; i++) {
                const struct patch_detail *d = &details->at[i];

                at[n] = (struct patch_detail){ entry_text(arena, or_empty(d->path), n_cut),
                                               entry_text(arena, d->value_in_member, n_cut),
                                               entry_text(arena, d->value_in_hub, n_cut) };
                if (!at[n].path || (d->value_in_member && !at[n].value_in_member) ||
                    (d->value_in_hub && !at[n].value_in_hub))
                        return ERR_NO_MEMORY;
                bytes += detail_bytes(&at[n]);
                if (bytes > LIMIT_STATUS_ENTRY_BYTES)
                        break;
                n++;
        }
        *n_cut += details->n - n;
        ret->at = at;
        ret->n = n;
        return 0;
}

/* ---- lists ---- */

static size_t id_bytes(const struct resource_identifier *id)
{
        size_t n = FIELDS_BYTES + json_bytes(id->group) + json_bytes(id->version) + json_bytes(id->kind) +
                   json_bytes(id->name) + json_bytes(id->ns);

        if (id->envelope)
                n += json_bytes(id->envelope->name) + json_bytes(id->envelope->ns) +
                     json_bytes(id->envelope->type);
        return n;
}

static size_t details_bytes(const struct patch_detail_list *l)
{
        size_t n = FIELDS_BYTES;

        for (uint32_t i = 0; i < l->n; i++)
                n += detail_bytes(&l->at[i]);
        return n;
}

static size_t failed_bytes(const struct failed_placement *f)
{
        const struct condition *c = f->condition;

        return id_bytes(&f->id) + FIELDS_BYTES +
               (c ? json_bytes(c->type) + json_bytes(c->reason) + json_bytes(c->message) : 0);
}

/* Keeps entries until *room is used up, then none. */
#define CUT_LIST(list, entry_bytes, room)                                                                    \
        ({                                                                                                   \
                typeof(list) l_ = (list);                                                                    \
                uint32_t n_ = 0, had_ = l_ ? l_->n : 0;                                                      \
                for (; n_ < had_; n_++) {                                                                    \
                        size_t bytes_ = entry_bytes(&l_->at[n_]);                                            \
                        if (bytes_ > *(room))                                                                \
                                break;                                                                       \
                        *(room) -= bytes_;                                                                   \
                }                                                                                            \
                if (n_ < had_) {                                                                             \
                        l_->n = n_;                                                                          \
                        l_->set = n_ > 0;                                                                    \
                        *(room) = 0;                                                                         \
                }                                                                                            \
                had_ - n_;                                                                                   \
        })

static size_t drifted_bytes(const struct drifted_placement *d)
{
        return id_bytes(&d->id) + details_bytes(&d->observed_drifts);
}
static size_t diffed_bytes(const struct diffed_placement *d)
{
        return id_bytes(&d->id) + details_bytes(&d->observed_diffs);
}

size_t entries_cut(const struct entry_lists *l, size_t max_bytes)
{
        size_t room = max_bytes, n = 0;

        n += CUT_LIST(l->failed, failed_bytes, &room);
        n += CUT_LIST(l->drifted, drifted_bytes, &room);
        n += CUT_LIST(l->diffed, diffed_bytes, &room);
        return n;
}

size_t entries_bytes(const struct entry_lists *l)
{
        size_t n = 0;

        for (uint32_t i = 0; l->failed && i < l->failed->n; i++)
                n += failed_bytes(&l->failed->at[i]);
        for (uint32_t i = 0; l->drifted && i < l->drifted->n; i++)
                n += drifted_bytes(&l->drifted->at[i]);
        for (uint32_t i = 0; l->diffed && i < l->diffed->n; i++)
                n += diffed_bytes(&l->diffed->at[i]);
        return n;
}

static int by_size(const void *a, const void *b)
{
        size_t x = *(const size_t *)a, y = *(const size_t *)b;

        return (x > y) - (x < y);
}

size_t entries_fair_share(size_t *wants, size_t n, size_t total)
{
        size_t left = total;

        if (n > 1)
                qsort(wants, n, sizeof(wants[0]), by_size);
        for (size_t i = 0; i < n; i++) {
                size_t share = left / (n - i);

                if (wants[i] > share)
                        return share;
                left -= wants[i];
        }
        return total;
}

const char *entries_note(struct arena *arena, const char *message, size_t n_cut)
{
        return arena_printf(arena, "%s (%zu entries or details are left out, as they are too long)",
                            or_empty(message), n_cut);
}
