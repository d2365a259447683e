/* What the files of moves share. A move that changes something ends in move_done(), one that users are
 * refused in move_refused(). */
#pragma once

#include "e2e/simulation/moves.h"

#define MOVE_PLAY(name) int name(struct player *p, struct dice *d, struct error *err)

/* ---- users and their objects: moves_app.c ---- */
MOVE_PLAY(move_make_app);
MOVE_PLAY(move_add);
MOVE_PLAY(move_change);
MOVE_PLAY(move_change_many);
MOVE_PLAY(move_delete);
MOVE_PLAY(move_label);
MOVE_PLAY(move_big);
MOVE_PLAY(move_delete_namespace);
/* ---- placements: moves_place.c ---- */
MOVE_PLAY(move_place);
MOVE_PLAY(move_place_accessible);
MOVE_PLAY(move_place_reported);
MOVE_PLAY(move_place_twin);
MOVE_PLAY(move_place_part);
MOVE_PLAY(move_unplace);
MOVE_PLAY(move_policy);
MOVE_PLAY(move_count);
MOVE_PLAY(move_select);
MOVE_PLAY(move_apply_strategy);
MOVE_PLAY(move_rolling_update);
MOVE_PLAY(move_external);
MOVE_PLAY(move_history);
MOVE_PLAY(move_report_back);
/* ---- overrides: moves_override.c ---- */
MOVE_PLAY(move_override_add);
MOVE_PLAY(move_override_change);
MOVE_PLAY(move_override_delete);
/* ---- evictions: moves_evict.c ---- */
MOVE_PLAY(move_evict);
MOVE_PLAY(move_evict_many);
MOVE_PLAY(move_evict_nothing);
MOVE_PLAY(move_eviction_delete);
MOVE_PLAY(move_budget);
MOVE_PLAY(move_budget_delete);
/* ---- update runs: moves_run.c ---- */
MOVE_PLAY(move_run);
MOVE_PLAY(move_run_back);
MOVE_PLAY(move_run_second);
MOVE_PLAY(move_run_retry);
MOVE_PLAY(move_run_stop);
MOVE_PLAY(move_run_resume);
MOVE_PLAY(move_run_delete);
MOVE_PLAY(move_run_interrupt);
MOVE_PLAY(move_approve);
MOVE_PLAY(move_disapprove);
MOVE_PLAY(move_approve_early);
MOVE_PLAY(move_run_gated);
MOVE_PLAY(move_stages);
MOVE_PLAY(move_stages_delete);
/* ---- clusters: moves_cluster.c ---- */
MOVE_PLAY(move_relabel);
MOVE_PLAY(move_taint);
MOVE_PLAY(move_leave);
MOVE_PLAY(move_tell_size); /* moves_tell.c */
MOVE_PLAY(move_tell_price);
MOVE_PLAY(move_join);
MOVE_PLAY(move_unready);
MOVE_PLAY(move_ready);
/* ---- by hand: moves_hand.c ---- */
MOVE_PLAY(move_edit_placed);
MOVE_PLAY(move_extend_placed);
MOVE_PLAY(move_delete_placed);
MOVE_PLAY(move_delete_placed_namespace);
MOVE_PLAY(move_foreign_settings);
MOVE_PLAY(move_foreign_role);
MOVE_PLAY(move_delete_work);
MOVE_PLAY(move_delete_binding);
MOVE_PLAY(move_delete_snapshot);
MOVE_PLAY(move_delete_policy_snapshot);
/* ---- ClusterObjectSets on members: moves_set.c, moves_set_hand.c ---- */
MOVE_PLAY(move_set_make);
MOVE_PLAY(move_set_next);
MOVE_PLAY(move_set_next_fewer);
MOVE_PLAY(move_set_next_more);
MOVE_PLAY(move_set_next_moved);
MOVE_PLAY(move_set_next_stuck);
MOVE_PLAY(move_set_again);
MOVE_PLAY(move_set_archive);
MOVE_PLAY(move_set_delete);
MOVE_PLAY(move_set_orphan);
MOVE_PLAY(move_set_foreground);
MOVE_PLAY(move_set_fix);
MOVE_PLAY(move_set_spoil);
MOVE_PLAY(move_set_secret);
MOVE_PLAY(move_set_secret_gone);
MOVE_PLAY(move_set_seal);
MOVE_PLAY(move_set_stall);
MOVE_PLAY(move_set_go_on);
MOVE_PLAY(move_set_edit);
MOVE_PLAY(move_set_take);
MOVE_PLAY(move_set_stray);
MOVE_PLAY(move_set_stray_owned);
/* ---- ResourceSets on the hub: moves_table.c, moves_table_hand.c; their providers: moves_source.c ---- */
MOVE_PLAY(move_table_make);
MOVE_PLAY(move_table_inputs);
MOVE_PLAY(move_table_from);
MOVE_PLAY(move_table_permute);
MOVE_PLAY(move_table_write);
MOVE_PLAY(move_table_mark);
MOVE_PLAY(move_table_leave_out);
MOVE_PLAY(move_table_spoil);
MOVE_PLAY(move_table_after);
MOVE_PLAY(move_table_wait);
MOVE_PLAY(move_table_keep);
MOVE_PLAY(move_table_suspend);
MOVE_PLAY(move_table_seal);
MOVE_PLAY(move_table_force);
MOVE_PLAY(move_table_copy);
MOVE_PLAY(move_table_mend);
MOVE_PLAY(move_table_disown);
MOVE_PLAY(move_table_delete);
MOVE_PLAY(move_table_request);
MOVE_PLAY(move_table_original);
MOVE_PLAY(move_made_edit);
MOVE_PLAY(move_made_delete);
MOVE_PLAY(move_made_protect);
MOVE_PLAY(move_made_foreign);
MOVE_PLAY(move_made_neighbour);
MOVE_PLAY(move_table_status);
MOVE_PLAY(move_source_make);
MOVE_PLAY(move_source_change);
MOVE_PLAY(move_source_label);
MOVE_PLAY(move_source_suspend);
MOVE_PLAY(move_source_delete);
MOVE_PLAY(move_service_trouble);
MOVE_PLAY(move_service_answer);
/* ---- charts and their repositories: moves_chart.c ---- */
MOVE_PLAY(move_repository_make);
MOVE_PLAY(move_repository_suspend);
MOVE_PLAY(move_repository_request);
MOVE_PLAY(move_repository_delete);
MOVE_PLAY(move_publish);
MOVE_PLAY(move_withdraw);
MOVE_PLAY(move_library_trouble);
MOVE_PLAY(move_library_answer);
MOVE_PLAY(move_chart_make);
MOVE_PLAY(move_chart_edit);
MOVE_PLAY(move_chart_suspend);
MOVE_PLAY(move_chart_request);
MOVE_PLAY(move_chart_delete);
MOVE_PLAY(move_artifact_lose);
MOVE_PLAY(move_volume_full);
MOVE_PLAY(move_volume_room);
int moves_heal_shelf(struct player *p, struct error *err);
/* ---- the garden's repository: moves_garden.c ---- */
MOVE_PLAY(move_plot_add);
MOVE_PLAY(move_plot_change);
MOVE_PLAY(move_plot_remove);
MOVE_PLAY(move_plot_rename);
MOVE_PLAY(move_plot_ignore);
MOVE_PLAY(move_bed_place);
MOVE_PLAY(move_bed_break);
MOVE_PLAY(move_bed_clear);
MOVE_PLAY(move_bed_mend);
MOVE_PLAY(move_branch_force);
MOVE_PLAY(move_tag_move);
MOVE_PLAY(move_plot_edit);
MOVE_PLAY(move_plot_delete);
MOVE_PLAY(move_plot_leave);
MOVE_PLAY(move_plot_neighbour);
MOVE_PLAY(move_job_change);
MOVE_PLAY(move_garden_image);
MOVE_PLAY(move_garden_policy);
MOVE_PLAY(move_garden_sync);
MOVE_PLAY(move_garden_collect);
MOVE_PLAY(move_remote_trouble);
MOVE_PLAY(move_remote_answer);
MOVE_PLAY(move_stop_gardener);
MOVE_PLAY(move_kill_gardener);
MOVE_PLAY(move_start_gardener);
int moves_keep_gardener(struct player *p, struct error *err);
int moves_heal_garden(struct player *p, struct error *err);
/* ---- what webhooks refuse: moves_bad.c ---- */
int moves_bad_wish(struct player *p, uint64_t dice, struct error *err); /* let in is an error */
/* ---- accidents: moves_accident.c ---- */
MOVE_PLAY(move_stop_member);
MOVE_PLAY(move_kill_member);
MOVE_PLAY(move_stop_hub_agent);
MOVE_PLAY(move_kill_hub_agent);
MOVE_PLAY(move_edit_at_start);
MOVE_PLAY(move_start_agent);
MOVE_PLAY(move_cut_link);
MOVE_PLAY(move_heal_link);
MOVE_PLAY(move_disk_full);
MOVE_PLAY(move_disk_room);
MOVE_PLAY(move_clock_forward);
MOVE_PLAY(move_clock_back);
MOVE_PLAY(move_restart_server);
MOVE_PLAY(move_kill_server);
MOVE_PLAY(move_power_failure);
MOVE_PLAY(move_server_disk_full);
MOVE_PLAY(move_cut_watches);
MOVE_PLAY(move_compact_watches);
MOVE_PLAY(move_pause_hub_agent);
MOVE_PLAY(move_pause_member);
MOVE_PLAY(move_heal_all);
int moves_restart_hub(struct player *p,
                      struct error *err); /* the hub agents that are up are killed, and back */
