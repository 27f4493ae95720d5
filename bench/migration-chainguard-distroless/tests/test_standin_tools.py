# mypy: allow-untyped-defs, allow-untyped-calls
"""What stand-ins of tools do of each command, option and variable: as the real one, or it cannot be judged."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from _benchgate_bench.migration_chainguard_distroless.observers import builder
from _benchgate_bench.migration_chainguard_distroless.observers.standins import (
    brings,
    images,
    limits,
)
from _benchgate_bench.migration_chainguard_distroless.tests.support import stood_in

pytestmark = pytest.mark.skipif(os.name == "nt", reason="stand-ins are shell scripts")

OPTION, VARIABLE = "stand-in limit: option\n", "stand-in limit: variable\n"
GO = {
    "project/go.mod": "module m\n",
    "project/main.go": 'package main\nimport "C"\n',
    "kept/static": "static",
    "kept/dynamic": "dynamic",
    "bin/gcc": "#!/bin/sh\n",
}
NODE = {
    "project/package.json": '{"scripts": {"say": "echo said"}, "dependencies": {"ms": "2"}, '
    '"devDependencies": {"tsx": "1"}}',
    "kept/npm": "tsx tsx\n",
    "kept/limit": "#!/bin/sh\necho stand-in limit: program\n",
    "kept/module.js": (images.HERE / "scripts/module.js").read_text(),
}
TOOLS = {
    "bundle": {"project/Gemfile": 'gem "puma"\n', "kept/gems": "puma puma\n"},
    "cargo": {
        "project/Cargo.toml": '[package]\nname = "m"\n',
        "project/src/main.rs": "",
        "kept/dynamic": "d",
        "kept/static": "s",
    },
    "composer": {"project/composer.json": "{}"},
    "corepack": {},
    "dotnet": {
        "project/a.csproj": "<TargetFramework>net10.0</TargetFramework>",
        "kept/unshelled": "u",
    },
    "gcc": {"project/a.c": "#include <stdio.h>\n", "kept/dynamic": "d"},
    "envsubst": {"project/a": "a $A ${B} $C$$ end\\n"},
    "gem": {},
    "git": {"project/a": ""},
    "go": GO,
    "gradle": {
        "project/settings.gradle": "rootProject.name = 'shop'\n",
        "project/build.gradle": "plugins { id 'java' }\nversion = '1.2'\n",
        "bin/javac": "#!/bin/sh\n",
    },
    "jarmode": {"project/app.jar": ""},
    "mvn": {"project/pom.xml": "<project><artifactId>a</artifactId><version>1</version></project>"},
    "npm": NODE,
    "strip": {"project/a": ""},
    "uv": {},
}
LAYERS = "application\ndependencies\nsnapshot-dependencies\nspring-boot-loader\n"
NO_COMPILER = (
    "mv ../bin/javac ../bin/java; for one in basename cat dirname grep head sed tr; do "
    "ln -s $(command -v $one) ../bin/; done; PATH=${PWD%/*}/bin; "
)
WORKSPACE = (
    """printf '[workspace]\\nmembers = [\\n  "api", # one\\n  "we*",\\n]\\n' >> Cargo.toml; for one in api web; do """
    """mkdir -p $one/src; touch $one/src/main.rs; printf '[package]\\nname = "%s"\\n' $one > $one/Cargo.toml; done; """
)
LIBRARY = "mv web/src/main.rs web/src/lib.rs; "
BINS = (
    """printf '[[bin]]\\nname = "other"\\npath = "src/x.rs"\\n' >> Cargo.toml; """
    "mkdir src/bin; touch src/x.rs src/bin/b.rs; "
)
BOOT = """sed -i "s/'java'/'java'; id 'org.springframework.boot' version '3'/" build.gradle; """
NO_PLAIN = "echo 'jar { enabled = false }' >> build.gradle; "
NAMED = """printf "bootJar {\\n  archiveFileName = 'a.jar'\\n}\\n" >> build.gradle; """
SHADOW = """sed -i "s/'java'/'java'; id 'com.gradleup.shadow'/" build.gradle; """
PROGRAM = """sed -i "s/'java'/'application'/" build.gradle; echo "application { mainClass = 'org.example.Main' }" >> """
PROGRAM += (
    """build.gradle; printf '#!/bin/sh\\necho "$*"\\n' > ../bin/java; chmod 755 ../bin/java; """
)
PROJECTS = """echo "include 'web'" >> settings.gradle; mkdir web; echo "plugins { id 'java' }" > web/build.gradle; """


@pytest.mark.parametrize(
    ("name", "script", "said"),
    [
        # An option that the stand-in does not know is neither an error nor left out.
        ("bundle", "bundle install --frobnicate", OPTION),
        ("cargo", "cargo build --frobnicate", OPTION),
        ("composer", "composer install --frobnicate", OPTION),
        ("corepack", "corepack enable --frobnicate", OPTION),
        ("dotnet", "dotnet publish --frobnicate", OPTION),
        ("dotnet", "dotnet publish -p:PublishSingleFile=true", OPTION),
        ("gcc", "gcc --frobnicate a.c", OPTION),
        ("gem", "gem --frobnicate", OPTION),
        ("gem", "gem install --frobnicate bundler", OPTION),
        ("git", "git --frobnicate", OPTION),
        ("gradle", "gradle --frobnicate build", OPTION),
        ("gradle", "echo 'x = fast' >> build.gradle; gradle -Pfast=1 build", OPTION),
        ("go", "go build -frobnicate", OPTION),
        ("go", "go build -buildmode=c-shared", OPTION),
        ("mvn", "mvn --frobnicate package", OPTION),
        ("npm", "npm ci --frobnicate", OPTION),
        ("npm", "echo frobnicate=1 > .npmrc; npm install", OPTION),
        ("npm", "npm config set frobnicate 1", OPTION),
        ("strip", "strip --frobnicate a", OPTION),
        ("uv", "uv sync --frobnicate", OPTION),
        # A variable that it does not know.
        ("bundle", "BUNDLE_BIN=bin bundle install", VARIABLE),
        ("cargo", "CARGO_BUILD_RUSTFLAGS=-x cargo build", VARIABLE),
        ("cargo", "RUSTC_WRAPPER=x cargo build", VARIABLE),
        ("composer", "COMPOSER_VENDOR_DIR=x composer install", VARIABLE),
        ("dotnet", "MSBUILD_FROBNICATE=x dotnet build", VARIABLE),
        ("go", "GOFLAGS=-tags=x go build", VARIABLE),
        ("go", "GOWORK=off go build", VARIABLE),
        ("go", "CGO_LDFLAGS=-lx go build", VARIABLE),
        ("gradle", "GRADLE_FROBNICATE=1 gradle build", VARIABLE),
        ("mvn", "MAVEN_ARGS=-Px mvn package", VARIABLE),
        ("npm", "NPM_CONFIG_FROBNICATE=1 npm install", VARIABLE),
        ("npm", "npm_config_install_links=1 npm install", VARIABLE),
        ("uv", "UV_FROBNICATE=1 uv --version", VARIABLE),
        # A command that there is and nobody imitates.
        ("bundle", "bundle binstubs puma", "stand-in limit: bundle-verb\n"),
        ("cargo", "cargo auditable build", "stand-in limit: cargo-verb\n"),
        ("composer", "composer require a/b", "stand-in limit: composer-verb\n"),
        ("dotnet", "dotnet run", "stand-in limit: dotnet-verb\n"),
        ("gem", "gem list", "stand-in limit: gem-install\n"),
        ("git", "git init", "stand-in limit: program\n"),
        ("git", "git clone https://github.com/a/b", "stand-in limit: network\n"),
        ("git", "mkdir .git; git describe", "stand-in limit: program\n"),
        ("gradle", "gradle bootBuildImage", "stand-in limit: gradle-task\n"),
        ("gradle", "echo 'task pack {}' >> build.gradle; gradle pack", "limit: gradle-task\n"),
        ("gradle", "sed -i 's/java/application/' build.gradle; gradle installDist", "gradle-install\n"),
        ("gradle", "echo \"archivesBaseName = 'a'\" >> build.gradle; gradle jar", "gradle-project\n"),
        ("gradle", "sed -i 's/1.2/$rev/' build.gradle; gradle jar", "gradle-project\n"),
        ("go", "go mod vendor", "stand-in limit: go-verb\n"),
        ("go", "go env GOVERSION", "stand-in limit: go-verb\n"),
        ("mvn", "mvn -Pprod package", "stand-in limit: mvn-profile\n"),
        ("npm", "npm link", "stand-in limit: npm-verb\n"),
        ("uv", "uv tool install x", "stand-in limit: uv-verb\n"),
        # One that there is not, and a mistake, fail as with the real tool: nobody may choose not to be judged.
        ("bundle", "bundle frobnicate", 'Could not find command "frobnicate".\n'),
        ("cargo", "cargo frobnicate", "error: no such command: `frobnicate`\n"),
        ("cargo", "cargo build --locked", "error: cannot create the lock file because --locked"),
        ("cargo", "cargo build --bin x", "error: no bin target named `x`\n"),
        ("dotnet", "dotnet publish gone", "MSBUILD : error MSB1009"),
        ("gcc", "gcc gone.c", "gcc: error: gone.c: No such file or directory\n"),
        ("git", "git frobnicate", "git: 'frobnicate' is not a git command"),
        ("git", "git rev-parse --short HEAD", "fatal: not a git repository"),
        ("git", "git clone https://git.example.org/a", "Could not resolve host\n"),
        ("gradle", "gradle bootJar", "Task 'bootJar' not found in root project 'shop'.\n"),
        ("gradle", "gradle downloadDependencies", "Task 'downloadDependencies' not found"),
        ("gradle", "gradle :web:jar", "Project ':web:jar' not found"),
        ("gradle", "rm *.gradle; gradle jar", "does not contain a Gradle build.\n"),
        ("gradle", NO_COMPILER + "gradle jar", "[JAVA_COMPILER]\n"),
        ("go", "go frobnicate", "go frobnicate: unknown command\n"),
        ("mvn", "mvn packge", 'Unknown lifecycle phase "packge"'),
        ("npm", "npm cii", 'Unknown command: "cii"\n'),
        ("npm", "npm ci", "npm error: npm ci needs a package-lock.json\n"),
        ("uv", "uv frobnicate", "error: unrecognized subcommand 'frobnicate'\n"),
        # What was ignored, and is not.
        ("bundle", "export BUNDLE_PATH=x; bundle install; ls x/ruby/4.0.0/bin", "puma\n"),
        ("bundle", "GEM_HOME=g bundle install; cat g/bin/puma", "# stand-in gem: puma-1.0\n"),
        ("bundle", "> ../kept/gems; GEM_HOME=g bundle install; cat g/bin/puma", "ruby-program\n"),
        ("cargo", "cargo build --target-dir t; cat t/debug/m", "d"),
        ("cargo", WORKSPACE + "cargo build && ls target/debug", "m\n"),
        ("cargo", WORKSPACE + "cargo build --workspace && ls target/debug", "api\nm\nweb\n"),
        ("cargo", WORKSPACE + "touch we.md; cargo build --workspace && ls target/debug", "api\nm\nweb\n"),
        ("cargo", WORKSPACE + "cargo build -r -p api && ls target/release", "api\n"),
        ("cargo", WORKSPACE + "cargo build -p core", "ID specification `core` did not match"),
        ("cargo", WORKSPACE + "cd api && cargo build && ls ../target/debug", "api\n"),
        ("cargo", WORKSPACE + "cargo build --manifest-path api/Cargo.toml && ls target/debug", "api\n"),
        ("cargo", WORKSPACE + "rm -r web; cargo build", "failed to load manifest for workspace member"),
        ("cargo", WORKSPACE + "cargo build --workspace --exclude web", "limit: cargo-workspace\n"),
        ("cargo", WORKSPACE + LIBRARY + "cargo build --workspace && ls target/debug", "api\nm\n"),
        ("cargo", BINS + "cargo build && ls target/debug", "b\nm\nother\n"),
        ("cargo", BINS + "cargo build --bin other && ls target/debug", "other\n"),
        ("cargo", BINS + "rm src/x.rs; cargo build", "can't find bin `other` at path"),
        ("cargo", "echo 'a = { path = \"../a\" }' >> Cargo.toml; cargo build", "failed to read"),
        ("envsubst", "A=1 B='x&y' envsubst < a", "a 1 x&y $$ end"),
        ("envsubst", "A=1 B='x&y' envsubst '$A $C' < a", "a 1 ${B} $$ end"),
        ("envsubst", "envsubst --variables '$A'", OPTION),
        ("gem", "gem install --no-document -v 2.5.3 bundler && echo done", "done\n"),
        ("git", "git config --global safe.directory '*' && git --version", "git version"),
        ("gradle", "gradle clean build -x test && ls build/libs", "shop-1.2.jar\n"),
        ("gradle", "gradle -Pversion=3 jar; rm build.gradle; ls build/libs", "shop-1.2.jar\n"),
        ("gradle", "rm settings.gradle; gradle jar; ls build/libs", "project-1.2.jar\n"),
        ("gradle", BOOT + "gradle build; ls build/libs", "shop-1.2-plain.jar\nshop-1.2.jar\n"),
        ("gradle", BOOT + "gradle bootJar; ls build/libs", "shop-1.2.jar\n"),
        ("gradle", BOOT + NO_PLAIN + "gradle build; ls build/libs", "shop-1.2.jar\n"),
        ("gradle", BOOT + NAMED + "gradle bootJar; ls build/libs", "a.jar\n"),
        ("gradle", SHADOW + "gradle shadowJar; ls build/libs", "shop-1.2-all.jar\n"),
        ("gradle", PROGRAM + "gradle installDist && ls build/install/shop/lib", "shop-1.2.jar\n"),
        ("gradle", PROGRAM + "gradle installDist && JAVA_HOME= build/install/shop/bin/shop -v",
         "/build/install/shop/lib/* org.example.Main -v\n"),
        ("gradle", PROGRAM + "gradle installDist && JAVA_HOME=/x build/install/shop/bin/shop", "invalid directory"),
        ("gradle", PROJECTS + "gradle :web:jar && ls web/build/libs", "web.jar\n"),
        ("gradle", PROJECTS + "gradle build && ls web/build/libs; ls build/libs", "web.jar\nshop-1.2.jar\n"),
        ("gradle", PROJECTS + "echo version=4 > gradle.properties; gradle web:jar; ls web/build/libs", "web-4.jar\n"),
        ("gradle", PROJECTS + "echo 'subprojects { }' >> build.gradle; gradle web:jar", "gradle-project\n"),
        ("dotnet", "dotnet publish; ls bin/Release/net10.0/publish", "a\na.dll\n"),
        ("dotnet", "dotnet publish -o o -p:UseAppHost=false; ls o", "a.dll\n"),
        ("gcc", "echo '#include <odd.h>' > a.c; gcc a.c", "stand-in limit: gcc-library\n"),
        ("gcc", "gcc a.c -lodd", "stand-in limit: gcc-library\n"),
        ("gcc", "gcc a.c -lcurl", "cannot find -lcurl: No such file or directory\n"),
        ("gcc", "mkdir ../lib; touch ../lib/libcurl.so; gcc a.c -lcurl && cat a.out", "d"),
        ("go", "CGO_ENABLED=0 go build", "package .: build constraints exclude all Go files in"),
        ("go", "CGO_ENABLED=0 go build; ls", "go.mod\nmain.go\n"),
        ("go", "go build; cat m", "dynamic"),
        ("go", "echo 'package main' > b.go; CGO_ENABLED=0 go build", "go-constraints\n"),
        ("go", "echo '#cgo LDFLAGS: -lx' >> main.go; go build", "gcc-library\n"),
        ("go", "echo '// #include <sqlite3.h>' >> main.go; go build", "cannot find -lsqlite3"),
        ("go", "echo 'require github.com/mattn/go-sqlite3 v1' >> go.mod; CGO_ENABLED=0 go build",
         "go-constraints\n"),
        ("go", "mkdir x; touch x/a.txt; go build ./x", "no Go files in ./x\n"),
        ("go", "echo '//go:build x' > main.go; go build", "go-constraints\n"),
        ("go", "go env GOPATH", "/go\n"),
        ("jarmode", "jarmode layertools app.jar extract && rm app.jar && ls", LAYERS),
        ("jarmode", "jarmode tools app.jar extract --layers --destination x && ls x x/application", LAYERS),
        ("jarmode", "jarmode tools app.jar extract --layers && ls app/application", "app.jar\n"),
        ("jarmode", "jarmode tools app.jar extract && ls app", "app.jar\nlib\n"),
        ("jarmode", "jarmode layertools app.jar list", ""),
        ("jarmode", "jarmode layertools app.jar frobnicate", "is not recognized\n"),
        ("jarmode", "jarmode tools app.jar extract --frobnicate", OPTION),
        ("npm", "npm install && ls node_modules node_modules/.bin", "ms\ntsx\n\nnode_modules/.bin:\nms\ntsx\n"),
        ("npm", "NODE_ENV=production npm install && ls node_modules", "ms\n"),
        ("npm", "npm install && npm prune --omit=dev && ls node_modules", "ms\n"),
        ("npm", "mkdir x; mv package.json x; npm --prefix x install; ls x/node_modules", "ms\ntsx\n"),
        ("npm", "npm run say -- more", "said more\n"),
        ("npm", "sed -i s/say/postinstall/ package.json; npm install", "npm-lifecycle\n"),
        ("npm", "npm install; node_modules/.bin/tsx", "stand-in limit: program\n"),
        ("npm", "npm install; node -e 'require(\"ms/x\")(1)'", "stand-in limit: build-run\n"),
    ],
)  # fmt: skip
def test_a_stand_in_does_as_the_real_tool_or_says_that_it_cannot(tmp_path, name, script, said):
    if name == "npm" and not shutil.which("node"):
        pytest.skip("npm's stand-in is run by node")
    env = f"export HOME={tmp_path} NODE_ENV=; unset UV_LINK_MODE; "

    assert said in stood_in(tmp_path, name, TOOLS[name], env + script)


@pytest.mark.skipif(not shutil.which("node"), reason="they are run by node")
@pytest.mark.parametrize(
    ("tool", "script", "said"),
    [
        ("yarn", "yarn --frozen-lockfile", "yarn: yarn.lock is missing\n"),
        ("yarn", "touch yarn.lock; yarn --frozen-lockfile && ls node_modules", "ms\ntsx\n"),
        ("yarn", "yarn install --production && ls node_modules", "ms\n"),
        ("pnpm", "NODE_ENV=production pnpm install && ls node_modules", "ms\n"),
        ("pnpm", "touch pnpm-workspace.yaml; pnpm install", "stand-in limit: npm-workspace\n"),
        ("yarn", "yarn say more", "said more\n"),
        ("yarn", "yarn frobnicate", 'npm error Missing script: "frobnicate"\n'),
        ("yarn", "yarn workspaces focus", "stand-in limit: npm-verb\n"),
        ("pnpm", "pnpm --filter a install", OPTION),
        ("yarn", "touch .yarnrc.yml; yarn", "stand-in limit: yarn-berry\n"),
        ("pnpm", "PNPM_FROBNICATE=1 pnpm install", VARIABLE),
    ],
)
def test_yarn_and_pnpm_install_what_their_locks_are_for(tmp_path, tool, script, said):
    text = (images.HERE / "scripts/pnpm").read_text().replace(images.KEPT, f"{tmp_path}/kept")
    env = f"export HOME={tmp_path} NODE_ENV=; "

    assert said in stood_in(tmp_path, "npm", {**NODE, f"bin/{tool}": text}, env + script)


TS = {
    "tsconfig.json": '{\n  // As it is built.\n  "compilerOptions": {"outDir": "./dist", "module": "commonjs",},\n'
    '  "include": ["src/**/*"],\n}\n',
    "src/index.ts": 'import ms from "ms";\nimport type { A } from "gone";\nimport { go } from "./lib/go";\n'
    "go(ms(1));\nserver.listen(process.env.PORT ?? 3000);\n",
    "src/lib/go.ts": "export const go = (a: number) => a;\n",
    "src/a.d.ts": "",
}
PAGE = {
    "index.html": '<script type="module" src="/src/main.js"></script>',
    "src/main.js": "",
    "public/robots.txt": "",
}
ANGULAR = {
    "angular.json": '{"projects": {"shop": {"sourceRoot": "src", "architect": {"build": '
    '{"builder": "@angular/build:application", "options": {"browser": "src/main.ts"}}}}}}',
    "src/main.ts": "",
    "src/index.html": "",
}
NEXT = {
    "next.config.mjs": 'export default { output: "standalone" };',
    "app/page.js": "",
    "public/a": "",
}
REACT = {"public/index.html": "", "src/index.js": ""}
AROUND = """sed -i 's/"build"/"prebuild": "echo before", "postbuild": "echo after", "build"/' package.json; """
SERVED = "node .next/standalone/server.js"
EXPORT = "sed -i s/standalone/export/ next.config.mjs; "
OLDER = "sed -i s/:application/:browser/ angular.json; "
ESNEXT = "sed -i s/commonjs/esnext/ tsconfig.json; "
NO_MS = "npm install && rm -r node_modules/ms && npm run build"
BUILDS = "npm install && npm run build"
SHOWN = BUILDS + " && find dist -type f | sort | xargs"


@pytest.mark.skipif(not shutil.which("node"), reason="they are run by node")
@pytest.mark.parametrize(
    ("build", "files", "script", "said"),
    [
        ("tsc", TS, SHOWN, "dist/index.js dist/lib/go.js\n"),
        ("rimraf dist && tsc -p .", TS, SHOWN, "dist/index.js dist/lib/go.js\n"),
        ("nest build", TS, SHOWN, "dist/index.js dist/lib/go.js\n"),
        ("cross-env A=1 tsc --outDir out", TS, BUILDS + " && ls out", "index.js\nlib\n"),
        ("tsc", {**TS, "b.ts": ""}, "sed -i s,src/,, tsconfig.json; " + SHOWN, "dist/b.js dist/src/index.js"),
        ("tsc", TS, NO_MS, "error TS2307: Cannot find module 'ms'\n"),
        ("tsc --noEmit", TS, BUILDS + " && ls", "node_modules\npackage.json\nsrc\ntsconfig.json\n"),
        # What was built needs what its sources need, and does nothing in a build.
        ("tsc", TS, BUILDS + " && node dist/index.js", "stand-in limit: build-run\n"),
        ("tsc", TS, BUILDS + " && rm -r node_modules/ms && node dist/index.js", "Cannot find module 'ms'"),
        ("tsc", TS, BUILDS + " && rm dist/lib/go.js; node dist/index.js", "Cannot find module './lib/go'"),
        ("tsc", TS, BUILDS + " && cat dist/index.js", 'listen(Number(process.env["PORT"] || 3000))'),
        ("tsc", TS, ESNEXT + BUILDS + "; cat dist/index.js", 'await import("ms");\n'),
        ("tsc", TS, "rm -r src; " + BUILDS, "error TS18003: No inputs were found"),
        ("tsc", TS, "rm tsconfig.json; " + BUILDS, "error TS5058"),
        ("tsc -p gone.json", TS, BUILDS, "error TS5058"),
        ("tsc --frobnicate", TS, BUILDS, OPTION),
        ("tsc", {**TS, "src/b.ts": "import a from './a.json';\na.x();\n"}, BUILDS, "stand-in limit: npm-build\n"),
        ("vite build", PAGE, BUILDS + " && ls dist", "assets\nindex.html\nrobots.txt\n"),
        ("vite build --outDir dist/x", PAGE, BUILDS + " && ls dist/x", "assets\nindex.html\nrobots.txt\n"),
        ("vite build", {**PAGE, "vite.config.js": "const a = { outDir: 'out' };"}, BUILDS + " && ls out", "assets\n"),
        ("vite build", {**PAGE, "vite.config.js": "export default { root: 'web' };"}, BUILDS, "npm-build\n"),
        ("vite build", {**PAGE, "vite.config.js": "import a from '@a/b';\na();"}, BUILDS, "find package '@a/b'"),
        ("vite build", PAGE, "rm src/main.js; " + BUILDS, "Failed to resolve /src/main.js"),
        ("vite build", {**PAGE, "src/main.js": "import ms from 'ms';\nms();"}, NO_MS, "Can't resolve 'ms'\n"),
        ("vite build", {**PAGE, "src/a.test.js": "import ms from 'ms';\nms();"}, NO_MS + "; ls dist", "index.html\n"),
        ("vite build", {}, BUILDS, "Could not resolve entry module"),
        ("react-scripts build", REACT, BUILDS + " && ls build", "index.html\nstatic\n"),
        ("react-scripts build", {}, BUILDS, "Could not find a required file."),
        ("esbuild src/index.ts --bundle --platform=node --outfile=dist/a.js", TS, SHOWN, "dist/a.js\n"),
        ("esbuild src/index.ts --bundle --outfile=dist/a.js", TS, NO_MS, 'Could not resolve "ms"'),
        ("ng build", ANGULAR, BUILDS + " && find dist -name index.html", "dist/shop/browser/index.html\n"),
        ("ng build", ANGULAR, OLDER + BUILDS + "; ls dist/shop", "index.html\n"),
        ("ng build", {}, BUILDS, "outside a workspace"),
        ("vue-cli-service build", REACT, BUILDS + " && ls dist", "index.html\njs\n"),
        ("next build", NEXT, BUILDS + " && ls .next .next/standalone", "package.json\nserver.js\n"),
        ("next build", NEXT, BUILDS + " && " + SERVED, "stand-in limit: build-run\n"),
        ("next build", NEXT, BUILDS + " && rm -r .next/standalone/.next && " + SERVED, "ENOENT"),
        ("next build", NEXT, BUILDS + " && npx next start", "stand-in limit: build-run\n"),
        ("next build", NEXT, "npm install && npx next start", "Could not find a production build"),
        ("next build", NEXT, EXPORT + BUILDS + "; ls out", "_next\na\nindex.html\n"),
        ("next build", {**NEXT, "postcss.config.js": "a = { plugins: { ms: 1 } }"}, NO_MS, "Cannot find module 'ms'\n"),
        ("next build", {}, BUILDS, "Couldn't find any `pages` or `app` directory"),
        ("esbuild gone.ts --outfile=a.js", {}, BUILDS, 'Could not resolve "gone.ts"'),
        ("echo built", {}, AROUND + "npm run build", "before\nbuilt\nafter\n"),
        ("false", {}, AROUND + "npm run build; echo $?", "before\n1\n"),
        # A package of the name of a program does not hide it.
        ("node -p 1+1", {}, "npm install @types/node && npm run build", "2\n"),
        # Nothing stands in for this one.
        ("webpack", TS, BUILDS, "stand-in limit: program\n"),
        ("tsc", TS, "npm install && npm prune --omit=dev && npm run build", "tsc: not found\n"),
        ("tsc", TS, "npm install && npx tsc && ls dist", "index.js\nlib\n"),
        ("tsc", TS, "npx tsc", "stand-in limit: npm-program\n"),
    ],
)  # fmt: skip
def test_a_project_of_node_is_built_by_its_settings(tmp_path, build, files, script, said):
    packages = {
        "typescript": "5",
        "vite": "6",
        "@nestjs/cli": "1",
        "webpack": "5",
        "rimraf": "6",
        "cross-env": "7",
    }
    packages |= {
        "react-scripts": "5",
        "esbuild": "1",
        "@angular/cli": "20",
        "next": "15",
        "@vue/cli-service": "5",
    }
    package = {
        "scripts": {"build": build},
        "dependencies": {"ms": "2"},
        "devDependencies": packages,
    }
    text = (images.HERE / "scripts/builds.js").read_text()
    kept = {f"kept/program/{name}": text for name in brings.BUILDS}
    npx = (images.HERE / "scripts/npx").read_text().replace(images.KEPT, f"{tmp_path}/kept")
    held = {
        **NODE, **kept, "bin/npx": npx, "kept/npm": images._rows(brings.NPM).decode(),
        "project/package.json": json.dumps(package),
        **{f"project/{path}": held for path, held in files.items()},
    }  # fmt: skip
    env = f"export HOME={tmp_path} NODE_ENV=; "

    assert said in stood_in(tmp_path, "npm", held, env + script)


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """Compile what stands in for programs, in the folder that is returned; containers have its machine's name."""
    if not shutil.which("gcc"):
        pytest.skip("no gcc")
    place = tmp_path_factory.mktemp("programs")
    for name, told in {"ruby": "standin", "java": "standin", "building": "elsewhere"}.items():
        text = (images.HERE / "standin.c").read_text().replace(f"{images.KEPT}/", "./")
        machine = 'strcpy(host, "standin"), 0' if told == "standin" else "0"
        (place / f"{name}.c").write_text(
            text.replace("gethostname(host, sizeof host - 1)", f"({machine})")
        )
        subprocess.run(["gcc", "-o", place / name, place / f"{name}.c"], check=True)  # noqa: S603, S607
    for name in ("php", "dotnet", "app"):
        (place / name).symlink_to("ruby")
    for name in ("building-app", "wget"):
        (place / name).symlink_to("building")
    return place


