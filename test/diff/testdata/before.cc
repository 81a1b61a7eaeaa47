// A small service, as it was. after.cc is what became of it: the test has a
// table of what changed.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace service {

struct Request {
  std::string path;
  std::vector<int> sizes;
};

template <typename T>
struct Pool {
  std::vector<T*> all;
  T* get() {
    T* t = new T();
    all.push_back(t);
    return t;
  }
  ~Pool() {
    for (T* t : all) delete t;
  }
};

struct Node {
  Node* next;
  long key;
};

struct Edge {
  Node *from, *to;
  double weight;
};

// Untouched.
__attribute__((noinline)) static char* header(const char* name) {
  char* copy = static_cast<char*>(malloc(strlen(name) + 1));
  strcpy(copy, name);
  return copy;
}

// A temporary in a loop: cured later.
__attribute__((noinline)) static int poll_once(int n) {
  int* ready = static_cast<int*>(malloc(n * sizeof(int)));
  ready[0] = n;
  int r = ready[0];
  free(ready);
  return r;
}

// Two blocks; the second one goes.
__attribute__((noinline)) static int session(int id) {
  char* buffer = static_cast<char*>(malloc(100));
  char* spare = static_cast<char*>(calloc(1, 24));
  buffer[0] = static_cast<char>(id);
  int r = buffer[0] + spare[0];
  free(spare);
  free(buffer);
  return r;
}

// Renamed later.
__attribute__((noinline)) static long old_name(int n) {
  long* block = static_cast<long*>(malloc(72));
  block[0] = n;
  long r = block[0];
  free(block);
  return r;
}

// Its parameters change.
__attribute__((noinline)) static int parse(const char* text) {
  char* copy = strdup(text);
  int r = copy[0];
  free(copy);
  return r;
}

static int each(int n, const std::function<int(int)>& f) {
  int sum = 0;
  for (int i = 0; i < n; i++) sum += f(i);
  return sum;
}

__attribute__((noinline)) static int lambdas() {
  int sum = each(6, [](int i) {
    std::unique_ptr<long> p(new long(i));
    return static_cast<int>(*p);
  });
  return sum + each(11, [](int i) {
           std::unique_ptr<double[]> p(new double[7]);
           p[0] = i;
           return static_cast<int>(p[0]);
         });
}

}  // namespace service

int main() {
  using namespace service;
  long sum = 0;
  char* first = header("host");
  for (int i = 0; i < 30; i++) {
    char* h = header("accept");
    sum += h[0];
    free(h);
  }
  for (int i = 0; i < 4000; i++) sum += poll_once(8);
  for (int i = 0; i < 9; i++) sum += session(i);
  for (int i = 0; i < 17; i++) sum += old_name(i);
  for (int i = 0; i < 23; i++) sum += parse("text");
  sum += lambdas();
  Pool<Node> nodes;
  Pool<Edge> edges;
  nodes.all.reserve(8);
  edges.all.reserve(8);
  for (int i = 0; i < 5; i++) nodes.get();
  for (int i = 0; i < 3; i++) edges.get();
  free(first);
  printf("%ld\n", sum > 0 ? 1L : 0L);
}
