#include "sandbox/emulator/program/flow_graph.h"

#include <algorithm>
#include <utility>

#include "sandbox/emulator/program/instruction_facts.h"

namespace onelaunch::emu {
namespace {

using Edges = std::vector<std::vector<int>>;

// Cooper, Harvey and Kennedy: immediate dominators by iterating over the reverse postorder. -1: the root, or unreachable.
class Dominators {
 public:
  Dominators(const Edges& successors, int root) : successors_(successors), root_(root) {}

  std::vector<int> compute() {
    number_nodes();
    Edges predecessors(successors_.size());
    for (const int node : postorder_) {
      for (const int next : successors_[at(node)]) predecessors[at(next)].push_back(node);
    }
    std::vector<int> dominator(successors_.size(), -1);
    dominator[at(root_)] = root_;
    for (bool changed = true; changed;) {
      changed = false;
      for (auto node = postorder_.rbegin(); node != postorder_.rend(); ++node) {
        if (*node == root_) continue;
        int best = -1;
        for (const int from : predecessors[at(*node)]) {
          if (dominator[at(from)] >= 0) best = best < 0 ? from : meet(best, from, dominator);
        }
        changed |= std::exchange(dominator[at(*node)], best) != best;
      }
    }
    dominator[at(root_)] = -1;
    return dominator;
  }

 private:
  static std::size_t at(int node) { return static_cast<std::size_t>(node); }

  int meet(int a, int b, const std::vector<int>& dominator) const {
    while (a != b) {
      int& later = order_[at(a)] < order_[at(b)] ? a : b;
      later = dominator[at(later)];
    }
    return a;
  }

  void number_nodes() {
    order_.assign(successors_.size(), -1);
    std::vector<std::pair<int, std::size_t>> stack{{root_, 0}};
    std::vector<bool> seen(successors_.size());
    seen[at(root_)] = true;
    while (!stack.empty()) {
      auto& [node, next] = stack.back();
      if (next < successors_[at(node)].size()) {
        const int child = successors_[at(node)][next++];
        if (!seen[at(child)]) {
          seen[at(child)] = true;
          stack.emplace_back(child, 0);
        }
      } else {
        order_[at(node)] = static_cast<int>(postorder_.size());
        postorder_.push_back(node);
        stack.pop_back();
      }
    }
  }

  const Edges& successors_;
  int root_;
  std::vector<int> postorder_;
  mutable std::vector<int> order_;
};

class Builder {
 public:
  explicit Builder(const Kernel& kernel) : kernel_(kernel) {}

  FlowGraph build() {
    cut_blocks();
    for (std::size_t i = 0; i < graph_.blocks.size(); ++i) connect(static_cast<int>(i));
    find_dominators();
    find_reconvergence(true);
    find_reconvergence(false);
    return std::move(graph_);
  }

 private:
  FlowBlock& block(int index) { return graph_.blocks[static_cast<std::size_t>(index)]; }
  int count() const { return static_cast<int>(graph_.blocks.size()); }

  void cut_blocks() {
    const std::size_t size = kernel_.instructions.size();
    std::vector<bool> leads(size + 1);
    leads[0] = true;
    for (const std::size_t label : kernel_.labels) leads[label] = true;
    for (std::size_t i = 0; i < size; ++i) {
      if (ends_block(kernel_.instructions[i])) leads[i + 1] = true;
    }
    graph_.block_of.resize(size);
    for (std::size_t i = 0; i < size; ++i) {
      if (leads[i]) {
        graph_.blocks.emplace_back();
        graph_.blocks.back().first = i;
      }
      graph_.blocks.back().end = i + 1;
      graph_.block_of[i] = count() - 1;
    }
  }

