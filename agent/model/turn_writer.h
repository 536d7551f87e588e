#pragma once
// Decides what a model is told next: results, notices of time and money, a nudge, or everything anew.

#include <string>
#include <vector>

#include "agent/loop/workbench.h"
#include "agent/model/allowance.h"
#include "agent/model/model_options.h"
#include "agent/model/talk.h"
#include "agent/tools/toolbox.h"

namespace onelaunch::agent {

// All borrowed.
class TurnWriter {
 public:
  TurnWriter(const ModelOptions& options, const Workbench& bench, Toolbox& toolbox)
      : options_(options), bench_(bench), toolbox_(toolbox) {}

  // Between two requests, when every call has its result. `anew`: the conversation cannot go on as it is.
  UserTurn next(const Talk& talk, bool anew) const;
  // The conversation grew beyond its share of the model's window, or was not taken.
  bool wants_restart(const Talk& talk) const;

 private:
  UserTurn following(const Talk& talk) const;
  std::string restart_text(const Talk& talk) const;
  std::string last_outcomes(const Talk& talk) const;
  std::string footer(const Talk& talk, const UserTurn& turn) const;
  std::vector<std::string> notices(const Talk& talk, std::vector<std::string>& marks) const;

  const ModelOptions& options_;
  const Workbench& bench_;
  Toolbox& toolbox_;
};

}  // namespace onelaunch::agent
