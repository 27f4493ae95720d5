/* Stands in for a program of an image: it checks the file that it would be given, says who it is, and waits. */
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* The name of the machine on which a container is looked at (builder.py); while an image is built it has another. */
#define OBSERVED "standin"

#define GRADLE "/usr/share/standin/gradle"
#define JARMODE "/usr/share/standin/jarmode"

static int limit(const char *what) { fprintf(stderr, "stand-in limit: %s\n", what); return 70; }

static int begins(const char *text, const char *with) { return !strncmp(text, with, strlen(with)); }

/* Whether a word is in a list of words; one that ends with * stands for all that begin so. */
static int is_in(const char *word, const char *const *list) {
    for (; *list; list++) {
        size_t size = strlen(*list);
        if ((*list)[size - 1] == '*' ? !strncmp(word, *list, size - 1) : !strcmp(word, *list)) return 1;
    }
    return 0;
}

static int is_file(const char *path) {
    struct stat held;
    return path && !access(path, R_OK) && !stat(path, &held) && S_ISREG(held.st_mode);
}

static int listens(const char *port) {
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = htons((unsigned short)atoi(port))};
    int held = socket(AF_INET, SOCK_STREAM, 0);
    return held >= 0 && !bind(held, (struct sockaddr *)&here, sizeof here) && !listen(held, 1);
}

/*
 * What the command line of an interpreter asks for; `at` is the place of the file among the words, `path` are places of
 * classes, `loads` a library before the program.
 */
struct asked { const char *file, *port, *path; int at, runs, loads, searches, is_jar; };

/* Options that take the next word, those that are known beside them, and those that only say something. */
struct options { const char *const *valued, *const *known, *const *says; };

static const char *const JAVA_VALUED[] = {
    "-p", "--module-path", "--upgrade-module-path", "--add-modules", "--add-opens",
    "--add-exports", "--add-reads", "--limit-modules", "--patch-module", "--enable-native-access", NULL};
static const char *const JAVA_KNOWN[] = {
    "-X*", "-D*", "-ea*", "-da*", "-esa", "-dsa", "-enableassertions*", "-server", "-client", "-verbose*", "-agentlib:*", "-agentpath:*",
    "-javaagent:*", "--enable-*", "--add-*", "--module-path=*", "--illegal-*", "--sun-misc-*", NULL};
static const char *const JAVA_SAYS[] = {
    "-version", "--version", "-showversion", "-help", "--help", "-h", "-?", "-X", "--list-modules", NULL};
static const char *const RUBY_VALUED[] = {"-I", "-E", "--encoding", NULL};
static const char *const RUBY_KNOWN[] = {
    "-W*", "-w", "-I*", "-E*", "-K*", "-U", "--yjit*", "--jit*", "--enable*", "--disable*", "--encoding=*", NULL};
static const char *const RUBY_SAYS[] = {"-v", "--version", "-h", "--help", "--copyright", NULL};
static const char *const PHP_VALUED[] = {"-d", "-c", "-t", "--docroot", "--php-ini", "--define", NULL};
static const char *const PHP_KNOWN[] = {"-d*", "-c*", "-n", "-q", "-H", NULL};
static const char *const PHP_SAYS[] = {"-v", "--version", "-m", "--modules", "-i", "--info", "-h", "--help", "--ini", NULL};
static const char *const NET_VALUED[] = {"--fx-version", "--depsfile", "--runtimeconfig", "--additionalprobingpath", NULL};
static const char *const NET_KNOWN[] = {"--roll-forward*", NULL};
static const char *const NET_SAYS[] = {"--info", "--version", "--help", "-h", "--list-runtimes", "--list-sdks", NULL};
static const struct options JAVA = {JAVA_VALUED, JAVA_KNOWN, JAVA_SAYS}, RUBY = {RUBY_VALUED, RUBY_KNOWN, RUBY_SAYS},
    PHP = {PHP_VALUED, PHP_KNOWN, PHP_SAYS}, NET = {NET_VALUED, NET_KNOWN, NET_SAYS};