STARTED = "standin "


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("ruby a.rb", STARTED),
        ("ruby -S puma -C config.rb", STARTED),
        ("ruby -W0 -I lib -r ./a a.rb", STARTED),
        ("ruby -r ./gone a.rb", "ruby: cannot load such file -- ./gone"),
        ("ruby -S gone", "ruby: cannot read gone"),
        ("ruby bin/lost", "ruby: can't find gem lost-1.0 (Gem::GemNotFoundException)"),
        ("ruby bin/odd", "stand-in limit: ruby-program\n"),
        ("ruby -e puts", "stand-in limit: option"),
        ("ruby --version", "stand-in of ruby"),
        ("java -Xmx1g -jar a.rb", STARTED),
        ("java -cp lib/*:gone com.example.Main", STARTED),
        ("java -cp gone com.example.Main", "java: cannot find com.example.Main"),
        ("java $OPTS -jar a.rb", "java: cannot find $OPTS"),
        ("java a.rb", "java: cannot find a.rb"),
        ("java --frobnicate -jar a.rb", "stand-in limit: option"),
        ("java -version", "stand-in of java"),
        # The wrapper of gradle, in its two forms, of which a case has the settings alone.
        ("java -cp w/gradle-wrapper.jar org.gradle.wrapper.GradleWrapperMain build", "this is gradle build"),
        ("java -jar w/gradle-wrapper.jar --no-daemon jar", "this is gradle --no-daemon jar"),
        ("java -Djarmode=tools -jar lib/a.jar extract --layers", "this is jarmode tools lib/a.jar extract --layers"),
        ("java -Djarmode=tools -jar gone.jar extract", "java: cannot read gone.jar"),
        ("java -jar gone/gradle-wrapper.jar jar", "java: cannot read gone/gradle-wrapper.jar"),
        ("php -S 0.0.0.0 -t .", "Invalid address: 0.0.0.0"),
        ("php -r 1", "stand-in limit: option"),
        ("php -d a=1 tool install --no-dev", "tool install"),
        ("ruby -S bundle install", "bundle install"),
        ("dotnet exec gone.dll", "dotnet: cannot read gone.dll"),
        ("app --serve", STARTED),
        ("building-app --version", "stand-in limit: build-run"),
        ("wget -qO x https://tools.example.org/x", "wget: could not resolve host: https"),
        ("wget -qO x https://go.dev/x", "stand-in limit: network"),
    ],
)  # fmt: skip
def test_a_program_is_asked_as_the_real_one_is(programs, tmp_path, words, said):
    for path, text in {
        "a.rb": "", "bin/puma": "#!/usr/bin/ruby\n# stand-in gem: puma-6.4.3\n",
        "gems/puma-6.4.3/x": "", "lib/a.jar": "",
        "w/gradle-wrapper.properties": "", "gradle": "#!/bin/sh\necho this is gradle $*\n",
        "jarmode": "#!/bin/sh\necho this is jarmode $*\n",
        "tool": "#!/bin/sh\n# Stands in for a tool.\necho ${0##*/} $1\n",
        "bin/bundle": "#!/bin/sh\n# Stands in for bundler.\necho ${0##*/} $1\n",
        "bin/lost": "# stand-in gem: lost-1.0\n", "bin/odd": 'echo "stand-in limit: ruby-program" >&2\n',
    }.items():  # fmt: skip
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
        (tmp_path / path).chmod(0o755)
    env = {"GEM_HOME": str(tmp_path), "PATH": f"{tmp_path}/bin", "HOME": str(tmp_path)}
    name, *more = words.split()
    run = subprocess.Popen(  # noqa: S603 - what is tested
        [programs / name, *more], env=env, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    try:
        assert said in run.stdout.readline()
    finally:
        run.kill()
        run.communicate()


@pytest.mark.parametrize(
    ("script", "there"),
    [
        ("install -d -m 0700 a/b && stat -c %a a/b", "700"),
        ("install -Dm644 one x/y/z && stat -c %a x/y/z", "644"),
        ("install -m 755 -t . ../one 2>&1; mkdir d; install one two d && ls d", "one\ntwo"),
        ("install gone d", "install: can't stat 'gone': No such file or directory"),
        ("install --frobnicate one d", "stand-in limit: option"),
        ("install", "install: missing operand"),
    ],
)
def test_install_of_busybox_is_there(tmp_path, script, there):
    files = {"project/one": "1", "project/two": "2"}
    text = (images.HERE / "scripts/applet").read_text().replace(images.KEPT, f"{tmp_path}/kept")

    held = stood_in(tmp_path, "applet", {**files, "bin/install": text}, script)
    assert held.strip().endswith(there)


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("adduser -D -u 1000 -g '' -s /bin/false app && cat passwd", "app:x:1000:1000::"),
        ("addgroup -S -g 7 web && adduser -SDH -G web app && cat passwd", "app:x:10000:7::"),
        ("adduser -D -h $PWD/home app && ls -d home", "home"),
        ("adduser -D -G gone app", "adduser: unknown group gone"),
        ("adduser -D app && adduser -D app", "adduser: user 'app' in use"),
        ("addgroup web && adduser -D -H app && addgroup app web && cat group", "web:x:10000:app"),
        ("adduser -Du 1000 app", "stand-in limit: option"),
        ("adduser --home-dir /x app", "adduser: unrecognized option --home-dir"),
    ],
)
def test_adduser_of_busybox_is_there(tmp_path, script, said):
    files = {"project/passwd": "root:x:0:0:root:/root:/bin/sh\n", "project/group": "root:x:0:\n"}
    text = (images.HERE / "scripts/adduser").read_text().replace(images.KEPT, f"{tmp_path}/kept")
    text = text.replace("etc=/etc", f"etc={tmp_path}/project").replace("/home/$1", "$PWD/$1")
    both = {f"bin/{name}": text for name in ("adduser", "addgroup")}

    assert said in stood_in(
        tmp_path, "applet", {**files, **both, "bin/chown": "#!/bin/sh\n"}, script
    )


