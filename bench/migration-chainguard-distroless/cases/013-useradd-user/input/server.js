require("node:http").createServer((_, answer) => answer.end("ok")).listen(3000);
