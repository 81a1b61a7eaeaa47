// A daemon: forks twice, leaves its session and goes on after the program that was started has ended.
// It keeps descriptor 3 of its starter open until it is done, so that the starter can wait for it.
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

__attribute__((noinline)) static void serve(int blocks) {
  for (int i = 0; i < blocks; i++) free(malloc(24));
}

int main(void) {
  if (fork() != 0) return 0;
  setsid();
  if (fork() != 0) _exit(0);
  umask(0);
  if (chdir("/") != 0) return 1;
  for (int i = 0; i < 3; i++) close(i);
  serve(1000);
  usleep(400000);  // the starter is gone and its recorder has finished its work
  serve(1000);
  return 0;
}