@pytest.mark.parametrize(
    ("script", "left"),
    [
        ("find a -name '*.map' -delete", "a/b/x.js"),
        ("find a/b -delete", ""),
        ("find a -type f ! -name '*.js' -exec rm '{}' ';'", "a/b/x.js"),
        ("find a -frobnicate 2>/dev/null", "a/b/x.js\na/b/x.map"),
    ],
)
def test_find_deletes_as_that_of_wolfi(tmp_path, script, left):
    files = {"project/a/b/x.js": "", "project/a/b/x.map": ""}
    files["kept/busybox"] = '#!/bin/sh\nexec /usr/bin/"$@"\n'
    stood_in(tmp_path, "find", files, script)

    found = sorted(path for path in (tmp_path / "project/a").rglob("*") if path.is_file())
    assert "\n".join(str(path.relative_to(tmp_path / "project")) for path in found) == left


def test_busybox_has_the_applets_of_wolfi():
    names = ["[", "ash", "find", "id", "ionice", "ip", "ipcalc", "kill", "wc", "wget", "which"]
    whole = b"code\0" + b"".join(f"{name}\0".encode() for name in names) + b"code"

    left = images.without(whole, names, {"find", "ip", "ipcalc", "wget"})

    assert len(left) == len(whole)
    found = left.removeprefix(b"code\0").removesuffix(b"\0code").decode().split("\0")
    assert [name for name in names if name in found] == [
        "[", "ash", "id", "ionice", "kill", "wc", "which",
    ]  # fmt: skip
    # They are looked up by their order, of which those that are left are a part.
    kept = {name for name in names if name in found}
    assert all(a < b for a, b in zip(found, found[1:], strict=False) if kept & {a, b})
    with pytest.raises(ValueError, match="does not list its applets"):
        images.without(b"", names, {"ip"})
    applets = brings.APPLETS.split()
    assert {"adduser", "find", "install", "printenv", "sh"} <= {*applets}
    assert not {"wget", "nslookup", "ip", "patch", "xz"} & {*applets}


