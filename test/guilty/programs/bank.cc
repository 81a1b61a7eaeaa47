// Accounts, transfers between them, and a ledger.
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

class Bank {
 public:
  void Open(const std::string& owner, long money) { accounts_[owner] = money; }

  void Transfer(const std::string& from, const std::string& to, long money) {
    long& source = accounts_.at(from);
    if (source < money) throw std::runtime_error("not enough on the account of " + from);
    source -= money;
    accounts_.at(to) += money;
    // + std::map<long, long> fees{{money, money / 100}};
    ledger_.push_back({from, to, money});
  }

  size_t Lines() const { return ledger_.size(); }

 private:
  struct Line {
    std::string from, to;
    long money;
  };
  std::map<std::string, long> accounts_;
  std::vector<Line> ledger_;
};

int main() {
  Bank bank;
  for (int i = 0; i < 10; i++) bank.Open("an owner with a long name, number " + std::to_string(i), 1000);
  int refused = 0;
  for (int i = 0; i < 600; i++) {
    try {
      bank.Transfer("an owner with a long name, number " + std::to_string(i % 10),
                    "an owner with a long name, number " + std::to_string(i * 7 % 10), i % 400);
    } catch (const std::runtime_error&) {
      refused++;
    }
  }
  std::printf("%zu %d\n", bank.Lines(), refused);
}
