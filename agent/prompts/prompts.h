#pragma once
// What a model is told before it does anything: the same text for the same session, so that providers can cache it.

#include <string>

#include "agent/loop/workbench.h"
#include "sandbox/host/sandbox.h"

namespace onelaunch::agent {

// Role, contract, tools, rules; then what is known about devices of this kind. Constant while a session lasts.
std::string system_prompt(const sandbox::DeviceInfo& device);

// The task, its rules, floor and ceilings, what was tried and the best kernel.
std::string first_message(const Workbench& workbench);

// The same for a conversation that is begun anew, with what the last one left behind. `candidate_differs`: the candidate
// file is not the best kernel.
std::string restart_message(const Workbench& workbench, const std::string& notes, bool candidate_differs);

// SHA-256 of all prompt texts of this build: sessions of one hash were told the same.
std::string prompts_sha256();

}  // namespace onelaunch::agent
