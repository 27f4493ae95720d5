const http = require("node:http");
const { spawn } = require("node:child_process");

// Each request starts a process, whose end somebody has to notice.
http.createServer((_, answer) => {
  spawn(process.execPath, ["--version"]).stdout.pipe(answer);
}).listen(Number(process.env.PORT || 3000));
