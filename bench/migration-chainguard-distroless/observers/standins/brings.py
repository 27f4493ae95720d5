"""
What packages bring, beyond what stands in for it: names of programs, of libraries and of modules.

Each table is of common packages only. A program of it that nothing stands in for says so (``scripts/limit``), and a
library is there by its name. What no table has is a limit or is not there, as :mod:`.limits` says.
"""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import Final

_GCC: Final = "c++ cc cpp g++ gcc"
_BINUTILS: Final = "ar as ld nm objcopy objdump ranlib readelf size strings strip"
_OPENJDK: Final = "jar java javac javadoc javap jcmd jdeps jlink jmap jps jstack keytool"

PROGRAMS: Final = MappingProxyType(
    {
        "autoconf": "autoconf autoheader autoreconf", "automake": "aclocal automake", "bind-tools": "dig host nslookup",
        "binutils": _BINUTILS, "bison": "bison", "build-base": f"{_BINUTILS} {_GCC} make pkg-config", "bzip2": "bzip2",
        "cmake": "cmake cpack ctest", "composer": "composer", "corepack": "corepack", "curl": "curl",
        "docker": "docker",
        "ffmpeg": "ffmpeg ffprobe", "file": "file", "flex": "flex", "gcc": _GCC, "gettext": "envsubst gettext msgfmt",
        "git": "git", "gnupg": "gpg gpg-agent gpgconf", "go": "go gofmt", "gosu": "gosu", "gradle": "gradle",
        "imagemagick": "convert identify magick mogrify", "iproute2": "ip ss", "iputils": "ping", "jq": "jq",
        "less": "less", "libtool": "libtool libtoolize", "make": "make", "maven": "mvn", "netcat-openbsd": "nc",
        "node-gyp": "node-gyp", "nodejs": "node", "npm": "npm npx", "openjdk": _OPENJDK,
        "openjdk-default-jdk": _OPENJDK,
        "openjdk-jre": "java keytool", "openssh-client": "scp sftp ssh ssh-add ssh-agent ssh-keygen ssh-keyscan",
        "openssl": "openssl", "patch": "patch", "perl": "perl", "php": "php", "pkgconf": "pkg-config pkgconf",
        "postgresql": "initdb pg_ctl postgres", "postgresql-base": "initdb pg_ctl postgres",
        "postgresql-client": "createdb dropdb pg_dump pg_isready pg_restore psql",
        "procps": "free pgrep pkill ps top uptime vmstat", "protoc": "protoc", "py-pip": "pip pip3",
        "py3-pip": "pip pip3",
        "python": "python3", "python3": "python3", "rsync": "rsync", "ruby": "erb gem irb rake rdbg rdoc ri ruby",
        "ruby-bundler": "bundle bundler", "rust": "cargo rustc rustdoc", "rustup": "cargo rustc rustup",
        "shadow": "groupadd groupmod useradd usermod", "socat": "socat", "sqlite": "sqlite3", "strace": "strace",
        "sudo-rs": "sudo", "supervisor": "supervisorctl supervisord", "unzip": "unzip", "uv": "uv uvx", "vim": "vim",
        "wget": "wget", "xz": "unxz xz xzcat", "yarn": "yarn yarnpkg", "zip": "zip", "zstd": "unzstd zstd",
    }
)  # fmt: skip
"""
Programs in ``/usr/bin``, by packages without their version: what the projects themselves install. Of ruby, those that
the recipe's test names (``bins``) in github.com/wolfi-dev/os, Apache-2.0, which has bundler in a package of its own.
"""

_SSL: Final = ("libcrypto.so.3", "libssl.so.3")
_SQLITE: Final = ("libsqlite3.so.0",)
_CURL: Final = ("libcurl.so.4",)
_PQ: Final = ("libpq.so.5",)

LIBRARIES: Final = MappingProxyType(
    {
        "bzip2-dev": ("libbz2.so.1",), "curl": _CURL, "curl-dev": _CURL, "expat-dev": ("libexpat.so.1",),
        "freetype": ("libfreetype.so.6",), "freetype-dev": ("libfreetype.so.6",), "gmp": ("libgmp.so.10",),
        "gmp-dev": ("libgmp.so.10",), "libatomic": ("libatomic.so.1",), "libbz2": ("libbz2.so.1",),
        "libcrypto3": _SSL[:1], "libcurl-openssl4": _CURL, "libexpat1": ("libexpat.so.1",), "libffi": ("libffi.so.8",),
        "libffi-dev": ("libffi.so.8",), "libgcc": ("libgcc_s.so.1",), "libgomp": ("libgomp.so.1",),
        "libjemalloc2": ("libjemalloc.so.2",), "libmagic": ("libmagic.so.1",), "libmagic-dev": ("libmagic.so.1",),
        "libpng": ("libpng16.so.16",), "libpng-dev": ("libpng16.so.16",), "libpq": _PQ, "libssl3": _SSL[1:],
        "libstdc++": ("libstdc++.so.6",), "libuuid": ("libuuid.so.1",), "libuv": ("libuv.so.1",),
        "libxslt": ("libexslt.so.0", "libxslt.so.1"), "libxslt-dev": ("libexslt.so.0", "libxslt.so.1"),
        "libzstd1": ("libzstd.so.1",), "ncurses": ("libncursesw.so.6",), "ncurses-dev": ("libncursesw.so.6",),
        "openssl": _SSL, "openssl-dev": _SSL, "postgresql-client": _PQ, "postgresql-dev": _PQ,
        "readline": ("libreadline.so.8",), "readline-dev": ("libreadline.so.8",), "sqlite": _SQLITE,
        "sqlite-dev": _SQLITE, "sqlite-libs": _SQLITE, "xz": ("liblzma.so.5",), "xz-dev": ("liblzma.so.5",),
        "yaml": ("libyaml-0.so.2",), "yaml-dev": ("libyaml-0.so.2",), "zlib": ("libz.so.1",),
        "zlib-dev": ("libz.so.1",),
        "zstd": ("libzstd.so.1",), "zstd-dev": ("libzstd.so.1",),
    }
)  # fmt: skip
"""
Libraries in ``/usr/lib`` by the name that programs load, of packages and of what they depend on. The number is the one
that the project itself gives out; a ``-dev`` package has the name without it as well.
"""

