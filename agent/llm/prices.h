#pragma once
// What tokens cost, as of the date in prices.json. An unknown model is unpriced, never free.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/llm/chat.h"
#include "base/result.h"

namespace onelaunch::llm {

// Dollars for a million tokens. A part of the usage that has no rate makes the whole unpriced.
struct Rates {
  std::optional<double> input, cache_read, cache_write_5m, cache_write_1h, output;
};

struct Price {
  std::string provider, model, source;
  Rates rates;
  std::optional<std::uint64_t> prompt_max;  // tokens up to which `rates` hold
  std::optional<Rates> long_rates;          // for all tokens of a request with a longer prompt; unset: unpriced
};

class PriceTable {
 public:
  // prices.json: {"date", "unit", "prices": [{"provider", "model", "source", rates..., "prompt_max", "long": {...}}]}.
  static Result<PriceTable> parse(std::string_view json);
  static const char* built_in_text();

  const std::string& date() const { return date_; }
  const std::vector<Price>& prices() const { return prices_; }
  // The model by its name, also with a date behind it ("-20251001", "-2026-04-01", "-latest").
  const Price* find(const std::string& provider, const std::string& model) const;
  // Nothing when unpriced.
  std::optional<double> cost_usd(const std::string& provider, const std::string& model, const Usage& usage) const;

 private:
  std::string date_;
  std::vector<Price> prices_;
};

}  // namespace onelaunch::llm
