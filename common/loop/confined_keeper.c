/* A keeper starts one program, tells how it ended, and ends all that is left of it. It is a child subreaper,
 * so whatever loses its parent becomes its child, and what has no parent but the keeper cannot hide from it.
 */
#include "common/loop/confined_keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Where its files stand: 0 to 2 are those of the program. */
enum { TALK = 3, SIGNALS = 4, FIRST_FREE = 5, AWAY = 16 };

#define RETRY_MS 10   /* between two looks at children that do not end */
#define BLIND_MAX 100 /* such looks, where /proc does not tell them */

struct keeper {
        pid_t program; /* also its process group: it stays a zombie to the end, so that the number stays its
                        */
        bool told;
};

/* ---- files and signals ---- */

static void say(enum keeper_word_kind kind, int value)
{
        struct keeper_word word = { kind, value };

        (void)!send(TALK, &word, sizeof(word), MSG_NOSIGNAL);
}

static void close_from(unsigned first)
{
        struct rlimit files = { 0 };

        if (close_range(first, ~0u, 0) == 0)
                return;
        (void)getrlimit(RLIMIT_NOFILE, &files);
        for (unsigned fd = first; fd < files.rlim_cur; fd++)
                close((int)fd);
}

static bool place_files(int out, int err, int talk)
{
        int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
        int fds[] = { nothing, out, err, talk };

        for (size_t i = 0; i < ARRAY_LEN(fds); i++)
                if (fds[i] < 0 || (fds[i] = fcntl(fds[i], F_DUPFD, AWAY)) < 0)
                        return false;
        for (size_t i = 0; i < ARRAY_LEN(fds); i++)
                if (dup2(fds[i], (int)i) < 0)
                        return false;
        (void)fcntl(TALK, F_SETFD, FD_CLOEXEC);
        close_from(SIGNALS);
        return true;
}

static void default_signals(void)
{
        struct sigaction sa = { .sa_handler = SIG_DFL };

        for (int number = 1; number < NSIG; number++)
                (void)sigaction(number, &sa, NULL);
}

/* SIGCHLD is read from a file; all else stays blocked, so that the keeper outlives what it keeps. */
static bool open_signals(void)
{
        sigset_t ended;
        int fd;

        sigemptyset(&ended);
        sigaddset(&ended, SIGCHLD);
        fd = signalfd(-1, &ended, SFD_CLOEXEC | SFD_NONBLOCK);
        if (fd >= 0 && fd != SIGNALS) {
                (void)dup3(fd, SIGNALS, O_CLOEXEC);
                close(fd);
        }
        return fd >= 0;
}

/* ---- the program ---- */

static void limit(int resource, uint64_t value)
{
        struct rlimit now;

        if (getrlimit(resource, &now) < 0)
                return;
        now.rlim_max = MIN((rlim_t)value, now.rlim_max);
        now.rlim_cur = now.rlim_max;
        (void)setrlimit(resource, &now);
}

NORETURN static void become(const struct confined *c, uint64_t processes)
{
        sigset_t none;

        (void)setpgid(0, 0);
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        sigemptyset(&none);
        (void)sigprocmask(SIG_SETMASK, &none, NULL);
        if (chdir(c->folder) < 0) {
                say(KEEPER_NO_FOLDER, errno);
                _exit(127);
        }
        limit(RLIMIT_CORE, 0);
        if (processes)
                limit(RLIMIT_NPROC, processes);
        if (c->max_file_bytes)
                limit(RLIMIT_FSIZE, c->max_file_bytes);
        if (c->max_memory)
                limit(RLIMIT_AS, c->max_memory);
        execve(c->argv[0], (char *const *)c->argv, (char *const *)c->env);
        say(KEEPER_NO_PROGRAM, errno);
        _exit(127);
}

/* How many processes our user has, nobody tells a container. Whoever has a limit below that cannot fork: so
 * it is doubled until one can. *ret_n: what it came to. */
