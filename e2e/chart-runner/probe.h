/* Probes of a container: kubelet's counters (pure) and one HTTP question asked inside the pod's network. */
#pragma once

#include "common/json/doc.h"
#include "common/loop/loop.h"
#include "e2e/chart-runner/network.h"

struct probe {
        char path[512];
        int port;
        int64_t delay_ms, period_ms, timeout_ms;
        int64_t needed_good, needed_bad;
};

/* Reads container.KIND ("livenessProbe"); *ret_there false if it has none. Only httpGet over HTTP, ports by
 * number or by the name of a containerPort; others are ERR_UNSUPPORTED. */
int probe_read(const json_t *container, const char *kind, struct probe *ret, bool *ret_there,
               struct error *err);

/* Counts answers: true when the outcome (*verdict) changed. */
struct probe_count {
        int64_t good, bad; /* in a row */
};
bool probe_count(const struct probe *p, struct probe_count *c, bool answer, bool *verdict);

/* 0 when the answer was 200 to 399; else an error with kubelet's words. Parks for at most the timeout. */
int probe_ask(struct loop *l, const struct pod_network *n, const struct probe *p, struct error *err);
