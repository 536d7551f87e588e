// How long the host's own work takes at full size: drawing the weights, and one token of the oracle.
// Usage: tasks_bench TASK THREADS CONTEXT. Prints one line of numbers.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tasks/catalog.h"
#include "tasks/generator.h"
#include "tasks/oracle.h"

namespace onelaunch {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

int bench(const std::string& name, int threads, std::int64_t context) {
  const Result<tasks::Task> task = tasks::load_task(name, "");
  if (!task) return std::fprintf(stderr, "%s\n", task.error().message.c_str()), 1;
  auto start = std::chrono::steady_clock::now();
  tasks::Bytes weights(tasks::weight_arena(*task).bytes);
  tasks::fill_weights(*task, 1, tasks::InputSet::nominal, weights, threads);
  const double fill_s = seconds_since(start);
  std::vector<tasks::Bytes> states;
  for (const tasks::Tensor* tensor : task->with(tasks::Role::state)) {
    states.emplace_back(tensor->bytes(context + 1));
    tasks::fill_tensor(*task, *tensor, 2, tasks::InputSet::nominal, context, states.back());
  }
  tasks::Oracle oracle(*task, weights, threads);
  oracle.reset(std::move(states), context, context + 1);
  const tasks::Tensor& input = *task->with(tasks::Role::input).front();
  tasks::Bytes token(input.bytes(0));
  tasks::fill_token(*task, input, 3, tasks::InputSet::nominal, 0, 0, token);
  start = std::chrono::steady_clock::now();
  oracle.step(token);
  std::printf("%s: %.2f GB of weights drawn in %.2f s, one oracle token at context %lld in %.2f s, %d thread(s)\n", name.c_str(),
              static_cast<double>(weights.size()) / 1e9, fill_s, static_cast<long long>(context), seconds_since(start), threads);
  return 0;
}

}  // namespace
}  // namespace onelaunch

int main(int count, char** arguments) {
  if (count != 4) return std::fprintf(stderr, "usage: tasks_bench TASK THREADS CONTEXT\n"), 2;
  return onelaunch::bench(arguments[1], std::atoi(arguments[2]), std::atoll(arguments[3]));
}