static pid_t fork_counting(uint64_t *ret_n)
{
        struct rlimit now;

        if (getrlimit(RLIMIT_NPROC, &now) < 0)
                return _Fork();
        for (*ret_n = 1;; *ret_n *= 2) {
                now.rlim_cur = MIN((rlim_t)*ret_n, now.rlim_max);
                (void)setrlimit(RLIMIT_NPROC, &now);
                pid_t pid = _Fork();

                if (pid >= 0 || errno != EAGAIN || now.rlim_cur == now.rlim_max || *ret_n > INT32_MAX)
                        return pid;
        }
}

static pid_t start(const struct confined *c)
{
        uint64_t n = 0;
        pid_t pid = c->max_processes ? fork_counting(&n) : _Fork();

        if (pid == 0)
                become(c, c->max_processes ? n + c->max_processes : 0);
        if (pid > 0)
                (void)setpgid(pid, pid);
        return pid;
}

/* ---- children ---- */

/* Calls fn for each child. False: /proc does not tell them, and only the program was called for. */
static bool each_child(const struct keeper *k, void (*fn)(const struct keeper *k, pid_t pid))
{
        int fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
        char piece[512];
        pid_t pid = 0;
        ssize_t n;

        if (fd < 0) {
                if (!k->told)
                        fn(k, k->program);
                return false;
        }
        while ((n = read(fd, piece, sizeof(piece))) > 0)
                for (ssize_t i = 0; i < n; i++) {
                        if (piece[i] >= '0' && piece[i] <= '9') {
                                pid = pid * 10 + (piece[i] - '0');
                                continue;
                        }
                        if (pid)
                                fn(k, pid);
                        pid = 0;
                }
        close(fd);
        return true;
}

/* Its whole group at one stroke, which nothing escapes by forking. Asked of a child that is there, since only
 * then the number of the group is surely still its own. */
static void signal_child(const struct keeper *k, pid_t pid, int number)
{
        (void)kill(getpgid(pid) == k->program ? -k->program : pid, number);
}

static void end_child(const struct keeper *k, pid_t pid)
{
        signal_child(k, pid, SIGKILL);
}

static void ask_child(const struct keeper *k, pid_t pid)
{
        signal_child(k, pid, SIGTERM);
        signal_child(k, pid, SIGCONT);
}

static void bury_children(struct keeper *k)
{
        int status;
        pid_t pid;

        while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
                if (pid == k->program && !k->told) {
                        k->told = true;
                        say(KEEPER_ENDED, status);
                }
}

static void drain_signals(void)
{
        struct signalfd_siginfo info;

        while (read(SIGNALS, &info, sizeof(info)) > 0)
                ;
}

/* Until it is to end everything. */
static void keep(struct keeper *k)
{
        struct pollfd fds[] = { { .fd = TALK, .events = POLLIN }, { .fd = SIGNALS, .events = POLLIN } };
        for (char word = 0; word != KEEPER_KILL;) {
                word = 0;
                bury_children(k);
                if (poll(fds, ARRAY_LEN(fds), -1) < 0)
                        continue;
                drain_signals();
                if (fds[0].revents && read(TALK, &word, 1) != 1)
                        return; /* who started us is gone */
                if (word == KEEPER_TERM)
                        each_child(k, ask_child);
        }
}

/* Child by child, whose own become ours as they end: each time one does we are told, and look again. */
static void end_all(struct keeper *k)
{
        struct pollfd signals = { .fd = SIGNALS, .events = POLLIN };

        for (int blind = 0; blind < BLIND_MAX;) {
                blind += !each_child(k, end_child);
                bury_children(k);
                if (waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD)
                        return;
                (void)poll(&signals, 1, RETRY_MS);
                drain_signals();
        }
}

NORETURN void keeper_run(const struct confined *c, int out, int err, int talk)
{
        struct keeper k = { 0 };

        if (!place_files(out, err, talk))
                _exit(1);
        (void)setsid();
        default_signals();
        (void)umask(077);
        if (!open_signals() || prctl(PR_SET_CHILD_SUBREAPER, 1) < 0 ||
            prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || (k.program = start(c)) < 0) {
                say(KEEPER_FAILED, errno);
                _exit(1);
        }
        (void)dup2(0, 1); /* held open, the ends of these two would never be seen */
        (void)dup2(0, 2);
        keep(&k);
        end_all(&k);
        _exit(0);
}
