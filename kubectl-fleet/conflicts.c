#include "kubectl-fleet/conflicts.h"

#define CONFLICT_ATTEMPTS 5
#define CONFLICT_PAUSE_MS 10

int retry_conflicts(struct loop *loop, int (*once)(void *ctx, struct error *err), void *ctx,
                    struct error *err)
{
        int code = 0;

        for (int i = 0; i < CONFLICT_ATTEMPTS; i++) {
                error_clear(err);
                if (i > 0)
                        TRY(fiber_sleep(loop, CONFLICT_PAUSE_MS));
                code = once(ctx, err);
                if (code != ERR_CONFLICT)
                        return code;
        }
        return code;
}
