#include "member-agent/refresh-token/refresh.h"

#include "common/base/digest.h"
#include "common/base/memory.h"

void hub_token_free(struct hub_token *t)
{
        mem_free_secret(t->text);
        *t = (struct hub_token){ 0 };
}

int64_t refresh_wait_ms(int64_t now_ms, int64_t expires_ms)
{
        int64_t half = (expires_ms - now_ms) / 2;

        return MAX(REFRESH_LEAST_WAIT_MS, MIN(half, REFRESH_MOST_WAIT_MS));
}

static int write_token(struct refresher *r, const struct hub_token *t, struct error *err)
{
        const struct world_files *files = r->world->files;
        size_t n = strlen(t->text);
        char digest[SHA256_HEX_SIZE];

        sha256_hex(t->text, n, digest);
        if (text_equal(digest, r->written) && files->stamp(r->world->ctx, r->path) != 0)
                return 0;
        if (files->write(r->world->ctx, r->path, t->text, n, err) < 0)
                return error_wrap(err, "token file %s", r->path);
        memcpy(r->written, digest, sizeof(digest));
        log_info(r->log, "wrote the hub token", "file", r->path);
        return 0;
}

int refresh_once(struct refresher *r, int64_t *ret_wait_ms, struct error *err)
{
        CLEANUP(hub_token_free) struct hub_token t = { 0 };
        int64_t now;

        TRY(r->source->fetch(r->source, loop_now_ms(r->world->loop) + REFRESH_DEADLINE_MS, &t, err));
        now = loop_wall_ms(r->world->loop);
        if (t.expires_ms <= now)
                log_warn(r->log, "the hub token has expired: the hub will refuse it until a new one comes");
        TRY(write_token(r, &t, err));
        *ret_wait_ms = refresh_wait_ms(now, t.expires_ms);
        if (t.look_again_ms > 0)
                *ret_wait_ms = MIN(*ret_wait_ms, t.look_again_ms);
        return 0;
}

void refresh_wake(struct refresher *r)
{
        r->news = true;
        waitq_wake_all(&r->waiting);
}

static int wait_for(struct refresher *r, int64_t ms)
{
        if (r->news)
                return 0;
        return waitq_wait(r->world->loop, &r->waiting, loop_now_ms(r->world->loop) + ms);
}

int refresh_run(struct refresher *r, struct error *err)
{
        int64_t retry = REFRESH_FIRST_RETRY_MS;

        for (;;) {
                int64_t wait = retry;
                int result;

                r->news = false;
                result = refresh_once(r, &wait, err);
                if (result == ERR_CANCELLED)
                        return result;
                if (result < 0) {
                        log_error(r->log, "no new hub token", "error", err->text);
                        error_clear(err);
                        retry = MIN(retry * 2, REFRESH_LAST_RETRY_MS);
                } else {
                        retry = REFRESH_FIRST_RETRY_MS;
                }
                if (wait_for(r, wait) == ERR_CANCELLED)
                        return error_set(err, ERR_CANCELLED, "cancelled");
        }
}
