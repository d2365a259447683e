#include "e2e/kube/held_port.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <uv.h>

#include "common/base/memory.h"

struct held_port {
        uv_tcp_t socket;
        int number;
};

static void closed(uv_handle_t *h)
{
        mem_free(container_of((uv_tcp_t *)h, struct held_port, socket));
}

struct held_port *held_port_release(struct held_port *p)
{
        if (p)
                uv_close((uv_handle_t *)&p->socket, closed);
        return NULL;
}

int held_port_number(const struct held_port *p)
{
        return p->number;
}

/* 0 or libuv's code. */
static int bind_free(struct held_port *p)
{
        struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        int size = sizeof(address), on = 1, code;
        uv_os_fd_t fd;

        code = uv_fileno((uv_handle_t *)&p->socket, &fd);
        if (code == 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on)) < 0)
                code = UV_ENOTSUP;
        if (code == 0)
                code = uv_tcp_bind(&p->socket, (struct sockaddr *)&address, 0);
        if (code == 0)
                code = uv_tcp_getsockname(&p->socket, (struct sockaddr *)&address, &size);
        p->number = ntohs(address.sin_port);
        return code;
}

int held_port_take(struct loop *l, struct held_port **ret, struct error *err)
{
        struct held_port *p = NEW(struct held_port);
        int code;

        if (!p)
                return error_no_memory(err);
        code = uv_tcp_init_ex(loop_uv(l), &p->socket, AF_INET);
        if (code < 0) {
                mem_free(p);
                return error_set(err, ERR_SYSTEM, "a socket: %s", uv_strerror(code));
        }
        code = bind_free(p);
        if (code < 0) {
                held_port_release(p);
                return error_set(err, ERR_SYSTEM, "a free port on 127.0.0.1: %s", uv_strerror(code));
        }
        *ret = p;
        return 0;
}
