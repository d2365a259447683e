/* The tree of a template: looking up definitions, and writing nodes as errors quote them. */
#include "common/template/tree.h"

const struct tree *template_lookup(const struct template *t, struct slice name)
{
        for (const struct tree *tree = t->trees; tree; tree = tree->next)
                if (slice_equal(tree->name, name))
                        return tree;
        return NULL;
}

bool node_is_empty(const struct node *list)
{
        for (size_t i = 0; i < list->n; i++)
                if (list->items[i]->type != NODE_TEXT || slice_trim(list->items[i]->text).len)
                        return false;
        return true;
}

static int write_slice(struct buf *b, struct slice s)
{
        return buf_append(b, s.data, s.len);
}

static int write_fields(const struct node *node, struct buf *b)
{
        for (size_t i = 0; i < node->n_fields; i++) {
                TRY(buf_append_char(b, '.'));
                TRY(write_slice(b, node->fields[i]));
        }
        return 0;
}

/* A pipeline as an operand stands in parentheses. */
static int write_operand(const struct node *node, struct buf *b)
{
        bool parens = node->type == NODE_PIPE;
        TRY(buf_append_str(b, parens ? "(" : ""));
        TRY(node_write(node, b));
        return buf_append_str(b, parens ? ")" : "");
}

static int write_items(const struct node *node, const char *between, struct buf *b)
{
        for (size_t i = 0; i < node->n; i++) {
                TRY(buf_append_str(b, i ? between : ""));
                TRY(node->type == NODE_COMMAND ? write_operand(node->items[i], b)
                                               : node_write(node->items[i], b));
        }
        return 0;
}

static int write_pipe(const struct node *node, struct buf *b)
{
        for (size_t i = 0; i < node->n_decls; i++) {
                TRY(buf_append_str(b, i ? ", " : ""));
                TRY(node_write(node->decls[i], b));
        }
        if (node->n_decls)
                TRY(buf_append_str(b, node->assign ? " = " : " := "));
        return write_items(node, " | ", b);
}

static int write_action(const char *word, const struct node *pipe, struct buf *b)
{
        TRY(buf_append_str(b, "{{"));
        TRY(buf_append_str(b, word));
        if (pipe)
                TRY(node_write(pipe, b));
        return buf_append_str(b, "}}");
}

static int write_control(const struct node *node, struct buf *b)
{
        const char *word = node->type == NODE_IF ? "if " : node->type == NODE_WITH ? "with " : "range ";
        TRY(write_action(word, node->pipe, b));
        TRY(node_write(node->body, b));
        if (node->otherwise) {
                TRY(buf_append_str(b, "{{else}}"));
                TRY(node_write(node->otherwise, b));
        }
        return buf_append_str(b, "{{end}}");
}

static int write_template(const struct node *node, struct buf *b)
{
        TRY(buf_append_str(b, "{{template "));
        TRY(write_quoted(b, node->name, QUOTE_PLAIN));
        if (node->pipe) {
                TRY(buf_append_char(b, ' '));
                TRY(node_write(node->pipe, b));
        }
        return buf_append_str(b, "}}");
}

int node_write(const struct node *node, struct buf *b)
{
        switch (node->type) {
        case NODE_LIST:
                return write_items(node, "", b);
        case NODE_COMMAND:
                return write_items(node, " ", b);
        case NODE_ACTION:
                return write_action("", node->pipe, b);
        case NODE_IF:
        case NODE_WITH:
        case NODE_RANGE:
                return write_control(node, b);
        case NODE_TEMPLATE:
                return write_template(node, b);
        case NODE_BREAK:
                return write_action("break", NULL, b);
        case NODE_CONTINUE:
                return write_action("continue", NULL, b);
        case NODE_END:
                return write_action("end", NULL, b);
        case NODE_ELSE:
                return write_action("else", NULL, b);
        case NODE_PIPE:
                return write_pipe(node, b);
        case NODE_FIELD:
                return write_fields(node, b);
        case NODE_CHAIN:
                TRY(write_operand(node->base, b));
                return write_fields(node, b);
        case NODE_VARIABLE:
                TRY(write_slice(b, node->text));
                return write_fields(node, b);
        default:
                return write_slice(b, node->text);
        }
}
