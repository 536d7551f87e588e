#include "agent/llm/prices.h"

#include <array>
#include <cctype>

#include "agent/llm/event_json.h"
#include "base/embed.h"

ONELAUNCH_EMBED(onelaunch_llm_prices, ONELAUNCH_LLM "/prices.json");

namespace onelaunch::llm {
namespace {

Result<std::optional<double>> rate_at(const Json& row, const char* key) {
  const Json& value = at(row, key);
  if (value.is_null()) return std::optional<double>();
  if (!value.is_number() || value.get<double>() < 0) return invalid(std::string(key) + " is no price");
  return std::optional<double>(value.get<double>());
}

Result<Rates> rates_of(const Json& row) {
  Rates rates;
  const std::array<std::pair<const char*, std::optional<double>*>, 5> fields = {
      {{"input", &rates.input},
       {"cache_read", &rates.cache_read},
       {"cache_write_5m", &rates.cache_write_5m},
       {"cache_write_1h", &rates.cache_write_1h},
       {"output", &rates.output}}};
  for (const auto& [key, rate] : fields) {
    const auto read = rate_at(row, key);
    if (!read) return because(read.error());
    *rate = *read;
  }
  if (!rates.input || !rates.output) return invalid("input and output must have prices");
  return rates;
}

Result<Price> price_of(const Json& row) {
  Price price{text_at(row, "provider"), text_at(row, "model"), text_at(row, "source")};
  if (price.provider.empty() || price.model.empty() || price.source.empty())
    return invalid("a price needs provider, model and source");
  const auto rates = rates_of(row);
  if (!rates) return because(rates.error(), price.model);
  price.rates = *rates;
  price.prompt_max = count_at(row, "prompt_max");
  if (const Json& more = at(row, "long"); more.is_object()) {
    const auto long_rates = rates_of(more);
    if (!long_rates) return because(long_rates.error(), price.model + ", long prompts");
    price.long_rates = *long_rates;
  }
  if (price.long_rates && !price.prompt_max) return invalid(price.model + ": long prices need prompt_max");
  return price;
}

// Whether `rest` is what vendors put behind a name to say which edition it is.
bool is_edition(std::string_view rest) {
  if (rest == "-latest") return true;
  if (rest.size() < 5 || rest[0] != '-') return false;
  for (const char c : rest)
    if (c != '-' && !std::isdigit(static_cast<unsigned char>(c))) return false;
  return rest.starts_with("-20");
}

std::optional<double> total(const Rates& rates, const Usage& usage) {
  const std::array<std::pair<std::uint64_t, std::optional<double>>, 5> parts = {
      {{usage.input, rates.input},
       {usage.cache_read, rates.cache_read},
       {usage.cache_write_5m, rates.cache_write_5m},
       {usage.cache_write_1h, rates.cache_write_1h},
       {usage.output, rates.output}}};
  double sum = 0;
  for (const auto& [tokens, rate] : parts) {
    if (tokens == 0) continue;
    if (!rate) return std::nullopt;
    sum += static_cast<double>(tokens) * *rate / 1e6;
  }
  return sum;
}

}  // namespace

const char* PriceTable::built_in_text() { return onelaunch_llm_prices; }

Result<PriceTable> PriceTable::parse(std::string_view text) {
  const Json json = Json::parse(text.begin(), text.end(), nullptr, false);
  if (json.is_discarded()) return invalid("the price table is no JSON");
  PriceTable table;
  table.date_ = text_at(json, "date");
  if (table.date_.size() != 10) return invalid("the price table has no date");
  for (const Json& row : at(json, "prices")) {
    auto price = price_of(row);
    if (!price) return because(price.error(), "price table");
    table.prices_.push_back(std::move(*price));
  }
  return table;
}

const Price* PriceTable::find(const std::string& provider, const std::string& model) const {
  for (const Price& price : prices_) {
    if (price.provider != provider || !model.starts_with(price.model)) continue;
    const std::string_view rest = std::string_view(model).substr(price.model.size());
    if (rest.empty() || is_edition(rest)) return &price;
  }
  return nullptr;
}

std::optional<double> PriceTable::cost_usd(const std::string& provider, const std::string& model,
                                           const Usage& usage) const {
  const Price* price = find(provider, model);
  if (!price) return std::nullopt;
  const std::uint64_t prompt = usage.input + usage.cache_read + usage.cache_write_5m + usage.cache_write_1h;
  if (!price->prompt_max || prompt <= *price->prompt_max) return total(price->rates, usage);
  return price->long_rates ? total(*price->long_rates, usage) : std::nullopt;
}

}  // namespace onelaunch::llm
