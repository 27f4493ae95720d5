#!/usr/bin/env node
// Stands in for programs that build a project of Node: their files are there, and wait where the real ones would serve.
const fs = require("node:fs"), path = require("node:path"), {spawnSync} = require("node:child_process");

const SOURCE = /(?<!\.d)\.([mc]?)tsx?$/;

function limit(name = "npm-build") {
  console.error(`stand-in limit: ${name}`);
  process.exit(70);
}

function fail(code, why) {
  console.error(why);
  process.exit(code);
}

function read(file) {
  return fs.readFileSync(file, "utf8");
}

function write(file, text) {
  fs.mkdirSync(path.dirname(file), {recursive: true});
  fs.writeFileSync(file, text);
}

// Read JSON with comments and commas at the ends of lists.
function loose(file) {
  const text = read(file).replace(/("(?:\\.|[^"\\])*")|\/\/[^\n]*|\/\*[^]*?\*\//g, (_, string) => string ?? "");
  try {
    return JSON.parse(text.replace(/("(?:\\.|[^"\\])*")|,(?=\s*[}\]])/g, (_, string) => string ?? ""));
  } catch {
    return limit();
  }
}

function files(folder) {
  return fs.readdirSync(folder, {withFileTypes: true}).flatMap(one => {
    if (one.name === "node_modules") return [];
    const there = path.join(folder, one.name);
    return one.isDirectory() ? files(there) : [there];
  });
}

// Read options: those that take a value, and those that only stand there; any other is a limit.
function options(words, valued, known) {
  const given = {}, rest = [];
  for (let at = 0; at < words.length; at++) {
    const [name, value] = words[at].split(/=(.*)/s);
    if (!name.startsWith("-")) rest.push(words[at]);
    else if (valued.includes(name)) given[name.replace(/^-+/, "")] = value ?? words[++at];
    else if (known.includes(name)) given[name.replace(/^-+/, "")] = value ?? true;
    else limit("option");
  }
  return [given, rest];
}

// TypeScript: what its settings say is emitted.

function settings(file) {
  if (!fs.existsSync(file)) fail(1, `error TS5083: Cannot read file '${file}'.`);
  const own = loose(file), folder = path.dirname(file);
  const held = {compilerOptions: {}};
  for (const base of [own.extends ?? []].flat()) {
    // A package of settings, of which nobody knows what it says.
    if (!/^\.|^\//.test(base)) held.compilerOptions.isOfPackage = true;
    else {
      const there = path.resolve(folder, base), other = settings(fs.existsSync(there) ? there : `${there}.json`);
      Object.assign(held, other, {compilerOptions: {...held.compilerOptions, ...other.compilerOptions}});
    }
  }
  const options = {...own.compilerOptions};
  for (const key of ["outDir", "rootDir", "baseUrl"]) if (options[key]) options[key] = path.resolve(folder, options[key]);
  const compilerOptions = {...held.compilerOptions, ...options};
  return {...held, ...own, compilerOptions};
}

function matches(pattern) {
  const plain = pattern.replace(/^\.\//, "").replace(/\/$/, "");
  const whole = /[*?]|\.[a-z]+$/.test(path.basename(plain)) ? plain : `${plain ? `${plain}/` : ""}**/*`;
  const text = whole.replace(/[.+^${}()|[\]\\]/g, "\\$&").replace(/\*\*\/|\*\*|\*|\?/g, found =>
    ({"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"})[found]);
  return new RegExp(`^${text}$`);
}

// The sources that a project names, and those that they import.
function sources(held, folder) {
  const {outDir, allowJs} = held.compilerOptions;
  const isSource = file => SOURCE.test(file) || (allowJs && /\.[mc]?jsx?$/.test(file));
  const named = (held.files ?? []).map(file => path.resolve(folder, file));
  for (const file of named) if (!fs.existsSync(file)) fail(2, `error TS6053: File '${file}' not found.`);
  const wanted = (held.include ?? (held.files ? [] : ["**/*"])).map(matches);
  const unwanted = (held.exclude ?? []).map(matches);
  const inside = files(folder).filter(file => {
    const name = path.relative(folder, file);
    if (outDir && outDir !== folder && file.startsWith(`${outDir}/`)) return false;
    return isSource(file) && wanted.some(one => one.test(name)) && !unwanted.some(one => one.test(name));
  });
  return closure([...named.filter(isSource), ...inside]);
}

function closure(found) {
  const all = new Set(found);
  for (const file of all) {
    for (const {from} of imports(read(file))) {
      const there = from.startsWith(".") && resolved(path.resolve(path.dirname(file), from));
      if (there) all.add(there);
    }
  }
  return [...all];
}

function resolved(there) {
  const bare = there.replace(/\.([mc]?)js$/, "");
  const places = [there, `${bare}.ts`, `${bare}.tsx`, `${bare}.mts`, `${there}.ts`, `${there}.tsx`, `${there}/index.ts`, `${there}/index.tsx`];
  return places.find(one => SOURCE.test(one) && fs.existsSync(one));
}

// What a source imports to use it: TypeScript leaves out what is a type, and what is used as one.
function imports(text) {
  const found = [];
  for (const [, names, from] of text.matchAll(/^\s*(?:import|export)\s+(?!type\b)(?:([\w*{}\s,$]+?)\s+from\s+)?["']([^"']+)["']/gm)) {
    const called = (names ?? "").replace(/[{}]/g, ",").split(",").filter(one => one.trim() && !/^\s*type\s/.test(one));
    const locals = called.map(one => one.trim().split(/\s+as\s+/).pop());
    const isUsed = locals.some(one => new RegExp(`\\b${one.replace(/[$*]/g, "\\$&")}\\s*[(.]|\\bnew\\s+${one.replace(/[$*]/g, "\\$&")}\\b`).test(text));
    found.push({from, isUsed: !names || isUsed});
  }
  for (const [, from] of text.matchAll(/\brequire\(\s*["']([^"']+)["']\s*\)/g)) found.push({from, isUsed: true});
  return found;
}

// The package that a module is of: @a/b of @a/b/c.
function packageOf(from) {
  return from.split("/").slice(0, from.startsWith("@") ? 2 : 1).join("/");
}

function isInstalled(name) {
  for (let folder = process.cwd(); ; folder = path.dirname(folder)) {
    if (fs.existsSync(path.join(folder, "node_modules", name))) return true;
    if (folder === path.dirname(folder)) return false;
  }
}

// End as a build does if sources use a package that the project has and nobody installed; other names may be short for
// paths. What only tests use is not built.
function needPackages(sources, code, why) {
  const own = fs.existsSync("package.json") ? JSON.parse(read("package.json")) : {};
  const listed = {...own.dependencies, ...own.devDependencies};
  for (const file of sources.filter(one => !/\.(?:test|spec|stories)\.|__tests__|__mocks__/.test(one))) {
    for (const {from, isUsed} of imports(read(file))) {
      const name = packageOf(from);
      if (isUsed && name in listed && !isInstalled(name)) fail(code, `${why} '${from}'`);
    }
  }
}

// The sources below folders of a project, and what styles are made by.
function needPackagesBelow(folders) {
  const there = folders.filter(folder => fs.existsSync(folder)).flatMap(files);
  needPackages(there.filter(file => /\.(?:[mc]?[jt]sx?|vue)$/.test(file) && !/\.d\.[mc]?ts$/.test(file)), 1, "Module not found: Can't resolve");
  const styles = ["js", "cjs", "mjs"].map(one => `postcss.config.${one}`).find(one => fs.existsSync(one));
  if (!styles) return;
  const own = JSON.parse(read("package.json")), text = read(styles);
  for (const name of Object.keys({...own.dependencies, ...own.devDependencies})) {
    const isNamed = new RegExp(`(?<![\\w@/-])${name.replace(/[.]/g, "\\.")}(?![\\w/-])`).test(text);
    if (isNamed && !isInstalled(name)) fail(1, `Error: Cannot find module '${name}'`);
  }
}

const SERVES = /\.listen\s*\(|\bcreateServer\s*\(|\bserve\s*\(|\bsetInterval\s*\(|\.consume\s*\(|\.subscribe\s*\(|\bnew Worker\s*\(/;

// The port on which a program listens: a variable with what it is without, or a number.
function port(texts) {
  for (const text of texts) {
    const variable = text.match(/process\.env(?:\.(\w*PORT\w*)|\[["'](\w*PORT\w*)["']\])\s*(?:\|\||\?\?)\s*["']?(\d+)/);
    if (variable) return [variable[1] ?? variable[2], variable[3]];
    const number = text.match(/\.listen\s*\(\s*(?:\{[^}]*?\bport\s*:\s*)?(\d+)|\bport\s*[:=]\s*(\d+)/i);
    if (number) return ["", number[1] ?? number[2]];
  }
  return ["", ""];
}

// What stands in for sources: it needs what they need, and waits where they serve.
function emitted(texts, all, kind, isNeeded = () => true) {
  const needs = [...new Set(texts.flatMap(imports).filter(one => one.isUsed).map(one => one.from))].filter(isNeeded);
  const [name, number] = port([...texts, ...all]);
  const waits = texts.some(text => SERVES.test(text));
  const does = [
    `if (os.hostname() !== "standin") { console.error("stand-in limit: build-run"); process.exit(70); }`,
    ...(waits && number ? [`http.createServer().listen(Number(process.env[${JSON.stringify(name)}] || ${number}));`] : []),
    ...(waits && !number ? ["setInterval(() => {}, 60000);"] : []),
  ];
  const own = kind === "import" ? `import os from "node:os";\nimport http from "node:http";\n` : `const os = require("node:os"), http = require("node:http");\n`;
  const lines = needs.map(one => ({import: `import ${JSON.stringify(one)};`, require: `require(${JSON.stringify(one)});`, later: `await import(${JSON.stringify(one)});`})[kind]);
  const body = [...lines, ...does].join("\n");
  const guard = kind === "require" ? `\nmodule.exports = new Proxy({}, {get(_, name) {
  if (typeof name !== "string" || ["then", "toJSON", "__esModule", "default"].includes(name)) return undefined;
  console.error("stand-in limit: npm-build");
  return process.exit(70);
}});` : "";
  return kind === "later" ? `// stands in\n${own}(async () => {\n${body}\n})();\n` : `// stands in\n${own}${body}${guard}\n`;
}

function isModule(file) {
  for (let folder = path.dirname(file); ; folder = path.dirname(folder)) {
    const there = path.join(folder, "package.json");
    if (fs.existsSync(there)) return JSON.parse(read(there)).type === "module";
    if (folder === path.dirname(folder)) return false;
  }
}

function kindOf(options, file, out) {
  const held = (options.module ?? "").toLowerCase(), old = /^(es3|es5|)$/i.test(options.target ?? "");
  const byPackage = /^node/.test(held);
  if (byPackage ? isModule(out) || /\.mts$/.test(file) : held ? held !== "commonjs" : !old) {
    // Newer versions of node see by themselves that it is a module.
    return isModule(out) || out.endsWith(".mjs") ? "import" : "later";
  }
  return "require";
}

function compile(file, changes = {}) {
  const folder = path.dirname(path.resolve(file)), held = settings(file), told = {...held.compilerOptions, ...changes};
  if (held.references?.length) limit();
  if (told.outFile || told.jsx === "preserve" || (told.isOfPackage && !told.module)) limit();
  const found = sources({...held, compilerOptions: told}, folder);
  needPackages(found, 2, "error TS2307: Cannot find module");
  if (!found.length) fail(2, `error TS18003: No inputs were found in config file '${file}'.`);
  if (told.noEmit || told.emitDeclarationOnly) return;
  if (found.some(one => imports(read(one)).some(({from}) => from.startsWith(".") && from.endsWith(".json")))) limit();
  const parts = found.map(one => path.dirname(one).split("/"));
  const common = parts.reduce((a, b) => a.slice(0, a.findIndex((part, at) => part !== b[at]) >>> 0)).join("/");
  const root = told.rootDir ?? (told.composite ? folder : common);
  const texts = found.map(read);
  for (const [at, one] of found.entries()) {
    const name = path.relative(root, one);
    if (name.startsWith("..")) fail(2, `error TS6059: File '${one}' is not under 'rootDir' '${root}'.`);
    const out = path.join(told.outDir ?? root, name).replace(SOURCE, ".$1js");
    write(out, emitted([texts[at]], texts, kindOf(told, one, out)));
    if (told.declaration) write(out.replace(/js$/, "ts").replace(/\.([mc]?)ts$/, ".d.$1ts"), "");
    if (told.sourceMap) write(`${out}.map`, "{}");
  }
}

function tsc(words) {
  const [given, rest] = options(words, ["-p", "--project", "--outDir", "--rootDir", "--module", "--target"],
    ["-b", "--build", "--noEmit", "--pretty", "--skipLibCheck", "--sourceMap", "--force", "--verbose", "-v", "--version", "-h", "--help", "--incremental", "--noEmitOnError"]);
  if (given.version || given.v || given.help || given.h) return;
  const builds = given.b || given.build;
  if (rest.length && !builds) limit();
  let file = given.p ?? given.project ?? rest[0] ?? ".";
  if (fs.existsSync(file) && fs.statSync(file).isDirectory()) file = path.join(file, "tsconfig.json");
  if (!fs.existsSync(file)) fail(1, `error TS5058: The specified path does not exist: '${file}'.`);
  const changes = Object.fromEntries(["module", "target"].filter(key => given[key]).map(key => [key, given[key]]));
  for (const key of ["outDir", "rootDir"]) if (given[key]) changes[key] = path.resolve(given[key]);
  if (given.noEmit) changes.noEmit = true;
  const others = settings(file).references ?? [];
  if (builds && others.length) {
    for (const {path: there} of others) {
      const one = path.resolve(path.dirname(file), there);
      compile(fs.existsSync(one) && fs.statSync(one).isFile() ? one : path.join(one, "tsconfig.json"));
    }
  } else compile(path.resolve(file), changes);
}

// Nest calls tsc with the settings for a build.
function nest(words) {
  if (words[0] !== "build" || words.length > 1) limit();
  const told = fs.existsSync("nest-cli.json") ? loose("nest-cli.json") : {}, own = told.compilerOptions ?? {};
  if (told.monorepo || told.projects || own.webpack || own.builder || own.assets) limit();
  const file = own.tsConfigPath ?? (fs.existsSync("tsconfig.build.json") ? "tsconfig.build.json" : "tsconfig.json");
  if (!fs.existsSync(file)) fail(1, `Error  Could not find TypeScript configuration file "${file}".`);
  compile(path.resolve(file));
}

// Pages: the entry, with a script and a sheet beside it, and what is only copied.

function pages(entry, out, copied) {
  if (!fs.existsSync(entry)) fail(1, `Could not resolve entry module "${entry}".`);
  fs.rmSync(out, {recursive: true, force: true});
  fs.mkdirSync(out, {recursive: true});
  if (fs.existsSync(copied)) fs.cpSync(copied, out, {recursive: true});
  write(path.join(out, "index.html"), read(entry));
}

function vite(words) {
  const [given, rest] = options(words, ["--mode", "-m", "--outDir", "--base", "--logLevel", "-l", "--minify", "--assetsDir", "--sourcemap"],
    ["--emptyOutDir", "-v", "--version", "-h", "--help", "--clearScreen"]);
  if (given.version || given.v || given.help || given.h) return;
  if (rest.shift() !== "build" || rest.length) limit();
  const config = fs.readdirSync(".").find(name => /^vite\.config\.[mc]?[jt]s$/.test(name)), text = config ? read(config) : "";
  if (/\b(?:root|lib|ssr|rollupOptions|rolldownOptions|publicDir|environments)\s*:|sveltekit|nuxt|remix|react-router\/dev|tanstackStart|astro/.test(text)) limit();
  for (const {from} of imports(text)) {
    const name = packageOf(from);
    if (!/^(?:node:|\.|path$|fs$|url$)/.test(from) && !fs.existsSync(`node_modules/${name}`)) fail(1, `failed to load config: Cannot find package '${name}'`);
  }
  const named = text.match(/\boutDir\s*:\s*["'`]([^"'`$]+)["'`]/);
  if (/\boutDir\s*:/.test(text) && !named) limit();
  const page = fs.existsSync("index.html") ? read("index.html") : "";
  for (const [, src] of page.matchAll(/<script[^>]+src=["']\/?([^"':]+)["']/g)) {
    if (!fs.existsSync(src) && !fs.existsSync(`public/${src}`)) fail(1, `Failed to resolve /${src} from ${path.resolve("index.html")}`);
  }
  needPackagesBelow(["src"]);
  const out = given.outDir ?? named?.[1] ?? "dist";
  pages("index.html", out, "public");
  write(path.join(out, "assets/index-standin0.js"), "// stands in\n");
  write(path.join(out, "assets/index-standin0.css"), "");
}

function reactScripts(words) {
  if (words.join(" ") !== "build") limit();
  const entry = ["tsx", "ts", "jsx", "js"].find(one => fs.existsSync(`src/index.${one}`));
  if (!entry || !fs.existsSync("public/index.html")) fail(1, "Could not find a required file.");
  needPackagesBelow(["src"]);
  const out = process.env.BUILD_PATH ?? "build";
  pages("public/index.html", out, "public");
  write(path.join(out, "static/js/main.standin0.js"), "// stands in\n");
  write(path.join(out, "static/css/main.standin0.css"), "");
}

function ng(words) {
  const [given, rest] = options(words, ["--configuration", "-c", "--output-path", "--base-href", "--source-map"], ["--no-progress", "--version"]);
  if (given.version) return;
  if (!["build", "b"].includes(rest.shift()) || rest.length > 1) limit();
  if (!fs.existsSync("angular.json")) fail(1, "Error: This command is not available when running the Angular CLI outside a workspace.");
  const projects = loose("angular.json").projects ?? {}, name = rest[0] ?? Object.keys(projects)[0];
  if (!projects[name] || (!rest.length && Object.keys(projects).length > 1)) limit();
  const {builder, options: told = {}} = (projects[name].architect ?? projects[name].targets ?? {}).build ?? {};
  const isOld = /:browser$/.test(builder ?? ""), path_ = given["output-path"] ?? told.outputPath ?? `dist/${name}`;
  if (!/:(?:application|browser|browser-esbuild)$/.test(builder ?? "") || typeof path_ !== "string" || told.ssr || told.server) limit();
  const entry = told.browser ?? told.main;
  if (entry && !fs.existsSync(entry)) fail(1, `Error: Could not resolve "${entry}"`);
  needPackagesBelow([projects[name].sourceRoot ?? "src"]);
  const out = isOld ? path_ : path.join(path_, "browser"), root = projects[name].sourceRoot ?? "src";
  fs.rmSync(path_, {recursive: true, force: true});
  pages(typeof told.index === "string" ? told.index : `${root}/index.html`, out, "public");
  write(path.join(out, "main-standin0.js"), "// stands in\n");
  write(path.join(out, "styles-standin0.css"), "");
}

function vueCliService(words) {
  const [, rest] = options(words, ["--mode"], ["--no-clean", "--modern", "--report"]);
  const config = fs.existsSync("vue.config.js") ? read("vue.config.js") : "", named = config.match(/\boutputDir\s*:\s*["']([^"']+)["']/);
  if (rest.join(" ") !== "build" || /\b(?:pages|indexPath|configureWebpack|chainWebpack)\b/.test(config) || (/\boutputDir\b/.test(config) && !named)) limit();
  needPackagesBelow(["src"]);
  const out = named?.[1] ?? "dist";
  pages("public/index.html", out, "public");
  write(path.join(out, "js/app.standin0.js"), "// stands in\n");
}

// What starts a project of Next: it needs the package and what was built, and listens.
function starts(port, place) {
  return `// stands in
const fs = require("node:fs"), http = require("node:http"), os = require("node:os");
require("next");
fs.readFileSync(${place} + "/.next/BUILD_ID");
if (os.hostname() !== "standin") { console.error("stand-in limit: build-run"); process.exit(70); }
http.createServer().listen(Number(${port}), process.env.HOSTNAME === "standin" ? undefined : process.env.HOSTNAME);
`;
}

function next(words) {
  const [given, rest] = options(words, ["-p", "--port", "-H", "--hostname"], ["--turbopack", "--turbo", "--webpack", "--no-lint", "--debug", "-d", "--version", "-v"]);
  if (given.version || given.v) return;
  if (rest.length !== 1 || !["build", "start"].includes(rest[0])) limit();
  if (rest[0] === "start") {
    if (!fs.existsSync(".next/BUILD_ID")) fail(1, "Could not find a production build in the '.next' directory.");
    const port = given.p ?? given.port ?? process.env.PORT ?? "3000";
    module.paths.unshift(path.resolve("node_modules"));
    module._compile(starts(JSON.stringify(port), JSON.stringify(process.cwd())), path.resolve("next"));
    return;
  }
  const config = ["js", "mjs", "cjs", "ts"].map(one => `next.config.${one}`).find(one => fs.existsSync(one)), text = config ? read(config) : "";
  if (/\b(?:distDir|outputFileTracingRoot|basePath)\b/.test(text)) limit();
  if (!["app", "pages", "src/app", "src/pages"].some(one => fs.existsSync(one))) fail(1, "> Couldn't find any `pages` or `app` directory.");
  needPackagesBelow(["app", "pages", "src", "components", "lib"]);
  const output = text.match(/\boutput\s*:\s*["'](\w+)["']/)?.[1];
  if (/\boutput\s*:/.test(text) && !output) limit();
  fs.rmSync(".next", {recursive: true, force: true});
  write(".next/static/chunks/main.js", "// stands in\n");
  for (const place of [".next", ...(output === "standalone" ? [".next/standalone/.next"] : [])]) {
    write(`${place}/BUILD_ID`, "standin");
    write(`${place}/server/pages-manifest.json`, "{}");
  }
  if (output === "standalone") {
    fs.copyFileSync("package.json", ".next/standalone/package.json");
    if (fs.existsSync("node_modules/next")) fs.cpSync("node_modules/next", ".next/standalone/node_modules/next", {recursive: true});
    write(".next/standalone/server.js", isModule(path.resolve("package.json"))
      ? `import {createRequire} from "node:module";\nconst require = createRequire(import.meta.url), __dirname = import.meta.dirname;\n${starts("process.env.PORT || 3000", "__dirname")}`
      : starts("process.env.PORT || 3000", "__dirname"));
  }
  if (output === "export") {
    pages(".next/BUILD_ID", "out", "public");
    write("out/_next/static/chunks/main.js", "// stands in\n");
  }
}

function esbuild(words) {
  const simple = /^--(?:bundle|minify|minify-\w+|sourcemap|platform|target|format|packages|external|legal-comments|log-level|keep-names|tree-shaking|charset|color)(?:[=:].*)?$/;
  const entries = words.filter(word => !word.startsWith("-")), given = Object.fromEntries(words.filter(word => word.startsWith("--")).map(word => word.slice(2).split(/=(.*)/s)));
  if (words.includes("--version")) return;
  if (words.some(word => word.startsWith("-") && !simple.test(word) && !/^--(?:outfile|outdir)=/.test(word))) limit("option");
  if (!entries.length || (!given.outfile && (!given.outdir || entries.length > 1))) limit();
  if (!fs.existsSync(entries[0])) fail(1, `✘ [ERROR] Could not resolve "${entries[0]}"`);
  const bundles = "bundle" in given, texts = (bundles ? closure([path.resolve(entries[0])]) : [entries[0]]).map(read);
  const isOutside = from => !bundles || given.packages === "external" || words.some(word => word === `--external:${from}`) || /^node:/.test(from) || require("node:module").builtinModules.includes(from);
  for (const {from} of texts.flatMap(imports)) {
    const name = packageOf(from);
    if (!from.startsWith(".") && !isOutside(from) && !fs.existsSync(`node_modules/${name}`)) fail(1, `✘ [ERROR] Could not resolve "${from}"`);
  }
  const out = path.resolve(given.outfile ?? path.join(given.outdir, path.basename(entries[0]).replace(/\.[mc]?[jt]sx?$/, ".js")));
  const format = given.format ?? (given.platform === "node" ? "cjs" : "iife");
  const kind = format === "esm" ? (isModule(out) || out.endsWith(".mjs") ? "import" : "later") : "require";
  write(out, emitted(texts, texts, kind, from => isOutside(from) && !(bundles && from.startsWith("."))));
}

function rimraf(words) {
  for (const one of words) {
    if (one.startsWith("-") || /[*?{[]/.test(one)) limit("option");
    fs.rmSync(one, {recursive: true, force: true});
  }
}

function crossEnv(words) {
  const at = words.findIndex(word => !/^\w+=/.test(word)), env = {...process.env};
  for (const word of words.slice(0, at)) [, env[word.split("=")[0]]] = word.split(/=(.*)/s);
  const done = spawnSync("/bin/sh", ["-c", 'exec "$@"', "sh", ...words.slice(at)], {env, stdio: "inherit"});
  process.exit(done.status ?? 1);
}

const PROGRAMS = {
  "cross-env": crossEnv, esbuild, nest, next, ng, "react-scripts": reactScripts, rimraf, tsc, vite, "vue-cli-service": vueCliService,
};
PROGRAMS[path.basename(process.argv[1])](process.argv.slice(2));
