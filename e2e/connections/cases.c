/* What can be wrong with a connection, how it comes about, and how it is mended. */
#include "e2e/connections/scene.h"

#include <unistd.h>

#define DAY INT64_C(86400)

static void up(struct scene *s)
{
        scene_stand_as(s, STAND_UP, &s->b->good);
}

static void refuse(struct scene *s)
{
        scene_stand_as(s, STAND_REFUSES, &s->b->good);
}

static void hang(struct scene *s)
{
        scene_stand_as(s, STAND_HANGS, &s->b->good);
}

static void html(struct scene *s)
{
        scene_stand_as(s, STAND_HTML, &s->b->good);
}

static void old(struct scene *s)
{
        scene_stand_as(s, STAND_OLD, &s->b->good);
}

/* ---- the server's certificate ---- */

static void other_authority(struct scene *s)
{
        scene_stand_as(s, STAND_UP, &s->b->other_authority);
}

static void other_name(struct scene *s)
{
        scene_stand_as(s, STAND_UP, &s->b->other_name);
}

static void expired_certificate(struct scene *s)
{
        scene_stand_as(s, STAND_UP, &s->b->expired);
}

static void early_certificate(struct scene *s)
{
        scene_stand_as(s, STAND_UP, &s->b->not_yet);
}

static void wrong_ca(struct scene *s)
{
        scene_write(s, "ca", s->b->other_ca);
}

static void right_ca(struct scene *s)
{
        scene_write(s, "ca", s->b->ca);
}

/* ---- the agent's token ---- */

static void good_token(struct scene *s)
{
        rmdir(scene_file(s, "token"));
        scene_write(s, "token", scene_token(s, NULL, DAY));
}

static void foreign_token(struct scene *s)
{
        scene_write(s, "token", scene_token(s, "vault", DAY));
        up(s);
}

static void expired_token(struct scene *s)
{
        scene_write(s, "token", scene_token(s, NULL, -60));
        up(s);
}

/* Whoever made the account anew made another one. */
static void revoked_token(struct scene *s)
{
        const char *token = scene_token(s, NULL, DAY);

        scene_make_account(s);
        scene_write(s, "token", token);
        up(s);
}

static void no_token_file(struct scene *s)
{
        unlink(scene_file(s, "token"));
}

static void empty_token_file(struct scene *s)
{
        scene_write(s, "token", "\n");
}

/* A folder cannot be read as a file even by root. */
static void unreadable_token_file(struct scene *s)
{
        unlink(scene_file(s, "token"));
        (void)s->b->world.files->make_directory(s->b->world.ctx, scene_file(s, "token"), NULL);
}

/* ---- the agent's client certificate ---- */

static void good_client(struct scene *s)
{
        scene_certificate(s, false, 0);
}

static void foreign_client(struct scene *s)
{
        scene_certificate(s, true, 0);
}

static void expired_client(struct scene *s)
{
        scene_certificate(s, false, -10);
}

static void early_client(struct scene *s)
{
        scene_certificate(s, false, 10);
}

/* ---- rights ---- */

static void forbid(struct scene *s)
{
        scene_allow(s, false);
        up(s);
}

static void allow(struct scene *s)
{
        scene_allow(s, true);
}

const struct connection_case connection_cases[] = {
        { "nothing listens", "ConnectionRefused", refuse, up },
        { "a black hole", "NoAnswer", hang, up },
        { "a page of HTML", "NotKubernetes", html, up },
        { "an old Kubernetes", "VersionUnsupported", old, up, .at_start_only = true },
        { "another authority", "ServerCertificateAuthority", other_authority, up },
        { "another name", "ServerCertificateName", other_name, up },
        { "an expired certificate", "ServerCertificateExpired", expired_certificate, up },
        { "an early certificate", "ServerCertificateNotYetValid", early_certificate, up },
        { "a wrong CA file", "ServerCertificateAuthority", wrong_ca, right_ca, .at_start_only = true },
        { "a token for others", "TokenAudience", foreign_token, good_token },
        { "an expired token", "TokenExpired", expired_token, good_token },
        { "a revoked token", "TokenRefused", revoked_token, good_token },
        { "no token file", "TokenFileMissing", no_token_file, good_token, .at_start_only = true },
        { "an empty token file", "TokenFileEmpty", empty_token_file, good_token, .at_start_only = true },
        { "a token file that cannot be read", "TokenFileUnreadable", unreadable_token_file, good_token,
          .at_start_only = true },
        { "a foreign client certificate", "ClientCertificateRefused", foreign_client, good_client,
          .at_start_only = true, .client_certificate = true },
        { "an expired client certificate", "ClientCertificateExpired", expired_client, good_client,
          .at_start_only = true, .client_certificate = true },
        { "an early client certificate", "ClientCertificateNotYetValid", early_client, good_client,
          .at_start_only = true, .client_certificate = true },
        { "a missing right", KUBE_REASON_RIGHT_MISSING, forbid, allow },
};
const size_t n_connection_cases = ARRAY_LEN(connection_cases);
