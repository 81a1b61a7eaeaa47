#include "record/sampling.h"

#include <bit>

#include "base/hash.h"
#include "os/clock.h"
#include "os/thread.h"
#include "record/counting.h"
#include "record/cpu_sampler.h"
#include "record/mapped_file.h"
#include "record/process.h"
#include "record/thread_recorder.h"

namespace mallow::record {

constinit Sampler g_sampler;
MALLOW_THREAD_LOCAL Sampler::State Sampler::t_state;

namespace {

// xorshift64*: enough for distances, and one word.
uint64_t Next(uint64_t* random) {
  uint64_t x = *random;
  x ^= x >> 12;
  x ^= x << 25;
  x ^= x >> 27;
  *random = x;
  return x * 0x2545'f491'4f6c'dd1d;
}

// In (0, 1).
double Uniform(uint64_t* random) { return (static_cast<double>(Next(random) >> 11) + 0.5) * 0x1p-53; }

struct Weight {
  double calls, variance;
};

Weight WeightOf(uint64_t bytes, uint64_t mean) {
  const double p = OneMinusExp(static_cast<double>(bytes + Sampler::kExtraBytes) / static_cast<double>(mean));
  return {1 / p, (1 - p) / (p * p)};
}

}  // namespace

double OneMinusExp(double x) {
  if (x > 40) return 1;
  // By halving the argument until a short series will do, and squaring back: with e = 1 - exp(-y), that of 2y is
  // e (2 - e).
  int halvings = 0;
  for (; x > 0.25; x /= 2) ++halvings;
  double sum = 0, term = x;
  for (int n = 2; n < 16; ++n) {
    sum += term;
    term *= -x / n;
  }
  for (; halvings > 0; --halvings) sum *= 2 - sum;
  return sum;
}

double MinusLog(double u) {
  constexpr double kLog2 = 0.693147180559945309417;
  const uint64_t bits = std::bit_cast<uint64_t>(u);
  int exponent = static_cast<int>(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & ((uint64_t{1} << 52) - 1)) | uint64_t{1023} << 52);
  if (m > 1.4142135623730951) {
    m /= 2;
    ++exponent;
  }
  // log(m) = 2 artanh((m - 1) / (m + 1))
  const double z = (m - 1) / (m + 1);
  double sum = 0, power = z;
  for (int n = 1; n < 24; n += 2) {
    sum += power / n;
    power *= z * z;
  }
  return -(exponent * kLog2 + 2 * sum);
}

void Sampler::StartIn(MappedFile* file, uint64_t session) {
  session_ = session;
  if (!on() || !file->Grow(Section::kSampling, 1, kFileFull)) return;
  file->Items<SamplingItem>(Section::kSampling)[0] = {mean_, kExtraBytes, {}};
  file->SetUsed(Section::kSampling, 1);
}

int64_t Sampler::Distance(State& state) const {
  return static_cast<int64_t>(MinusLog(Uniform(&state.random)) * static_cast<double>(mean_));
}

bool Sampler::TakesSlow(State& state, size_t bytes) {
  if (state.session != session_ || state.random == 0) {
    // The thread's first call, which need not be a sample.
    if (MALLOW_UNLIKELY(g_cpu_sampler.on())) g_process.Current();
    state = {};
    state.session = session_;
    state.random = HashWords(os::RealtimeNanoseconds() ^ HashWord(ThreadIdentity()),
                             static_cast<uint64_t>(os::ThreadId())) |
                   1;
    state.left = Distance(state) - static_cast<int64_t>(bytes + kExtraBytes);
    if (state.left >= 0) return false;
  }
  state.left = Distance(state);
  return true;
}

void Sampler::Catch(ThreadRecorder& thread) {
  thread.newest_block = t_state.newest;
  thread.shard->events += t_state.events;
  t_state.events = 0;
}

void Sampler::WeighBirth(ThreadRecorder& thread, uint32_t stack, const void* p, size_t bytes) const {
  t_state.newest = p;
  Weights* weights = thread.WeightsOf(stack);
  if (weights == nullptr) return;
  const Weight weight = WeightOf(bytes, mean_);
  const double size = static_cast<double>(bytes);
  weights->calls += weight.calls;
  weights->bytes += weight.calls * size;
  weights->calls_variance += weight.variance;
  weights->bytes_variance += weight.variance * size * size;
}

void Sampler::WeighDeath(ThreadRecorder& thread, const Tag& tag) const {
  Weights* weights = thread.WeightsOf(tag.stack);
  if (weights == nullptr) return;
  const uint64_t bytes = tag.size();
  const Weight weight = WeightOf(bytes, mean_);
  const double size = static_cast<double>(bytes);
  weights->releases += weight.calls;
  weights->released_bytes += weight.calls * size;
  weights->releases_variance += weight.variance;
  weights->released_bytes_variance += weight.variance * size * size;
}

}  // namespace mallow::record
