/* A patch that only moves times on. Most of what a fleet writes says that something lives: each minute the
 * same status with other times. Such a merge patch of a custom resource's status need not be read, merged,
 * defaulted, tracked and validated each time: when one has gone all that way and was much like the one
 * before, or one of the object was repeated before, what is needed to repeat it is kept beside the object's
 * state (struct repeat), and the next one with the same bytes, but for times, makes the next state's text
 * out of this one's.
 *
 * It is stored and answered what the ordinary way would have. So the repeat holds only for the state that it
 * was learned from, and those it made; it is learned only where nothing but the time of the writer's own
 * entry in managedFields follows from other times, and used only where no admission could have a word. */
#pragma once

#include "e2e/devcluster/request.h"

/* Writes the patch, if it is one of those: the new state, borrowed from the store. NULL: nothing was done,
 * and it goes the ordinary way. */
struct blob *again_patch(struct request *rq, const char *content_type, struct slice body);

/* What the state of the object was made by that a patch is about to change: for again_learn(). */
uint32_t again_before(struct request *rq);
/* After the ordinary way: `was` (the document before) has become `is` by a merge patch. */
void again_learn(struct request *rq, struct slice body, uint32_t before, const json_t *was, const json_t *is);