int moves_make_room(struct player *p,
                    struct error *err); /* once the server's disk was full for long enough */

/* ---- shared: moves.c ---- */

/* Returns from a move that can do nothing more: broken, or refused. */
#define NEED(call)                                                                                           \
        do {                                                                                                 \
                int need_result_ = (call);                                                                   \
                if (need_result_ <= 0)                                                                       \
                        return need_result_;                                                                 \
        } while (0)

/* What a move did, gathered piece by piece; what does not fit is left out. */
struct words {
        char text[400];
        size_t n;
};
void words_add(struct words *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

int move_done(struct player *p, const char *format, ...)
        __attribute__((format(printf, 2, 3)));                   /* logs it; returns 1 */
int move_refused(struct player *p, int code, struct error *err); /* 0; what ends the run is passed on */
int64_t move_now(const struct player *p);
/* "hub" or "member-3", by index 0 ... */
const char *move_cluster_name(unsigned cluster, char ret[FLEET_AGENT_NAME]);
int move_client(struct player *p, unsigned cluster, struct kube_client **ret, struct error *err);
/* Server-side apply as the player; takes `doc`, NULL is ERR_NO_MEMORY. */
int move_apply(struct player *p, const struct kube_resource *r, const char *ns, json_t *doc,
               struct error *err);
/* The hub has no such object. False as well if it could not be asked. */
bool move_is_gone(struct player *p, const struct kube_resource *r, const char *ns, const char *name);
const char *move_placement_home(unsigned app, enum wish_place place); /* its namespace or NULL */
unsigned move_member(struct player *p, struct dice *d);               /* any of the fleet's */
/* An application that `fits`, from a random one on; false if none does. */
bool move_find_app(struct player *p, struct dice *d, bool (*fits)(const struct wish_app *a), unsigned *ret);
bool move_app_lives(const struct wish_app *a); /* its namespace is there to stay */
/* A placement that exists. */
bool move_find_placement(struct player *p, struct dice *d, unsigned *ret_app, enum wish_place *ret_place);
int move_put_object(struct player *p, unsigned app, unsigned slot, const struct wish_object *wanted,
                    struct words *words, struct error *err); /* moves_app.c: 1, 0 if refused */
/* Another content of something that the placement selects: moves_app.c; 1, 0 if there is nothing. */
int move_change_selected(struct player *p, struct dice *d, unsigned app, enum wish_place place,
                         struct words *words, struct error *err);
/* The placement becomes External: moves_place.c; 1, 0 if refused. */
int move_make_external(struct player *p, unsigned app, enum wish_place place, struct error *err);

/* ---- shared by moves of ClusterObjectSets: moves_set.c ---- */

struct berth { /* a revision of a ship on a member */
        unsigned member, ship, revision;
};
typedef bool move_set_fits(const struct wish_ship *ship, unsigned revision);
struct wish_ship *move_ship(struct player *p, const struct berth *b);
struct wish_set *move_set(struct player *p, const struct berth *b);
bool move_find_set(struct player *p, struct dice *d, move_set_fits *fits, struct berth *ret);
int move_set_done(struct player *p, const struct berth *b, const char *what);
int move_harbor(struct player *p, unsigned member, struct error *err); /* there is one: 1, 0 if refused */
int move_put_secret(struct player *p, const struct berth *b,
                    struct error *err);                       /* creates it; codes as they are */
void move_note_stray(struct wish_ship *ship, unsigned cargo); /* sets that there are may take it over */

/* ---- shared by moves of ResourceSets: moves_table.c ---- */

int move_desk(struct player *p, struct error *err);                    /* there is one: 1, 0 if refused */
bool move_find_table(struct player *p, struct dice *d, unsigned *ret); /* one that exists */
struct wish_inputs move_draw_inputs(struct dice *d);
/* Asks for it to be like that: 1, 0 if refused, and then it is wished as before. */
int move_put_table(struct player *p, unsigned table, const struct wish_table *wanted, struct error *err);
int move_request_table(struct player *p, unsigned table,
                       struct error *err); /* that it be looked at: the same */
