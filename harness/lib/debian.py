# SPDX-License-Identifier: GPL-2.0
"""build/guest/debian.disk: Debian as it is on a machine, with systemd, GRUB, apt and a kernel of Debian's own, the
release that runs here. As root or not, mmdebstrap makes it of this system's sources of packages.

It boots by its own loader, on a BIOS. The service guest-job (guest-src/debian-job) runs the job of the second disk
in each boot until the job ends, and turns the machine off then. A guest writes to a copy.
"""
import os
import struct
import subprocess

from . import GUEST, Failure, logged, source, userspace, vm

DISK = os.path.join(GUEST, "debian.disk")
# Of the partitions. The loader is between the first sector and them; the second is for hibernation.
FIRST = 2048
SIZE_MB, SWAP_MB = 4096, 1024
# Users' programs, the libraries of ftrace-tools, as the guest has no network, and the means to build modules.
PACKAGES = ["systemd-sysv", "udev", "grub-pc", "initramfs-tools", "cpio", "linux-image-cloud-amd64", "trace-cmd",
            "linux-perf", "bpftrace", "libtracecmd-dev", "gcc", "libc6-dev", "make", "dkms", "bpfcc-tools",
            "libbpf-tools", "makedumpfile"]
NOT_UNPACKED = ["doc", "man", "locale", "info"]
# No package may ask, and dpkg need not wait for the disk.
OPTIONS = ["--variant=minbase", "--dpkgopt=force-unsafe-io",
           *(f"--dpkgopt=path-exclude=/usr/share/{name}/*" for name in NOT_UNPACKED)]
# Commands, without a single quote, for the new system. grub-install asks for a disk, which a directory is not: the
# first three do its work. A busy host is neither a stuck CPU nor a timer that does not work.
IN_IT = r"""
cp -r /usr/lib/grub/i386-pc /boot/grub
grub-mkimage -O i386-pc -p "(hd0,msdos1)/boot/grub" -o /boot/grub/i386-pc/core.img biosdisk part_msdos ext2
grub-editenv /boot/grub/grubenv create
cat >>/etc/default/grub <<END
GRUB_TIMEOUT=0
GRUB_CMDLINE_LINUX_DEFAULT=
GRUB_CMDLINE_LINUX="console=ttyS0,115200 panic=-1 tsc=reliable nowatchdog no_timer_check"
GRUB_TERMINAL=serial
END
cat >/boot/grub/grub.cfg <<END
linux /vmlinuz root=/dev/vda1 console=ttyS0,115200 panic=-1 tsc=reliable nowatchdog no_timer_check
initrd /initrd.img
boot
END
echo /dev/vda1 / ext4 defaults,noatime 0 0 >/etc/fstab
echo guest >/etc/hostname
cat >/etc/systemd/system/guest-job.service <<END
[Service]
ExecStart=/usr/local/sbin/guest-job
TimeoutStopSec=5
[Install]
WantedBy=multi-user.target
END
chmod 755 /usr/local/sbin/guest-job
systemctl enable guest-job
systemctl mask apt-daily.timer apt-daily-upgrade.timer e2scrub_reap.service
"""


def bootstrap():
    """The file system, and the loader's two parts."""
    suite, sources = userspace.debian_sources()
    files = [os.path.join(GUEST, name) for name in ("debian.ext2", "debian.boot.img", "debian.core.img")]
    fs, boot, core = files
    # With a kernel, kdump-tools ask for the disk, too.
    hooks = [f"upload {source('debian-job')} /usr/local/sbin/guest-job",
             "chroot \"$1\" apt-get -y install kdump-tools", f"chroot \"$1\" sh -ec '{IN_IT}'",
             f"download /boot/grub/i386-pc/boot.img {boot}", f"download /boot/grub/i386-pc/core.img {core}"]
    logged("debian-disk.log",
           ["mmdebstrap", *OPTIONS, "--include=" + ",".join(PACKAGES),
            *(f"--customize-hook={hook}" for hook in hooks), suite, fs, *sources],
           ["/sbin/tune2fs", "-j", "-O", "extents,dir_index", "-U", "random", fs],
           # 1: it has changed something.
           ["sh", "-c", f"/sbin/e2fsck -fyD {fs} || [ $? = 1 ]"],
           ["/sbin/resize2fs", fs, f"{SIZE_MB}M"])
    return files


def write(path):
    print("image: making build/guest/debian.disk of Debian's packages, about 300 MB to fetch", flush=True)
    fs, boot, core = bootstrap()
    with open(boot, "rb") as b, open(core, "rb") as c:
        boot_code, core_code = b.read(), c.read()
    # The table of partitions: bootable or not, Linux or swap, where it begins and how long it is.
    entry = struct.pack("<B3xB3xII", 0x80, 0x83, FIRST, SIZE_MB << 11)
    entry += struct.pack("<B3xB3xII", 0, 0x82, FIRST + (SIZE_MB << 11), SWAP_MB << 11)
    with open(path, "wb") as out:
        out.write(boot_code[:440].ljust(446, b"\0") + entry.ljust(64, b"\0") + b"\x55\xaa" + core_code)
        if out.tell() > FIRST * vm.SECTOR:
            raise Failure("GRUB does not fit in front of the partition")
    # Most of it is empty, and stays so.
    subprocess.run(["dd", f"if={fs}", f"of={path}", f"seek={FIRST * vm.SECTOR}", "oflag=seek_bytes", "bs=1M",
                    "conv=sparse,notrunc", "status=none"], check=True)
    os.truncate(path, (FIRST + (SIZE_MB + SWAP_MB << 11)) * vm.SECTOR)
    for part in (fs, boot, core):
        os.unlink(part)


def disk():
    """The path of the disk, made first where it is missing or out of date."""
    return userspace.made(DISK, write, inputs=(__file__, source("debian-job")))
