#pragma once
// The tunables of a seed, for tests that compile it without the harness.

#include <map>
#include <regex>
#include <string>
#include <vector>

namespace onelaunch::tasks {

struct SeedTunable {
  std::string name, fallback;
  std::vector<std::string> values;
};

inline std::vector<SeedTunable> tunables_of(const std::string& source) {
  std::vector<SeedTunable> tunables;
  const std::regex line(R"(OL_TUNABLE\((\w+), *(\w+), *([^)]*)\))"), word(R"(\w+)");
  for (std::sregex_iterator found(source.begin(), source.end(), line), end; found != end; ++found) {
    SeedTunable tunable{(*found)[1], (*found)[2], {}};
    const std::string list = (*found)[3];
    for (std::sregex_iterator value(list.begin(), list.end(), word); value != end; ++value)
      tunable.values.push_back(value->str());
    tunables.push_back(std::move(tunable));
  }
  return tunables;
}

// "-DNAME=value" for every tunable; `chosen` replaces defaults.
inline std::vector<std::string> defines_of(const std::vector<SeedTunable>& tunables,
                                           const std::map<std::string, std::string>& chosen) {
  std::vector<std::string> defines;
  for (const SeedTunable& tunable : tunables) {
    const auto other = chosen.find(tunable.name);
    defines.push_back("-D" + tunable.name + "=" + (other == chosen.end() ? tunable.fallback : other->second));
  }
  return defines;
}

}  // namespace onelaunch::tasks
