/* Child processes and TCP links for fleets of real programs, on the real loop (libuv). */
#pragma once

#include "common/loop/world.h"

struct process;
/* Starts argv[0] with `environment` ("NAME=value", NULL-terminated; added to our own) and its output appended
 * to the file `log_path`. */
int process_start(struct loop *l, const char *const *argv, const char *const *environment,
                  const char *log_path, struct process **ret, struct error *err);
bool process_running(const struct process *p);
int process_exit_code(const struct process *p);    /* or 128 + signal; -1 while it runs */
int process_pid(const struct process *p);          /* 0 if it does not run */
int process_signal(struct process *p, int signal); /* -1: it does not run, or could not be told */
/* Parks until it has ended (0), the deadline (ERR_TIMEOUT) or cancellation. */
int process_wait(struct process *p, int64_t deadline_ms);
/* Sends the signal and parks until the process has ended; after `patience_ms` it is killed. Frees p. Returns
 * how it ended: its exit code, or 128 + signal. From a fiber. */
int process_stop(struct process *p, int signal, int64_t patience_ms);

/* A TCP port on 127.0.0.1 that is free and stays so while the socket *ret_fd is open, which the caller
 * closes: whoever listens with SO_REUSEADDR may have it. */
int process_reserve_port(int *ret_port, int *ret_fd, struct error *err);

/* A TCP relay on 127.0.0.1: what connects to its port is carried to target_port until the link is set down,
 * which also ends what is open. */
struct relay;
int relay_start(struct loop *l, int target_port, struct relay **ret, struct error *err);
/* The same on a socket that listens already, for one in another network namespace; taken, also on failure. */
int relay_start_on(struct loop *l, int listening_fd, int target_port, struct relay **ret, struct error *err);
int relay_port(const struct relay *r);
void relay_set(struct relay *r, bool up);
struct relay *relay_stop(struct relay *r); /* from a fiber */
