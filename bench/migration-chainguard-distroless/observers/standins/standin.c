/* Stands in for a program of an image: it checks the file that it would be given, says who it is, and waits. */
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static int readable(const char *path) {
    struct stat held;
    return path && !access(path, R_OK) && !stat(path, &held) && S_ISREG(held.st_mode);
}

static const char *operand(int argc, char **argv) {
    for (int at = 1; at < argc; at++) if (argv[at][0] != '-') return argv[at];
    return NULL;
}

static const char *after(int argc, char **argv, const char *option) {
    for (int at = 1; at + 1 < argc; at++) if (!strcmp(argv[at], option)) return argv[at + 1];
    return NULL;
}

static int listens(const char *port) {
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = htons((unsigned short)atoi(port))};
    int held = socket(AF_INET, SOCK_STREAM, 0);
    return held >= 0 && !bind(held, (struct sockaddr *)&here, sizeof here) && !listen(held, 1);
}

int main(int argc, char **argv) {
#ifdef LIMIT
    fputs("stand-in limit: program\n", stderr);  /* As scripts/limit says it, where there is no shell. */
    return 70;
#endif
    char folder[4096] = "";
    const char *name = strrchr(argv[0], '/');
    name = name ? name + 1 : argv[0];
    const char *file = NULL, *port = NULL;
    int needs = 1;
    if (!strcmp(name, "java")) {
        file = after(argc, argv, "-jar");
        needs = !after(argc, argv, "-cp");
    } else if (!strcmp(name, "dotnet")) {
        file = operand(argc, argv);
        port = getenv("ASPNETCORE_HTTP_PORTS");
    } else if (!strcmp(name, "ruby") || !strcmp(name, "php")) {
        file = operand(argc, argv);
        port = after(argc, argv, "-S") ? strrchr(after(argc, argv, "-S"), ':') + 1 : NULL;
        needs = !port;
    } else needs = 0;
    if (needs && !readable(file)) { fprintf(stderr, "%s: cannot read %s\n", name, file ? file : "(nothing)"); return 1; }
    if (port && !listens(port)) { perror(port); return 1; }
    printf("standin %s uid %d in %s\n", name, (int)getuid(), getcwd(folder, sizeof folder));
    fflush(stdout);
    for (;;) pause();
}
