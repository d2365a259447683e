#include "hub-agent/source/verify/chart_signatures.h"

#include "hub-agent/source/verify/fetch.h"

/* ---- what is told ---- */

/* What rc->err says is the reason; SourceVerified is False with `told` before it. */
static int fails(struct chart_pass *c, const char *told)
{
        struct source_pass *p = c->pass;
        struct error *err = p->rc->err;
        const char *text;

        if (err->code == ERR_NO_MEMORY || err->code == ERR_CANCELLED)
                return err->code;
        text = arena_printf(p->rc->arena, "%s%s", told, err->text);
        if (!text || source_verified(&p->run, false, "VerificationError", text) < 0)
                return error_no_memory(err);
        return source_fails(p, &failing_signature);
}

static int preparing_fails(struct chart_pass *c)
{
        struct error *err = c->pass->rc->err;

        error_wrap(err, "failed to verify the signature using provider '%s'",
                   c->spec->verify->secret_ref ? "cosign" : "cosign keyless");
        return fails(c, "");
}

static int succeed(struct chart_pass *c, const char *version)
{
        struct source_pass *p = c->pass;
        const char *text = arena_printf(p->rc->arena, "verified signature of version %s", version);

        if (!text || source_verified(&p->run, true, "Succeeded", text) < 0)
                return error_no_memory(p->rc->err);
        return 0;
}

/* ---- who may sign ---- */

/* Has told what fails, unless it is the hub. */
static int read_secret(struct chart_pass *c, struct secret *ret)
{
        static const struct kube_resource secrets = { "", "v1", "secrets", "Secret", true };
        struct reconcile *rc = c->pass->rc;
        const char *name = or_empty(c->spec->verify->secret_ref->name);
        json_t *doc = NULL;
        int code = kube_doc_get(rc->kube, &secrets, rc->ns, name, &doc, rc->err);

        if (code == ERR_NOT_FOUND)
                error_set(rc->err, ERR_NOT_FOUND, "secrets \"%s\" not found", name);
        if (code < 0)
                error_wrap(rc->err, "failed to get secret '%s/%s'", rc->ns, name);
        if (code == ERR_NOT_FOUND || code == ERR_FORBIDDEN)
                return preparing_fails(c);
        TRY(code);
        TRY(doc_keep(rc->arena, doc, rc->err));
        *ret = (struct secret){ arena_printf(rc->arena, "%s/%s", rc->ns, name), doc };
        return ret->name ? 0 : error_no_memory(rc->err);
}

/* Once for each generation: afterwards its status says how verifying it went. */
static void warn_of_anybody(struct chart_pass *c)
{
        struct source_pass *p = c->pass;
        const struct source_status *s = ((const struct helm_chart *)p->now)->status;
        const struct condition *was = s ? condition_find(&s->conditions, CONDITION_SOURCE_VERIFIED) : NULL;

        if (was && was->observed_generation.value == p->run.generation)
                return;
        log_warn(&p->rc->log, "spec.verify names no signer in matchOIDCIdentity: whoever signed is taken");
}

static int take_keys(struct chart_pass *c, struct signature_trust *ret)
{
        struct reconcile *rc = c->pass->rc;
        struct secret s;

        TRY(read_secret(c, &s));
        return signature_trust_of_secret(&s, rc->arena, ret, rc->err) < 0 ? preparing_fails(c) : 0;
}

static int take_signers(struct chart_pass *c, struct signature_trust *ret)
{
        struct reconcile *rc = c->pass->rc;
        const struct signer_identity_list *signers = &c->spec->verify->match_oidc_identity;
        const struct trusted_root *root = c->pass->sources->options->trusted_root;

        if (!root) {
                error_set(rc->err, ERR_UNSUPPORTED, "this agent has no trusted root");
                return preparing_fails(c);
        }
        if (signers->n == 0)
                warn_of_anybody(c);
        return signature_trust_of_signers(signers, root, rc->arena, ret, rc->err) < 0 ? preparing_fails(c)
                                                                                      : 0;
}

/* ---- what is asked for ---- */

static int check_provider(struct chart_pass *c)
{
        const char *provider = c->spec->verify->provider;

        if (text_empty(provider) || text_equal(provider, "cosign"))
                return 0;
        source_unverified(&c->pass->run);
        error_set(c->pass->rc->err, ERR_UNSUPPORTED, "spec.verify.provider: '%s' is not supported", provider);
        return source_fails(c->pass, &failing_provider);
}

int chart_signatures_refuse(struct chart_pass *c)
{
        source_unverified(&c->pass->run);
        if (!c->spec->verify)
                return 0;
        TRY(check_provider(c));
        error_set(c->pass->rc->err, ERR_UNSUPPORTED, "not implemented");
        return fails(c, failing_signature.prefix);
}

int chart_signatures_verify(struct chart_pass *c, struct registry *r, const char *digest,
                            const char *reference, const char *version)
{
        struct signature_trust trust;

        if (!c->spec->verify) {
                source_unverified(&c->pass->run);
                return 0;
        }
        TRY(check_provider(c));
        TRY(c->spec->verify->secret_ref ? take_keys(c, &trust) : take_signers(c, &trust));
        if (signatures_verify(r, &trust, digest, reference, c->pass->rc->err) < 0)
                return fails(c, failing_signature.prefix);
        return succeed(c, version);
}