/* Whether some library that ruby is asked for before the program is not there. */
static int lacks_library(const char *name) {
    char with[4096];
    snprintf(with, sizeof with, "%s.rb", name);
    return (*name == '.' || *name == '/') && !is_file(name) && !is_file(with);
}

/* A program on PATH, as ruby -S finds it. */
static const char *on_path(const char *name) {
    static char found[4096];
    char folders[4096];
    snprintf(folders, sizeof folders, "%s", getenv("PATH") ? getenv("PATH") : "");
    for (char *one = strtok(folders, ":"); one && !strchr(name, '/'); one = strtok(NULL, ":")) {
        snprintf(found, sizeof found, "%s/%s", one, name);
        if (is_file(found)) return found;
    }
    return name;
}

/* Whether a gem is in one of the folders in which ruby looks for gems. */
static int has_gem(const char *gem) {
    char folders[8192], there[12288];
    const char *home = getenv("HOME"), *own = getenv("GEM_HOME"), *path = getenv("GEM_PATH");
    home = home ? home : "/";
    snprintf(folders, sizeof folders, "%s:%s:/usr/lib/ruby/gems/4.0.0:%s/.gem/ruby/4.0.0:%s/.local/share/gem/ruby/4.0.0",
        own ? own : "", path ? path : "", home, home);
    for (char *one = strtok(folders, ":"); one; one = strtok(NULL, ":")) {
        snprintf(there, sizeof there, "%s/gems/%s", one, gem);
        if (!access(there, X_OK)) return 1;
    }
    return 0;
}

/* Return how the program of a gem ends as bundle made it, or 0 if it runs: it loads its gem, or nobody knows it. */
static int of_gem(const char *path, int loads) {
    char text[512] = "", name[256];
    FILE *file = fopen(path, "r");
    if (!file) return 0;
    if (!fread(text, 1, sizeof text - 1, file)) text[0] = 0;
    fclose(file);
    const char *said = strstr(text, "stand-in limit: "), *gem = strstr(text, "stand-in gem: ");
    if (said && sscanf(said, "stand-in limit: %255[a-z-]", name) == 1) return limit(name);
    if (!gem || loads || sscanf(gem, "stand-in gem: %255s", name) != 1 || has_gem(name)) return 0;
    fprintf(stderr, "ruby: can't find gem %s (Gem::GemNotFoundException)\n", name);
    return 1;
}

/* What an option of one language does: how many words it takes, or one of these. */
enum { NOT_SPECIAL = 0, ENDS_OPTIONS = -1, FAILS = -2 };

static int of_java(struct asked *asked, const char *word, const char *next) {
    if (!strcmp(word, "-jar")) { asked->file = next; asked->is_jar = 1; return ENDS_OPTIONS; }
    if (!strcmp(word, "-m") || !strcmp(word, "--module")) { asked->runs = 1; return ENDS_OPTIONS; }
    if (!strcmp(word, "-cp") || !strcmp(word, "-classpath") || !strcmp(word, "--class-path")) { asked->path = next; return 2; }
    if (begins(word, "--class-path=")) { asked->path = strchr(word, '=') + 1; return 1; }
    return NOT_SPECIAL;
}

static int of_php(struct asked *asked, const char *word, const char *next) {
    if (!strcmp(word, "-f") || !strcmp(word, "--file")) { asked->file = next; return ENDS_OPTIONS; }
    if (strcmp(word, "-S") || !next) return NOT_SPECIAL;
    if (!strchr(next, ':')) { fprintf(stderr, "Invalid address: %s\n", next); return FAILS; }
    asked->port = strrchr(next, ':') + 1;
    asked->runs = 1;
    return 2;
}

static int of_ruby(struct asked *asked, const char *word, const char *next) {
    if (!strcmp(word, "-S")) { asked->searches = 1; return 1; }
    if (!strcmp(word, "-C")) {
        if (next && !chdir(next)) return 2;
        fprintf(stderr, "ruby: Can't chdir to %s\n", next ? next : "(nothing)");
        return FAILS;
    }
    if (!begins(word, "-r")) return NOT_SPECIAL;
    const char *library = word[2] ? word + 2 : next;
    asked->loads = 1;
    if (!library || !lacks_library(library)) return word[2] ? 1 : 2;
    fprintf(stderr, "ruby: cannot load such file -- %s\n", library);
    return FAILS;
}

