#include "kubectl-fleet/page/user.h"

#include "common/base/digest.h"
#include "common/base/memory.h"
#include "kubectl-fleet/page/hub_user.h"

/* Takes as long for any token: neither where it differs nor how long it is can be measured. */
static bool same_secret(const char *a, const char *b)
{
        uint8_t x[2][SHA256_SIZE];
        struct sha256 s;
        volatile uint8_t differ = 0;

        sha256_init(&s);
        sha256_update(&s, a, strlen(a));
        sha256_final(&s, x[0]);
        sha256_init(&s);
        sha256_update(&s, b, strlen(b));
        sha256_final(&s, x[1]);
        for (size_t i = 0; i < SHA256_SIZE; i++)
                differ |= x[0][i] ^ x[1][i];
        return differ == 0;
}

static int owner_of_page(struct page_gate *g, const char *token, struct page_visitor **ret, struct error *err)
{
        struct page_visitor *v;

        if (!same_secret(token, g->token))
                return error_set(err, ERR_UNAUTHORIZED,
                                 "the token is not the page's: open the link that "
                                 "`kubectl fleet page` printed last");
        v = NEW(struct page_visitor);
        if (!v)
                return error_no_memory(err);
        *v = (struct page_visitor){ .user = { .name = g->name, .hub = g->hub, .world = g->world },
                                    .gate = g,
                                    .expires_ms = TIME_NONE,
                                    .review_ms = DEADLINE_NONE,
                                    .refs = 1 };
        *ret = v;
        return 0;
}

/* A token that was good does not count among the tries. */
static int try_token(struct page_gate *g, const char *address, const char *token, struct page_visitor **ret,
                     struct error *err)
{
        int n = page_try_begin(&g->tries, address, loop_now_ms(g->world->loop)), code;

        if (n < 0)
                return error_set(err, ERR_TOO_MANY,
                                 "too many bad tokens came from your address: try again in a minute");
        code = hub_user_new(g, token, ret, err);
        if (code == 0)
                page_try_was_good(&g->tries, n);
        return code;
}

int user_of_token(struct page_gate *g, const char *address, const char *token, struct page_visitor **ret,
                  struct error *err)
{
        return g->token ? owner_of_page(g, token, ret, err) : try_token(g, address, token, ret, err);
}

int user_review(struct page_visitor *v, struct page_visitor **ret, struct error *err)
{
        struct loop *l = v->gate->world->loop;
        int code = hub_user_new(v->gate, v->endpoint.bearer_token, ret, err);

        if (code == 0 || code == ERR_UNAUTHORIZED || code == ERR_CANCELLED)
                return code;
        v->review_ms = loop_now_ms(l) + PAGE_AGAIN_MS;
        return loop_now_ms(l) < v->known_ms + PAGE_UNKNOWN_MS ? code : ERR_UNAUTHORIZED;
}

struct page_visitor *page_visitor_ref(struct page_visitor *v)
{
        v->refs++;
        return v;
}

void page_visitor_unref(struct page_visitor *v)
{
        if (!v || --v->refs > 0)
                return;
        hub_user_free(v);
        mem_free(v);
}

int user_may_list(struct page_visitor *v, const struct kind *kind, const char *ns, int64_t *ret_until_ms,
                  struct error *err)
{
        if (v->who)
                return hub_user_may_list(v, kind, ns, ret_until_ms, err);
        *ret_until_ms = DEADLINE_NONE; /* it is read with the user's rights: the hub refuses by itself */
        return 0;
}
