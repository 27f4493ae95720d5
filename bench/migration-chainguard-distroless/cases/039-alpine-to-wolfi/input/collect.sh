#!/usr/bin/env bash
set -euo pipefail
# asks each host, and counts what it says
while true; do
    for host in ${HOSTS:-}; do
        ssh "$host" journalctl --since -1h | tally
        curl -fsS "https://$host/status" | jq .load
    done
    sleep 3600
done
