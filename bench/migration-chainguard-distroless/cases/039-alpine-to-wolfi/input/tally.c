#include <stdio.h>

int main(void) {
    int lines = 0;
    for (int one = getchar(); one != EOF; one = getchar()) lines += one == 10;
    printf("%d\n", lines);
    return 0;
}
