void in_library(int times, void (*again)(int));

static int volatile sum;
__attribute__((noinline)) static void hidden(int i) { sum += i; }
void in_library(int times, void (*again)(int)) {
  int i;
  for (i = 0; i < times; i++) {
    hidden(i);
    hidden(i + 1);
    again(i);
  }
}
