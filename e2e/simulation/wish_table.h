/* ResourceSets ("tables") that users keep on the hub, and the providers ("sources") that give them inputs, as
 * asked so far. An input is of a tenant and has a color; what a table makes of one shows both. Pure data. */
#pragma once

#include "common/base/vec.h"
#include "common/json/doc.h"
#include "common/kube/client.h"

#define WISH_DESK "desk"         /* the namespace they live in */
#define WISH_ORIGINAL "original" /* ConfigMap there that tables copy */
#define WISH_TENANTS 4           /* "a" ... */
#define WISH_TABLES 4            /* ResourceSets "table-0" ... */
#define WISH_PLACED_TABLES 2  /* the first of them: per tenant a Namespace, a ConfigMap in it, a placement */
#define WISH_SOURCES 4        /* ResourceSetInputProviders "source-0" ... */
#define WISH_STATIC_SOURCES 2 /* the first of them; the others ask a service each */
/* What a table may make: of each tenant, or, permuted, of each pair of tenants. */
#define WISH_MADE (WISH_TENANTS + WISH_TENANTS * WISH_TENANTS)

struct wish_inputs {
        unsigned color[WISH_TENANTS]; /* 0: no input of that tenant */
};

enum wish_service { SERVICE_ANSWERS, SERVICE_FAILS, SERVICE_HANGS, SERVICE_BABBLES };

struct wish_source {
        bool exists;
        bool pooled;    /* has the label pool=yes */
        bool suspended; /* what it exports is as it was */
        unsigned requests;
        struct wish_inputs inputs; /* of a static one: one tenant; else what its service has to say */
        enum wish_service service;
        VEC(struct wish_inputs) given; /* all that its service ever had to say */
};

struct wish_table {
        bool exists;
        bool suspended;
        bool permutes;   /* its own inputs by those of the one source it names */
        bool written;    /* resourcesTemplate in place of resources */
        bool pool;       /* takes all sources that have the label */
        bool leaves_out; /* what it makes of tenant a is not reconciled */
        bool spoiled;    /* its template names what no input has */
        bool waits;
        bool kept;           /* commonMetadata: prune disabled */
        bool sealed, forced; /* what it makes is immutable; is made anew where it has to be */
        bool copies;         /* ConfigMaps have the original's data */
        unsigned mark;       /* commonMetadata: label mark; 0 = none */
        unsigned after;      /* dependsOn: that table is ready, less 1; 0 = none */
        bool drifted;        /* by hand, and nobody asked for another look since */
        unsigned requests;
        struct wish_inputs own;
        uint32_t named; /* bit i: source-i by its name */
        /* What may stay though nobody wants it any more: bit of what it makes. */
        uint32_t may_stay;
};

struct wish_neighbour { /* ConfigMaps that no table makes, named like those that it does */
        bool plain, labelled;
};

struct wish_desk {
        bool there;        /* the namespace */
        unsigned original; /* color of the ConfigMap; 0 = there is none */
        struct wish_table tables[WISH_TABLES];
        struct wish_source sources[WISH_SOURCES];
        struct wish_neighbour neighbours[WISH_TABLES];
        uint32_t foreign[WISH_TABLES];   /* a user made what a table may make, bit of it */
        int64_t by_hand_ms[WISH_TABLES]; /* when a user last wrote or deleted something a table makes */
};

/* ---- what follows ---- */

struct wish_made {
        bool wanted;
        unsigned tenant, with; /* with: WISH_TENANTS = of one tenant alone */
        char color[32];        /* "c5", "c5-7" */
};
bool wish_table_is_placed(unsigned table);
bool wish_source_is_static(unsigned source);
bool wish_table_takes(const struct wish_desk *d, unsigned table, unsigned source); /* it is there, too */
/* What it makes when sources export this. */
void wish_table_makes(const struct wish_desk *d, unsigned table,
                      const struct wish_inputs exports[WISH_SOURCES], struct wish_made ret[WISH_MADE]);
/* Whether its template cannot be filled in. */
bool wish_table_is_broken(const struct wish_desk *d, unsigned table,
                          const struct wish_inputs exports[WISH_SOURCES]);
/* Reads status.exportedInputs. False: it never exported, or what no source of the game gives. */
bool wish_source_exports(const json_t *doc, struct wish_inputs *ret);

/* ---- as objects ---- */

enum wish_part { PART_SETTINGS, PART_NAMESPACE, PART_PLACEMENT, WISH_PARTS };

#define WISH_TABLE_NAME 32
extern const struct kube_resource wish_table_resource, wish_source_resource;
const char *wish_table_name(unsigned table, char ret[WISH_TABLE_NAME]);   /* "table-0" */
const char *wish_source_name(unsigned source, char ret[WISH_TABLE_NAME]); /* "source-0" */
const char *wish_service_authority(unsigned source, char ret[WISH_TABLE_NAME]);
/* "t0-a": a namespace with ConfigMap "settings" in it and a placement, or a ConfigMap on the desk. */
const char *wish_made_name(unsigned table, unsigned made, char ret[WISH_TABLE_NAME]);
bool wish_made_of(const char *name, unsigned *ret_table, unsigned *ret_made); /* the other way round */
const struct kube_resource *wish_part_resource(enum wish_part part);
unsigned wish_table_parts(unsigned table); /* PART_SETTINGS, or all */
/* Where it lies: name, and namespace or NULL. */
const char *wish_part_place(unsigned table, unsigned made, enum wish_part part,
                            char ret_name[WISH_TABLE_NAME], char ret_ns[WISH_TABLE_NAME]);
void wish_part_id(unsigned table, unsigned made, enum wish_part part, char ret[128]); /* in an inventory */
/* All new; NULL on no memory. */
json_t *wish_table_doc(const struct wish_desk *d, unsigned table);
json_t *wish_source_doc(const struct wish_desk *d, unsigned source);
json_t *wish_original_doc(unsigned color);
json_t *wish_neighbour_doc(unsigned table, bool labelled);
json_t *wish_service_answer(const struct wish_inputs *inputs);
