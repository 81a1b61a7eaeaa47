// In libmallow.a: whoever takes operator new from it is linked with a C++ runtime.
#include "api/cxx_runtime.h"

extern "C" [[noreturn]] void _ZSt17__throw_bad_allocv();  // std::__throw_bad_alloc()

namespace mallow::api {

std::new_handler CurrentNewHandler() { return std::get_new_handler(); }

void ThrowBadAlloc() { _ZSt17__throw_bad_allocv(); }

}  // namespace mallow::api
