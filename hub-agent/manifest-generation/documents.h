/* A YAML stream cut where YAML begins a document, so that each may be JSON, and has the limits of a text of
 * its own. Pure. */
#pragma once

#include "common/base/text.h"

struct document_cutter {
        struct slice rest;
        size_t line; /* of the rest, from 0 */
};

/* False: there is no more. The part is without a marker that stands alone in its first line, and may hold
 * comments only. *ret_line: lines before it. */
bool document_next(struct document_cutter *s, struct slice *ret, size_t *ret_line);
bool document_is_marker(struct slice line);               /* "---", and what may stand behind it */
struct slice document_line(struct slice text, size_t at); /* the line that begins there, without its end */
