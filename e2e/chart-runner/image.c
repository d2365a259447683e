#include "e2e/chart-runner/image.h"

#include <string.h>

static const struct image_program images[] = {
        { "hub-agent", "hub-agent", "/hubagent" },
        { "member-agent", "member-agent", "/memberagent" },
        { "refresh-token", "refresh-token", "/refreshtoken" },
        { "kubectl-fleet", "kubectl-fleet", "/kubectl-fleet" },
};

const struct image_program *image_program_of(const char *image)
{
        const char *slash = strrchr(image, '/'), *name = slash ? slash + 1 : image;
        size_t n = strcspn(name, ":@");

        for (size_t i = 0; i < ARRAY_LEN(images); i++)
                if (strlen(images[i].image) == n && strncmp(images[i].image, name, n) == 0)
                        return &images[i];
        return NULL;
}