static int of_net(struct asked *asked, const char *word, const char *next) {
    (void)asked, (void)next;
    return strcmp(word, "exec") ? NOT_SPECIAL : 1;
}

typedef int (*special)(struct asked *, const char *, const char *);

/* Read options up to the program; return 0 to go on, else the exit with which this ends. */
static int reads(struct asked *asked, const struct options *options, special of, int argc, char **argv) {
    for (int at = 1; at < argc; at++) {
        const char *word = argv[at], *next = at + 1 < argc ? argv[at + 1] : NULL;
        int takes = of(asked, word, next);
        asked->at = takes == ENDS_OPTIONS || !strcmp(word, "--") ? at + 1 : at;
        if (takes == ENDS_OPTIONS) return 0;
        if (takes == FAILS) return 1;
        if (takes) { at += takes - 1; continue; }
        if (*word == '@' && options == &JAVA) return limit("option");
        if (*word != '-') { asked->file = asked->searches ? on_path(word) : word; return 0; }
        if (!strcmp(word, "--")) { asked->file = next; return 0; }
        if (is_in(word, options->says)) { printf("stand-in of %s\n", strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0]); exit(0); }
        if (is_in(word, options->valued)) at++;
        else if (!is_in(word, options->known)) return limit("option");
    }
    return 0;
}

/* Whether a file stands in for a tool that is a program of php or ruby, such as composer and bundler. */
static int is_tool(const char *path) {
    static const char *const first = "#!/bin/sh\n# Stands in for ";
    char text[64] = "";
    FILE *file = fopen(path, "r");
    if (!file) return 0;
    if (!fread(text, 1, sizeof text - 1, file)) text[0] = 0;
    fclose(file);
    return begins(text, first);
}

/* Whether java finds a class that is named: its source, its file, or something of a given class path. */
static int has_class(const char *name, const char *given) {
    char path[8192];
    size_t length = strlen(name);
    if (length > 5 && !strcmp(name + length - 5, ".java")) return is_file(name);
    snprintf(path, sizeof path, "%s.class", name);
    for (char *at = path; at < path + length; at++) if (*at == '.') *at = '/';
    if (!given) return is_file(path);
    snprintf(path, sizeof path, "%s", given);
    for (char *one = strtok(path, ":"); one; one = strtok(NULL, ":")) {
        size_t size = strlen(one);
        if (size > 1 && !strcmp(one + size - 2, "/*")) one[size - 2] = 0;
        if (!access(*one == '*' ? "." : one, R_OK)) return 1;
    }
    return 0;
}

/* Run gradle, as its wrapper does: the archive of the wrapper is no text, so a project of a case has its settings alone. */
static int wraps(const struct asked *asked, char **argv) {
    static const char ending[] = "gradle-wrapper.jar";
    char settings[4096];
    const char *jar = asked->is_jar ? asked->file : asked->path;
    size_t length = jar ? strlen(jar) : 0;
    if (length < strlen(ending) || length > sizeof settings - 16 || strcmp(jar + length - strlen(ending), ending)) return 0;
    if (!asked->is_jar && strcmp(asked->file, "org.gradle.wrapper.GradleWrapperMain")) return 0;
    snprintf(settings, sizeof settings, "%.*s.properties", (int)(length - strlen(".jar")), jar);
    if (!is_file(settings)) return 0;
    while (*argv != asked->file) argv++;
    execv(GRADLE, argv);
    return limit("program");
}

/* Run what takes an archive apart, where java is told so before the archive. */
static void takes_apart(const char *jar, char **argv) {
    static const char option[] = "-Djarmode=";
    char *mode = NULL;
    for (; *argv != jar; argv++)
        if (begins(*argv, option)) mode = *argv + strlen(option);
    if (!mode || !is_file(jar)) return;
    argv[-1] = mode;
    argv[-2] = "jarmode";
    execv(JARMODE, argv - 2);
    exit(limit("program"));
}

