// Hands of cards that are sorted, split and merged.
#include <algorithm>
#include <cstdio>
#include <vector>

struct Card {
  int value, place;
};

static bool Before(const Card& a, const Card& b) { return a.value < b.value; }

static bool Odd(const Card& c) { return c.value & 1; }

int main() {
  std::vector<Card> hand(64);
  long sum = 0;
  for (int i = 0; i < 2000; i++) {
    for (int k = 0; k < 64; k++) hand[k] = {(k * 7919 + i) % 13, k};
    std::stable_sort(hand.begin(), hand.end(), Before);    // planted: made-anew
    std::stable_partition(hand.begin(), hand.end(), Odd);  // planted: made-anew
    const auto even = std::find_if_not(hand.begin(), hand.end(), Odd);
    std::inplace_merge(hand.begin(), even, hand.end(), Before);  // planted: made-anew
    sum += hand[i % 64].place;
  }
  std::printf("%ld\n", sum);
}
