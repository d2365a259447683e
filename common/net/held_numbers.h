/* Numbers of files that somebody closes twice: kept taken between the two times, so that the second closes
 * nobody else's file. libwebsockets 4.1 does that with its event pipe when a context on a foreign loop ends:
 * once at once, and once when libuv tells that its handle is closed. */
#pragma once

#include "common/base/base.h"

struct held_numbers;
/* Which numbers are in use now. NULL on no memory, which the others take too and then hold nothing. */
struct held_numbers *held_numbers_look(void);
/* Takes those that were in use then and are not now, unless somebody was faster. */
void held_numbers_take(struct held_numbers *h);
/* Closes those that are still ours; returns NULL. */
struct held_numbers *held_numbers_free(struct held_numbers *h);
