#!/bin/sh
set -eu
# In node, for the image need not have a program that opens a connection.
reached='
const socket = require("node:net").connect(process.env.DB_PORT, process.env.DB_HOST);
socket.on("connect", () => process.exit(0)).on("error", () => process.exit(1));
'
for _ in 1 2 3; do
    node -e "$reached" && break
    sleep 1
done
exec "$@"
