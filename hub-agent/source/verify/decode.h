/* Texts of signatures, decoded. Internal to the folder. */
#pragma once

#include "common/base/arena.h"
#include "common/base/digest.h"
#include "common/base/text.h"

/* ERR_INVALID: "what: it is no base64". */
int decode_base64(const char *text, struct arena *arena, const char *what, struct slice *ret,
                  struct error *err);
/* 2n digits in lower case, which the text has. */
void decode_hex(const char *text, char *ret, size_t n);
void sha256_of(struct slice data, uint8_t ret[SHA256_SIZE]);
/* What is wrong with a signature costs it, whatever it is, but for memory: ERR_FORBIDDEN, behind "what: ". */
int refuse(struct error *err, const char *what);
