/* The reader of YAML streams, on libyaml's events; private to common/json. */
#pragma once

#include <yaml.h>

#include "common/base/map.h"
#include "common/json/yaml.h"

struct yaml_reader {
        yaml_parser_t parser;
        yaml_event_t event; /* the current one */
        struct map anchors; /* of the document; values are references to json_t */
        size_t depth, aliases, alias_values;
        size_t lines_before;            /* what is read, for messages */
        size_t values, bytes;           /* of the part that is read */
        size_t most_values, most_bytes; /* of each part; 0 = no bound */
        struct error *err;
};

/* The error is that of the calls, and must be there. ERR_NO_MEMORY. */
int yaml_open_reader(struct yaml_reader *r, struct slice text, struct error *err);
void yaml_close_reader(struct yaml_reader *r);
int yaml_next(struct yaml_reader *r); /* the next event; ERR_INVALID with the line */
/* The value that the current event begins: a new reference. An anchored one is shared with the table of
 * anchors until the stream ends; nothing changes it in between. */
int yaml_read_value(struct yaml_reader *r, json_t **ret);
/* Keys become strings as JSON wants them: 1 -> "1", yes -> "true". */
int yaml_key_text(struct yaml_reader *r, const json_t *key, char number[64], struct slice *ret);
bool yaml_is_merge_key(const yaml_event_t *e);
int yaml_fail(struct yaml_reader *r, const char *words); /* ERR_INVALID, at the current event's line */
