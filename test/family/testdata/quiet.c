// Stays for a moment, long enough to be seen.
#include <stdlib.h>
#include <unistd.h>

int main(void) {
  free(malloc(10));
  usleep(400000);
  return 0;
}
