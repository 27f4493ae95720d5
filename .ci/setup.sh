# Sourced by .ci/run and .ci/nightly: a clean copy of the tree in $work, the README's commands, and a clock for the stages.
# shellcheck shell=bash
# As on a user's machine: the runs below share what Python compiled.
unset PYTHONDONTWRITEBYTECODE
work=$(mktemp -d)
trap 'status=$?; stage_ends; rm -rf "$work"; exit $status' EXIT
here=$PWD
stage_name="" stages=""

# stage NAME ends the stage before, and begins another; times keeps how long each took.
stage() {
  stage_ends
  stage_name=$1 stage_start=$SECONDS
  echo "== $1"
}

stage_ends() {
  [ -n "$stage_name" ] || return 0
  local took=$((SECONDS - stage_start))
  echo "== $stage_name: took $((took / 60)) min $((took % 60)) s"
  stages+=$(printf '%4d:%02d  %s' $((took / 60)) $((took % 60)) "$stage_name")$'\n'
  stage_name=""
}

times_of_stages() {
  stage_ends
  echo "== how long each stage took (minutes:seconds), load now $(cut -d' ' -f1 /proc/loadavg 2> /dev/null || echo unknown)"
  printf '%s' "$stages"
  printf '%4d:%02d  %s\n' $((SECONDS / 60)) $((SECONDS % 60)) "in all"
}

# Everything runs in a clean copy, so that nothing left over here can help or hurt.
copy_the_tree() {
  git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$work"
  cd "$work"
}

# readme N prints the N-th sh block of the README.
readme() { awk -v want="$1" '/^```sh$/{n++; on=1; next} /^```$/{on=0} on && n==want' README.md; }

# readme_runs N shows that block and runs it. Not through tee /dev/stderr: that empties the file which stderr goes to.
readme_runs() {
  readme "$1"
  readme "$1" | bash -euo pipefail
}

# debian PACKAGE installs a package of Debian where this may be done; what is missing shows later.
debian() {
  if [ "$(id -u)" != 0 ] || ! command -v apt-get > /dev/null; then return 0; fi
  { timeout 300 apt-get update && DEBIAN_FRONTEND=noninteractive timeout 600 apt-get install --yes --no-install-recommends "$1"; } \
    > "$work/apt.log" 2>&1 || true
}

# What the tests need beyond the README: npm, inspect_ai, a Chromium of the system, and the library a sandbox is built with.
install_for_tests() {
  pip install --quiet --upgrade pip
  pip install --quiet 'coverage>=7.13' --group npm --group inspect --group browser
  command -v chromium > /dev/null || debian chromium
  ldconfig -p | grep -F libseccomp.so.2 > /dev/null || debian libseccomp2
  export BENCHGATE_REQUIRE_NPM=1 BENCHGATE_REQUIRE_DASK=1 BENCHGATE_REQUIRE_INSPECT=1
  if command -v chromium > /dev/null; then export BENCHGATE_REQUIRE_BROWSER=1; fi
}
