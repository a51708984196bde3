#!/bin/sh
# F2FS of Linux 6.1.192 (Debian 12), with a file system of f2fs-tools 1.15.0 and its default options, in QEMU.
#   nbdkit 1.32.5 is the disk; it answers a write late and logs every request. Needs root and 3 minutes.
# Expected: fsync waits until the disk has answered all writes of the file, then flushes the disk, then
#   returns 0. A flush covers only what was answered before it.
# Seen: the first fsync after each checkpoint (here after sync) sends its flush right behind the write
#   of the inode, and does not wait for that write before or afterwards. The second fsync waits. F2FS
#   counts these writes from 0 again with each checkpoint and waits for the highest number, where 0
#   means that there is nothing to wait for. If the power fails before a later flush and the disk
#   lost this write, the mount finds no trace of the file, though fsync was 0.
#   The last boot here mounts the disk with and without that block.
# Output:
#   first3: 1 unanswered at the flush | second3: 0 unanswered | last: 1 unanswered
#   whole: first3 is there, last is there | lacking: first3 is there, second3 is there, last is gone
set -eu
KERNEL=linux-image-6.1.0-56-amd64=6.1.192-2
[ "$(id -u)" = 0 ] && [ "$(uname -m)" = x86_64 ] || { echo "needs root on x86-64"; exit 2; }
for p in busybox-static cpio f2fs-tools kmod nbdkit qemu-system-x86; do
  dpkg-query -Wf '${db:Status-Status}' $p 2>/dev/null | grep -qx installed ||
    DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $p >/dev/null
done
[ "$(dpkg-query -Wf '${Version}' nbdkit)" = 1.32.5-1 ] || { echo "needs nbdkit 1.32.5-1"; exit 2; }
T=$(mktemp -d)
S=
trap '[ -z "$S" ] || kill $S || :; rm -rf "$T"' EXIT
cd "$T"
apt-get -qq -o APT::Sandbox::User=root download $KERNEL >/dev/null
dpkg -x ./*.deb k
R=$(ls k/lib/modules)
depmod -b k "$R"
mkdir -p i/bin i/dev i/lib i/mnt i/proc i/sys
cp "$(command -v busybox)" i/bin/busybox
n=100
for m in virtio_pci virtio_blk f2fs; do modprobe -d k -S "$R" --show-depends $m; done |
  awk '!seen[$2]++ { print $2 }' >modules
while read -r m; do
  cp "$m" i/lib/$n.ko
  n=$((n + 1))
done <modules
cat >i/init <<'G'
#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
for m in /lib/*.ko; do insmod $m; done
write() {  # a file with fsync, and then a mark on the other disk
  dd if=/proc/version of=/mnt/$1 conv=fsync 2>/dev/null && echo "$1: fsync 0"
  dd if=/dev/zero of=/dev/vdb bs=4096 count=1 oflag=direct 2>/dev/null
}
if [ ! -e /dev/vdc ]; then
  mount -t f2fs /dev/vda /mnt
  for n in 1 2 3; do
    sync
    write first$n
    write second$n
  done
  sync
  write last
else
  for d in vda vdc; do
    mount -t f2fs /dev/$d /mnt
    [ $d = vda ] && d=whole || d=lacking
    for f in first3 second3 last; do [ -s /mnt/$f ] && echo "$d: $f is there" || echo "$d: $f is gone"; done
    umount /mnt
  done
fi
echo o >/proc/sysrq-trigger
sleep 100
G
chmod +x i/init
(cd i && find . | cpio -o -H newc --quiet | gzip -1) >initramfs
truncate -s 64M disk
mkfs.f2fs -q disk >/dev/null
serve() {  # name, and the rest of the command line
  name=$1
  shift
  nbdkit -f -U "$name.sock" "$@" & S="$S $!"
  while [ ! -S "$name.sock" ]; do sleep 0.1; done
}
boot() {  # names of disks
  words=
  for d in "$@"; do
    words="$words -blockdev driver=nbd,node-name=$d,server.type=unix,server.path=$d.sock"
    words="$words -device virtio-blk-pci,drive=$d,write-cache=on"
  done
  timeout 500 qemu-system-x86_64 -accel tcg -cpu max -m 256 -nodefaults -display none -no-reboot -serial stdio \
    -kernel "k/boot/vmlinuz-$R" -initrd initramfs -append "console=ttyS0 quiet panic=-1 no_timer_check" \
    $words </dev/null
}
cp disk lacking
serve a --filter=log --filter=delay file disk logfile=log wdelay=200ms
serve b --filter=log memory 1M logfile=marks
boot a b >booted
python3 - >seen <<'P'
import re
def entries(path):
    form = r"\S+ (\d+):(\d+):(\S+) \S+ (\.\.\.)?(Write|Flush) id=(\d+)(?: offset=0x(\w+) count=0x(\w+))?"
    for line in open(path):
        m = re.match(form, line)
        if m:
            at = int(m[1]) * 3600 + int(m[2]) * 60 + float(m[3])
            yield at, bool(m[4]), m[5], m[6], (int(m[7] or "0", 16), int(m[8] or "0", 16))
marks = [at for at, answer, kind, _, _ in entries("marks") if kind == "Write" and not answer]
files = re.findall(r"(\w+): fsync 0", open("booted").read())
log = list(entries("log"))
for name, mark in zip(files, marks, strict=True):
    flush = max(n for n, e in enumerate(log) if e[0] < mark and e[2] == "Flush" and not e[1])
    answered = {e[3] for e in log[:flush] if e[1]}
    waiting = [e for e in log[:flush] if e[2] == "Write" and not e[1] and e[3] not in answered]
    print(f"{name}: {len(waiting)} unanswered at the flush")
with open("disk", "rb") as full, open("lacking", "r+b") as lacking:
    before, after = lacking.read(), bytearray(full.read())
    for *_, (offset, count) in waiting:
        after[offset:offset + count] = before[offset:offset + count]
    lacking.seek(0)
    lacking.write(after)
P
serve c file lacking
boot a b c | tr -d '\r' | grep ': .* is ' >>seen
cat seen
for n in 1 2 3; do printf 'first%s: 1 unanswered at the flush\nsecond%s: 0 unanswered at the flush\n' $n $n; done >want
echo "last: 1 unanswered at the flush" >>want
for f in first3 second3 last; do echo "whole: $f is there"; done >>want
printf 'lacking: first3 is there\nlacking: second3 is there\nlacking: last is gone\n' >>want
cmp -s seen want || { echo "changed"; exit 1; }
echo "as described"
