/* _view.page: the HTML page of a trace. */
#include "runtime/python/view/view.h"

#include "instrument/output/strip.h"
#include "runtime/view/page/trace.h"

const char view_page_doc[] =
    "page(path, max_size) -> (html, title)\n\n"
    "The page of the trace at `path`, which may still be recorded, in at most\n"
    "max_size bytes (0: as usual); and its verdict in one line, as the page says it.";

/* The title as the page's JSON has it: what stands between `<title>` and `</title>`. */
static struct slice title_of(struct slice html)
{
    size_t start = slice_find(html, SLICE("<title>"), 0);
    size_t end = slice_find(html, SLICE("</title>"), start);

    return start + 7 <= end ? slice_part(html, start + 7, end) : SLICE("");
}

PyObject *view_page(PyObject *module, PyObject *args)
{
    struct page_trace_options options = {
        .ask = {.event = SLICE(""), .strip = strip_source}};
    struct page_trace_result result;
    struct buffer bytes = BUFFER_INIT;
    struct error error = ERROR_INIT;
    PyObject *path = NULL, *page = NULL;
    unsigned long long max_size;
    bool is_done;

    (void)module;
    if (!PyArg_ParseTuple(args, "O&K:page", PyUnicode_FSConverter, &path, &max_size)) {
        return NULL;
    }
    options.path = PyBytes_AsString(path);
    options.max_size = max_size > 0 ? max_size : PAGE_SIZE_DEFAULT;
    Py_BEGIN_ALLOW_THREADS;
    is_done = page_trace_add(&options, &bytes, &result, &error);
    Py_END_ALLOW_THREADS;
    if (is_done) {
        struct slice html = buffer_slice(&bytes);
        struct slice title = title_of(html);

        page = Py_BuildValue("y#s#", html.bytes, (Py_ssize_t)html.size, title.bytes,
                             (Py_ssize_t)title.size);
    } else {
        view_raise(&error);
    }
    buffer_release(&bytes);
    Py_DECREF(path);
    return page;
}
