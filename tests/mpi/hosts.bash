# Hosts for tests (hosts.bats): each is a process in namespaces of its own, of mounts, name, network and
# processes, with a disk at /mnt and a /dev/shm. All share the folder of the test and, by a bridge, a
# network with the site, where their disks are. Namespaces end with their last process, in five minutes
# at most. Where they are not permitted a host is a folder, and all run in one network. So they do under
# MPICH 4.0 of Debian: by TCP, one of its ranks may leave another one in MPI_Finalize for ever.

# at_site COMMAND…: runs it in the network of the hosts, where all disks are.
at_site() {
    if [ -n "$site" ]; then nsenter -t "$site" -m -u -n "$@"; else "$@"; fi
}

# on HOST WORD…: nystream with these words, on its disk.
on() {
    if [ -n "$site" ]; then ./agent "h$1" "$PWD/here" "${@:2}"; else NODE=$1 ./here "${@:2}"; fi
}

# boot HOST: starts it, or starts it again with what its disk has.
boot() {
    local init
    [ -n "$site" ] || return 0
    nsenter -t "$site" -m -u -n unshare -m -u -i -n -p -f --kill-child --mount-proc sh -euc "
        hostname h$1
        mount --bind '$PWD/disk.$1' /mnt
        umount '$PWD'/disk.*
        mount -t tmpfs tmpfs /dev/shm
        exec sleep 300" >&2 3>&- &
    await "init=\$(pgrep -P $! -x sleep)"
    inits[$1]=$init
    echo "$init" >"h$1"
    at_site ip link add "v$init" type veth peer name eth0 address "02:00:00:00:00:0$1" netns "$init"
    at_site ip link set "v$init" master hosts up
    nsenter -t "$init" -n sh -euc "ip link set lo up; ip link set eth0 up; ip address add 10.77.0.1$1/24 dev eth0"
}

# boot_site: makes the network and the disks.
boot_site() {
    unshare -m -u -n sleep 300 3>&- &
    site=$!
    await "grep -qx sleep /proc/$site/comm"
    { printf '127.0.0.1 localhost\n10.77.0.9 site\n'; printf '10.77.0.1%s h%s\n' 0 0 1 1 2 2 3 3; } >names
    at_site sh -euc "hostname site; mount --bind '$PWD/names' /etc/hosts; ip link set lo up
        for disk in '$PWD'/disk.*; do mount -t tmpfs tmpfs \"\$disk\"; done
        ip link add hosts address 02:00:00:00:00:09 type bridge; ip link set hosts up
        ip address add 10.77.0.9/24 dev hosts"
}

# build_hosts COUNT TRANSPORT: makes hosts h0, h1 and so on, four at most, and two scripts: `agent` is their ssh,
# and `here` runs nystream on the disk of its host, whose file pid then has the number of the process.
build_hosts() {
    local host disk=/mnt
    site='' inits=()
    for ((host = 0; host < $1; host++)); do mkdir disk.$host; done
    if [ "$2" = mpich ]; then
        echo "no namespaces: MPI_Finalize may hang by TCP" >why
    elif unshare -m -u -i -n -p -f sh -euc 'mount -t tmpfs tmpfs /mnt
        ip link add hosts type bridge; ip link add v0 type veth peer name v1' 2>why; then
        boot_site
    fi
    if [ -z "$site" ]; then
        echo "# the hosts of $2 are folders: $(head -n 1 why)" >&3
        disk=$PWD/disk.'${NODE-${OMPI_COMM_WORLD_RANK-$PMI_RANK}}'
    fi
    printf '#!/bin/bash\ncd "%s" && echo $$ >pid && exec nystream "$@"\n' "$disk" >here
    printf '#!/bin/bash\nwhile [[ $1 == -* ]]; do shift; done\ninit=$(<"%s/$1")\nshift\n%s\n' "$PWD" \
        'exec nsenter -t "$init" -m -u -i -n -p sh -c "$*"' >agent
    chmod +x here agent
    for ((host = 0; host < $1; host++)); do boot $host; done
}

# end_hosts: ends them, and all else that the test has begun.
end_hosts() {
    kill $(jobs -rp) 2>/dev/null || true # mpirun as well, to which timeout passes it on
    sleep 0.1
    kill -9 $(jobs -rp) 2>/dev/null || true
    wait
}
