#include "common/net/http_files.h"

#include <openssl/x509.h>

#include "common/base/limits.h"
#include "common/base/memory.h"
#include "common/base/vec.h"
#include "common/net/openssl_text.h"

#define LOOK_MS 10000
#define KEEP_MS (30 * 60 * 1000) /* requests under way still point at replaced text; none lasts that long */

struct retired {
        char *text;
        int64_t at_ms;
};

struct http_files {
        char *path[HTTP_FILES];
        uint64_t stamp[HTTP_FILES];
        VEC(struct retired) retired;
};

void http_files_free(struct http_files *f)
{
        if (!f)
                return;
        for (size_t i = 0; i < HTTP_FILES; i++)
                mem_free(f->path[i]);
        vec_for_each(&f->retired, r)
                mem_free_secret(r->text);
        vec_free(&f->retired);
        mem_free(f);
}

static char **field(struct http_endpoint *e, enum http_file which)
{
        return which == HTTP_FILE_CA     ? &e->ca_pem
               : which == HTTP_FILE_CERT ? &e->client_cert_pem
                                         : &e->client_key_pem;
}

static int read_pem(struct world *w, const char *path, char **ret, struct error *err)
{
        size_t n;

        return w->files->read(w->ctx, path, LIMIT_CERT_BYTES, ret, &n, err);
}

int http_files_read(struct world *w, struct http_endpoint *e, enum http_file which, const char *path,
                    struct error *err)
{
        uint64_t stamp = w->files->stamp(w->ctx, path);

        if (!e->files && !(e->files = NEW(struct http_files)))
                return error_no_memory(err);
        mem_free(e->files->path[which]);
        e->files->path[which] = mem_strdup(path);
        if (!e->files->path[which])
                return error_no_memory(err);
        e->files->stamp[which] = stamp;
        return read_pem(w, path, field(e, which), err);
}

/* ---- taking over ---- */

static int check_cert(const char *pem, const char *path, struct error *err)
{
        X509 *cert = openssl_read_cert(pem, NULL);

        X509_free(cert);
        return cert ? 0 : error_set(err, ERR_INVALID, "%s: it holds no certificate", path);
}

/* Certificate and key are two files: between their writing they do not belong together. */
static int check_pair(const char *cert_pem, const char *key_pem, struct error *err)
{
        X509 *cert = openssl_read_cert(cert_pem, NULL);
        EVP_PKEY *key = openssl_read_key(key_pem, NULL);
        bool match = cert && key && X509_check_private_key(cert, key) == 1;

        X509_free(cert);
        EVP_PKEY_free(key);
        return match ? 0
                     : error_set(err, ERR_INVALID, "client certificate and key do not belong to each other");
}

static int check_all(const struct http_files *f, char *const now[HTTP_FILES], struct error *err)
{
        if (f->path[HTTP_FILE_CA])
                TRY(check_cert(now[HTTP_FILE_CA], f->path[HTTP_FILE_CA], err));
        return f->path[HTTP_FILE_CERT] && f->path[HTTP_FILE_KEY]
                       ? check_pair(now[HTTP_FILE_CERT], now[HTTP_FILE_KEY], err)
                       : 0;
}

static void drop_old(struct http_files *f, int64_t now_ms)
{
        while (f->retired.n > 0 && now_ms - f->retired.at[0].at_ms > KEEP_MS) {
                mem_free_secret(f->retired.at[0].text);
                vec_remove(&f->retired, 0);
        }
}

/* The new texts become the endpoint's; the old ones wait for the requests that use them. */
static int take_over(struct world *w, struct http_endpoint *e, char *now[HTTP_FILES], struct error *err)
{
        struct http_files *f = e->files;
        int64_t now_ms = loop_now_ms(w->loop);

        if (vec_reserve(&f->retired, f->retired.n + HTTP_FILES) < 0)
                return error_no_memory(err);
        for (size_t i = 0; i < HTTP_FILES; i++) {
                char **old = field(e, i);

                if (!now[i] || text_equal(now[i], *old))
                        continue;
                if (*old)
                        f->retired.at[f->retired.n++] = (struct retired){ *old, now_ms };
                *old = TAKE_PTR(now[i]);
        }
        e->generation++;
        return 1;
}

static int read_changed(struct world *w, struct http_endpoint *e, char *now[HTTP_FILES],
                        uint64_t stamp[HTTP_FILES], bool *ret_changed, struct error *err)
{
        struct http_files *f = e->files;

        *ret_changed = false;
        for (size_t i = 0; i < HTTP_FILES; i++) {
                if (!f->path[i])
                        continue;
                stamp[i] = w->files->stamp(w->ctx, f->path[i]);
                *ret_changed |= stamp[i] != f->stamp[i];
        }
        for (size_t i = 0; *ret_changed && i < HTTP_FILES; i++)
                if (f->path[i] && read_pem(w, f->path[i], &now[i], err) < 0)
                        return err ? err->code : ERR_SYSTEM;
        return 0;
}

int http_files_refresh(struct world *w, struct http_endpoint *e, struct error *err)
{
        char *now[HTTP_FILES] = { NULL };
        uint64_t stamp[HTTP_FILES] = { 0 };
        bool changed = false;
        int code;

        if (!e->files)
                return 0;
        drop_old(e->files, loop_now_ms(w->loop));
        code = read_changed(w, e, now, stamp, &changed, err);
        if (code == 0 && changed)
                code = check_all(e->files, now, err);
        if (code == 0 && changed)
                code = take_over(w, e, now, err);
        if (code > 0)
                memcpy(e->files->stamp, stamp, sizeof(stamp));
        for (size_t i = 0; i < HTTP_FILES; i++)
                mem_free_secret(now[i]);
        return code;
}

/* ---- following ---- */

static void follow_fiber(void *ctx)
{
        struct http_files_follower *f = ctx;
        char told[ERROR_TEXT_MAX] = "";

        while (fiber_sleep(f->world->loop, LOOK_MS) == 0)
                for (size_t i = 0; i < ARRAY_LEN(f->endpoints) && f->endpoints[i]; i++) {
                        struct error err = { 0 };
                        int code = http_files_refresh(f->world, f->endpoints[i], &err);

                        if (code > 0)
                                log_info(f->log, "certificates were read anew from their files", "server",
                                         f->endpoints[i]->base_url);
                        if (code < 0 && !text_equal(told, err.text))
                                log_warn(f->log, "changed certificates cannot be used, the old ones stay",
                                         "server", f->endpoints[i]->base_url, "error", err.text);
                        if (code != 0)
                                snprintf(told, sizeof(told), "%s", code < 0 ? err.text : "");
                }
}

int http_files_follow(struct fiber_group *group, struct http_files_follower *f)
{
        for (size_t i = 0; i < ARRAY_LEN(f->endpoints) && f->endpoints[i]; i++)
                if (f->endpoints[i]->files)
                        return fiber_spawn(group, "certificate files", follow_fiber, f) ? 0 : ERR_NO_MEMORY;
        return 0;
}
