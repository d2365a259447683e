#include "e2e/connections/insider.h"

#include "e2e/devcluster/internal.h"
#include "e2e/devcluster/tokens.h"

int insider_sign(struct devcluster *d, const struct insider_token *t, struct arena *arena, const char **ret,
                 struct error *err)
{
        AUTO_JSON json_t *audiences = t->audience ? json_pack("[s]", t->audience) : NULL;
        const struct token_request request = { .ns = t->ns,
                                               .account = t->account,
                                               .account_uid = t->account_uid,
                                               .audiences = audiences,
                                               .seconds = t->seconds };

        return token_sign(d, &request, arena, ret, err);
}

int insider_authority(struct devcluster *d, const char **ret_cert, const char **ret_key, struct error *err)
{
        TRY(pki_ensure(d, err));
        *ret_cert = d->ca_cert;
        *ret_key = d->ca_key;
        return 0;
}
