// Objects and buffers, local ones and members, and elements of containers: each has words of its own.
#include <cstdio>
#include <cstdlib>
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
  auto item = std::make_unique<Item>(Item{i, 1, 2, 3, 4, 5});  // planted: hoist: local variable of 24 bytes
  Use(item.get());
  int sum = Remember(i) + item->a;
  item.reset();
  return sum;
}

[[gnu::noinline]] static int Array(int i) {
  auto* text = new char[100 + i % 50];  // planted: hoist: fixed array of 149 bytes
  Use(text);
  text[0] = static_cast<char>(i);
  int sum = Remember(i) + text[0];
  delete[] text;
  return sum;
}

[[gnu::noinline]] static int Brief(int i) {
  auto* item = new Item{i, 2, 2, 3, 4, 5};  // planted: temporary: local variable of 24 bytes, without new
  Use(item);
  int sum = item->b;
  delete item;
  return sum;
}

[[gnu::noinline]] static int Elements(int i) {
  static std::vector<std::unique_ptr<Item>> all;
  all.clear();
  all.push_back(
      std::make_unique<Item>(Item{i, 1, 2, 3, 4, 5}));  // planted: hoist: container hold the objects
  return Remember(i) + all[0]->b;
}

static Item* last = nullptr;

[[gnu::noinline]] static int Replace(int i) {
  delete last;
  last = new Item{i, 1, 2, 3, 4, 5};  // planted: hoist: keep the object and set it anew
  return Remember(i) + last->c;
}

static char* name = nullptr;

[[gnu::noinline]] static int Rename(int i) {
  std::free(name);
  name =
      strdup(i % 2 ? "a name that is longer" : "a name");  // planted: hoist: keep the block and fill it anew
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
