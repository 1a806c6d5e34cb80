/* What this CPU can do, asked at run time: the build machine's CPU is never assumed. */
#ifndef NY_BASE_CPU_H
#define NY_BASE_CPU_H

/* Families of our own vector code, in ascending order of preference. */
enum ny_cpu { NY_CPU_PLAIN = 0, NY_CPU_AVX2 = 1, NY_CPU_AVX512 = 2, NY_CPU_COUNT };

/* The best family that this CPU runs and this build holds. */
enum ny_cpu ny_cpu_family(void);
const char *ny_cpu_name(enum ny_cpu family);
/* CPUs this process may run on, at least 1. */
unsigned ny_cpu_count(void);

#endif
