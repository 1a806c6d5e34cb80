/* The words of status codes, from the one table of the public header; the version. */
#include "nystream.h"

#define NY_STRING(x) #x
#define NY_VERSION_TEXT(major, minor, patch)                                                       \
    NY_STRING(major) "." NY_STRING(minor) "." NY_STRING(patch)

const char *ny_status_kind(int status)
{
    switch (status) {
#define NY_STATUS_KIND(name, value, kind, meaning)                                                 \
    case value:                                                                                    \
        return kind;
        NY_STATUS_MAP(NY_STATUS_KIND)
#undef NY_STATUS_KIND
    default:
        return "unknown";
    }
}

const char *ny_status_meaning(int status)
{
    switch (status) {
#define NY_STATUS_MEANING(name, value, kind, meaning)                                              \
    case value:                                                                                    \
        return meaning;
        NY_STATUS_MAP(NY_STATUS_MEANING)
#undef NY_STATUS_MEANING
    default:
        return "unknown status";
    }
}

const char *ny_version(void)
{
    return NY_VERSION_TEXT(NY_VERSION_MAJOR, NY_VERSION_MINOR, NY_VERSION_PATCH);
}
