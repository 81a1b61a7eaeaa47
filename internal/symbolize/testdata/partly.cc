// Functions that no other file sees, both inlined and called: debug information has no linkage name of them.
volatile int sink;

namespace net {
namespace {

__attribute__((always_inline)) inline int free_one(int n) {
  sink = n;
  sink = n + 1;
  return sink;
}

template <typename T>
__attribute__((always_inline)) inline T of_type(T n) {
  sink = static_cast<int>(n);
  return n;
}

struct Local {
  __attribute__((always_inline)) int member(int n) const {
    sink = n * 3;
    return sink;
  }
};

}  // namespace
}  // namespace net

int (*volatile first)(int) = net::free_one;
double (*volatile second)(double) = net::of_type<double>;
int (net::Local::*volatile third)(int) const = &net::Local::member;

int main(int count, char**) {
  net::Local local;
  return net::free_one(count) + first(2) + static_cast<int>(net::of_type(1.5 * count) + second(2)) + local.member(count) + (local.*third)(4);
}
