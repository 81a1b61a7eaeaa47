// malloc(i % 1000) and free at once, PAIRS times: every size class up to 1,000 bytes in turn, 0 bytes among them.
//
//	modulo PAIRS
#include "support.h"

int main(int count, char** values) {
  const bench::Arguments arguments(count, values, 1, "PAIRS");
  const uint64_t pairs = arguments.Number(1);
  for (uint64_t i = 0; i < pairs; i++) free(bench::Allocate(i % 1000));
}
