// A server without a leak: SESSIONS sessions of 4 to 60 blocks each, in waves of THREADS threads that live for REQUESTS
// requests each. A request ends one session, whoever made it, and begins another one in its place. WAVES waves; after
// every fourth one the server rests for 20 ms.
//
//	long_server SESSIONS THREADS WAVES REQUESTS
//
// The live bytes do not change, so the resident size must not either: `rss_over_live` is the end's, and
// `metric rss_growth_kb` is how much was added after the first third of the waves.
#include <time.h>

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "timeline.h"

namespace {

struct Session {
  std::mutex busy;
  std::vector<bench::Block> blocks;
};

class Server {
 public:
  explicit Server(size_t sessions) : sessions_(sessions) {
    bench::Random random(9);
    for (Session& session : sessions_) Begin(session, random);
  }
  ~Server() {
    for (Session& session : sessions_) End(session);
  }
  Server(const Server&) = delete;

  void Handle(uint64_t seed, uint64_t requests) {
    bench::Random random(seed);
    for (; requests > 0; requests--) {
      Session& session = sessions_[random.Below(static_cast<uint32_t>(sessions_.size()))];
      std::lock_guard lock(session.busy);
      End(session);
      Begin(session, random);
    }
  }

  uint64_t live() const { return live_.load() + sessions_.size() * sizeof(Session); }

 private:
  void Begin(Session& session, bench::Random& random) {
    session.blocks.resize(4 + random.Below(57));
    uint64_t bytes = session.blocks.capacity() * sizeof(bench::Block);
    for (bench::Block& block : session.blocks) {
      block.Take(random.Size(16, 8192), static_cast<uint8_t>(bytes));
      bytes += block.bytes;
    }
    live_ += bytes;
  }

  void End(Session& session) {
    uint64_t bytes = session.blocks.capacity() * sizeof(bench::Block);
    for (bench::Block& block : session.blocks) {
      bytes += block.bytes;
      block.Drop();
    }
    session.blocks = {};
    live_ -= bytes;
  }

  std::vector<Session> sessions_;
  std::atomic<uint64_t> live_{0};
};

}  // namespace

int main(int count, char** values) {
  const bench::Arguments arguments(count, values, 4, "SESSIONS THREADS WAVES REQUESTS");
  const uint64_t threads = arguments.Number(2), waves = arguments.Number(3);
  Server server(arguments.Number(1));
  bench::Timeline timeline;
  timeline.Note(server.live());
  uint64_t early = 0;
  for (uint64_t wave = 0; wave < waves; wave++) {
    std::vector<std::thread> running;
    for (uint64_t i = 0; i < threads; i++)
      running.emplace_back(&Server::Handle, &server, 10 + wave * threads + i, arguments.Number(4));
    for (std::thread& thread : running) thread.join();
    if (wave % 4 == 3) {
      const timespec rest = {0, 20000000};
      nanosleep(&rest, nullptr);
      timeline.Note(server.live());
    }
    if (wave == waves / 3) early = bench::Resident();
  }
  timeline.Note(server.live());
  timeline.End();
  bench::Metric("rss_growth_kb", static_cast<double>((std::max(bench::Resident(), early) - early) >> 10));
}
