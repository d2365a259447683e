/* XML as services answer with it, on libexpat: leaves, one by one. What has a document type is refused, so no
 * entity is expanded and nothing is fetched. Pure, so it may run offloaded. */
#pragma once

#include "common/base/text.h"

#define XML_DEPTH 16
#define XML_PATH_BYTES 512
#define XML_TEXT_BYTES (64u << 10) /* of one element */

struct xml_sink {
        /* An element ends: "ListBucketResult/Contents/Key", with the text behind its last child. The first
         * error is returned. */
        int (*end)(void *ctx, const char *path, struct slice text, struct error *err);
        void *ctx;
};
/* ERR_INVALID: it is no XML, or has a document type; ERR_LIMIT. */
int xml_read(struct slice xml, const struct xml_sink *sink, struct error *err);
