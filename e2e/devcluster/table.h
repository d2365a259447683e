/* The three forms in which clients take objects: as they are, as rows of a Table, and as
 * PartialObjectMetadata. */
#pragma once

#include "e2e/devcluster/request.h"

/* Appends the object in the request's form and version. */
int render_blob(struct request *rq, const struct blob *b, struct buf *out);
/* The same for a document in the request's version that may not be stored (dry run, answers of writes). */
int render_doc(struct request *rq, const json_t *doc, struct buf *out);
/* As an item of a list: without kind and apiVersion for built-ins; a row for FORM_TABLE. */
int render_item(struct request *rq, const struct blob *b, struct buf *out);
/* {"kind":"XList",..,"metadata":{...},"items":[ or the Table's equivalent, and the end of it. */
int render_list_begin(struct request *rq, const char *rv, const char *continue_token, int64_t remaining,
                      struct buf *out);
int render_list_end(struct request *rq, struct buf *out);
/* An event's object: a Table of its own in that form; `first` carries the column definitions. */
int render_event_object(struct request *rq, const struct blob *b, bool first, struct buf *out);
/* BOOKMARK's object: only resourceVersion, and the annotation that ends the initial events. */
int render_bookmark(struct request *rq, uint64_t rv, bool initial_end, struct buf *out);
