/* Answers requests, and tells mallow of it: needs only the header, and runs with and without libmallow.
 *
 *   cc -g -o requests requests.c -I PREFIX/include
 *   mallow ./requests */
#include <mallow/mallow.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct answer {
  char* text;
  size_t length;
};

static struct answer* answer(const char* request) {
  struct answer* a;
  mallow_region_begin("answer");
  a = malloc(sizeof(*a));
  a->text = strdup(request);
  a->length = strlen(request);
  mallow_region_end();
  return a;
}

static void serve(const char* request) {
  struct answer* a;
  char* line;
  mallow_region_begin("request");
  line = strdup(request);
  a = answer(line);
  mallow_unit("request", 1);
  mallow_unit("sent bytes", a->length * 1000);
  free(a->text);
  free(a);
  free(line);
  mallow_region_end();
}

int main(void) {
  char* settings = malloc(10000);
  int i;
  for (i = 0; i < 1000; i++) serve("GET / HTTP/1.1");
  free(settings);
  puts("1000 requests served");
  return 0;
}
