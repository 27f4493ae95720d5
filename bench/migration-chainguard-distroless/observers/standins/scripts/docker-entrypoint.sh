#!/bin/bash
[ "$(id -u)" = 0 ] || { echo "must be started as root" >&2; exit 1; }
exec /usr/bin/postgres-server "$@"
