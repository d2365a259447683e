/* Who looks, and what they may see. On loopback one token of the page's own stands for the rights of the
 * kubeconfig. In a pod (page_options.token NULL) each user's token is the hub's own: a TokenReview and
 * SubjectAccessReviews tell. */
#pragma once

#include "kubectl-fleet/page/view.h"

struct page_gate {
        struct world *world;
        struct kube_client *hub;
        const char *token; /* the page's own; NULL: each user's */
        const char *name;  /* what a user of the page's own token is called */
};

/* Somebody whose token was good. Counted, since calls go on while a new token takes its place. */
struct page_visitor {
        struct page_user user;
        const struct page_gate *gate;
        int64_t expires_ms; /* wall; TIME_NONE = never */
        unsigned refs;
};

/* Parks. ERR_UNAUTHORIZED: the token is not good. *ret: one reference. */
int user_of_token(const struct page_gate *g, const char *token, struct page_visitor **ret, struct error *err);
struct page_visitor *page_visitor_ref(struct page_visitor *v);
void page_visitor_unref(struct page_visitor *v); /* NULL is fine */
/* Parks. Whether the user may list and watch the kind in the namespace (NULL = in all of them): 0, or
 * ERR_FORBIDDEN with the sentence that is shown in its place; another error: it cannot be told now. */
int user_may_list(struct page_visitor *v, const struct kind *kind, const char *ns, struct error *err);
