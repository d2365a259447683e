/* Reads one YAML description into a document whose scalars are all strings. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <yaml.h>

#include "proto/generate/generate.h"

void fail(const char *fmt, ...)
{
        va_list args;
        va_start(args, fmt);
        fputs("generate: ", stderr);
        vfprintf(stderr, fmt, args);
        fputc('\n', stderr);
        va_end(args);
        exit(1);
}

static json_t *value_of(yaml_document_t *d, yaml_node_t *node, const char *path);

static json_t *sequence_of(yaml_document_t *d, yaml_node_t *node, const char *path)
{
        json_t *array = json_array();
        for (yaml_node_item_t *i = node->data.sequence.items.start; i < node->data.sequence.items.top; i++)
                if (json_array_append_new(array, value_of(d, yaml_document_get_node(d, *i), path)) < 0)
                        fail("%s: out of memory", path);
        return array;
}

static json_t *mapping_of(yaml_document_t *d, yaml_node_t *node, const char *path)
{
        json_t *object = json_object();
        for (yaml_node_pair_t *p = node->data.mapping.pairs.start; p < node->data.mapping.pairs.top; p++) {
                yaml_node_t *key = yaml_document_get_node(d, p->key);
                const char *name = (const char *)key->data.scalar.value;
                if (key->type != YAML_SCALAR_NODE || json_object_get(object, name))
                        fail("%s:%zu: key is not a scalar or is there twice", path, key->start_mark.line + 1);
                if (json_object_set_new(object, name,
                                        value_of(d, yaml_document_get_node(d, p->value), path)) < 0)
                        fail("%s:%zu: not UTF-8", path, key->start_mark.line + 1);
        }
        return object;
}

static json_t *value_of(yaml_document_t *d, yaml_node_t *node, const char *path)
{
        switch (node->type) {
        case YAML_SEQUENCE_NODE:
                return sequence_of(d, node, path);
        case YAML_MAPPING_NODE:
                return mapping_of(d, node, path);
        default:
                return json_string((const char *)node->data.scalar.value);
        }
}

json_t *description_load(const char *path)
{
        FILE *f = fopen(path, "rb");
        if (!f)
                fail("%s: cannot be read", path);
        yaml_parser_t parser;
        yaml_document_t document;
        if (!yaml_parser_initialize(&parser))
                fail("%s: out of memory", path);
        yaml_parser_set_input_file(&parser, f);
        if (!yaml_parser_load(&parser, &document))
                fail("%s:%zu: %s", path, parser.problem_mark.line + 1, parser.problem);
        yaml_node_t *root = yaml_document_get_root_node(&document);
        if (!root || root->type != YAML_MAPPING_NODE)
                fail("%s: is not a mapping", path);
        json_t *value = value_of(&document, root, path);
        yaml_document_delete(&document);
        yaml_parser_delete(&parser);
        fclose(f);
        return value;
}