/* The port that ASP.NET is told: by its command line, by an address, or by the variable of the image. */
static const char *net_port(int argc, char **argv) {
    const char *given = getenv("ASPNETCORE_URLS") ? getenv("ASPNETCORE_URLS") : getenv("DOTNET_URLS");
    for (int at = 1; at < argc; at++) {
        if (begins(argv[at], "--urls=")) given = argv[at] + strlen("--urls=");
        if (!strcmp(argv[at], "--urls") && at + 1 < argc) given = argv[at + 1];
    }
    if (given && *given) return strrchr(given, ':') ? strrchr(given, ':') + 1 : NULL;
    return getenv("ASPNETCORE_HTTP_PORTS");
}

static const char *const FETCHES[] = {"curl", "dig", "host", "rsync", "ssh", "wget", NULL};
static const char *const NOBODYS[] = {"example.org", "example.com", "example.net", ".example", ".invalid", ".test", "localhost", "127.0.0.1", NULL};

/* In a build there is no network: what asks a machine that nobody can have fails with one as well. */
static int in_build(const char *name, int argc, char **argv) {
    if (!is_in(name, FETCHES)) return limit("build-run");
    for (int at = 1; at < argc; at++) {
        if (!strcmp(argv[at], "--version") || !strcmp(argv[at], "-V") || !strcmp(argv[at], "--help")) return 0;
        for (const char *const *one = NOBODYS; *one; one++)
            if (strstr(argv[at], *one)) { fprintf(stderr, "%s: could not resolve host: %s\n", name, argv[at]); return 6; }
    }
    return limit("network");
}

int main(int argc, char **argv) {
#ifdef LIMIT
    return limit("program");  /* As scripts/limit says it, where there is no shell. */
#endif
    char folder[4096] = "", host[256] = "";
    const char *name = strrchr(argv[0], '/');
    name = name ? name + 1 : argv[0];
    struct asked asked = {0};
    int needs = 1, ends = 0;
    if (!strcmp(name, "java")) {
        asked.path = getenv("CLASSPATH");
        ends = reads(&asked, &JAVA, of_java, argc, argv);
        needs = !asked.runs;
        if (!ends && asked.file && wraps(&asked, argv)) return 70;
        if (!ends && asked.file && asked.is_jar) takes_apart(asked.file, argv);
        if (asked.file && !asked.is_jar) {
            needs = !has_class(asked.file, asked.path);
            if (needs && !ends) { fprintf(stderr, "java: cannot find %s\n", asked.file); return 1; }
        }
    } else if (!strcmp(name, "dotnet")) {
        ends = reads(&asked, &NET, of_net, argc, argv);
        asked.port = net_port(argc, argv);
    } else if (!strcmp(name, "ruby")) {
        const char *options = getenv("RUBYOPT");
        int loads = options && (strstr(options, "-r") || strstr(options, "-I"));
        ends = loads ? limit("variable") : reads(&asked, &RUBY, of_ruby, argc, argv);
    } else if (!strcmp(name, "php")) {
        ends = reads(&asked, &PHP, of_php, argc, argv);
        needs = !asked.runs;
    } else needs = 0;
    if (ends) return ends;
    if (needs && !is_file(asked.file)) { fprintf(stderr, "%s: cannot read %s\n", name, asked.file ? asked.file : "(nothing)"); return 1; }
    if ((!strcmp(name, "php") || !strcmp(name, "ruby")) && asked.file && is_tool(asked.file)) {
        argv[asked.at] = (char *)asked.file;
        execv(asked.file, argv + asked.at);
        perror(asked.file);
        return 1;
    }
    if (!strcmp(name, "ruby") && (ends = of_gem(asked.file, asked.loads))) return ends;
    if (gethostname(host, sizeof host - 1) || strcmp(host, OBSERVED)) return in_build(name, argc, argv);
    if (asked.port && !listens(asked.port)) { perror(asked.port); return 1; }
    printf("standin %s uid %d in %s\n", name, (int)getuid(), getcwd(folder, sizeof folder));
    fflush(stdout);
    for (;;) pause();
}
