// Classes that are local to a member function, and one that is defined outside of the class that it belongs to. As what the
// functions are made for is in an anonymous namespace, none of them has a linkage name.
#include <cstdlib>
namespace {
struct Member {
  long value;
};
}  // namespace
template <class T>
struct Box {
  template <class... Arguments>
  __attribute__((noinline)) void Grow(long n) {
    struct Guard {
      T* p;
      explicit Guard(T* p) : p(p) {}
      ~Guard() { free(p); }
    };
    Guard guard(static_cast<T*>(malloc(n * sizeof(T))));
    guard.p[n - 1].value = n;
  }
  struct Inner;
};
template <class T>
struct Box<T>::Inner {
  T member;
  void Use() const { free(malloc(member.value)); }
};
int main(int argc, char**) {
  Box<Member> box;
  box.Grow<int>(argc);
  Box<Member>::Inner inner{{argc}};
  inner.Use();
}
