// Objects and buffers, local ones and members, and elements of containers: each has words of its own.
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <vector>

// Whatever p points to may be read and written here.
static void Use(void* p) { asm volatile("" : : "r"(p) : "memory"); }

struct Item {
  int a, b, c, d, e, f;
};

static std::vector<std::unique_ptr<int>> recent(50);

// Something that allocates, so that nothing is freed before anything else is allocated.
[[gnu::noinline]] static int Remember(int i) {
  auto& slot = recent[i % 50];
  slot = std::make_unique<int>(i);
  return *slot;
}

[[gnu::noinline]] static int Object(int i) {
  Item item{i, 1, 2, 3, 4, 5};
  Use(&item);
  int sum = Remember(i) + item.a;
  return sum;
}

[[gnu::noinline]] static int Array(int i) {
  char text[149];
  Use(text);
  text[0] = static_cast<char>(i);
  return Remember(i) + text[0];
}

[[gnu::noinline]] static int Brief(int i) {
  Item item{i, 2, 2, 3, 4, 5};
  Use(&item);
  return item.b;
}

[[gnu::noinline]] static int Elements(int i) {
  static std::vector<Item> all;
  all.clear();
  all.push_back(Item{i, 1, 2, 3, 4, 5});
  return Remember(i) + all[0].b;
}

static Item last;

[[gnu::noinline]] static int Replace(int i) {
  last = Item{i, 1, 2, 3, 4, 5};
  return Remember(i) + last.c;
}

static char name[32];

[[gnu::noinline]] static int Rename(int i) {
  std::strcpy(name, i % 2 ? "a name that is longer" : "a name");
  return Remember(i) + name[3];
}

// The list of a path's parts is the library's own.
[[gnu::noinline]] static int Path(int i) {
  std::filesystem::path path("/a/b/c");
  return Remember(i) + path.is_absolute();
}

int main() {
  long sum = 0;
  for (int i = 0; i < 3000; i++) {
    sum += Object(i) + Array(i) + Brief(i) + Elements(i) + Replace(i) + Rename(i) + Path(i);
  }
  std::printf("%ld\n", sum);
}
