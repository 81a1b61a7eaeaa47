/* Names that nobody should choose. */
#include <mallow/mallow.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void* volatile sink;

static void within(const char* name) {
  mallow_region_begin(name);
  sink = malloc(10);
  mallow_unit(name, 1);
  mallow_region_end();
}

int main(void) {
  static char longest[5000];
  int i;
  memset(longest, 'n', sizeof(longest) - 1);
  within("");
  within(NULL);
  within("\x1b[2J\x1b]0;title\x07");
  within("\xff\xfe not UTF-8");
  within("two\nlines, \"quotes\" and \\");
  within(longest);
  mallow_unit("far too many", UINT64_MAX);
  mallow_unit("far too many", UINT64_MAX); /* and around again */
  mallow_region_return_to(12345);
  for (i = 0; i < 200; i++) mallow_region_begin("deep"); /* within itself */
  within("deeper");
  mallow_region_return_to(0);
  for (i = 0; i < 100; i++) mallow_region_end();
  puts("done");
  return 0;
}
