# Masks what is never the same twice: times, rates, memory that was measured, and what the machine, its
# BLAS and the version are called. What is null is left out (tests/unit/test_contract_facts.c knows
# which keys there are). All else in a transcript is to the letter.
s/[0-9.]+ (ms|s)\b/# s/g
s/[0-9.]+ [kMGT]?([FB]?)\/s/# \1\/s/g
s/^(peak memory +)[0-9.]+ [MG]iB/\1#/
s/^((time over ideal|BLAS|CPU|machine) +).*/\1#/
s/("(seconds|total_seconds|gemm_ratio|peak_rss_bytes|cpu|blas)": )[^,]+/\1#/
/"stage_memory_bytes"/,/\}/s/: [0-9]+/: #/
s/("(stats|select|accumulate|solve|project|neighbors|graph)": )[0-9e.-]*\.[0-9e.-]+/\1#/
s/\b[0-9]+\.[0-9]+\.[0-9]+\b/#.#.#/g
s/less than # s/about # s/
s/(pixels|report) \([0-9.]+ [kM]B\)/\1 (# kB)/
s/\b[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]+Z/#/
s/^(points\.nys: [0-9.]+ KiB, was )[0-9.]+ KiB$/\1# KiB/ # pages that a checkpoint frees, or not
/^ *"[a-z_]+": null,?$/d
