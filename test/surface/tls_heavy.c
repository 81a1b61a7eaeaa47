// One of three libraries that use up static thread-local storage (NUMBER tells them apart).
#define NAME2(number) TlsHeavy##number
#define NAME(number) NAME2(number)
static __thread char words[512] __attribute__((tls_model("initial-exec")));
int NAME(NUMBER)(int i) { return words[i & 511] += 1; }
