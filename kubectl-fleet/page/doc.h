/* What a view has drawn, what of it the browser has, and what is different. Pure. One look after the other:
 *
 *     page_doc_begin(d);
 *     code = view->look(&l, d, &err);
 *     if (code == 0)
 *             while (page_doc_next(d, PIECE, &b) ...) send it
 */
#pragma once

#include "kubectl-fleet/page/view.h"

#define PAGE_ROWS_MAX 50000           /* of one view */
#define PAGE_ROW_BYTES (1u << 20)     /* one row or head as JSON */
#define PAGE_CHANGE_BYTES (64u << 20) /* all that is new after one look */

/* `seed` is nobody's to know: who writes objects must not find texts of the same hash. NULL on no memory. */
struct page_doc *page_doc_new(uint64_t seed);
struct page_doc *page_doc_free(struct page_doc *d); /* NULL is fine; returns NULL */
/* What an earlier look left that was not sent is forgotten; it is found to be different again. */
void page_doc_begin(struct page_doc *d);
/* The look went well: what it did not draw is gone. 0 or ERR_NO_MEMORY. */
int page_doc_end(struct page_doc *d);
/* Appends members of a message to `b`, each behind a comma: ,"head":{...},"rows":{...},"gone":{...} until it
 * has about `size` bytes. What was appended counts as sent, and
 * there is room in `b` for PAGE_TAKE_ROOM bytes behind it. *ret_more: there is more. 0 with nothing
 * appended: nothing is different. ERR_NO_MEMORY, ERR_LIMIT: `b` is not to be sent, and nothing of it counts.
 */
#define PAGE_TAKE_ROOM 64
int page_doc_take(struct page_doc *d, size_t size, struct buf *b, bool *ret_more);
/* An error stands in the view's place: the next look's head is sent, whether it is different or not. */
void page_doc_hidden_by_error(struct page_doc *d);
size_t page_doc_rows(const struct page_doc *d); /* that the browser has */
