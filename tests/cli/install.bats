# The installed files work without the source tree, and go away without a trace.
# bats file_tags=slow
load helper

setup_file() {
    [ -z "${NYSTREAM_SANITIZER-}" ] || return 0
    export ROOT=$BATS_TEST_DIRNAME/../.. STAGE=$BATS_FILE_TMPDIR/stage
    (umask 077 && make -s -C "$ROOT" BUILD="$NYSTREAM_BUILD" install DESTDIR="$STAGE" PREFIX=/usr \
        >"$BATS_FILE_TMPDIR/log")
}

# pkg-config that knows the stage; make must not, or it would build anew with other flags
staged() {
    PKG_CONFIG_PATH=$STAGE/usr/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$STAGE pkg-config "$@"
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    [ -z "${NYSTREAM_SANITIZER-}" ] || skip "an instrumented library does not link by itself"
}

# compile OUT FLAG…: compiles the external program against the stage alone
compile() {
    local out=$1
    shift
    cc -std=c11 -Wall -Wextra -Wpedantic -Werror $(staged --cflags nystream) \
        "$BATS_TEST_DIRNAME/external/fit.c" -o "$out" "$@" -lm
}

@test "installed files: library, header, pkg-config file, command, page, completions" {
    (cd "$STAGE/usr" && find . ! -type d | sort) >"$BATS_TEST_TMPDIR/files"
    grep . <<END | diff - "$BATS_TEST_TMPDIR/files"
./bin/nystream
$([ ! -x "$NYSTREAM_BUILD/nystream-hdf5" ] || echo ./bin/nystream-hdf5)
$(cd "$NYSTREAM_BUILD/data-tools" && for tool in image-rows ply-rows wfdb-rows windows; do
    [ ! -x $tool ] || echo "./bin/nystream-$tool"
done)
./include/nystream.h
./include/nystream_memory.h
./include/nystream_sums.h
./lib/cmake/nystream/nystream-config-version.cmake
./lib/cmake/nystream/nystream-config.cmake
$([ ! -e "$NYSTREAM_BUILD/libnystream-mpi.so" ] || echo ./lib/libnystream-mpi.so)
./lib/libnystream.a
./lib/libnystream.so
./lib/libnystream.so.1
./lib/libnystream.so.1.2.0
./lib/pkgconfig/nystream.pc
./share/bash-completion/completions/nystream
./share/man/man1/nystream.1
./share/zsh/site-functions/_nystream
END
    [ "$(staged --modversion nystream)" = 1.2.0 ]
    [ "$(readlink "$STAGE/usr/lib/libnystream.so")" = libnystream.so.1 ]
    [ "$(readlink "$STAGE/usr/lib/libnystream.so.1")" = libnystream.so.1.2.0 ]
}

@test "what root installs is for all users, whatever its umask" {
    find "$STAGE/usr" ! -perm -o+r | tee unreadable
    [ ! -s unreadable ]
}

@test "an installation of what is built builds nothing" {
    cat "$BATS_FILE_TMPDIR/log"
    [ ! -s "$BATS_FILE_TMPDIR/log" ]
}

@test "one source more is compiled alone, and another compiler of MPI makes the plug-in anew" {
    mkdir tree
    cp -r "$ROOT"/{Makefile,src,include,data-tools} tree
    make -s -C tree --no-print-directory BUILD=build build/flags build/sources
    make -s -C tree --no-print-directory BUILD=build build/base/status.o
    echo 'extern int ny_more; int ny_more;' >tree/src/base/more.c
    make -C tree --no-print-directory BUILD=build build/base/status.o build/base/more.o >log
    [ "$(cat log)" = 'CC    build/base/more.o' ]
    make -C tree --no-print-directory BUILD=build -n build/libnystream.a | grep -q 'rcsD .*base/more.o'
    command -v mpicc || skip "no MPI to make the plug-in with"
    make -C tree --no-print-directory BUILD=build mpi
    make -C tree --no-print-directory BUILD=build mpi >log
    [[ $(cat log) != *MPI* ]]
    make -C tree --no-print-directory BUILD=build mpi MPICC="mpicc -DOTHER" >log
    [ "$(cat log)" = 'MPI   build/libnystream-mpi.so' ]
}

@test "a program against the shared library" {
    compile "$BATS_TEST_TMPDIR/fit" $(staged --libs nystream)
    objdump -p "$BATS_TEST_TMPDIR/fit" | grep -q 'NEEDED *libnystream.so.1$'
    run env LD_LIBRARY_PATH="$STAGE/usr/lib" "$BATS_TEST_TMPDIR/fit" "$BATS_TEST_TMPDIR/rows.nys"
    echo "$output"
    [ "$status" -eq 0 ]
    [ "$output" = fitted ]
}

