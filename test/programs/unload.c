// Loads and unloads two libraries in turn, 50 times each; both usually come to lie at the same address.
// Arguments: the paths of plugin_a.so and plugin_b.so.
#include "call_plugin.h"

int main(int count, char **arguments) {
  if (count != 3) return 2;
  for (int i = 0; i < 50; i++) {
    call_plugin(arguments[1], "plugin_a", 10);
    call_plugin(arguments[2], "plugin_b", 7);
  }
  return 0;
}
