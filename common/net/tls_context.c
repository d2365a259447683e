#include "common/net/tls_context.h"

#include <openssl/err.h>
#include <openssl/pem.h>

#include "common/base/memory.h"
#include "common/net/cert.h"
#include "common/net/openssl_text.h"

void tls_context_set_policy(SSL_CTX *ctx)
{
        SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
        SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_IGNORE_UNEXPECTED_EOF);
        SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
        SSL_CTX_set_num_tickets(ctx, 0);
        SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                      SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
}

/* The first certificate is ours, further ones are the chain above it. */
static bool use_chain(SSL_CTX *ctx, const char *pem)
{
        BIO *bio = BIO_new_mem_buf(pem, -1);
        X509 *cert = bio ? PEM_read_bio_X509(bio, NULL, NULL, NULL) : NULL;
        bool ok = cert && SSL_CTX_use_certificate(ctx, cert) == 1 && SSL_CTX_clear_chain_certs(ctx) == 1;

        X509_free(cert);
        while (ok && (cert = PEM_read_bio_X509(bio, NULL, NULL, NULL)))
                if (!SSL_CTX_add0_chain_cert(ctx, cert)) {
                        X509_free(cert);
                        ok = false;
                }
        if (ok)
                ERR_clear_error(); /* the end of the text shows as an error */
        BIO_free(bio);
        return ok;
}

static int read_authorities(const char *pem, X509_STORE *store, STACK_OF(X509_NAME) * names)
{
        BIO *bio = BIO_new_mem_buf(pem, -1);
        X509 *ca;
        int n = bio ? 0 : -1;

        while (n >= 0 && (ca = PEM_read_bio_X509(bio, NULL, NULL, NULL))) {
                X509_NAME *name = X509_NAME_dup(X509_get_subject_name(ca));
                bool ok = X509_STORE_add_cert(store, ca) == 1 && name && sk_X509_NAME_push(names, name) > 0;

                if (!ok)
                        X509_NAME_free(name);
                n = ok ? n + 1 : -1;
                X509_free(ca);
        }
        BIO_free(bio);
        return n;
}

static bool trust_clients_of(SSL_CTX *ctx, const char *ca_pem)
{
        X509_STORE *store = X509_STORE_new();
        STACK_OF(X509_NAME) *names = sk_X509_NAME_new_null();

        if (!store || !names || read_authorities(ca_pem, store, names) <= 0) {
                X509_STORE_free(store);
                sk_X509_NAME_pop_free(names, X509_NAME_free);
                return false;
        }
        ERR_clear_error();
        SSL_CTX_set_cert_store(ctx, store); /* both are the context's now */
        SSL_CTX_set_client_CA_list(ctx, names);
        SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
        return true;
}

static int apply(SSL_CTX *ctx, const struct tls_identity *tls, struct error *err)
{
        EVP_PKEY *key = openssl_read_key(tls->key_pem, err);
        int r = key ? 0 : ERR_INVALID;

        if (r == 0 && (!use_chain(ctx, tls->cert_pem) || SSL_CTX_use_PrivateKey(ctx, key) != 1))
                r = openssl_error(err, ERR_INVALID, "server certificate and key");
        if (r == 0 && tls->client_ca_pem && !trust_clients_of(ctx, tls->client_ca_pem))
                r = openssl_error(err, ERR_INVALID, "CA for client certificates");
        EVP_PKEY_free(key);
        return r;
}

int tls_context_set_identity(SSL_CTX *ctx, const struct tls_identity *tls, struct error *err)
{
        SSL_CTX *trial = SSL_CTX_new(TLS_server_method());
        int r = trial ? apply(trial, tls, err) : openssl_error(err, ERR_INTERNAL, "TLS");

        SSL_CTX_free(trial);
        if (r < 0)
                return r;
        if (!tls->client_ca_pem)
                SSL_CTX_set_verify(ctx, SSL_VERIFY_NONE, NULL);
        return apply(ctx, tls, err);
}

int tls_peer_read(SSL *ssl, struct tls_peer *ret)
{
        X509 *cert = SSL_get0_peer_certificate(ssl);
        unsigned char *der = NULL;
        int n;

        *ret = (struct tls_peer){ 0 };
        if (!cert)
                return 0;
        n = i2d_X509(cert, &der);
        if (n < 0)
                return ERR_NO_MEMORY;
        sha256_hex(der, (size_t)n, ret->fingerprint);
        OPENSSL_free(der);
        return openssl_read_name(X509_get_subject_name(cert), &ret->common_name, &ret->organizations, NULL);
}

void tls_peer_free(struct tls_peer *peer)
{
        mem_free(peer->common_name);
        cert_strings_free(peer->organizations);
        *peer = (struct tls_peer){ 0 };
}
