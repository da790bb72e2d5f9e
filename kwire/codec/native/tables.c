/* The description that kwire/codec/native/tables.py makes, turned into nodes.
 *
 * It is checked as if it came from a stranger: a child stands before its parent, so that nothing
 * recurses for ever, and each name is looked up in its class, so that a wrong description can give
 * wrong answers but never touch memory that is no slot.
 */
#include "native.h"

static const char *const KINDS[] = {
    "int8", "int16", "uint16", "int32", "uint32", "int64", "float64", "boolean", "uuid",
    "text", "bytes", "list", "tuple", "optional", "struct", NULL,
};
static const Py_ssize_t SIZES[KIND_COUNT] = {1, 2, 2, 4, 4, 8, 8, 1, 16};
static const char *const WIDTHS[] = {"int8", "int16", "int32", "uvarint", "compact", NULL};

bool is_container(const Node *node)
{
    return node->kind == KIND_LIST || node->kind == KIND_OPTIONAL || node->kind == KIND_STRUCT;
}

/* As many names as slots, and a mark in every slot: each slot has exactly one name. */
static bool is_covered(const Record *record, PyObject *blank)
{
    Py_ssize_t step = sizeof(PyObject *), slots = (record->size - sizeof(PyObject)) / step;
    if (slots != record->count + 1)
        return wrong("the class has other fields than its description");
    for (Py_ssize_t at = sizeof(PyObject); at < record->size; at += step)
        if (!SLOT(blank, at))
            return wrong("a slot of the class has no field");
    return true;
}

/* ---- Structs ---- */

static bool set_node(const Tables *tables, const Node *parent, Py_ssize_t index,
                     const Node **node)
{
    if (index < 0 || index >= parent - tables->nodes)
        return wrong("a child does not stand before its parent");
    *node = &tables->nodes[index];
    return true;
}

/* Fields, tagged ones in ascending order, and the rest: each sort in one piece. */
static bool count_member(Record *record, const Member *member)
{
    Py_ssize_t before = record->count++;
    if (member->node && member->tag < 0)
        return record->field_count++ == before;
    if (!member->node)
        return member->tag < 0;
    return record->field_count + record->tag_count++ == before && record->tag_count <= MAX_TAGS
        && member->tag <= UINT32_MAX && (record->tag_count == 1 || member[-1].tag < member->tag);
}

static bool add_member(const Tables *tables, const Node *node, PyObject *blank, PyObject *part)
{
    Record *record = node->record;
    Member *member = &record->members[record->count];
    PyObject *name;
    Py_ssize_t child;
    long long tag;
    if (!PyArg_ParseTuple(part, "OnLOOp", &name, &child, &tag, &member->value, &member->make,
                          &member->refused)
        || (child != -1 && !set_node(tables, node, child, &member->node)))
        return false;
    member->tag = tag;
    if (member->make == Py_None)
        member->make = NULL;
    if (!count_member(record, member))
        return wrong("members out of order");
    bool container = member->tag < 0 && member->node && is_container(member->node);
    record->tracked = record->tracked || container || member->make;
    member->offset = slot_offset(record->cls, blank, name);
    return member->offset > 0;
}

static bool add_members(const Tables *tables, const Node *node, PyObject *parts)
{
    Record *record = node->record;
    PyObject *blank = PyType_GenericAlloc(record->cls, 0);
    PyObject *unknown = PyUnicode_FromString("unknown_tags");
    bool added = blank && unknown;
    for (Py_ssize_t i = 0; added && i < PyTuple_Size(parts); i++)
        added = add_member(tables, node, blank, PyTuple_GetItem(parts, i));
    added = added && (record->unknown_tags = slot_offset(record->cls, blank, unknown)) > 0
        && is_covered(record, blank);
    Py_XDECREF(blank);
    Py_XDECREF(unknown);
    return added;
}

static void mark_runs(Record *record)
{
    Py_ssize_t run = 0;
    for (Py_ssize_t i = record->field_count - 1; i >= 0; i--) {
        run += record->members[i].node->size;
        if (i == 0 || record->members[i - 1].node->size == 0) {
            record->members[i].run = run;
            run = 0;
        }
    }
}

