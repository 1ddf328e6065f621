#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# mkdisk.sh IMAGE KERNEL INITRD [WORD...]: an ISO that boots KERNEL, by BIOS and UEFI, from a CD
# and, copied to it, from a disk. There it has a FAT partition FTRACEBENCH, for what turns.py, the
# job of INITRD, writes; the WORDs are the kernel's. Takes grub-mkrescue with the modules for
# i386-pc and x86_64-efi, xorriso and mtools.
set -euo pipefail

[ $# -ge 3 ] || { echo "usage: mkdisk.sh IMAGE KERNEL INITRD [WORD...]" >&2; exit 2; }
image=$1
dir=$(mktemp -d "$image.XXXXXX")
trap 'rm -rf "$dir"' EXIT
mkdir -p "$dir/iso/boot/grub"
cp "$2" "$dir/iso/boot/kernel"
cp "$3" "$dir/iso/boot/initrd"
id=$(sha256sum <"$3" | head -c 8)
mformat -i "$dir/part" -C -T 32768 -h 64 -s 32 -v FTRACEBENCH -N "$id" ::
# The screen comes last: it is /dev/console. No array of disks is to be put together, and no
# hibernation to be resumed.
cat >"$dir/iso/boot/grub/grub.cfg" <<END
if serial --unit=0 --speed=115200; then
	terminal_input console serial
	terminal_output console serial
fi
insmod all_video
set gfxpayload=keep
set timeout=5
menuentry 'Measure the costs of function tracing; touches no disk but this one' {
	linux /boot/kernel console=ttyS0,115200 console=tty0 panic=30 raid=noautodetect noresume \
		retain_initrd guest.poweroff bench.id=$id ${*:4}
	initrd /boot/initrd
}
END
grub-mkrescue -o "$dir/image" "$dir/iso" -- -append_partition 3 0x0c "$dir/part" >"$dir/log" 2>&1 ||
	{ cat "$dir/log" >&2; exit 1; }
mv "$dir/image" "$image"
