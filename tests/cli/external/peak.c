/*
 * Runs a command and appends "PEAK LIMIT" to a file: the most memory that the command has held at a
 * time, in bytes (VmHWM of it and of what it waited for), and the number that was given. The exit
 * status is the command's.
 *
 *   peak FILE LIMIT COMMAND…
 */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int count, char **word)
{
    struct rusage used;
    FILE *file;
    int status;
    pid_t child;

    if (count < 4) return 2;
    child = fork();
    if (child == 0) {
        execvp(word[3], word + 3);
        perror(word[3]);
        _exit(127);
    }
    if (child < 0 || waitpid(child, &status, 0) != child) return 126;
    getrusage(RUSAGE_CHILDREN, &used);
    file = fopen(word[1], "a");
    if (!file) return 126;
    fprintf(file, "%ld %s\n", used.ru_maxrss * 1024, word[2]);
    fclose(file);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