static bool fill_struct(const Tables *tables, Node *node, PyObject *part)
{
    const char *kind;
    PyObject *members;
    Record *record = node->record = PyMem_Calloc(1, sizeof *record);
    if (!record)
        return PyErr_NoMemory() != NULL;
    if (!PyArg_ParseTuple(part, "sO!pO!", &kind, &PyType_Type, &record->cls, &record->flexible,
                          &PyTuple_Type, &members))
        return false;
    record->size = size_attribute(record->cls, "__basicsize__");
    record->collected = PyType_GetFlags(record->cls) & Py_TPFLAGS_HAVE_GC;
    record->members = PyMem_Calloc((size_t)PyTuple_Size(members), sizeof(Member));
    if (!record->members)
        return PyErr_NoMemory() != NULL;
    if (!is_plain(record->cls, record->size) || !add_members(tables, node, members))
        return false;
    mark_runs(record);
    return true;
}

/* ---- Nodes ---- */

static int lookup(const char *const *names, const char *name)
{
    for (int i = 0; names[i]; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    wrong("no such word");
    return -1;
}

static bool set_kind(Node *node, PyObject *part)
{
    const char *name = NULL;
    if (PyTuple_Check(part) && PyTuple_Size(part) > 0)
        name = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(part, 0), NULL);
    int kind = name ? lookup(KINDS, name) : -1;
    if (kind < 0)
        return wrong("a part does not begin with its kind");
    node->kind = (Kind)kind;
    node->size = SIZES[kind];
    return true;
}

static bool set_width(Node *node, const char *name)
{
    int width = lookup(WIDTHS, name);
    node->width = (Width)width;
    return width >= 0;
}

static bool fill_array(const Tables *tables, Node *node, PyObject *part)
{
    const char *kind, *width;
    Py_ssize_t child;
    if (!PyArg_ParseTuple(part, "sspnn", &kind, &width, &node->nullable, &node->least, &child)
        || !set_width(node, width) || !set_node(tables, node, child, &node->child))
        return false;
    if (node->least < 1 || node->least < node->child->size)
        return wrong("an element takes more than its least size");
    if (node->kind == KIND_TUPLE && is_container(node->child))
        return wrong("a tuple of structs would hide them from the collector");
    return true;
}

static bool fill_node(const Tables *tables, Node *node, PyObject *part)
{
    const char *kind, *width;
    Py_ssize_t child;
    if (!set_kind(node, part))
        return false;
    switch (node->kind) {
    case KIND_TEXT:
    case KIND_BYTES:
        node->least = 1;
        return PyArg_ParseTuple(part, "ssp", &kind, &width, &node->nullable)
            && set_width(node, width);
    case KIND_LIST:
    case KIND_TUPLE:
        return fill_array(tables, node, part);
    case KIND_OPTIONAL:
        return PyArg_ParseTuple(part, "ssin", &kind, &width, &node->null, &child)
            && set_width(node, width) && set_node(tables, node, child, &node->child);
    case KIND_STRUCT:
        return fill_struct(tables, node, part);
    default:
        return true;
    }
}

bool tables_fill(Tables *tables)
{
    tables->count = PyTuple_Size(tables->parts);
    if (tables->count < 1)
        return wrong("no parts");
    tables->nodes = PyMem_Calloc((size_t)tables->count, sizeof *tables->nodes);
    if (!tables->nodes)
        return PyErr_NoMemory() != NULL;
    for (Py_ssize_t i = 0; i < tables->count; i++)
        if (!fill_node(tables, &tables->nodes[i], PyTuple_GetItem(tables->parts, i)))
            return false;
    return true;
}

void tables_free(Tables *tables)
{
    for (Py_ssize_t i = 0; tables->nodes && i < tables->count; i++)
        if (tables->nodes[i].record) {
            PyMem_Free(tables->nodes[i].record->members);
            PyMem_Free(tables->nodes[i].record);
        }
    PyMem_Free(tables->nodes);
    tables->nodes = NULL;
}
