// In libmallow.so, which must load into programs without a C++ runtime.
#include "api/cxx_runtime.h"
#include "api/exported_symbol.h"
#include "base/check.h"

// Null unless the runtime was there when libmallow was linked or loaded.
extern "C" {
[[gnu::weak, noreturn]] void _ZSt17__throw_bad_allocv();           // std::__throw_bad_alloc()
[[gnu::weak]] std::new_handler _ZSt15get_new_handlerv() noexcept;  // std::get_new_handler()
}

namespace mallow::api {
namespace {

template <typename F>
F* FindFunction(F* linked, const char* name) {
  return linked != nullptr ? linked : reinterpret_cast<F*>(const_cast<void*>(FindExportedSymbol(name)));
}

}  // namespace

std::new_handler CurrentNewHandler() {
  const auto get = FindFunction(_ZSt15get_new_handlerv, "_ZSt15get_new_handlerv");
  return get != nullptr ? get() : nullptr;
}

void ThrowBadAlloc() {
  const auto throw_it = FindFunction(_ZSt17__throw_bad_allocv, "_ZSt17__throw_bad_allocv");
  if (throw_it == nullptr)
    Die("operator new: no memory, and no C++ runtime is loaded that could throw std::bad_alloc");
  throw_it();
  __builtin_unreachable();
}

}  // namespace mallow::api
