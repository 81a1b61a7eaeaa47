#include <mallow/mallow.h>
#include <stdlib.h>

static void* volatile sink;
void plugin(void) {
  mallow_region_begin("plugin");
  mallow_unit("plugged", 2);
  sink = malloc(123);
  mallow_region_end();
}
