/* Flags that all agents have, spliced into the table of each: `at` is where a field is in its values. */
#pragma once

#include "common/base/flags.h"

/* Of leader election; the defaults and where the lease is are each agent's own. */
#define ELECTION_FLAGS(at, lease, renew, retry, ns, ns_help)                                                 \
        { "leader-elect", FLAG_BOOL, "false", at(leader_elect), "Only the holder of a lease works." },       \
                { "leader-lease-duration", FLAG_DURATION, lease, at(lease_duration_ms),                      \
                  "How long a lease holds." },                                                               \
                { "leader-renew-deadline", FLAG_DURATION, renew, at(renew_deadline_ms),                      \
                  "How long renewing is tried." },                                                           \
                { "leader-retry-period", FLAG_DURATION, retry, at(retry_period_ms),                          \
                  "Time between two tries." },                                                               \
        {                                                                                                    \
                "leader-election-namespace", FLAG_STRING, ns, at(leader_election_namespace), ns_help         \
        }

/* `address`: what its help calls an address. */
#define ENDPOINT_FLAGS(prefix, address, health_at, health, metrics_at, metrics)                              \
        { prefix "health-probe-bind-address", FLAG_STRING, health, health_at,                                \
          address " of health probes; 0 = none." },                                                          \
        {                                                                                                    \
                prefix "metrics-bind-address", FLAG_STRING, metrics, metrics_at,                             \
                        address " of metrics; 0 = none."                                                     \
        }

#define LOG_FLAGS(at)                                                                                        \
        { "v", FLAG_INT, "0", at(verbosity), "Verbosity of the log; 4 and more: debug.", 0, 10, false },     \
        {                                                                                                    \
                "log-json", FLAG_BOOL, "false", at(json_logs), "Logs one JSON object per line."              \
        }
