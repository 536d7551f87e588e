#pragma once
// The forms in which a kernel leaves the harness. docs/export.md describes them for users.

#include <string>

#include "agent/export/archive.h"
#include "agent/export/built_kernel.h"
#include "agent/export/subject.h"

namespace onelaunch::exporting {

// kernel.cu, the header that it includes, and README.md: nvcc or NVRTC need nothing else. Fails (invalid_input) when the
// source declares no such tunables.
Result<Files> source_files(const Subject& subject);
// kernel.cubin with a C program that launches it (launcher.c, kernel_data.h, Makefile) and README.md.
Files cubin_files(const Subject& subject, const BuiltKernel& kernel);
// One solution.py: Python, ctypes and torch. Fails (invalid_input) when the task has no torch_interface.py.
Result<std::string> torch_solution(const Subject& subject, const BuiltKernel& kernel);
// Source and binary forms, card.json, and the run's events with every blob that they name.
Result<Files> bundle_files(const Subject& subject, const BuiltKernel& kernel);

}  // namespace onelaunch::exporting
