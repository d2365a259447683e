/* The certificate authority of all logical clusters: made once, kept in the store's file. In the simulation
 * there is no TLS, and keys would not follow from the seed, so it is only made when a kubeconfig is asked
 * for. */
#include "common/net/cert.h"
#include "e2e/devcluster/internal.h"

#define CA_DAYS 3650
#define CLIENT_DAYS 365

static int make_ca(struct devcluster *d, struct error *err)
{
        TRY(cert_self_signed_ca("devcluster-ca", loop_wall_ms(d->loop), CA_DAYS, &d->ca_cert, &d->ca_key,
                                err));
        TRY(cert_new_key(&d->signing_key, err));
        TRY(api_store_setting_put(d->store, "ca.crt", d->ca_cert, err));
        TRY(api_store_setting_put(d->store, "ca.key", d->ca_key, err));
        return api_store_setting_put(d->store, "sa.key", d->signing_key, err);
}

int pki_ensure(struct devcluster *d, struct error *err)
{
        return d->ca_cert ? 0 : make_ca(d, err);
}

int pki_open(struct devcluster *d, struct error *err)
{
        TRY(api_store_setting_get(d->store, "ca.crt", &d->ca_cert, err));
        TRY(api_store_setting_get(d->store, "ca.key", &d->ca_key, err));
        TRY(api_store_setting_get(d->store, "sa.key", &d->signing_key, err));
        return loop_is_simulated(d->loop) ? 0 : pki_ensure(d, err);
}

void pki_close(struct devcluster *d)
{
        mem_free(d->ca_cert);
        mem_free(d->ca_key);
        mem_free(d->signing_key);
}

const char *pki_ca_text(const struct devcluster *d)
{
        return d->ca_cert ? d->ca_cert
                          : "-----BEGIN CERTIFICATE-----\nc2ltdWxhdGVk\n-----END CERTIFICATE-----\n";
}

const char *devcluster_ca_pem(const struct devcluster *d)
{
        return pki_ca_text(d);
}

/* ---- kubeconfig ---- */

static json_t *kubeconfig_doc(struct devcluster *d, const char *const *clusters, size_t n, const char *cert,
                              const char *key)
{
        json_t *list = json_array(), *contexts = json_array();
        for (size_t i = 0; i < n; i++) {
                const char *own = map_get(&d->cluster_urls, clusters[i]);
                AUTO_FREE char *url =
                        own ? mem_strdup(own) : mem_printf("%s/clusters/%s", d->public_url, clusters[i]);
                json_array_append_new(list, json_pack("{s:s,s:{s:s,s:o}}", "name", clusters[i], "cluster",
                                                      "server", url ? url : "", "certificate-authority-data",
                                                      doc_base64(slice_of(d->ca_cert))));
                json_array_append_new(contexts,
                                      json_pack("{s:s,s:{s:s,s:s}}", "name", clusters[i], "context",
                                                "cluster", clusters[i], "user", "devcluster-admin"));
        }
        json_t *user =
                json_pack("{s:s,s:{s:o,s:o}}", "name", "devcluster-admin", "user", "client-certificate-data",
                          doc_base64(slice_of(cert)), "client-key-data", doc_base64(slice_of(key)));
        return json_pack("{s:s,s:s,s:o,s:o,s:[o],s:s}", "apiVersion", "v1", "kind", "Config", "clusters",
                         list, "contexts", contexts, "users", user, "current-context", n ? clusters[0] : "");
}

int devcluster_kubeconfig(struct devcluster *d, const char *const *clusters, size_t n, char **ret,
                          struct error *err)
{
        static const char *const masters[] = { "system:masters", NULL };
        const struct cert_subject subject = { .common_name = "kubernetes-admin", .organizations = masters };
        AUTO_FREE char *cert = NULL, *key = NULL;
        TRY(pki_ensure(d, err));
        TRY(cert_issue(d->ca_cert, d->ca_key, &subject, false, loop_wall_ms(d->loop), CLIENT_DAYS, &cert,
                       &key, err));
        AUTO_JSON json_t *doc = kubeconfig_doc(d, clusters, n, cert, key);
        AUTO_BUF struct buf out;
        buf_init(&out, 16u << 20);
        if (!doc)
                return error_no_memory(err);
        TRY(yaml_write(doc, &out));
        *ret = buf_take(&out, NULL);
        return *ret ? 0 : error_no_memory(err);
}
