/* The data of a page as one JSON object. Private to this folder. */
#ifndef MONITORCH_VIEW_PAGE_DATA_H
#define MONITORCH_VIEW_PAGE_DATA_H

#include "runtime/view/page/page.h"

/* Appends the object and a line end, at most `room` bytes; leaves out events if there is no room
 * for all. Fails if memory runs out, or if the page is strict and the rest alone needs more. */
bool page_data_add(const struct page *page,
                   uint64_t room,
                   struct buffer *text,
                   struct page_result *result,
                   struct error *error);

#endif
