/* Whether a right that was missing is there by now: the API server is asked, and nothing is tried. */
#pragma once

#include "common/kube/client.h"

/* The question that a refusal answers: a SelfSubjectAccessReview's resourceAttributes, made from the words of
 * an API server's authorizer. New; NULL if they are no refusal of a right on a resource, or on no memory. */
json_t *review_question(const char *refusal);
/* ERR_INVALID if there is no such question; else as any request. */
int review_ask(struct kube_client *k, const char *refusal, bool *ret_allowed, struct error *err);
