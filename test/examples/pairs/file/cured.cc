// Small files that are read one after the other, with one array for all.
#include <cstdio>
#include <fstream>

int main(int, char** argv) {
  unsigned long sum = 0;
  static char room[8192];
  for (int i = 0; i < 2000; i++) {
    std::ifstream file;
    file.rdbuf()->pubsetbuf(room, sizeof room);
    file.open(argv[0], std::ios::binary);
    char start[4];
    file.read(start, sizeof start);
    sum += static_cast<unsigned char>(start[i % 4]);
  }
  std::printf("%lu\n", sum);
}
