#include "common/loop/name_service.h"

#ifdef ARGOSY_STATIC
#include <nss.h>
#endif

/* A static program would load what nsswitch.conf names beside files and DNS from the machine's glibc, which
 * is another one than its own: where it fits, it brings a second one along, where not, no name is found. */
int name_service_stand_alone(struct error *err)
{
#ifdef ARGOSY_STATIC
        static const struct {
                const char *database, *sources;
        } all[] = {
                { "hosts", "files dns" }, { "passwd", "files" }, { "group", "files" }, { "services", "files" }
        };

        for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
                if (__nss_configure_lookup(all[i].database, all[i].sources) < 0)
                        return error_set(err, ERR_SYSTEM, "names of %s cannot be looked up", all[i].database);
#endif
        return 0;
}
