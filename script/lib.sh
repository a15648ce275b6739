# Shared by script/test, script/demo and test/bench/run: packages, a private build, a temporary
# cluster. Sourced, not run.
#
# Nothing is left behind but the packages that apt installs. The build and the
# server live in one temporary directory; dperm is installed there into a private
# copy of the PostgreSQL installation, as PostgreSQL's own "make check" does it, so
# no server of this machine ever sees it.

set -euo pipefail

repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
work=       # the temporary directory
log=        # output of the step that runs
step=       # its process group
beside=     # a process that runs steps of its own
as=()       # the prefix that runs a command as the server's user
pg_config=  # of the private copy, once it exists
compiler=   # what make uses: CC, or what built this PostgreSQL

say() { printf '%s\n' "$*"; }
die() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

# The caller's connection settings, locale and make flags are not ours. PG_CONFIG
# is: it chooses the PostgreSQL to test. So is CC, the compiler.
for name in "${!PG@}"; do
  [ "$name" = PG_CONFIG ] || unset "$name"
done
unset CDPATH MAKEFLAGS MFLAGS MAKELEVEL COPT CFLAGS CPPFLAGS LDFLAGS LANGUAGE
[ -z "${CC-}" ] || export MAKEFLAGS="-- CC=$CC"
export LC_ALL=C.UTF-8
umask 022

# ---------------------------------------------------------------- packages

major_version() { "$1" --version | sed -E 's/^PostgreSQL ([0-9]+).*/\1/'; }

# The versions that dperm is tested with. A newer one is tried.
oldest=15
newest=19

# Prints the pg_config of a PostgreSQL that has $1: server, or headers too. Versions that are known come first, the newest
# before the others. PG_CONFIG, if set, is the only candidate.
find_postgres() {
  local version candidate candidates=()
  for ((version = newest; version >= oldest; version--)); do
    candidates+=("/usr/lib/postgresql/$version/bin/pg_config")
  done
  candidates+=(/usr/lib/postgresql/*/bin/pg_config pg_config)
  [ -z "${PG_CONFIG-}" ] || candidates=("$PG_CONFIG")
  for candidate in "${candidates[@]}"; do
    candidate=$(command -v "$candidate") || continue
    [ "$(major_version "$candidate")" -ge "$oldest" ] || continue
    [ -x "$("$candidate" --bindir)/postgres" ] || continue
    [ "$1" = server ] || { [ -e "$("$candidate" --includedir-server)/postgres.h" ] &&
      [ -e "$("$candidate" --pgxs)" ]; } || continue
    say "$candidate"
    return
  done
  return 1
}

has_library() {
  compgen -G "/usr/lib/*/lib$1.so" || compgen -G "/usr/lib*/lib$1.so" ||
    compgen -G "/usr/local/lib*/lib$1.so"
} >/dev/null

# The version that the unversioned package stands for: 15 in Debian 12.
default_version() {
  local version
  version=$(apt-cache depends postgresql 2>/dev/null |
    sed -nE 's/.*Depends: postgresql-([0-9]+)$/\1/p' | head -n 1)
  say "${version:-15}"
}

# Prints the packages that are missing. $1: build, or test or bench for their tools too.
missing_packages() {
  local version module
  command -v "${CC:-gcc}" >/dev/null || say "${CC:-gcc}"
  [ -e /usr/include/stdio.h ] || say libc6-dev
  command -v make >/dev/null || say make
  # serial: the server runs one process per session, threads inside one only hurt
  has_library lapack && has_library blas || say libopenblas-serial-dev
  if [ "$1" = test ]; then
    command -v prove >/dev/null || say perl
    perl -MIPC::Run -e 1 2>/dev/null || say libipc-run-perl
    command -v python3 >/dev/null || say python3
    [ "${scope-}" != valgrind ] || command -v valgrind >/dev/null || say valgrind
  fi
  if [ "$1" = bench ]; then
    # the one that OpenBLAS is compared with; the default stays OpenBLAS
    compgen -G '/usr/lib/*/blas/libblas.so.3' >/dev/null || printf '%s\n' libblas3 liblapack3
    for module in psycopg2 sklearn; do
      "${PYTHON:-/usr/bin/python3}" -c "import $module" 2>/dev/null || say "python3-$module"
    done
  fi
  if ! find_postgres headers >/dev/null; then
    if version=$(find_postgres server); then
      version=$(major_version "$version")
    else
      version=$(default_version)
      say "postgresql-$version"
    fi
    say "postgresql-server-dev-$version"
  fi
}

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }

