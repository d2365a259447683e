/* Kubernetes value types: quantities and int-or-string. Exact decimal arithmetic. */
#pragma once

#include "common/json/doc.h"

enum quantity_format { QUANTITY_DECIMAL_SI, QUANTITY_BINARY_SI, QUANTITY_DECIMAL_EXPONENT };
struct quantity {
        __int128 nano; /* value times 10^9, rounded up as Kubernetes does */
        enum quantity_format format;
};
int quantity_parse(struct slice text, struct quantity *ret, struct error *err);
int quantity_compare(struct quantity a, struct quantity b);
struct quantity quantity_add(struct quantity a,
                             struct quantity b); /* keeps a's format unless a is zero; saturates */
struct quantity quantity_subtract(struct quantity a, struct quantity b);
void quantity_print(struct quantity q, char ret[64]); /* canonical: "100m", "3Gi" */
double quantity_to_double(struct quantity q);

/* maxUnavailable and friends: an integer, or "25%" of total, rounded up or down. */
int int_or_percent(const json_t *value, int64_t total, bool round_up, int64_t *ret, struct error *err);
