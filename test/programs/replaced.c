// Loads and unloads a library at one path, which is one file and another by turns, 50 times each. Arguments: the path, which
// becomes a link, and the two files. The function of each is called plugin.
#include <stdlib.h>
#include <unistd.h>

#include "call_plugin.h"

static void call(const char *path, const char *file, int calls) {
  unlink(path);
  if (symlink(file, path)) abort();
  call_plugin(path, "plugin", calls);
}

int main(int count, char **arguments) {
  if (count != 4) return 2;
  for (int i = 0; i < 50; i++) {
    call(arguments[1], arguments[2], 10);
    call(arguments[1], arguments[3], 7);
  }
  return 0;
}
