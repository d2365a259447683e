/* What a chart is signed with, and the trusted root: whatever they hold, judging ends with a reason. The
 * first line is one byte that picks what the rest is: a trusted root, a key, a certificate, the annotation
 * with what a log promised, a bundle, an entry of a log, a log's proof, a timestamp. */
#include "e2e/fuzz/fuzz.h"
#include "hub-agent/source/verify/certificate.h"
#include "hub-agent/source/verify/certificate_log.h"
#include "hub-agent/source/verify/judging.h"
#include "hub-agent/source/verify/log_proof.h"
#include "hub-agent/source/verify/public_key.h"
#include "hub-agent/source/verify/timestamp.h"

#define WALL INT64_C(1767225600000)
#define DIGEST "sha256:1111111111111111111111111111111111111111111111111111111111111111"

struct trial {
        struct arena arena;
        const char *text;
        struct slice bytes;
};

/* Read once: it takes longer than all the rest. */
static const struct trusted_root *root_of(void)
{
        static struct arena arena;
        static const struct trusted_root *root;

        if (!root)
                ASSERT(trusted_root_read(trusted_root_built_in(), &arena, &root, NULL) == 0);
        return root;
}

static void judge(struct trial *t, const struct signature *s)
{
        const struct signature_trust trust = { .root = root_of() };
        struct error err = { 0 };

        ASSERT(signatures_check(&trust, DIGEST, "chart:1.0.0", s, 1, &t->arena, &err) == ERR_FORBIDDEN);
        ASSERT(text_starts_with(err.text, "failed to verify chart:1.0.0: "));
}

static void try_root(struct trial *t)
{
        const struct trusted_root *root = NULL;
        struct error err = { 0 };

        if (trusted_root_read(t->bytes, &t->arena, &root, &err) < 0)
                ASSERT(*err.text);
        else
                ASSERT(root);
}

static void try_key(struct trial *t)
{
        struct error err = { 0 };
        EVP_PKEY *key = NULL;

        if (public_key_of_pem(t->bytes, &t->arena, &key, &err) == 0)
                ASSERT(!public_key_signed(key, SLICE("x"), t->bytes));
        else
                ASSERT(*err.text);
}

static void check_leaf(struct trial *t, X509 *leaf)
{
        struct signature_trust signers;
        struct signer_identity ann = { .issuer = "^https://token", .subject = "ann$" };
        const struct signer_identity_list l = { &ann, 1, true };
        struct error err = { 0 };

        ASSERT(signature_trust_of_signers(&l, root_of(), &t->arena, &signers, NULL) == 0);
        ASSERT(certificate_check(leaf, NULL, signers.root, WALL, &t->arena, &err) < 0);
        ASSERT(certificate_log_check(leaf, leaf, signers.root, &err) < 0);
        if (certificate_check_signer(leaf, signers.signers, signers.n_signers, &t->arena, &err) < 0)
                ASSERT(err.code == ERR_FORBIDDEN && *err.text);
}

static void try_certificate(struct trial *t)
{
        STACK_OF(X509) *given = NULL;
        X509 *leaf = NULL;

        judge(t, &(struct signature){ .value = "AAAA", .certificate = t->text, .bundle = "{}" });
        ASSERT(certificates_new(&t->arena, &given, NULL) == 0);
        (void)certificates_of_pem(t->text, &t->arena, given, NULL);
        if (certificate_of_der(t->bytes, &t->arena, &leaf, NULL) == 0)
                check_leaf(t, leaf);
}

static void try_bundle(struct trial *t)
{
        struct log_entry e;
        struct error err = { 0 };

        if (log_entry_read(t->text, root_of(), &t->arena, &e, &err) < 0)
                ASSERT(err.code == ERR_FORBIDDEN && *err.text);
}

static void try_whole(struct trial *t)
{
        if (t->bytes.len > 0)
                judge(t, &(struct signature){ .whole = t->bytes });
}

static void try_entry(struct trial *t)
{
        const struct log_entry e = { .body = t->bytes };
        X509 *other = root_of()->authorities[0].anchor;
        const uint8_t hash[SHA256_SIZE] = { 0 };
        struct error err = { 0 };

        ASSERT(log_entry_check(&e, false, hash, SLICE("y"), other, &t->arena, &err) < 0);
        ASSERT(log_entry_check(&e, true, hash, SLICE("y"), other, &t->arena, &err) < 0);
}

static void try_proof(struct trial *t)
{
        AUTO_JSON json_t *entry = parsed(t->bytes);
        struct error err = { 0 };
        struct slice body;

        if (entry && log_proof_check(entry, root_of(), WALL, &t->arena, &body, &err) < 0)
                ASSERT(err.code == ERR_INVALID && *err.text);
}

static void try_timestamp(struct trial *t)
{
        struct error err = { 0 };
        int64_t ms;

        ASSERT(timestamp_check(t->bytes, SLICE("x"), root_of(), &ms, &err) < 0 && *err.text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static void (*const tries[])(struct trial * t) = { try_root,   try_key,      try_certificate,
                                                           try_bundle, try_whole,    try_entry,
                                                           try_proof,  try_timestamp };
        struct trial t = { .bytes = input_of(data, size) };
        struct slice kind = first_line(&t.bytes);

        if (kind.len != 1)
                return 0;
        t.text = arena_strndup(&t.arena, t.bytes.data, t.bytes.len);
        tries[(uint8_t)kind.data[0] % ARRAY_LEN(tries)](&t);
        arena_free(&t.arena);
        return 0;
}