apt_get() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -y -qq -o Dpkg::Use-Pty=0 \
    -o DPkg::Lock::Timeout=300 "$@" >>"$log" 2>&1 ||
    { tail -n 30 "$log" >&2; die "apt-get $* failed"; }
}

# postgresql-common creates and starts a cluster with every new server package.
# Switch that off while ours is installed, then put the administrator's file back.
cluster_conf=/etc/postgresql-common/createcluster.conf
install_without_cluster() {
  apt_get install --no-install-recommends postgresql-common
  [ -e "$cluster_conf.dperm" ] || as_root cp -p "$cluster_conf" "$cluster_conf.dperm"
  echo 'create_main_cluster = false' | as_root tee -a "$cluster_conf" >/dev/null
  apt_get install --no-install-recommends "$@"
  restore_cluster_conf
}
restore_cluster_conf() {
  [ ! -e "$cluster_conf.dperm" ] || as_root mv "$cluster_conf.dperm" "$cluster_conf"
}

# Says what is missing, then installs it.
install_packages() {
  local packages command
  packages=$(missing_packages "$1" | xargs)
  [ -n "$packages" ] || return 0
  command="apt-get install --no-install-recommends $packages"
  command -v apt-get >/dev/null || die "these Debian packages, or their contents, are missing: $packages"
  say "Missing packages: $packages"
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null && sudo -v ||
      die "cannot install them without root or sudo. Run as root:
  apt-get update && $command"
  fi
  apt_get update
  packages=$(missing_packages "$1" | xargs) # the fresh lists know the right version
  say "Installing them, which takes about a minute: apt-get install --no-install-recommends $packages"
  case " $packages " in
    *" postgresql-"[0-9]*) install_without_cluster $packages ;;
    *) apt_get install --no-install-recommends $packages ;;
  esac
  packages=$(missing_packages "$1" | xargs)
  [ -z "$packages" ] || die "still missing after the installation: $packages"
}

# ------------------------------------------------------------------- steps

# A server refuses to run as root, so root does everything as another user.
choose_user() {
  local user=nobody
  [ "$(id -u)" = 0 ] || return 0
  ! id -u postgres >/dev/null 2>&1 || user=postgres
  as=(setpriv "--reuid=$user" "--regid=$(id -g "$user")" --init-groups)
}

# Runs a command and waits, so that a signal to us is handled at once. In a session
# of its own, so that cleanup can stop all of it.
run() {
  local status=0
  setsid env --default-signal=INT,QUIT "${as[@]}" "$@" </dev/null &
  step=$!
  wait "$step" || status=$?
  step=
  return "$status"
}

# Runs a step of the set-up; its output matters only if it fails.
quietly() {
  run "$@" >"$log" 2>&1 || { tail -n 50 "$log" >&2; die "failed: $*"; }
}

cleanup() {
  local status=$? pidfile
  trap '' INT TERM HUP
  [ -z "$beside" ] || kill -TERM "$beside" 2>/dev/null || true
  if [ -n "$step" ] && kill -TERM -- "-$step" 2>/dev/null; then
    sleep 1
    kill -KILL -- "-$step" 2>/dev/null || true
  fi
  restore_cluster_conf
  if [ -n "$work" ]; then
    # our cluster, and those of an interrupted TAP test
    while read -r pidfile; do
      "${as[@]}" "${pg_config%/*}/pg_ctl" stop -s -m immediate -D "${pidfile%/*}" || true
    done < <(find "$work" -name postmaster.pid)
    rm -rf "$work"
  fi
  [ -z "$log" ] || rm -f "$log"
  exit "$status"
}

# ---------------------------------------------------------- build and server

