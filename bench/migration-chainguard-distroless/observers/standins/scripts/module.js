// Stands in for a package of npm: whatever is asked of it is there, and what it makes can listen.
const http = require("node:http"), os = require("node:os");

function anything(held) {
  return new Proxy(function () {}, {
    get(target, name) {
      if (name === "prototype") return target.prototype;
      if (typeof name === "symbol" || name === "then" || name === "toJSON") return undefined;
      if (held && typeof held[name] === "function") return (...words) => { held[name](...words); return anything(held); };
      return held && name in held ? held[name] : anything();
    },
    has: () => true,
    apply: works,
    construct: works,
  });
}

// In a build the real package would do something that can be seen afterwards.
function works() {
  if (os.hostname() !== "standin") {
    console.error("stand-in limit: build-run");
    process.exit(70);
  }
  return anything(http.createServer());
}

module.exports = anything();
