/* Stands in a static program where Debian's libgit2 has its login by Kerberos, whose libraries are not to be
 * had static. That login belongs to libgit2's own transport over HTTP, which Argosy does not use:
 * repositories are asked through common/net. The name and the arguments are libgit2's
 * (transports/auth_negotiate.h); whoever comes here all the same is refused. */
int git_http_auth_negotiate(void **ret_context, const void *url);

int git_http_auth_negotiate(void **ret_context, const void *url)
{
        (void)url;
        *ret_context = 0;
        return -1;
}
