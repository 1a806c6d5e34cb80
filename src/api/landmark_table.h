/* The landmarks of a model as those that options give. */
#ifndef NY_API_LANDMARK_TABLE_H
#define NY_API_LANDMARK_TABLE_H

#include "api/options.h"
#include "model/model.h"

/* Sets option landmarks-points to the landmarks of the model, which are copied. */
int ny_landmark_table_set(struct ny_options *options, const struct ny_model *model);

#endif
