// In libmallow.so: makes other functions run in the place of some that this library exports, for the rest of the process.
#pragma once

#include <cstddef>

namespace mallow::api {

struct Redirection {
  char* from;
  const void* to;
  // What `to` is called with as its last argument, behind those of the function in whose place it runs; null: nothing.
  const void* last;
  int place;  // of that argument: the second or third
};

template <typename Function>
Redirection To(char* from, Function* to) {
  return {from, reinterpret_cast<const void*>(to), nullptr, 0};
}
template <typename Result, typename First, typename Last>
Redirection To(char* from, Result (*to)(First, Last*), Last* last) {
  return {from, reinterpret_cast<const void*>(to), reinterpret_cast<const void*>(last), 2};
}
template <typename Result, typename First, typename Second, typename Last>
Redirection To(char* from, Result (*to)(First, Second, Last*), Last* last) {
  return {from, reinterpret_cast<const void*>(to), reinterpret_cast<const void*>(last), 3};
}

// Puts a jump where the code of each `from` begins, which no thread may be executing: 5 bytes, or 12 with another argument.
// Where the system forbids to change code it stays as it is. Two system calls, and a page of memory for each that is written
// to.
void Redirect(const Redirection* redirections, size_t count);

// Of a program that replaces some operators new and delete, see replaced_shared.cc: whether it does.
bool ForwardToReplaced();
// Of a program that is recorded, see recorder_first_shared.cc. `forwards`: ForwardToReplaced said so.
void AskRecorderFirst(bool forwards);

}  // namespace mallow::api
