#include "e2e/kube/kube_pki.h"

#include "common/base/limits.h"
#include "common/base/memory.h"
#include "common/json/yaml.h"
#include "common/net/cert.h"

#define DAYS 365

void kube_pki_free(struct kube_pki *p)
{
        mem_free(p->ca_cert);
        mem_free(p->admin_cert);
        mem_free(p->admin_key);
        *p = (struct kube_pki){ 0 };
}

static int write_text(struct world *w, const char *folder, const char *file, const char *text,
                      struct error *err)
{
        AUTO_FREE char *path = mem_printf("%s/%s", folder, file);

        if (!path)
                return error_no_memory(err);
        return w->files->write(w->ctx, path, text, strlen(text), err);
}

static int make_server(struct world *w, const char *folder, const char *ca_cert, const char *ca_key,
                       struct error *err)
{
        static const char *const names[] = { "localhost", "kubernetes", "kubernetes.default",
                                             "kubernetes.default.svc", NULL };
        static const char *const addresses[] = { "127.0.0.1", NULL };
        const struct cert_subject subject = { .common_name = "kube-apiserver",
                                              .dns_names = names,
                                              .ip_addresses = addresses };
        AUTO_FREE char *cert = NULL, *key = NULL;

        TRY(cert_issue(ca_cert, ca_key, &subject, true, loop_wall_ms(w->loop), DAYS, &cert, &key, err));
        TRY(write_text(w, folder, "apiserver.crt", cert, err));
        return write_text(w, folder, "apiserver.key", key, err);
}

/* kube-apiserver reads the public key of tokens from a certificate as well as from a bare key. */
static int make_token_key(struct world *w, const char *folder, struct error *err)
{
        AUTO_FREE char *cert = NULL, *key = NULL;

        TRY(cert_self_signed_ca("service-accounts", loop_wall_ms(w->loop), DAYS, &cert, &key, err));
        TRY(write_text(w, folder, "sa.crt", cert, err));
        return write_text(w, folder, "sa.key", key, err);
}

static int make_all(struct world *w, const char *name, const char *folder, struct kube_pki *p,
                    struct error *err)
{
        static const char *const masters[] = { "system:masters", NULL };
        const struct cert_subject admin = { .common_name = "kubernetes-admin", .organizations = masters };
        AUTO_FREE char *ca_name = mem_printf("%s-ca", name), *ca_key = NULL;

        if (!ca_name)
                return error_no_memory(err);
        TRY(cert_self_signed_ca(ca_name, loop_wall_ms(w->loop), DAYS, &p->ca_cert, &ca_key, err));
        TRY(write_text(w, folder, "ca.crt", p->ca_cert, err));
        TRY(write_text(w, folder, "ca.key", ca_key, err));
        TRY(make_server(w, folder, p->ca_cert, ca_key, err));
        TRY(make_token_key(w, folder, err));
        return cert_issue(p->ca_cert, ca_key, &admin, false, loop_wall_ms(w->loop), DAYS, &p->admin_cert,
                          &p->admin_key, err);
}

int kube_pki_make(struct world *w, const char *name, const char *folder, struct kube_pki *ret,
                  struct error *err)
{
        struct kube_pki p = { 0 };
        int code = make_all(w, name, folder, &p, err);

        if (code < 0) {
                kube_pki_free(&p);
                return error_wrap(err, "certificates of %s", name);
        }
        *ret = p;
        return 0;
}

/* ---- kubeconfig ---- */

static int add_entry(json_t *doc, const struct kube_pki_entry *e)
{
        AUTO_FREE char *user = mem_printf("%s-admin", e->name);
        json_t *cluster = json_pack("{s:s, s:{s:s, s:o}}", "name", e->name, "cluster", "server", e->url,
                                    "certificate-authority-data", doc_base64(slice_of(e->pki->ca_cert)));
        json_t *context = json_pack("{s:s, s:{s:s, s:s}}", "name", e->name, "context", "cluster", e->name,
                                    "user", user ? user : "");
        json_t *login = json_pack("{s:s, s:{s:o, s:o}}", "name", user ? user : "", "user",
                                  "client-certificate-data", doc_base64(slice_of(e->pki->admin_cert)),
                                  "client-key-data", doc_base64(slice_of(e->pki->admin_key)));
        int bad = json_array_append_new(doc_get(doc, "clusters"), cluster) |
                  json_array_append_new(doc_get(doc, "contexts"), context) |
                  json_array_append_new(doc_get(doc, "users"), login);

        return bad || !user ? ERR_NO_MEMORY : 0;
}

int kube_pki_kubeconfig(struct world *w, const struct kube_pki_entry *at, size_t n, const char *path,
                        struct error *err)
{
        AUTO_JSON json_t *doc =
                json_pack("{s:s, s:s, s:[], s:[], s:[], s:s}", "apiVersion", "v1", "kind", "Config",
                          "clusters", "contexts", "users", "current-context", n ? at[0].name : "");
        AUTO_BUF struct buf text;

        buf_init(&text, LIMIT_KUBECONFIG_BYTES);
        for (size_t i = 0; doc && i < n; i++)
                if (add_entry(doc, &at[i]) < 0)
                        return error_no_memory(err);
        if (!doc)
                return error_no_memory(err);
        TRY(yaml_write(doc, &text));
        return w->files->write(w->ctx, path, text.data, text.len, err);
}
