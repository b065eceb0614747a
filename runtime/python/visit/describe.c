/* Descriptions of Python values that are neither tensors nor containers. */
#include "runtime/python/visit/values.h"

#define TEXT_LIMIT 80 /* characters of a str that are kept */

/* The first characters of a str, as UTF-8; a new reference to bytes, or NULL. */
static PyObject *shorten(PyObject *text)
{
    PyObject *start = PyUnicode_Substring(text, 0, TEXT_LIMIT);
    PyObject *bytes =
        start == NULL ? NULL : PyUnicode_AsEncodedString(start, "utf-8", "replace");

    Py_XDECREF(start);
    return bytes;
}

/* An int in hexadecimal; a new reference to bytes, or NULL. Returns NULL for ints that exceed
 * the range of a double: they may have any number of digits. */
static PyObject *spell_int(PyObject *number)
{
    PyObject *digits = NULL;
    PyObject *bytes;

    PyLong_AsDouble(number);
    if (PyErr_Occurred() == NULL) {
        digits = PyNumber_ToBase(number, 16);
    }
    bytes = digits == NULL ? NULL : PyUnicode_AsEncodedString(digits, "ascii", NULL);
    Py_XDECREF(digits);
    PyErr_Clear();
    return bytes;
}

static void describe_int(PyObject *object, struct value *value, PyObject **owner)
{
    int overflow = 0;
    long long number = PyLong_AsLongLongAndOverflow(object, &overflow);

    if (overflow == 0) {
        value->kind = VALUE_INT;
        value->integer = number;
        return;
    }
    value->kind = VALUE_BIG_INT;
    *owner = spell_int(object);
    if (*owner != NULL) {
        value->text =
            (struct slice){PyBytes_AsString(*owner), (size_t)PyBytes_Size(*owner)};
    } else {
        value->text = overflow > 0 ? SLICE("above 2**1023") : SLICE("below -2**1023");
    }
}

void value_describe(const struct type_info *info,
                    PyObject *object,
                    struct value *value,
                    PyObject **owner)
{
    switch (info->kind) {
    case TYPE_NONE:
        value->kind = VALUE_NONE;
        break;
    case TYPE_BOOL:
        value->kind = VALUE_BOOL;
        value->integer = object == Py_True;
        break;
    case TYPE_INT:
        describe_int(object, value, owner);
        break;
    case TYPE_FLOAT:
        value->kind = VALUE_FLOAT;
        value->real = PyFloat_AsDouble(object);
        break;
    case TYPE_COMPLEX:
        value->kind = VALUE_COMPLEX;
        value->real = PyComplex_RealAsDouble(object);
        value->imaginary = PyComplex_ImagAsDouble(object);
        break;
    case TYPE_TEXT:
        *owner = shorten(object);
        value->kind = VALUE_TEXT;
        value->integer = PyUnicode_GetLength(object);
        if (*owner != NULL) {
            value->text =
                (struct slice){PyBytes_AsString(*owner), (size_t)PyBytes_Size(*owner)};
        }
        break;
    case TYPE_BYTES:
        value->kind = VALUE_BYTES;
        value->integer =
            PyBytes_Check(object) ? PyBytes_Size(object) : PyByteArray_Size(object);
        break;
    default:
        *owner = info->name == NULL ? NULL : Py_NewRef(info->name);
        value->kind = VALUE_OBJECT;
        value->type = *owner == NULL ? SLICE("?")
                                     : (struct slice){PyBytes_AsString(*owner),
                                                      (size_t)PyBytes_Size(*owner)};
    }
    PyErr_Clear();
}
