#!/bin/sh
set -eu
# busybox has nc as well
for _ in 1 2 3; do
    nc -z "$DB_HOST" "$DB_PORT" && break
    sleep 1
done
exec "$@"
