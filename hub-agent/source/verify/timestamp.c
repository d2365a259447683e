#include "hub-agent/source/verify/timestamp.h"

#include <time.h>

#include <openssl/err.h>
#include <openssl/ts.h>

#include "common/base/timefmt.h"

#define RESPONSE_BYTES (64u << 10)

/* ---- the time ---- */

static bool read_time(TS_RESP *response, int64_t *ret_wall_ms)
{
        TS_TST_INFO *info = TS_RESP_get_tst_info(response);
        const ASN1_GENERALIZEDTIME *t = info ? TS_TST_INFO_get_time(info) : NULL;
        struct tm at;
        struct date day;

        if (!t || ASN1_TIME_to_tm(t, &at) != 1)
                return false;
        day = (struct date){ at.tm_year + 1900, (unsigned)at.tm_mon + 1, (unsigned)at.tm_mday };
        *ret_wall_ms =
                ((date_to_days(day) * 24 + at.tm_hour) * 60 + at.tm_min) * 60000 + at.tm_sec * INT64_C(1000);
        return true;
}

/* ---- who says so ---- */

/* Takes what it is given, also on failure. */
static bool prepare(TS_VERIFY_CTX *ctx, X509_STORE *store, STACK_OF(X509) * between, BIO *data,
                    const struct trusted_authority *a, int64_t wall_ms)
{
        TS_VERIFY_CTX_set_store(ctx, store);
        TS_VERIFY_CTX_set_certs(ctx, between);
        TS_VERIFY_CTX_set_data(ctx, data);
        TS_VERIFY_CTX_set_flags(ctx, TS_VFY_VERSION | TS_VFY_SIGNATURE | TS_VFY_DATA);
        if (!store || !between || !data || !X509_STORE_add_cert(store, a->anchor))
                return false;
        X509_VERIFY_PARAM_set_time(X509_STORE_get0_param(store), (time_t)(wall_ms / 1000));
        return X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN) == 1;
}

static bool is_by(TS_RESP *response, struct slice of, const struct trusted_authority *a, int64_t wall_ms)
{
        TS_VERIFY_CTX *ctx = TS_VERIFY_CTX_new();
        bool good = false;

        if (ctx)
                good = prepare(ctx, X509_STORE_new(), X509_chain_up_ref(a->between),
                               BIO_new_mem_buf(of.data, (int)of.len), a, wall_ms) &&
                       TS_RESP_verify_response(ctx, response) == 1;
        TS_VERIFY_CTX_free(ctx);
        ERR_clear_error();
        return good;
}

static int check(TS_RESP *response, struct slice of, const struct trusted_root *root, int64_t *ret_wall_ms,
                 struct error *err)
{
        int64_t wall_ms = 0;

        if (!response || !read_time(response, &wall_ms))
                return error_set(err, ERR_INVALID, "it is no timestamp");
        for (size_t i = 0; i < root->n_clocks; i++)
                if (trusted_at(&root->clocks[i].time, wall_ms) &&
                    is_by(response, of, &root->clocks[i], wall_ms)) {
                        *ret_wall_ms = wall_ms;
                        return 0;
                }
        return error_set(err, ERR_INVALID,
                         "it is of no authority for times of the trusted root, or of something else");
}

int timestamp_check(struct slice response, struct slice of, const struct trusted_root *root,
                    int64_t *ret_wall_ms, struct error *err)
{
        const unsigned char *at = (const unsigned char *)response.data;
        TS_RESP *parsed = response.len <= RESPONSE_BYTES ? d2i_TS_RESP(NULL, &at, (long)response.len) : NULL;
        int code = check(parsed, of, root, ret_wall_ms, err);

        TS_RESP_free(parsed);
        ERR_clear_error();
        return code;
}
