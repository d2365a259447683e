/* Public keys, and whether they signed something: ECDSA with P-256, P-384 or P-521, RSA from 2048 bits on
 * (PKCS 1), Ed25519; SHA-256. Pure; may run offloaded. spec/helm-chart.md 11. */
#pragma once

#include <openssl/evp.h>

#include "common/base/arena.h"
#include "common/base/digest.h"
#include "common/base/text.h"

#define PUBLIC_KEY_RSA_BITS 2048 /* at least */

/* As long as the arena. ERR_INVALID: "it is no public key in PEM", "it is an RSA key of 1024 bits, ...". */
int public_key_of_pem(struct slice pem, struct arena *arena, EVP_PKEY **ret, struct error *err);
/* The same of a SubjectPublicKeyInfo. */
int public_key_of_der(struct slice der, struct arena *arena, EVP_PKEY **ret, struct error *err);
/* The same of a key that is there already; whose it is does not change. */
int public_key_check(EVP_PKEY *key, struct error *err);
bool public_key_signed(EVP_PKEY *key, struct slice data, struct slice signature);
/* The same of data of which there is only the hash; never by Ed25519, which signs no hashes. */
bool public_key_signed_hash(EVP_PKEY *key, const uint8_t hash[SHA256_SIZE], struct slice signature);
