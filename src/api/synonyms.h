/* Words that people know from papers and other programs, and what they are called here. */
#ifndef NY_API_SYNONYMS_H
#define NY_API_SYNONYMS_H

/* The value of `option` that `word` stands for, whatever its case; NULL where there is none. */
const char *ny_synonym(const char *option, const char *word);

#endif
