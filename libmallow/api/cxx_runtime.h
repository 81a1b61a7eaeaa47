// What operator new needs of the program's C++ runtime, which may be absent, or come late, or be visible to one
// dlopened library only: it is looked up at the moment when it is needed.
#pragma once

#include <new>

namespace mallow::api {

// std::get_new_handler(); null also when there is no C++ runtime.
std::new_handler CurrentNewHandler();

// Throws std::bad_alloc out of the program's runtime. Without one: says so and aborts.
[[noreturn]] void ThrowBadAlloc();

}  // namespace mallow::api
