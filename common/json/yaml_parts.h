/* YAML as it is written: the parts of each document, and where in the text they stand. For who changes a text
 * that people wrote; documents themselves are read by yaml_parse() (doc.h). */
#pragma once

#include "common/json/doc.h"

enum yaml_part_kind { YAML_PART_SCALAR, YAML_PART_ALIAS, YAML_PART_MAPPING, YAML_PART_SEQUENCE };
enum yaml_part_style {
        YAML_PART_PLAIN,
        YAML_PART_SINGLE_QUOTED,
        YAML_PART_DOUBLE_QUOTED,
        YAML_PART_LITERAL,
        YAML_PART_FOLDED,
        YAML_PART_BLOCK, /* collections by indentation */
        YAML_PART_FLOW,  /* in brackets */
};

struct yaml_part {
        uint8_t kind, style;
        bool has_properties; /* an anchor or a tag stands before `start` */
        uint32_t start,
                end; /* bytes of the text, behind anchor and tag. Of a block collection: from its first
                        part to behind its last; of block scalars the line ends behind them too */
        uint32_t line, column;   /* of start; from 0, the column in characters */
        const char *anchor;      /* NULL = none */
        const char *tag;         /* NULL = none */
        struct slice text;       /* of a scalar, decoded; of an alias its anchor */
        struct yaml_part *first; /* of a mapping key, value, key, value, ... */
        struct yaml_part *next;  /* beside it; of a document's root: that of the next one */
        struct yaml_part *last;  /* of a collection */
};

/* The roots of all documents, in the arena; NULL = none. ERR_INVALID: broken, with the line, as yaml_parse()
 * says it; ERR_LIMIT as there. */
int yaml_parts_read(struct arena *arena, struct slice text, struct yaml_part **ret, struct error *err);
