/* The garden's repository, served on the fleet's network from a folder of this machine, and the agent that
 * syncs it. Names of that folder and times of the machine get nowhere: commits have times of the virtual
 * clock and no path is told. */
#pragma once

#include "e2e/scenarios/fleet.h"
#include "e2e/simulation/wish.h"
#include "hub-agent/git/git.h"

struct sim_git;

/* With a first commit of what the garden has. The agent (WISH_GARDENER) is known to the fleet from now on,
 * and not started. The garden is borrowed. */
int sim_git_open(struct fleet *f, struct wish_garden *g, struct sim_git **ret, struct error *err);
struct sim_git *sim_git_close(struct sim_git *s); /* after the fleet; NULL is fine */

/* What the beds are to be, as a commit on the branch, which the garden then has. `forced`: one without
 * parents, in place of all that was. Nothing parks. */
int sim_git_commit(struct sim_git *s, const struct wish_bed beds[WISH_BEDS], bool forced, struct error *err);
/* What the sync tag leads to. ERR_NOT_FOUND. */
int sim_git_tag(struct sim_git *s, struct git_hash *ret, struct error *err);
/* Somebody moves it to the branch's first commit, or takes it away. 0: there is none. */
bool sim_git_move_tag(struct sim_git *s, bool away);
/* What the head has of a bed's CronJob: image "app:v3" or "", and whether it is locked. */
int sim_git_job(struct sim_git *s, unsigned bed, char ret_image[32], bool *ret_locked, struct error *err);
/* That `commit` is the head or comes before it; and how many commits of the branch are of that job. */
int sim_git_has(struct sim_git *s, const char *commit, bool *ret, struct error *err);
int sim_git_count_job(struct sim_git *s, const char *id, unsigned *ret, struct error *err);
/* The branch's head; and how many tags there are beside the sync tag. */
int sim_git_head(struct sim_git *s, struct git_hash *ret, struct error *err);
int sim_git_other_tags(struct sim_git *s, unsigned *ret, struct error *err);

enum sim_git_loss { LOSS_NONE, LOSS_ALL, LOSS_PART };
/* What becomes of the agent's work folder while it is down. */
void sim_git_lose_work(struct sim_git *s, enum sim_git_loss loss);
