/* Pieces that rows of several views are made of: conditions, identities, fields with both values. All return
 * what is new, NULL on no memory, so that json_object_set_new() takes them as they come. Pure. */
#pragma once

#include "kubectl-fleet/page/view.h"
#include "kubectl-fleet/standing.h"
#include "proto/gen/kinds.h"

/* What one row shows of a text that others write. The whole is in the object. */
#define PAGE_MESSAGE_BYTES 2048
#define PAGE_VALUE_BYTES 2048
#define PAGE_FIELDS_MAX 50 /* of one object that drifted or differs */
/* In place of what a server said about a Secret: it may quote the value that it refused. */
#define PAGE_HIDDEN_MESSAGE "(of a Secret: what was said about it is not shown here)"

json_t *page_time(int64_t ms);                /* null for TIME_NONE and 0 */
const char *page_standing(enum standing s);   /* "waits", "busy", "done", "failed" */
const char *page_standing_of(enum tone tone); /* the same words */

/* Sets `key`. What is longer than `max` bytes loses its middle, and "<key>Bytes" tells how long it is. */
int page_put_text(struct arena *arena, json_t *row, const char *key, const char *text, size_t max);

/* Its message as it may be shown: an override that cannot be applied is told with what it would have written,
 * and that may be a Secret's. "" for NULL. */
const char *page_message(const struct condition *c);
/* {type, status, reason, message, since, current}; null for NULL. */
json_t *page_condition(struct arena *arena, const struct condition *c, int64_t generation);
/* As of an object that may be a Secret. */
json_t *page_condition_of(struct arena *arena, const struct condition *c, int64_t generation, bool secret);

/* Whether the values of such an object are not for the screen: Secrets, and envelopes, which may hold some.
 */
bool page_is_secret(const char *kind);
bool page_is_envelope(const char *kind);
/* Sets group, version, kind, namespace, name and, where it came in one, envelope. */
int page_put_identifier(json_t *row, const struct resource_identifier *id);
/* Sets "fields", [{path, hub, member}]: text, null on the side that has none, {hidden: true} of a Secret;
 * "fieldsTotal" where not all are there; "hidden" of a Secret. */
int page_put_fields(struct arena *arena, json_t *row, const struct patch_detail_list *fields, bool secret);
/* About as many bytes as page_put_fields() will take. */
size_t page_fields_size(const struct patch_detail_list *fields);

/* Sets and frees: whether something failed is kept, so that a row is written line by line. NULL fails. */
struct page_writer {
        struct arena *arena;
        json_t *doc;
        bool failed;
};
void page_begin(struct page_writer *w, struct arena *arena);
void page_set(struct page_writer *w, const char *key, json_t *value /* taken */);
void page_set_string(struct page_writer *w, const char *key, const char *value); /* NULL = "" */
void page_set_text(struct page_writer *w, const char *key, const char *value, size_t max);
/* A value as canonical JSON, as a person would write it: "<" where that has "\\u003c". */
void page_set_json(struct page_writer *w, const char *key, const char *value);
void page_set_number(struct page_writer *w, const char *key, int64_t value);
void page_set_flag(struct page_writer *w, const char *key, bool value); /* false is left out */
json_t *page_end(struct page_writer *w); /* the object, new; NULL on no memory */
void page_append(struct page_writer *w, json_t *list, json_t *value /* taken */);
