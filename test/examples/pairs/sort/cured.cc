// Hands of cards that are sorted, split and merged.
#include <algorithm>
#include <cstdio>
#include <vector>

struct Card {
  int value, place;
};

static bool Before(const Card& a, const Card& b) {
  return a.value != b.value ? a.value < b.value : a.place < b.place;
}

static bool Odd(const Card& c) { return c.value & 1; }

int main() {
  std::vector<Card> hand(64), merged(64);
  long sum = 0;
  for (int i = 0; i < 2000; i++) {
    for (int k = 0; k < 64; k++) hand[k] = {(k * 7919 + i) % 13, k};
    const auto odd = std::partition(hand.begin(), hand.end(), Odd);
    std::sort(hand.begin(), odd, Before);
    std::sort(odd, hand.end(), Before);
    std::merge(hand.begin(), odd, odd, hand.end(), merged.begin(), Before);
    sum += merged[i % 64].place;
  }
  std::printf("%ld\n", sum);
}
