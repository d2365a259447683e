/* Reads request bodies in Kubernetes' protobuf encoding (application/vnd.kubernetes.protobuf), which Go
 * clients prefer for built-in kinds, into documents. Answers are always JSON: clients that send protobuf
 * accept both. */
#pragma once

#include "common/json/doc.h"

struct protobuf_types;
struct protobuf_types *protobuf_types_new(void); /* NULL on no memory */
struct protobuf_types *protobuf_types_free(struct protobuf_types *t);

/* The whole body, with its "k8s\0" envelope; apiVersion and kind come from that. *ret is new. ERR_INVALID for
 * bytes that are no message, ERR_UNSUPPORTED for a kind without a table (custom resources' definitions among
 * them). */
int protobuf_decode(const struct protobuf_types *t, struct slice body, json_t **ret, struct error *err);
