// Vectors and strings that grow, by functions that -O3 makes part of others, and of which no debug file tells.
#include <cstdio>
#include <string>
#include <vector>

struct Row {
  long a, b;
};

// Whatever p points to may be read here.
static void Use(const void* p) { asm volatile("" : : "r"(p) : "memory"); }

[[gnu::noinline]] static long Collect(int n) {  // planted: growth
  std::vector<Row> rows;
  for (int i = 0; i < n; i++) {
    rows.push_back({i, n});
  }
  Use(rows.data());
  return rows.back().a;
}

[[gnu::noinline]] static long Write(int n) {  // planted: growth
  std::string text;
  for (int i = 0; i < n; i++) {
    text.push_back(static_cast<char>('a' + i % 26));
  }
  Use(text.data());
  return text.back();
}

[[gnu::noinline]] static long Append(int n) {  // planted: growth
  std::string text;
  for (int i = 0; i < n; i++) {
    text += "some text";
  }
  Use(text.data());
  return text.back();
}

// One block each, of sizes that double from call to call.
[[gnu::noinline]] static long Once(int n) {
  std::vector<long> rows(1 << n);
  Use(rows.data());
  return rows.back();
}

// Blocks of one row are there together.
[[gnu::noinline]] static long Together(int n) {
  char* all[6];
  for (int i = 0; i < 6; i++) {
    all[i] = new char[16 << i];
    Use(all[i]);
  }
  for (char* one : all) delete[] one;
  return n;
}

int main() {
  long sum = 0;
  for (int i = 0; i < 2000; i++) {
    const int n = 80 + i % 40;
    sum += Collect(n) + Write(n) + Append(n) + Once(i % 7) + Together(n);
  }
  std::printf("%ld\n", sum);
}