@test "the same program by CMake, which takes a later version of the same first number" {
    command -v cmake >/dev/null || skip "there is no cmake"
    asks_for() { # VERSION: configures a project that wants it
        mkdir "$1"
        cat >"$1/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.13)
project(fit C)
find_package(nystream $1 REQUIRED)
add_executable(fit $BATS_TEST_DIRNAME/external/fit.c)
target_link_libraries(fit nystream::nystream m)
END
        cmake -S "$1" -B "$1" -DCMAKE_PREFIX_PATH="$STAGE/usr" -DCMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF
    }
    asks_for 1.0
    make -C 1.0 fit
    [ "$(1.0/fit rows.nys)" = fitted ]
    ldd 1.0/fit | grep -qF "$STAGE/usr/lib/libnystream.so.1"
    ! asks_for 1.99 || false
    ! asks_for 2.0 || false
}

@test "the shared library exports what the headers declare, and no more" {
    grep -ohE '^NY_API .*\bny_[a-z0-9_]+\(' "$STAGE"/usr/include/*.h | sed -E 's/.*\b(ny_[a-z0-9_]+)\($/\1@@NYSTREAM_1/' | sort >declared
    nm -D --defined-only "$STAGE/usr/lib/libnystream.so" | awk '$2 != "A" {print $3}' |
        sed -E 's/(@@NYSTREAM_1)\.[0-9]+$/\1/' | sort >exported # of a later version
    diff declared exported
    [ "$(wc -l <exported)" -gt 80 ]
}

@test "the same program against the static library" {
    mkdir "$BATS_TEST_TMPDIR/static"
    cp "$STAGE/usr/lib/libnystream.a" "$BATS_TEST_TMPDIR/static"
    compile "$BATS_TEST_TMPDIR/fit" -L"$BATS_TEST_TMPDIR/static" \
        $(staged --static --libs nystream | sed "s|-L$STAGE/usr/lib ||")
    [ -z "$(objdump -p "$BATS_TEST_TMPDIR/fit" | grep 'NEEDED *libnystream')" ]
    run "$BATS_TEST_TMPDIR/fit" "$BATS_TEST_TMPDIR/rows.nys"
    echo "$output"
    [ "$status" -eq 0 ]
    [ "$output" = fitted ]
}

@test "libraries that were given by hand need no files of pkg-config" {
    libraries="$(pkg-config --libs lmdb openblas lapacke liblz4 libxxhash zlib jansson) -lm -lpthread -ldl"
    make -s -C "$ROOT" BUILD="$NYSTREAM_BUILD" install DESTDIR="$PWD/own" PREFIX=/usr \
        PACKAGE_LIBS="$libraries" >log
    [ ! -s log ]
    export PKG_CONFIG_PATH='' PKG_CONFIG_LIBDIR=$PWD/own/usr/lib/pkgconfig # where there is no lmdb.pc
    run pkg-config --cflags --libs nystream
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output == *"-lnystream"* && $output != *"-llmdb"* ]]
    run pkg-config --static --libs nystream
    [[ $output == *"-lnystream"*"-llmdb"*"-ldl"* ]]
}

@test "the program at the top of the header compiles and runs" {
    cd "$BATS_TEST_TMPDIR"
    {
        printf '#include <nystream.h>\n#include <stdio.h>\nint main(void)\n{\n'
        sed -n '1,/\*\//s/^ \*     //p' "$STAGE/usr/include/nystream.h"
        printf 'return status;\n}\n'
    } >steps.c
    grep -q ny_model_transform steps.c
    cc -std=c11 -Wall -Wextra -Wpedantic -Werror steps.c -o steps \
        $(staged --cflags --libs nystream)
    awk 'BEGIN {for (i = 0; i < 300; i++) print i % 7 / 7 "," i % 11 / 11 "," i % 13 / 13}' >table.csv
    run env LD_LIBRARY_PATH="$STAGE/usr/lib" ./steps
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output == "trace error "*"; placed at "*"the first row is at "* ]]
    [ "$(wc -l <map.csv)" -eq 300 ] && [ -s embedding.npy ]
}

@test "every C block of the README and the guide is a program that compiles and runs" {
    local page block file blocks=0
    cd "$BATS_TEST_TMPDIR"
    for page in "$ROOT/README.md" "$ROOT"/src/guide/*.md; do
        [ -e "$page" ] || continue
        rm -f block-*.c
        awk '/^ *```c$/ {on = 1; n++; next} /^ *```/ {on = 0} on {print >("block-" n ".c")}' "$page"
        for block in block-*.c; do
            [ -e "$block" ] || continue
            echo "${page##*/}, $block" >&2
            cc -std=c11 -Wall -Wextra -Werror "$block" -o program $(staged --cflags --libs nystream)
            for file in $(grep -oE '"[A-Za-z0-9_.-]+\.csv"' "$block" | tr -d '"'); do
                [ -e "$file" ] || table 300 3 >"$file"
            done
            LD_LIBRARY_PATH="$STAGE/usr/lib" ./program
            blocks=$((blocks + 1))
        done
    done
    [ $blocks -gt 0 ]
}