  void add_edge(int from, const KernelOperand& label) {
    const std::size_t target = kernel_.labels[static_cast<std::size_t>(label.reg)];
    add_edge(from, graph_.block_of[target]);
  }
  void add_edge(int from, int to) {
    std::vector<int>& successors = block(from).successors;
    if (std::find(successors.begin(), successors.end(), to) == successors.end()) successors.push_back(to);
  }

  void connect(int from) {
    const KernelInstruction& last = kernel_.instructions[block(from).end - 1];
    const bool conditional = last.guard >= 0;
    const bool goes_on = conditional || !(is_branch(last) || ends_thread(last) || last.opcode == "trap");
    // The fall-through comes first: the not-taken side.
    if (goes_on) add_edge(from, from + 1);
    if (last.opcode == "bra") add_edge(from, last.operands[0]);
    if (last.opcode == "brx") {
      for (const KernelOperand& label : last.operands[1].elements) add_edge(from, label);
    }
    block(from).leaves = ends_thread(last);
  }

  void find_dominators() {
    Edges successors;
    for (const FlowBlock& each : graph_.blocks) successors.push_back(each.successors);
    const std::vector<int> dominator = Dominators(successors, 0).compute();
    graph_.depth.assign(graph_.blocks.size(), -1);
    for (int i = 0; i < count(); ++i) {
      block(i).dominator = dominator[static_cast<std::size_t>(i)];
      block(i).reachable = i == 0 || block(i).dominator >= 0;
    }
    for (int i = 0; i < count(); ++i) set_depth(i);
  }

  void set_depth(int start) {
    if (!block(start).reachable) return;
    std::vector<int> chain;
    for (int at = start; at >= 0 && graph_.depth[static_cast<std::size_t>(at)] < 0; at = block(at).dominator) {
      chain.push_back(at);
    }
    for (auto at = chain.rbegin(); at != chain.rend(); ++at) {
      const int above = block(*at).dominator;
      graph_.depth[static_cast<std::size_t>(*at)] = above < 0 ? 0 : graph_.depth[static_cast<std::size_t>(above)] + 1;
    }
  }

  // A block that only returns. Lanes that go there are gone, so they need no waiting for.
  bool only_leaves(int index) {
    const FlowBlock& each = block(index);
    return each.leaves && each.successors.empty() && each.end - each.first == 1;
  }

  // Post-dominators. Traps and endless loops never reach the exit and are not followed. Leaving early out of two
  // alternatives is not followed either (`without_early_exits`), so that the lanes which stay meet right behind the
  // branch; blocks that reach the exit in no other way get their plain post-dominator in a second pass.
  void find_reconvergence(bool without_early_exits) {
    const int exit = count();
    Edges reversed(graph_.blocks.size() + 1);
    for (int from = 0; from < count(); ++from) {
      if (!block(from).reachable) continue;
      const bool alternatives = without_early_exits && block(from).successors.size() > 1;
      for (const int to : block(from).successors) {
        if (!(alternatives && only_leaves(to))) reversed[static_cast<std::size_t>(to)].push_back(from);
      }
      if (block(from).leaves && !(without_early_exits && !block(from).successors.empty())) {
        reversed[static_cast<std::size_t>(exit)].push_back(from);
      }
    }
    const std::vector<int> above = Dominators(reversed, exit).compute();
    for (int i = 0; i < count(); ++i) {
      const int found = above[static_cast<std::size_t>(i)];
      if (found >= 0 && found != exit && block(i).reconvergence < 0) block(i).reconvergence = found;
    }
  }

  const Kernel& kernel_;
  FlowGraph graph_;
};

}  // namespace

bool FlowGraph::dominates(int a, int b) const {
  const int depth_a = depth[static_cast<std::size_t>(a)];
  while (b >= 0 && depth[static_cast<std::size_t>(b)] > depth_a) b = blocks[static_cast<std::size_t>(b)].dominator;
  return a == b;
}

FlowGraph build_flow_graph(const Kernel& kernel) { return Builder(kernel).build(); }

}  // namespace onelaunch::emu
