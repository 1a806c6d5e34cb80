# printed.awk EXPECTED OUTPUT: fails for a line of EXPECTED that OUTPUT has not. Lines are compared word
# by word: numbers may differ by a twentieth, or both be below a hundredth, since CPUs round differently.
function number(word) {
    gsub(/,/, "", word)
    sub(/[;:%)]+$/, "", word)
    return word
}
function alike(a, b, x, y, far) {
    if (a == b) return 1
    x = number(a); y = number(b)
    if (x !~ /^-?[0-9.]+(e[-+]?[0-9]+)?$/ || y !~ /^-?[0-9.]+(e[-+]?[0-9]+)?$/) return 0
    far = x - y; if (far < 0) far = -far
    return far <= 0.05 * (x < 0 ? -x : x) || x + y < 0.02
}
FNR == NR { wanted[++count] = $0; next }
{ printed[++lines] = $0 }
END {
    for (i = 1; i <= count; i++) {
        n = split(wanted[i], want, " ")
        for (k = found = 0; k++ < lines && !found; ) {
            if (split(printed[k], had, " ") != n) continue
            for (j = found = 1; j <= n && found; j++) found = alike(want[j], had[j])
        }
        if (!found) { print "not printed: " wanted[i]; bad = 1 }
    }
    exit bad
}
