/* A drawing of what the hub has: once, or, with --watch, again at each change. */
#pragma once

#include "kubectl-fleet/fetch.h"

struct live {
        struct fetch *fetches;
        size_t n;
        /* Draws into s->out from the fetches' results. Its memory is s->arena's, which lives until the next
         * drawing. */
        int (*draw)(struct session *s, void *ctx, struct error *err);
        void *ctx;
        bool ticks; /* it shows times that go on by themselves */
};
/* Returns after one drawing, or, watching, when the program is asked to end. */
int live_show(struct session *s, const struct live *l, struct error *err);
