"""
What packages bring, beyond what stands in for it: names of programs, of libraries and of modules.

Each table is of common packages only. A program of it that nothing stands in for says so (``scripts/limit``), and a
library is there by its name. What no table has is a limit or is not there, as :mod:`.limits` says.
"""

from __future__ import annotations

import re
from functools import cache
from types import MappingProxyType
from typing import Final

from . import packages

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

TREES: Final = MappingProxyType(
    {
        "nodejs": "node", "npm": "node npm", "py-pip": "python3 pip", "py3-pip": "python3 pip", "python": "python3",
        "python3": "python3",
    }
)  # fmt: skip
"""
What comes as a whole with packages, by their names without version: the host's own interpreters, and what installs
packages for them. Each is called by the program that it is asked by.
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
        "@angular/cli": "ng", "@nestjs/cli": "nest", "@vue/cli": "vue",
        "@vue/cli-service": "vue-cli-service", "corepack": "corepack",
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

BUILDS: Final = (
    "cross-env", "esbuild", "nest", "next", "ng", "react-scripts", "rimraf", "tsc", "vite", "vue-cli-service",
)  # fmt: skip
"""Programs of npm's packages that ``scripts/builds.js`` stands in for."""

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


GEMS: Final = MappingProxyType(
    {
        "actioncable": "", "actionmailbox": "", "actionmailer": "", "actionpack": "", "actiontext": "",
        "actionview": "", "activejob": "", "activemodel": "", "activerecord": "", "activestorage": "",
        "activesupport": "", "addressable": "", "aws-eventstream": "", "aws-partitions": "", "aws-sdk-core": "",
        "aws-sdk-s3": "", "aws-sigv4": "", "base64": "", "bcrypt": "", "bigdecimal": "", "bootsnap": "bootsnap",
        "builder": "", "bundler": "bundle bundler", "cgi": "", "clockwork": "clockwork", "concurrent-ruby": "",
        "connection_pool": "", "crass": "", "csv": "", "date": "", "devise": "", "dotenv": "dotenv", "drb": "",
        "erb": "erb", "erubi": "", "et-orbi": "", "falcon": "falcon falcon-host", "faraday": "",
        "faraday-net_http": "", "ffi": "", "foreman": "foreman", "fugit": "", "globalid": "", "grape": "",
        "haml": "haml", "hanami": "hanami", "hanami-cli": "hanami", "httparty": "httparty", "i18n": "",
        "importmap-rails": "", "io-console": "", "irb": "irb", "jbuilder": "", "jekyll": "jekyll",
        "jmespath": "jmespath.rb", "json": "", "jwt": "", "kramdown": "kramdown", "liquid": "", "listen": "listen",
        "logger": "", "loofah": "", "mail": "", "marcel": "", "method_source": "", "mini_mime": "",
        "mini_portile2": "", "minitest": "minitest", "msgpack": "", "multi_json": "", "multi_xml": "",
        "mustermann": "", "mutex_m": "", "mysql2": "", "net-imap": "", "net-pop": "", "net-protocol": "",
        "net-smtp": "", "nio": "", "nio4r": "", "nokogiri": "nokogiri", "oj": "", "orm_adapter": "", "ostruct": "",
        "ox": "", "pg": "", "prometheus-client": "", "pstore": "", "psych": "", "public_suffix": "",
        "puma": "puma pumactl", "raabro": "", "racc": "racc", "rack": "", "rack-protection": "", "rack-session": "",
        "rack-test": "", "rackup": "rackup", "rails": "", "rails-dom-testing": "", "rails-html-sanitizer": "",
        "railties": "rails", "rake": "rake", "rb-fsevent": "", "rb-inotify": "", "rdoc": "rdoc ri", "redis": "",
        "redis-client": "", "reline": "", "responders": "", "resque": "resque resque-web", "rexml": "", "roda": "",
        "rspec": "", "rspec-core": "rspec", "rubocop": "rubocop", "ruby2_keywords": "", "rufus-scheduler": "",
        "sass": "sass", "sassc": "", "securerandom": "", "sentry-ruby": "", "sequel": "sequel",
        "sidekiq": "sidekiq sidekiqmon", "sinatra": "", "slim": "slimrb", "sprockets": "sprockets",
        "sprockets-rails": "", "sqlite3": "", "stimulus-rails": "", "stringio": "", "strscan": "", "thin": "thin",
        "thor": "thor", "tilt": "tilt", "timeout": "", "turbo-rails": "", "tzinfo": "",
        "unicorn": "unicorn unicorn_rails", "uri": "", "useragent": "", "warden": "", "webrick": "",
        "websocket-driver": "", "websocket-extensions": "", "zeitwerk": "",
    }
)  # fmt: skip
"""Programs of gems (``executables`` of their specifications), empty for one that has none."""

