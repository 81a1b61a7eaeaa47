// Built twice, as plugin_a and plugin_b: PLUGIN is the name of its only function.
#include <stdlib.h>

void PLUGIN(int calls);
void PLUGIN(int calls) {
  for (int i = 0; i < calls; i++) {
    void *block = malloc(48);
    free(block);
  }
}
