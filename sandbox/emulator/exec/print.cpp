#include "sandbox/emulator/exec/print.h"

#include <cstdio>
#include <cstring>
#include <string>

#include "sandbox/emulator/exec/grid.h"
#include "sandbox/emulator/memory/access.h"

namespace onelaunch::emu {
namespace {

constexpr std::size_t kStringBytesMax = 4096;

struct Printer {
  Warp& warp;
  const DecodedOp& op;
  unsigned lane;
  std::uint64_t arguments;       // generic address of the next one
  std::string text;

  bool read(std::uint64_t address, void* to, unsigned bytes) {
    const Place place = place_of(warp, op, MemorySpace::generic, address, bytes, lane, Access::read);
    if (place.data) copy_in(place, to, bytes);
    return place.data != nullptr;
  }

  std::string string_at(std::uint64_t address) {
    std::string result;
    char c = 0;
    while (result.size() < kStringBytesMax && read(address + result.size(), &c, 1) && c != 0) result += c;
    return result;
  }

  // Arguments lie one after the other, each aligned to its size.
  template <class T>
  T argument() {
    arguments = (arguments + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    T value{};
    read(arguments, &value, sizeof value);
    arguments += sizeof(T);
    return value;
  }

  template <class T>
  void add(const std::string& form, T value) {
    char piece[512];
    std::snprintf(piece, sizeof piece, form.c_str(), value);
    text += piece;
  }

  // One conversion from `%` on; `at` moves past it. Lengths are rewritten to the host's.
  void convert(const std::string& format, std::size_t& at) {
    std::string form = "%";
    while (++at < format.size() && std::strchr("-+ #0123456789.*", format[at])) {
      if (format[at] == '*') form += std::to_string(argument<std::int32_t>());
      else form += format[at];
    }
    bool wide = false;
    while (at < format.size() && std::strchr("hljztL", format[at])) wide = wide || format[at] != 'h', ++at;
    if (at == format.size()) return;
    const char kind = format[at++];
    if (kind == '%') text += '%';
    else if (std::strchr("di", kind)) wide ? add(form + "lld", argument<long long>()) : add(form + "d", argument<int>());
    else if (std::strchr("uxXo", kind)) wide ? add(form + "ll" + kind, argument<unsigned long long>()) : add(form + kind, argument<unsigned>());
    else if (kind == 'c') add(form + "c", argument<int>());
    else if (kind == 'p') add("0x%llx", argument<unsigned long long>());
    else if (kind == 's') add(form + "s", string_at(argument<std::uint64_t>()).c_str());
    else if (std::strchr("fFeEgGaA", kind)) add(form + kind, argument<double>());
  }
};

}  // namespace

void print(Warp& warp, const DecodedOp& op, std::uint32_t mask) {
  each_lane(mask, [&](unsigned lane) {
    Grid& grid = *warp.grid;
    if (op.dst != kNoOperand) warp.row_to_write<std::uint32_t>(op.dst)[lane] = 0;
    if (grid.printed_truncated) return;
    const std::uint64_t arguments = op.b == kNoOperand ? 0 : warp.row<std::uint64_t>(op.b)[lane];
    Printer printer{warp, op, lane, arguments, {}};
    const std::string format = printer.string_at(warp.row<std::uint64_t>(op.a)[lane]);
    for (std::size_t at = 0; at < format.size();) {
      if (format[at] == '%') printer.convert(format, at);
      else printer.text += format[at++];
    }
    grid.printed_truncated = grid.printed.size() + printer.text.size() > kPrintedBytesMax;
    if (!grid.printed_truncated) grid.printed += printer.text;
  });
}

}  // namespace onelaunch::emu
