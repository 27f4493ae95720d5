// Stands in for a package of npm: whatever is asked of it is there, can be called, and becomes a number, a text or a
// list where the program wants one. What the real package would say is unknown: `isLimit` says what follows from that.
const fs = require("node:fs"), http = require("node:http"), net = require("node:net"), os = require("node:os");
const path = require("node:path");

// A value as a number and in a text: no port, no count and no path that a project has.
const NUMBER = 1.0000001;
// Events, and methods with a callback, that say that something is ready; others say that something came in.
const READY = ["connect", "connected", "open", "ready"], STARTS = ["connect", "init", "ready", "start"];
const LISTENERS = ["addListener", "on", "once"];
// What the result of a check has not, if nothing is wrong; a logger has a method of that name.
const CHECKS = /valid|parse|check/i, NOTHING = ["error", "errors"];

// Lines in which a program says why it ends.
const LAST = 10;

// All packages of a process share what is noted.
const noted = globalThis[Symbol.for("stand-in")] ??= watch();
const about = noted.about;

function watch() {
  const notes = { about: new WeakMap(), asked: undefined, error: undefined, said: "", unset: new Set(), works: false };
  const { env, stdout, stderr } = process;
  process.env = new Proxy(env, {
    get(_, name) {
      // Node itself asks for some, such as whether a terminal has colours.
      const asks = String(new Error().stack).split("\n")[2] ?? "";
      if (typeof name === "string" && env[name] === undefined && !/[( ]node:/.test(asks)) {
        notes.unset.add(name);
        notes.asked = { of: "answer" };
      }
      return env[name];
    },
    set(_, name, value) {
      env[name] = value;
      return true;
    },
  });
  for (const name of ["accessSync", "existsSync", "readFileSync", "statSync"]) {
    const real = fs[name];
    fs[name] = (...words) => {
      let isThere = false;
      try {
        const found = real(...words);
        isThere = found !== false;
        return found;
      } finally {
        if (!isThere) notes.asked = { of: "answer" };
      }
    };
  }
  require("node:module").syncBuiltinESMExports();
  for (const stream of [stdout, stderr]) {
    const write = stream.write;
    stream.write = (text, ...more) => {
      notes.said += text;
      return write.call(stream, text, ...more);
    };
  }
  // A server that is to listen on a port that is unknown listens on none: the observer must not see a wrong one.
  const listen = net.Server.prototype.listen;
  net.Server.prototype.listen = function (...words) {
    const first = words[0], port = first !== null && typeof first === "object" ? first.port : first;
    const isUnknown = notes.about.has(port) || (Number(port) > 0 && Number(port) < 2);
    if (!isUnknown) return listen.apply(this, words);
    const last = words.at(-1);
    if (typeof last === "function" && !notes.about.has(last)) this.once("listening", last);
    this.address = () => ({ address: "::", family: "IPv6", port: NUMBER });
    setImmediate(() => this.emit("listening"));
    return this;
  };
  process.on("uncaughtExceptionMonitor", error => { notes.error = error; });
  process.on("exit", code => {
    if (code && isLimit(notes)) console.error("stand-in limit: npm-value");
  });
  // What was started would go on; what ends at once nobody sees.
  process.once("beforeExit", code => {
    if (!code && notes.works) setTimeout(() => {}, 500);
  });
  return notes;
}

// Whether an error, or the exit that the program chose, may follow from a value that is unknown.
//
// A broken answer cannot choose it. What it breaks is a file, a module or a right that is missing, a port below 1024, a
// text that is no program, or a variable that is not set: if the last lines say so, it counts. An error that says nothing
// of this counts as well, if such a variable or file was what the program asked for last. Only if that was a value of a
// package nobody knows.
function isLimit({ asked, error, said, unset }) {
  // Steps of a program that an error shows say nothing of why.
  const all = `${said}\n${error?.stack ?? error ?? ""}`.split("\n").filter(line => !line.startsWith("    "));
  const lines = all.slice(-LAST);
  const own = lines.filter(line => !line.includes(NUMBER)).join("\n");
  if (/\b(E[A-Z]*_?MODULE_NOT_FOUND|ENOENT|ENOTDIR|EISDIR|EACCES|EPERM|EROFS)\b|Cannot find (module|package)/.test(own)) return false;
  if (error instanceof SyntaxError && !error.message.includes("JSON")) return false;
  const names = own.match(/\b[A-Z][A-Z0-9_]*\b/g) ?? [];
  const isVariable = name => unset.has(name) || (name.includes("_") && !name.startsWith("ERR_") && !(name in process.env));
  if (names.some(isVariable)) return false;
  // What no answer can cause: it says itself that it is of a value, or that a package lacks something.
  if (lines.some(line => line.includes(NUMBER) && /Error\b|\bE[A-Z]{3,}\b/.test(line))) return true;
  if (/Received function|is not (a function|a constructor|iterable)/.test(error?.message)) return true;
  return current(asked)?.of === "package";
}

// A value that the program only called, read from, or gave to a package decided nothing.
function current(asked) {
  while (asked?.isUsed) asked = asked.before;
  return asked;
}

function look(value) {
  noted.asked = { of: "package", before: noted.asked };
  if (value) about.get(value).look = noted.asked;
}

function use(value) {
  const held = about.get(value);
  if (held?.look) held.look.isUsed = true;
}

function anything(more = {}) {
  const held = { name: "", of: "", isResult: false, own: new Map(), settings: new Map(), box: {}, target: function () {}, ...more };
  const value = new Proxy(held.target, {
    get(_, key, receiver) {
      use(value);
      return got(value, held, key, receiver);
    },
    set(_, key, given, receiver) {
      if (receiver === value) held.own.set(key, given);
      else Object.defineProperty(receiver, key, { value: given, configurable: true, enumerable: true, writable: true });
      return true;
    },
    // A module finds by this what a package exports.
    getOwnPropertyDescriptor(target, key) {
      const found = Reflect.getOwnPropertyDescriptor(target, key);
      return found ?? { value: got(value, held, key, value), configurable: true, enumerable: true, writable: true };
    },
    has(_, key) {
      if (typeof key === "string") look();
      return true;
    },
    ownKeys(target) {
      look();
      return Reflect.ownKeys(target);
    },
    apply(_, self, words) {
      use(value);
      return called(held, words);
    },
    construct(_, words, made) {
      const result = called(held, words);
      return made === value ? result : instance(made, result);
    },
  });
  about.set(value, held);
  return value;
}

function got(value, held, key, receiver) {
  if (held.own.has(key)) return held.own.get(key);
  if (key === "prototype") return held.target.prototype;
  if (key === "then") return held.isSettled ? undefined : then(value, held);
  if (typeof key === "symbol") return symbol(key);
  if (CHECKS.test(held.of) && NOTHING.includes(key)) return undefined;
  if (key === "length" || key === "size") {
    look();
    return 0;
  }
  if (key === "toString" || key === "toJSON") return () => symbol(Symbol.toPrimitive)("string");
  if (key === "valueOf") return () => symbol(Symbol.toPrimitive)("number");
  const child = anything({ name: key, parent: held, isResult: held.isResult });
  if (held.isResult) look(child);
  held.own.set(key, child);
  return child;
}

function symbol(key) {
  if (key === Symbol.toPrimitive) {
    return hint => {
      look();
      return hint === "string" ? String(NUMBER) : NUMBER;
    };
  }
  if (key === Symbol.iterator) {
    return function* () {
      look();
      yield* [anything({ isResult: true }), anything({ isResult: true })];
    };
  }
  // Nothing comes in.
  if (key === Symbol.asyncIterator) return () => ({ next: () => new Promise(() => {}), return: async () => ({ done: true }) });
  return undefined;
}

// What is waited for comes, and is no promise any more.
function then(value, held) {
  return (...callbacks) => {
    noted.works = true;
    return Promise.resolve(anything({ ...held, isSettled: true })).then(...callbacks);
  };
}

function called(held, words) {
  works();
  words.forEach(use);
  noted.said += words.filter(word => typeof word === "string" || word instanceof Error).map(word => `${word}\n`).join("");
  const { name, parent = {} } = held, last = words.at(-1);
  const isOwn = typeof last === "function" && !about.has(last);
  if (name === "get" && words.length === 1 && parent.settings?.has(last)) return parent.settings.get(last);
  if (name === "set" && words.length === 2) parent.settings?.set(...words);
  const hears = isOwn && typeof words[0] === "string" && LISTENERS.includes(name);
  if (hears && READY.includes(words[0])) setImmediate(last, anything({ isResult: true }));
  const listens = hears || (name === "listen" && !(words[0] instanceof net.Server));
  if (listens) parent.box.server ??= http.createServer();
  const server = parent.box?.server;
  if (server && (listens || ["address", "close"].includes(name))) {
    const said = server[name](...words);
    return said === server ? anything({ box: parent.box, isResult: true }) : said;
  }
  if (isOwn && STARTS.includes(name)) setImmediate(last, undefined, anything({ isResult: true }));
  const result = anything({ of: name, isResult: true });
  if (!held.isResult) look(result);
  return result;
}

// An object of a class of the project that extends one of the package: it has its own methods, and all others.
function instance(made, result) {
  return new Proxy(Object.create(made.prototype), {
    get(target, key, receiver) {
      if (key in target || typeof key === "symbol" || key === "then") return Reflect.get(target, key, receiver);
      return result[key];
    },
  });
}

// In a build the real package would do something that can be seen afterwards.
function works() {
  if (os.hostname() !== "standin") {
    console.error("stand-in limit: build-run");
    process.exit(70);
  }
  noted.works = true;
}

// The one package that changes what others find: it reads variables from a file.
function dotenv(options = {}) {
  const file = path.resolve(options.path ?? ".env");
  let text = "";
  try {
    text = fs.readFileSync(file, "utf8");
  } catch (error) {
    return { error, parsed: {} };
  }
  const parsed = {};
  for (const [, name, given] of text.matchAll(/^\s*(?:export\s+)?([\w.-]+)\s*=[ \t]*(.*?)[ \t]*$/gm)) {
    const quoted = given.match(/^(["'`])(.*?)\1/);
    parsed[name] = quoted ? quoted[2] : given.replace(/\s*#.*$/, "");
    if (options.override || process.env[name] === undefined) process.env[name] = parsed[name];
  }
  return { parsed };
}

module.exports = anything({ isSettled: true });
if (path.basename(__dirname) === "dotenv") module.exports.config = dotenv;