NPM: Final = MappingProxyType(
    {
        "@angular/cli": "ng", "@nestjs/cli": "nest", "@vue/cli": "vue", "corepack": "corepack",
        "cross-env": "cross-env",
        "dotenv-cli": "dotenv", "esbuild": "esbuild", "eslint": "eslint", "firebase-tools": "firebase",
        "forever": "forever",
        "grunt-cli": "grunt", "gulp-cli": "gulp", "http-server": "http-server", "json-server": "json-server",
        "lerna": "lerna", "node-gyp": "node-gyp", "nodemon": "nodemon", "npm": "", "nx": "nx", "pm2": "pm2 pm2-runtime",
        "pnpm": "pnpm pnpx", "prettier": "prettier", "prisma": "prisma", "rimraf": "rimraf", "sass": "sass",
        "serve": "serve", "ts-node": "ts-node", "tsx": "tsx", "turbo": "turbo", "typescript": "tsc tsserver",
        "vercel": "vercel", "vite": "vite", "webpack-cli": "webpack-cli", "yarn": "yarn yarnpkg",
    }
)  # fmt: skip
"""Programs of packages that are installed for everybody (``npm install --global``): ``bin`` of their package.json."""

MODULES: Final = MappingProxyType(
    {
        "attrs": "attr attrs", "beautifulsoup4": "bs4", "biopython": "Bio", "discord-py": "discord",
        "django": "django asgiref sqlparse", "django-cors-headers": "corsheaders", "django-environ": "environ",
        "django-filter": "django_filters", "django-storages": "storages", "djangorestframework": "rest_framework",
        "fastapi": "fastapi pydantic starlette", "flask": "blinker click flask itsdangerous jinja2 markupsafe werkzeug",
        "gitpython": "git", "google-api-python-client": "apiclient googleapiclient", "google-cloud-storage": "google",
        "grpcio": "grpc", "grpcio-tools": "grpc_tools", "markdown": "markdown", "mysqlclient": "MySQLdb",
        "opencv-python": "cv2", "opencv-python-headless": "cv2", "pillow": "PIL", "protobuf": "google",
        "psycopg2-binary": "psycopg2", "psycopg-binary": "psycopg_binary", "pycryptodome": "Crypto",
        "pycryptodomex": "Cryptodome", "pygithub": "github", "pyjwt": "jwt", "pymupdf": "fitz pymupdf",
        "pynacl": "nacl",
        "pyopenssl": "OpenSSL", "pyserial": "serial", "python-dateutil": "dateutil", "python-decouple": "decouple",
        "python-docx": "docx", "python-dotenv": "dotenv", "python-jose": "jose", "python-ldap": "ldap",
        "python-magic": "magic", "python-memcached": "memcache", "python-multipart": "multipart python_multipart",
        "python-pptx": "pptx", "python-slugify": "slugify", "python-telegram-bot": "telegram", "pyusb": "usb",
        "pyyaml": "yaml", "pyzmq": "zmq", "requests": "certifi charset_normalizer idna requests urllib3",
        "ruamel-yaml": "ruamel", "scikit-image": "skimage", "scikit-learn": "sklearn",
        "setuptools": "pkg_resources setuptools",
        "typing-extensions": "typing_extensions", "websocket-client": "websocket",
    }
)  # fmt: skip
"""
Modules of Python's packages that are called otherwise, and what comes with some. Most are in ``pipreqs/mapping`` of
github.com/bndr/pipreqs at 48dbafd39003b9de177b8d314795e45797555850, Apache-2.0; the others name themselves in their
documentation.
"""

SCRIPTS: Final = MappingProxyType(
    {
        "awscli": "aws", "django": "django-admin", "python-dotenv": "dotenv", "sphinx": "sphinx-build",
        "supervisor": "supervisord", "waitress": "waitress-serve", "watchdog": "watchmedo",
    }
)  # fmt: skip
"""Programs of Python's packages that are called otherwise."""


def plain(package: str) -> str:
    """Return a package's name without versions, such as ``ruby-bundler`` of ``ruby4.0-bundler``."""
    return re.sub(r"(?<=[a-z])\d[\d.]*(?=-)|-\d[\d.]*(?=-|$)", "", package)


def programs(package: str) -> list[str]:
    """Return the programs that a package brings, empty if no table has it."""
    return (PROGRAMS.get(package) or PROGRAMS.get(plain(package), "")).split()


def libraries(package: str) -> list[str]:
    """Return the paths of the libraries that a package brings, empty if no table has it."""
    names = [*(LIBRARIES.get(package) or LIBRARIES.get(plain(package), ()))]
    if package.endswith("-dev"):
        names += [name.partition(".so")[0] + ".so" for name in names]
    return [f"/usr/lib/{name}" for name in names]


def modules(name: str) -> list[str]:
    """Return the modules of a package of Python, by the name under which it is installed."""
    normal = re.sub(r"[-_.]+", "-", name.lower())
    return MODULES.get(normal, normal.replace("-", "_")).split()