@test "an installation in place tells the loader, or says who has to" {
    mkdir tools
    printf '#!/bin/sh\necho "$@" >>%s/ran\n[ "$*" != -p ] || cat %s/known\n' "$PWD" "$PWD" >tools/ldconfig
    chmod +x tools/ldconfig
    : >known
    PATH="$PWD/tools:$PATH" make -s -C "$ROOT" BUILD="$NYSTREAM_BUILD" install PREFIX="$PWD/own" >said
    grep -q "set LD_LIBRARY_PATH=$PWD/own/lib for programs" said
    [ "$(id -u)" -ne 0 ] || [ -z "$(head -n 1 ran)" ] # ldconfig, without -p
    echo "	libnystream.so.1 (libc6,x86-64) => $PWD/own/lib/libnystream.so.1" >known
    PATH="$PWD/tools:$PATH" make -s -C "$ROOT" BUILD="$NYSTREAM_BUILD" install PREFIX="$PWD/own" >said
    [ ! -s said ]
    : >ran
    PATH="$PWD/tools:$PATH" make -s -C "$ROOT" BUILD="$NYSTREAM_BUILD" install DESTDIR="$PWD/stage" PREFIX=/usr
    [ ! -s ran ]
}

@test "each header stands alone, in C and in C++" {
    for header in "$STAGE"/usr/include/*.h; do
        cc -std=c11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -x c "$header"
    done
    command -v c++ || skip "there is no C++ compiler"
    for header in "$STAGE"/usr/include/*.h; do
        c++ -Wall -Wextra -Wpedantic -Werror -fsyntax-only -x c++ "$header"
    done
}

@test "the converters that the guide names are installed, and work" {
    cd "$BATS_TEST_TMPDIR"
    printf 'ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\nproperty float y\nproperty float z\nend_header\n1 2 3\n4 5 6\n' >t.ply
    "$STAGE/usr/bin/nystream-ply-rows" t.ply -o t.npy
    "$STAGE/usr/bin/nystream" import s.nys t.npy
    [ ! -x "$NYSTREAM_BUILD/data-tools/image-rows" ] || "$STAGE/usr/bin/nystream-image-rows" --help | grep -q FOLDER
}

@test "a path of two words is refused before anything is made" {
    refuses() { # NAME ARGUMENT…: make ends with that name, and nothing is written
        local name=$1
        shift
        run make -s "$@" </dev/null
        echo "$*: exit $status, $output"
        [ "$status" -eq 2 ]
        [[ $output == *"$name is "*": a path with a space"* ]]
    }
    mkdir "a b" && cp -r "$ROOT/Makefile" "$ROOT/include" "a b"
    refuses CURDIR -C "a b" help
    refuses DESTDIR -C "$ROOT" BUILD="$NYSTREAM_BUILD" install DESTDIR="$PWD/stage at" PREFIX=/usr
    refuses PREFIX -C "$ROOT" BUILD="$NYSTREAM_BUILD" install PREFIX="$PWD/stage at"
    [ "$(ls)" = "a b" ]
}

@test "an archive of the sources is made of a commit, or not at all" {
    mkdir -p tree/src/python && cp -r "$ROOT"/{Makefile,README.md,include,data-tools} tree
    cp "$ROOT/src/python/pyproject.toml" tree/src/python
    run make -s -C tree BUILD=build dist </dev/null
    echo "$output"
    [ "$status" -eq 2 ]
    [[ $output == *"make dist packs the last commit"* ]]
    [ -z "$(find tree -name '*.tar*')" ]
    git -C tree init -q # and has no commit
    run -2 make -s -C tree BUILD=build dist </dev/null
    [ -z "$(find tree -name '*.tar.gz')" ]
    git -C tree -c user.name=a -c user.email=a@b add -A
    git -C tree -c user.name=a -c user.email=a@b commit -qm all
    make -s -C tree BUILD=build dist </dev/null
    tar -tzf tree/build/nystream-1.2.0.tar.gz | grep -qx nystream-1.2.0/Makefile
    tar -xzOf tree/build/nystream-1.2.0.tar.gz nystream-1.2.0/PKG-INFO | grep -qx 'Version: 1.2.0'
    sum=$(sha256sum <tree/build/nystream-1.2.0.tar.gz | cut -c-64)
    make -s -C tree BUILD=build dist DIST_FROM=https://host.example/files </dev/null
    for file in conda/meta.yaml spack/packages/nystream/package.py homebrew/nystream.rb; do
        grep -qE "sha256.*$sum" "tree/build/recipes/$file"
        grep -qF https://host.example/files/nystream-1.2.0.tar.gz "tree/build/recipes/$file"
        ! grep -E '@[a-z0-9]+@' "tree/build/recipes/$file" || false
    done
    [ "$(find tree -name '*.tar*')" = tree/build/nystream-1.2.0.tar.gz ]
}

@test "uninstall leaves no file" {
    make -s -C "$ROOT" BUILD="$NYSTREAM_BUILD" uninstall DESTDIR="$STAGE" PREFIX=/usr
    [ -z "$(find "$STAGE" ! -type d)" ]
}
