/* Text for HTML and JSON inside HTML: whatever it says, it stays text. */
#ifndef NY_REPORT_MARKUP_H
#define NY_REPORT_MARKUP_H

#include "report/sink.h"

/* Writes text with &#60; for < and so on, for elements and quoted attributes. Control characters
 * and bytes that are not UTF-8 become ?. */
void ny_put_html(struct ny_sink *sink, const char *text);
/* A JSON string with its quotes, for a script element: < > & are escaped, so that no text ends it.
 */
void ny_put_json(struct ny_sink *sink, const char *text);
/* Writes a number with all its digits; null where it is not finite. */
void ny_put_number(struct ny_sink *sink, double number);
/* RFC 4648. */
void ny_put_base64(struct ny_sink *sink, const void *data, size_t bytes);

/* A page of fixed text with holes: `{{name}}` calls fill with that name. */
typedef int ny_hole_fn(void *user, const char *name, struct ny_sink *sink);
/* Writes a template, of which `fill` writes the holes. Returns the first error of `fill` or of the
 * sink. */
int ny_put_template(struct ny_sink *sink, const unsigned char *text, ny_hole_fn *fill, void *user);

#endif
