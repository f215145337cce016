#!/bin/sh
# Captures a host for `fourcorners check --root DIR`: copies a few files of /proc, /sys and /etc, and on
# Azure the size, region and zone of the VM. Changes nothing on the host, does not require root, and copies
# no keys, passwords or data. The capture contains host names, server addresses and mount points.
#
#   sh capture-host.sh [DIR]          # without DIR: captured-NAME-OF-HOST

set -u
name=$(cat /proc/sys/kernel/hostname 2>/dev/null || echo host)
out=${1:-captured-$name}
if [ -e "$out" ]; then
    echo "capture-host: $out already exists; name another directory" >&2
    exit 2
fi
mkdir -p "$out" || exit 2

# keep FILE: copies a file's text if it is readable.
keep() {
    [ -r "$1" ] && [ -f "$1" ] || return 0
    mkdir -p "$out$(dirname "$1")"
    cat "$1" >"$out$1" 2>/dev/null || rm -f "$out$1"
}

for file in \
    /proc/self/mountinfo /proc/self/mountstats /proc/self/limits /proc/self/status \
    /proc/cpuinfo /proc/meminfo /proc/stat /proc/net/route /proc/net/ipv6_route \
    /proc/sys/kernel/hostname /proc/sys/kernel/osrelease /proc/sys/kernel/version \
    /proc/sys/kernel/io_uring_disabled /proc/sys/vm/dirty_ratio \
    /proc/sys/net/core/rmem_max /proc/sys/net/core/wmem_max \
    /proc/sys/net/ipv4/tcp_rmem /proc/sys/net/ipv4/tcp_wmem \
    /proc/sys/net/ipv4/tcp_adv_win_scale /proc/sys/net/ipv4/tcp_congestion_control \
    /proc/sys/net/ipv4/tcp_moderate_rcvbuf /proc/sys/net/ipv4/tcp_sack \
    /proc/sys/net/ipv4/tcp_slow_start_after_idle /proc/sys/net/ipv4/tcp_timestamps \
    /proc/sys/net/ipv4/tcp_window_scaling /proc/sys/net/ipv4/ip_local_port_range \
    /proc/sys/net/ipv4/ip_unprivileged_port_start \
    /proc/sys/sunrpc/tcp_slot_table_entries /proc/sys/sunrpc/tcp_max_slot_table_entries \
    /sys/module/nfs/parameters/max_session_slots \
    /sys/devices/system/clocksource/clocksource0/current_clocksource \
    /sys/devices/system/clocksource/clocksource0/available_clocksource \
    /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor /sys/devices/system/cpu/isolated \
    /sys/devices/system/cpu/smt/active /sys/devices/system/node/online /sys/fs/cgroup/cpu.max \
    /sys/kernel/mm/transparent_hugepage/enabled \
    /sys/class/dmi/id/chassis_asset_tag /sys/class/dmi/id/product_name /sys/class/dmi/id/sys_vendor \
    /etc/os-release /.dockerenv /run/.containerenv
do
    keep "$file"
done

# Of /etc/fstab the mount points only: options may name files with passwords.
if [ -r /etc/fstab ]; then
    mkdir -p "$out/etc"
    awk '!/^[[:space:]]*#/ && NF >= 2 { print "-", $2, "-", "-", 0, 0 }' /etc/fstab >"$out/etc/fstab"
fi

for interface in /sys/class/net/*; do
    for file in address mtu speed device/uevent device/numa_node \
        statistics/rx_packets statistics/tx_packets statistics/rx_dropped statistics/tx_dropped \
        statistics/rx_errors statistics/tx_errors statistics/rx_missed_errors
    do
        keep "$interface/$file"
    done
    # What the synthetic interface of Azure counted of its virtual function.
    if command -v ethtool >/dev/null 2>&1; then
        mkdir -p "$out/captured/ethtool-S"
        ethtool -S "${interface##*/}" 2>/dev/null | grep -E '^ *vf_(rx|tx)_(packets|bytes):' \
            >"$out/captured/ethtool-S/${interface##*/}" ||
            rm -f "$out/captured/ethtool-S/${interface##*/}"
    fi
done

# Read-ahead of network mounts: their devices have the major number 0.
for file in /sys/class/bdi/0:*/read_ahead_kb; do
    keep "$file"
done

# Which program keeps the clock in step.
for process in /proc/[0-9]*; do
    case $(cat "$process/comm" 2>/dev/null) in
        chronyd | ntpd | ntpsec | systemd-timesyn | ptp4l) keep "$process/comm" ;;
    esac
done

# On Azure: three words of the instance metadata, never the whole document.
tag=$(cat /sys/class/dmi/id/chassis_asset_tag 2>/dev/null || true)
if [ "$tag" = "7783-7084-3265-9085-8269-3286-77" ] && command -v curl >/dev/null 2>&1; then
    ask() {
        curl -s -f -m 1 --noproxy '*' -H 'Metadata: true' \
            "http://169.254.169.254/metadata/instance/compute/$1?api-version=2021-02-01&format=text"
    }
    mkdir -p "$out/captured"
    printf '{"vmSize":"%s","location":"%s","zone":"%s"}\n' \
        "$(ask vmSize)" "$(ask location)" "$(ask zone)" >"$out/captured/imds.json"
fi

echo "captured in $out; look at it before you pass it on:"
echo "  fourcorners check --root $out [MOUNT POINT]"
