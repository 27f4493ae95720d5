const { greeting } = require("../../../packages/shared");

require("node:http").createServer((_, answer) => answer.end(greeting)).listen(4000);
