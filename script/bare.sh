# Shared by script/matrix and script/package: bare Debian systems to run commands in. Sourced, not run.

set -euo pipefail
umask 022

repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
chroots=${CHROOTS:-/var/tmp/matrix}

say() { printf '%s\n' "$*"; }
die() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

# The mirror of this machine's own packages, if it is a Debian.
machine_mirror() {
  apt-get indextargets --format '$(LABEL) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
    sed -n 's/^Debian //p' | head -n 1
}

# Runs a command in a bare system; mounts and processes end with it.
inside() {
  local root=$chroots/chroot-$1
  shift
  unshare --mount --pid --fork --kill-child bash -euc '
    root=$1
    shift
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    mount -t tmpfs tmpfs "$root/dev/shm"
    exec chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb \
      DEBIAN_FRONTEND=noninteractive ${http_proxy:+"http_proxy=$http_proxy"} "$@"
  ' - "$root" "$@" </dev/null
}

# Makes a bare system if there is none, and brings it up to date, security fixes included. Its name is a release of Debian,
# with a suffix if one system for this release is not enough: bookworm, bookworm-user.
make_bare() {
  local root=$chroots/chroot-$1 release=${1%%-*} mirror=${MIRROR:-$(machine_mirror)}
  mirror=${mirror%/}
  [ "$(id -u)" = 0 ] || die 'a bare system can be made by root only'
  if [ ! -e "$root/etc/debian_version" ]; then
    command -v debootstrap >/dev/null || die 'debootstrap is missing: apt-get install debootstrap'
    mkdir -p "$chroots"
    debootstrap --variant=minbase "$release" "$root" ${mirror:+"$mirror"}
  fi
  [ -n "$mirror" ] || mirror=$(sed -nE 's/^deb ([^ ]+) .*/\1/p' "$root/etc/apt/sources.list" | head -n 1)
  {
    say "deb $mirror $release main"
    say "deb $mirror $release-updates main"
    say "deb ${mirror%/debian}/debian-security $release-security main"
  } >"$root/etc/apt/sources.list"
  # how this machine reaches its mirror: by a proxy, or a mirror that stands still
  apt-config dump 2>/dev/null | grep -iE '^Acquire::([a-z]+::Proxy|Check-Valid-Until)' \
    >"$root/etc/apt/apt.conf.d/90machine" || true
  cp /etc/resolv.conf /etc/hosts "$root/etc/"
  # a copy of the sources: they may be edited while this runs
  rm -rf "$root/dperm"
  mkdir "$root/dperm"
  tar -C "$repo" -cf - --exclude=./.git --exclude=./build . | tar -C "$root/dperm" -xf -
  inside "$1" sh -c 'apt-get -q update && apt-get -q -y dist-upgrade'
}
