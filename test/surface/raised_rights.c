// raised_rights: run as a set-user-id program by another user (raised_rights.sh), it must not have read MALLOW_OPTIONS.
// Linked with libmallow.a.
#include <sys/auxv.h>

#include "check.h"

int main(void) {
  CHECK(getauxval(AT_SECURE) == 1 && getenv("MALLOW_OPTIONS") != NULL);
  CHECK(mallow_is_recording() == 0);
  void* p = malloc(100);
  CHECK(p != NULL);
  free(p);
  return 0;
}