def built(tmp_path, files, *, linked=False, backend="setuptools"):
    """Build a project by what stands in for its backend; return the names in the wheel, or what is said."""
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    place = tmp_path / ".here" / images.BACKENDS[backend]
    place.parent.mkdir(parents=True)
    (tmp_path / ".here" / images.BACKENDS[backend].partition("/")[0] / "__init__.py").touch()
    place.write_text((images.HERE / "scripts/backend").read_text())
    module = images.BACKENDS[backend].removesuffix(".py").replace("/", ".")
    hook = "build_editable" if linked else "build_wheel"
    code = f"import zipfile, {module} as b\nprint('\\n'.join(zipfile.ZipFile(b.{hook}('.')).namelist()))"
    done = subprocess.run(  # noqa: S603 - what is tested
        [sys.executable, "-c", code], cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(tmp_path / ".here")},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    found = [line for line in done.stdout.splitlines() if ".dist-info" not in line]
    return " ".join(found) + done.stderr


PROJECT = '[project]\nname = "my-app"\nversion = "1"\n'
FLAT, SRC = {"my_app/a.py": "", "tests/t.py": ""}, {"src/my_app/a.py": "", "src/my_app/b.txt": ""}


@pytest.mark.parametrize(
    ("backend", "text", "files", "said"),
    [
        ("setuptools", "", FLAT, "my_app/a.py"),
        ("setuptools", "", SRC, "my_app/a.py"),
        ("setuptools", '[tool.setuptools.packages.find]\nwhere = ["src"]\n', SRC, "my_app/a.py"),
        ("setuptools", '[tool.setuptools]\npy-modules = ["one"]\n', {"one.py": ""}, "one.py"),
        ("setuptools", '[tool.setuptools]\npackages = ["gone"]\n', FLAT, "error: package directory"),
        ("setuptools", "", {**FLAT, "other/a.py": ""}, "stand-in limit: python-build"),
        ("setuptools", "", {**FLAT, "setup.py": ""}, "stand-in limit: python-build"),
        ("setuptools", "[tool.setuptools.cmdclass]\n", FLAT, "stand-in limit: python-build"),
        ("setuptools", 'dynamic = ["dependencies"]\n', FLAT, "stand-in limit: python-build"),
        ("hatchling", "", SRC, "my_app/a.py my_app/b.txt"),
        ("hatchling", 'readme = "README.md"\n', SRC, "Readme file does not exist: README.md"),
        ("hatchling", "[tool.hatch.build.hooks.x]\n", SRC, "stand-in limit: python-build"),
        ("poetry-core", "", FLAT, "my_app/a.py"),
        ("flit-core", "", {"my_app.py": ""}, "my_app.py"),
        ("pdm-backend", "", {"other/a.py": ""}, "stand-in limit: python-build"),
    ],
)  # fmt: skip
def test_a_project_of_python_is_built_by_its_pyproject(tmp_path, backend, text, files, said):
    held = built(tmp_path, {**files, "pyproject.toml": PROJECT + text}, backend=backend)

    assert held.strip() == said if "limit" not in said and ".py" in said else said in held


