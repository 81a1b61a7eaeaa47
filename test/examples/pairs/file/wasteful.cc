// Small files that are read one after the other, and a stream for each.
#include <cstdio>
#include <fstream>

int main(int, char** argv) {
  unsigned long sum = 0;
  for (int i = 0; i < 2000; i++) {
    std::ifstream file(argv[0], std::ios::binary);  // planted: made-anew
    char start[4];
    file.read(start, sizeof start);
    sum += static_cast<unsigned char>(start[i % 4]);
  }
  std::printf("%lu\n", sum);
}
