/* get, list and watch: answer the exchange themselves. 0 when answered, else rq->status holds why not. */
#pragma once

#include "e2e/devcluster/request.h"

int rest_get(struct request *rq);
int rest_list(struct request *rq);
int rest_watch(struct request *rq);
int rest_delete_collection(struct request *rq);

/* resourceVersion query parameter: *ret_given false when absent or "". Fails with 400. */
int rest_version_parameter(struct request *rq, uint64_t *ret, bool *ret_given);
int rest_fail_version(struct request *rq); /* the same as get and watch say it: 500 */
int fail_expired(struct request *rq, uint64_t rv);

/* Answers with a whole body; waits for the commit first. Adds Warning headers. */
int reply_plain(struct request *rq, int code, struct slice text);
int reply_text(struct request *rq, int code, struct slice body);
int reply_doc(struct request *rq, int code, const json_t *doc);
