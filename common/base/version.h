/* The version of all programs; the charts' appVersion is the same (a test compares them). */
#pragma once

#define ARGOSY_VERSION "v0.1.0"
