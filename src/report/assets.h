/* Files of this folder that the build turns into bytes (Makefile), each ended by a 0. */
#ifndef NY_REPORT_ASSETS_H
#define NY_REPORT_ASSETS_H

extern const unsigned char ny_page_html[], ny_result_html[], ny_plot_html[], ny_page_css[],
    ny_page_js[], ny_page_marks_js[];

#endif