def test_a_project_that_is_linked_stays_where_it_is(tmp_path):
    assert (
        built(tmp_path, {**SRC, "pyproject.toml": PROJECT}, linked=True) == "__editable__my_app.pth"
    )


def limit_of(output, names=()):
    """Return what is said not to be judged, None for nothing."""
    try:
        builder.Builder("docker", stands_in=True)._within_limits(output, names)
    except builder.Unavailable as error:
        return str(error).partition("stand-ins: it ")[2]
    return None


LOST = "Error: Cannot find module '/app/node_modules/next/dist/bin/next'"


@pytest.mark.parametrize(
    ("output", "limit"),
    [
        ("#9 1.2 ERROR: No matching distribution found for gunicorn==99", "pip-package"),
        ("#9 1.2 ERROR: No matching distribution found for no-such-package-of-anybody", None),
        ("#9 [2/3] RUN echo ERROR: No matching distribution found for gunicorn", None),
        ("#9 1.2       stand-in limit: python-build", "python-build"),
        ("#9 1.2 ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM", "pip-hash"),
        ("#9 1.2 ERROR: Package 'a' requires a different Python: 3.11.7 not in '>=3.12'", "python-version"),
        ("#9 1.2 ERROR: Package 'a' requires a different Python: 3.11.7 not in '<3.9'", None),
        ("node: bad option: --experimental-strip-types", "node-version"),
        ("node: bad option: --frobnicate", None),
        ("SyntaxError: The requested module 'x' does not provide an export named 'y'", "npm-module"),
        ('nginx: [emerg] unknown directive "http2" in /etc/nginx/nginx.conf:3', "nginx-version"),
        ('nginx: [emerg] unknown directive "lisen" in /etc/nginx/nginx.conf:3', None),
        ("#9 1.2 stand-in brought: coreutils\n#9 1.3 cp: unrecognized option: parents", "option"),
        ("#9 1.3 cp: unrecognized option: parents", None),
        ("#9 1.3 ERROR: unable to select packages: nodejs-22 (no such package)", "apk-older"),
        ("#9 1.3 ERROR: unable to select packages: nodejs-22 libpq-dev (no such package)", None),
        ("#9 1.2 stand-in brought: ghostscript\n#9 1.3 /bin/sh: gs: not found", "apk-program"),
        ("#9 1.2 stand-in brought: ghostscript\n#9 1.3 /bin/sh: useradd: not found", None),
        ("#9 1.2 stand-in brought: ca-certificates\n#9 1.3 /bin/sh: gs: not found", None),
        ("#9 1.3 /bin/sh: gs: not found", None),
        (LOST, "npm-file"),
        (LOST.replace("next/", "gone/"), None),
    ],
)  # fmt: skip
def test_what_a_program_of_the_host_lacks_is_a_limit_if_the_real_one_has_it(output, limit):
    there = {"app/node_modules/next/package.json"}

    assert limit_of(output, there) == (limits.LIMITS[limit] if limit else None)


