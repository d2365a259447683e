/* What the files of e2e/kube share. */
#pragma once

#include "common/base/map.h"
#include "common/base/vec.h"
#include "common/kube/config.h"
#include "e2e/kube/fake_kubelet.h"
#include "e2e/kube/held_port.h"
#include "e2e/kube/kube_clusters.h"
#include "e2e/kube/kube_pki.h"
#include "e2e/scenarios/process.h"

struct kube_cluster {
        struct kube_clusters *all;
        const char *name, *folder, *url, *kubeconfig; /* in all->arena */
        bool hub;
        struct held_port *port;
        struct kube_pki pki;
        struct process *api_server, *controller_manager, *scheduler;
        struct kube_config config;
        struct kube_client client; /* the administrator */
        struct fake_kubelet *kubelet;
        struct map saved; /* the checkpoint: etcd's key (base64) -> struct saved_key (etcd_state.c) */
};

struct kube_clusters {
        struct kube_clusters_options o;
        struct world *world;
        struct arena arena;
        const char *etcd_url;
        struct http_endpoint etcd_endpoint;
        struct held_port *etcd_port, *etcd_peer_port;
        struct process *etcd;
        struct kube_cluster *at;
        size_t n;
        bool busy; /* one restart, checkpoint or reset at a time */
};

/* servers.c: each starts one program; ready_ functions park until it answers or ended. */
int server_start_etcd(struct kube_clusters *c, struct error *err);
int server_start_api(struct kube_cluster *k, struct error *err);
int server_start_controller_manager(struct kube_cluster *k, struct error *err);
int server_start_scheduler(struct kube_cluster *k, struct error *err);
int server_wait_etcd(struct kube_clusters *c, int64_t deadline_ms, struct error *err);
int server_wait_api(struct kube_cluster *k, int64_t deadline_ms, struct error *err);
/* The first thing the controller manager makes is there: it works. */
int server_wait_controller_manager(struct kube_cluster *k, int64_t deadline_ms, struct error *err);

/* etcd_state.c */
/* A request to etcd's JSON gateway; *ret_answer may be NULL. */
int etcd_post(struct kube_clusters *c, const char *path, const json_t *body, json_t **ret_answer,
              struct error *err);
int etcd_compact(struct kube_clusters *c, struct error *err); /* all history */
int etcd_save(struct kube_cluster *k, struct error *err);
/* Brings the saved state back and waits until no controller writes against it any more. */
int etcd_restore(struct kube_cluster *k, struct error *err);
