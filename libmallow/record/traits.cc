#include "record/traits.h"

namespace mallow::record {
namespace {

void Cast(Vote& vote, uint32_t value, uint32_t weight) {
  if (vote.candidate == value) {
    vote.lead += weight;
  } else if (vote.lead >= weight) {
    vote.lead -= weight;
  } else {
    vote = {value, weight - vote.lead};
  }
}

void Raise(uint32_t& greatest, uint32_t figure) { greatest = figure > greatest ? figure : greatest; }

void NoteLifetime(ThreadRecorder& thread, StackId stack, uint64_t life, uint32_t weight) {
  const int log = 63 - __builtin_clzll(life);
  const int item = log < 32 ? log : 31;
  uint16_t& count = thread.LifetimesOf(stack).counts[item];
  const uint32_t sum = count + weight;
  if (MALLOW_UNLIKELY(sum > 0xffff)) {
    uint16_t& carry = thread.LifetimeCarriesOf(stack).counts[item];
    if (carry == 0xffff) return;
    carry++;
  }
  count = static_cast<uint16_t>(sum);
}

}  // namespace

MALLOW_NOINLINE void NoteBirth(ThreadRecorder& thread, StackId stack, StackId born_before, uint64_t bytes,
                               Study study) {
  Traits& traits = thread.TraitsOf(stack);
  const uint32_t weight = WeightOf(study);
  thread.Look();
  if (traits.studied == 0) traits.first_ms = thread.now_ms;
  traits.last_ms = thread.now_ms;
  traits.studied += weight;
  Cast(traits.size, CappedSize(bytes), weight);
  Raise(traits.longest_run, thread.run);
  thread.NoteChange(stack, static_cast<int64_t>(weight * bytes));
  if (thread.run != 1) return;
  traits.runs += weight;
  Cast(traits.born_after, StackIndex(born_before), weight);
}

MALLOW_COLD void NoteLongRun(ThreadRecorder& thread, StackId stack) {
  Raise(thread.TraitsOf(stack).longest_run, thread.run);
}

MALLOW_NOINLINE void NoteDeath(ThreadRecorder& thread, StackId stack, StackId freed_before, uint64_t life,
                               uint64_t bytes, uintptr_t pc, Study study) {
  Traits& traits = thread.TraitsOf(stack);
  const uint32_t weight = WeightOf(study);
  thread.Look();
  traits.last_death_ms = thread.now_ms;
  traits.studied_deaths += weight;
  Cast(traits.freed_by, thread.CallerAt(pc).node, weight);
  if (stack != freed_before) {
    traits.death_runs += weight;
    Cast(traits.freed_after, StackIndex(freed_before), weight);
  }
  if (life != 0) NoteLifetime(thread, stack, life, weight);
  thread.NoteChange(stack, -static_cast<int64_t>(weight * bytes));
}

void NoteRealloc(ThreadRecorder& thread, StackId stack, StackId old_stack, uint64_t old_bytes, uint64_t bytes,
                 bool moved, bool copied) {
  Reallocs& reallocs = thread.ReallocsOf(stack);
  reallocs.resized++;
  reallocs.grown += bytes > old_bytes;
  reallocs.shrunk += bytes < old_bytes;
  reallocs.moved += moved;
  if (copied) reallocs.bytes_copied += bytes < old_bytes ? bytes : old_bytes;
  reallocs.chained += stack == old_stack;
}

}  // namespace mallow::record
