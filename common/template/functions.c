/* All functions by name. */
#include "common/template/functions.h"

static const struct function_table *const tables[] = {
        &builtin_functions, &string_functions, &number_functions,   &list_functions, &map_functions,
        &type_functions,    &regex_functions,  &document_functions, &path_functions,
};

/* Later tables win: slice is the list function, not the language's. */
const struct function *function_named(struct slice name)
{
        for (size_t t = ARRAY_LEN(tables); t-- > 0;)
                for (size_t i = 0; i < tables[t]->n; i++)
                        if (tables[t]->at[i].name[0] == name.data[0] && slice_is(name, tables[t]->at[i].name))
                                return &tables[t]->at[i];
        return NULL;
}

bool function_is_unrepeatable(struct slice name)
{
        return slice_is(name, "randInt") || slice_is(name, "ago");
}

size_t function_fixed(const struct function *f)
{
        size_t n = 0;
        while (n < FUNCTION_MOST_FIXED && f->fixed[n])
                n++;
        return n;
}
