/* A socket belongs for ever to the namespace of the thread that made it. So each call here runs on a thread
 * of its own that enters the pod's namespace and ends: the runner itself never leaves its own, which as a
 * normal user it could not enter again. */
#include "e2e/chart-runner/network.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define BACKLOG 64

struct job {
        const char *what;
        const char *ip; /* make a namespace with this address; NULL: enter the one of `fd` */
        int fd, port;   /* port: 0 = a socket to connect with */
        int result;     /* file descriptor, or a negative errno */
};

static int set_address(int s, const char *interface, const char *ip)
{
        struct ifreq rq = { 0 };
        struct sockaddr_in *at = (struct sockaddr_in *)&rq.ifr_addr;

        snprintf(rq.ifr_name, sizeof(rq.ifr_name), "%s", interface);
        at->sin_family = AF_INET;
        inet_pton(AF_INET, ip, &at->sin_addr);
        return ioctl(s, SIOCSIFADDR, &rq);
}

static int bring_up_loopback(const char *ip)
{
        struct ifreq rq = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_LOOPBACK | IFF_RUNNING };
        int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        bool good = s >= 0 && ioctl(s, SIOCSIFFLAGS, &rq) == 0 && set_address(s, "lo:0", ip) == 0;
        int saved = errno;

        if (s >= 0)
                close(s);
        return good ? 0 : -saved;
}

static int make_namespace(const struct job *j)
{
        int code, fd;

        if (unshare(CLONE_NEWNET) < 0)
                return -errno;
        code = bring_up_loopback(j->ip);
        if (code < 0)
                return code;
        fd = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
        return fd < 0 ? -errno : fd;
}

static int listen_at(int s, int port)
{
        struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
        int on = 1;

        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        if (setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
            bind(s, (struct sockaddr *)&at, sizeof(at)) < 0 || listen(s, BACKLOG) < 0)
                return -errno;
        return 0;
}

static int make_socket(const struct job *j)
{
        int s, code;

        if (setns(j->fd, CLONE_NEWNET) < 0)
                return -errno;
        s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (s < 0)
                return -errno;
        code = j->port ? listen_at(s, j->port) : 0;
        if (code == 0)
                return s;
        close(s);
        return code;
}

static void *run(void *ctx)
{
        struct job *j = ctx;

        j->result = j->ip ? make_namespace(j) : make_socket(j);
        return NULL;
}

static int run_inside(struct job *j, int *ret_fd, struct error *err)
{
        pthread_t thread;
        int code = pthread_create(&thread, NULL, run, j);

        if (code != 0)
                return error_errno(err, code, "%s: thread", j->what);
        pthread_join(thread, NULL);
        if (j->result < 0)
                return error_errno(err, -j->result, "%s", j->what);
        *ret_fd = j->result;
        return 0;
}

int pod_network_open(struct pod_network *n, unsigned number, struct error *err)
{
        struct job j = { .what = "making a network namespace (root, or a user namespace, is needed)" };

        snprintf(n->ip, sizeof(n->ip), "198.18.%u.%u", number / 250 % 250, number % 250 + 1);
        j.ip = n->ip;
        n->fd = -1;
        return run_inside(&j, &n->fd, err);
}

void pod_network_close(struct pod_network *n)
{
        if (n->fd >= 0)
                close(n->fd);
        n->fd = -1;
}

int pod_network_socket(const struct pod_network *n, int *ret_fd, struct error *err)
{
        struct job j = { .what = "making a socket in the pod's network", .fd = n->fd };

        return run_inside(&j, ret_fd, err);
}

int pod_network_listen(const struct pod_network *n, int port, int *ret_fd, struct error *err)
{
        struct job j = { .what = "listening in the pod's network", .fd = n->fd, .port = port };

        return run_inside(&j, ret_fd, err);
}
