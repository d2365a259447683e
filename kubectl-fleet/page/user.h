/* Who looks, and what they may see. On loopback one token of the page's own stands for the rights of the
 * kubeconfig. In a pod (page_options.token NULL) each user's token is the hub's own: a TokenReview says who
 * that is, SubjectAccessReviews what may be shown (hub_user.h), and what is written is written with it. What
 * cannot be told is refused. */
#pragma once

#include "common/base/vec.h"
#include "kubectl-fleet/page/tries.h"
#include "kubectl-fleet/page/view.h"

#define PAGE_TOKEN_BYTES (16u << 10)
#define PAGE_RIGHTS_MAX 64     /* that are remembered of a user */
#define PAGE_RIGHT_MS 50000    /* so long, and PAGE_ASK_MS until the next answer: a minute together */
#define PAGE_ASK_MS 10000      /* until the hub has answered who it is or what they may do */
#define PAGE_AGAIN_MS 5000     /* until it is asked again, when it did not answer */
#define PAGE_REVIEW_MS 60000   /* a token is reviewed anew */
#define PAGE_UNKNOWN_MS 120000 /* no review succeeded for so long: whose token it is counts as unknown */

struct page_gate {
        struct world *world;
        struct kube_client *hub;
        const char *token; /* the page's own; NULL: each user's */
        const char *name;  /* what a user of the page's own token is called */
        struct page_tries tries;
};

struct page_right {
        const struct kind *kind;
        char *ns, *why;   /* why: it is refused */
        int64_t until_ms; /* loop time */
};

/* Somebody whose token was good. Counted, since calls go on while a new token takes its place. */
struct page_visitor {
        struct page_user user;
        struct page_gate *gate;
        int64_t expires_ms; /* wall; TIME_NONE = never */
        int64_t review_ms;  /* loop time: when user_review() is due; DEADLINE_NONE = never */
        int64_t known_ms;   /* loop time of the last review */
        unsigned refs;
        /* Of a user of the hub. */
        struct http_endpoint endpoint; /* with the token */
        struct kube_client hub;
        json_t *who; /* user, uid, groups, extra: as a SubjectAccessReview has them */
        VEC(struct page_right) rights;
};

/* Parks. ERR_UNAUTHORIZED: the token is not good; ERR_TOO_MANY, or another error: it cannot be told now.
 * `address` is where it comes from. *ret: one reference. */
int user_of_token(struct page_gate *g, const char *address, const char *token, struct page_visitor **ret,
                  struct error *err);
/* Parks. The same token once more: *ret takes the visitor's place. Errors as above; ERR_UNAUTHORIZED also
 * when it could not be told for too long. */
int user_review(struct page_visitor *v, struct page_visitor **ret, struct error *err);
struct page_visitor *page_visitor_ref(struct page_visitor *v);
void page_visitor_unref(struct page_visitor *v); /* NULL is fine */
/* Parks. Whether the user may list and watch the kind in the namespace (NULL = in all of them): 0, or
 * ERR_FORBIDDEN with the sentence that is shown in its place; it holds until *ret_until_ms (loop time).
 * ERR_NO_MEMORY, ERR_CANCELLED. */
int user_may_list(struct page_visitor *v, const struct kind *kind, const char *ns, int64_t *ret_until_ms,
                  struct error *err);
