/* The OpenAPI v2 document in gnostic's protobuf encoding
 * (application/com.github.proto-openapi.spec.v2@v1.0+protobuf): the only form that kubectl before 1.27 asks
 * for. */
#pragma once

#include "common/json/doc.h"

/* Appends the encoded document. ERR_NO_MEMORY or ERR_LIMIT. */
int openapi_write_protobuf(const json_t *doc, struct buf *out);