APPLETS: Final = (
    "[ [[ add-shell addgroup adduser adjtimex arch arping ash awk base64 basename bbconfig bc beep bunzip2 bzcat "
    "bzip2 cal cat chattr chgrp chmod chown chpasswd chroot chrt cksum clear cmp comm cp cpio cryptpw cut date dc "
    "dd delgroup deluser df diff dirname dmesg dnsdomainname dos2unix du echo ed egrep env expand expr factor "
    "fallocate false fgrep find findfs flock fold free fsync fuser getfattr getopt getty grep groups gunzip gzip "
    "hd head hexdump hostid hostname id inotifyd install ionice iostat ipcrm ipcs kill killall killall5 less link "
    "linux32 linux64 ln logger login ls lsattr lsof lzcat lzma lzop lzopcat md5sum microcom mkdir mkfifo mknod "
    "mkpasswd mktemp more mountpoint mpstat mv netstat nice nl nmeter nohup nologin nproc nsenter od passwd paste "
    "pgrep pidof ping ping6 pipe_progress pivot_root pkill pmap printenv printf ps pstree pwd pwdx rdev readahead "
    "readlink realpath remove-shell renice reset resize rev rm rmdir run-parts sed seq setpriv setserial setsid "
    "sh sha1sum sha256sum sha3sum sha512sum shred shuf sleep sort split stat strings stty su sum sync sysctl tac "
    "tail tar tee test time timeout top touch tr traceroute traceroute6 tree true truncate tsort tty ttysize "
    "tunctl uname unexpand uniq unix2dos unlink unlzma unlzop unxz unzip uptime usleep uudecode uuencode vconfig "
    "vi vlock watch wc which who whoami xargs xxd xzcat yes zcat "
)
"""
Applets of Wolfi's busybox 1.38: those that ``busybox/busyboxconfig`` of github.com/wolfi-dev/os at
8190a1652f4534ad3feebd3b48066514f0f4375f turns on. Debian's has others.
"""


_OTHERS: Final = re.compile(
    r"^(?:ca-certificates|tzdata|glibc|lib|font|ttf|icu|linux-headers|ld-linux|py3|wolfi|musl|posix)"
    r"|-(?:dev|doc|libs|data|config|locale|fonts|modules|headers|jmods)(?:-|$)"
)
"""Packages without programs, by their names."""


def plain(package: str) -> str:
    """Return a package's name without versions, such as ``ruby-bundler`` of ``ruby4.0-bundler``."""
    return re.sub(r"(?<=[a-z])\d[\d.]*(?=-)|-\d[\d.]*(?=-|$)", "", package)


def programs(package: str) -> list[str]:
    """Return the programs that a package brings, empty if no table has it."""
    found = (PROGRAMS.get(package) or PROGRAMS.get(plain(package), "")).split()
    version = re.match(r"(?:python-|py)(3\.\d+)(?:$|-pip$)", package)
    return (
        [*found, f"{'pip' if package.endswith('pip') else 'python'}{version[1]}"]
        if version
        else found
    )


def trees(package: str) -> str:
    """Return what comes as a whole with a package, and with what it needs."""
    return TREES.get(plain(package), "")


def is_listed(package: str) -> bool:
    """Return whether it is known which programs a package brings: a table has it, or it has files of other kinds."""
    return bool(programs(package) or libraries(package) or _OTHERS.search(package))


def is_of_another(program: str) -> bool:
    """Return whether a program is known to be of some package, or of busybox."""
    known = {one for text in PROGRAMS.values() for one in text.split()}
    return program in {*known, *APPLETS.split()}


def libraries(package: str) -> list[str]:
    """Return the paths of the libraries that a package brings, empty if no table has it."""
    names = [*(LIBRARIES.get(package) or LIBRARIES.get(plain(package), ()))]
    if package.endswith("-dev"):
        names += [name.partition(".so")[0] + ".so" for name in names]
    return [f"/usr/lib/{name}" for name in names]


def is_known(name: str) -> bool:
    """Return whether a package of Python exists for sure: Wolfi has it, or a table."""
    normal = re.sub(r"[-_.]+", "-", name.lower())
    return normal in {*MODULES, *SCRIPTS, *_pythons()}


@cache
def _pythons() -> frozenset[str]:
    """Return the packages of Python that Wolfi has, as they are called where pip looks."""
    found = re.findall(r"(?m)^py3(?:\.\d+)?-(.+?)(?:-bin)?$", packages.LISTED)
    return frozenset(re.sub(r"[-_.]+", "-", name.lower()) for name in found)


def modules(name: str) -> list[str]:
    """Return the modules of a package of Python, by the name under which it is installed."""
    normal = re.sub(r"[-_.]+", "-", name.lower())
    return MODULES.get(normal, normal.replace("-", "_")).split()
