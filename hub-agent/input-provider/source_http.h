/* Requests to a source: bounded, guarded, redirected, with its credentials for its own host alone. */
#pragma once

#include "hub-agent/input-provider/source.h"
#include "hub-agent/transfer/transfer.h"

/* The requests of a run, as its credentials and limits have it; *ret counts bytes for itself. */
void source_transfer(const struct source *s, struct transfer *ret);
/* As transfer_ask(), with max_body 0 = LIMIT_INPUT_BODY_BYTES and LIMIT_INPUT_TOTAL_BYTES for all of a run.
 */
int source_call(struct source *s, const struct transfer_call *c, struct http_response *ret,
                struct error *err);
/* The same as a document, which the caller frees; other statuses than 2xx are errors: with retry_after_ms if
 * the service names a time, and for 401, 403 and 404 with `form`, how such an URL looks. */
int source_call_json(struct source *s, const struct transfer_call *c, const char *form,
                     struct http_response *ret_answer, json_t **ret, struct error *err);
int source_status_error(struct source *s, const struct transfer_call *c, const struct http_response *a,
                        const char *form, struct error *err);
