/* Tokens of an Azure managed identity, from the instance metadata service of the node:
 * GET /metadata/identity/oauth2/token with the header "Metadata: true". */
#pragma once

#include "member-agent/refresh-token/refresh.h"

#define AZURE_IDENTITY_ENDPOINT "http://169.254.169.254"
#define AZURE_IDENTITY_ENDPOINT_VARIABLE "AZURE_POD_IDENTITY_AUTHORITY_HOST" /* another address of it */

struct azure_source {
        struct token_source source;
        struct world *world;
        struct http_endpoint endpoint; /* base_url; owned by who made it */
        const char *client_id, *scope;
};
void azure_source_init(struct azure_source *s);
