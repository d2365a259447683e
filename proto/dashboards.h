/* Grafana dashboards of the two agents: rows of panels whose expressions are written as in
 * proto/expression.h. `make generate` writes charts/NAME-agent/files/monitoring/dashboard.json from them. */
#pragma once

#include "proto/alerts.h"

#define PANEL_QUERIES_MAX 3

struct panel_query {
        const char *expression;
        const char *legend; /* "{{controller}}" */
};

struct panel {
        const char *row; /* begins a row of that title; NULL goes on with the last */
        const char *title;
        enum metric_of of;
        bool single;      /* one number instead of a curve */
        const char *unit; /* Grafana's: "s", "bytes", "short" */
        const char *about;
        struct panel_query queries[PANEL_QUERIES_MAX];
};

extern const struct panel panels[];
extern const size_t n_panels;
