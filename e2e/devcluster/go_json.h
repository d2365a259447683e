/* What Go's JSON decoder says of a text that is none. */
#pragma once

#include "common/json/doc.h"

/* "unexpected end of JSON input", "invalid character 'x' looking for beginning of value"; NULL when Go would
 * find nothing wrong with the syntax (or on no memory). */
const char *go_json_problem(struct slice text, struct arena *arena);
/* "array", "number": as its decoder names what it met. */
const char *go_json_word(const json_t *v);
