#include "hub-agent/git/remote_internal.h"

int wire_open_ssh(const struct wire *base, int64_t deadline_ms, struct wire **ret, struct error *err)
{
        return error_set(err, ERR_UNSUPPORTED, "%s: remotes over ssh are not asked yet", base->public_url);
}