@pytest.mark.parametrize(
    "line",
    [
        "RUN printf 'stand-in limit: program'",
        "RUN echo No matching distribution found for gunicorn",
        "RUN cat /usr/share/standin/limit",
    ],
)
def test_an_answer_that_says_what_a_limit_says_is_not_built(tmp_path, line):
    docker = builder.Builder("docker", stands_in=True)

    seen = docker.observe({"Dockerfile": f"FROM a\n{line}\n"}, tmp_path / "x", {})

    assert not seen["built"]


def test_the_folder_of_the_real_python_is_a_limit(tmp_path):
    docker = builder.Builder("docker", stands_in=True)
    line = "COPY --from=a /usr/lib/python3.14/site-packages /x\n"

    with pytest.raises(builder.Unavailable, match="folder of a version of Python"):
        docker.observe({"Dockerfile": f"FROM a\n{line}"}, tmp_path / "x", {})
    assert not limits.python_folders(f"FROM a\n# {line}")


def test_no_stand_in_needs_a_program_that_busybox_lacks():
    known = {*brings.APPLETS.split()}
    for path in (images.HERE / "scripts").iterdir():
        text = path.read_text()
        if text.startswith("#!/bin/sh"):
            for one in ("printenv", "tac", "nl", "realpath", "mapfile", "column"):
                assert one in known or f"$({one} " not in text, path.name


def test_each_table_of_tools_is_in_the_page_that_says_what_is_observed():
    page = (Path(images.__file__).parents[2] / "details/tools.md").read_text("utf-8")
    scripts = {path.name for path in (images.HERE / "scripts").iterdir()}
    untold = {
        "applet",
        "backend",
        "common",
        "docker-entrypoint.sh",
        "limit",
        "module.js",
        "builds.js",
    }
    told = scripts - untold - {"python-package"}

    assert not {name for name in told if f"`{name}`" not in page}
    assert not {name for name in limits.LIMITS if f"`{name}`" not in page}
