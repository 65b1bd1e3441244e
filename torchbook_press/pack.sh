#!/bin/sh
# Records chapters where nothing can be installed from outside. From the book's folder:
#
#   sh PACK/run.sh [CHAPTERS and options of `torchbook record`]
#
# Sees the machine's own packages, torch above all, adds the wheels that lie beside this script, and packs what was
# recorded. PYTHON: the machine's interpreter. ARCHIVE: where the recordings go, as a tar.gz.
set -eu
pack=$(cd "$(dirname "$0")" && pwd)
python=${PYTHON:-python3}
venv=${VENV:-.cache/recording}
archive=${ARCHIVE:-recordings.tar.gz}

if [ ! -f _toc.yml ]; then
  echo "there is no _toc.yml here: run this from the book's folder" >&2
  exit 2
fi
test -x "$venv/bin/python" || "$python" -m venv --without-pip --system-site-packages "$venv"
# The machine's packages may lie in an environment of their own, which a new one does not see.
"$python" -c 'import site; print("\n".join(site.getsitepackages()))' >"$(
  "$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))'
)/machine.pth"
"$venv/bin/python" "$(ls "$pack"/wheels/pip-*.whl)/pip" install --quiet --disable-pip-version-check \
  --no-index --no-deps --find-links "$pack/wheels" --requirement "$pack/install.txt"

export PYTHONPATH="$PWD${PYTHONPATH:+:$PYTHONPATH}"
TORCHBOOK_COMMIT=$(cat "$pack/commit")
export TORCHBOOK_COMMIT
status=0
"$venv/bin/python" -m torchbook record "$@" || status=$?
if [ -d recordings ]; then
  tar -czf "$archive" recordings
  echo "packed: $archive"
fi
exit "$status"
