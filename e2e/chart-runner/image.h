/* What the images of the charts hold, for a machine that has none: the last component of an image's name
 * tells which of our programs it is, and where the image has it. */
#pragma once

#include "common/base/base.h"

struct image_program {
        const char *image;      /* "hub-agent" */
        const char *program;    /* in the folder of programs */
        const char *entrypoint; /* inside the container */
};

/* By the full name ("ghcr.io/x/hub-agent:v1", with a digest or without a tag); NULL if it is none of ours. */
const struct image_program *image_program_of(const char *image);
