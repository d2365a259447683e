/* What the JSON and the YAML writer share; private to common/json. */
#pragma once

#include "common/base/vec.h"
#include "common/json/doc.h"

#define DOC_REAL_SIZE 40
/* As Go's encoding/json prints a float64. The value must be finite. */
void doc_format_real(double value, char ret[DOC_REAL_SIZE]);

struct key_stack {
        const char **at;
        size_t n, cap;
};
/* Appends the object's keys, sorted by bytes; they are borrowed from the object. 0 or ERR_NO_MEMORY. */
int doc_push_sorted_keys(const json_t *object, struct key_stack *keys);
