/* Keys, certificates and signing requests (OpenSSL). PEM text in and out; keys are ECDSA P-256. */
#pragma once

#include "common/base/text.h"
#include "common/loop/loop.h"

struct tls_identity {
        char *cert_pem, *key_pem, *client_ca_pem; /* client_ca NULL = client certificates are not asked for */
};
void tls_identity_free(struct tls_identity *t);

struct cert_subject {
        const char *common_name;
        const char *const *organizations; /* NULL-terminated or NULL */
        const char *const *dns_names;     /* NULL-terminated or NULL */
        const char *const *ip_addresses;  /* NULL-terminated or NULL */
};

/* All return PEM text to mem_free. now_ms is wall time; validity starts an hour earlier. */
int cert_new_key(char **ret_key_pem, struct error *err);
int cert_self_signed_ca(const char *common_name, int64_t now_ms, int64_t days, char **ret_cert,
                        char **ret_key, struct error *err);
int cert_issue(const char *ca_cert_pem, const char *ca_key_pem, const struct cert_subject *subject,
               bool server, int64_t now_ms, int64_t days, char **ret_cert, char **ret_key, struct error *err);
int cert_request(const struct cert_subject *subject, const char *key_pem, char **ret_csr, struct error *err);
int cert_sign_request(const char *ca_cert_pem, const char *ca_key_pem, const char *csr_pem, int64_t now_ms,
                      int64_t seconds, char **ret_cert, struct error *err);
/* Reads CN and O of a certificate or request: mem_free, cert_strings_free. A name without CN gives "". */
int cert_read_subject(const char *pem, char **ret_common_name, char ***ret_organizations, struct error *err);
void cert_strings_free(char **strings);                       /* NULL-terminated array and its strings */
int64_t cert_not_after_ms(const char *cert_pem);              /* wall ms, TIME_NONE if unreadable */
int64_t cert_not_before_ms(const char *cert_pem);             /* the same */
bool cert_has_key(const char *cert_pem, const char *key_pem); /* whether the two belong together */
bool cert_is_for(const char *cert_pem, const char *dns_name); /* whether a client that asks for it takes it */

/* Signed tokens (JWT): ES256 with the key. payload is compact JSON. */
int jwt_sign(const char *key_pem, const char *key_id, struct slice payload, char **ret_token,
             struct error *err);
/* The same with RS256 and an RSA key, for services that take nothing else. ERR_INVALID: it is none. */
int jwt_sign_rs256(const char *key_pem, struct slice payload, char **ret_token, struct error *err);
/* Checks the signature only; *ret_payload is the decoded JSON text (mem_free). ERR_UNAUTHORIZED if bad. */
int jwt_verify(const char *key_or_cert_pem, const char *token, char **ret_payload, struct error *err);
/* The same with a key that is read once: reading one takes ten times as long as a signature. */
struct jwt_key;
struct jwt_key *jwt_key_new(const char *key_pem, const char *key_id, struct error *err); /* NULL: err says */
struct jwt_key *jwt_key_free(struct jwt_key *k);
int jwt_key_sign(const struct jwt_key *k, struct slice payload, char **ret_token, struct error *err);
int jwt_key_verify(const struct jwt_key *k, const char *token, char **ret_payload, struct error *err);
/* The payload without any check: what the holder of a token may know of it (its expiry), never whom to trust.
 */
int jwt_read(const char *token, char **ret_payload, struct error *err);
