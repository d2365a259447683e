/* The page's files, linked into the program (assets.S). */
#pragma once

#include "common/net/http_assets.h"

extern const struct http_asset page_assets[]; /* ends in one without a path */
