// A function that has no room for the jump, and another one of its name that has.
namespace server {

[[gnu::noinline]] int tiny(int n) {
  asm volatile("");
  return n;
}

[[gnu::noinline]] double tiny(double n) {
  asm volatile("" : "+x"(n));
  return n * 3 + 1;
}

}  // namespace server

int main() { return server::tiny(1) + static_cast<int>(server::tiny(1.0)) - 5; }
