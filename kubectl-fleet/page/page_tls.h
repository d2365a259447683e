/* The certificate that a page serves with, from two files, which are looked at every few seconds: whoever
 * renews it need not start the page again. */
#pragma once

#include "common/net/cert.h"
#include "kubectl-fleet/page/page.h"

struct page_tls {
        struct world *world;
        const char *cert_file, *key_file;
        void (*told)(void *ctx, const char *text); /* a sentence: of a new one, or why there is none */
        void *ctx;
        struct page *page;
        struct tls_identity identity;
        uint64_t stamps[2];
};

/* Reads both. ERR_INVALID: they do not belong together. The caller frees t->identity. */
int page_tls_read(struct page_tls *t, struct error *err);
/* Until the group ends; `t` outlives it. 0 or ERR_NO_MEMORY. */
int page_tls_follow(struct fiber_group *group, struct page_tls *t);
