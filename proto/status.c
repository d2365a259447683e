/* A Kubernetes Status as an error. */
#include "proto/codec.h"

struct status {
        const char *message, *reason;
        struct opt_int code;
        struct status_details *details;
};
struct status_details {
        struct opt_int retry_after_seconds;
};

static const struct field details_fields[] = {
        { "retryAfterSeconds", FIELD_INT, 0, offsetof(struct status_details, retry_after_seconds), NULL },
};
static const struct type details_type = { "StatusDetails", details_fields, 1, sizeof(struct status_details) };
static const struct field status_fields[] = {
        { "code", FIELD_INT, 0, offsetof(struct status, code), NULL },
        { "details", FIELD_OBJECT, 0, offsetof(struct status, details), &details_type },
        { "message", FIELD_STRING, 0, offsetof(struct status, message), NULL },
        { "reason", FIELD_STRING, 0, offsetof(struct status, reason), NULL },
};
static const struct type status_type = { "Status", status_fields, ARRAY_LEN(status_fields),
                                         sizeof(struct status) };

static enum error_code code_of(int64_t http, const char *reason)
{
        static const struct {
                int http;
                enum error_code code;
        } codes[] = {
                { 400, ERR_INVALID },   { 401, ERR_UNAUTHORIZED }, { 403, ERR_FORBIDDEN },
                { 404, ERR_NOT_FOUND }, { 409, ERR_CONFLICT },     { 410, ERR_GONE },
                { 413, ERR_LIMIT },     { 422, ERR_INVALID },      { 429, ERR_TOO_MANY },
        };
        if (text_equal(reason, "AlreadyExists"))
                return ERR_EXISTS;
        if (text_equal(reason, "Expired") || text_equal(reason, "Gone"))
                return ERR_GONE;
        for (size_t i = 0; i < ARRAY_LEN(codes); i++)
                if (codes[i].http == http)
                        return codes[i].code;
        return ERR_RETRY;
}

int object_decode_status(struct slice json, struct error *err)
{
        AUTO_ARENA struct arena scratch = ARENA_INIT;
        struct decoder d;
        struct status s;
        TRY(decoder_init(&d, json, DECODE_FULL, NULL, &scratch, err));
        TRY(decode_root(&d, &status_type, &s));
        int64_t http = s.code.set ? s.code.value : 0;
        int code = error_set(err, code_of(http, s.reason), "%s",
                             text_empty(s.message) ? "the server gave no reason" : s.message);
        if (!err)
                return code;
        err->http_status = (int)http;
        snprintf(err->reason, sizeof(err->reason), "%s", s.reason ? s.reason : "");
        if (s.details && s.details->retry_after_seconds.set)
                err->retry_after_ms = (uint32_t)MIN(s.details->retry_after_seconds.value * 1000, UINT32_MAX);
        return code;
}
