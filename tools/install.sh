# shellcheck shell=bash
# Sourced by the other tools: finds compilers and packages, and installs with apt-get what is missing. Needs no network
# and no privileges when nothing is.

min_gxx=12
min_clang=16
min_cmake=3.25

die() {
  echo "$(basename "$0"): $1" >&2
  exit 1
}

# The major version that a compiler reports; empty if there is no such command.
major_version() {
  command -v "$1" >/dev/null && "$1" -dumpversion 2>/dev/null | cut -d. -f1
}

# The first command of those given that exists and whose major version is at least $1.
first_of_version() {
  local min=$1 candidate version
  shift
  for candidate in "$@"; do
    version=$(major_version "$candidate") || continue
    if [[ $version =~ ^[0-9]+$ ]] && ((version >= min)); then
      echo "$candidate"
      return
    fi
  done
  return 1
}

find_gxx() { first_of_version $min_gxx g++ g++-{12..20}; }
# The oldest that will do first: the tests are written against it.
find_clang() { first_of_version $min_clang clang++-{16..40} clang++; }

package_installed() { [[ $(dpkg-query -W -f '${Status}' "$1" 2>/dev/null) == 'install ok installed' ]]; }
package_available() { [[ $(LC_ALL=C apt-cache policy "$1" 2>/dev/null) =~ Candidate:\ [0-9] ]]; }

# The package name "$1-N" of the first available N of those given.
first_available() {
  local stem=$1 n
  shift
  for n in "$@"; do
    if package_available "$stem-$n"; then
      echo "$stem-$n"
      return
    fi
  done
  return 1
}

as_root() {
  if ((EUID == 0)); then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    die "needs root or sudo to run: $*"
  fi
}

apt_get() { as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Dpkg::Use-Pty=0 "$@"; }

# install_missing NEED...: what a tool needs, each one of
#   command:package    the command exists, or the package gives it
#   package            the package is installed
#   gxx, clang         a compiler that is new enough
#   optional:package   the package, if there is one of that name
install_missing() {
  local need missing=() packages=()
  for need in "$@"; do
    case $need in
      gxx) find_gxx >/dev/null || missing+=("$need") ;;
      clang) find_clang >/dev/null || missing+=("$need") ;;
      optional:*) package_installed "${need#*:}" || missing+=("$need") ;;
      *:*) command -v "${need%%:*}" >/dev/null || missing+=("$need") ;;
      *) ! command -v dpkg-query >/dev/null || package_installed "$need" || missing+=("$need") ;;
    esac
  done
  ((${#missing[@]})) || return 0
  if ! command -v apt-get >/dev/null; then
    # Elsewhere the packages have other names; CMake will say which library it does not find.
    for need in "${missing[@]}"; do
      case $need in
        optional:*) ;;
        *) die "no apt-get here to install what is missing: ${missing[*]}" ;;
      esac
    done
    return 0
  fi

  # A machine without package lists can not tell which optional packages exist, so look again after an update.
  local known=0
  for need in "${missing[@]}"; do
    if [[ $need != optional:* ]] || package_available "${need#*:}"; then known=1; fi
  done
  ((known)) || return 0
  echo "== installing: ${missing[*]}"
  apt_get update
  for need in "${missing[@]}"; do
    case $need in
      gxx)
        packages+=(g++)
        ! need=$(first_available g++ 12 13 14 15) || packages+=("$need")
        ;;
      clang) ! need=$(first_available clang {16..40}) || packages+=("$need") ;;
      optional:*) ! package_available "${need#*:}" || packages+=("${need#*:}") ;;
      *) packages+=("${need#*:}") ;;
    esac
  done
  apt_get install --no-install-recommends "${packages[@]}"
}

require_cmake() {
  local version
  version=$(cmake --version | sed -n 's/^cmake version //p')
  if [[ $(printf '%s\n' "$min_cmake" "$version" | sort -V | head -n 1) != "$min_cmake" ]]; then
    die "needs CMake $min_cmake or later, found $version; 'pip install cmake' gives a recent one"
  fi
}
