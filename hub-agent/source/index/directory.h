/* Where each chart begins in an index as it is kept (convert.h), so that its versions are found without
 * reading what stands before them. Pure. spec/helm-chart.md 8.4.
 */
#pragma once

#include "hub-agent/source/index/lookup.h"

#define INDEX_DIRECTORY_BYTES (8u << 20)

struct index_directory;
/* Reads all of it, so it may run offloaded. ERR_LIMIT: its names are longer than that all together. */
int index_directory_make(const struct index_source *source, struct index_directory **ret, struct error *err);
struct index_directory *index_directory_free(struct index_directory *d); /* NULL is fine; returns NULL */
/* For index_lookup(). ERR_NOT_FOUND: there is no such chart; ERR_NO_MEMORY. */
int index_directory_find(const struct index_directory *d, const char *name, uint64_t *ret_from);
