#include "sandbox/host/sass_loops.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace onelaunch::sandbox {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

// Basic blocks: instruction `begin` up to the next block's.
struct Graph {
  std::vector<std::size_t> begin;
  std::vector<std::vector<std::size_t>> next, previous;

  std::size_t end(std::size_t block, std::size_t instructions) const { return block + 1 < begin.size() ? begin[block + 1] : instructions; }
  std::size_t of(std::size_t instruction) const {
    return static_cast<std::size_t>(std::ranges::upper_bound(begin, instruction) - begin.begin()) - 1;
  }
};

bool branches(const std::string& name) { return name == "BRA" || name == "JMP" || name == "BRX" || name == "BRXU" || name == "JMX"; }
bool ends(const std::string& name) { return name == "EXIT" || name == "RET" || name == "KILL" || branches(name); }

// BSYNC goes on where its BSSY said, once all lanes have come.
std::map<std::string, std::size_t> meeting_points(const std::vector<SassInstruction>& code, std::size_t until) {
  std::map<std::string, std::size_t> points;
  for (std::size_t i = 0; i < until; ++i)
    if (sass_class(code[i].opcode) == "BSSY" && code[i].target >= 0)
      points[code[i].operands.substr(0, code[i].operands.find(','))] = static_cast<std::size_t>(code[i].target);
  return points;
}

std::vector<std::size_t> followers(const std::vector<SassInstruction>& code, std::size_t i) {
  const std::string name = sass_class(code[i].opcode);
  std::vector<std::size_t> all;
  if (branches(name) && code[i].target >= 0) all.push_back(static_cast<std::size_t>(code[i].target));
  if (name == "BSYNC") {
    const auto points = meeting_points(code, i);
    if (const auto point = points.find(code[i].operands); point != points.end()) all.push_back(point->second);
  }
  // A branch may have a condition of its own as its first operand.
  const bool conditional = code[i].predicated || (branches(name) && code[i].operands.find(',') != std::string::npos);
  if ((!ends(name) || conditional) && i + 1 < code.size()) all.push_back(i + 1);
  return all;
}

Graph graph_of(const std::vector<SassInstruction>& code) {
  std::set<std::size_t> begins{0};
  for (std::size_t i = 0; i < code.size(); ++i) {
    const std::string name = sass_class(code[i].opcode);
    if (!ends(name) && name != "BSYNC") continue;
    for (const std::size_t follower : followers(code, i)) begins.insert(follower);
    if (i + 1 < code.size()) begins.insert(i + 1);
  }
  Graph graph;
  graph.begin.assign(begins.begin(), begins.end());
  graph.next.resize(graph.begin.size()), graph.previous.resize(graph.begin.size());
  for (std::size_t b = 0; b < graph.begin.size(); ++b)
    for (const std::size_t follower : followers(code, graph.end(b, code.size()) - 1)) {
      graph.next[b].push_back(graph.of(follower));
      graph.previous[graph.of(follower)].push_back(b);
    }
  return graph;
}

std::vector<std::size_t> reverse_postorder(const Graph& graph) {
  std::vector<std::size_t> order, stack{0}, at(graph.begin.size());
  std::vector<bool> seen(graph.begin.size());
  seen[0] = true;
  while (!stack.empty()) {
    const std::size_t block = stack.back();
    if (at[block] == graph.next[block].size()) {
      order.push_back(block), stack.pop_back();
      continue;
    }
    const std::size_t next = graph.next[block][at[block]++];
    if (!seen[next]) seen[next] = true, stack.push_back(next);
  }
  std::ranges::reverse(order);
  return order;
}

// Immediate dominators of the blocks that are reached; kNone of the others.
std::vector<std::size_t> dominators(const Graph& graph) {
  const std::vector<std::size_t> order = reverse_postorder(graph);
  std::vector<std::size_t> number(graph.begin.size(), kNone), above(graph.begin.size(), kNone);
  for (std::size_t i = 0; i < order.size(); ++i) number[order[i]] = i;
  above[0] = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (const std::size_t block : order) {
      if (block == 0) continue;
      std::size_t common = kNone;
      for (std::size_t other : graph.previous[block]) {
        if (above[other] == kNone) continue;
        if (common == kNone) common = other;
        while (common != other) {
          while (number[other] > number[common]) other = above[other];
          while (number[common] > number[other]) common = above[common];
        }
      }
      if (common != above[block]) above[block] = common, changed = true;
    }
  }
  return above;
}

bool dominates(const std::vector<std::size_t>& above, std::size_t head, std::size_t block) {
  while (block != head && block != 0 && above[block] != kNone) block = above[block];
  return block == head;
}

// The blocks of each loop by its head.
std::map<std::size_t, std::set<std::size_t>> bodies(const Graph& graph) {
  const std::vector<std::size_t> above = dominators(graph);
  std::map<std::size_t, std::set<std::size_t>> loops;
  for (std::size_t block = 0; block < graph.begin.size(); ++block) {
    if (above[block] == kNone) continue;
    for (const std::size_t head : graph.next[block]) {
      if (!dominates(above, head, block)) continue;
      std::set<std::size_t>& body = loops[head];
      body.insert(head);
      std::vector<std::size_t> work{block};
      while (!work.empty()) {
        const std::size_t next = work.back();
        work.pop_back();
        if (above[next] == kNone || !body.insert(next).second) continue;
        work.insert(work.end(), graph.previous[next].begin(), graph.previous[next].end());
      }
    }
  }
  return loops;
}

}  // namespace

std::vector<SassLoop> find_loops(const std::vector<SassInstruction>& code) {
  if (code.empty()) return {};
  const Graph graph = graph_of(code);
  const auto all = bodies(graph);
  std::vector<SassLoop> loops;
  for (const auto& [head, body] : all) {
    SassLoop loop;
    std::set<std::size_t> inner;
    for (const auto& [other, blocks] : all) {
      if (other == head) continue;
      if (blocks.contains(head)) ++loop.depth;
      else if (body.contains(other)) inner.insert(blocks.begin(), blocks.end());
    }
    loop.first = graph.begin[*body.begin()];
    loop.last = graph.end(*body.rbegin(), code.size()) - 1;
    for (const std::size_t block : body)
      for (std::size_t i = graph.begin[block]; !inner.contains(block) && i < graph.end(block, code.size()); ++i) loop.own.push_back(i);
    if (loop.last > loop.first) loops.push_back(std::move(loop));
  }
  return loops;
}

}  // namespace onelaunch::sandbox
