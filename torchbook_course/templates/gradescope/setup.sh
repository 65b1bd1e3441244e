#!/usr/bin/env bash
# Gradescope runs this once, when it builds the image.
set -eu
apt-get update -q
apt-get install -q -y python3-venv
python3 -m venv /opt/uv
/opt/uv/bin/pip install -q uv
export UV_PYTHON_INSTALL_DIR=/opt/python
/opt/uv/bin/uv venv --python 3.12 /opt/torchbook
/opt/uv/bin/uv pip install --python /opt/torchbook/bin/python --compile-bytecode --torch-backend cpu \
    {{ packages }}
cd /autograder/source
TORCHBOOK_DATA=/opt/data /opt/torchbook/bin/python grade.py --prepare
