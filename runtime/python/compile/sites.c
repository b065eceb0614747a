/* A site table as Python objects. */
#include "runtime/python/compile/module.h"

#include "instrument/text/encoding.h"
#include "runtime/site/site.h"

static PyObject *slice_as_string(struct slice text)
{
    return PyUnicode_DecodeUTF8(text.bytes != NULL ? text.bytes : "",
                                (Py_ssize_t)text.size, "replace");
}

static PyObject *key_as_string(const struct site_table *table, const struct site *site)
{
    struct buffer text = BUFFER_INIT;
    PyObject *string;

    site_add_key(table, site, &text);
    string = text.has_failed ? PyErr_NoMemory() : slice_as_string(buffer_slice(&text));
    buffer_release(&text);
    return string;
}

static const char *source_text(enum site_source source)
{
    switch (source) {
    case SITE_SOURCE_VALUE:
        return "value";
    case SITE_SOURCE_PEEK:
        return "peek";
    case SITE_SOURCE_NONE:
        break;
    }
    return "none";
}

static const char *scope_text(enum site_scope scope)
{
    switch (scope) {
    case SITE_SCOPE_LOCAL:
        return "local";
    case SITE_SCOPE_FREE:
        return "free";
    case SITE_SCOPE_GLOBAL:
        break;
    }
    return "global";
}

static PyObject *writes_as_list(const struct site *site)
{
    PyObject *list = PyList_New((Py_ssize_t)site->write_count);

    for (uint32_t i = 0; list != NULL && i < site->write_count; i++) {
        PyObject *item = Py_BuildValue("Ns", slice_as_string(site->writes[i].name),
                                       source_text(site->writes[i].source));
        if (item == NULL || PyList_SetItem(list, (Py_ssize_t)i, item) < 0) {
            Py_CLEAR(list);
        }
    }
    return list;
}

static PyObject *reads_as_list(const struct site *site)
{
    PyObject *list = PyList_New((Py_ssize_t)site->read_count);

    for (uint32_t i = 0; list != NULL && i < site->read_count; i++) {
        const struct site_read *read = &site->reads[i];
        PyObject *binding = read->site == SITE_NONE
                                ? Py_NewRef(Py_None)
                                : PyLong_FromUnsignedLong(read->site);
        PyObject *item = Py_BuildValue("NsN", slice_as_string(read->name),
                                       scope_text(read->scope), binding);
        if (item == NULL || PyList_SetItem(list, (Py_ssize_t)i, item) < 0) {
            Py_CLEAR(list);
        }
    }
    return list;
}

static PyObject *condition_as_object(const struct site *site)
{
    return site->has_condition ? PyUnicode_FromFormat("%08x", (unsigned)site->condition)
                               : Py_NewRef(Py_None);
}

static PyObject *arm_as_object(const struct site *site)
{
    return site->kind == SITE_BRANCH ? PyLong_FromUnsignedLong(site->arm)
                                     : Py_NewRef(Py_None);
}

static PyObject *site_as_dictionary(const struct site_table *table, uint32_t id)
{
    const struct site *site = &table->sites[id];
    const struct site_function *function = &table->functions[site->function];

    return Py_BuildValue(
        "{s:k,s:s,s:k,s:k,s:N,s:k,s:k,s:N,s:N,s:N,s:N,s:N,s:N}", "id",
        (unsigned long)id, "kind", site_kind_text(site->kind), "line",
        (unsigned long)site->line, "column", (unsigned long)site->column, "function",
        slice_as_string(function->name), "function_line", (unsigned long)function->line,
        "ordinal", (unsigned long)site->ordinal, "arm", arm_as_object(site),
        "condition", condition_as_object(site), "repeats",
        PyBool_FromLong(site->repeats), "writes", writes_as_list(site), "reads",
        reads_as_list(site), "key", key_as_string(table, site));
}

static PyObject *table_as_list(const struct site_table *table)
{
    PyObject *list = PyList_New((Py_ssize_t)table->site_count);

    for (uint32_t id = 0; list != NULL && id < table->site_count; id++) {
        PyObject *item = site_as_dictionary(table, id);
        if (item == NULL || PyList_SetItem(list, (Py_ssize_t)id, item) < 0) {
            Py_CLEAR(list);
        }
    }
    return list;
}

/* Reads the table that stands in the text, or that the text is. */
static bool table_find(struct slice text,
                       const char *path,
                       struct arena *arena,
                       struct site_table *table,
                       struct error *error)
{
    struct decoded decoded;
    struct slice table_text;

    if (!encoding_decode(text, path, arena, &decoded, error)) {
        return false;
    }
    if (!instrument_find_table(decoded.utf8, &table_text)) {
        table_text = decoded.utf8;
    }
    return site_table_read(table, table_text, arena, error);
}

PyObject *sites_list(const struct module_state *state, PyObject *text)
{
    PyObject *bytes = source_as_bytes(text);
    PyObject *path = bytes == NULL ? NULL : PyBytes_FromString("<table>");
    struct arena arena;
    struct site_table table;
    struct error error = ERROR_INIT;
    PyObject *list = NULL;

    arena_init(&arena);
    if (path != NULL) {
        if (table_find(bytes_slice(bytes), PyBytes_AsString(path), &arena, &table,
                       &error)) {
            list = table_as_list(&table);
        } else {
            raise_error(state, path, &error);
        }
    }
    arena_release(&arena);
    Py_XDECREF(path);
    Py_XDECREF(bytes);
    return list;
}
