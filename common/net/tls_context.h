/* What servers with TLS have in common, on OpenSSL's context: policy, certificates, who the client is.
 * Internal to servers. */
#pragma once

#include <openssl/ssl.h>

#include "common/base/digest.h"
#include "common/base/error.h"

struct tls_identity; /* common/net/cert.h */

/* TLS 1.2 and better. No session is ever resumed: a resumed one would carry an identity that was checked
 * against older CAs. */
void tls_context_set_policy(SSL_CTX *ctx);
/* Certificate, chain, key, and the CAs of client certificates, in place of what the context had: for
 * connections to come. All or nothing. ERR_INVALID names what is wrong with them. */
int tls_context_set_identity(SSL_CTX *ctx, const struct tls_identity *tls, struct error *err);

struct tls_peer {
        char *common_name; /* NULL: there is no verified client certificate */
        char **organizations;
        char fingerprint[SHA256_HEX_SIZE];
};
/* After the handshake. ERR_NO_MEMORY, ERR_INVALID: there is one that cannot be read. */
int tls_peer_read(SSL *ssl, struct tls_peer *ret);
void tls_peer_free(struct tls_peer *peer);
