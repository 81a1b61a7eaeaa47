#include "api/options.h"

#include <cstring>

#include "base/text.h"
#include "os/environment.h"
#include "os/file.h"
#include "record/cpu_sampler.h"

namespace mallow::api {

const char kOptionsHelp[] =
#define MALLOW_OPTION(type, name, value, help) #name "  " help "\n"
#include "api/options.def"
#undef MALLOW_OPTION
    ;

namespace {

constexpr char kVariable[] = "MALLOW_OPTIONS";
constexpr int kStandardError = 2;
constexpr size_t kMostBytes = 16 * 1024;

// A piece of the settings, not terminated.
struct Piece {
  const char* start;
  size_t length;

  bool Is(const char* word) const { return strlen(word) == length && memcmp(start, word, length) == 0; }
};

void Complain(const char* what, Piece piece, const char* consequence) {
  TextBuffer text;
  TextWriter& writer = text;
  writer.Append("mallow: ").Append(kVariable).Append(": ").Append(what);
  if (piece.length != 0)
    writer.Append(" \"").Append(piece.start, piece.length < 128 ? piece.length : 128).Append("\"");
  writer.Append(consequence).Append("\n");
  os::WriteAll(kStandardError, text.data(), text.size());
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// False: too long, a zero byte, or % without two hexadecimal digits.
bool Decode(Piece value, char* text, size_t capacity) {
  size_t filled = 0;
  for (size_t i = 0; i < value.length; ++i) {
    char c = value.start[i];
    if (c == '%') {
      if (i + 2 >= value.length) return false;
      const int high = HexDigit(value.start[i + 1]), low = HexDigit(value.start[i + 2]);
      if (high < 0 || low < 0) return false;
      c = static_cast<char>(high * 16 + low);
      i += 2;
    }
    if (c == '\0' || filled + 1 >= capacity) return false;
    text[filled++] = c;
  }
  text[filled] = '\0';
  return true;
}

bool ParseValue(Piece value, Path* path) {
  Path decoded;
  if (value.length == 0 || !Decode(value, decoded.text, sizeof(decoded.text))) return false;
  *path = decoded;
  return true;
}

// The decimal number at the start of the value, and what follows it. False: none, or one of more than 64 bits.
bool ParseNumber(Piece value, uint64_t* number, Piece* rest) {
  *rest = value;
  *number = 0;
  while (rest->length != 0 && *rest->start >= '0' && *rest->start <= '9') {
    if (__builtin_mul_overflow(*number, 10u, number) ||
        __builtin_add_overflow(*number, static_cast<uint64_t>(*rest->start - '0'), number)) {
      return false;
    }
    ++rest->start;
    --rest->length;
  }
  return rest->length < value.length;
}

bool ParseValue(Piece value, Bytes* bytes) {
  uint64_t number;
  Piece unit;
  if (!ParseNumber(value, &number, &unit)) return false;
  const int shift = unit.Is("") ? 0 : unit.Is("K") ? 10 : unit.Is("M") ? 20 : unit.Is("G") ? 30 : -1;
  if (shift < 0 || number > UINT64_MAX >> shift) return false;
  bytes->value = number << shift;
  return true;
}

bool ParseValue(Piece value, Milliseconds* time) {
  constexpr uint64_t kMost = 24 * 60 * 60 * 1000;
  uint64_t number;
  Piece rest;
  if (!ParseNumber(value, &number, &rest) || rest.length != 0 || number > kMost) return false;
  time->value = number;
  return true;
}

bool ParseValue(Piece value, Hertz* rate) {
  uint64_t number;
  Piece rest;
  if (!ParseNumber(value, &number, &rest) || rest.length != 0 || number > record::kMostHertz) return false;
  rate->value = number;
  return true;
}

void ParseSetting(Piece setting, Options* options) {
  const auto* equals = static_cast<const char*>(memchr(setting.start, '=', setting.length));
  if (equals == nullptr) return Complain("no '=' in", setting, ", which is ignored");
  const Piece name{setting.start, static_cast<size_t>(equals - setting.start)};
  const Piece value{equals + 1, setting.length - name.length - 1};
#define MALLOW_OPTION(type, option, otherwise, help)                                                   \
  if (name.Is(#option)) {                                                                              \
    if (!ParseValue(value, &options->option)) Complain("bad value in", setting, ", which is ignored"); \
    return;                                                                                            \
  }
#include "api/options.def"
#undef MALLOW_OPTION
  Complain("unknown option", name, " is ignored");
}

}  // namespace

void ParseOptions(const char* settings, Options* options) {
  while (*settings != '\0') {
    const size_t length = strcspn(settings, ":");
    if (length != 0) ParseSetting({settings, length}, options);
    settings += length;
    if (*settings == ':') ++settings;
  }
}

bool OptionsMayBeSet() { return !os::RunsWithRaisedRights() && os::MayBeInEnvironment(kVariable); }

void ReadOptions(Options* options) {
  if (os::RunsWithRaisedRights()) return;
  char settings[kMostBytes];
  const long length = os::ReadEnvironment(kVariable, settings, sizeof(settings));
  if (length == os::kTooLong) Complain("it has 16 KiB or more, and is ignored", {}, "");
  if (length >= 0) ParseOptions(settings, options);
}

}  // namespace mallow::api
