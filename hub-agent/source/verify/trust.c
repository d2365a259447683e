/* Who may sign, as Secrets and specs say. */
#include <stdlib.h>

#include "hub-agent/source/verify/public_key.h"
#include "hub-agent/source/verify/signatures.h"

/* ---- keys ---- */

static int compare_names(const void *a, const void *b)
{
        return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int list_names(const struct secret *s, struct arena *arena, const char ***ret, size_t *ret_n,
                      struct error *err)
{
        json_t *data = doc_get_object(s->doc, "data"), *value;
        const char **all = ARENA_NEW_ARRAY(arena, const char *, json_object_size(data) + 1), *name;

        if (!all)
                return error_no_memory(err);
        *ret_n = 0;
        json_object_foreach(data, name, value)
                if (text_ends_with(name, ".pub"))
                        all[(*ret_n)++] = name;
        if (*ret_n == 0)
                return error_set(err, ERR_INVALID, "no public keys found in secret '%s'", s->name);
        if (*ret_n > SIGNATURE_KEYS)
                return error_set(err, ERR_LIMIT, "secret '%s' has more than %d public keys", s->name,
                                 SIGNATURE_KEYS);
        qsort(all, *ret_n, sizeof(*all), compare_names);
        *ret = all;
        return 0;
}

static int read_key(const struct secret *s, const char *name, struct arena *arena, EVP_PKEY **ret,
                    struct error *err)
{
        const char *pem = NULL;

        TRY(secret_take(s, name, arena, &pem, err));
        if (public_key_of_pem(slice_of(pem), arena, ret, err) < 0)
                return error_wrap(err, "key '%s' of secret '%s' cannot be used", name, s->name);
        return 0;
}

int signature_trust_of_secret(const struct secret *s, struct arena *arena, struct signature_trust *ret,
                              struct error *err)
{
        const char **names = NULL;
        size_t n = 0;

        *ret = (struct signature_trust){ 0 };
        TRY(list_names(s, arena, &names, &n, err));
        ret->keys = ARENA_NEW_ARRAY(arena, EVP_PKEY *, n);
        if (!ret->keys)
                return error_no_memory(err);
        for (; ret->n_keys < n; ret->n_keys++)
                TRY(read_key(s, names[ret->n_keys], arena, &ret->keys[ret->n_keys], err));
        return 0;
}

/* ---- signers ---- */

static int compile(struct arena *arena, const char *pattern, const struct regex **ret, size_t at,
                   const char *field, struct error *err)
{
        if (regex_compile(arena, slice_of(pattern), ret, err) < 0)
                return error_wrap(err, "spec.verify.matchOIDCIdentity[%zu].%s", at, field);
        return 0;
}

int signature_trust_of_signers(const struct signer_identity_list *l, const struct trusted_root *root,
                               struct arena *arena, struct signature_trust *ret, struct error *err)
{
        *ret = (struct signature_trust){ .root = root };
        ret->signers = ARENA_NEW_ARRAY(arena, struct signer_pattern, l->n + 1);
        if (!ret->signers)
                return error_no_memory(err);
        for (; ret->n_signers < l->n; ret->n_signers++) {
                const struct signer_identity *of = &l->at[ret->n_signers];
                struct signer_pattern *p = &ret->signers[ret->n_signers];

                TRY(compile(arena, of->issuer, &p->issuer, ret->n_signers, "issuer", err));
                TRY(compile(arena, of->subject, &p->subject, ret->n_signers, "subject", err));
        }
        return 0;
}
