// A small service, as it became. before.cc is what it was: the test has a
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

struct Node {
  Node* next;
  long key;
  long more[4];
};

struct Edge {
  Node *from, *to;
  double weight;
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

// New.
__attribute__((noinline)) static int log_line(int n) {
  char* line = static_cast<char*>(malloc(200));
  line[0] = static_cast<char>(n);
  int r = line[0];
  free(line);
  return r;
}

// Untouched.
__attribute__((noinline)) static char* header(const char* name) {
  char* copy = static_cast<char*>(malloc(strlen(name) + 1));
  strcpy(copy, name);
  return copy;
}

// A block on the stack is enough.
__attribute__((noinline)) static int poll_once(int n) {
  int few[16];
  int* ready = n <= 16 ? few : static_cast<int*>(malloc(n * sizeof(int)));
  ready[0] = n;
  int r = ready[0];
  if (ready != few) free(ready);
  return r;
}

// One block.
__attribute__((noinline)) static int session(int id) {
  char* buffer = static_cast<char*>(malloc(100));
  buffer[0] = static_cast<char>(id);
  int r = buffer[0];
  free(buffer);
  return r;
}

// Renamed.
__attribute__((noinline)) static long new_name(int n) {
  long* block = static_cast<long*>(malloc(72));
  block[0] = n;
  long r = block[0];
  free(block);
  return r;
}

// It has other parameters.
__attribute__((noinline)) static int parse(const char* text, int from) {
  char* copy = strdup(text + from);
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
  int sum = each(2, [](int i) {
    std::unique_ptr<char[]> p(new char[300]);
    p[0] = static_cast<char>(i);
    return static_cast<int>(p[0]);
  });
  sum += each(6, [](int i) {
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
  for (int i = 0; i < 17; i++) sum += new_name(i);
  for (int i = 0; i < 23; i++) sum += parse("text", 1);
  for (int i = 0; i < 13; i++) sum += log_line(i);
  sum += lambdas();
  Pool<Node> nodes;
  Pool<Edge> edges;
  nodes.all.reserve(8);
  edges.all.reserve(8);
  for (int i = 0; i < 7; i++) nodes.get();
  for (int i = 0; i < 3; i++) edges.get();
  free(first);
  printf("%ld\n", sum > 0 ? 1L : 0L);
}
