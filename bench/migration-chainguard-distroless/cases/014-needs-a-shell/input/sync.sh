#!/usr/bin/env bash
set -euo pipefail
curl -fsS "$SOURCE" | jq -r ".items[].name"
