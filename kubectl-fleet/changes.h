/* What would come of each of many objects that somebody applies: counted, drawn, as a document and by name.
 */
#pragma once

#include "kubectl-fleet/plan_view.h"

#define NO_WAVE (-1) /* before all waves, or never sent, or waves are not known here */
struct planned_change {
        struct planned_object object;
        int wave;
        const char *reason, *message; /* of what is refused: as its agent would tell it; NULL = nothing */
        const char *note;             /* NULL = nothing */
};
struct planned_changes {
        struct planned_change *at;
        size_t n;
};

/* Whether an object stays as it is, and its fields, without what the server and an applier keep in it. */
int change_compare(struct arena *arena, const json_t *before, const json_t *after, struct planned_object *o,
                   struct error *err);
/* Whether a definition serves the kind, with objects in namespaces or without. */
bool definition_gives(const json_t *definition, struct slice group, const char *version, const char *kind,
                      bool namespaced);

size_t changes_count(const struct planned_changes *c, const char *change);
/* "  head  1 to add, ...", then the objects. */
void changes_draw(const struct planned_changes *c, const char *head, struct screen *s);
/* Adds the counts and the objects to a document. */
void changes_to_doc(const struct planned_changes *c, json_t *doc);
/* Those that would not stay as they are. */
void changes_names(const struct planned_changes *c, struct buf *b);
