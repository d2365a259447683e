/* Lists of branches, tags and requests, page by page: what Git services have in common. */
#pragma once

#include "hub-agent/input-provider/source_http.h"

enum listing_of { LIST_BRANCHES, LIST_TAGS, LIST_REQUESTS };

/* Where an item of a service's answer has what is exported; paths as of doc_get, NULL = nowhere. */
struct listing_fields {
        const char *number; /* the id; NULL = ID(name) */
        const char *name, *sha, *title, *author;
        const char *labels, *label_name; /* an array of texts, or of objects with the text */
        const char *name_prefix;         /* cut off the name */
        const char *items;               /* the array within the answer; NULL = the answer */
        bool labels_are_asked_for;       /* the service filters by labels itself */
        bool with_slug;
};

/* What GitHub calls them, and those that took its API over. */
const struct listing_fields *listing_github_fields(enum listing_of what);

struct listing {
        struct source *source;
        enum listing_of what;
        const char *words; /* "GitHub branches" */
        const char *form;  /* how such an URL looks */
        const struct listing_fields *fields;
        struct transfer_call call; /* url = the first page */
        /* Makes the URL of the page behind this one; NULL: it was the last. n_items: in this page. */
        int (*next)(struct listing *l, const struct http_response *a, size_t n_items, const char **ret,
                    struct error *err);
        size_t n_pages, n_items; /* read so far */
};

/* Adds what passes the filter to source->refs: branches and requests until the limit, of tags the best. */
int listing_read(struct listing *l, struct error *err);
/* The URL of each page is asked for once, and for LIMIT_INPUT_PAGES at most: ERR_LIMIT, ERR_INVALID. */
struct listing_pages {
        const char *words;
        struct map *seen;
};
int listing_enter_page(struct listing_pages *p, const char *url, struct arena *arena, struct error *err);
int listing_next_by_link(struct listing *l, const struct http_response *a, size_t n_items, const char **ret,
                         struct error *err);
/* `key=value` behind the URL's query. NULL on no memory. */
const char *listing_with_query(struct arena *arena, const char *url, const char *key, const char *value);
/* "/owner/repo" as it stands in a path: both parts of an URL's path, no more and no less. NULL if not so. */
const char *listing_owner_and_repository(const struct web_url *u, struct arena *arena);
