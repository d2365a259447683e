/* What the page reads of the hub: informers that all who look share, by what they list. One that nobody uses
 * any more lingers for half a minute, since people go back, and is stopped then.
 *
 * A list of all placements of a kind is kept small, for it is large: of each cluster in a status what tells
 * how far it is; conditions that are True have neither message nor time. Who wants more names the placement.
 * A list of whole Works has their manifests only until the member has told of them; one of names_only has of
 * the manifests of resource snapshots what names them.
 */
#pragma once

#include "common/base/list.h"
#include "kubectl-fleet/page/view.h"

#define PAGE_SOURCES_MAX 256 /* informers at once */
#define PAGE_SOURCE_LINGER_MS 30000
#define PAGE_SOURCE_PAUSE_MS 5000 /* the longest, before the hub is asked again */

struct page_sources;
struct page_source;
struct informer_event;

/* `hub` outlives it. NULL on no memory. */
struct page_sources *page_sources_new(struct kube_client *hub, struct fiber_group *group, size_t most);
/* From a fiber; nobody uses one any more. NULL is fine; returns NULL. */
struct page_sources *page_sources_free(struct page_sources *s);
size_t page_sources_count(const struct page_sources *s); /* informers that run */
size_t page_sources_bytes(const struct page_sources *s); /* of the objects they hold */

/* A fetch that is kept up to date, in the memory of who uses it; zeroed it is none. */
struct page_use {
        struct list node; /* of the source's */
        struct page_source *source;
        struct fetch fetch; /* with strings of its own */
        char *refused;      /* why it reads nothing; NULL = it does */
        /* What it reads is another, or its state is. Must neither park nor end uses. */
        void (*changed)(struct page_use *u);
        /* Told of each event of the list that it reads, before that. The same holds. NULL = not told. */
        void (*event)(struct page_use *u, const struct informer_event *e);
};
/* ERR_INVALID: a name or namespace that none can have; ERR_LIMIT, ERR_NO_MEMORY. */
int page_use_begin(struct page_sources *s, const struct fetch *f, struct page_use *u, struct error *err);
/* One that reads nothing: the user may not. 0 or ERR_NO_MEMORY. */
int page_use_refuse(const struct fetch *f, const char *why, struct page_use *u);
void page_use_end(struct page_use *u); /* none is fine */
bool page_fetch_same(const struct fetch *a, const struct fetch *b);
/* It was read, or is known to be unreadable. */
bool page_use_settled(const struct page_use *u);
/* Fills the need: results, whether they were read, what is in the way. 0 or ERR_NO_MEMORY. */
int page_use_read(const struct page_use *u, struct arena *arena, struct page_need *ret);
