const http = require("node:http");
const ms = require("ms");

const started = Date.now();
http.createServer((_, answer) => answer.end(ms(Date.now() - started))).listen(3000);
