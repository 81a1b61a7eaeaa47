// heir FILE [FOLDER]: warms its caches, forks, writes the child's process id to FILE, renames FOLDER, and ends. The child
// goes on in serve(), where malloc and free find everything in the caches, until it is killed, for a minute at the most.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((noinline)) static void serve(int blocks) {
  for (int i = 0; i < blocks; i++) free(malloc(64));
}

int main(int count, char **arguments) {
  if (count < 2) return 2;
  serve(1000);
  pid_t child = fork();
  if (child != 0) {
    int file = open(arguments[1], O_WRONLY | O_CREAT, 0600);
    char away[4096];
    if (count > 2 && (snprintf(away, sizeof away, "%s.away", arguments[2]) < 0 || rename(arguments[2], away)))
      return 1;
    return child < 0 || dprintf(file, "%d\n", child) < 0;
  }
  for (int i = 0; i < 60000; i++) {
    serve(10);
    usleep(1000);
  }
  return 0;
}