# Packages, then a private copy of the sources and of PostgreSQL in $work.
prepare() {
  local found
  trap cleanup EXIT
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM
  [ -z "${PG_CONFIG-}" ] || find_postgres headers >/dev/null ||
    die "PG_CONFIG=$PG_CONFIG is not a PostgreSQL, $oldest or newer, with its server headers"
  log=$(mktemp /tmp/dperm-log.XXXXXX)
  install_packages "$1"
  choose_user

  # /tmp, not TMPDIR: root's may be closed to others, and a socket's path is short
  work=$(mktemp -d /tmp/dperm.XXXXXX)
  mkdir "$work/src" "$work/tmp" "$work/socket"
  [ "${#as[@]}" = 0 ] || chown -R "$("${as[@]}" id -un):" "$work"
  tar -C "$repo" -cf - --exclude=./.git --exclude=./build --exclude='*.o' --exclude='*.so' \
    --exclude="dperm--$(sed -n "s/^default_version = '\(.*\)'/\1/p" "$repo/dperm.control").sql" . | "${as[@]}" tar -C "$work/src" -xf -
  cd "$work/src"
  export HOME=$work TMPDIR=$work/tmp

  found=$(find_postgres headers)
  [ "$(major_version "$found")" -le "$newest" ] ||
    say "Warning: dperm is tested with PostgreSQL $oldest to $newest. $("$found" --version) is tried." >&2
  compiler=${CC:-$("$found" --cc)}
  say_versions "$found"
  advise_blas
  copy_postgres "$found"
}

# Prints the files of BLAS and LAPACK that programs use here.
blas_files() {
  echo 'int main(void) { return 0; }' >"$work/tmp/blas.c"
  $compiler -Wl,--no-as-needed "$work/tmp/blas.c" -llapack -lblas -o "$work/tmp/blas"
  ldd "$work/tmp/blas" | sed -nE 's/^[[:space:]]*(lib[^ ]*) => (.*) \(0x.*/\1 \2/p' |
    grep -vE '^(libc|libm|libgcc_s|libgfortran|libquadmath|libpthread)\.' | sed 's/^[^ ]* //' |
    xargs -r realpath
}

# The exact versions of everything that a result may depend on.
say_versions() {
  local file package
  say "PostgreSQL: $("$1" --version)"
  say "System:     $(. /etc/os-release && say "$PRETTY_NAME"), $(uname -m), $(ldd --version | head -n 1)"
  say "Compiler:   $($compiler --version | head -n 1)"
  while read -r file; do
    package=$(dpkg-query -S "$file" 2>/dev/null | sed 's/: .*//') || package=
    [ -z "$package" ] || package=" ($(dpkg-query -W -f '${Package} ${Version}' "$package"))"
    say "BLAS:       $file$package"
  done < <(blas_files)
}

# The reference BLAS is slow: docs/benchmarks.md.
advise_blas() {
  ! blas_files | grep -qE '/blas/libblas\.so' ||
    say 'This is the reference BLAS. Training is faster with: apt-get install libopenblas0-serial'
}

# PostgreSQL finds its files from where its programs are: copy those, link the rest.
copy_postgres() {
  local dir path
  for dir in bindir sharedir pkglibdir pkgincludedir includedir-server; do
    path=$("$1" "--$dir")
    "${as[@]}" mkdir -p "$work/pg$path"
    if [ "$dir" = bindir ]; then
      "${as[@]}" cp -RL "$path/." "$work/pg$path"
    else
      "${as[@]}" cp -Rs --remove-destination "$path/." "$work/pg$path"
    fi
  done
  find "$work/pg" -name 'dperm*' -delete # a version that is installed already
  pg_config=$work/pg$("$1" --bindir)/pg_config
  export PG_CONFIG=$pg_config
  [ "$("$pg_config" --bindir)" = "${pg_config%/*}" ] ||
    die "this PostgreSQL cannot be copied: $1 still names $("$pg_config" --bindir)"
  PATH=${pg_config%/*}:$PATH
}

# Prints the options of initdb for a locale whose order is not that of bytes, if this server has ICU.
other_locale() {
  case $(pg_config --configure) in
    *--without-icu*) say --no-locale ;;
    *--with-icu*) say --locale-provider=icu --icu-locale=en-US ;;
    *) [ "$(major_version pg_config)" -lt 16 ] && say --no-locale || say --locale-provider=icu --icu-locale=en-US ;;
  esac
}

# start_server [COMMAND...]: the command that runs pg_ctl, and with it the server. $locale has the options of initdb.
start_server() {
  quietly initdb -D "$work/data" -U postgres -A trust -E UTF8 ${locale:---no-locale} -N
  # a socket inside $work, which only we can enter, is the only way in; so no port
  # number can be taken
  cat >>"$work/data/postgresql.conf" <<-CONF
	listen_addresses = ''
	unix_socket_directories = '$work/socket'
	fsync = off
	CONF
  quietly "$@" pg_ctl start -w -D "$work/data" -l "$work/data/server.log"
  export PGHOST=$work/socket PGUSER=postgres PGDATABASE=postgres
}
